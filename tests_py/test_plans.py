"""Plans: known shapes give what unknown ones give, and bad calls still fail."""

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.engine import plans, state

IMAGE = np.arange(2 * 5 * 5 * 3, dtype=np.float32).reshape(2, 5, 5, 3) / 50
FILTER = np.linspace(-1, 1, 3 * 3 * 3 * 4, dtype=np.float32).reshape(3, 3, 3, 4)


@pytest.fixture
def planned_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The primitives that ran as planned."""
    seen: list[str] = []
    run_plan = plans.run_plan

    def note(plan: plans.Plan, inputs: tuple[wt.Tensor, ...]) -> wt.Tensor:
        seen.append(plan.primitive.name)
        return run_plan(plan, inputs)

    monkeypatch.setattr(plans, "run_plan", note)
    return seen


def test_the_same_shapes_with_other_numbers(backend: str, planned_runs: list[str]) -> None:
    rows = [np.float32(seed) + np.eye(7, 9, dtype=np.float32) for seed in range(5)]
    for a in rows:
        for b in rows:
            got = wt.matmul(wt.tensor(a), wt.tensor(b), transpose_b=True)
            np.testing.assert_allclose(got.numpy(), a @ b.T, rtol=1e-6)
            np.testing.assert_array_equal((wt.tensor(a) - wt.tensor(b)).numpy(), a - b)
    assert planned_runs.count("matmul") >= len(rows) ** 2 - 2


def test_options_have_plans_of_their_own(backend: str) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = wt.tensor(x)
    for _ in range(3):
        for axis in (0, 1, -1, None, (0, 1)):
            for keepdims in (False, True):
                got = wt.sum(tensor, axis, keepdims)
                expected = np.sum(x, axis=axis, keepdims=keepdims)
                np.testing.assert_array_equal(got.numpy(), expected)
                assert got.shape == expected.shape


def test_operands_may_be_one_tensor_or_two(backend: str) -> None:
    a, b = wt.tensor([[1.0, 2.0], [3.0, 4.0]]), wt.tensor([[0.0, 1.0], [1.0, 0.0]])
    for _ in range(3):
        assert wt.matmul(a, a).tolist() == [[7, 10], [15, 22]]
        assert wt.matmul(a, b).tolist() == [[2, 1], [4, 3]]
        assert (a + a).tolist() == [[2, 4], [6, 8]]
        assert (a + b).tolist() == [[1, 3], [4, 4]]


def test_a_product_of_a_tensor_with_itself_is_planned(planned_runs: list[str]) -> None:
    for number in range(4):
        x = wt.tensor([[number + 41.0, 1.0, 2.0]])
        square = (number + 41.0) ** 2 + 5
        assert wt.matmul(x, x, transpose_b=True).tolist() == [[square]]
    assert planned_runs == ["matmul"] * 2


def test_operands_of_three_that_are_the_same(backend: str) -> None:
    a, b = wt.tensor([2.0]), wt.tensor([3.0])
    difference = plans.planned(lambda x, y, z: wt.subtract(x, y))
    for _ in range(2):
        for x, y, z in ((a, a, b), (a, b, a), (b, a, a), (a, a, a), (b, a, b), (a, b, b)):
            assert difference(x, y, z).tolist() == [x.tolist()[0] - y.tolist()[0]]


def test_an_op_of_several_primitives_is_planned(backend: str) -> None:
    calls = []

    @plans.planned
    def normalized(x: wt.Tensor, axis: Any) -> wt.Tensor:
        calls.append(x.shape)
        centered = x - wt.mean(x, axis)
        return wt.reshape(centered * 2.0, (3, 2))

    for seed in range(3):
        x = np.arange(6, dtype=np.float32).reshape(2, 3) + seed
        expected = ((x - x.mean(0)) * 2).reshape(3, 2)
        for call in (normalized, wt.function(normalized)):
            np.testing.assert_allclose(call(wt.tensor(x), [0]).numpy(), expected)
        slopes = wt.grad(lambda x: wt.sum(normalized(x, [0]) * normalized(x, [0])))(wt.tensor(x))
        np.testing.assert_allclose(slopes.numpy(), 8 * (x - x.mean(0)), atol=1e-5)
    assert len(calls) < 6  # the first, and what captures trace


def test_constants_of_a_plan_outlive_scopes(backend: str) -> None:
    for seed in range(3):
        x = wt.tensor([seed, seed + 2.0])
        with wt.tidy():
            assert float(wt.mean(x)) == seed + 1


def test_lists_of_tensors_that_are_the_same(backend: str) -> None:
    a, b = wt.tensor([2.0]), wt.tensor([3.0])
    for _ in range(3):
        for parts in ([a, b], [a, a], [a, b, b], [b, b, a], [a, b, a], (b, a)):
            expected = [part.item() for part in parts]
            assert wt.concat(parts).tolist() == expected
            assert wt.stack(parts, axis=1).tolist() == [expected]


def test_lists_and_tuples_of_options(backend: str) -> None:
    x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(3):
        for sequence in (list, tuple):
            assert wt.flip(x, sequence([0])).tolist() == [[3, 4], [1, 2]]
            assert wt.flip(x, sequence([1])).tolist() == [[2, 1], [4, 3]]
            not_axes: Any = sequence([1.0])
            with pytest.raises(TypeError, match="flip"):
                wt.flip(x, not_axes)


def test_dtypes_are_told_apart(backend: str) -> None:
    whole, real = wt.tensor([1, 2]), wt.tensor([1.5, 2.5])
    for _ in range(3):
        assert (whole + whole).dtype == "int32"
        assert (whole + real).tolist() == [2.5, 4.5]
        assert (whole / whole).dtype == "float32"
        assert (wt.tensor([True, False]) + whole).tolist() == [2, 2]
        assert wt.abs(whole).dtype == "int32"
        assert wt.abs(real).dtype == "float32"
        assert wt.sum(whole, 0).tolist() == 3
        assert wt.sum(real, 0).tolist() == 4
        assert wt.sum(wt.tensor([True, True]), 0).dtype == "int32"


@pytest.mark.parametrize(
    "op, option, equal_option",
    [
        (wt.sum, 1, True),
        (wt.sum, (0, 1), (False, True)),
        (wt.sum, (0, 1), (0.0, 1.0)),
        (wt.pad, ((1, 0),) * 4, ((True, False),) * 4),
    ],
)
def test_what_equals_a_good_option_is_still_refused(
    op: Callable[..., wt.Tensor], option: Any, equal_option: Any, backend: str
) -> None:
    x = wt.tensor(IMAGE)
    op(x, option)
    with pytest.raises(TypeError, match=r"integer"):
        op(x, equal_option)


def test_zeros_have_signs(backend: str) -> None:
    x = wt.tensor([1.0])
    for _ in range(2):
        for zero in (0.0, -0.0):
            padded = wt.pad(x, ((1, 0),), zero).numpy()
            np.testing.assert_array_equal(np.signbit(padded), [np.signbit(zero), False])


def test_lists_among_the_options(backend: str) -> None:
    x, filter = wt.tensor(IMAGE), wt.tensor(FILTER)
    expected = wt.conv2d(x, filter, (2, 1), "same").tolist()
    for _ in range(2):
        assert wt.conv2d(x, filter, [2, 1], "same").tolist() == expected


def test_another_backend_between(planned_runs: list[str]) -> None:
    x = wt.tensor([1.0, -2.0])
    for name in ("numpy", "wasm") * 3:
        wt.set_backend(name)
        y = wt.relu(x) + wt.softmax(x)
        assert y.device == name
        np.testing.assert_allclose(y.numpy(), [1.952574, 0.047426], rtol=1e-5)
    assert wt.softmax(x).device == "wasm"
    assert planned_runs == ["softmax"]


def test_a_call_that_ran_elsewhere_is_planned_later(
    planned_runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = wt.tensor([5.0, -2.0, 1.0, 7.0])
    with monkeypatch.context() as patch:
        patch.delitem(wt.backend().kernels, "softmax")
        assert wt.softmax(x).device == "wasm"
    assert [wt.softmax(x).device for _ in range(2)] == ["numpy"] * 2
    assert planned_runs == ["softmax"]


@pytest.fixture
def relu_of_seven() -> Iterator[None]:
    """A kernel in place of NumPy's own for elementwise functions."""
    from webtensor.engine import backend_registry

    wt.set_backend("numpy")
    started = wt.backend()
    own = started.kernels["unary"]
    backend_registry.add_kernel(
        "numpy", "unary", lambda backend, inputs, shape, dtype, *_: np.full(shape, 7, dtype.name)
    )
    yield
    backend_registry.remove_kernel("numpy", "unary")
    started.kernels["unary"] = own


def test_a_kernel_that_is_replaced(request: pytest.FixtureRequest) -> None:
    wt.set_backend("numpy")
    x = wt.tensor([1.0, -1.0])
    assert [wt.relu(x).tolist() for _ in range(2)] == [[1, 0]] * 2
    request.getfixturevalue("relu_of_seven")
    assert [wt.relu(x).tolist() for _ in range(2)] == [[7, 7]] * 2


def test_gradients_flow_through_planned_calls(backend: str, planned_runs: list[str]) -> None:
    slope = wt.grad(lambda x: wt.sum(wt.matmul(wt.relu(x), x, transpose_b=True)))
    for _ in range(3):
        assert slope(wt.tensor([[1.0, -2.0]])).tolist() == [[2, 0]]
    assert "matmul" in planned_runs


def test_an_op_whose_primitive_takes_another_tensor_is_not_planned(backend: str) -> None:
    own = wt.tensor([10.0, 20.0])

    @plans.planned
    def added_to_own(x: wt.Tensor, y: wt.Tensor) -> wt.Tensor:
        return wt.add(x, own)

    x, y = wt.tensor([1.0, 2.0]), wt.tensor([5.0, 6.0])
    for _ in range(3):
        assert added_to_own(x, y).tolist() == [11, 22]


def test_variables_are_read_anew_and_not_held(backend: str) -> None:
    v = wt.Variable(wt.tensor([[1.0, 2.0]]))
    x = wt.tensor([[1.0], [1.0]])
    assert wt.matmul(v, x).tolist() == [[3]]
    v.assign(wt.tensor([[5.0, 2.0]]))
    assert wt.matmul(v, x).tolist() == [[7]]
    gone = weakref.ref(v)
    del v
    gc.collect()
    assert gone() is None


def test_a_disposed_operand_is_refused(backend: str) -> None:
    x = wt.tensor([1.0, 2.0])
    wt.relu(x)
    wt.softmax(x)
    x.dispose()
    for op in (wt.relu, wt.softmax, lambda x: x + 1.0):
        with pytest.raises(ValueError, match="disposed"):
            op(x)


def test_sums_over_one_element_are_tensors_of_their_own(backend: str) -> None:
    for value in (3.0, 4.0):
        x = wt.tensor([[value]])
        total = wt.sum(x)
        x.dispose()
        assert total.tolist() == value


def test_plans_are_few_and_hold_no_tensor(backend: str) -> None:
    before = wt.memory()["num_tensors"]
    for length in range(1, plans.MAX_PLANS + 100):
        x = wt.ones((length,))
        y = wt.softmax(x)
        del x, y
    assert wt.memory()["num_tensors"] == before


def test_tuples_of_tensors_are_not_kept(backend: str) -> None:
    x = wt.tensor([1.0])
    assert wt.sum((x, x)).item() == 2.0
    reference = weakref.ref(x)
    del x
    assert reference() is None


def test_a_geometry_whose_place_was_taken(backend: str) -> None:
    """More geometries than the WASM backend keeps at a time."""
    images, filters = wt.ones((1, 5, 5, 1)), wt.ones((1, 1, 1, 1))
    with suppress(ValueError, OverflowError):
        wt.conv2d(images, filters, 1, "valid", dilations=10**30)  # has no geometry
    shapes = [(length, 2, 3) for length in range(1, 700)]
    for shape in (*shapes, *shapes[:5], *shapes[-5:], *shapes[:5]):
        x = wt.ones(shape)
        y = x + wt.tensor([[1.0], [2.0]])
        assert float(wt.sum(y)) == shape[0] * (2 + 3) * 3


def test_observers_see_planned_calls(backend: str) -> None:
    x = wt.tensor([[1.0, 2.0]])

    def call() -> wt.Tensor:
        return wt.softmax(wt.relu(x) + x)

    profiles = [wt.profile(call) for _ in range(3)]
    for profile, other in pairwise(profiles):
        assert [kernel.name for kernel in profile.kernels] == [
            kernel.name for kernel in other.kernels
        ]
    assert profiles[-1].kernel_names == ["add", "relu", "softmax"]
    assert state.observers == ()


def test_products_of_two_tensors_are_planned(planned_runs: list[str]) -> None:
    for seed in range(5):
        a, b = np.float32(seed) + np.eye(2, 3), np.eye(3, 5, dtype=np.float32)
        got = wt.matmul(wt.tensor(a), wt.tensor(b))
        np.testing.assert_allclose(got.numpy(), a @ b)
    assert planned_runs.count("matmul") >= 3


def test_calls_are_planned_when_they_are_repeated(planned_runs: list[str]) -> None:
    x = wt.tensor(np.arange(12).reshape(4, 3))
    for _ in range(3):
        for start in range(4):
            assert wt.slice(x, [start, 0], [1, 2]).tolist() == [[3 * start, 3 * start + 1]]
    assert planned_runs == ["slice"] * 4


@pytest.mark.parametrize("name, value", [("zeros", 0), ("ones", 1)])
def test_filled_tensors_are_planned_and_new(
    backend: str, planned_runs: list[str], name: str, value: int
) -> None:
    make = getattr(wt, name)
    for dtype in ("float32", "int32", "bool"):
        _, first, second, third = (make((31, 2), dtype) for _ in range(4))
        assert first.storage is not second.storage
        first.dispose()
        for tensor in (second, third):
            assert tensor.dtype == dtype
            assert tensor.tolist() == [[value, value]] * 31
    assert planned_runs.count("fill") >= 6
    assert [make((shape,)).shape for shape in (1, 2, 1)] == [(1,), (2,), (1,)]
    with pytest.raises(TypeError, match="shape must be integers"):
        make((1.0, 2))


def test_what_needs_no_operand_is_not_planned_as_if_it_did(backend: str) -> None:
    nothing = wt.zeros((0, 3))
    for _ in range(3):
        assert wt.sum(nothing).item() == 0
        assert wt.matmul(nothing, wt.ones((3, 2))).shape == (0, 2)
        assert wt.matmul(wt.zeros((2, 0)), wt.ones((0, 2))).tolist() == [[0, 0], [0, 0]]
        assert wt.max_pool(wt.zeros((0, 4, 4, 1)), 2, 2, "valid").shape == (0, 2, 2, 1)
