"""Derivatives that are no gradients: along a direction, and of results with several elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from webtensor.arguments import check_callable
from webtensor.autodiff.functions import grad, in_dtype_of, own_tensor, own_tensors
from webtensor.autodiff.results import each_its_own, require_real, require_tensor
from webtensor.autodiff.tape import Tape, with_zeros
from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, TensorLike
from webtensor.nest import is_nested, keys, leaves, pack_leaves
from webtensor.ops import eye, reshape, stack, zeros
from webtensor.shapes import prod

__all__ = ["hessian", "jacobian", "jvp"]


def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """Return a function's result, and its derivative along a direction.

    The derivative is the Jacobian times the direction. It is computed by going back twice: the
    gradient for a ``dy`` is linear in ``dy``, and its own gradient for ``dy`` is the derivative.

    Args:
        function: takes and returns tensors, or structures of them.
        primals: a list or tuple of the arguments, of float tensors.
        tangents: the direction, tensors of the same shapes in the same structures.

    Raises:
        TypeError: the arguments are not in lists or tuples, or a result is no tensor.
        ValueError: numbers, structures or shapes of arguments and directions differ.

    Example:
        >>> import webtensor as wt
        >>> value, slope = wt.jvp(lambda x: wt.sin(x) * 2.0, [wt.tensor([0.0])], [wt.tensor([3.0])])
        >>> value.tolist(), slope.tolist()
        ([0.0], [6.0])
    """
    check_callable("jvp", "function", function)
    for name, values in (("primals", primals), ("tangents", tangents)):
        if not isinstance(values, (list, tuple)):
            raise TypeError(f"jvp: {name} must be a list or a tuple of tensors, but got {values!r}")
    if len(primals) != len(tangents):
        raise ValueError(
            f"jvp: there must be a tangent for each primal, but there are {len(primals)} primals "
            f"and {len(tangents)} tangents"
        )
    arguments = [own_tensors("jvp", primal) for primal in primals]
    sources = leaves(arguments)
    directions = _directions("", arguments, tangents)
    outer, inner = Tape(), Tape()
    for source in sources:
        inner.watch(source)
    with inner:
        result = function(*arguments)
        values = [require_tensor("jvp", leaf) for leaf in leaves(result)]
    dys = [zeros(y.shape, complex64 if y.dtype is complex64 else float32) for y in values]
    for dy in dys:
        outer.watch(dy)
    with outer:
        gradients = inner.gradients(values, sources, dys)
    pairs = [
        (gradient, direction)
        for gradient, direction in zip(gradients, directions, strict=True)
        if gradient is not None
    ]
    along = outer.gradients([pair[0] for pair in pairs], dys, [pair[1] for pair in pairs])
    derivatives = each_its_own(with_zeros(along, [value.shape for value in values]))
    return pack_leaves(result, values), pack_leaves(result, derivatives)


def _directions(path: str, primal: Any, tangent: Any) -> list[Tensor]:
    """Return the tangents of all tensors in a primal; ``path`` is where it is, for errors."""
    if primal is None:
        return []
    if is_nested(primal):
        if not is_nested(tangent) or [*keys(primal)] != [*keys(tangent)]:
            raise ValueError(f"jvp: tangents{path} must have the structure of primals{path}")
        return [
            direction
            for key in keys(primal)
            for direction in _directions(f"{path}[{key!r}]", primal[key], tangent[key])
        ]
    direction = in_dtype_of(primal, own_tensor("jvp", tangent))
    if direction.shape != primal.shape:
        raise ValueError(
            f"jvp: tangents{path} must have the shape of primals{path}, {primal.shape}, but its "
            f"shape is {direction.shape}"
        )
    return [direction]


def jacobian(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function that computes all derivatives of ``function`` at its first argument.

    The returned function takes ``x`` and returns a tensor of the shape of ``function(x)`` followed
    by that of ``x``: element ``[i, j]`` is the derivative of element ``i`` of the result for
    element ``j`` of ``x``. Further arguments are passed on to ``function``.

    Raises:
        TypeError: ``function`` cannot be called, or its result is no tensor or complex.

    Example:
        >>> import webtensor as wt
        >>> wt.jacobian(lambda x: x**2)([1.0, 2.0]).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    check_callable("jacobian", "function", function)

    @wraps(function)
    def derivatives(x: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
        source = own_tensor("jacobian", x)
        tape = Tape()
        tape.watch(source)
        with tape:
            value = require_tensor("jacobian", function(source, *args, **kwargs))
        require_real("jacobian", value)
        shape = (*value.shape, *source.shape)
        if not prod(shape):
            return zeros(shape)
        directions = reshape(eye(value.size), (value.size, *value.shape))
        rows: list[Tensor | None] = []
        for index in range(value.size):
            rows += tape.gradients([value], [source], [directions[index]], keep=True)
        return reshape(stack([*with_zeros(rows, [source.shape] * len(rows))]), shape)

    return derivatives


def hessian(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function that computes the second derivatives of ``function`` at its first argument.

    ``function`` returns a scalar. The returned function takes ``x`` and returns a tensor with the
    axes of ``x`` twice. Further arguments are passed on to ``function``.

    Raises:
        TypeError: ``function`` cannot be called, or its result is no tensor.
        ValueError: the result is no scalar, or does not depend on ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.hessian(lambda x: wt.sum(x**3))([1.0, 2.0]).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    check_callable("hessian", "function", function)

    def scalar(*args: Any, **kwargs: Any) -> Tensor:
        value = require_tensor("hessian", function(*args, **kwargs))
        if value.shape != ():
            raise ValueError(
                f"hessian: the function's result must be a scalar, but its shape is {value.shape}"
            )
        return value

    return wraps(function)(jacobian(grad(scalar)))
