"""Loops and branches, which captured functions and ``vmap`` understand, too.

Outside of these, they are Python's: conditions are read, and a function is called for each
iteration, so that tapes see all that is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from webtensor.arguments import as_non_negative_integer, check_callable
from webtensor.autodiff import custom_grad, is_recording
from webtensor.autodiff.functions import own_tensors
from webtensor.autodiff.gradient_tape import is_differentiable
from webtensor.dtypes import bool_
from webtensor.engine import Tensor, TensorLike, Variable, as_operand, state
from webtensor.errors import CaptureError
from webtensor.nest import flatten, form, leaves, map_structure, pack, pack_leaves
from webtensor.ops import logical_not, stack, where, zeros_like
from webtensor.ops.casting import cast_to
from webtensor.programs.loops import record_loop

__all__ = ["cond", "masked_gradient", "scan", "while_loop"]

Result = TypeVar("Result")


def cond(
    pred: TensorLike,
    true_fn: Callable[..., Result],
    false_fn: Callable[..., Result],
    *operands: Any,
) -> Result:
    """Call one of two functions.

    In a captured function, and within ``vmap``, both are called, and ``where`` picks results: then
    both must return tensors of the same shapes, and assign to no variables.

    Args:
        pred: a bool scalar.
        true_fn: called if ``pred`` is true.
        false_fn: called if it is not.
        operands: what both are called with.

    Raises:
        CaptureError: both are called, and a function assigns to variables, or results differ.
        TypeError: an argument cannot be called.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor(-3.0)
        >>> wt.cond(x > 0.0, lambda x: x, lambda x: -x, x).tolist()
        3.0
    """
    for name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        check_callable("cond", name, function)
    recorder = state.captures[-1] if state.captures else None
    if recorder is None or not recorder.is_strict:
        return true_fn(*operands) if _truth("cond", pred) else false_fn(*operands)
    condition = _scalar("cond", pred)
    before = recorder.assignments
    pairs = (operands, operands)
    if is_recording() or recorder.is_differentiated:
        conditions = condition, logical_not(condition)
        pairs = tuple(
            map_structure(partial(masked_gradient, is_taken), operands) for is_taken in conditions
        )
    results = true_fn(*pairs[0]), false_fn(*pairs[1])
    if recorder.assignments != before:
        raise CaptureError(
            "cond: where both functions are called, as in a captured function, they must not "
            "assign to variables; return the values instead"
        )
    forms = list(map(form, results))
    if forms[0] != forms[1]:
        raise CaptureError(
            "cond: where both functions are called, as in a captured function, they must return "
            f"the same structure, but return {forms[0]} and {forms[1]}"
        )
    columns = map(flatten, results)
    chosen = [_chosen(condition, *leaves) for leaves in zip(*columns, strict=True)]
    result: Result = pack(results[0], chosen)
    return result


def masked_gradient(is_taken: Tensor, operand: Any) -> Any:
    """Return an operand to which no gradient flows from a function where it is not chosen.

    A derivative may be infinite there, and zero times infinity is no zero.
    """
    if isinstance(operand, Tensor) and is_differentiable(operand):
        return _masked(operand, is_taken)
    return operand


@custom_grad
def _masked(x: Tensor, is_taken: Tensor) -> tuple[Tensor, Callable[[Tensor], list[Tensor]]]:
    return x, lambda dy: [where(is_taken, dy, zeros_like(dy)), zeros_like(is_taken)]


def _chosen(condition: Tensor, first: Any, second: Any) -> Any:
    """Return the one or the other result."""
    if first is second:
        return first
    then, otherwise = as_operand("cond", first), as_operand("cond", second)
    if then.shape != otherwise.shape or then.dtype is not otherwise.dtype:
        raise CaptureError(
            "cond: where both functions are called, as in a captured function, they must return "
            f"the same shapes and dtypes, but return {then.dtype} of shape {then.shape} and "
            f"{otherwise.dtype} of shape {otherwise.shape}"
        )
    return where(condition, then, otherwise)


def while_loop(
    cond: Callable[..., TensorLike],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """Call a function as long as a condition holds.

    In a captured function, each replay finds out how often. Only first derivatives flow through
    the loop there, and the loop variables of each iteration are kept for them (see ``scan``).
    Within ``vmap``, each example's loop variables stay as they are once its condition is false.

    Args:
        cond: takes the loop variables, and returns a bool scalar.
        body: takes the loop variables, and returns the next ones, of the same shapes and dtypes.
        loop_vars: the first loop variables: a list or a tuple, or a single one; None stays None.
        maximum_iterations: the maximum number of calls of ``body``, or None.

    Returns:
        The last loop variables: a tuple, or a single one.

    Raises:
        CaptureError: in a captured function the loop needs second derivatives, assigns to
            variables, or draws random numbers.
        TypeError: a function cannot be called, or a loop variable is neither a tensor nor a number.
        ValueError: in a captured function, ``body`` returns another structure, shape or dtype.

    Example:
        >>> import webtensor as wt
        >>> wt.while_loop(lambda x: x < 100.0, lambda x: x * 3.0, wt.tensor(1.0)).tolist()
        243.0
    """
    for name, function in (("cond", cond), ("body", body)):
        check_callable("while_loop", name, function)
    limit = maximum_iterations
    if limit is not None:
        limit = as_non_negative_integer("while_loop", "maximum_iterations", limit)
    _check("while_loop", "loop_vars", loop_vars)
    variables = _as_tuple(loop_vars)
    if state.captures:
        variables = _captured_loop(cond, body, variables, limit)
    else:
        variables = _loop(cond, body, variables, limit)
    return variables if isinstance(loop_vars, (list, tuple)) else variables[0]


def _as_tuple(loop_vars: Any) -> tuple[Any, ...]:
    return tuple(loop_vars) if isinstance(loop_vars, (list, tuple)) else (loop_vars,)


def _loop(
    cond: Callable[..., TensorLike],
    body: Callable[..., Any],
    variables: tuple[Any, ...],
    limit: int | None,
) -> tuple[Any, ...]:
    iteration = 0
    while (limit is None or iteration < limit) and _truth("while_loop", cond(*variables)):
        variables = _as_tuple(body(*variables))
        iteration += 1
    return variables


def _captured_loop(
    cond: Callable[..., TensorLike],
    body: Callable[..., Any],
    variables: tuple[Any, ...],
    limit: int | None,
) -> tuple[Any, ...]:
    """Record a loop, whose variables all become tensors."""
    recorder = state.captures[-1]
    if is_recording() and not recorder.is_strict:
        recorder.refuse(
            "while_loop: only wt.function and jit_compile=True capture loops with gradients"
        )
        return _loop(cond, body, variables, limit)
    first = [as_operand("while_loop", leaf) for leaf in leaves(variables)]

    def values(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
        structure: tuple[Any, ...] = pack_leaves(variables, tensors)
        return structure

    def tensors_of(result: Any) -> list[Tensor]:
        if form(_as_tuple(result)) != form(variables):
            raise ValueError(
                "while_loop: in a captured function, body must return the structure of the loop "
                f"variables, {form(variables)}, but returned {form(_as_tuple(result))}"
            )
        tensors = [as_operand("while_loop", leaf) for leaf in leaves(_as_tuple(result))]
        expected, received = ([(x.dtype, x.shape) for x in group] for group in (first, tensors))
        if expected != received:
            raise ValueError(
                "while_loop: in a captured function, body must return tensors of the shapes and "
                f"dtypes of the loop variables, {expected}, but returned {received}"
            )
        return tensors

    loop = (
        recorder,
        lambda *tensors: _scalar("while_loop", cond(*values(tensors))),
        lambda *tensors: tensors_of(body(*values(tensors))),
        first,
        lambda tensors: tensors_of(_loop(cond, body, values(tensors), limit)),
        limit,
    )
    if is_recording():
        from webtensor.transforms.loop_gradients import record_differentiable_loop

        return values(record_differentiable_loop(*loop))
    return values(record_loop(*loop)[0])


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Call a function with each slice along the first axis, and carry a value from call to call.

    A captured function computes what all calls together compute.

    Args:
        f: takes the carried value and a slice, and returns the next carried value and an output.
        init: the first carried value, a tensor or a structure of tensors and None.
        xs: a tensor or a structure of tensors, or None.
        length: the number of calls, which is that of the slices if there are some.
        reverse: a boolean, whether the last slice is the first.
        unroll: has no effect here.

    Returns:
        The last carried value, and the outputs, stacked along a first axis; None without calls.

    Raises:
        TypeError: ``f`` cannot be called or returns no pair, or ``init`` holds neither tensors nor
            numbers.
        ValueError: neither ``xs`` nor ``length`` is given, they differ, or ``length`` or ``unroll``
            is negative.

    Example:
        >>> import webtensor as wt
        >>> total, sums = wt.scan(lambda total, x: (total + x, total + x), 0.0, wt.ones((3,)))
        >>> total.tolist(), sums.tolist()
        (3.0, [1.0, 2.0, 3.0])
    """
    check_callable("scan", "f", f)
    if not hasattr(unroll, "__index__") or unroll < 0:
        raise ValueError(f"scan: unroll must be a positive integer or a bool, but got {unroll!r}")
    _check("scan", "init", init)
    slices = own_tensors("scan", xs)
    count = slices_of(slices)
    if length is not None:
        length = as_non_negative_integer("scan", "length", length)
        if count not in (length, None):
            raise ValueError(f"scan: length is {length}, but xs has {count} slices")
        count = length
    if count is None:
        raise ValueError("scan: give xs or length")
    carry, outputs = init, []
    for index in reversed(range(count)) if reverse else range(count):
        part = pack_leaves(slices, [leaf[index] for leaf in leaves(slices)])
        result = f(carry, part)
        if not isinstance(result, (list, tuple)) or len(result) != 2:
            raise TypeError(
                "scan: f must return a pair of a carried value and an output, but returned "
                f"{result!r}"
            )
        carry, output = result
        outputs.append(output)
    if not outputs:
        return carry, None
    return carry, _stacked(outputs[::-1] if reverse else outputs)


def slices_of(structure: Any) -> int | None:
    """Return the number of slices along the first axis of the tensors of a structure, if any."""
    counts = {leaf.shape[0] if leaf.shape else None for leaf in leaves(structure)}
    if len(counts) > 1 or None in counts:
        raise ValueError(
            "scan: the tensors of xs must have a first axis of the same size, but their shapes are "
            f"{[leaf.shape for leaf in leaves(structure)]}"
        )
    return counts.pop() if counts else None


def _stacked(outputs: list[Any]) -> Any:
    """Stack the corresponding tensors of structures."""
    columns = zip(*map(leaves, outputs), strict=True)
    stacked = [stack([as_operand("scan", leaf) for leaf in column]) for column in columns]
    return pack_leaves(outputs[0], stacked)


def _check(name: str, argument: str, structure: Any) -> None:
    """Raise for what is neither a tensor nor a number, and for disposed tensors."""
    for leaf in flatten(structure):
        if isinstance(leaf, Tensor):
            leaf.throw_if_disposed()
        is_known = isinstance(leaf, (Tensor, Variable, bool, int, float, complex, type(None)))
        kind = getattr(getattr(leaf, "dtype", None), "kind", "")
        if not is_known and kind not in tuple("biufc"):
            raise TypeError(f"{name}: {argument} must hold tensors or numbers, but got {leaf!r}")


def _truth(name: str, value: Any) -> bool:
    return bool(value if isinstance(value, (bool, int, float)) else _scalar(name, value).item())


def _scalar(name: str, value: TensorLike) -> Tensor:
    """Return a condition as a bool scalar."""
    tensor = as_operand(name, value)
    if tensor.shape != ():
        raise ValueError(f"{name}: the condition must be a scalar, but its shape is {tensor.shape}")
    return cast_to(tensor, bool_)
