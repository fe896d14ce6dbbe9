"""Captured functions: what they replay is what the functions themselves compute."""

import copy
import gc
import os
import sys
from array import array
from asyncio import run
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import pytest

import webtensor as wt
from tests_browser.prove.graph_runner import compute, total
from tests_browser.prove.graphs import draw_graph
from tests_py.cases import FAMILIES, Case, failures
from tests_py.cases.runner import run_captured
from webtensor import keras
from webtensor.programs import Function

#: One whose numbers change from step to step.
optimizer = keras.optimizers.SGD(0.1)

#: Functions of which a case cannot be captured: shapes of results follow from elements, these are
#: read to check them, there is text, or the function is awaited.
REFUSED = frozenset(
    [
        "Tensor.__getitem__",
        "argwhere",
        "bincount",
        "boolean_mask",
        "boolean_mask_async",
        "broadcast_args",
        "combined",
        "dense_bincount",
        "first_output",
        "image.non_max_suppression",
        "image.non_max_suppression_padded",
        "image.non_max_suppression_with_score",
        "in_top_k_async",
        "nonzero",
        "ragged_gather",
        "ragged_range",
        "ragged_tensor_to_tensor",
        "repeat",
        "setdiff1d",
        "setdiff1d_async",
        "sparse.sparse_fill_empty_rows",
        "sparse.sparse_reshape",
        "sparse.sparse_segment_mean",
        "sparse.sparse_segment_sum",
        "string.static_regex_replace",
        "string.string_n_grams",
        "string.string_split",
        "string.string_to_hash_bucket_fast",
        "unique",
        "unique_all",
        "unique_counts",
        "unique_inverse",
        "unique_values",
        "where_async",
    ]
)


def wrong_answers(cases: Sequence[Case], answer: dict[str, Any], backend: str) -> list[str]:
    """Return a line for each case that is wrong as it is recorded or replayed; see `failures`."""
    return failures(cases, answer, backend) + [
        f"{case.name}: {replay}"
        for case, replay in zip(cases, answer["replays"], strict=True)
        if replay and not (replay[0] == "refused" and case.function in REFUSED)
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_family(backend: str, family: str) -> None:
    cases = FAMILIES[family]
    answer = run(run_captured([case.encoded() for case in cases], backend))
    assert wrong_answers(cases, answer, backend) == []


# -- what is captured ----------------------------------------------------------------------------


class Calls:
    """Counts the runs of a function's Python code."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.count = 0
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        return self._function(*args, **kwargs)


def test_python_runs_once_for_each_signature(backend: str) -> None:
    calls = Calls(lambda x, scale=1.0, *, axis=None: wt.sum(x * scale, axis))
    captured = wt.function(calls)
    x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
    signatures: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((x,), {}),
        ((x, 2.0), {}),
        ((x, 2), {}),
        ((x, 0.0), {}),
        ((x, -0.0), {}),
        ((x,), {"axis": 0}),
        ((x[0],), {}),
        ((x.astype("int32"),), {}),
        ((x.numpy() * 5,), {}),  # an array counts as a tensor
    ]
    for _ in range(3):
        for args, kwargs in signatures:
            expected = calls._function(*args, **kwargs).numpy()
            np.testing.assert_array_equal(captured(*args, **kwargs).numpy(), expected)
    assert calls.count == len(signatures) - 1
    for _ in range(2):
        captured(x, float("nan"))
    assert calls.count == len(signatures)


def test_structures_go_in_and_come_out(backend: str) -> None:
    class Pair(NamedTuple):
        first: Any
        second: Any

    def f(parts: dict[str, Any], pair: Pair) -> Any:
        total = parts["a"] + parts["list"][0] * pair.first
        return {"total": total, "same": [total, parts["a"], "text", None], "pair": Pair(total, 3)}

    captured = wt.function(f)
    for number in (1.0, 2.0, 3.0):
        parts = {"list": [wt.tensor([number])], "a": wt.tensor([10.0])}
        result = captured(parts, Pair(wt.tensor(2.0), "unused"))
        assert result["total"].tolist() == [10.0 + 2.0 * number]
        total, a, text, nothing = result["same"]
        assert (total.tolist(), a.tolist(), text, nothing) == (
            [10.0 + 2.0 * number],
            [10.0],
            "text",
            None,
        )
        assert isinstance(result["pair"], Pair)
        assert result["pair"].second == 3


def test_one_tensor_may_be_two_arguments(backend: str) -> None:
    captured = wt.function(lambda x, y: x * 2 + y)
    x = wt.tensor([1.0, 2.0])
    assert captured(x, x).tolist() == [3.0, 6.0]
    assert captured(x, wt.tensor([10.0, 20.0])).tolist() == [12.0, 24.0]


def test_a_constant_may_be_an_argument_of_the_first_call(backend: str) -> None:
    x = wt.tensor([3.0]) * 1.0
    captured = wt.function(lambda y: (y * x, wt.reshape(x, (1, 1)) - wt.reshape(y, (1, 1))))
    assert [part.item() for part in captured(x)] == [9.0, 0.0]
    assert [part.item() for part in captured(wt.tensor([5.0]))] == [15.0, -2.0]
    both = wt.function(lambda y, z: y - 2.0 * z)
    assert both(x, x).item() == -3.0
    assert both(x, wt.tensor([5.0])).item() == -7.0


@pytest.mark.parametrize(
    "difference", [lambda w, first: w - first, lambda w, first: -(first - w)], ids=["w", "first"]
)
def test_a_constant_may_be_a_variable_s_first_value(
    backend: str, difference: Callable[..., Any]
) -> None:
    w = wt.Variable([2.0])
    first = w.value
    captured = wt.function(lambda: difference(w, first))
    assert captured().item() == 0.0
    assert w.value is first
    w.assign([5.0])
    assert captured().item() == 3.0


def test_variables_that_are_made_of_arguments(backend: str) -> None:
    def counted(x: wt.Tensor) -> Any:
        count, start = wt.Variable(0.0), wt.Variable(x)
        count.assign_add(1.0)
        start.assign_add(count)
        return start * 1.0, count.value, copy.copy(x) + copy.deepcopy(x)

    captured = wt.function(counted)
    for x in (1.0, 2.0, 3.0, 4.0):
        assert [part.item() for part in captured(wt.tensor(x))] == [x + 1.0, 1.0, 2.0 * x]


def test_variables_for_each_signature(backend: str) -> None:
    totals: dict[Any, wt.Variable] = {}

    @wt.function
    def added(x: wt.Tensor) -> wt.Tensor:
        if x.shape not in totals:
            totals[x.shape] = wt.Variable(wt.ones(x.shape))
        totals[x.shape].assign_add(x)
        return totals[x.shape] * 1.0

    results = [added(wt.ones((size,))).tolist() for size in (1, 1, 1, 2, 2, 2, 1)]
    assert results == [[2.0], [3.0], [4.0], [2.0] * 2, [3.0] * 2, [4.0] * 2, [5.0]]


def test_variables_of_a_call_that_failed(backend: str) -> None:
    variables: list[wt.Variable] = []

    @wt.function
    def grown(x: wt.Tensor, fails: bool) -> wt.Tensor:
        if fails:
            raise KeyError
        if not variables:
            variables.append(wt.Variable(x))
        return variables[0].assign_add(1.0) * 1.0

    with pytest.raises(KeyError):
        grown(wt.tensor(1.0), True)
    assert [grown(wt.tensor(1.0), False).item() for _ in range(3)] == [2.0, 3.0, 4.0]


def test_an_argument_is_an_index(backend: str) -> None:
    captured = wt.function(lambda x, i: (x[i], x[:, i], x[i, 0:2]))
    x = wt.reshape(wt.arange(9), (3, 3))
    for index in (0, 2, -1):
        parts = captured(x, wt.tensor(index, dtype="int32"))
        array = x.numpy()
        expected = [array[index], array[:, index], array[index, 0:2]]
        assert [part.tolist() for part in parts] == [part.tolist() for part in expected]
    picked = wt.vmap(lambda i: x[1][i])(wt.tensor([2, 0], dtype="int32"))
    assert picked.tolist() == [5, 3]


def test_a_variable_that_another_is_set_to(backend: str) -> None:
    source, target = wt.Variable([1.0]), wt.Variable([0.0])
    captured = wt.function(lambda: target.assign(source))
    for value in (1.0, 2.0, 3.0):
        source.assign([value])
        captured()
        assert target.item() == value


@pytest.mark.parametrize("read", [bool, int, float, np.asarray])
def test_variables_must_not_be_read(backend: str, read: Callable[..., Any]) -> None:
    flag = wt.Variable(1.0)
    with pytest.raises(wt.CaptureError, match="those of vmap must not read elements"):
        wt.function(lambda x: x * float(read(flag)))(wt.tensor(2.0))


def test_tensors_from_elsewhere_are_constants(backend: str) -> None:
    table = wt.tensor([1.0, 2.0, 3.0])
    captured = wt.function(lambda x: (wt.exp(table) * x, table))
    for number in (1.0, 2.0):
        product, same = captured(wt.tensor(number))
        np.testing.assert_allclose(product.numpy(), np.exp([1, 2, 3]) * number, rtol=1e-6)
        assert same.tolist() == [1.0, 2.0, 3.0]


def test_steps_of_training_are_those_of_the_function(backend: str) -> None:
    def fitted(capture: bool) -> list[Any]:
        rng = np.random.default_rng(5)
        w = wt.Variable(rng.normal(size=(3, 4)).astype(np.float32))
        b = wt.Variable(np.zeros(4, np.float32))
        steps = wt.Variable(0)

        def step(x: wt.Tensor, y: wt.Tensor) -> wt.Tensor:
            def loss(w: wt.Tensor, b: wt.Tensor) -> wt.Tensor:
                return wt.mean((wt.tanh(wt.matmul(x, w) + b) - y) ** 2)

            value, (dw, db) = wt.value_and_grads(loss)(w.value, b.value)
            w.assign_sub(0.1 * dw)
            b.assign(b.value - 0.1 * db)
            steps.assign_add(1)
            return value + wt.sum(b) * 0  # read after it was assigned

        call = wt.function(step) if capture else step
        losses = []
        for number in range(6):
            x = rng.normal(size=(5, 3)).astype(np.float32)
            y = rng.normal(size=(5, 4)).astype(np.float32)
            if number == 4:
                b.assign(np.ones(4, np.float32))
            losses.append(call(wt.tensor(x), wt.tensor(y)).tolist())
        return [losses, w.tolist(), b.tolist(), steps.tolist()]

    assert fitted(True) == fitted(False)


def test_variables_with_one_value_stay_apart(backend: str) -> None:
    first = wt.Variable([1.0])
    second = wt.Variable(first)

    @wt.function
    def difference() -> wt.Tensor:
        return first - second

    assert difference().tolist() == [0.0]
    second.assign([5.0])
    assert difference().tolist() == [-4.0]
    first.assign(second)
    assert difference().tolist() == [0.0]


def test_random_numbers_are_fresh_and_those_of_the_function(backend: str) -> None:
    noise = keras.random.SeedGenerator(3)

    def f(x: wt.Tensor) -> list[wt.Tensor]:
        return [
            wt.random_normal((3,)),
            wt.dropout(x, 0.5),
            keras.random.uniform((2,), seed=noise),
            wt.random_uniform((2,), seed=7),
        ]

    def three(call: Callable[..., Any]) -> list[Any]:
        wt.set_random_seed(11)
        noise.state.assign([3, 0])
        return [[part.tolist() for part in call(wt.ones((8,)))] for _ in range(3)]

    eager = three(f)
    assert three(wt.function(f)) == eager
    assert eager[0][0] != eager[1][0]


def test_layers_and_their_statistics(backend: str) -> None:
    model = keras.Sequential(
        [keras.layers.Dense(4, activation="relu"), keras.layers.BatchNormalization()]
    )
    x = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
    model.build((None, 3))
    start = [v.numpy() for v in model.variables]
    expected = [model(x + number, training=True).numpy() for number in range(3)]
    ends = [v.numpy() for v in model.variables]
    for variable, value in zip(model.variables, start, strict=True):
        variable.assign(value)
    captured = wt.function(lambda x: model(x, training=True))
    for number in range(3):
        np.testing.assert_array_equal(captured(x + number).numpy(), expected[number])
    for variable, value in zip(model.variables, ends, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_functions_within_functions(backend: str) -> None:
    inner = wt.function(lambda x: x * 2)
    outer = wt.function(lambda x: inner(x) + inner(x + 1))
    for number in (1.0, 2.0, 3.0):
        assert outer(wt.tensor([number])).tolist() == [4 * number + 2]


def test_methods(backend: str) -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @wt.function
        def apply(self, x: wt.Tensor) -> wt.Tensor:
            """Multiply."""
            return x * self.factor

    two, three = Scale(2.0), Scale(3.0)
    for _ in range(2):
        assert [two.apply(wt.ones(())).item(), three.apply(wt.ones(())).item()] == [2.0, 3.0]
    assert Scale.apply.__doc__ == two.apply.__doc__ == "Multiply."


def test_methods_of_instances_that_have_no_hash(backend: str) -> None:
    @dataclass
    class Scale:
        factor: float

        @wt.function
        def __call__(self, x: wt.Tensor) -> wt.Tensor:
            return x * self.factor

    scale = Scale(2.0)
    assert [scale(wt.ones(())).item() for _ in range(2)] == [2.0, 2.0]


def test_programs_of_methods_end_with_the_instance(backend: str) -> None:
    class Scale:
        @wt.function
        def apply(self, x: wt.Tensor) -> wt.Tensor:
            return x * factor

    factor = wt.tensor([2.0, 3.0])
    x = wt.ones((2,))
    scale = Scale()
    gc.collect()
    before = wt.memory()["num_bytes"]
    for _ in range(2):
        assert scale.apply(x).tolist() == [2.0, 3.0]
    reference = ref(scale)
    del scale
    gc.collect()
    assert reference() is None
    assert wt.memory()["num_bytes"] == before


def test_methods_of_structures_take_their_tensors_as_arguments(backend: str) -> None:
    class Scale(NamedTuple):
        factor: wt.Tensor

        @wt.function
        def apply(self, x: wt.Tensor) -> wt.Tensor:
            return x * self.factor

    for factor in (2.0, 3.0):
        assert Scale(wt.tensor(factor)).apply(wt.ones(())).item() == factor


def test_gradients_of_captured_functions(backend: str) -> None:
    captured = wt.function(lambda x: wt.sum(x**3))
    x = wt.tensor([1.0, 2.0])
    for _ in range(2):
        assert captured(x).item() == 9.0
        assert wt.grad(captured)(x).tolist() == [3.0, 12.0]
        assert wt.grad(lambda x: wt.sum(wt.grad(captured)(x)))(x).tolist() == [6.0, 12.0]


def test_profiles_show_operations(backend: str) -> None:
    captured = wt.function(lambda x: wt.exp(x) + 1)
    x = wt.tensor([1.0])
    captured(x)
    captured(x)
    assert wt.profile(lambda: captured(x)).kernel_names == ["add", "exp"]


def test_empty_tensors(backend: str) -> None:
    captured = wt.function(lambda x: (x * 2, wt.sum(x), wt.concat([x, wt.ones((1,))])))
    for _ in range(3):
        doubled, total, joined = captured(wt.zeros((0,)))
        assert (doubled.shape, total.item(), joined.tolist()) == ((0,), 0.0, [1.0])


def test_work_that_is_not_needed_is_left_out(backend: str, no_leak: None) -> None:
    def f(x: wt.Tensor) -> wt.Tensor:
        wt.exp(x)
        return wt.sin(x) * wt.sin(x)

    captured = wt.function(f)
    x = wt.tensor([1.0, 2.0])
    captured(x)
    ((kept,),) = captured._programs.values()
    assert kept is not None
    assert kept.program.operations == ["sin", "multiply"]
    captured.clear()


def test_rows_that_are_joined_twice_are_joined_once(backend: str) -> None:
    captured = wt.function(lambda x: (wt.stack([x, wt.exp(x)]), wt.concat([x, wt.exp(x)])))
    captured(wt.tensor([1.0, 2.0]))
    ((kept,),) = captured._programs.values()
    assert kept is not None
    assert kept.program.operations == ["exp", "stack"]


def test_the_oldest_programs_are_dropped(
    backend: str, monkeypatch: pytest.MonkeyPatch, no_leak: None
) -> None:
    monkeypatch.setattr(sys.modules[Function.__module__], "_MAX_PROGRAMS", 2)
    calls = Calls(lambda x, power: x**power)
    captured = wt.function(calls)
    counts = []
    for power in (1, 2, 3, 3, 2, 1):
        assert captured(wt.tensor([2.0]), power).tolist() == [2.0**power]
        counts.append(calls.count)
    assert counts == [1, 2, 3, 3, 3, 4]
    captured.clear()


# -- what cannot be captured ---------------------------------------------------------------------


async def coroutine(x: wt.Tensor) -> wt.Tensor:
    return x


class Slots:
    """An object without a dictionary of attributes."""

    __slots__ = ("x",)

    def __init__(self, x: wt.Tensor) -> None:
        self.x = x

    def get(self) -> wt.Tensor:
        return self.x


@pytest.mark.parametrize(
    "function, match",
    [
        (lambda x: float(wt.sum(x)), "must not read elements"),
        (lambda x: x if wt.sum(x) > 0 else -x, "must not read elements"),
        (wt.nonzero, "must not read elements"),
        (lambda x: wt.tensor(["text"]), None),
        (lambda x: wt.string.string_to_hash_bucket_fast(wt.tensor(["a"]), 3), None),
        (coroutine, "coroutine"),
        (lambda x: (x * i for i in range(2)), "but returned a generator"),
        (lambda x: {x * 2.0}, "but returned a set"),
        (lambda x: SimpleNamespace(y=x * 2.0), "but returned a SimpleNamespace"),
        (lambda x: SimpleNamespace(y=[{"z": x * 2.0}]), "but returned a SimpleNamespace"),
        (lambda x: Slots(x * 2.0), "but returned a Slots"),
        (lambda x: Slots(x * 2.0).get, "but returned a method"),
        (lambda x: partial(wt.add, y=x * 2.0), "but returned a partial"),
        (lambda x: lambda y=x * 2.0: y, "but returned a function"),
        (lambda x: wt.vjp(wt.sin, x), "but returned a function"),
    ],
)
def test_what_is_read_awaited_or_hidden_is_refused(
    backend: str, function: Callable[..., Any], match: str | None, no_leak: None
) -> None:
    x = wt.tensor([1.0, 2.0])
    captured = wt.function(function)
    if match is None:  # it follows from no argument
        captured(x)
    else:
        for _ in range(2):
            with pytest.raises(wt.CaptureError, match=match):
                captured(x)
    captured.clear()
    assert (x * 2).tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "decide",
    [
        lambda x, w: wt.sum(x) > 0.0,
        lambda x, w: float(optimizer.learning_rate) > 0.0,
        lambda x, w: keras.random.SeedGenerator(1).next() >= 0,
    ],
)
def test_what_need_not_be_captured_runs_on(
    backend: str, decide: Callable[[Any, Any], Any], no_leak: None
) -> None:
    w = wt.Variable([1.0])

    def f(x: wt.Tensor) -> wt.Tensor:
        w.assign_add(x)
        optimizer.iterations = optimizer.iterations + 1
        y = x * w if decide(x, w) else x
        w.assign_add(x)
        optimizer.iterations = optimizer.iterations + 1
        return y + wt.random_uniform((1,), seed=1)

    optimizer.iterations = 0
    calls = Calls(f)
    captured = Function(calls, is_strict=False)
    noise = wt.random_uniform((1,), seed=1).item()
    for count in range(1, 4):
        y = captured(wt.tensor([2.0]))
        assert y.item() == pytest.approx(2.0 * (4 * count - 1) + noise)
        assert w.tolist() == [1.0 + 4.0 * count]
        assert int(optimizer.iterations) == 2 * count
    assert calls.count == 3
    captured.clear()


def test_functions_may_be_captured_late(backend: str) -> None:
    calls = Calls(lambda x: x * 2)
    captured = Function(calls, first_runs=2)
    x = wt.ones(())
    assert [captured(x).item() for _ in range(5)] == [2.0] * 5
    assert calls.count == 3
    captured(wt.ones((1,)))
    assert calls.count == 4


def test_bad_arguments(backend: str) -> None:
    with pytest.raises(TypeError, match="f must be callable, but got 3"):
        wt.function(3)  # type: ignore[call-overload]
    captured = wt.function(lambda x, y: x)
    with pytest.raises(TypeError, match="arguments must be tensors, arrays, or values"):
        captured(wt.ones(()), {1, 2})
    with pytest.raises(wt.CaptureError, match="an argument is text"):
        captured(wt.tensor(["a"]), 1)
    x = wt.ones((2,))
    captured(x, 1)
    x.dispose()
    with pytest.raises(ValueError, match="disposed"):
        captured(x, 1)


def test_an_error_leaves_things_as_they_were(backend: str, no_leak: None) -> None:
    w = wt.Variable([1.0])

    def f(x: wt.Tensor) -> wt.Tensor:
        y = x * w
        if fails:
            raise ZeroDivisionError
        w.assign(y)
        return y

    captured = wt.function(f)
    x = wt.tensor([3.0])
    fails = True
    with pytest.raises(ZeroDivisionError):
        captured(x)
    assert (x.tolist(), w.tolist()) == ([3.0], [1.0])
    fails = False
    assert [captured(x).tolist() for _ in range(3)] == [[3.0], [9.0], [27.0]]
    captured.clear()


def test_replays_leak_nothing(backend: str, no_leak: None) -> None:
    def f(x: wt.Tensor) -> wt.Tensor:
        return wt.softmax(wt.matmul(x, x) + wt.random_uniform((8, 8)))

    captured = wt.function(f)
    x = wt.ones((8, 8))
    captured(x)
    before = wt.memory()["backends"][backend]["bytes"]
    for _ in range(200):
        result = captured(x)
    del result
    assert wt.memory()["backends"][backend]["bytes"] <= before + 4 * 64
    del captured
    gc.collect()


def test_programs_keep_constants_of_their_own(backend: str, no_leak: None) -> None:
    captured = wt.function(lambda x: x * 3.25 + 1.75)
    x = wt.ones((3,))
    captured(x)
    before = wt.memory()["num_storages"]
    for number in range(300):  # new numbers replace the oldest among the engine's constants
        wt.dispose(x + (number + 0.125))
    assert wt.memory()["num_storages"] == before
    captured.clear()


def test_where_a_program_has_no_room_the_function_runs(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(program: Any) -> None:
        raise wt.OutOfMemoryError("no room for temporary values")

    monkeypatch.setattr(wt.find_backend(backend), "compiled", full)
    calls = Calls(lambda x: x * 2)
    captured = wt.function(calls)
    assert [captured(wt.ones(())).item() for _ in range(3)] == [2.0] * 3
    assert calls.count == 3


def test_kernels_that_are_replaced(backend: str, request: pytest.FixtureRequest) -> None:
    captured = wt.function(lambda x: wt.softmax(x) * 2)
    x = wt.tensor([0.0])
    assert captured(x).tolist() == [2.0]
    started = wt.find_backend(backend)
    assert started is not None
    own = started.kernels["softmax"]

    def restore() -> None:
        wt.unregister_kernel("softmax", backend)
        started.kernels["softmax"] = own

    request.addfinalizer(restore)
    wt.register_kernel(
        "softmax",
        backend,
        lambda of, inputs, *rest: of.upload(memoryview(array("f", [5.0])), wt.float32),
    )
    assert captured(x).tolist() == [10.0]


# -- random programs -----------------------------------------------------------------------------


def random_program(seed: int, variables: list[wt.Variable]) -> Callable[..., list[wt.Tensor]]:
    """A function of a random graph's inputs, which reads variables and assigns to them."""
    graph = draw_graph(seed)

    def program(*inputs: wt.Tensor) -> list[wt.Tensor]:
        operands = [x + variable for x, variable in zip(inputs, variables, strict=False)]
        operands += inputs[len(operands) :]
        values = compute(graph, operands)
        if graph["is_smooth"]:
            values += wt.grads(lambda *xs: total(graph, list(xs)))(*operands)
        for variable in variables:
            variable.assign(wt.tanh(variable * 0.5 + wt.mean(values[-1]) + wt.mean(values[0])))
        return [*values, wt.random_uniform((2,))]

    return program


def three_calls(seed: int, capture: bool) -> list[list[float]]:
    """What a random program gives for three choices of arguments, and its variables at the end."""
    wt.set_random_seed(seed)
    shapes = [shape for shape, _, _ in draw_graph(seed)["inputs"]]
    variables = [wt.Variable(np.full(shapes[0], 0.25, np.float32)), wt.Variable(0.5)]
    function = random_program(seed, variables)
    captured = wt.function(function)
    results: list[list[float]] = []
    for number in range(3):
        rng = np.random.default_rng([seed, number])
        inputs = [wt.tensor(rng.uniform(-1, 1, shape).astype(np.float32)) for shape in shapes]
        values = captured(*inputs) if capture else function(*inputs)
        results += [value.numpy().ravel().tolist() for value in values]
    captured.clear()
    return results + [variable.numpy().ravel().tolist() for variable in variables]


PROGRAMS = int(os.environ.get("WEBTENSOR_PROGRAMS", "60"))


def test_random_programs(backend: str, no_leak: None) -> None:
    for seed in range(PROGRAMS):
        assert three_calls(seed, True) == three_calls(seed, False), seed
