"""Geometries: how axes are joined, and that slots are found again and replaced in turn."""

from unittest.mock import Mock

import pytest

import webtensor as wt
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.geometries import broadcast_geometry, strided_geometry
from webtensor.dtypes import int32
from webtensor.engine import backend
from webtensor.engine.plans import Plan, run_plan
from webtensor.engine.state import observing
from webtensor.errors import BackendError
from webtensor.views import collapse


def test_dense_axes_become_one() -> None:
    assert collapse((2, 3, 4), (12, 4, 1)) == ([24], [[1]])


def test_axes_of_length_one_vanish() -> None:
    assert collapse((1, 3, 1), (7, 1, 9)) == ([3], [[1]])
    assert collapse((1, 1), (5, 5)) == ([1], [[1]])
    assert collapse((), ()) == ([1], [[1]])


def test_axes_join_only_where_every_operand_allows() -> None:
    assert collapse((2, 3, 4), (12, 4, 1), (0, 4, 1)) == ([2, 12], [[12, 1], [0, 1]])


def test_broadcast_of_a_row_of_a_column_and_of_a_scalar() -> None:
    assert broadcast_geometry((2, 3), (2, 3), (3,)).integers == (2, 2, 3, 3, 1, 0, 1)
    assert broadcast_geometry((2, 3), (2, 3), (2, 1)).integers == (2, 2, 3, 3, 1, 1, 0)
    assert broadcast_geometry((2, 3), (2, 3), ()).integers == (1, 6, 1, 0)


def test_strided_geometry_of_a_transpose() -> None:
    assert strided_geometry((3, 2), (1, 3), 0).integers == (0, 2, 3, 2, 1, 3)


def test_slots_are_found_again(fresh_wasm: WasmBackend) -> None:
    slots = fresh_wasm.geometries
    assert slots.address((1, 2)) == slots.address((1, 2))
    for value in range(2000):
        address = slots.address((value, value + 1))
        assert fresh_wasm.read(address, int32, 2).tolist() == [value, value + 1]
    assert fresh_wasm.read(slots.address((1, 2)), int32, 2).tolist() == [1, 2]


def test_too_many_axes_are_refused(fresh_wasm: WasmBackend) -> None:
    with pytest.raises(BackendError, match="too many axes"):
        fresh_wasm.geometries.address(tuple(range(200)))


def test_a_call_that_was_chosen_in_an_earlier_epoch_has_its_geometry() -> None:
    """Another thread may overwrite geometries after a plan was chosen and before it is run."""
    wt.set_backend("wasm")
    observer = Mock()
    with observing(observer):
        wt.tensor([[1.0, 2.0]]) + wt.tensor([[3.0], [4.0]])
    primitive, inputs, output, attributes = observer.record.call_args.args
    active = backend()
    assert isinstance(active, WasmBackend)
    plan = Plan(active, primitive, inputs, output, attributes)
    for value in range(600):
        active.geometries.address((value, value))
    assert run_plan(plan, inputs).tolist() == [[4.0, 5.0], [5.0, 6.0]]
