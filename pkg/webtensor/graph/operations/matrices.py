"""Operations on matrices that TensorFlow.js does not have: diagonals, factors and solutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import boolean, integer, integers, number, text
from webtensor.graph.operations.rows import Row

__all__ = ["ONLY_HERE"]

# -- diagonals ---------------------------------------------------------------------------------


def _shift(offset: Tensor, rows: int, columns: int, longest: int, align: str) -> Tensor:
    """Return how far diagonals of these offsets are moved to the right where they are packed."""
    above, below = (side == "LEFT" for side in align.split("_"))
    length = ops.minimum(
        ops.add(ops.minimum(offset, 0), rows), ops.subtract(columns, ops.maximum(offset, 0))
    )
    is_left = ops.logical_or(
        ops.logical_and(above, ops.greater_equal(offset, 0)),
        ops.logical_and(below, ops.less_equal(offset, 0)),
    )
    return ops.where(is_left, 0, ops.subtract(longest, length))


def with_diagonals(
    x: Tensor, diagonal: Tensor, k: Sequence[int] = (0,), align: str = "LEFT_LEFT"
) -> Tensor:
    """Return matrices whose diagonals of the offsets from ``k[0]`` to ``k[-1]`` are others."""
    rows, columns = x.shape[-2:]
    longest = diagonal.shape[-1]
    row, column = ops.reshape(ops.arange(rows), (-1, 1)), ops.arange(columns)
    offset = ops.subtract(column, row)
    packed = ops.multiply(ops.subtract(k[-1], offset), longest)
    packed = ops.add(packed, _shift(offset, rows, columns, longest, align))
    packed = ops.add(packed, ops.minimum(row, column))
    is_inside = ops.logical_and(ops.greater_equal(offset, k[0]), ops.less_equal(offset, k[-1]))
    flat = diagonal if len(k) < 2 or k[0] == k[1] else _merged(diagonal)
    elements = ops.gather(flat, ops.where(is_inside, packed, 0), len(flat.shape) - 1)
    return ops.where(is_inside, elements, x)


def _merged(x: Tensor) -> Tensor:
    """Return a tensor whose last two axes are one."""
    return ops.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))


def matrices_of(
    diagonal: Tensor,
    k: Sequence[int] = (0,),
    rows: int = -1,
    columns: int = -1,
    padding: float = 0,
    align: str = "LEFT_LEFT",
) -> Tensor:
    """Return matrices with these diagonals; -1 is the least number of rows or columns."""
    longest = diagonal.shape[-1]
    least_rows, least_columns = longest - min(k[-1], 0), longest + max(k[0], 0)
    if rows == columns == -1:
        least_rows = least_columns = max(least_rows, least_columns)
    shape = (rows if rows >= 0 else least_rows, columns if columns >= 0 else least_columns)
    batch = diagonal.shape[: -1 if len(k) < 2 or k[0] == k[1] else -2]
    background = ops.full((*batch, *shape), padding, diagonal.dtype)
    return with_diagonals(background, diagonal, k, align)


def diagonals_of(
    x: Tensor, k: Sequence[int] = (0,), padding: float = 0, align: str = "LEFT_LEFT"
) -> Tensor:
    """Return the diagonals of matrices, packed one below the other where there are several."""
    rows, columns = x.shape[-2:]
    longest = min(rows + min(k[-1], 0), columns - max(k[0], 0))
    offset = ops.reshape(ops.arange(k[-1], k[0] - 1, -1), (-1, 1))
    index = ops.subtract(ops.arange(longest), _shift(offset, rows, columns, longest, align))
    row = ops.subtract(index, ops.minimum(offset, 0))
    column = ops.add(index, ops.maximum(offset, 0))
    is_inside = ops.logical_and(
        ops.greater_equal(index, 0), ops.logical_and(ops.less(row, rows), ops.less(column, columns))
    )
    flat = ops.where(is_inside, ops.add(ops.multiply(row, columns), column), 0)
    elements = ops.gather(_merged(x), flat, len(x.shape) - 2)
    result = ops.where(is_inside, elements, ops.full((), padding, x.dtype))
    return ops.squeeze(result, -2) if k[0] == k[-1] else result


# -- solutions ---------------------------------------------------------------------------------


def adjoint_if(x: Tensor, adjoint: bool) -> Tensor:
    """Return matrices, or their adjoints."""
    return ops.conj(ops.matrix_transpose(x)) if adjoint else x


def inverse(x: Tensor, adjoint: bool) -> Tensor:
    """Return the inverses of matrices, or of their adjoints."""
    return ops.linalg.inv(adjoint_if(x, adjoint))


def solution(a: Tensor, b: Tensor, adjoint: bool) -> Tensor:
    """Solve linear equations."""
    return ops.linalg.solve(adjoint_if(a, adjoint), b)


def solution_of_triangle(a: Tensor, b: Tensor, lower: bool, adjoint: bool) -> Tensor:
    """Solve linear equations with one triangle of a matrix."""
    triangle = ops.tril(a) if lower else ops.triu(a)
    return ops.linalg.solve(adjoint_if(triangle, adjoint), b)


def singular_values(x: Tensor, compute_uv: bool, full_matrices: bool) -> tuple[Tensor, ...]:
    """Return singular values, and the left and right singular vectors as columns."""
    if not compute_uv:
        return ops.linalg.svdvals(x), ops.zeros((0,)), ops.zeros((0,))
    left, values, right = ops.linalg.svd(x, full_matrices=full_matrices)
    return values, left, adjoint_if(right, True)


def eigenvalues(x: Tensor, compute_v: bool) -> tuple[Tensor, ...]:
    """Return the eigenvalues of symmetric matrices, and the eigenvectors."""
    return tuple(ops.linalg.eigh(x)) if compute_v else (ops.linalg.eigvalsh(x), ops.zeros((0,)))


def factors(x: Tensor, full_matrices: bool) -> tuple[Tensor, ...]:
    """Return the factors Q and R."""
    return tuple(ops.linalg.qr(x, mode="complete" if full_matrices else "reduced"))


_ALIGN = text("align", "RIGHT_LEFT")


def _versions(op: str, function: Callable[..., Tensor], *inputs: int, **options: Any) -> Any:
    """Return the rows of an operation whose first version knows the main diagonal alone."""
    return {
        op: Row(function, *inputs),
        f"{op}V2": Row(function, *inputs, **options),
        f"{op}V3": Row(function, *inputs, **options, align=_ALIGN),
    }


ONLY_HERE: dict[str, Row] = {
    **_versions(
        "MatrixDiag",
        matrices_of,
        0,
        k=integers(1),
        rows=integer(2),
        columns=integer(3),
        padding=number(4),
    ),
    **_versions("MatrixDiagPart", diagonals_of, 0, k=integers(1), padding=number(2)),
    **_versions("MatrixSetDiag", with_diagonals, 0, 1, k=integers(2)),
    "Cholesky": Row("linalg.cholesky", 0),
    "Cross": Row("linalg.cross", 0, 1),
    "LogMatrixDeterminant": Row("linalg.slogdet", 0),
    "MatrixDeterminant": Row("linalg.det", 0),
    "MatrixInverse": Row(inverse, 0, adjoint=boolean("adjoint")),
    "MatrixSolve": Row(solution, 0, 1, adjoint=boolean("adjoint")),
    "MatrixTriangularSolve": Row(
        solution_of_triangle, 0, 1, lower=boolean("lower", True), adjoint=boolean("adjoint")
    ),
    "Qr": Row(factors, 0, full_matrices=boolean("full_matrices")),
    "SelfAdjointEigV2": Row(eigenvalues, 0, compute_v=boolean("compute_v", True)),
    "Svd": Row(
        singular_values,
        0,
        compute_uv=boolean("compute_uv", True),
        full_matrices=boolean("full_matrices"),
    ),
}
