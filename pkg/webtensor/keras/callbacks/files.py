"""Callbacks that write files."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any
from warnings import warn

from webtensor.keras.callbacks.callback import Callback, Logs, is_improvement

__all__ = ["BackupAndRestore", "CSVLogger", "ModelCheckpoint"]


class ModelCheckpoint(Callback):
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
        super().__init__()
        self.filepath, self.monitor, self.verbose = str(filepath), monitor, verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self._is_better = is_improvement("ModelCheckpoint", mode, monitor)
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
        worst = -inf if self._is_better(1, 0) else inf
        self.best = worst if initial_value_threshold is None else initial_value_threshold
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
            value = logs.get(self.monitor)
            if value is None:
                warn(
                    f"ModelCheckpoint: there is no metric {self.monitor!r}; there are "
                    f"{sorted(logs)}",
                    stacklevel=3,
                )
                return None
            if not self._is_better(value, self.best):
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
    """Save weights after each epoch, and go on from there when training was interrupted."""

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
        if save_freq != "epoch":
            raise ValueError(
                f"BackupAndRestore: save_freq must be 'epoch', but is {save_freq!r}: only whole "
                "epochs are gone on from"
            )
        self.delete_checkpoint = delete_checkpoint
        self._weights = Path(backup_dir) / "latest.weights.h5"

    def on_train_begin(self, logs: Logs = None) -> None:
        """Take up the weights that were saved."""
        if self._weights.exists() and self.model.built:
            self.model.load_weights(self._weights)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Save the weights."""
        self._weights.parent.mkdir(parents=True, exist_ok=True)
        self.model.save_weights(self._weights, overwrite=True)

    def on_train_end(self, logs: Logs = None) -> None:
        """Delete what is not needed any more."""
        if self.delete_checkpoint:
            self._weights.unlink(missing_ok=True)


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
                ["epoch", *sorted(logs or {})],
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
