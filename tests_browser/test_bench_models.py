"""The benchmarks' networks have the sizes that were published, and are valid ONNX files."""

from math import prod

import onnx
import pytest

from tests_browser.bench.models import MODELS
from tests_browser.bench.network import Layer
from tests_browser.bench.onnx_models import onnx_file


def multiplications(layer: Layer) -> int:
    """Count products: each number of the result sums as many as one channel's filter is long."""
    if not layer.filter:
        return 0
    depthwise = layer.op == "depthwise_conv2d"
    return prod(layer.shape) * prod(layer.filter[:2] if depthwise else layer.filter[:-1])


# Keras's totals, where each normalized channel has three parameters more.
@pytest.mark.parametrize(
    "name, total, normalized_channels",
    [("mobilenet_v1", 4_253_864, 10_944), ("mobilenet_v2", 3_538_984, 17_056)],
)
def test_parameters_are_as_many_as_published(name, total, normalized_channels):
    model = MODELS[name]
    count = sum(prod(one.shape) for one in model.inputs.values()) - prod(model.image.shape)
    assert count == total - 3 * normalized_channels


@pytest.mark.parametrize("name, millions", [("mobilenet_v1", 569), ("mobilenet_v2", 301)])
def test_multiplications_are_as_many_as_published(name, millions):
    assert round(sum(map(multiplications, MODELS[name].layers)) / 1e6) == millions


@pytest.mark.parametrize(
    "name, shapes",
    [
        ("mobilenet_v1", [(1000,)]),
        ("mobilenet_v2", [(1000,)]),
        ("posenet", [(17, 17, channels) for channels in (17, 34, 32, 32)]),
        ("bodypix", [(17, 17, channels) for channels in (17, 34, 32, 32, 34, 1, 24, 48)]),
        ("blazeface", [(16, 16, 2), (8, 8, 6), (16, 16, 32), (8, 8, 96)]),
        ("facemesh", [(1, 1, 1404), (1, 1, 1)]),
    ],
)
def test_outputs_have_the_published_shapes(name, shapes):
    model = MODELS[name]
    assert [model.layers[number - 1].shape for number in model.outputs] == shapes


@pytest.mark.parametrize("name", MODELS)
def test_no_layer_takes_what_was_freed(name):
    there = {0}
    for number, layer in enumerate(MODELS[name].layers, 1):
        assert there >= set(layer.x)
        there = (there | {number}) - set(layer.frees)
    assert there == {0, *MODELS[name].outputs}


@pytest.mark.parametrize("name", MODELS)
def test_onnx_files_are_valid(name):
    onnx.checker.check_model(onnx_file(MODELS[name]), full_check=True)
