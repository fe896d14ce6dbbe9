"""Graphs of each operation, and those with control flow, compute the same when converted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.cases import CASES, Case
from tests_py.graph.flows import FLOWS, Flow
from tests_py.graph.graphs import Array, arrays_of, model_of, tensor_of
from tests_py.graph.test_operations import assert_alike
from webtensor import io
from webtensor.convert import convert_model


def computed(
    topology: dict[str, Any], feeds: Mapping[str, Array], fetches: Sequence[str], folder: Path
) -> list[Array]:
    """What a graph computes that is saved, converted and loaded."""
    outputs = {f"output{index}": {"name": name} for index, name in enumerate(fetches)}
    artifacts = io.ModelArtifacts(topology, "graph-model", signature={"outputs": outputs})
    io.save_artifacts(artifacts, str(folder / "before"))
    convert_model(folder / "before", folder / "after")
    model = wt.load_graph_model(folder / "after")
    return arrays_of(model.execute({name: tensor_of(value) for name, value in feeds.items()}))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_operation(case: Case, tmp_path: Path) -> None:
    topology = case.topology(range(1, len(case.inputs)))
    feeds = dict([*case.feeds.items()][:1])
    expected = case.expectation()
    if expected is None:
        tensors = {name: tensor_of(value) for name, value in feeds.items()}
        expected = arrays_of(model_of(topology).execute(tensors, case.fetches))
    assert_alike(computed(topology, feeds, case.fetches, tmp_path), expected, case.tolerance)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_flow(flow: Flow, tmp_path: Path) -> None:
    results = computed(flow.topology, flow.feeds, [*flow.expected], tmp_path)
    for result, (name, expected) in zip(results, flow.expected.items(), strict=True):
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype), name
        np.testing.assert_allclose(result, expected, rtol=1e-6, err_msg=name)
