"""The files of weights that a model.json names, and the memory that their bytes go to.

The declared sizes of the weights say where each file belongs, so files that arrive at the same time
are written to their places in one buffer. That holds for files of the converter's size; others, and
those of weights with text, whose sizes are not declared, are kept one by one.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.checksums import check_integrity, is_checksum
from webtensor.formats.element_types import Buffer
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.formats.model_json import (
    MODEL_JSON,
    SHARD_BYTES,
    WeightGroup,
    parse_model_json,
    weight_groups,
)
from webtensor.formats.weights_manifest import check_size, declared_size, parse_specs
from webtensor.transfer import zero_bytes

__all__ = ["MAX_BYTES", "ModelReader", "Shard"]

#: The most bytes of a file whose size is not declared.
MAX_BYTES = 1 << 31
#: At most this many bytes are reserved before any of them has arrived; a small file may declare
#: more, and then its shards take memory as they arrive.
_MAX_RESERVED = 1 << 28


class Shard:
    """A file of weights: where it comes from, and what has arrived of it.

    Attributes:
        path: its path, relative to the folder of ``model.json``.
        label: what errors call it.
        region: the memory reserved for it, which may be empty.
        address: the address of that memory.
        limit: the most bytes that it may have.
        filled: the number of bytes in ``region``.
        rest: the bytes that are not there, in pieces.
    """

    def __init__(self, path: str, label: str, limit: int) -> None:
        self.path, self.label, self.limit = path, label, limit
        self.region = memoryview(b"")
        self.address = 0
        self.filled = 0
        self.rest: list[Buffer] = []

    @property
    def pieces(self) -> list[Buffer]:
        """The bytes that have arrived."""
        filled = self.region[: self.filled].toreadonly()
        return [piece for piece in (filled, *self.rest) if len(piece)]

    @property
    def size(self) -> int:
        """The number of bytes that have arrived."""
        return self.filled + sum(map(len, self.rest))

    def write(self, data: Buffer) -> None:
        """Take bytes that have arrived; those beyond the reserved memory are not copied.

        Raises:
            ModelFormatError: they are more than the weights need.
        """
        self.check_limit(self.size + len(data))
        fitting = min(len(data), len(self.region) - self.filled)
        if fitting:
            self.region[self.filled : self.filled + fitting] = data[:fitting]
            self.filled += fitting
        if fitting < len(data):
            self.rest.append(data[fitting:] if fitting else data)

    def check_limit(self, size: int) -> None:
        """Refuse more bytes than the weights need.

        Raises:
            ModelFormatError: there are more.
        """
        if size > self.limit:
            raise ModelFormatError(
                f"{self.label} is larger than its weights, which need {self.limit} bytes"
            )


class ModelReader:
    """A model whose ``model.json`` is there, and whose files of weights are being read.

    Args:
        data: the bytes of ``model.json``.
        label: what errors call it.
        integrity: the checksum that it must have, or those of files by their paths.

    Raises:
        ModelFormatError: ``model.json`` is malformed.
    """

    def __init__(
        self, data: bytes, label: str, integrity: str | Mapping[str, str] | None = None
    ) -> None:
        self.label = label
        self.budget = Budget(label, len(data))
        self._memory: array[int] | None = None
        self._integrity = (
            {MODEL_JSON: integrity} if isinstance(integrity, str) else dict(integrity or {})
        )
        for checksum in self._integrity.values():
            if not is_checksum(checksum):
                raise ModelFormatError(
                    f"{label}: integrity must be 'sha256-' and base64, or 'sha256:' and "
                    f"hexadecimal digits, but is {checksum!r:.100}"
                )
        self._check_integrity(MODEL_JSON, [data], label)
        self._model_json = parse_model_json(data, label, self.budget)
        manifest = self._model_json.get("weightsManifest")
        #: Whether there are weights at all; a file may have the topology alone.
        self.has_weights = manifest is not None
        self._groups = weight_groups(manifest, label) if self.has_weights else []
        self._specs = [parse_specs(group.specs, label, self.budget) for group in self._groups]
        self._sizes = [declared_size(specs) for specs in self._specs]
        self._shards = [
            [
                Shard(path, f"{label}: {path!r}", MAX_BYTES if size is None else size)
                for path in group.paths
            ]
            for group, size in zip(self._groups, self._sizes, strict=True)
        ]
        unknown = {*self._integrity} - {MODEL_JSON, *(shard.path for shard in self.shards)}
        if unknown:
            raise ModelFormatError(f"{label}: integrity names {min(unknown)!r}, which is no file")

    @property
    def shards(self) -> list[Shard]:
        """The files of weights, in the order of the weights."""
        return [shard for group in self._shards for shard in group]

    @property
    def declared_bytes(self) -> int | None:
        """The number of bytes of all weights, if it is declared."""
        return None if None in self._sizes else sum(size for size in self._sizes if size)

    def reserve(self, sizes: Sequence[int] | None = None) -> None:
        """Reserve memory for the files, one after another.

        Args:
            sizes: those of the files, if they are known; by default the declared ones.
        """
        regions = self._declared_regions() if sizes is None else list(sizes)
        total = sum(regions)
        if sizes is None and total > _MAX_RESERVED:
            return
        memory = zero_bytes(total)
        address = memory.buffer_info()[0]
        view = memoryview(memory)
        offset = 0
        for shard, size in zip(self.shards, regions, strict=True):
            shard.region = view[offset : offset + size]
            shard.address = address + offset
            offset += size
        self._memory = memory

    def _declared_regions(self) -> list[int]:
        """Return the sizes that files have if they are divided as the converter does, else 0."""
        regions: list[int] = []
        for shards, size in zip(self._shards, self._sizes, strict=True):
            if size is None or len(shards) != max(1, -(-size // SHARD_BYTES)):
                regions += [0] * len(shards)
            elif len(shards) == 1:
                regions.append(size)
            else:
                full = [SHARD_BYTES] * (len(shards) - 1)
                regions += [*full, size - sum(full)]
        return regions

    def artifacts(self) -> ModelArtifacts:
        """Return the model, after all files were read.

        Raises:
            ModelFormatError: a file is too short or too long, or has another checksum.
        """
        if not self.has_weights:
            return self.description()
        for group, shards, specs in zip(self._groups, self._shards, self._specs, strict=True):
            self._check_group(group, shards)
            size = sum(shard.size for shard in shards)
            self.budget.add_file(size)
            check_size(specs, size, self.label)
        as_json = [spec for group in self._groups for spec in group.specs]
        return replace(
            self.description(),
            weight_specs=as_json,
            weight_data=self._weight_data(),
            parsed_specs=(as_json, [*chain.from_iterable(self._specs)]),
        )

    def description(self) -> ModelArtifacts:
        """Return the model without its weights, which need not have arrived."""
        fields = {**self._model_json, "weightSpecs": None, "weightData": None}
        return ModelArtifacts.from_json(fields, label=self.label, budget=self.budget)

    def _weight_data(self) -> Buffer | list[Buffer]:
        shards = self.shards
        is_whole = all(shard.filled == len(shard.region) and not shard.rest for shard in shards)
        if self._memory is not None and is_whole:
            return memoryview(self._memory).toreadonly()
        return [piece for shard in shards for piece in shard.pieces]

    def _check_group(self, group: WeightGroup, shards: Sequence[Shard]) -> None:
        for checksum, shard in zip(group.checksums, shards, strict=False):
            check_integrity(checksum, shard.pieces, shard.label)
        for shard in shards:
            self._check_integrity(shard.path, shard.pieces, shard.label)

    def _check_integrity(self, path: str, pieces: Sequence[Buffer], label: str) -> None:
        expected = self._integrity.get(path)
        if expected is not None:
            check_integrity(expected, pieces, label)
