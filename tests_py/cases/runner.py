"""Runs cases where webtensor is: in CPython, or in a page that this file's source was sent to.

It needs only the standard library and webtensor. A case arrives as JSON-able data (see
`table.Case.encoded`), and so does its result leave; judging it is `comparison`'s business.
"""

import gc
import traceback
from base64 import b64decode, b64encode
from functools import partial, reduce
from inspect import isawaitable
from math import inf, isnan
from typing import Any

import webtensor as wt
from webtensor.ops import optimizer_updates, quantization
from webtensor.ops.special_functions import polynomial
from webtensor.ops.trigonometry import height_of_window

FORMATS: dict[str, Any] = {"bool": "?", "int32": "i", "float32": "f", "complex64": "f"}


# -- functions of several outputs, or of none of their own, made into functions of one tensor ----


def composed(x: Any, y: Any, *names: str) -> Any:
    """Apply a chain of functions to ``x``, giving ``y`` to those that take two tensors."""
    for name in names:
        function = getattr(wt, name)
        x = function(x, y) if name in ("matmul", "multiply", "add") else function(x)
    return x


def pooled_squares(x: Any, pool: str, *options: Any) -> Any:
    """Square what a pooling of squares gives, so that its derivatives depend on ``x``."""
    return wt.square(function_named(pool)(wt.square(x), *options))


def first_output(x: Any, name: str, *options: Any) -> Any:
    """Apply a function of several outputs, and return the first."""
    return function_named(name)(x, *options)[0]


def combined(name: str, *args: Any) -> Any:
    """Add the squares of a function's outputs up, each times its number."""
    parts = flat(function_named(name)(*args))
    return reduce(wt.add, [wt.sum(part * part) * (1.0 + n) for n, part in enumerate(parts)])


def enclosing_powers(values: list[float]) -> Any:
    """Return the enclosing power of two of each value."""
    return wt.tensor(list(map(wt.enclosing_power_of_two, values)))


def spectrum_power(x: Any) -> Any:
    """Square the sizes of a real signal's frequencies."""
    return wt.square(wt.abs(wt.spectral.rfft(x)))


def adjoint(x: Any) -> Any:
    """Transpose matrices, and conjugate them."""
    return wt.conj(wt.matrix_transpose(x))


def part_of(x: Any, function: str, index: int, hermitian: bool = False, **options: Any) -> Any:
    """Return one of several results, for the Hermitian part of ``x`` if requested."""
    x = (x + adjoint(x)) * 0.5 if hermitian else x
    return function_named(function)(x, **options)[index]


def of_hermitian_part(x: Any, function: str, **options: Any) -> Any:
    """Apply a function to the Hermitian part of ``x``."""
    return function_named(function)((x + adjoint(x)) * 0.5, **options)


def inner_products(x: Any, function: str, index: int, rows: bool = False, **options: Any) -> Any:
    """Multiply one of several results by its adjoint: orthonormal columns, or rows, give 1."""
    part = part_of(x, function, index, **options)
    return part @ adjoint(part) if rows else adjoint(part) @ part


def squared_sizes(x: Any, function: str, index: int, **options: Any) -> Any:
    """Square the sizes of one of several results, which no sign or phase changes."""
    return wt.square(wt.abs(part_of(x, function, index, **options)))


def restored(x: Any, function: str, **options: Any) -> Any:
    """Factor a matrix and multiply the factors."""
    if function == "linalg.eigh":
        values, vectors = wt.linalg.eigh((x + adjoint(x)) * 0.5)
        return (vectors * wt.expand_dims(values, -2)) @ adjoint(vectors)
    if function == "linalg.svd":
        u, values, vh = wt.linalg.svd(x, **options)
        k = values.shape[-1]
        return (u[..., :k] * wt.expand_dims(values, -2)) @ vh[..., :k, :]
    q, r = wt.linalg.qr(x, **options)
    return q @ r


def flat(outputs: Any) -> list[Any]:
    """Nested outputs in one list."""
    if isinstance(outputs, (list, tuple)):
        return [leaf for part in outputs for leaf in flat(part)]
    return [outputs]


def kept_by_dropout(x: Any, rate: float, noise_shape: Any, seed: int) -> Any:
    """What dropout gives had it kept all, and whether it dropped together what it should."""
    y = wt.dropout(x, rate, noise_shape, seed)
    is_kept = wt.not_equal(y, 0.0)
    axes = tuple(axis for axis, size in enumerate(noise_shape or ()) if size == 1)
    some, all_of_them = (function(is_kept, axes, keepdims=True) for function in (wt.any, wt.all))
    return [wt.where(is_kept, y, x / (1 - rate)), wt.all(wt.equal(some, all_of_them))]


def stacked_lstm_cells(
    forget_bias: Any, kernels: Any, biases: Any, data: Any, c: Any, h: Any
) -> Any:
    """Step through cells each of which is fed with the one before."""
    parameters = zip(kernels, biases, strict=True)
    cells = [partial(wt.basic_lstm_cell, forget_bias, *both) for both in parameters]
    return wt.multi_rnn_cell(cells, data, c, h)


def optimizer_steps(name: str, options: Any, start: Any, curvature: Any, steps: int) -> Any:
    """Return weights after steps that lower half the sum of their squares times a curvature."""
    optimizer = function_named(name)(*options)
    weights = wt.Variable(start)
    for _ in range(steps):
        optimizer.minimize(lambda: wt.sum(curvature * weights * weights) * 0.5)
    return weights.value


EXTRA_FUNCTIONS = {
    "height_of_window": height_of_window,
    "polynomial": polynomial,
    "part_of": part_of,
    "of_hermitian_part": of_hermitian_part,
    "inner_products": inner_products,
    "squared_sizes": squared_sizes,
    "restored": restored,
    "combined": combined,
    "enclosing_powers": enclosing_powers,
    "spectrum_power": spectrum_power,
    "first_output": first_output,
    "composed": composed,
    "pooled_squares": pooled_squares,
    "kept_by_dropout": kept_by_dropout,
    "stacked_lstm_cells": stacked_lstm_cells,
    "optimizer_steps": optimizer_steps,
    **{name: getattr(optimizer_updates, name) for name in optimizer_updates.__all__},
    **{name: getattr(quantization, name) for name in quantization.__all__},
}


# -- between JSON and arguments -----------------------------------------------------------------


def as_tensor(encoded: dict[str, Any]) -> Any:
    """Make a tensor of base64 elements."""
    if encoded["dtype"] == "string":
        texts = list(map(b64decode, encoded["elements"]))
        return wt.reshape(wt.tensor(texts, dtype="string"), encoded["shape"])
    elements = memoryview(b64decode(encoded["elements"])).cast(FORMATS[encoded["dtype"]])
    if encoded["dtype"] == "complex64":
        pairs = wt.tensor(elements, shape=(*encoded["shape"], 2))
        return wt.complex(pairs[..., 0], pairs[..., 1])
    return wt.tensor(elements, shape=encoded["shape"], dtype=encoded["dtype"])


def as_argument(template: Any, tensors: list[Any]) -> Any:
    """Build an argument; its tensors are given by their indices in ``tensors``."""
    if isinstance(template, list):
        return [as_argument(part, tensors) for part in template]
    if not isinstance(template, dict):
        return template
    ((kind, content),) = template.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "tuple":
        return tuple(as_argument(part, tensors) for part in content)
    if kind == "slice":
        return slice(*content)
    if kind == "ellipsis":
        return ...
    raise ValueError(f"an argument of kind {kind!r}")


def function_named(path: str) -> Any:
    """Find a function by its dotted path in webtensor, or among the extra ones."""
    return EXTRA_FUNCTIONS.get(path) or reduce(getattr, path.split("."), wt)


# -- running ------------------------------------------------------------------------------------


def tensors_of(case: dict[str, Any]) -> list[Any]:
    """Return all tensors of a case: its operands, the gradient of its result, and directions."""
    encoded = [*case["tensors"]]
    if case["derivative"] > 0:
        encoded.append(case["dy"])
    if case["derivative"] == 2:
        encoded += case["directions"]
    return [as_tensor(each) for each in encoded]


def evaluate(case: dict[str, Any], inputs: list[Any] | None = None) -> Any:
    """Call a case's function, or differentiate it once or twice.

    ``inputs`` are the tensors of the case, where they exist already.
    """
    function = function_named(case["function"])
    count = len(case["tensors"])
    inputs = tensors_of(case) if inputs is None else inputs
    tensors, rest = inputs[:count], inputs[count:]

    def call(operands: list[Any]) -> Any:
        args = [as_argument(argument, operands) for argument in case["args"]]
        kwargs = {name: as_argument(value, operands) for name, value in case["kwargs"].items()}
        return function(*args, **kwargs)

    if case["derivative"] == 0:
        return call(tensors)

    wrt = case["wrt"]
    dy, *directions = rest

    def of_sources(*sources: Any) -> Any:
        operands = list(tensors)
        for index, source in zip(wrt, sources, strict=True):
            operands[index] = source
        return call(operands)

    gradients = wt.grads(of_sources)
    sources = [tensors[index] for index in wrt]
    if case["derivative"] == 1:
        return gradients(*sources, dy=dy)

    def along(*sources: Any) -> Any:
        parts = zip(gradients(*sources, dy=dy), directions, strict=True)
        products = [gradient * wt.conj(direction) for gradient, direction in parts]
        return reduce(wt.add, [wt.sum(wt.real(product)) for product in products])

    return wt.grads(along)(*sources)


async def encode(result: Any) -> Any:
    """Read tensors, and return them as JSON-able data; nested lists become one."""
    if isinstance(result, (list, tuple)):
        return [await encode(part) for part in flat(result)]
    data = await result.data()
    elements: Any
    if str(result.dtype) == "string":
        elements = [b64encode(text).decode() for text in data]
    else:
        elements = b64encode(data.tobytes()).decode()
    return {"dtype": str(result.dtype), "shape": list(result.shape), "elements": elements}


_FORWARD = "WEBGL_CPU_FORWARD"

#: Functions whose replay may round otherwise on WebAssembly: a sum begins with the bias that joins
#: it, and which the first call added to the sum.
ROUNDED_OTHERWISE = frozenset({"fused.depthwise_conv2d"})
#: What of ``wt.memory()`` a run must leave as it was.
COUNTS = ("num_tensors", "num_storages", "num_bytes")


def leaked_since(before: dict[str, Any]) -> dict[str, int]:
    """Return by how much the counts of ``wt.memory()`` changed."""
    after = wt.memory()
    return {name: after[name] - before[name] for name in COUNTS}


async def run_cases(cases: list[dict[str, Any]], backend: str) -> dict[str, Any]:
    """Run cases on a backend; all are dispatched before the first is read.

    Those that are asynchronous are awaited one after the other. Returns their results in order (or
    ``{"error": traceback}``), the kernels that ran on another
    backend, and by how much the counts of ``wt.memory()`` changed.
    """
    wt.set_backend(backend)
    wt.env().set(_FORWARD, False)  # kernels must run on the backend under test

    def guarded(case: dict[str, Any]) -> Any:
        try:
            return evaluate(case)
        except Exception:
            return {"error": traceback.format_exc()}

    collects = gc.isenabled()
    gc.disable()  # or cycles of earlier tests, freed in between, would spoil the counts
    try:
        before = wt.memory()
        seen = wt.profile(lambda: [guarded(case) for case in cases])
        results = []
        for index, result in enumerate(seen.result):
            try:
                result = await result if isawaitable(result) else result
                results.append(result if isinstance(result, dict) else await encode(result))
            except Exception:
                results.append({"error": traceback.format_exc()})
            seen.result[index] = result = None
        leaked = leaked_since(before)
    finally:
        if collects:
            gc.enable()
    wt.env().set(_FORWARD, True)
    return {
        "results": results,
        "fallbacks": [list(key) for key in seen.fallbacks],
        "leaked": leaked,
    }


def is_near(replayed: Any, expected: Any) -> bool:
    """Whether floats are as near as another rounding leaves them; all else must be equal.

    On WebGL a chain of calls is one shader, whose compiler may round less in between.
    """
    if replayed == expected:
        return True
    if isinstance(expected, list):
        return len(replayed) == len(expected) and all(map(is_near, replayed, expected))
    kinds = [(result["dtype"], result["shape"]) for result in (replayed, expected)]
    if kinds[0] != kinds[1] or FORMATS.get(expected["dtype"]) != "f":
        return False
    ours, theirs = (
        memoryview(b64decode(result["elements"])).cast("f") for result in (replayed, expected)
    )
    largest = max((abs(value) for value in theirs if abs(value) < inf), default=0.0)
    return all(
        p == q or (isnan(p) and isnan(q)) or abs(p - q) <= 1e-6 * largest + 1e-5 * abs(q) < inf
        for p, q in zip(ours, theirs, strict=True)
    )


async def evaluated(case: dict[str, Any]) -> tuple[Any, set[tuple[str, ...]]]:
    """Evaluate a case; return its result and the kernels that ran on another backend."""
    seen = wt.profile(partial(evaluate, case))
    result = await seen.result if isawaitable(seen.result) else seen.result
    return await encode(result), set(seen.fallbacks)


async def capture_case(
    case: dict[str, Any], backend: str
) -> tuple[Any, list[str] | None, set[tuple[str, ...]]]:
    """Call a case's captured function twice: it is recorded, and then replayed.

    Returns the first call's result, what is wrong with the replay, and the kernels that ran on
    another backend. A case that cannot be captured is evaluated instead.
    """
    function = wt.function(partial(evaluate, case))
    try:
        first, second = function(tensors_of(case)), function(tensors_of(case))
        result, replayed = await encode(first), await encode(second)
        if not any(None in programs for programs in function._programs.values()):
            may_round = backend == "webgl" or case["function"] in ROUNDED_OTHERWISE
            agree = replayed == result or (may_round and is_near(replayed, result))
            wrong = None if agree else ["differs", f"{replayed} instead of {result}"[:1000]]
            return result, wrong, set()
        reason = None
    except wt.CaptureError as error:
        reason = ["refused", str(error)]
    finally:
        function.clear()
    result, fallbacks = await evaluated(case)
    return result, reason or (None if fallbacks else ["error", "it has no program"]), fallbacks


async def run_captured(cases: list[dict[str, Any]], backend: str) -> dict[str, Any]:
    """Run cases as captured functions.

    Returns what `run_cases` does, of the calls that are recorded, and ``"replays"``: None for each
    case whose replay gives the same, bit by bit save on WebGL and for `ROUNDED_OTHERWISE`. Others
    have ``["refused", reason]``, ``["error", text]`` or ``["differs", how]``. What other backends
    compute, too, is not replayed.
    """
    wt.set_backend(backend)
    wt.env().set(_FORWARD, False)
    gc.collect()  # garbage of earlier tests would spoil the counts
    before = wt.memory()
    answer: dict[str, Any] = {"results": [], "replays": [], "fallbacks": set()}
    for case in cases:
        try:
            result, replay, fallbacks = await capture_case(case, backend)
        except Exception:
            result, replay, fallbacks = {"error": traceback.format_exc()}, None, set()
        answer["results"].append(result)
        answer["replays"].append(replay)
        answer["fallbacks"] |= fallbacks
    gc.collect()
    answer["fallbacks"] = sorted(map(list, answer["fallbacks"]))
    answer["leaked"] = leaked_since(before)
    wt.env().set(_FORWARD, True)
    return answer
