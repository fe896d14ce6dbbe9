"""Functions of TensorFlow, which Keras 2 wrote as layers ``TFOpLambda``.

Their calls become calls of ``keras.ops``, so a model that was read has no such layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

from webtensor import keras
from webtensor.keras.nodes import Operation
from webtensor.keras.registry import register_keras_serializable
from webtensor.keras.symbols import KerasTensor
from webtensor.nest import flatten
from webtensor.shapes import prod

__all__ = ["TFOpLambda"]

_ops: Any = keras.ops

#: Functions that have the same name and meaning in ``keras.ops``.
_SAME = frozenset(
    {
        *("abs", "add", "argmax", "argmin", "broadcast_to", "cast", "ceil", "cos", "cumsum"),
        *("depth_to_space", "divide", "elu", "equal", "erf", "exp", "expand_dims", "expm1"),
        *("floor", "greater", "greater_equal", "less", "less_equal", "log", "log1p"),
        *("log_softmax", "logical_and", "logical_not", "logical_or", "maximum", "minimum"),
        *("mod", "multiply", "negative", "not_equal", "ones_like", "reciprocal", "relu"),
        *("relu6", "roll", "round", "rsqrt", "selu", "sigmoid", "sign", "silu", "sin"),
        *("softmax", "softplus", "softsign", "sqrt", "square", "squeeze", "stack"),
        *("stop_gradient", "subtract", "tan", "tanh", "tile", "top_k", "transpose", "unstack"),
        *("where", "zeros_like"),
    }
)
#: Functions that ``keras.ops`` calls otherwise.
_RENAMED = {
    "add_v2": "add",
    "bias_add": "add",
    "clip_by_value": "clip",
    "concat": "concatenate",
    "div_no_nan": "divide_no_nan",
    "floor_div": "floor_divide",
    "floordiv": "floor_divide",
    "floormod": "mod",
    "gather": "take",
    "pow": "power",
    "reduce_all": "all",
    "reduce_any": "any",
    "reduce_logsumexp": "logsumexp",
    "reduce_max": "max",
    "reduce_mean": "mean",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "reduce_std": "std",
    "reduce_sum": "sum",
    "reduce_variance": "var",
    "reverse": "flip",
    "swish": "silu",
    "truediv": "true_divide",
}
#: Arguments that ``keras.ops`` calls otherwise.
_RENAMED_ARGUMENTS = {
    "alpha": "negative_slope",
    "bias": "x2",
    "clip_value_max": "x_max",
    "clip_value_min": "x_min",
    "multiples": "repeats",
    "perm": "axes",
    "y": "x2",
}
#: Arguments without a meaning here, or with the value that ``keras.ops`` takes.
_OMITTED = frozenset({"batch_dims", "conjugate", "name", "out_type", "validate_indices"})


class _Call(NamedTuple):
    """The outputs of a call, in place of a node of a functional model."""

    outputs: Sequence[Any]


@register_keras_serializable("webtensor")
class TFOpLambda(Operation):
    """A function of TensorFlow, whose call makes the nodes of functions of ``keras.ops``.

    Raises:
        ValueError: the function is unknown.
    """

    def __init__(self, function: str, name: str | None = None) -> None:
        super().__init__(name=name)
        self.function = function
        short_name = function.rpartition(".")[2]
        short_name = _RENAMED.get(short_name, short_name)
        self._function = _FUNCTIONS.get(short_name)
        if self._function is None:
            if short_name not in _SAME and short_name not in _RENAMED.values():
                raise ValueError(f"the function tf.{function} of a TFOpLambda is unknown")
            self._function = getattr(_ops, short_name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert self._function is not None
        arguments = {
            _RENAMED_ARGUMENTS.get(name, name): value
            for name, value in kwargs.items()
            if name not in _OMITTED and value is not None
        }
        if self.function == "where":
            arguments = {"x1": arguments.pop("x"), **arguments}
        result = self._function(*args, **arguments)
        outputs = result if isinstance(result, (list, tuple)) else [result]
        self._rename(outputs, flatten([args, kwargs]))
        self._inbound_nodes.append(_Call(outputs))  # type: ignore[arg-type]
        return result

    def _rename(self, outputs: Sequence[Any], operands: Sequence[Any]) -> None:
        """Name the operations of a call after this layer, as only its name is free in the model."""
        visited = {id(operand) for operand in operands}
        symbols, count = list(outputs), 0
        for symbol in symbols:
            history = getattr(symbol, "_keras_history", None)
            if history is None or id(symbol) in visited:
                continue
            operation, node_index, _ = history
            operation.name = f"{self.name}_{count}" if count else self.name
            node = operation._inbound_nodes[node_index]
            visited |= {id(output) for output in node.outputs}
            symbols += node.inputs
            count += 1


def _item(x: Any, slice_spec: Any) -> Any:
    """Return a part of a tensor; slices are mappings in the configuration."""

    def key(entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        return ... if "class_name" in entry else slice(entry["start"], entry["stop"], entry["step"])

    is_list = isinstance(slice_spec, list)
    return x[tuple(map(key, slice_spec)) if is_list else key(slice_spec)]


def _reshape(x: KerasTensor, shape: Sequence[int | None]) -> Any:
    """Reshape; the unknown size of the batch may be None beside a size of -1."""
    if None in shape and -1 in shape:
        sizes = prod([size for size in shape if size not in (None, -1)])
        rest = prod([size or 1 for size in x.shape]) // sizes
        shape = [rest if size == -1 else size for size in shape]
    return _ops.reshape(x, tuple(-1 if size is None else size for size in shape))


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    return _ops.matmul(_swapped(a) if transpose_a else a, _swapped(b) if transpose_b else b)


def _swapped(x: Any) -> Any:
    return _ops.swapaxes(x, -1, -2)


def _split(value: Any, num_or_size_splits: Any, axis: int = 0) -> Any:
    is_list = isinstance(num_or_size_splits, list)
    sections = [*accumulate(num_or_size_splits)][:-1] if is_list else num_or_size_splits
    return _ops.split(value, sections, axis)


def _l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Any:
    squares = _ops.sum(_ops.square(x), axis, True)
    return x * _ops.rsqrt(_ops.maximum(squares, epsilon))


def _pad(x: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Any:
    mode = mode.lower()
    values = {"constant_values": constant_values} if mode == "constant" else {}
    return _ops.pad(x, paddings, mode, **values)


#: Functions whose arguments or defaults differ.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add_n": lambda inputs: reduce(_ops.add, inputs),
    "argmax": lambda x, axis=0, **_: _ops.argmax(x, axis),
    "argmin": lambda x, axis=0, **_: _ops.argmin(x, axis),
    "gelu": lambda x, approximate=False: _ops.gelu(x, approximate),
    "getitem": _item,
    "identity": lambda x: x,
    "l2_normalize": _l2_normalize,
    "leaky_relu": lambda x, negative_slope=0.2: _ops.leaky_relu(x, negative_slope),
    "matmul": _matmul,
    "one_hot": lambda x, depth, axis=-1: _ops.one_hot(x, depth, axis),
    "pad": _pad,
    "reshape": _reshape,
    "shape": lambda x: [x.shape],
    "split": _split,
    "take": lambda x, indices, axis=0: _ops.take(x, indices, axis),
}
