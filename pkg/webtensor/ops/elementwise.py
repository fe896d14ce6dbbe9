"""How a row of the elementwise table becomes a function.

A row is a decorated, documented function signature. The decorator carries, for one element, the
NumPy, GLSL and C expressions and the gradient of each input; the function that users call is made
from them here. ``unary.py``, ``binary.py``, ``ternary.py``, ``activations.py``, ``trigonometry.py``
and ``special_functions.py`` hold the rows.

Expressions see the operands as ``x``, ``y``, ``z`` and the parameters by name. GLSL expressions are
scalar and may call the functions of ``backends/webgl/glsl.py``; C expressions are four lanes wide
(``vf`` or ``vi``, see ``wasm_build/source/vector.h``) and may call the functions declared there.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import wraps
from importlib import import_module
from inspect import signature
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeVar, cast

from webtensor.arguments import as_number
from webtensor.dtypes import DType, bool_, complex64, float32, int32, promote, string_
from webtensor.engine import (
    Gradient,
    Plans,
    Primitive,
    Tensor,
    as_operand,
    as_operands,
    keep_plan,
    planned,
    run,
    run_plan,
    state,
)
from webtensor.explanation import MISUSE, raise_explained
from webtensor.ops.broadcasting import sum_to
from webtensor.ops.casting import cast_to
from webtensor.shapes import broadcast_shapes

__all__ = [
    "BOOL_RULES",
    "COMPLEX_RULES",
    "ROWS",
    "Kind",
    "Row",
    "binary",
    "complex_rule",
    "joint",
    "ternary",
    "unary",
]

Function = TypeVar("Function", bound=Callable[..., Tensor])


class Kind(Enum):
    """The dtypes in which a row computes, and those that it returns."""

    #: Computes in float32: int32 and bool operands are converted.
    FLOAT = "float"
    #: Computes in float32 or int32 and returns the same; bool operands become int32.
    NUMERIC = "numeric"
    #: Computes in int32 only, or on the bits of bool as ``BOOL_RULES`` says.
    INTEGER = "integer"
    #: Takes int32 as bits and returns float32.
    BITS = "bits"
    #: Compares float32 or int32 operands, or tests float32 ones, and returns bool.
    TEST = "test"
    #: Operands are taken as truth values; returns bool.
    LOGICAL = "logical"
    #: Takes float32 operands of one shape, which do not broadcast, and returns the same.
    JOINT = "joint"


class Row(Primitive):
    """An elementwise primitive with its expressions for each backend."""

    __slots__ = ("arity", "c", "c_int", "glsl", "glsl_int", "kind", "numpy", "parameters")

    def __init__(
        self,
        name: str,
        arity: int,
        parameters: tuple[str, ...],
        kind: Kind,
        numpy: Callable[..., Any],
        glsl: str,
        c: str,
        glsl_int: str | None,
        c_int: str | None,
        gradients: tuple[Gradient | None, ...] | None,
    ) -> None:
        kernel = "joint" if kind is Kind.JOINT else ("unary", "binary", "ternary")[arity - 1]
        super().__init__(name, kernel=kernel, gradients=gradients)
        self.arity = arity
        self.parameters = parameters
        self.kind = kind
        self.numpy = numpy
        self.glsl = glsl
        self.glsl_int = glsl_int
        self.c = c
        self.c_int = c_int

    @property
    def input_dtypes(self) -> tuple[DType, ...]:
        """The dtypes for which backends need a kernel."""
        if self.kind in (Kind.FLOAT, Kind.JOINT):
            return (float32,)
        if self.kind is Kind.LOGICAL:
            return (bool_,)
        if self.kind in (Kind.INTEGER, Kind.BITS):
            return (int32,)
        if self.kind is Kind.TEST and self.arity == 1:
            return (float32,)
        return (float32, int32)

    def output_dtype(self, dtype: DType) -> DType:
        """Return the dtype of the result for operands of ``dtype``."""
        if self.kind is Kind.BITS:
            return float32
        return bool_ if self.kind in (Kind.TEST, Kind.LOGICAL) else dtype

    def compute_dtype(self, dtype: DType) -> DType:
        """Return the dtype to which operands of ``dtype`` are converted.

        Raises:
            TypeError: the row does not take that dtype.
        """
        if dtype is string_:
            raise TypeError(f"{self.name}: string operands are not supported")
        if self.kind in (Kind.INTEGER, Kind.BITS) and dtype is float32:
            raise TypeError(f"{self.name}: operands must be int32 or bool, but got float32")
        allowed = self.input_dtypes
        if dtype in allowed:
            return dtype
        return allowed[-1] if dtype is bool_ else allowed[0]


#: Every row by name; the C kernels are generated from it.
ROWS: dict[str, Row] = {}


#: How rows on bits compute with bool tensors, by name; ``unary.py`` and ``binary.py`` fill it.
BOOL_RULES: dict[str, Callable[..., Tensor]] = {}


#: How rows compute with complex tensors, by name; ``complex_numbers.py`` fills it.
COMPLEX_RULES: dict[str, Callable[..., Tensor]] = {}


def complex_rule(name: str) -> Callable[..., Tensor]:
    """Return how a row computes with complex tensors, whose module is loaded when first needed.

    Raises:
        TypeError: it does not.
    """
    import_module("webtensor.ops.complex_numbers")
    if name not in COMPLEX_RULES:
        raise TypeError(f"{name}: complex64 operands are not supported")
    return COMPLEX_RULES[name]


def _complex(row: Row, *operands: Tensor) -> Tensor:
    """Compute a row with complex operands."""
    rule = complex_rule(row.name)
    return rule(*(cast_to(operand, complex64) for operand in operands))


def _of_text(row: Row, x: Tensor, y: Tensor) -> Tensor:
    """Compare text; no other row takes text."""
    comparison = _TEXT_COMPARISONS.get(row.name)
    if comparison is None:
        raise TypeError(f"{row.name}: string operands are not supported")
    from webtensor.ops.string_elements import check_all_text, compared_texts

    check_all_text(row.name, [x.dtype, y.dtype])
    return compared_texts(x, y, broadcast_shapes(row.name, x.shape, y.shape), comparison)


def _without_kernel(row: Row, dtype: DType, x: Tensor, y: Tensor) -> Tensor | None:
    """Compute a row in a dtype for which backends have no kernel; return None if they have one."""
    if dtype is complex64:
        return _complex(row, x, y)
    if dtype is bool_ and row.name in BOOL_RULES:
        return BOOL_RULES[row.name](x, y)
    return _of_text(row, x, y) if dtype is string_ else None


#: The rows that compare text, which is ordered by its UTF-8 bytes, that is, by its code points.
_TEXT_COMPARISONS: dict[str, Callable[[bytes, bytes], bool]] = {
    "equal": eq,
    "not_equal": ne,
    "greater": gt,
    "greater_equal": ge,
    "less": lt,
    "less_equal": le,
}


def _add_row(function: Callable[..., Any], arity: int, **columns: Any) -> Row:
    name = function.__name__.rstrip("_")
    parameters = tuple(signature(function).parameters)[arity:]
    row = Row(name, arity, parameters, **columns)
    ROWS[name] = row
    return row


def _of_tensor(function: Callable[..., Any], row: Row) -> Callable[..., Tensor]:
    """Make the function of a row without parameters."""
    name = row.name
    takes_float = float32 in row.input_dtypes
    plans: Plans = {}

    @wraps(function)
    def apply(x: Any) -> Tensor:
        try:
            if type(x) is not Tensor:
                x = as_operand(name, x)
            dtype = x.dtype
            plan = plans.get((x.shape, dtype))
            backend = state.backend
            if plan is not None and backend is not None and plan.epoch is backend.epoch:
                return run_plan(plan, (x,))
            if dtype is complex64:
                return _complex(row, x)
            if dtype is bool_ and name in BOOL_RULES:
                return BOOL_RULES[name](x)
            if dtype is not float32 or not takes_float:
                dtype = row.compute_dtype(dtype)
                x = cast_to(x, dtype)
            y = run(row, (x,), x.shape, row.output_dtype(dtype), row)
            keep_plan(plans, (x.shape, dtype), row, (x,), y, (row,))
            return y
        except MISUSE as error:
            raise_explained(function, error, (x,), {})

    apply.explains_errors = True  # type: ignore[attr-defined]
    return apply


def _of_tensor_and_numbers(function: Callable[..., Any], row: Row) -> Callable[..., Tensor]:
    """Make the function of a row with parameters."""
    name = row.name
    form = signature(function)

    @wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Tensor:
        bound = form.bind(*args, **kwargs)
        bound.apply_defaults()
        x, *values = bound.args
        numbers = [
            as_number(name, parameter, value)
            for parameter, value in zip(row.parameters, values, strict=True)
        ]
        x = as_operand(name, x)
        if x.dtype is complex64:
            return _complex(row, x)
        x = cast_to(x, row.compute_dtype(x.dtype))
        return run(row, (x,), x.shape, float32, row, *numbers)

    return planned(apply)


def _of_two_tensors(function: Callable[..., Any], row: Row) -> Callable[..., Tensor]:
    """Make the function of a row with two operands, which broadcast."""
    name = row.name
    any_float = row.kind in (Kind.NUMERIC, Kind.FLOAT, Kind.TEST)
    float_result = bool_ if row.kind is Kind.TEST else float32
    plans: Plans = {}

    @wraps(function)
    def apply(x: Any, y: Any) -> Tensor:
        try:
            if type(x) is not Tensor or type(y) is not Tensor:
                x, y = as_operands(name, x, y)
            key = x.shape, x.dtype, y.shape, y.dtype
            plan = plans.get(key)
            backend = state.backend
            if plan is not None and backend is not None and plan.epoch is backend.epoch:
                return run_plan(plan, (x, y))
            operands = x, y
            if any_float and x.dtype is float32 and y.dtype is float32:
                dtype = float_result
            else:
                promoted = promote(x.dtype, y.dtype)
                special = _without_kernel(row, promoted, x, y)
                if special is not None:
                    return special
                computed = row.compute_dtype(promoted)
                x, y = cast_to(x, computed), cast_to(y, computed)
                dtype = row.output_dtype(computed)
            shape = x.shape
            if shape != y.shape:
                shape = broadcast_shapes(name, shape, y.shape)
            result = run(row, (x, y), shape, dtype, row)
            if x is operands[0] and y is operands[1]:
                keep_plan(plans, key, row, operands, result, (row,))
            return result
        except MISUSE as error:
            raise_explained(function, error, (x, y), {})

    apply.explains_errors = True  # type: ignore[attr-defined]
    return apply


def _of_condition(function: Callable[..., Any], row: Row) -> Callable[..., Any]:
    """Make the function of a row that chooses between two operands, all of which broadcast."""
    name = row.name

    @wraps(function)
    def apply(condition: Any, x: Any = None, y: Any = None) -> Any:
        try:
            if x is None and y is None:
                from webtensor.ops.dynamic import nonzero

                return nonzero(condition)
            condition = cast_to(as_operand(name, condition), bool_)
            x, y = as_operands(name, x, y)
            dtype = promote(x.dtype, y.dtype)
            shape = broadcast_shapes(name, x.shape, y.shape)
            shape = broadcast_shapes(name, condition.shape, shape)
            if dtype is string_:
                from webtensor.ops.string_elements import check_all_text, chosen_texts

                check_all_text(name, [x.dtype, y.dtype])
                return chosen_texts(condition, x, y, shape)
            if dtype is complex64:
                return complex_rule("where")(condition, cast_to(x, dtype), cast_to(y, dtype))
            if dtype is bool_:
                x, y = cast_to(x, int32), cast_to(y, int32)
                return cast_to(run(row, (condition, x, y), shape, int32, row), bool_)
            x, y = cast_to(x, dtype), cast_to(y, dtype)
            return run(row, (condition, x, y), shape, dtype, row)
        except MISUSE as error:
            raise_explained(function, error, (condition, x, y), {})

    apply.explains_errors = True  # type: ignore[attr-defined]
    return apply


def unary(
    *,
    numpy: Callable[..., Any],
    glsl: str,
    c: str,
    grad: Gradient | None = None,
    kind: Kind = Kind.FLOAT,
    glsl_int: str | None = None,
    c_int: str | None = None,
) -> Callable[[Function], Function]:
    """Make a function of one tensor; ``grad(dy, y, x, *parameters)`` is its gradient.

    A function without one is a step function, whose gradient is zero.
    Functions with parameters compute in float32.
    """

    def decorate(function: Function) -> Function:
        gradients = None
        if grad is not None:
            gradients = (lambda dy, y, x, row, *parameters: grad(dy, y, x, *parameters),)
        row = _add_row(
            function,
            1,
            kind=kind,
            numpy=numpy,
            glsl=glsl,
            c=c,
            glsl_int=glsl_int,
            c_int=c_int,
            gradients=gradients,
        )
        make = _of_tensor_and_numbers if row.parameters else _of_tensor
        return cast(Function, make(function, row))

    return decorate


def _summed(grad: Gradient, position: int) -> Gradient:
    """Sum a gradient over the axes along which its operand was broadcast."""

    def rule(dy: Tensor, y: Tensor, *operands: Any) -> Tensor:
        *tensors, _row = operands
        return sum_to(grad(dy, y, *tensors), tensors[position].shape)

    return rule


def binary(
    *,
    numpy: Callable[..., Any],
    glsl: str,
    c: str,
    grad_x: Gradient | None = None,
    grad_y: Gradient | None = None,
    kind: Kind = Kind.NUMERIC,
    glsl_int: str | None = None,
    c_int: str | None = None,
) -> Callable[[Function], Function]:
    """Make a broadcasting function of two tensors; ``grad_x(dy, out, x, y)`` and so on.

    An operand without a gradient has one of zeros: the function is a step function of it.
    """

    def decorate(function: Function) -> Function:
        gradients = None
        if grad_x is not None or grad_y is not None:
            gradients = tuple(
                None if grad is None else _summed(grad, position)
                for position, grad in enumerate((grad_x, grad_y))
            )
        row = _add_row(
            function,
            2,
            kind=kind,
            numpy=numpy,
            glsl=glsl,
            c=c,
            glsl_int=glsl_int,
            c_int=c_int,
            gradients=gradients,
        )
        return cast(Function, _of_two_tensors(function, row))

    return decorate


def ternary(
    *, numpy: Callable[..., Any], glsl: str, c: str, grads: tuple[Gradient | None, ...]
) -> Callable[[Function], Function]:
    """Make a broadcasting choice between two tensors by a condition."""

    def decorate(function: Function) -> Function:
        rules = tuple(
            None if grad is None else _summed(grad, position) for position, grad in enumerate(grads)
        )
        row = _add_row(
            function,
            3,
            kind=Kind.NUMERIC,
            numpy=numpy,
            glsl=glsl,
            c=c,
            glsl_int=None,
            c_int=None,
            gradients=rules,
        )
        return cast(Function, _of_condition(function, row))

    return decorate


def joint(
    arity: int, *, numpy: Callable[..., Any], glsl: str, c: str, steady: bool = False
) -> Callable[[Function], Function]:
    """Make a function of tensors of one shape, then numbers; no gradient flows through it.

    Calls are planned where the numbers are ``steady``: the same at every step of an optimizer.
    """

    def decorate(function: Function) -> Function:
        row = _add_row(
            function,
            arity,
            kind=Kind.JOINT,
            numpy=numpy,
            glsl=glsl,
            c=c,
            glsl_int=None,
            c_int=None,
            gradients=None,
        )
        plans: Plans = {}

        def apply(*args: Any) -> Tensor:
            operands, parameters = args[:arity], args[arity:]
            return run(row, operands, operands[0].shape, float32, row, *parameters)

        def apply_planned(*args: Any) -> Tensor:
            if state.captures:  # numbers may be late
                return apply(*args)
            operands, parameters = args[:arity], args[arity:]
            key = (operands[0].shape, parameters)
            plan = plans.get(key)
            backend = state.backend
            if plan is not None and backend is not None and plan.epoch is backend.epoch:
                return run_plan(plan, operands)
            result = apply(*args)
            keep_plan(plans, key, row, operands, result, (row, *parameters))
            return result

        return cast(Function, wraps(function)(apply_planned if steady else apply))

    return decorate
