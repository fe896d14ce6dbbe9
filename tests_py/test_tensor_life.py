"""When tensors die: with their last reference, by dispose, at the end of a tidy."""

import gc
import sys
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import pytest

import webtensor as wt
from tests_py.conftest import counts
from webtensor.dtypes import float32
from webtensor.engine.operands import constant


def alive() -> int:
    return counts()["num_tensors"]


def storages() -> int:
    return counts()["num_storages"]


def held_bytes() -> int:
    return counts()["num_bytes"]


# -- references ---------------------------------------------------------------------------------


def test_a_tensor_is_freed_with_its_last_reference(backend: str) -> None:
    before = counts()
    x = wt.zeros((10, 10))
    assert held_bytes() == before["num_bytes"] + 400
    y = x
    del x
    assert alive() == before["num_tensors"] + 1
    del y
    assert counts() == before


def test_a_tensor_that_was_never_made_is_dropped_quietly(
    monkeypatch: pytest.MonkeyPatch, no_leak: None
) -> None:
    errors: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", errors.append)
    with pytest.raises(TypeError, match="missing 2 required"):
        wt.Tensor([1, 2])  # type: ignore[arg-type, call-arg]
    gc.collect()
    assert not errors


def test_intermediate_results_are_freed_at_once(backend: str) -> None:
    x = wt.ones((100,))
    before = counts()
    y = wt.sum(wt.exp(x) * 2 + 1)
    assert held_bytes() == before["num_bytes"] + 4
    del y
    assert counts() == before


@pytest.mark.parametrize("share", ["reshape", "clone", "expand_dims", "flatten", "squeeze"])
def test_tensors_that_share_elements_count_once(share: str) -> None:
    x = wt.zeros((1, 6))
    before = counts()
    shared = x.reshape((2, 3)) if share == "reshape" else getattr(x, share)()
    assert counts() == {**before, "num_tensors": before["num_tensors"] + 1}
    del x
    assert held_bytes() == before["num_bytes"]
    assert shared.flatten().tolist() == [0.0] * 6


def test_bytes_follow_the_dtype() -> None:
    before = held_bytes()
    kept = [wt.zeros((8,), dtype) for dtype in ("float32", "int32", "bool")]
    assert held_bytes() - before == 32 + 32 + 8
    del kept


def test_constants_kept_for_reuse_are_not_counted(no_leak: None) -> None:
    x = wt.ones((3,))
    for number in range(2000):
        assert (x * number).shape == (3,)


@pytest.mark.parametrize("value", [2.5, -2.5, 0.0, float("inf"), -float("inf")])
def test_a_number_is_a_constant_that_is_reused(value: float) -> None:
    assert constant("add", value, float32) is constant("add", value, float32)


def test_zeros_of_both_signs_are_different_constants() -> None:
    x = wt.tensor([1.0])
    assert [(x / zero).tolist() for zero in (0.0, -0.0, 0.0)] == [[inf], [-inf], [inf]]


# -- dispose ------------------------------------------------------------------------------------


def test_dispose_gives_the_memory_back_at_once(backend: str) -> None:
    before = counts()
    x = wt.zeros((10,))
    x.dispose()
    assert counts() == before
    assert x.is_disposed


def test_disposing_twice_is_harmless() -> None:
    before = counts()
    x = wt.zeros((10,))
    x.dispose()
    x.dispose()
    assert counts() == before


def test_dispose_leaves_tensors_that_share_elements() -> None:
    x = wt.tensor([1.0, 2.0])
    y = x.reshape((2, 1))
    x.dispose()
    assert y.tolist() == [[1.0], [2.0]]


def test_dispose_takes_nested_containers() -> None:
    x, y, z = (wt.zeros((2,)) for _ in range(3))
    wt.dispose({"a": x, "b": [y, (z,)]})
    assert x.is_disposed
    assert y.is_disposed
    assert z.is_disposed


def test_results_outlive_disposed_inputs(backend: str) -> None:
    x = wt.tensor([1.0, 2.0])
    y = x * 2
    x.dispose()
    assert y.tolist() == [2.0, 4.0]


USES = {
    "an op": lambda x: x + 1,
    "an op that copies nothing": lambda x: x.reshape((1, 3)),
    "an op without result elements": lambda x: wt.slice(x, 0, 0),
    "a reduction": wt.sum,
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "data_sync": lambda x: x.data_sync(),
    "size": lambda x: x.size,
    "an index": lambda x: x[0],
    "wt.tensor": wt.tensor,
    "wt.Variable": wt.Variable,
    "a gradient": wt.grad(lambda x: x * x),
    "a cast": lambda x: wt.astype(x, "int32"),
    "concat": lambda x: wt.concat([x, x]),
}


@pytest.mark.parametrize("use", USES)
def test_a_disposed_tensor_says_so(use: str, no_leak: None) -> None:
    x = wt.tensor([1.0, 2.0, 3.0])
    x.dispose()
    with pytest.raises(ValueError, match="disposed"):
        USES[use](x)


def test_a_disposed_tensor_still_has_a_shape_and_a_repr() -> None:
    x = wt.zeros((2, 3))
    x.dispose()
    assert x.shape == (2, 3)
    assert repr(x) == "Tensor(disposed, shape=(2, 3), dtype=float32)"


ALIASES = {
    "sum of a scalar": wt.sum,
    "astype to its own dtype": lambda x: wt.astype(x, "float32"),
    "wt.tensor": wt.tensor,
    "reshape": lambda x: wt.reshape(x, ()),
    "clip without bounds": wt.clip,
    "transpose of a scalar": wt.transpose,
    "broadcast_to its own shape": lambda x: wt.broadcast_to(x, ()),
    "asarray with a copy": lambda x: wt.asarray(x, copy=True),
    "unary plus": lambda x: +x,
    "a gradient that is dy": lambda x: wt.grad(lambda t: t)(0.0, dy=x),
}


@pytest.mark.parametrize("way", ALIASES)
def test_what_an_op_returns_is_a_tensor_of_its_own(way: str) -> None:
    x = wt.tensor(2.0)
    ALIASES[way](x).dispose()
    assert x.tolist() == 2.0


CONSTANTS = {
    "asarray": lambda: wt.asarray(3.0),
    "sum": lambda: wt.sum(3.0),
    "astype": lambda: wt.astype(3.0, "float32"),
    "tensor": lambda: wt.tensor(3.0),
    "clone": lambda: wt.clone(3.0),
    "gradient": lambda: wt.grad(lambda x: x * 1.0)(0.0, dy=3.0),
}


@pytest.mark.parametrize("way", CONSTANTS)
def test_disposing_what_came_from_a_number_spoils_nothing(way: str, no_leak: None) -> None:
    CONSTANTS[way]().dispose()
    assert (wt.tensor([1.0]) + 3.0).tolist() == [4.0]


# -- tidy ---------------------------------------------------------------------------------------


def test_tidy_frees_what_is_not_returned(backend: str) -> None:
    before = alive()
    tensors = []

    def compute() -> wt.Tensor:
        tensors.append(wt.ones((3,)))
        return wt.sum(tensors[0] * 2)

    total = wt.tidy(compute)
    assert tensors[0].is_disposed
    assert total.tolist() == 6.0
    assert alive() == before + 1


def test_tidy_returns_nested_containers() -> None:
    result: dict[str, Any] = wt.tidy(lambda: {"a": [wt.ones(2)], "b": (wt.zeros(2), 5)})
    assert result["a"][0].tolist() == [1.0, 1.0]
    assert result["b"][0].tolist() == [0.0, 0.0]
    assert result["b"][1] == 5


@dataclass
class Pair:
    """Two tensors, in fields."""

    first: wt.Tensor
    second: wt.Tensor


@pytest.mark.parametrize(
    "collect",
    [
        deque,
        frozenset,
        lambda tensors: dict(enumerate(tensors)).values(),
        lambda tensors: [Pair(*tensors)],
    ],
)
def test_tidy_returns_tensors_of_collections(collect: Callable[[list[wt.Tensor]], Any]) -> None:
    x, y = wt.ones(2), wt.zeros(2)
    result = wt.tidy(lambda: collect([x * 2.0, y - 1.0]))
    (pair,) = result if len(result) == 1 else [Pair(*result)]
    assert sorted([pair.first.tolist(), pair.second.tolist()]) == [[-1.0, -1.0], [2.0, 2.0]]


def test_tidy_as_a_block_keeps_what_is_named() -> None:
    with wt.tidy() as scope:
        x = wt.ones(2)
        y = scope.keep(x * 2)
    assert x.is_disposed
    assert y.tolist() == [2.0, 2.0]


def test_tidy_leaves_tensors_from_outside() -> None:
    x = wt.ones(2)
    y = wt.tidy(lambda: x)
    assert y is x
    wt.tidy(lambda: x * 2)
    assert not x.is_disposed


def test_nested_tidies_hand_results_outward() -> None:
    with wt.tidy():
        inner = wt.tidy(lambda: wt.ones(2))
        assert not inner.is_disposed
    assert inner.is_disposed


def test_an_inner_tidy_leaves_the_tensors_of_an_outer_one() -> None:
    with wt.tidy():
        x = wt.ones(2)
        wt.tidy(lambda: x * 2)
        assert not x.is_disposed


def test_tidy_frees_when_the_block_raises(no_leak: None) -> None:
    tensors = []

    def fail() -> None:
        tensors.append(wt.ones(2))
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        wt.tidy(fail)
    assert tensors[0].is_disposed


def test_tidy_takes_cycles(no_leak: None) -> None:
    with wt.tidy():
        knot: list[object] = [wt.ones((100,))]
        knot.append(knot)
        del knot


def test_keep_outlives_the_scope() -> None:
    with wt.tidy():
        x = wt.keep(wt.ones(2))
    assert x.tolist() == [1.0, 1.0]


def test_keep_outlives_every_open_scope() -> None:
    with wt.tidy():
        x = wt.ones(2)
        with wt.tidy():
            wt.keep(x)
            y = wt.keep(wt.zeros(2))
    assert x.tolist() == [1.0, 1.0]
    assert y.tolist() == [0.0, 0.0]


def test_a_scope_lets_go_of_what_it_kept(no_leak: None) -> None:
    with wt.tidy() as scope:
        scope.keep(wt.ones(2))
    assert scope is not None


def test_scopes_that_have_ended_are_forgotten() -> None:
    first = wt.tidy()
    with first:
        pass
    gone = weakref.ref(first)
    del first
    with wt.tidy():
        assert gone() is None


def test_keep_wants_a_tensor() -> None:
    with pytest.raises(TypeError, match="keep: tensor must be a Tensor, but got int"):
        wt.keep(3)  # type: ignore[arg-type]


def test_variables_outlive_scopes(no_leak: None) -> None:
    with wt.tidy():
        v = wt.Variable([1.0, 2.0])
        w = wt.Variable(v * 2)
        v.assign(v + 1)
    assert v.tolist() == [2.0, 3.0]
    assert w.tolist() == [2.0, 4.0]
    del v, w


def test_tidy_inside_a_differentiated_function_keeps_what_gradients_need() -> None:
    def loss(x: wt.Tensor) -> wt.Tensor:
        return wt.tidy(lambda: wt.sum(wt.exp(x) * x))

    assert wt.grad(loss)([0.0, 0.0]).tolist() == [1.0, 1.0]


def test_tidy_around_a_gradient_frees_all_but_the_gradient() -> None:
    x = wt.tensor([1.0, 2.0])
    before = alive()
    gradient = wt.tidy(lambda: wt.grad(lambda x: wt.sum(x * x * x))(x))
    assert gradient.tolist() == [3.0, 12.0]
    assert alive() == before + 1


# -- variables ----------------------------------------------------------------------------------


def test_assigning_frees_the_old_value(backend: str) -> None:
    v = wt.Variable(wt.zeros((10,)))
    before = counts()
    for _ in range(5):
        v.assign(v + 1)
    assert counts() == before
    assert v.tolist() == [5.0] * 10


def test_a_variable_shares_the_tensor_it_was_made_of() -> None:
    x = wt.ones((10,))
    before = storages()
    v = wt.Variable(x)
    assert storages() == before
    x.dispose()
    assert v.tolist() == [1.0] * 10


def test_disposing_a_variable_frees_it(no_leak: None) -> None:
    v = wt.Variable(wt.ones((10,)))
    v.dispose()
    with pytest.raises(ValueError, match="disposed"):
        v + 1


def test_variables_are_numbered_unless_named() -> None:
    assert wt.Variable(1.0, name="w").name == "w"
    assert wt.Variable(1.0).name != wt.Variable(1.0).name


def test_a_variable_shows_itself() -> None:
    v = wt.Variable([1.0, 2.0], trainable=False, name="w")
    assert repr(v) == (
        "Variable(Tensor([1., 2.], shape=(2,), dtype=float32, device=host), name='w', "
        "trainable=False)"
    )


def test_a_variable_reads_like_a_tensor() -> None:
    v = wt.Variable([[1.0, 2.0]])
    assert (v.shape, v.dtype, v.size, v.ndim, len(v)) == ((1, 2), "float32", 2, 2, 1)
    assert float(wt.Variable(2.5)) == 2.5
    assert int(wt.Variable(3)) == 3
    assert bool(wt.Variable(True))
    assert v.sum().tolist() == 3.0
    assert v[0, 1].tolist() == 2.0
    assert (1 - v).tolist() == [[0.0, -1.0]]
    assert (v @ v.T).tolist() == [[5.0]]
