"""Calls with one argument broken: what is put in its place, and what is wrong with the answer.

It runs where webtensor is: in CPython, or in a page that this file's source was sent to. So it
needs only the standard library and webtensor, and NumPy where that is.
"""

import os
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from inspect import BoundArguments, Parameter, isawaitable, signature
from itertools import product
from random import Random
from typing import Any

import webtensor as wt

#: What the errors of broken calls may be: a tensor may also be too large for the device.
ALLOWED = (TypeError, ValueError, wt.AxisError, wt.OutOfMemoryError, wt.TensorSizeError)
#: What an IndexError is about.
INDEXING = ("indices", "mask")


class Wrong:
    """What no op accepts."""


def nested(depth: int) -> Any:
    """A number in a list in a list, and so on."""
    value: Any = 1.0
    for _ in range(depth):
        value = [value]
    return value


def itself() -> Any:
    """A list that contains itself."""
    value: list[Any] = []
    value.append(value)
    return value


def disposed() -> Any:
    """A disposed tensor."""
    value = wt.ones((2, 2))
    value.dispose()
    return value


def values_of_numpy() -> dict[str, Callable[[], Any]]:
    """Arrays of every kind, where there is NumPy."""
    try:
        import numpy as np
    except ImportError:
        return {}
    return {
        "an array": lambda: np.ones((2, 3)),
        "an array of objects": lambda: np.array([None, "a"], dtype=object),
        "an array of words": lambda: np.array(["a"]),
        "an array of dates": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
        "an array of records": lambda: np.zeros(2, dtype=[("a", "i4")]),
        "an integer of NumPy": lambda: np.int64(2**40),
        "NaN of NumPy": lambda: np.float64("nan"),
    }


#: What an argument is replaced by. Some calls accept some of these, and then must succeed.
BROKEN: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "an ellipsis": lambda: ...,
    "a class": lambda: int,
    "a function": lambda: lambda *args: None,
    "an object": Wrong,
    "a slice": lambda: slice(1),
    "a range": lambda: range(3),
    "an iterator": lambda: iter([1, 2]),
    "a set": lambda: {1, 2},
    "a dict": lambda: {"a": 1},
    "an empty dict": dict,
    "bytes": lambda: b"\x00\xff",
    "a word": lambda: "abc",
    "an empty word": str,
    "half a character": lambda: "\ud800",
    "a dtype that is none": lambda: "float64",
    "0": lambda: 0,
    "-1": lambda: -1,
    "100": lambda: 100,
    "-2**31": lambda: -(2**31),
    "2**31 - 1": lambda: 2**31 - 1,
    "2**31": lambda: 2**31,
    "10**9": lambda: 10**9,
    "10**12": lambda: 10**12,
    "2**63": lambda: 2**63,
    "10**30": lambda: 10**30,
    "-10**30": lambda: -(10**30),
    "10**400": lambda: 10**400,
    "1.5": lambda: 1.5,
    "1e300": lambda: 1e300,
    "1e-320": lambda: 1e-320,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "-infinity": lambda: float("-inf"),
    "1j": lambda: 1j,
    "a fraction": lambda: Fraction(1, 3),
    "a decimal NaN": lambda: Decimal("NaN"),
    "an empty list": list,
    "[1, 2]": lambda: [1, 2],
    "[None]": lambda: [None],
    "[True]": lambda: [True],
    "[1.5, 2.5]": lambda: [1.5, 2.5],
    "[NaN, 1.0]": lambda: [float("nan"), 1.0],
    "[10**30]": lambda: [10**30],
    "[2**31, 1]": lambda: [2**31, 1],
    "(-1,)": lambda: (-1,),
    "(3,)": lambda: (3,),
    "(0, 0)": lambda: (0, 0),
    "(2**31, 2**31)": lambda: (2**31, 2**31),
    "(2**16, 2**16)": lambda: (2**16, 2**16),
    "(10**5, 10**6)": lambda: (10**5, 10**6),
    "20 integers": lambda: tuple(range(20)),
    "((), ())": lambda: ((), ()),
    "[[]]": lambda: [[]],
    "rows of unequal lengths": lambda: [[1, 2], [3]],
    "words": lambda: ["a", "b"],
    "dicts": lambda: [{"a": 1}],
    "objects": lambda: [Wrong()],
    "7 axes": lambda: nested(7),
    "3,000 axes": lambda: nested(3000),
    "a list of itself": itself,
    "tensors": lambda: [wt.ones(2), wt.ones(3)],
    "a tensor of rank 0": lambda: wt.tensor(3.0),
    "a tensor of shape (7,)": lambda: wt.ones((7,)),
    "a tensor of shape (3, 5)": lambda: wt.ones((3, 5)),
    "a tensor of rank 5": lambda: wt.ones((2, 3, 5, 7, 2)),
    "an empty tensor": lambda: wt.ones((0, 3)),
    "a tensor of integers": lambda: wt.tensor([[1, 2], [3, -9]]),
    "a tensor of large integers": lambda: wt.tensor([2**31 - 1, 0]),
    "a tensor of small integers": lambda: wt.tensor([-(2**31), 0]),
    "a tensor of truth values": lambda: wt.tensor([True, False]),
    "a tensor of words": lambda: wt.tensor(["a", "b"]),
    "a complex tensor": lambda: wt.tensor([1j, 2.0]),
    "a tensor with NaN": lambda: wt.tensor([float("nan"), 1.0]),
    "a tensor with infinity": lambda: wt.tensor([float("inf"), 1.0]),
    "a disposed tensor": disposed,
    "a variable": lambda: wt.Variable([1.0, 2.0]),
    **values_of_numpy(),
}


def drawn_calls(
    arguments: list[tuple[str, str]], seed: str, count: int
) -> list[tuple[tuple[str, str], str]]:
    """Calls to make: a function, its argument, and the value to break it with.

    With WEBTENSOR_WHOLE_TABLES set, these are all combinations.
    """
    everything = list(product(arguments, BROKEN))
    if os.environ.get("WEBTENSOR_WHOLE_TABLES"):
        return everything
    return Random(seed).sample(everything, count)


def tensors_of(result: Any) -> Iterator[Any]:
    """Tensors of a result, which may be nested."""
    if isinstance(result, wt.Tensor):
        yield result
    elif isinstance(result, (list, tuple)):
        for part in result:
            yield from tensors_of(part)


def names(text: str, name: str) -> bool:
    """Whether a text has a name as a word."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def fault(error: Exception, function: Any, argument: str) -> str | None:
    """Return what is wrong with the error of a broken call, or None."""
    text = str(error)
    is_indexing = type(error) is IndexError and any(names(text, word) for word in INDEXING)
    if type(error) not in ALLOWED and not is_indexing:
        return f"is {type(error).__name__}"
    missing = [name for name in (function.__name__, argument) if not names(text, name)]
    if missing:
        return f"lacks {' and '.join(missing)}"
    return None if len(text) < 1500 else "is long"


async def complaint(
    function: Callable[..., Any], good: BoundArguments, argument: str, broken: str
) -> str | None:
    """Break one argument of a good call, and say what is wrong with the error that it raises."""
    kind = signature(function).parameters[argument].kind
    value = BROKEN[broken]()
    good.arguments[argument] = (value,) if kind is Parameter.VAR_POSITIONAL else value
    try:
        result = function(*good.args, **good.kwargs)
        result = await result if isawaitable(result) else result
        for tensor in tensors_of(result):
            if tensor.size < 2**20:
                await tensor.data()
    except Exception as error:
        wrong = fault(error, function, argument)
        if wrong is not None:
            return f"{function.__name__}({argument}={broken}): {wrong}: {error!s:.300}"
    return None
