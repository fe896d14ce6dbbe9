"""Products of vectors and matrices, in Keras's module ``numpy``."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.keras.ops.operations import Row, op

__all__ = ["ROWS"]


def _dot(x1: Any, x2: Any) -> Any:
    """Sums of products along the last axis of x1 and the last but one of x2."""
    x1, x2 = wt.asarray(x1), wt.asarray(x2)
    if not x1.shape or not x2.shape:
        return wt.multiply(x1, x2)
    return wt.linalg.tensordot(x1, x2, axes=([-1], [-2 if len(x2.shape) > 1 else -1]))


def _inner(x1: Any, x2: Any) -> Any:
    """Sums of products along the last axes."""
    x1, x2 = wt.asarray(x1), wt.asarray(x2)
    if not x1.shape or not x2.shape:
        return wt.multiply(x1, x2)
    return wt.linalg.tensordot(x1, x2, axes=([-1], [-1]))


def _vdot(x1: Any, x2: Any) -> Any:
    """The sum of products of all elements, those of x1 conjugated."""
    return wt.sum(wt.multiply(wt.conj(wt.reshape(x1, (-1,))), wt.reshape(x2, (-1,))))


def _outer(x1: Any, x2: Any) -> Any:
    """The products of each element of x1 with each of x2."""
    return wt.multiply(wt.reshape(x1, (-1, 1)), wt.reshape(x2, (1, -1)))


def _kron(x1: Any, x2: Any) -> Any:
    """Each element of x1 times all of x2."""
    x1, x2 = wt.asarray(x1), wt.asarray(x2)
    rank = max(len(x1.shape), len(x2.shape))
    first = (1,) * (rank - len(x1.shape)) + x1.shape
    second = (1,) * (rank - len(x2.shape)) + x2.shape
    rows = [part for n in first for part in (n, 1)]
    columns = [part for n in second for part in (1, n)]
    made = wt.multiply(wt.reshape(x1, rows), wt.reshape(x2, columns))
    return wt.reshape(made, [p * q for p, q in zip(first, second, strict=True)])


def _cross(
    x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The vectors at right angles to both; of plane ones, their height."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = wt.moveaxis(x1, axisa, -1), wt.moveaxis(x2, axisb, -1)
    lengths = (x1.shape[-1], x2.shape[-1])
    if not set(lengths) <= {2, 3}:
        raise ValueError(f"cross: vectors must have length 2 or 3, but have lengths {lengths}")
    if lengths == (2, 2):
        return x1[..., 0] * x2[..., 1] - x1[..., 1] * x2[..., 0]
    x1, x2 = _in_space(x1), _in_space(x2)
    return wt.moveaxis(wt.linalg.cross(*wt.broadcast_arrays(x1, x2)), -1, axisc)


def _in_space(x: Any) -> Any:
    """Vectors with three elements."""
    rank = len(x.shape)
    return x if x.shape[-1] == 3 else wt.pad(x, [[0, 0]] * (rank - 1) + [[0, 1]])


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Sums of products along pairs of axes."""
    if not isinstance(axes, int):
        axes = [[one] if isinstance(one, int) else list(one) for one in axes]
    return wt.linalg.tensordot(x1, x2, axes=axes)


def _einsum(subscripts: str, *operands: Any) -> Any:
    """Sums of products, as Einstein wrote them."""
    return wt.einsum(subscripts, *operands)


def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    """The powers of elements, as rows."""
    x = wt.asarray(x)
    count = x.shape[0] if N is None else N
    powers = wt.arange(count) if increasing else wt.arange(count - 1, -1, -1)
    return wt.pow(wt.expand_dims(x, -1), wt.astype(powers, x.dtype))


def _correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    """Sums of products of x1 with x2, moved along it."""
    x1, x2 = (wt.asarray(one) for one in (x1, x2))
    if len(x1.shape) != 1 or len(x2.shape) != 1:
        raise ValueError(
            f"correlate: x1 and x2 must have one axis, but have shapes {x1.shape} and {x2.shape}"
        )
    is_longer = x2.shape[0] > x1.shape[0]
    long, short = (x2, x1) if is_longer else (x1, x2)
    n, m = long.shape[0], short.shape[0]
    around = {"valid": (0, 0), "same": (m // 2, (m - 1) // 2), "full": (m - 1, m - 1)}
    if mode not in around:
        raise ValueError(f"correlate: mode must be one of {sorted(around)}, but got {mode!r}")
    before, after = around[mode]
    if is_longer and mode == "same":
        before, after = after, before
    padded = wt.pad(wt.astype(long, float32), [[before, after]])
    found = wt.conv1d(
        wt.reshape(padded, (1, -1, 1)),
        wt.reshape(wt.astype(short, float32), (-1, 1, 1)),
        1,
        "valid",
    )
    found = wt.reshape(found, (n + before + after - m + 1,))
    return wt.flip(found) if is_longer else found


ROWS: dict[str, Row] = {
    "correlate": op(_correlate, "mode"),
    "cross": op(_cross, "axisa axisb axisc axis"),
    "dot": op(_dot),
    "einsum": op(_einsum, "subscripts"),
    "inner": op(_inner),
    "kron": op(_kron),
    "matmul": op(wt.matmul, names="x1 x2"),
    "outer": op(_outer),
    "slogdet": op(wt.linalg.slogdet, names="x"),
    "tensordot": op(_tensordot, "axes"),
    "vander": op(_vander, "N increasing"),
    "vdot": op(_vdot),
}
