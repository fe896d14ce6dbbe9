"""Support for NumPy's own functions called with tensors: they convert them, and return arrays.

NumPy looks for these methods on its arguments (NEP 13 and NEP 18). An operator between an array and
a tensor is one of NumPy's functions, too, but is computed by the tensor. Functions that write to
their arguments get read-only arrays, and therefore raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from webtensor.engine import Tensor, Variable
from webtensor.ops import binary, contraction

__all__ = ["array_function", "array_ufunc"]

#: NumPy's names of what operators call.
_OF_OPERATORS: dict[str, Callable[[Any, Any], Tensor]] = {
    "add": binary.add,
    "subtract": binary.subtract,
    "multiply": binary.multiply,
    "divide": binary.divide,
    "floor_divide": binary.floor_divide,
    "remainder": binary.remainder,
    "power": binary.pow,
    "matmul": contraction.matmul,
    "bitwise_and": binary.bitwise_and,
    "bitwise_or": binary.bitwise_or,
    "bitwise_xor": binary.bitwise_xor,
    "left_shift": binary.bitwise_left_shift,
    "right_shift": binary.bitwise_right_shift,
    "less": binary.less,
    "less_equal": binary.less_equal,
    "greater": binary.greater,
    "greater_equal": binary.greater_equal,
    "equal": binary.equal,
    "not_equal": binary.not_equal,
}


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Compute an operator as an operation on tensors, all else on the host."""
    operator = _OF_OPERATORS.get(ufunc.__name__)
    if operator is not None and method == "__call__" and not options:
        return operator(*inputs)
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    with _writing_refused(name):
        if method == "at" and isinstance(inputs[0], (Tensor, Variable)):
            raise ValueError("read-only")  # NumPy 2.4 writes to read-only vectors here
        return getattr(ufunc, method)(*_on_host(inputs), **_on_host(options))


def array_function(
    self: Any, function: Any, types: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> Any:
    """Call one of NumPy's functions with arrays."""
    with _writing_refused(function.__name__):
        return function(*_on_host(arguments), **_on_host(options))


@contextmanager
def _writing_refused(name: str) -> Iterator[None]:
    """Return an error that says why one of NumPy's functions cannot write to its argument."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise TypeError(
            f"numpy.{name}: tensors are immutable, so it cannot write to one; give it an array, "
            "such as tensor.numpy(), and make a tensor of the result"
        ) from None


def _on_host(value: Any) -> Any:
    if isinstance(value, (Tensor, Variable)):
        return value.__array__()
    if type(value) in (list, tuple):
        return type(value)(map(_on_host, value))
    if isinstance(value, dict):
        return {key: _on_host(item) for key, item in value.items()}
    return value
