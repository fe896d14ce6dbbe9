"""Callbacks that write files."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Awaitable, Iterable
from pathlib import Path
from typing import TextIO

from webtensor import keras
from webtensor.formats.budgets import parse_json
from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.callbacks.monitor import Monitor
from webtensor.keras.types import PathLike

__all__ = ["BackupAndRestore", "CSVLogger", "ModelCheckpoint"]

#: What the addresses of models begin with that the browser keeps.
_KEPT_BY_BROWSER = ("indexeddb://", "localstorage://")
#: What is added to the names of the files of the previous state.
_PREVIOUS = ".bkp"


class ModelCheckpoint(Monitor):
    """Save the model, or its weights, after each epoch or a number of batches.

    In a page, the path ``"indexeddb://name"`` or ``"localstorage://name"`` has the browser keep the
    whole model, and ``keras.saving.load_layers_model_async`` loads it. Where the browser cannot
    suspend Python, that requires ``fit_async``.

    Args:
        filepath: a path, which may have fields for the epoch and metrics, such as
            ``"{epoch:02d}-{val_loss:.2f}.keras"``.
        save_best_only: a boolean, whether to save only when the metric has improved.
        save_weights_only: a boolean, whether to save only the weights.
        save_freq: ``"epoch"``, or an integer, the number of batches between two files.
        initial_value_threshold: a number that the metric must be better than for the first file,
            or None.

    Raises:
        ValueError: ``save_freq`` is invalid, or ``filepath`` has the wrong ending.
        KeyError: ``filepath`` has a field that is not in the logs; saving raises it.
    """

    def __init__(
        self,
        filepath: PathLike,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: int | str = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__(monitor, mode)
        self.filepath, self.verbose = str(filepath), verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self._frequency = _Frequency("ModelCheckpoint", save_freq)
        endings = (".weights.h5", ".weights.npz") if save_weights_only else (".keras", ".h5")
        if not (self.filepath.startswith(_KEPT_BY_BROWSER) or self.filepath.endswith(endings)):
            raise ValueError(
                f"ModelCheckpoint: filepath must end in {endings[0]!r} or {endings[1]!r}, but is "
                f"{self.filepath!r}"
            )
        self.save_freq = save_freq
        self.best = initial_value_threshold
        self._epoch = 0

    def needs_logs(self, batch: int) -> bool:
        """Whether the model may be saved after this batch."""
        return self._frequency.is_due(batch)

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Store the epoch."""
        self._epoch = epoch
        self._frequency.begin_epoch()

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Save after a number of batches."""
        return self._save(batch, logs) if self._frequency.end_batch(batch) else None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Save after the epoch."""
        return self._save(None, logs) if self.save_freq == "epoch" else None

    def _save(self, batch: int | None, logs: Logs) -> Awaitable[object] | None:
        logs, event = logs or {}, f"Epoch {self._epoch + 1}: "
        if self.save_best_only:
            value = self.get_monitor_value(logs)
            if value is not None:
                best = self.best if self.best is None else f"{self.best:.5f}"
                if not self._is_improvement(value, self.best):
                    self._say(f"{event}{self.monitor} did not improve from {best}")
                    return None
                event += f"{self.monitor} improved from {best} to {value:.5f}, "
                self.best = value
        fields = {
            "epoch": self._epoch + 1,
            **({} if batch is None else {"batch": batch + 1}),
            **logs,
        }
        try:
            path = self.filepath.format(**fields)
        except KeyError as missing:
            raise KeyError(
                f"ModelCheckpoint: filepath {self.filepath!r} has the field {missing}, but the "
                f"fields are {sorted(fields)}"
            ) from None
        self._say(f"{event}saving model to {path}")
        if path.startswith(_KEPT_BY_BROWSER):
            return keras.saving.save_layers_model_async(self.model, path)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)
        return None


class _Frequency:
    """The argument ``save_freq`` of a callback, and the number of batches since it last saved."""

    def __init__(self, class_name: str, save_freq: int | str) -> None:
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f"{class_name}: save_freq must be 'epoch' or an integer, but is {save_freq!r}"
            )
        self._save_freq = save_freq
        self._batches, self._last_batch = 0, -1

    def begin_epoch(self) -> None:
        """Count the batches of an epoch from 0."""
        self._last_batch = -1

    def _batches_until(self, batch: int) -> int:
        """Return the number of batches since the last save; calls may end several at once."""
        return self._batches + batch - self._last_batch

    def is_due(self, batch: int) -> bool:
        """Whether to save after a batch of the epoch."""
        return isinstance(self._save_freq, int) and self._batches_until(batch) >= self._save_freq

    def end_batch(self, batch: int) -> bool:
        """Count the batches until the end of a batch; return whether to save after it."""
        is_due = self.is_due(batch)
        self._batches, self._last_batch = 0 if is_due else self._batches_until(batch), batch
        return is_due


class BackupAndRestore(Callback):
    """Save the state of training, and continue an interrupted training from there.

    An interrupted epoch starts again from its first batch. Keras reads the same files.

    Args:
        backup_dir: a path, the folder of the state, which no other file should be in.
        save_freq: ``"epoch"``, or an integer, the number of batches after which to save.
        double_checkpoint: a boolean, whether to keep the previous state, too, and load it if the
            latest cannot be read.
        delete_checkpoint: a boolean, whether to delete the folder at the end of training.

    Raises:
        ValueError: ``backup_dir`` is empty, or ``save_freq`` is invalid.
    """

    def __init__(
        self,
        backup_dir: PathLike,
        save_freq: int | str = "epoch",
        double_checkpoint: bool = False,
        delete_checkpoint: bool = True,
    ) -> None:
        super().__init__()
        if not backup_dir:
            raise ValueError("BackupAndRestore: backup_dir must not be empty")
        self._frequency = _Frequency("BackupAndRestore", save_freq)
        self.backup_dir, self.save_freq = Path(backup_dir), save_freq
        self.double_checkpoint, self.delete_checkpoint = double_checkpoint, delete_checkpoint
        self._epoch = 0

    def _paths(self, suffix: str = "") -> tuple[Path, Path]:
        """Return the files of a state, as Keras names them: the weights, and the progress."""
        folder = self.backup_dir
        return folder / f"latest.weights.h5{suffix}", folder / f"training_metadata.json{suffix}"

    def _save(self, batch: int) -> None:
        self.backup_dir.mkdir(parents=True, exist_ok=True)
        weights, progress = self._paths()
        if self.double_checkpoint and progress.exists():
            self._move(self._paths(), self._paths(_PREVIOUS))
        self.model.save_weights(weights, overwrite=True)
        progress.write_text(json.dumps({"epoch": self._epoch, "batch": batch}))

    @staticmethod
    def _move(sources: Iterable[Path], targets: Iterable[Path]) -> None:
        for source, target in zip(sources, targets, strict=True):
            source.replace(target)

    def _load(self) -> None:
        weights, progress = self._paths()
        epoch = parse_json(progress.read_bytes(), str(progress))["epoch"]
        if self.model.optimizer is not None:
            self.model.optimizer.build(self.model.trainable_variables)
        self.model.load_weights(weights)
        self.model._initial_epoch = self._epoch = int(epoch)

    def on_train_begin(self, logs: Logs = None) -> None:
        """Load the saved state, if there is one."""
        if not self._paths()[1].exists():
            return
        try:
            self._load()
        except (OSError, ValueError, KeyError):
            if not self._paths(_PREVIOUS)[1].exists():
                raise
            self._move(self._paths(_PREVIOUS), self._paths())
            self._load()

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Store the epoch."""
        self._epoch = epoch
        self._frequency.begin_epoch()

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Save after a number of batches."""
        if self._frequency.end_batch(batch):
            self._save(batch)

    def needs_logs(self, batch: int) -> bool:
        """Logs are never read."""
        return False

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Save after the epoch."""
        self._epoch = epoch + 1
        if self.save_freq == "epoch":
            self._save(0)

    def on_train_end(self, logs: Logs = None) -> None:
        """Delete the state if ``delete_checkpoint``."""
        if self.delete_checkpoint and self.backup_dir.exists():
            shutil.rmtree(self.backup_dir)


class CSVLogger(Callback):
    """Write the logs of each epoch to a file of comma-separated values.

    Args:
        filename: a path.
        separator: a string, which separates the values.
        append: a boolean, whether to append to an existing file instead of overwriting it.
    """

    def __init__(self, filename: PathLike, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.separator, self.append = Path(filename), separator, append
        self._file: TextIO | None = None
        self._writer: csv.DictWriter[str] | None = None

    def on_train_begin(self, logs: Logs = None) -> None:
        """Open the file."""
        has_header = self.append and self.filename.exists() and self.filename.stat().st_size > 0
        self._has_header = has_header
        self._file = self.filename.open("a" if self.append else "w", newline="", encoding="utf-8")
        self._writer = None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Write a row."""
        if self._file is None:
            raise RuntimeError("CSVLogger: the file is closed")
        row = {"epoch": epoch, **(logs or {})}
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


def _columns(logs: Iterable[str]) -> list[str]:
    """Return the names of columns, including those of a validation that starts in a later epoch."""
    names = sorted(logs)
    if any(name.startswith("val_") for name in names):
        return names
    return [*names, *(f"val_{name}" for name in names)]
