"""The functions that users differentiate with, in TensorFlow.js's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from webtensor.autodiff.tape import IDENTITY, Tape, is_recording, paused, zero_gradient
from webtensor.dtypes import float32, string_
from webtensor.engine import Primitive, Tensor, TensorLike, Variable, alias, as_operand, state
from webtensor.engine.scopes import outside_scopes

__all__ = [
    "custom_grad",
    "grad",
    "grads",
    "value_and_grad",
    "value_and_grads",
    "variable_gradients",
    "variable_grads",
]


def grad(function: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    """Return a function that computes the gradient of ``function`` at its argument.

    The returned function takes ``x`` and optionally ``dy``, the gradient of the result (ones of
    the shape of ``function(x)`` by default), and returns a tensor of the shape of ``x``.

    Raises:
        ValueError: ``function(x)`` does not depend on ``x``, or ``dy`` has another shape.

    Example:
        >>> import webtensor as wt
        >>> cube = wt.grad(lambda x: x**3)
        >>> cube(2.0).tolist()
        12.0
        >>> wt.grad(cube)(2.0).tolist()
        12.0
    """
    _require_callable("grad", function)

    @wraps(function)
    def gradient(x: TensorLike, dy: TensorLike | None = None) -> Tensor:
        return _differentiate("grad", function, (x,), dy)[1][0]

    return gradient


def grads(function: Callable[..., Tensor]) -> Callable[..., list[Tensor]]:
    """Return a function that computes the gradients of ``function`` for all its arguments.

    Example:
        >>> import webtensor as wt
        >>> [g.tolist() for g in wt.grads(lambda x, y: x * y)(2.0, 3.0)]
        [3.0, 2.0]
    """
    _require_callable("grads", function)

    @wraps(function)
    def gradients(*xs: TensorLike, dy: TensorLike | None = None) -> list[Tensor]:
        return _differentiate("grads", function, xs, dy)[1]

    return gradients


def value_and_grad(function: Callable[[Tensor], Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    """Like ``grad``, returning ``(function(x), gradient)``.

    Example:
        >>> import webtensor as wt
        >>> value, gradient = wt.value_and_grad(lambda x: x**2)(3.0)
        >>> value.tolist(), gradient.tolist()
        (9.0, 6.0)
    """
    _require_callable("value_and_grad", function)

    @wraps(function)
    def both(x: TensorLike, dy: TensorLike | None = None) -> tuple[Tensor, Tensor]:
        value, gradients = _differentiate("value_and_grad", function, (x,), dy)
        return value, gradients[0]

    return both


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
    _require_callable("value_and_grads", function)

    @wraps(function)
    def both(*xs: TensorLike, dy: TensorLike | None = None) -> tuple[Tensor, list[Tensor]]:
        return _differentiate("value_and_grads", function, xs, dy)

    return both


def variable_grads(
    function: Callable[[], Tensor | Variable], variables: Iterable[Variable] | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Compute a scalar loss and its gradients for the trainable variables it read.

    ``variables`` narrows them; by default all trainable variables that ``function`` read.
    Returns ``(loss, {variable name: gradient})``.

    Raises:
        ValueError: the loss is not a float scalar, depends on no such variable, or two of the
            variables have the same name.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(3.0, name="w")
        >>> loss, gradients = wt.variable_grads(lambda: w * w)
        >>> loss.tolist(), gradients["w"].tolist()
        (9.0, 6.0)
    """
    loss, gradients = variable_gradients("variable_grads", function, variables)
    named: dict[str, Tensor] = {}
    for variable, gradient in gradients:
        if variable.name in named:
            raise ValueError(f"variable_grads: two variables are named {variable.name!r}")
        named[variable.name] = gradient
    return loss, named


def variable_gradients(
    name: str, function: Callable[[], Tensor | Variable], variables: Iterable[Variable] | None
) -> tuple[Tensor, list[tuple[Variable, Tensor]]]:
    """Compute a scalar loss and its gradient for each trainable variable that it depends on.

    ``name`` is the function that errors will name. See ``variable_grads``.
    """
    _require_callable(name, function)
    tape = Tape()
    with tape:
        loss = _require_tensor(name, function())
    if loss.shape != () or loss.dtype is not float32:
        raise ValueError(
            f"{name}: function must return a float32 scalar, but it returned "
            f"{loss.dtype} of shape {loss.shape}"
        )
    read = {id(variable): (variable, value) for variable, value in tape.variables.values()}
    chosen = list(read.values())
    if variables is not None:
        chosen = [read[id(variable)] for variable in variables if id(variable) in read]
    of_nothing = tape.met_nothing()
    gradients = tape.gradients([loss], [value for _, value in chosen], [_ones_like(loss)])
    if of_nothing:  # a sum over no elements depends on no variable
        gradients = [
            zero_gradient(value.shape) if gradient is None else gradient
            for (_, value), gradient in zip(chosen, gradients, strict=True)
        ]
    reached = [index for index, gradient in enumerate(gradients) if gradient is not None]
    if not reached:
        raise ValueError(f"{name}: the loss depends on none of the trainable variables")
    own_gradients = _each_its_own([gradient for gradient in gradients if gradient is not None])
    return loss, [
        (chosen[index][0], gradient) for index, gradient in zip(reached, own_gradients, strict=True)
    ]


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
    _require_callable("custom_grad", function)

    @wraps(function)
    def differentiable(*xs: TensorLike) -> Tensor:
        inputs = tuple(as_operand("custom_grad", x) for x in xs)
        if not is_recording():
            return _custom_result(function(*inputs))[0]
        # The tensors that the gradient function uses live until the walk back, even if disposed.
        with outside_scopes():
            inputs = tuple(alias(IDENTITY, x, x.shape) for x in inputs)
            with paused():
                value, gradient = _custom_result(function(*inputs))
        with paused():
            # A new tensor: the function may return one that is recorded already.
            value = alias(IDENTITY, value, value.shape)
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
    return _require_tensor("custom_grad", result[0]), result[1]


def _custom_primitive(gradient: Callable[..., Any], inputs: Sequence[Tensor]) -> Primitive:
    """Wrap a user's gradient function, calling it once for all inputs of a walk back."""
    cached_gradients: dict[int, Any] = {}

    def part(index: int, dy: Tensor) -> Tensor:
        if id(dy) not in cached_gradients:
            cached_gradients.clear()
            result = gradient(alias(IDENTITY, dy, dy.shape))
            cached_gradients[id(dy)] = dy, [result] if isinstance(result, Tensor) else list(result)
        parts = cached_gradients[id(dy)][1]
        if len(parts) != len(inputs) or parts[index].shape != inputs[index].shape:
            raise ValueError(
                "custom_grad: gradient must return one tensor per input, of shapes "
                f"{[x.shape for x in inputs]}, but returned {[g.shape for g in parts]}"
            )
        return parts[index]  # type: ignore[no-any-return]

    def rule(index: int) -> Callable[..., Tensor]:
        return lambda dy, *_: part(index, dy)

    return Primitive("custom_grad", gradients=rule)


def _require_callable(name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{name}: function must be callable, but got {function!r}")


def _differentiate(
    name: str, function: Callable[..., Tensor], xs: Sequence[TensorLike], dy: TensorLike | None
) -> tuple[Tensor, list[Tensor]]:
    sources = [_own_tensor(name, x) for x in xs]
    tape = Tape()
    for source in sources:
        tape.watch(source)
    with tape:
        value = _require_tensor(name, function(*sources))
    if dy is None:
        dy = _ones_like(value)
    else:
        dy = _own_tensor(name, dy)
        if dy.shape != value.shape:
            raise ValueError(
                f"{name}: dy must have the shape of the function's result, {value.shape}, but its "
                f"shape is {dy.shape}"
            )
    # What is computed from nothing, or is empty, depends on no source.
    of_nothing = tape.met_nothing() or any(0 in operand.shape for operand in (value, *sources))
    gradients = tape.gradients([value], sources, [dy])
    for position, gradient in enumerate(gradients):
        if gradient is None and of_nothing:
            gradients[position] = zero_gradient(sources[position].shape)
        elif gradient is None:
            raise ValueError(
                f"{name}: the function's result does not depend on its argument {position}; make "
                "sure that it computes the result from the tensor that it is given"
            )
    return value, _each_its_own([gradient for gradient in gradients if gradient is not None])


def _each_its_own(gradients: list[Tensor]) -> list[Tensor]:
    """Return the gradients so that disposing one source's does no harm to another's."""
    seen: set[int] = set()
    for position, gradient in enumerate(gradients):
        if id(gradient) in seen:
            gradients[position] = alias(IDENTITY, gradient, gradient.shape)
        seen.add(id(gradient))
    return gradients


def _own_tensor(name: str, x: TensorLike) -> Tensor:
    """Return a tensor object that nothing else refers to, so that it alone is watched."""
    tensor = as_operand(name, x, float32)
    if tensor.dtype is string_:
        raise TypeError(f"{name}: arguments must hold numbers, but got {tensor.dtype}")
    return alias(IDENTITY, tensor, tensor.shape)


def _ones_like(tensor: Tensor) -> Tensor:
    ones = as_operand("grad", 1.0, float32)
    return ones.broadcast_to(tensor.shape)  # type: ignore[no-any-return]


def _require_tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Variable):
        return value.value
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: the function must return a tensor, but returned {value!r}")
    return value
