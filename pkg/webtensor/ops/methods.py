"""Attaches operators, and methods named after ops, to Tensor and Variable.

The engine declares them without knowing the ops; they are attached when ``webtensor.ops`` loads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from webtensor.dtypes import string_
from webtensor.engine import Tensor, TensorLike, Variable, as_operand
from webtensor.explanation import MISUSE, explained, raise_explained
from webtensor.ops import (
    array_api,
    binary,
    broadcasting,
    casting,
    complex_numbers,
    contraction,
    convolution,
    creation,
    dynamic,
    image,
    indexing,
    morphology,
    movement,
    nn,
    normalization,
    numpy_functions,
    pooling,
    rearrangement,
    reduction,
    scan,
    scatter,
    sorting,
    spectral,
    statistics,
    ternary,
    tfjs_methods,
    unary,
    vector_products,
)

__all__: list[str] = []

_PLAIN_NUMBERS = (bool, int, float, complex)


def _operator(function: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Any]:
    def forward(self: Any, other: Any) -> Any:
        if isinstance(other, (Tensor, Variable, *_PLAIN_NUMBERS)) or _is_array_like(other):
            return function(self, other)
        if isinstance(other, str) and self.dtype is string_:
            return function(self, other)
        return NotImplemented

    return forward


def _reflected(function: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Any]:
    def backward(self: Any, other: Any) -> Any:
        if isinstance(other, _PLAIN_NUMBERS) or _is_array_like(other):
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
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return False
    return not hasattr(value, "__iter__")


_OPERATORS: dict[str, Callable[[Any, Any], Tensor]] = {
    "add": binary.add,
    "sub": binary.subtract,
    "mul": binary.multiply,
    "truediv": binary.divide,
    "floordiv": binary.floor_divide,
    "mod": binary.remainder,
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
_NAMED: dict[str, Callable[..., Any]] = {
    name: explained(getattr(module, name))
    for module, names in (
        (unary, unary.__all__),
        (binary, binary.__all__),
        (reduction, reduction.__all__),
        (broadcasting, ["broadcast_to"]),
        (casting, ["astype"]),
        (complex_numbers, ["angle", "conj", "imag", "real"]),
        (contraction, contraction.__all__),
        (spectral, spectral.__all__),
        (convolution, convolution.__all__),
        (pooling, pooling.__all__),
        (morphology, morphology.__all__),
        (normalization, ["batch_norm", "local_response_normalization"]),
        (image, ["resize_bilinear", "resize_nearest_neighbor"]),
        (indexing, ["boolean_mask"]),
        (nn, ["clip", "log_softmax", "one_hot", "softmax"]),
        (scan, scan.__all__),
        (sorting, ["argsort", "isin", "searchsorted", "topk"]),
        (scatter, ["gather_nd", "take_along_axis", "unsorted_segment_sum"]),
        (creation, ["ones_like", "zeros_like"]),
        (dynamic, ["nonzero", "unique"]),
        (tfjs_methods, [name for name in tfjs_methods.__all__ if name != "buffer_of"]),
        (statistics, ["euclidean_norm", "log_sum_exp", "moments", "norm", "std", "var"]),
        (
            rearrangement,
            [
                "batch_to_space_nd",
                "depth_to_space",
                "mirror_pad",
                "repeat",
                "roll",
                "space_to_batch_nd",
                "strided_slice",
            ],
        ),
        (
            movement,
            [
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
                "tile",
                "unstack",
            ],
        ),
    )
    for name in names
}


def _attach(owner: Any) -> None:
    for name, function in _OPERATORS.items():
        setattr(owner, f"__{name}__", _operator(function))
        setattr(owner, f"__r{name}__", _reflected(function))
    for name, function in _COMPARISONS.items():
        setattr(owner, f"__{name}__", _operator(function))
    for name, unary_function in _UNARY.items():
        setattr(owner, f"__{name}__", unary_function)
    for name, method in _NAMED.items():
        setattr(owner, name, method)
    owner.reshape = _taking_integers(movement.reshape)
    owner.transpose = _taking_integers(movement.transpose)
    owner.where = _where
    owner.sort = _sort
    owner.buffer = tfjs_methods.buffer_of
    owner.__getitem__ = lambda self, key: indexing.get_item(as_operand("index", self), key)
    owner.T = property(movement.transpose)
    owner.mT = property(vector_products.matrix_transpose)
    owner.__array_namespace__ = array_api.array_namespace
    owner.__array_ufunc__ = numpy_functions.array_ufunc
    owner.__array_function__ = numpy_functions.array_function


_attach(Tensor)
_attach(Variable)
