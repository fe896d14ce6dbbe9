"""Graphs of the tests give the same in TensorFlow.js, in one page of Chromium.

Our results come from the WASM and the WebGL backend, theirs from their CPU backend.
"""

from __future__ import annotations

import copy
import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.test_ops import BACKENDS
from tests_py.cases import runner
from tests_py.cases.comparison import decoded, difference
from tests_py.graph.cases import CASES
from tests_py.graph.flows import FLOWS
from tests_py.graph.graphs import Array, arrays_of_constants
from tests_py.graph.test_saving import files as quantized_model
from web.build import ROOT
from webtensor.graph.operations import ONLY_HERE

SCRIPT = (ROOT / "tests_browser" / "pages" / "tfjs_graphs.js").read_text()
RUN = (
    Path(runner.__file__).read_text()
    + """
from webtensor.formats.graph_def import graph_of_json
from webtensor.graph.model import GraphModel

async def outcome(graph):
    try:
        model = GraphModel(graph_of_json(graph["topology"], "a model"), {}, "a model")
        feeds = {name: as_tensor(value) for name, value in graph["feeds"].items()}
        results = await model.execute_async(feeds, graph["fetches"])
        return [await encode(result) for result in flat(results)]
    except Exception:
        return {"error": traceback.format_exc()}

wt.set_backend(backend)
[await outcome(graph) for graph in graphs]
"""
)

#: Graphs that TensorFlow.js computes differently or not at all, and why.
DIFFERENCES = [
    # -- they do not have it
    (rf"^({'|'.join(ONLY_HERE)})\b", "nothing computes the operation"),
    (r"^(CheckNumerics|PreventGradient)$", "their converter does not list the operation"),
    (r"^(Stateful)?PartitionedCall$|^function as an operation$", "their converter inlines calls"),
    (r"^GatherV2 texts$", "theirs gather no texts"),
    (r"^DenseBincount of a number$", "theirs take vectors and matrices alone"),
    (r"^Select rows$", "they do not choose rows by a vector"),
    (r"^FusedDepthwiseConv2dNative LeakyRelu$", "they do not read leakyrelu_alpha, and give NaN"),
    # -- channels come last in what their converter writes
    (r" channels first$", "they take the axes of NHWC for strides, windows and channels"),
    # -- theirs follow JavaScript, or leave attributes out
    (r"^EnsureShape$", "they read the shape from an input, which TensorFlow has as an attribute"),
    (r"^ShapeN$", "theirs are float32"),
    (r"^OneHot (first|in the middle)$", "they ignore the axis"),
    (r"^Cum(sum|prod) from the last axis$", "they give no elements for a negative axis"),
    (r"^Div int32$", "their division of integers rounds down; TensorFlow's rounds towards zero"),
    (r"^FloorDiv float32$", "theirs is int32"),
    (r"^(EuclideanNorm|Mean) of integers$", "their mean is float32, their root of floats alone"),
    (r"^BatchMatMulV2 of an adjoint$", "they multiply no complex numbers"),
    (r"^Mod\b", "their remainder has the sign of the divisor; TensorFlow's that of the dividend"),
    (r"^FakeQuantWithMinMaxVars$", "theirs is the identity"),
    (r"^Range of rounded numbers$", "they count them in doubles"),
    (r"^FusedBatchNorm\w* in training", "they normalize by the averages, and return no others"),
    (r"^RFFT shorter$|^IRFFT of odd length$", "they ignore the length"),
    (r"^(Max|Min) of no (numbers|integers)$", "theirs are NaN, or 0"),
    (r"^StaticRegexReplace$", "their groups are called $1; TensorFlow's are \\1"),
    (r"^StringNGrams padded$", "they write attributes in small letters"),
    (r"^NonMaxSuppressionV4 of fewer boxes", "their padding ends at the number of boxes"),
    (r"^NonMaxSuppressionV\d above", "they suppress boxes from the threshold on, copies too"),
    (r"^ResizeNearestNeighbor of", "on the CPU they compute positions in doubles"),
    (r"^StridedSlice a (row in steps|column backwards)$", "theirs mix up strides and axes"),
    (r"^MatrixBandPart\b", "they exchange the numbers of lower and upper diagonals"),
    # -- control flow
    (
        r"^constants? on (both branches|one branch)",
        "they ignore control inputs, and take a constant of the branch that was not taken",
    ),
    (r"^nested loops of 5", "they raise where a loop in a loop comes to its second iteration"),
    (
        r"^nested loops of 1 from a constant$",
        "they raise where a loop in a loop begins with a constant that waits for a NoOp",
    ),
    # -- lists
    (r"^TensorListSplit$", "they take the shape of rows for that of pieces"),
    (r"^TensorListPopBack$|^lists never change$", "they change a list in place"),
    (
        r"^elements that were never set$|^TensorListResize to more$|^empty lists$"
        r"|^TensorListConcatV2 of an empty list$",
        "they raise, as nothing was set; in TensorFlow zeros stand for it",
    ),
    (r"^lists in lists$", "their lists have no lists"),
    (r"^TensorListConcatV2$", "they return no lengths"),
    (r"^TensorListSplit, TensorListGetItem$", "they reshape all pieces to the shape of the first"),
    (r"^TensorListSetItem beyond the end$", "their list has holes then, and no length"),
    (r"^TensorArraySplitV3$", "they split into equal pieces"),
]


@pytest.fixture(scope="module")
def page(tensorflow_page: PlaywrightPythonPage) -> PlaywrightPythonPage:
    """The page with both libraries, and the script above it."""
    tensorflow_page.page.add_script_tag(content=SCRIPT)
    return tensorflow_page


def encoded(array: Array) -> dict[str, Any]:
    """An array as both runners decode it."""
    if array.dtype == object:
        texts = [b64encode(text).decode() for text in array.ravel()]
        return {"dtype": "string", "shape": list(array.shape), "elements": texts}
    elements = b64encode(array.tobytes()).decode()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "elements": elements}


def sent(topology: dict[str, Any], feeds: dict[str, Array], fetches: list[str]) -> dict[str, Any]:
    """A graph as both runners take it; TensorFlow.js reads constants from weights only."""
    weights = [
        {"name": name, **encoded(array)} for name, array in arrays_of_constants(topology).items()
    ]
    inputs = {name: encoded(array) for name, array in feeds.items()}
    return {"topology": topology, "weights": weights, "feeds": inputs, "fetches": fetches}


def is_compared(name: str) -> bool:
    """Whether both libraries should give the same."""
    return not any(re.search(pattern, name) for pattern, _ in DIFFERENCES)


def disagreement(ours: Any, theirs: Any, tolerance: float) -> str | None:
    """Say how results differ; dtypes may, where theirs follow other rules."""
    for whose, results in (("ours", ours), ("theirs", theirs)):
        if isinstance(results, dict):
            return f"{whose} raised {results['error'].strip().splitlines()[-1]}"
    if len(ours) != len(theirs):
        return f"{len(ours)} results, theirs are {len(theirs)}"
    for mine, other in zip(map(decoded, ours), map(decoded, theirs), strict=True):
        if mine.shape != other.shape:
            return f"shape is {mine.shape}, theirs is {other.shape}"
        if mine.dtype != other.dtype:
            return f"dtype is {mine.dtype}, theirs is {other.dtype}"
        size = np.abs(other[np.isfinite(other)]) if other.dtype.kind in "fc" else np.zeros(1)
        allowed = np.full(other.shape, tolerance * float(np.max(size, initial=0.0)))
        wrong = difference(mine, other, allowed)
        if wrong is not None:
            return wrong
    return None


def compare(page: PlaywrightPythonPage, graphs: dict[str, dict[str, Any]], tolerance: float):
    """Check that both libraries agree on graphs."""
    theirs = json.loads(
        page.page.evaluate(
            "(json) => runGraphsWithTensorflow(json)",
            json.dumps([copy.deepcopy(graph) for graph in graphs.values()]),
        )
    )
    wrong = []
    for backend in BACKENDS:
        ours = page.run(RUN, graphs=list(graphs.values()), backend=backend)
        for name, mine, other in zip(graphs, ours, theirs, strict=True):
            differing = disagreement(mine, other, tolerance)
            if differing is not None:
                wrong.append(f"{backend}: {name}: {differing}")
    assert not wrong, "\n".join(wrong)


def test_operations_agree(page: PlaywrightPythonPage):
    graphs = {
        case.name: sent(case.topology(), case.feeds, case.fetches)
        for case in CASES
        if is_compared(case.name)
    }
    compare(page, graphs, 1e-4)


def test_control_flow_agrees(page: PlaywrightPythonPage):
    graphs = {
        flow.name: sent(flow.topology, flow.feeds, list(flow.expected))
        for flow in FLOWS
        if is_compared(flow.name)
    }
    compare(page, graphs, 1e-6)


SAVE = """
from base64 import b64decode
from webtensor import load_graph_model

files = {name: b64decode(data) for name, data in files.items()}
model = load_graph_model(files)
await model.save_async("indexeddb://saved")
(await model.predict_async([[1.0, -2.0]])).tolist()
"""
LOAD = """async () => {
  const model = await tf.loadGraphModel("indexeddb://saved");
  const results = await model.predict(tf.tensor([[1, -2]])).array();
  return [results, model.artifacts.weightSpecs, model.metadata];
}"""


def test_tensorflow_js_loads_what_is_saved(page: PlaywrightPythonPage):
    model_json = json.loads(quantized_model()["model.json"])
    files = {name: b64encode(data).decode() for name, data in quantized_model().items()}
    ours = page.run(SAVE, files=files)
    theirs, weight_specs, metadata = page.page.evaluate(LOAD)
    assert ours == theirs
    assert weight_specs == model_json["weightsManifest"][0]["weights"]
    assert metadata == model_json["userDefinedMetadata"]


def test_every_difference_concerns_a_graph():
    names = [*(case.name for case in CASES), *(flow.name for flow in FLOWS)]
    for pattern, why in DIFFERENCES:
        assert any(re.search(pattern, name) for name in names), (pattern, why)
