"""Control flow of graphs does what plain Python does."""

import asyncio

import numpy as np
import pytest

from tests_py.graph.flows import FLOWS, Flow
from tests_py.graph.graphs import arrays_of, model_of, tensor_of


def assert_expected(flow: Flow, is_async: bool) -> None:
    """Run a graph, and check what it gives."""
    model = model_of(flow.topology)
    feeds = {name: tensor_of(value) for name, value in flow.feeds.items()}
    names = list(flow.expected)
    for _ in range(2):  # the second run may be that of a block for these shapes
        if is_async:
            results = arrays_of(asyncio.run(model.execute_async(feeds, names)))
        else:
            results = arrays_of(model.execute(feeds, names))
        for result, (name, expected) in zip(results, flow.expected.items(), strict=True):
            assert (result.shape, result.dtype) == (expected.shape, expected.dtype), name
            np.testing.assert_allclose(result, expected, rtol=1e-6, err_msg=name)


def test_a_model_chooses_anew_in_each_run(backend: str):
    by_graph: dict[str, list[Flow]] = {}
    for flow in FLOWS:
        by_graph.setdefault(repr((flow.topology, list(flow.expected))), []).append(flow)
    several = [flows for flows in by_graph.values() if len(flows) > 1]
    assert len(several) > 8
    for flows in several:
        model = model_of(flows[0].topology)
        for flow in flows * 2:
            feeds = {name: tensor_of(value) for name, value in flow.feeds.items()}
            results = arrays_of(model.execute(feeds, list(flow.expected)))
            for result, expected in zip(results, flow.expected.values(), strict=True):
                np.testing.assert_allclose(result, expected, rtol=1e-6, err_msg=flow.name)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_flow(flow: Flow, is_async: bool, backend: str, no_leak: None):
    assert_expected(flow, is_async)


def test_names_of_flows_are_unique():
    names = [flow.name for flow in FLOWS]
    assert sorted(set(names)) == sorted(names)
