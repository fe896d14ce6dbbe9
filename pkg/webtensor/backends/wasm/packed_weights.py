"""Weights packed for matrix products: once, and cached as long as the weights live.

Packing a filter can cost as much as multiplying by it. Elements never change, so packed weights
stay valid. They are packed at the second multiplication by the same weights: a network that
predicts uses its weights again, one that learns has new ones at every step and never packs.
A program that multiplies by the same weights several times says so, and they are packed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import ref

from webtensor.backends.api import Operand, Stored
from webtensor.backends.signatures import Spec
from webtensor.errors import OutOfMemoryError

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["COLUMNS", "ROWS", "TRANSFORMED", "PackedWeights", "is_worth_packing", "packed_bytes"]

#: Forms: a row-major or a column-major matrix, and a 3×3 filter transformed by ``winograd.c``.
ROWS, COLUMNS, TRANSFORMED = range(3)
#: As in ``wasm_build/source/gemm.h``.
_TILE_COLUMNS: Final = 8
#: Fewer elements are packed by each product: a crossing to the kernels takes as long.
_MIN_SIZE: Final = 512


#: The identity of the weights' storage, and as what they are packed: the columns of each matrix,
#: the form, and the number of matrices side by side.
_Key: TypeAlias = tuple[int, int, int, int]


class _Use(ref[Stored]):
    """Use of weights in a product."""

    __slots__ = ("address", "key")

    key: _Key
    #: Address of the panels; 0 before they are packed.
    address: int


def is_worth_packing(weights: Operand | Spec) -> bool:
    """Whether packing these weights saves time."""
    return weights.size >= _MIN_SIZE


def packed_bytes(rows: int, columns: int, form: int) -> int:
    """Return the bytes of packed float32 weights; transformed, 9 taps become 16 behind a header."""
    size = -(-columns // _TILE_COLUMNS) * _TILE_COLUMNS * rows * 4
    return 16 + size // 9 * 16 if form == TRANSFORMED else size


class PackedWeights:
    """Finds packed weights by the storage of the weights."""

    def __init__(self, backend: WasmBackend) -> None:
        """Start without packed weights."""
        self._backend = backend
        self._uses: dict[_Key, _Use] = {}

    def address(self, weights: Operand, columns: int, form: int, groups: int, uses: int = 1) -> int:
        """Return the address of weights packed in a form, or 0 if they are not packed.

        ``uses`` is the number of products that are about to use them.
        """
        key = id(weights.storage), columns, form, groups
        use = self._uses.get(key)
        if use is None:
            if not is_worth_packing(weights):
                return 0
            use = self._begin(key, weights.storage)
            if uses == 1:
                return 0
        return use.address or self._pack(use, weights)

    def _begin(self, key: _Key, storage: Stored) -> _Use:
        """Note the first use, and return it."""
        use = _Use(storage, self._end)
        use.key = key
        use.address = 0
        self._uses[key] = use
        return use

    def _end(self, use: ref[Stored]) -> None:
        """Free the panels; called when the storage dies."""
        assert isinstance(use, _Use)
        del self._uses[use.key]
        if use.address:
            self._backend.release(use.address)

    def _pack(self, use: _Use, weights: Operand) -> int:
        _, columns, form, groups = use.key
        rows = weights.size // (groups * columns)
        strides = (1, rows) if form == COLUMNS else (groups * columns, 1)
        pack = "pack_weights", rows, columns, *strides, groups
        if form == TRANSFORMED:
            pack = "winograd_filter", 0, rows // 9, columns, groups, 0
        try:
            use.address = self._backend.allocate(packed_bytes(groups * rows, columns, form))
        except OutOfMemoryError:
            return 0  # the product packs them itself, piece by piece
        self._backend.functions[pack[0],](weights.storage.handle, use.address, *pack[1:])
        return use.address
