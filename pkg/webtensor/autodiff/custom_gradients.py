"""Functions with gradients of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from webtensor.arguments import check_callable
from webtensor.autodiff.results import require_tensor
from webtensor.autodiff.tape import IDENTITY, is_recording, paused
from webtensor.dtypes import complex64
from webtensor.engine import Primitive, Tensor, TensorLike, alias, as_operand, state
from webtensor.engine.scopes import outside_scopes
from webtensor.shapes import Shape

__all__ = ["custom_grad"]


def custom_grad(
    function: Callable[..., tuple[Tensor, Callable[..., Any]]],
) -> Callable[..., Tensor]:
    """Give a function its own gradient.

    ``function(*xs)`` returns ``(value, gradient)``, where ``gradient(dy)`` returns the gradient
    for the only input, or one for each input. The computation of the value is not recorded; the
    gradient may be differentiated again.

    Example:
        >>> import webtensor as wt
        >>> @wt.custom_grad
        ... def clipped(x):
        ...     return x * 10, lambda dy: wt.clip(dy, -1, 1)
        >>> wt.grad(clipped)(2.0).tolist()
        1.0
    """
    check_callable("custom_grad", "function", function)

    def compute(inputs: tuple[Tensor, ...]) -> tuple[Tensor, Callable[..., Any]]:
        return _custom_result(function(*inputs))

    @wraps(function)
    def differentiable(*xs: TensorLike) -> Tensor:
        inputs = tuple(as_operand("custom_grad", x) for x in xs)
        is_seen, capture = is_recording(), state.captures[-1] if state.captures else None
        if capture is not None and not capture.is_differentiated:
            capture = None
        if capture is None and not is_seen:
            return compute(inputs)[0]
        # The tensors that the gradient function uses live until the walk back, even if disposed.
        with outside_scopes():
            inputs = tuple(alias(IDENTITY, x, x.shape) for x in inputs)
            with paused():
                value, gradient = (
                    compute(inputs)
                    if capture is None
                    else capture.custom_call(inputs, compute, is_seen)
                )
        with paused():
            # A new tensor: the function may return one that is recorded already.
            value = alias(IDENTITY, value, value.shape)
        if capture is not None:
            capture.note_custom_call(inputs, value, compute)
        if is_seen:
            primitive = _custom_primitive(gradient, inputs)
            for observer in state.observers:
                observer.record(primitive, inputs, value, ())
        return value

    return differentiable


def _custom_result(result: Any) -> tuple[Tensor, Callable[..., Any]]:
    """Return the value and the gradient function that a custom function returned."""
    if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
        raise TypeError(
            "custom_grad: function must return (value, gradient function), but it returned "
            f"{result!r}"
        )
    return require_tensor("custom_grad", result[0]), result[1]


def _custom_primitive(gradient: Callable[..., Any], inputs: Sequence[Tensor]) -> Primitive:
    """Wrap a user's gradient function, calling it once for all inputs of a walk back."""
    cached_gradients: dict[int, Any] = {}

    def part(index: int, dy: Tensor) -> Tensor:
        if id(dy) not in cached_gradients:
            cached_gradients.clear()
            result = gradient(alias(IDENTITY, dy, dy.shape))
            has_several = isinstance(result, Iterable) and not isinstance(result, Tensor)
            parts = [
                require_tensor("custom_grad: gradient", gradient_of_input)
                for gradient_of_input in (result if has_several else [result])
            ]
            cached_gradients[id(dy)] = dy, parts
        parts = cached_gradients[id(dy)][1]
        if len(parts) != len(inputs) or _form(parts[index]) != _form(inputs[index]):
            raise ValueError(
                "custom_grad: gradient must return one tensor per input, of shapes "
                f"{[x.shape for x in inputs]}, complex where the input is, but returned "
                f"{[str(g.dtype) + str(g.shape) for g in parts]}"
            )
        return parts[index]  # type: ignore[no-any-return]

    def rule(index: int) -> Callable[..., Tensor]:
        return lambda dy, *_: part(index, dy)

    return Primitive("custom_grad", gradients=rule)


def _form(tensor: Tensor) -> tuple[Shape, bool]:
    return tensor.shape, tensor.dtype is complex64
