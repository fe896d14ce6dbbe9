"""TensorBoard: metrics in the files that it reads, written without TensorFlow.

An event file is a sequence of records. Each consists of a length, the length's checksum, a message
in the encoding of protocol buffers, and the message's checksum. The messages here are of the type
``Event``, which contains a ``Summary``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter, time
from warnings import warn

from webtensor.formats.crc32c import masked_crc32c
from webtensor.formats.varints import write_varint
from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.types import PathLike

__all__ = ["TensorBoard"]

_NUMBERS = count()


class TensorBoard(Callback):
    """Write the loss and the metrics to a folder that TensorBoard shows.

    Only scalars are written. Arguments that ask for anything else, except for the graph, cause a
    warning. Evaluations are written with the number of the optimizer's iterations as their step.

    Args:
        log_dir: a path, the folder.
        write_steps_per_second: a boolean, whether to write the speed of training.
        update_freq: ``"epoch"``, ``"batch"``, or an integer, the number of batches between two
            records.
        histogram_freq, write_graph, write_images, profile_batch: Keras's arguments, which have no
            effect.
        embeddings_freq, embeddings_metadata: Keras's arguments, which have no effect.

    Raises:
        ValueError: ``update_freq`` is invalid.
    """

    def __init__(
        self,
        log_dir: PathLike = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: int | str = "epoch",
        profile_batch: int | str | Sequence[int] = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: object = None,
    ) -> None:
        super().__init__()
        for name, value in (
            ("histogram_freq", histogram_freq),
            ("write_images", write_images),
            ("profile_batch", profile_batch),
            ("embeddings_freq", embeddings_freq),
            ("embeddings_metadata", embeddings_metadata),
        ):
            if value:
                warn(
                    f"TensorBoard: {name}={value!r} has no effect, as only scalars are written",
                    stacklevel=2,
                )
        if update_freq not in ("epoch", "batch") and not isinstance(update_freq, int):
            raise ValueError(
                "TensorBoard: update_freq must be 'epoch', 'batch' or an integer, but is "
                f"{update_freq!r}"
            )
        self.log_dir, self.update_freq = Path(log_dir), update_freq
        self.write_steps_per_second = write_steps_per_second
        #: The number of batches between two records; 0 is none within an epoch.
        self._interval = (
            update_freq if isinstance(update_freq, int) else int(update_freq == "batch")
        )
        self._files: dict[str, _EventFile] = {}
        self._step = 0
        #: The time and the step at the start of the epoch.
        self._epoch_start = (0.0, 0)

    def _write(self, kind: str, prefix: str, logs: Mapping[str, float], step: int) -> None:
        """Write scalars of training or of validation."""
        if kind not in self._files:
            self._files[kind] = _EventFile(self.log_dir / kind)
        self._files[kind].write({f"{prefix}{name}": value for name, value in logs.items()}, step)

    def needs_logs(self, batch: int) -> bool:
        """Whether the batch is written."""
        return bool(self._interval) and (self._step + 1) % self._interval == 0

    def on_train_begin(self, logs: Logs = None) -> None:
        """Reset the count of batches."""
        self._step = 0

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Store the time."""
        self._epoch_start = perf_counter(), self._step

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Store the time."""
        self._batch_start = perf_counter()

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Write the logs of a batch, if it is due."""
        is_due = self.needs_logs(batch)
        self._step += 1
        if is_due:
            scalars = dict(logs or {})
            if self.write_steps_per_second:
                scalars["steps_per_second"] = 1 / max(perf_counter() - self._batch_start, 1e-9)
            self._write("train", "batch_", scalars, self._step)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Write the logs of an epoch."""
        logs = logs or {}
        train = {name: value for name, value in logs.items() if not name.startswith("val_")}
        rate = getattr(self.model.optimizer, "learning_rate", None)
        if rate is not None:
            train["learning_rate"] = float(rate)
        if self.write_steps_per_second:
            start, first_step = self._epoch_start
            seconds, steps = perf_counter() - start, self._step - first_step
            train["steps_per_second"] = steps / max(seconds, 1e-9)
        self._write("train", "epoch_", train, epoch)
        validation = {
            name.removeprefix("val_"): value for name, value in logs.items() if name not in train
        }
        if validation:
            self._write("validation", "epoch_", validation, epoch)

    def on_test_end(self, logs: Logs = None) -> None:
        """Write the logs of an evaluation."""
        scalars = {f"{name}_vs_iterations": value for name, value in (logs or {}).items()}
        if scalars and self.model.optimizer is not None:
            step = int(self.model.optimizer.iterations)
            self._write("validation", "evaluation_", scalars, step)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files = {}


class _EventFile:
    """A new file of events in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time())}.webtensor.{next(_NUMBERS)}.v2"
        self._file = (folder / name).open("wb")
        self._record(_text(3, "brain.Event:2"), 0)

    def write(self, scalars: Mapping[str, float], step: int) -> None:
        """Write scalars, each with its tag."""
        plugin = _message(9, _message(1, _text(1, "scalars")))
        values = b"".join(
            _message(1, _text(1, tag) + struct.pack("<Bf", 2 << 3 | 5, float(value)) + plugin)
            for tag, value in scalars.items()
        )
        self._record(_message(5, values), step)
        self._file.flush()

    def _record(self, content: bytes, step: int) -> None:
        data = struct.pack("<Bd", 1 << 3 | 1, time()) + b"\x10" + write_varint(step) + content
        length = struct.pack("<Q", len(data))
        self._file.write(length + _checksum(length) + data + _checksum(data))

    def close(self) -> None:
        self._file.close()


# -- encoding ----------------------------------------------------------------------------------


def _message(field: int, data: bytes) -> bytes:
    return bytes([field << 3 | 2]) + write_varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())


def _checksum(data: bytes) -> bytes:
    return struct.pack("<I", masked_crc32c(data))
