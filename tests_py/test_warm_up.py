"""warm_up: a function is called once, with inputs that fit, and nothing is left behind."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

import webtensor as wt


def warm_up(function: Any, *specs: Any) -> None:
    """Warm up from code that awaits nothing."""
    asyncio.run(wt.warm_up(function, *specs))


def seen_by(*specs: Any) -> list[tuple[Any, str]]:
    """Shapes and dtypes of what a function gets for specs."""
    seen: list[tuple[Any, str]] = []
    warm_up(lambda *inputs: seen.extend((x.shape, str(x.dtype)) for x in inputs), *specs)
    return seen


def test_specs_become_zeros(backend: str) -> None:
    got: list[Any] = []
    warm_up(lambda x, y: got.extend((x.tolist(), y.tolist())), (2, 2), ((3,), "int32"))
    assert got == [[[0, 0], [0, 0]], [0, 0, 0]]


@pytest.mark.parametrize(
    "spec, shape, dtype",
    [
        ((2, 3), (2, 3), "float32"),
        ([2, 3], (2, 3), "float32"),
        ((), (), "float32"),
        ((None, 4), (1, 4), "float32"),
        ((0, 4), (0, 4), "float32"),
        (((2,), "bool"), (2,), "bool"),
        (((None,), wt.int32), (1,), "int32"),
        (((), "int32"), (), "int32"),
        (((2,), "complex64"), (2,), "complex64"),
        (((2,), "string"), (2,), "string"),
        (SimpleNamespace(shape=(None, 5), dtype="int32"), (1, 5), "int32"),
    ],
)
def test_specs(spec: Any, shape: tuple[int, ...], dtype: str) -> None:
    assert seen_by(spec) == [(shape, dtype)]


def test_tensors_and_variables_are_passed_themselves() -> None:
    operands = [wt.tensor([1.0, 2.0]), wt.Variable([3])]
    got: list[Any] = []
    warm_up(lambda *inputs: got.extend(inputs), *operands)
    assert got[0] is operands[0]
    assert got[1] is operands[1]


def test_weights_are_on_the_backend_and_nothing_is_left(backend: str) -> None:
    weights = wt.Variable([[1.0, 2.0], [3.0, 4.0]])
    before = wt.memory()
    warm_up(lambda x: wt.relu(wt.matmul(x, weights)), (None, 2))
    after = wt.memory()
    assert weights.device == backend
    for count in ("num_tensors", "num_storages", "num_bytes"):
        assert after[count] == before[count]


def test_coroutine_functions_are_awaited(backend: str) -> None:
    done: list[float] = []

    async def model(x: wt.Tensor) -> None:
        done.extend(await wt.exp(x).data())

    warm_up(model, (2,))
    assert done == [1, 1]


@pytest.mark.parametrize("spec", ["abc", 5, ((2,), "int32", 3), (2.5, 3), {"shape": (2,)}, None])
def test_what_is_no_spec_is_refused(spec: Any) -> None:
    with pytest.raises(TypeError, match="warm_up"):
        warm_up(lambda x: x, spec)


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="warm_up: function must be callable, but got 3"):
        warm_up(3, (2,))


def test_errors_of_the_function_come_out(backend: str) -> None:
    with pytest.raises(ValueError, match="matmul"):
        warm_up(lambda x: wt.matmul(x, x), (2, 3))
