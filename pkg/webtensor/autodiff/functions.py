"""Gradients of functions for their arguments, in the names of TensorFlow.js and JAX."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import islice
from typing import Any

from webtensor.arguments import as_integers, check_callable
from webtensor.autodiff.results import ones_like, require_tensor, without_aliases
from webtensor.autodiff.tape import IDENTITY, Tape, with_zeros
from webtensor.dtypes import float32, int32, string_
from webtensor.engine import Tensor, TensorLike, Variable, alias, as_operand
from webtensor.nest import alike, is_nested, keys, leaves, pack_leaves

__all__ = [
    "as_pair",
    "grad",
    "grads",
    "in_dtype_of",
    "is_host_data",
    "own_arguments",
    "own_tensor",
    "own_tensors",
    "value_and_grad",
    "value_and_gradient_of",
    "value_and_grads",
]


def grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``function`` at its argument.

    The returned function takes ``x`` and optionally ``dy``, the gradient of the result (ones of
    the shape of ``function(x)`` by default), and returns a tensor of the shape of ``x``. Structures
    of tensors, the arguments of a function that takes several, and ``has_aux`` are those of
    ``value_and_grad``; ``dy`` is a keyword then. With ``has_aux`` it returns
    ``(gradient, auxiliary)``.

    Raises:
        TypeError: with ``has_aux``, ``function`` returns no pair.
        ValueError: ``function(x)`` does not depend on ``x``, or ``dy`` has another shape.

    Example:
        >>> import webtensor as wt
        >>> cube = wt.grad(lambda x: x**3)
        >>> cube(2.0).tolist()
        12.0
        >>> wt.grad(cube)(2.0).tolist()
        12.0
        >>> wt.grad(lambda x, y: x * y)(2.0, 3.0).tolist()
        3.0
    """
    value_and_gradient = value_and_gradient_of("grad", function, argnums, has_aux)

    @wraps(function)
    def gradient(*args: Any, dy: TensorLike | None = None, **kwargs: Any) -> Any:
        if len(args) == 2 and dy is None and not kwargs and not _takes(2, function):
            *args, dy = args  # type: ignore[assignment]
        value, gradient = value_and_gradient(args, kwargs, dy)
        return (gradient, value[1]) if has_aux else gradient

    return gradient


def _takes(count: int, function: Callable[..., Any]) -> bool:
    """Whether a function can be called with ``count`` positional arguments.

    Some callables of C have no signature; they take one.
    """
    from inspect import signature

    try:
        signature(function).bind(*(None,) * count)
    except TypeError:
        return False
    except ValueError:
        return count == 1
    return True


def grads(function: Callable[..., Tensor]) -> Callable[..., list[Tensor]]:
    """Return a function that computes the gradients of ``function`` for all its arguments.

    The arguments may be in a list, as in TensorFlow.js.

    Example:
        >>> import webtensor as wt
        >>> [g.tolist() for g in wt.grads(lambda x, y: x * y)(2.0, 3.0)]
        [3.0, 2.0]
    """
    check_callable("grads", "function", function)

    @wraps(function)
    def gradients(*xs: TensorLike, dy: TensorLike | None = None) -> list[Tensor]:
        return _differentiate("grads", function, xs, dy)[1]

    return gradients


def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that computes ``function``'s result and its gradient, as JAX and MLX do.

    The returned function takes the arguments of ``function``, and ``dy``, the gradient of the
    result (ones by default). It returns ``(result, gradient)``.

    Args:
        function: a function of tensors, or of dictionaries, lists and tuples of tensors, which may
            be nested, and have None in places; it returns a tensor. A list of numbers alone is one
            tensor.
        argnums: which positional arguments the gradient is for, by default the first. The gradient
            is like the argument: a tensor, or such a structure of tensors. For several arguments it
            is a tuple.
        has_aux: whether ``function`` returns a pair, ``(result, auxiliary)``, of which the second
            is anything, and is not differentiated. The pair is returned in place of the result.

    Raises:
        TypeError: with ``has_aux``, ``function`` returns no pair.
        ValueError: the result does not depend on one of these arguments, there is no such
            argument, or ``dy`` has another shape than the result.

    Example:
        >>> import webtensor as wt
        >>> value, gradient = wt.value_and_grad(lambda x: x**2)(3.0)
        >>> value.tolist(), gradient.tolist()
        (9.0, 6.0)
        >>> def loss(weights, x):
        ...     return wt.sum(weights["scale"] * x + weights["offset"])
        >>> weights = {"scale": wt.tensor(2.0), "offset": wt.tensor(1.0)}
        >>> value, gradient = wt.value_and_grad(loss)(weights, [1.0, 2.0])
        >>> value.tolist(), gradient["scale"].tolist(), gradient["offset"].tolist()
        (8.0, 3.0, 2.0)
        >>> def loss_and_distance(x):
        ...     distance = wt.abs(x - 1.0)
        ...     return distance**2, distance
        >>> (value, distance), gradient = wt.value_and_grad(loss_and_distance, has_aux=True)(3.0)
        >>> value.tolist(), distance.tolist(), gradient.tolist()
        (4.0, 2.0, 4.0)
    """
    value_and_gradient = value_and_gradient_of("value_and_grad", function, argnums, has_aux)

    @wraps(function)
    def both(*args: Any, dy: TensorLike | None = None, **kwargs: Any) -> tuple[Any, Any]:
        return value_and_gradient(args, kwargs, dy)

    return both


def value_and_gradient_of(
    name: str, function: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool
) -> Callable[[Sequence[Any], Mapping[str, Any], TensorLike | None], tuple[Any, Any]]:
    """Return a function of positional and keyword arguments, and of ``dy``.

    It returns what the function of ``value_and_grad`` does; ``name`` is for errors.
    """
    check_callable(name, "function", function)
    positions = as_integers(name, "argnums", argnums)

    def value_and_gradient(
        args: Sequence[Any], kwargs: Mapping[str, Any], dy: TensorLike | None
    ) -> tuple[Any, Any]:
        arguments, trees = own_arguments(name, positions, args)
        auxiliary = None

        def differentiated() -> Any:
            nonlocal auxiliary
            result = function(*arguments, **kwargs)
            if not has_aux:
                return result
            result, auxiliary = as_pair(name, result)
            return result

        value, gradients = _gradients(name, differentiated, leaves(trees), dy)
        remaining = iter(without_aliases(gradients))
        by_argument = []
        for position, tree in zip(positions, trees, strict=True):
            sources = leaves(tree)
            parts = list(islice(remaining, len(sources)))
            if sources and all(part is None for part in parts):
                raise _independence(name, position)
            zeroed = with_zeros(parts, sources)
            by_argument.append(pack_leaves(tree, zeroed))
        gradient = by_argument[0] if hasattr(argnums, "__index__") else tuple(by_argument)
        return (value, auxiliary) if has_aux else value, gradient

    return value_and_gradient


def own_arguments(
    name: str, positions: Sequence[int], args: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Return arguments with new tensors for those at some positions, and these alone.

    Raises:
        ValueError: there is no argument at one of the positions.
    """
    arguments = list(args)
    for position in positions:
        if not -len(args) <= position < len(args):
            raise ValueError(f"{name}: argnums has {position}, but there are {len(args)} arguments")
        arguments[position] = own_tensors(name, args[position])
    return arguments, [arguments[position] for position in positions]


def as_pair(name: str, result: Any) -> tuple[Any, Any]:
    """Return the result of a function with an auxiliary one.

    Raises:
        TypeError: it is no pair.
    """
    if not isinstance(result, (list, tuple)) or len(result) != 2:
        raise TypeError(
            f"{name}: with has_aux, the function must return a pair, (result, auxiliary), but "
            f"returned {result!r}"
        )
    result, auxiliary = result
    return result, auxiliary


def value_and_grads(
    function: Callable[..., Tensor],
) -> Callable[..., tuple[Tensor, list[Tensor]]]:
    """Like ``grads``, returning ``(function(*xs), gradients)``.

    Raises:
        ValueError: the result depends on none of the arguments, or ``dy`` has another shape.

    Example:
        >>> import webtensor as wt
        >>> value, gradients = wt.value_and_grads(lambda x, y: x * y)(2.0, 3.0)
        >>> value.tolist(), [gradient.tolist() for gradient in gradients]
        (6.0, [3.0, 2.0])
    """
    check_callable("value_and_grads", "function", function)

    @wraps(function)
    def both(*xs: TensorLike, dy: TensorLike | None = None) -> tuple[Tensor, list[Tensor]]:
        return _differentiate("value_and_grads", function, xs, dy)

    return both


def _differentiate(
    name: str, function: Callable[..., Tensor], xs: Sequence[TensorLike], dy: TensorLike | None
) -> tuple[Tensor, list[Tensor]]:
    if len(xs) == 1 and isinstance(xs[0], (list, tuple)) and not _takes(1, function):
        xs = xs[0]
    sources = [own_tensor(name, x) for x in xs]
    value, gradients = _gradients(name, lambda: function(*sources), sources, dy)
    for position, gradient in enumerate(gradients):
        if gradient is None:
            raise _independence(name, position)
    return value, without_aliases([gradient for gradient in gradients if gradient is not None])


def _gradients(
    name: str, function: Callable[[], Any], sources: list[Tensor], dy: TensorLike | None
) -> tuple[Tensor, list[Tensor | None]]:
    """Return a function's result and its gradients, None for sources it does not depend on."""
    tape = Tape()
    for source in sources:
        tape.watch(source)
    with tape:
        value = require_tensor(name, function())
    if dy is None:
        dy = ones_like(value)
    else:
        dy = in_dtype_of(value, own_tensor(name, dy))
        if dy.shape != value.shape:
            raise ValueError(
                f"{name}: dy must have the shape of the function's result, {value.shape}, but its "
                f"shape is {dy.shape}"
            )
    # A value that is computed from no operand, or is empty, depends on no source.
    of_nothing = tape.met_nothing() or any(0 in operand.shape for operand in (value, *sources))
    gradients = tape.gradients([value], sources, [dy])
    if of_nothing:
        return value, [*with_zeros(gradients, sources)]
    return value, gradients


def in_dtype_of(value: Tensor | Variable, direction: Tensor) -> Tensor:
    """Return a gradient or a tangent; one of integers is cast to the dtype of its ``value``."""
    if direction.dtype.rank > int32.rank:
        return direction
    dtype = value.dtype if value.dtype.rank > int32.rank else float32
    return direction.astype(dtype)  # type: ignore[no-any-return]


def _independence(name: str, position: int) -> ValueError:
    return ValueError(
        f"{name}: the function's result does not depend on its argument {position}; make "
        "sure that it computes the result from the tensor that it is given"
    )


def own_tensors(name: str, value: Any) -> Any:
    """Return new tensors of the leaves of a structure, in such a structure; None stays."""
    if value is None:
        return None
    if not is_nested(value) or is_host_data(value):
        return own_tensor(name, value)
    return alike(value, [own_tensors(name, value[key]) for key in keys(value)])


def is_host_data(value: object) -> bool:
    """Whether a value is a number, or a nested list of numbers, which is one tensor.

    An empty list is an empty structure.
    """
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(is_host_data, value))
    if value is None or isinstance(value, (Tensor, Variable, dict, deque)):
        return False
    return not getattr(value, "shape", ())


def own_tensor(name: str, x: TensorLike) -> Tensor:
    """Return a tensor object that nothing else refers to, so that it alone is watched."""
    tensor = as_operand(name, x, float32)
    if tensor.dtype is string_:
        raise TypeError(f"{name}: arguments must hold numbers, but got {tensor.dtype}")
    return alias(IDENTITY, tensor, tensor.shape)
