"""What chains consist of, and what may end one; see ``wasm_build/source/chain.c``."""

from __future__ import annotations

from collections.abc import Container, Sequence

from webtensor.backends.api import Elementwise
from webtensor.backends.programs import KernelCall
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType, float32, int32
from webtensor.matmul_sizes import MatmulSizes
from webtensor.shapes import Shape, contiguous_strides
from webtensor.views import broadcast_strides, collapse

__all__ = ["chain_rows", "is_end", "is_link", "link_name"]

#: The minimum length of rows along which operands are broadcast: functions are called row by row.
_MIN_COLUMNS = 32

#: The reductions that may end chains, and their dtypes, as in ``wasm_build/source/reduction.c``.
_REDUCTIONS = ("sum", "prod", "max", "min")
_REDUCED_DTYPES = (float32, int32)
#: The minimum length of what is reduced, and of the rows that are multiplied.
_MIN_REDUCED = 64
#: The maximum number of columns of a product that ends a chain, as in ``chain.c`` there.
_MAX_COLUMNS = 4


def link_name(row: Elementwise | None, dtypes: Sequence[DType], dtype: DType) -> str:
    """Return the name of a row's function, or of a cast's, for operands of these dtypes."""
    return f"cast_{dtypes[0]}_{dtype}" if row is None else f"{row.name}_{dtypes[-1]}"


def is_link(names: Container[str], row: Elementwise | None, of: Signature) -> bool:
    """Whether a row, or a cast, has a function of these names, and rows are long enough."""
    if link_name(row, [operand.dtype for operand in of.inputs], of.dtype) not in names:
        return False
    sizes, _ = chain_rows(of)
    return sizes[-1] >= min(of.size, _MIN_COLUMNS)


def is_end(call: KernelCall) -> bool:
    """Whether a call may end a chain: a reduction of long rows, or a product with few columns."""
    dtype = call.signature.dtype
    if call.kernel == "reduce":
        kind, _, reduced, inner = call.attributes
        is_reduced = kind in _REDUCTIONS and dtype in _REDUCED_DTYPES
        return is_reduced and inner == 1 and reduced >= _MIN_REDUCED
    sizes: MatmulSizes = call.attributes[0]
    return (
        dtype is float32
        and (sizes.batch, sizes.transpose_a) == (1, False)
        and sizes.n <= _MAX_COLUMNS
        and sizes.k >= _MIN_REDUCED
    )


def chain_rows(of: Signature) -> tuple[list[int], list[list[int]]]:
    """Return the sizes of axes, and the strides of each operand along them.

    The last axis is a row, along which each operand has stride 1 or 0.
    """
    return collapse(of.shape, *(_strides(operand, of) for operand in of.inputs))


def _strides(operand: Spec, of: Signature) -> Shape:
    if operand.size == of.size:
        return contiguous_strides(of.shape)
    return broadcast_strides(operand.shape, of.shape)
