"""What a row of the table is, and how much error it may have.

Expected values are computed when first asked for, in float64, from the float32 inputs that the
library gets, by an oracle that shares no code with it. The allowed error follows from the
arithmetic, never from what a backend happens to give: see the tolerances below.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from tests_py.cases.precision import SINGLE, Precision

__all__ = [
    "EXACT",
    "FEW_ROUNDINGS",
    "GRADIENT",
    "MATH",
    "ROUNDED",
    "WHOLE_PART",
    "Array",
    "Case",
    "Tolerance",
    "combined",
    "described",
    "gradient_of",
    "one_of_each_name",
    "second_derivative_of",
    "summed",
    "wide",
]

Array = np.ndarray[Any, Any]
Oracle = Callable[..., Any]

#: Spacing of float32 numbers in [1, 2).
ULP = SINGLE.ulp


@dataclass(frozen=True)
class Tolerance:
    """An error of up to ``ulps`` × ULP × max(|expected|, scale), and the reason.

    ``scale(*args, **kwargs)`` is the size of what was added up to get the result; without it,
    errors are relative to the result. ``gpu_ulps`` replaces ``ulps`` on WebGL. Integers and bools
    are exact, save for ``steps`` where floats have fewer bits than float32.
    """

    why: str
    ulps: float
    gpu_ulps: float | None = None
    scale: Oracle | None = None
    steps: int = 0

    def allowed(
        self,
        expected: Array,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        backend: str,
        precision: Precision,
    ) -> Array:
        """Return the absolute error allowed for each element."""
        ulps = self.ulps
        if backend == "webgl" and self.gpu_ulps is not None:
            ulps = self.gpu_ulps
        if expected.dtype.kind not in "fc":
            return np.full(expected.shape, 0 if precision.is_single else self.steps)
        size = np.abs(np.where(np.isfinite(expected), expected, 0))
        if ulps == 0:
            if precision.is_single:
                return np.zeros(expected.shape)
            rounding = precision.ulp * size + precision.smallest_normal
            return np.where(precision.is_exact(expected), 0.0, rounding)
        if self.scale is not None:
            scale = np.broadcast_to(self.scale(*args, **kwargs), expected.shape)
            size = np.maximum(size, scale)
        return ulps * precision.ulp * size + precision.smallest_normal


EXACT = Tolerance("nothing is rounded, so nothing differs", 0)
WHOLE_PART = Tolerance(
    "exact; where floats have fewer bits, they may be rounded to another whole number before",
    ulps=0,
    steps=1,
)
ROUNDED = Tolerance(
    "one correctly rounded operation: half a ULP, and another half for the float64 oracle's own "
    "result lying between two float32 numbers; GLSL ES 3.00 (4.5.1) allows 2.5 ULP for division",
    ulps=1,
    gpu_ulps=3,
)
FEW_ROUNDINGS = Tolerance(
    "a formula of up to four correctly rounded operations",
    ulps=4,
    gpu_ulps=8,
)
MATH = Tolerance(
    "a mathematical function in float32: 4 ULP is what OpenCL asks of exp, log, sin and the like; "
    "GLSL ES 3.00 (4.5.1) asks for 3 to 8 ULP of the built-in ones in the ranges tested, and the "
    "others are composed of up to three of those",
    ulps=4,
    gpu_ulps=16,
)


def summed(terms: Oracle, length: Callable[..., int] | int) -> Tolerance:
    """Tolerance of sums of products in float32, in any order of summation.

    The error is at most (n + 1) half-ULPs of ``terms``, the sum of the absolute values of the n
    products (Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1). The statistical bound
    √n holds in practice, and notices a wrong element in long sums, which the strict one would not:
    4 √n half-ULPs are allowed where that is less.
    """

    def scale(*args: Any, **kwargs: Any) -> Any:
        n = length if isinstance(length, int) else length(*args, **kwargs)
        return terms(*args, **kwargs) * min(n + 1.0, 4.0 * np.sqrt(n) + 4.0) / 2

    return Tolerance("a sum of n terms: see `summed`", ulps=1, scale=scale)


GRADIENT = Tolerance(
    "a gradient is some ten float32 operations, whose errors are relative to the largest terms; "
    "the float64 differences that it is compared with are good to 1e-7 of those",
    ulps=40,
    gpu_ulps=80,
)
SECOND_DERIVATIVE = Tolerance(
    "a gradient of a gradient is some thirty float32 operations with cancellation between terms of "
    "the size of the largest; the float64 differences are good to 1e-6 of those",
    ulps=150,
    gpu_ulps=300,
)


def wide(array: Any) -> Any:
    """Give an oracle float64 for float32, complex128 for complex64, int64 for int32; bool stays."""
    if isinstance(array, np.ndarray):
        wider = {"f": np.float64, "c": np.complex128, "i": np.int64}.get(array.dtype.kind)
        return array if wider is None else array.astype(wider)
    if isinstance(array, (list, tuple)):
        return type(array)(wide(part) for part in array)
    return array


def narrowed(result: Any) -> Array:
    """Return an oracle's result: float64 stands for float32, integers wrap to int32."""
    array = np.asarray(result)
    if array.dtype.kind in "iu":
        return ((array.astype(np.int64) + 2**31) % 2**32 - 2**31).astype(np.int32)
    if array.dtype.kind == "f":
        # What overflows float32 is infinite there.
        limit = float(np.finfo(np.float32).max) * (1 + ULP / 4)
        return np.where(np.abs(array) > limit, np.copysign(np.inf, array), array.astype(np.float64))
    return array


def dtype_name(array: Array) -> str:
    """Name the webtensor dtype that a NumPy array stands for."""
    kinds = {"f": "float32", "c": "complex64", "i": "int32", "b": "bool", "O": "string"}
    return kinds[array.dtype.kind]


@dataclass(frozen=True)
class Case:
    """One row: ``function(*args, **kwargs)`` must give what ``oracle(*args, **kwargs)`` gives.

    NumPy arrays among the arguments become tensors, those of ``bytes`` objects string tensors.
    ``function`` is a dotted path in webtensor.
    ``derivative`` 1 asks for the gradients with respect to the float tensors in ``wrt`` (numbered
    in order; all by default), for a given gradient of the result; 2 asks for the gradient of their
    products with given directions. The gradient of a complex z = x + iy is the derivative by x plus
    i times that by y.
    """

    function: str
    args: tuple[Any, ...]
    oracle: Oracle
    tolerance: Tolerance = EXACT
    kwargs: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    derivative: int = 0
    wrt: tuple[int, ...] | None = None
    #: Whether it runs everywhere; `selection` chooses which others do.
    sample: bool = False
    number: int = 0
    #: The size of intermediate numbers, where operands and results are much smaller.
    reach: float = 0.0
    #: What a device computes it in.
    precision: Precision = SINGLE

    def rounded_to(self, precision: Precision) -> Case | None:
        """Return the case for a device with other numbers, or None where those do not reach."""
        if not precision.fits_operands([*self.tensors, np.array(self.reach)]):
            return None
        rounded = replace(
            self,
            precision=precision,
            args=precision.representable(self.args),
            kwargs={name: precision.representable(value) for name, value in self.kwargs.items()},
        )
        return rounded if precision.fits(rounded.tensors, rounded.expected) else None

    @cached_property
    def name(self) -> str:
        """What the case does, in a line."""
        parts = [described(argument) for argument in self.args]
        parts += [f"{name}={described(value)}" for name, value in self.kwargs.items()]
        prefix = ("", "gradient of ", "second derivative of ")[self.derivative]
        suffix = f" {self.note}" if self.note else ""
        repeated = f" #{self.number}" if self.number else ""
        return f"{prefix}{self.function}({', '.join(parts)}){suffix}{repeated}"

    @cached_property
    def _split(self) -> tuple[list[Array], list[Any], dict[str, Any]]:
        """The tensors, and the arguments with indices of tensors in them."""
        tensors: list[Array] = []
        args = [_template(argument, tensors) for argument in self.args]
        kwargs = {name: _template(value, tensors) for name, value in self.kwargs.items()}
        return tensors, args, kwargs

    @property
    def tensors(self) -> list[Array]:
        """The arrays among the arguments, in order."""
        return self._split[0]

    def compute(self, tensors: Sequence[Array]) -> Any:
        """Call the oracle with other tensors in place of these."""
        remaining = iter(tensors)
        args = [_filled(argument, remaining) for argument in self.args]
        kwargs = {name: _filled(value, remaining) for name, value in self.kwargs.items()}
        with np.errstate(all="ignore"):
            return self.oracle(*args, **kwargs)

    @cached_property
    def value(self) -> Any:
        """What the function itself gives, before any differentiation."""
        return self.compute([wide(tensor) for tensor in self.tensors])

    @cached_property
    def expected(self) -> list[Array]:
        """What each output must be; one array if the function returns one tensor."""
        if self.derivative == 0:
            parts = self.value if self.returns_several else [self.value]
            return [narrowed(part) for part in parts]
        from tests_py.cases.differences import gradients, second_derivatives

        return gradients(self) if self.derivative == 1 else second_derivatives(self)

    @property
    def returns_several(self) -> bool:
        """Whether the function returns a list of tensors."""
        return self.derivative > 0 or isinstance(self.value, (list, tuple))

    def allowed(self, backend: str) -> list[Array]:
        """The error that each element of each output may have."""
        if self.derivative:
            return self._allowed_for_derivatives(backend)
        args = [wide(argument) for argument in self.args]
        with np.errstate(all="ignore"):
            return [
                self.tolerance.allowed(part, args, self.kwargs, backend, self.precision)
                for part in self.expected
            ]

    def _allowed_for_derivatives(self, backend: str) -> list[Array]:
        """Errors relative to the largest element of all outputs."""
        largest = max((float(np.abs(part).max(initial=0)) for part in self.expected), default=0.0)
        scaled = replace(self.tolerance, scale=lambda: largest)
        return [scaled.allowed(part, (), {}, backend, self.precision) for part in self.expected]

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """Places of the tensors to differentiate with respect to."""
        if self.wrt is not None:
            return self.wrt
        return tuple(n for n, tensor in enumerate(self.tensors) if tensor.dtype.kind in "fc")

    @cached_property
    def dy(self) -> Array:
        """The gradient of the result that derivatives start from."""
        shape = np.shape(self.value)
        random = np.random.default_rng([1, *shape])
        dy = _uniform(random, shape, np.iscomplexobj(self.value))
        return self.precision.representable(dy)

    @cached_property
    def directions(self) -> list[Array]:
        """One direction per source, for second derivatives."""
        random = np.random.default_rng([2, len(self.sources)])
        sources = [self.tensors[source] for source in self.sources]
        vectors = [_uniform(random, source.shape, np.iscomplexobj(source)) for source in sources]
        return self.precision.representable(vectors)

    def encoded(self) -> dict[str, Any]:
        """The case as JSON-able data for `runner`."""
        tensors, args, kwargs = self._split
        encoded: dict[str, Any] = {
            "name": self.name,
            "function": self.function,
            "tensors": [_encoded(tensor) for tensor in tensors],
            "args": args,
            "kwargs": kwargs,
            "derivative": self.derivative,
        }
        if self.derivative:
            encoded["wrt"] = list(self.sources)
            encoded["dy"] = _encoded(self.dy)
        if self.derivative == 2:
            encoded["directions"] = [_encoded(direction) for direction in self.directions]
        return encoded


def _uniform(random: np.random.Generator, shape: Sequence[int], is_complex: bool) -> Array:
    """Numbers, or parts of complex ones, in [0.5, 1.5]."""
    real_part = random.uniform(0.5, 1.5, tuple(shape)).astype(np.float32)
    if not is_complex:
        return real_part
    return (real_part + 1j * random.uniform(0.5, 1.5, tuple(shape))).astype(np.complex64)


def _encoded(array: Array) -> dict[str, Any]:
    elements: Any
    if array.dtype == np.object_:
        elements = [b64encode(text).decode() for text in array.ravel().tolist()]
    else:
        elements = b64encode(array.tobytes()).decode()
    return {"dtype": dtype_name(array), "shape": list(array.shape), "elements": elements}


def _template(argument: Any, tensors: list[Array]) -> Any:
    """Make an argument JSON-able, moving arrays to ``tensors``."""
    if isinstance(argument, np.generic):
        raise TypeError(f"a case's scalar tensors must be arrays, but one is {argument!r}")
    if isinstance(argument, np.ndarray):
        if argument.dtype not in (np.float32, np.complex64, np.int32, np.bool_, np.object_):
            raise TypeError(f"a case's tensors must be of our dtypes, not {argument.dtype}")
        tensors.append(argument)
        return {"tensor": len(tensors) - 1}
    if isinstance(argument, tuple):
        return {"tuple": [_template(part, tensors) for part in argument]}
    if isinstance(argument, list):
        return [_template(part, tensors) for part in argument]
    if isinstance(argument, slice):
        return {"slice": [argument.start, argument.stop, argument.step]}
    if argument is Ellipsis:
        return {"ellipsis": None}
    return argument


def _filled(argument: Any, tensors: Iterator[Array]) -> Any:
    """Put other arrays in the places of an argument's."""
    if isinstance(argument, np.ndarray):
        return next(tensors)
    if isinstance(argument, (list, tuple)):
        return type(argument)(_filled(part, tensors) for part in argument)
    return argument


def described(value: Any) -> str:
    """Show an argument in a case's name: arrays by dtype and shape."""
    if isinstance(value, np.ndarray):
        kinds = {"f": "", "c": "complex ", "i": "int ", "b": "bool ", "O": "text "}
        return f"{kinds[value.dtype.kind]}{'x'.join(map(str, value.shape)) or 'scalar'}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(described, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, slice):
        ends = ("" if end is None else str(end) for end in (value.start, value.stop))
        return ":".join(ends) + (f":{value.step}" if value.step is not None else "")
    return "..." if value is Ellipsis else repr(value)


def gradient_of(case: Case, wrt: tuple[int, ...] | None = None) -> Case:
    """The row that asks for a case's gradients."""
    return replace(case, derivative=1, tolerance=GRADIENT, wrt=wrt)


def second_derivative_of(case: Case, wrt: tuple[int, ...] | None = None) -> Case:
    """The row that asks for a case's second derivatives."""
    return replace(case, derivative=2, tolerance=SECOND_DERIVATIVE, wrt=wrt)


def combined(oracle: Oracle) -> Oracle:
    """The oracle of the runner's function of that name: a sum of squares of all outputs."""

    def total(name: str, *args: Any) -> Any:
        outputs = oracle(*args)
        parts = outputs if isinstance(outputs, list) else [outputs]
        return sum((1.0 + n) * np.sum(part * 1.0 * part) for n, part in enumerate(parts))

    return total


def one_of_each_name(cases: Sequence[Case]) -> list[Case]:
    """Number the cases that would be called the same."""
    seen: dict[str, Iterator[int]] = {}
    return [replace(case, number=next(seen.setdefault(case.name, count()))) for case in cases]
