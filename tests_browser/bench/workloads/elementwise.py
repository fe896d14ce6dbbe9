"""Elementwise functions of a million elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import webtensor as wt
from tests_browser.bench.workload import (
    AND_NUMPY,
    CPU_FOR_WASM,
    SAME_BACKEND,
    SINES,
    Input,
    Workload,
)

__all__ = ["ELEMENTWISE"]

MILLION = Input((1000, 1000))
POSITIVE = Input((1000, 1000), 0.5, 1.5)
ABOVE_ONE = Input((1000, 1000), 1.5, 3.0)
INTEGERS = Input((1000, 1000), 1, 100, "int32")
BOOLS = Input((1000, 1000), 0, 2, "bool")


def unary(name: str, theirs: str, x: Input = MILLION, **options: Any) -> Workload:
    """Time a function of one operand that has our name and theirs."""
    ours = getattr(wt, name)
    return Workload(f"elementwise.{name}", ours, f"tf.{theirs}(x)", {"x": x}, **options)


def binary(name: str, theirs: str, a: Input = MILLION, b: Input = MILLION) -> Workload:
    """Time a function of two operands that has our name and theirs."""
    return Workload(
        f"elementwise.{name}", getattr(wt, name), f"tf.{theirs}(a, b)", {"a": a, "b": b}
    )


def cast(source: Input, dtype: str) -> Workload:
    """Time a conversion."""
    function: Callable[[wt.Tensor], wt.Tensor] = lambda x: wt.astype(x, dtype)  # noqa: E731
    return Workload(
        "elementwise.astype",
        function,
        f"tf.cast(x, '{dtype}')",
        {"x": source},
        described=f"{source} {source.dtype} to {dtype}",
        # Theirs on wasm keeps the bytes of what becomes bool.
        peers=CPU_FOR_WASM if dtype == "bool" else SAME_BACKEND,
    )


ELEMENTWISE = [
    binary("add", "add"),
    binary("add", "add", b=Input((1000,))),
    binary("subtract", "sub", b=Input((1000, 1))),
    binary("subtract", "sub", a=Input((100, 100, 100, 3)), b=Input((3,))),
    binary("multiply", "mul"),
    binary("divide", "div", b=POSITIVE),
    binary("maximum", "maximum"),
    binary("pow", "pow", a=POSITIVE),
    binary("atan2", "atan2"),
    binary("squared_difference", "squaredDifference"),
    binary("floor_divide", "floorDiv", a=INTEGERS, b=INTEGERS),
    binary("remainder", "mod", b=POSITIVE),
    binary("prelu", "prelu"),
    binary("less", "less"),
    binary("equal", "equal", a=INTEGERS, b=INTEGERS),
    binary("logical_and", "logicalAnd", a=BOOLS, b=BOOLS),
    binary("bitwise_and", "bitwiseAnd", a=INTEGERS, b=INTEGERS),
    unary("logical_not", "logicalNot", BOOLS),
    unary("isnan", "isNaN"),
    unary("abs", "abs"),
    unary("negative", "neg"),
    unary("floor", "floor"),
    unary("round", "round"),
    unary("sign", "sign"),
    unary("relu", "relu"),
    unary("elu", "elu"),
    unary("selu", "selu"),
    unary("leaky_relu", "leakyRelu"),
    unary("softplus", "softplus"),
    unary("sqrt", "sqrt", POSITIVE),
    unary("rsqrt", "rsqrt", POSITIVE),
    unary("exp", "exp", peers=AND_NUMPY, numpy=lambda np, x: np.exp(x)),
    unary("expm1", "expm1"),
    unary("log", "log", POSITIVE),
    unary("log1p", "log1p", POSITIVE),
    unary("sin", "sin"),
    unary("cos", "cos", tolerance=SINES),
    unary("tan", "tan"),
    unary("asin", "asin"),
    unary("acos", "acos"),
    unary("atan", "atan"),
    unary("sinh", "sinh"),
    unary("cosh", "cosh"),
    unary("tanh", "tanh"),
    unary("asinh", "asinh"),
    unary("acosh", "acosh", ABOVE_ONE),
    unary("atanh", "atanh", Input((1000, 1000), -0.9, 0.9)),
    unary("sigmoid", "sigmoid"),
    unary("erf", "erf"),
    Workload(
        "elementwise.clip_by_value",
        lambda x: wt.clip_by_value(x, -0.5, 0.5),
        "tf.clipByValue(x, -0.5, 0.5)",
        {"x": MILLION},
    ),
    Workload(
        "elementwise.where",
        wt.where,
        "tf.where(c, x, y)",
        {"c": BOOLS, "x": MILLION, "y": MILLION},
    ),
    cast(MILLION, "int32"),
    cast(INTEGERS, "float32"),
    cast(MILLION, "bool"),
]
