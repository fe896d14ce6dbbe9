"""The functions that links of chains call, by name; see ``wasm_build/source/chain.c``."""

from __future__ import annotations

from collections.abc import Container, Sequence

from webtensor.backends.api import Elementwise
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType
from webtensor.shapes import Shape, contiguous_strides
from webtensor.views import broadcast_strides, collapse

__all__ = ["MOST_PARAMETERS", "chain_rows", "is_link", "link_name"]

#: Of a unary row.
MOST_PARAMETERS = 3

#: The minimum length of rows along which operands are broadcast: links are called row by row.
_MIN_COLUMNS = 32


def link_name(row: Elementwise | None, dtypes: Sequence[DType], dtype: DType) -> str:
    """Return the name of a row's function, or of a cast's, for operands of these dtypes."""
    return f"cast_{dtypes[0]}_{dtype}" if row is None else f"{row.name}_{dtypes[-1]}"


def is_link(names: Container[str], row: Elementwise | None, of: Signature) -> bool:
    """Whether a row, or a cast, has a function of these names, and rows are long enough."""
    dtypes = [operand.dtype for operand in of.inputs]
    fits = row is None or len(row.parameters) <= MOST_PARAMETERS
    if not fits or link_name(row, dtypes, of.dtype) not in names:
        return False
    sizes, _ = chain_rows(of)
    return sizes[-1] >= min(of.size, _MIN_COLUMNS)


def chain_rows(of: Signature) -> tuple[list[int], list[list[int]]]:
    """Return the sizes of axes, and the strides of each operand along them.

    The last axis is a row, along which each operand has stride 1 or 0.
    """
    return collapse(of.shape, *(_strides(operand, of) for operand in of.inputs))


def _strides(operand: Spec, of: Signature) -> Shape:
    if operand.size == of.size:
        return contiguous_strides(of.shape)
    return broadcast_strides(operand.shape, of.shape)
