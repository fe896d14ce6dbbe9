"""Attaches operators, and methods named after ops, to Tensor and Variable.

The engine declares them without knowing the ops; they are attached when ``webtensor.ops`` loads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from typing import Any

from webtensor.dtypes import string_
from webtensor.engine import Tensor, TensorLike, Variable, as_operand
from webtensor.engine.late_numbers import LateNumber
from webtensor.explanation import MISUSE, explained, raise_explained
from webtensor.ops import (
    binary,
    contraction,
    movement,
    ternary,
    unary,
)
from webtensor.ops.contents import CONTENTS
from webtensor.shapes import single_integer

__all__: list[str] = []

_NUMBERS = (bool, int, float, complex, LateNumber)


def _operator(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def forward(self: Any, other: Any) -> Any:
        if isinstance(other, (Tensor, Variable, *_NUMBERS)) or _is_array_like(other):
            return function(self, other)
        if isinstance(other, str) and self.dtype is string_:
            return function(self, other)
        return NotImplemented

    return forward


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def backward(self: Any, other: Any) -> Any:
        if isinstance(other, _NUMBERS) or _is_array_like(other):
            return function(other, self)
        return NotImplemented

    return backward


def _is_array_like(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or hasattr(value, "__array__")


def _where(self: TensorLike, condition: TensorLike, x: TensorLike) -> Tensor:
    """``self`` where the condition holds, else ``x``."""
    return ternary.where(condition, self, x)


def _sort(self: TensorLike, *_: Any, **__: Any) -> Any:
    """Raise for methods that sort NumPy's arrays and Python's lists in place."""
    raise TypeError("sort: tensors are immutable, so one cannot be sorted in place; use wt.sort(x)")


def _taking_integers(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a method that takes its sequence of integers also one by one: ``x.reshape(2, 3)``."""

    @wraps(function)
    def method(self: TensorLike, *args: Any, **options: Any) -> Tensor:
        if args and type(args[0]) is not tuple and all(map(_is_integer, args)):
            args = (args,)
        try:
            return function(self, *args, **options)
        except MISUSE as error:
            raise_explained(function, error, (self, *args), options)

    return method


def _is_integer(value: Any) -> bool:
    """Whether a value is a single integer, also NumPy's; tensors are sequences, bools are not."""
    return single_integer(value) is not None and not hasattr(value, "__iter__")


def _divmod(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """``x // y`` and ``x % y``."""
    return binary.floor_divide(x, y), binary.remainder(x, y)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": binary.add,
    "sub": binary.subtract,
    "mul": binary.multiply,
    "truediv": binary.divide,
    "floordiv": binary.floor_divide,
    "mod": binary.remainder,
    "divmod": _divmod,
    "pow": binary.pow,
    "matmul": contraction.matmul,
    "and": binary.bitwise_and,
    "or": binary.bitwise_or,
    "xor": binary.bitwise_xor,
    "lshift": binary.bitwise_left_shift,
    "rshift": binary.bitwise_right_shift,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Tensor]] = {
    "lt": binary.less,
    "le": binary.less_equal,
    "gt": binary.greater,
    "ge": binary.greater_equal,
    "eq": binary.equal,
    "ne": binary.not_equal,
}
_UNARY: dict[str, Callable[[Any], Tensor]] = {
    "neg": unary.negative,
    "pos": movement.clone,
    "abs": unary.abs,
    "invert": unary.bitwise_invert,
}
#: Names of methods, by the module that has the functions of these names. All of the elementwise
#: table and of some other modules are methods.
_METHODS: dict[str, list[str]] = {
    **{
        module: CONTENTS[module]
        for module in (
            "activations",
            "binary",
            "broadcasting",
            "casting",
            "contraction",
            "convolution",
            "morphology",
            "pooling",
            "reduction",
            "scan",
            "special_functions",
            "trigonometry",
            "unary",
        )
    },
    "complex_numbers": ["angle", "conj", "imag", "real"],
    "creation": ["ones_like", "zeros_like"],
    "dynamic": ["nonzero", "unique"],
    "gpu_data": ["data_to_gpu"],
    "image": ["resize_bilinear", "resize_nearest_neighbor"],
    "indexing": ["boolean_mask"],
    "movement": [
        "clone",
        "expand_dims",
        "flatten",
        "flip",
        "gather",
        "pad",
        "permute_dims",
        "slice",
        "split",
        "squeeze",
        "take",
    ],
    "nn": ["clip", "log_softmax", "one_hot", "round", "softmax"],
    "normalization": ["batch_norm", "local_response_normalization"],
    "rearrangement": [
        "batch_to_space_nd",
        "depth_to_space",
        "mirror_pad",
        "repeat",
        "roll",
        "space_to_batch_nd",
        "strided_slice",
        "tile",
        "unstack",
    ],
    "scatter": ["gather_nd", "take_along_axis", "unsorted_segment_sum"],
    "sorting": ["argsort", "isin", "searchsorted", "topk"],
    "spectral": ["fft", "ifft", "irfft", "rfft"],
    "statistics": ["log_sum_exp", "moments", "std", "var"],
    "tensor_norms": ["euclidean_norm", "norm"],
    "tfjs_methods": [
        "as1d",
        "as2d",
        "as3d",
        "as4d",
        "as5d",
        "as_scalar",
        "buffer_sync",
        "concat",
        "print",
        "reshape_as",
        "stack",
        "to_bool",
        "to_float",
        "to_int",
        "variable",
    ],
    "vector_products": ["dot"],
}


class _Method:
    """Becomes a method when it is first read, which imports the module of its function."""

    def __init__(self, module: str, function: str, name: str | None = None) -> None:
        self._module = module
        self._function = function
        self._name = name or function

    def __get__(self, instance: object, owner: type) -> Any:
        module = import_module(f"webtensor.ops.{self._module}")
        method = explained(getattr(module, self._function))
        setattr(owner, self._name, method)
        return method if instance is None else partial(method, instance)


def _matrix_transpose(self: TensorLike) -> Tensor:
    from webtensor.ops.vector_products import matrix_transpose

    return matrix_transpose(self)


def _item(self: TensorLike, key: Any) -> Tensor:
    from webtensor.ops.indexing import get_item

    return get_item(as_operand("index", self), key)


def _contains(self: TensorLike, value: Any) -> bool:
    """Whether an element equals a value, as in NumPy."""
    return bool(binary.equal(self, value).any())


def _array_ufunc(self: TensorLike, *arguments: Any, **options: Any) -> Any:
    from webtensor.ops.numpy_functions import array_ufunc

    return array_ufunc(self, *arguments, **options)


def _array_function(self: TensorLike, *arguments: Any) -> Any:
    from webtensor.ops.numpy_functions import array_function

    return array_function(self, *arguments)


def _attach(owner: Any) -> None:
    for name, function in _OPERATORS.items():
        setattr(owner, f"__{name}__", _operator(function))
        setattr(owner, f"__r{name}__", _reflected(function))
    for name, function in _COMPARISONS.items():
        setattr(owner, f"__{name}__", _operator(function))
    for name, unary_function in _UNARY.items():
        setattr(owner, f"__{name}__", unary_function)
    for module, functions in _METHODS.items():
        for name in functions:
            setattr(owner, name, _Method(module, name))
    owner.reshape = _taking_integers(movement.reshape)
    owner.transpose = _taking_integers(movement.transpose)
    owner.where = _where
    owner.sort = _sort
    owner.buffer = _Method("tfjs_methods", "buffer_of", "buffer")
    owner.__getitem__ = _item
    owner.__contains__ = _contains
    owner.__round__ = _Method("nn", "round", "__round__")
    owner.T = property(movement.transpose)
    owner.mT = property(_matrix_transpose)
    owner.__array_namespace__ = _Method("array_api", "array_namespace", "__array_namespace__")
    owner.__array_ufunc__ = _array_ufunc
    owner.__array_function__ = _array_function


_attach(Tensor)
_attach(Variable)
