"""The functions that links of chains call, by name; see ``wasm_build/source/chain.c``."""

from __future__ import annotations

from collections.abc import Container, Sequence

from webtensor.backends.api import Elementwise
from webtensor.backends.signatures import Signature
from webtensor.dtypes import DType

__all__ = ["MOST_PARAMETERS", "is_link", "link_name"]

#: Of a unary row.
MOST_PARAMETERS = 3


def link_name(row: Elementwise | None, dtypes: Sequence[DType], dtype: DType) -> str:
    """Return the name of a row's function, or of a cast's, for operands of these dtypes."""
    return f"cast_{dtypes[0]}_{dtype}" if row is None else f"{row.name}_{dtypes[-1]}"


def is_link(names: Container[str], row: Elementwise | None, of: Signature) -> bool:
    """Whether a row, or a cast, has a function among those of these names."""
    dtypes = [operand.dtype for operand in of.inputs]
    fits = row is None or len(row.parameters) <= MOST_PARAMETERS
    return fits and link_name(row, dtypes, of.dtype) in names
