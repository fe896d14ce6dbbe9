"""Derivatives that are no gradients: along a direction, and of results with several elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

from webtensor.arguments import as_integers, check_callable
from webtensor.autodiff.functions import (
    as_pair,
    in_dtype_of,
    own_arguments,
    own_tensor,
    own_tensors,
    value_and_gradient_of,
)
from webtensor.autodiff.results import require_real, require_tensor, without_aliases
from webtensor.autodiff.tape import Tape, with_zeros
from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor
from webtensor.errors import CaptureError
from webtensor.nest import is_nested, keys, leaves, pack_leaves
from webtensor.ops import eye, reshape, stack, unstack, zeros
from webtensor.transforms.vectorization import vmap

__all__ = ["hessian", "jacobian", "jvp", "vjp"]


class _Recorded(NamedTuple):
    """A call of a function on a tape: its result, the tensors in that, and the auxiliary result."""

    tape: Tape
    result: Any
    values: list[Tensor]
    auxiliary: list[Any]

    def gradients(self, sources: Sequence[Tensor], dys: Sequence[Tensor]) -> list[Tensor]:
        """Return the gradients of the sources, given those of all values."""
        parts = self.tape.gradients(self.values, sources, dys, keep=True)
        return without_aliases(with_zeros(parts, sources))


def _recorded(
    name: str, call: Callable[[], Any], sources: Sequence[Tensor], has_aux: bool
) -> _Recorded:
    tape = Tape()
    for source in sources:
        tape.watch(source)
    with tape:
        result, *auxiliary = as_pair(name, call()) if has_aux else [call()]
        values = [require_tensor(name, leaf) for leaf in leaves(result)]
    return _Recorded(tape, result, values, auxiliary)


def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Return a function's result, and its derivative along a direction.

    The derivative is the Jacobian times the direction. It is computed by two backward passes: the
    gradient for a ``dy`` is linear in ``dy``, and its own gradient for ``dy`` is the derivative.

    Args:
        function: takes and returns tensors, or structures of them.
        primals: a list or tuple of the arguments, of float tensors.
        tangents: the direction, tensors of the same shapes in the same structures.
        has_aux: as of ``value_and_grad``; the auxiliary result is returned as the third.

    Raises:
        TypeError: the arguments are not in lists or tuples, or a result is no tensor; with
            ``has_aux``, ``function`` returns no pair.
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
    directions = _directions("jvp: tangents", "primals", arguments, tangents)
    recorded = _recorded("jvp", lambda: function(*arguments), sources, has_aux)
    values = recorded.values
    dys = [zeros(y.shape, complex64 if y.dtype is complex64 else float32) for y in values]
    tape = Tape()
    for dy in dys:
        tape.watch(dy)
    with tape:
        gradients = recorded.tape.gradients(values, sources, dys)
    pairs = [
        (gradient, direction)
        for gradient, direction in zip(gradients, directions, strict=True)
        if gradient is not None
    ]
    along = tape.gradients([pair[0] for pair in pairs], dys, [pair[1] for pair in pairs])
    derivatives = without_aliases(with_zeros(along, values))
    result = recorded.result
    return pack_leaves(result, values), pack_leaves(result, derivatives), *recorded.auxiliary


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return a function's result, and the function from its gradient to those of the arguments.

    That function takes ``dy``, a tensor like the result or a structure of tensors like it, and
    returns a tuple of the gradients for ``primals``: ``dy`` times the Jacobian. It may be called
    again and again.

    Args:
        function: takes and returns tensors, or structures of them.
        *primals: its arguments.
        has_aux: as of ``value_and_grad``; the auxiliary result is returned as the third.

    Raises:
        TypeError: ``function`` cannot be called, or a result is no tensor; with ``has_aux``, it
            returns no pair.
        ValueError: ``dy`` has another structure or other shapes than the result.

    Example:
        >>> import webtensor as wt
        >>> value, gradients_of = wt.vjp(lambda x, y: x * y, [1.0, 2.0], 3.0)
        >>> [gradient.tolist() for gradient in gradients_of([1.0, 1.0])]
        [[3.0, 3.0], 3.0]
    """
    check_callable("vjp", "function", function)
    arguments = [own_tensors("vjp", primal) for primal in primals]
    sources = leaves(arguments)
    recorded = _recorded("vjp", lambda: function(*arguments), sources, has_aux)
    result = pack_leaves(recorded.result, recorded.values)

    def gradients_of(dy: Any) -> tuple[Any, ...]:
        dys = _directions("vjp: dy", "the result", result, dy)
        return tuple(pack_leaves(arguments, recorded.gradients(sources, dys)))

    return result, gradients_of, *recorded.auxiliary


def _directions(label: str, other: str, value: Any, direction: Any) -> list[Tensor]:
    """Return the directions of all tensors in a value, which errors call ``other``."""
    if value is None:
        return []
    if is_nested(value):
        if not is_nested(direction) or [*keys(value)] != [*keys(direction)]:
            raise ValueError(f"{label} must have the structure of {other}")
        return [
            tensor
            for key in keys(value)
            for tensor in _directions(
                f"{label}[{key!r}]", f"{other}[{key!r}]", value[key], direction[key]
            )
        ]
    tensor = in_dtype_of(value, own_tensor(label, direction))
    if tensor.shape != value.shape:
        raise ValueError(
            f"{label} must have the shape of {other}, {value.shape}, but its shape is "
            f"{tensor.shape}"
        )
    return [tensor]


def jacobian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes all derivatives of ``function`` at an argument.

    The returned function takes the arguments of ``function``. For a tensor ``x`` it returns a
    tensor of the shape of the result followed by that of ``x``: element ``[i, j]`` is the
    derivative of element ``i`` of the result for element ``j`` of ``x``. The backward passes of all
    elements of the result are one batch, by ``vmap``.

    Args:
        function: takes and returns tensors, or structures of them; its result may be one, too.
        argnums: as of ``value_and_grad``. Each tensor of the result has such a tensor, structure or
            tuple in its place.
        has_aux: as of ``value_and_grad``; a pair with the auxiliary result is returned.

    Raises:
        TypeError: ``function`` cannot be called, or a result is no tensor or complex; with
            ``has_aux``, it returns no pair.
        ValueError: there is no such argument.

    Example:
        >>> import webtensor as wt
        >>> wt.jacobian(lambda x: x**2)([1.0, 2.0]).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        >>> by_x, by_y = wt.jacobian(lambda x, y: x * y, argnums=(0, 1))([1.0, 2.0], 3.0)
        >>> by_x.tolist(), by_y.tolist()
        ([[3.0, 0.0], [0.0, 3.0]], [1.0, 2.0])
    """
    check_callable("jacobian", "function", function)
    positions = as_integers("jacobian", "argnums", argnums)

    @wraps(function)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        arguments, chosen = own_arguments("jacobian", positions, args)
        sources = leaves(chosen)
        recorded = _recorded("jacobian", lambda: function(*arguments, **kwargs), sources, has_aux)
        by_value = []
        for index, value in enumerate(recorded.values):
            require_real("jacobian", value)
            by_argument = pack_leaves(chosen, _rows(recorded, index, sources))
            by_value.append(by_argument[0] if hasattr(argnums, "__index__") else tuple(by_argument))
        result = pack_leaves(recorded.result, by_value)
        return (result, *recorded.auxiliary) if has_aux else result

    return derivatives


def _rows(recorded: _Recorded, index: int, sources: Sequence[Tensor]) -> list[Tensor]:
    """Return the derivatives of a value for each source, with the axes of both."""
    value = recorded.values[index]
    alone = recorded._replace(values=[value])
    directions = reshape(eye(value.size), (value.size, *value.shape))

    def row(direction: Tensor) -> list[Tensor]:
        return alone.gradients(sources, [direction])

    try:
        rows = vmap(row)(directions)
    except CaptureError:  # the backward pass reads elements, or runs a captured loop
        rows = list(map(stack, zip(*map(row, unstack(directions)), strict=True)))
    return [
        reshape(row, (*value.shape, *source.shape))
        for row, source in zip(rows, sources, strict=True)
    ]


def hessian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the second derivatives of ``function`` at an argument.

    ``function`` returns a scalar. The returned function takes its arguments; for a tensor ``x`` it
    returns a tensor with the axes of ``x`` twice. For structures of tensors and several arguments
    it is the Jacobian of the gradient.

    Args:
        function: takes tensors, or structures of them.
        argnums: as of ``value_and_grad``.
        has_aux: as of ``value_and_grad``; a pair with the auxiliary result is returned.

    Raises:
        TypeError: ``function`` cannot be called, or its result is no tensor; with ``has_aux``, it
            returns no pair.
        ValueError: the result is no scalar, or does not depend on the argument; there is no such
            argument.

    Example:
        >>> import webtensor as wt
        >>> wt.hessian(lambda x: wt.sum(x**3))([1.0, 2.0]).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    check_callable("hessian", "function", function)

    def scalar(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        value = require_tensor("hessian", as_pair("hessian", result)[0] if has_aux else result)
        if value.shape != ():
            raise ValueError(
                f"hessian: the function's result must be a scalar, but its shape is {value.shape}"
            )
        return result

    differentiated = value_and_gradient_of("hessian", scalar, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradient = differentiated(args, kwargs, None)
        return (gradient, value[1]) if has_aux else gradient

    return wraps(function)(jacobian(gradient, argnums, has_aux))
