"""Callbacks that write files."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webtensor.keras.budgets import parse_json
from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.callbacks.monitor import Monitor
from webtensor.keras.utils.logging import say

__all__ = ["BackupAndRestore", "CSVLogger", "ModelCheckpoint"]


class ModelCheckpoint(Monitor):
    """Save the model, or its weights, after epochs or after numbers of batches.

    ``filepath`` may name the epoch and metrics, such as ``"{epoch:02d}-{val_loss:.2f}.keras"``. In
    a page, ``"indexeddb://name"`` keeps the whole model in the browser, from where
    ``keras.saving.load_layers_model_async`` takes it; ``fit_async`` is needed for that where the
    browser cannot suspend Python.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__(monitor, mode)
        self.filepath, self.verbose = str(filepath), verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f"ModelCheckpoint: save_freq must be 'epoch' or an integer, but is {save_freq!r}"
            )
        suffix = ".weights.h5" if save_weights_only else (".keras", ".h5")
        is_kept = self.filepath.startswith("indexeddb://")
        weights = save_weights_only and self.filepath.endswith((".weights.h5", ".weights.npz"))
        if not (is_kept or weights or (not save_weights_only and self.filepath.endswith(suffix))):
            raise ValueError(
                f"ModelCheckpoint: filepath must end in {suffix!r}, but is {self.filepath!r}"
            )
        self.save_freq = save_freq
        self.best = initial_value_threshold
        self._epoch = self._batches = 0

    def needs_logs(self, batch: int) -> bool:
        """Logs are wanted where a number of batches is over."""
        return self.save_freq != "epoch" and not (self._batches + 1) % int(self.save_freq)

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Note the epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> Any:
        """Save after a number of batches."""
        self._batches += 1
        if self.save_freq != "epoch" and self._batches % self.save_freq == 0:
            return self._save(batch, logs)
        return None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> Any:
        """Save after the epoch."""
        return self._save(None, logs) if self.save_freq == "epoch" else None

    def _save(self, batch: int | None, logs: Logs) -> Any:
        logs = logs or {}
        if self.save_best_only:
            value = self._watched(logs)
            if value is not None:
                if not self._is_improvement(value, self.best):
                    return None
                self.best = value
        facts = {
            "epoch": self._epoch + 1,
            **({} if batch is None else {"batch": batch + 1}),
            **logs,
        }
        try:
            path = self.filepath.format(**facts)
        except KeyError as missing:
            raise KeyError(
                f"ModelCheckpoint: filepath {self.filepath!r} names {missing}, but there are "
                f"{sorted(facts)}"
            ) from None
        if self.verbose:
            say(f"Epoch {self._epoch + 1}: ModelCheckpoint saves {path}")
        if path.startswith("indexeddb://"):
            from webtensor.keras.saving import save_layers_model_async

            return save_layers_model_async(self.model, path)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)
        return None


class BackupAndRestore(Callback):
    """Save the state of training, and go on from there when it was interrupted.

    That is done after each epoch, or after each ``save_freq`` batches; the epoch that was
    interrupted begins anew. With ``double_checkpoint`` the state before the last is kept as well,
    and taken where the last cannot be read.
    """

    def __init__(
        self,
        backup_dir: Any,
        save_freq: Any = "epoch",
        double_checkpoint: bool = False,
        delete_checkpoint: bool = True,
    ) -> None:
        super().__init__()
        if not backup_dir:
            raise ValueError("BackupAndRestore: backup_dir must not be empty")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f"BackupAndRestore: save_freq must be 'epoch' or an integer, but is {save_freq!r}"
            )
        self.backup_dir, self.save_freq = Path(backup_dir), save_freq
        self.double_checkpoint, self.delete_checkpoint = double_checkpoint, delete_checkpoint
        self._epoch = self._batches = 0

    def _paths(self, name: str) -> tuple[Path, Path]:
        """The files of a state: its weights, and where training is."""
        return self.backup_dir / f"{name}.weights.h5", self.backup_dir / f"{name}.json"

    def _save(self) -> None:
        self.backup_dir.mkdir(parents=True, exist_ok=True)
        weights, place = self._paths("latest")
        if self.double_checkpoint and place.exists():
            for one, kept in zip((weights, place), self._paths("previous"), strict=True):
                one.replace(kept)
        self.model.save_weights(weights, overwrite=True)
        place.write_text(json.dumps({"epoch": self._epoch, "batch": self._batches}))

    def _load(self, name: str) -> None:
        weights, place = self._paths(name)
        epoch = parse_json(place.read_bytes(), str(place))["epoch"]
        self.model.load_weights(weights)
        self.model._initial_epoch = self._epoch = int(epoch)

    def on_train_begin(self, logs: Logs = None) -> None:
        """Take up the state that was saved."""
        if not self._paths("latest")[1].exists():
            return
        try:
            self._load("latest")
        except (OSError, ValueError, KeyError):
            if not self._paths("previous")[1].exists():
                raise
            self._load("previous")

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Note the epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Save after a number of batches."""
        self._batches += 1
        if self.save_freq != "epoch" and self._batches % self.save_freq == 0:
            self._save()

    def needs_logs(self, batch: int) -> bool:
        """Logs are not wanted."""
        return False

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Save after the epoch."""
        self._epoch = epoch + 1
        if self.save_freq == "epoch":
            self._save()

    def on_train_end(self, logs: Logs = None) -> None:
        """Delete what is not needed any more."""
        if self.delete_checkpoint and self.backup_dir.exists():
            shutil.rmtree(self.backup_dir)


class CSVLogger(Callback):
    """Write what each epoch came to into a file of comma-separated values."""

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.separator, self.append = Path(filename), separator, append
        self._file: Any = None
        self._writer: csv.DictWriter[str] | None = None

    def on_train_begin(self, logs: Logs = None) -> None:
        """Open the file."""
        goes_on = self.append and self.filename.exists() and self.filename.stat().st_size > 0
        self._has_header = goes_on
        self._file = self.filename.open("a" if self.append else "w", newline="", encoding="utf-8")
        self._writer = None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Write a row."""
        row: Mapping[str, Any] = {"epoch": epoch, **(logs or {})}
        if self._writer is None:
            self._writer = csv.DictWriter(
                self._file,
                ["epoch", *_columns(logs or {})],
                delimiter=self.separator,
                extrasaction="ignore",
                restval="NA",
            )
            if not self._has_header:
                self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _columns(logs: Mapping[str, Any]) -> list[str]:
    """Names of results, with those of a validation, which may come with a later epoch."""
    names = sorted(logs)
    if any(name.startswith("val_") for name in names):
        return names
    return [*names, *(f"val_{name}" for name in names)]
