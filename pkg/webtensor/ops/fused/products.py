"""The matrix product with a bias and an activation in one call."""

from __future__ import annotations

from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike, as_operands, planned
from webtensor.ops import contraction
from webtensor.ops.casting import as_float
from webtensor.ops.fused.epilogue_arguments import EpilogueArguments

__all__ = ["mat_mul"]


@planned
def mat_mul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    bias: TensorLike | None = None,
    activation: str | None = "linear",
    prelu_activation_weights: TensorLike | None = None,
    leakyrelu_alpha: float = 0.2,
    residual: TensorLike | None = None,
) -> Tensor:
    """``wt.matmul``, then a bias added, then an activation. See ``fused.conv2d``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> a, b = [[1.0, 2.0]], [[3.0], [4.0]]
        >>> wt.fused.mat_mul(a, b, bias=[-20.0], activation="relu6").tolist()
        [[0.0]]
    """
    name = "fused.mat_mul"
    activation = activation or "linear"
    arguments = EpilogueArguments(
        name, bias, activation, prelu_activation_weights, leakyrelu_alpha, residual
    )
    arguments.check_activation()
    a, b = as_operands(name, a, b)
    epilogue = None
    if a.dtype is b.dtype is float32 and len(b.shape) > 1:
        columns = b.shape[-2] if transpose_b else b.shape[-1]
        epilogue = arguments.epilogue((columns,))
    if epilogue is not None:
        return contraction.fused_matmul(a, b, transpose_a, transpose_b, epilogue)
    y = contraction.matmul(a, b, transpose_a, transpose_b)
    if bias is not None or residual is not None or activation != "linear":
        y = as_float(name, "the product", y)
    return arguments.apply(y)
