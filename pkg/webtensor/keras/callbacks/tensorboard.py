"""TensorBoard: metrics in the files that it reads, written without TensorFlow.

An event file is a row of records, each a length, its checksum, a message in protocol buffers'
encoding and its checksum. The messages here are ``Event``, with ``Summary`` inside.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache
from itertools import count
from pathlib import Path
from time import perf_counter, time
from typing import Any
from warnings import warn

from webtensor.keras.callbacks.callback import Callback, Logs

__all__ = ["TensorBoard"]

_NUMBERS = count()


class TensorBoard(Callback):
    """Write the loss and the metrics into a folder that TensorBoard shows.

    ``update_freq`` is "epoch", "batch" or a number of batches; evaluations are written by the
    optimizer's iterations. ``write_steps_per_second`` adds how fast training is. Numbers are all
    that is written: a warning says so where graphs aside anything else is wanted.
    """

    def __init__(
        self,
        log_dir: Any = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: Any = "epoch",
        profile_batch: Any = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
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
                    f"TensorBoard: {name}={value!r} changes nothing, as only numbers are written",
                    stacklevel=2,
                )
        if update_freq not in ("epoch", "batch") and not isinstance(update_freq, int):
            raise ValueError(
                "TensorBoard: update_freq must be 'epoch', 'batch' or an integer, but is "
                f"{update_freq!r}"
            )
        self.log_dir, self.update_freq = Path(log_dir), update_freq
        self.write_steps_per_second = write_steps_per_second
        self._every = {"epoch": 0, "batch": 1}.get(update_freq, update_freq)
        self._files: dict[str, _EventFile] = {}
        self._step = 0
        self._since = (0.0, 0)

    def _write(self, kind: str, start: str, logs: Mapping[str, Any], step: int) -> None:
        """Write numbers of training or of validation."""
        if kind not in self._files:
            self._files[kind] = _EventFile(self.log_dir / kind)
        self._files[kind].write({f"{start}{name}": one for name, one in logs.items()}, step)

    def needs_logs(self, batch: int) -> bool:
        """Logs are wanted for the batches that are written."""
        return bool(self._every) and (self._step + 1) % self._every == 0

    def on_train_begin(self, logs: Logs = None) -> None:
        """Begin to count."""
        self._step = 0

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Take the time."""
        self._since = perf_counter(), self._step

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Take the time."""
        self._batch_since = perf_counter()

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Write a batch's results, if it is its turn."""
        is_due = self.needs_logs(batch)
        self._step += 1
        if is_due:
            found = dict(logs or {})
            if self.write_steps_per_second:
                found["steps_per_second"] = 1 / max(perf_counter() - self._batch_since, 1e-9)
            self._write("train", "batch_", found, self._step)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Write an epoch's results."""
        given = logs or {}
        train = {name: one for name, one in given.items() if not name.startswith("val_")}
        rate = getattr(self.model.optimizer, "learning_rate", None)
        if rate is not None:
            train["learning_rate"] = float(rate)
        if self.write_steps_per_second:
            seconds, steps = perf_counter() - self._since[0], self._step - self._since[1]
            train["steps_per_second"] = steps / max(seconds, 1e-9)
        self._write("train", "epoch_", train, epoch)
        checked = {
            name.removeprefix("val_"): one for name, one in given.items() if name not in train
        }
        if checked:
            self._write("validation", "epoch_", checked, epoch)

    def on_test_end(self, logs: Logs = None) -> None:
        """Write an evaluation's results."""
        found = {f"{name}_vs_iterations": one for name, one in (logs or {}).items()}
        if found and self.model.optimizer is not None:
            step = int(self.model.optimizer.iterations)
            self._write("validation", "evaluation_", found, step)

    def close(self) -> None:
        """Close the files."""
        for one in self._files.values():
            one.close()
        self._files = {}


class _EventFile:
    """A file of events, which is new in its folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time())}.webtensor.{next(_NUMBERS)}.v2"
        self._file = (folder / name).open("wb")
        self._record(_text(3, "brain.Event:2"), 0)

    def write(self, numbers: Mapping[str, Any], step: int) -> None:
        """Write scalars, each with its tag."""
        plugin = _message(9, _message(1, _text(1, "scalars")))
        values = b"".join(
            _message(1, _text(1, tag) + struct.pack("<Bf", 2 << 3 | 5, float(value)) + plugin)
            for tag, value in numbers.items()
        )
        self._record(_message(5, values), step)
        self._file.flush()

    def _record(self, what: bytes, step: int) -> None:
        data = struct.pack("<Bd", 1 << 3 | 1, time()) + b"\x10" + _varint(step) + what
        length = struct.pack("<Q", len(data))
        self._file.write(length + _checksum(length) + data + _checksum(data))

    def close(self) -> None:
        self._file.close()


# -- encoding ----------------------------------------------------------------------------------


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def _message(field: int, data: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())


@cache
def _remainders() -> tuple[int, ...]:
    """CRC-32C of each byte."""
    found = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ 0x82F63B78 * (value & 1)
        found.append(value)
    return tuple(found)


def _checksum(data: bytes) -> bytes:
    """CRC-32C, turned and shifted as such files have it."""
    table, crc = _remainders(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    turned = (crc >> 15 | crc << 17) & 0xFFFFFFFF
    return struct.pack("<I", turned + 0xA282EAD8 & 0xFFFFFFFF)
