"""The benchmarks' networks have the sizes that were published, and are valid ONNX files."""

from math import prod

import onnx
import pytest

from tests_browser.bench.models import MODELS
from tests_browser.bench.onnx_models import onnx_file
from tests_browser.bench.workloads.layer import LAYERS


# Keras's totals, where each normalized channel has three parameters more.
@pytest.mark.parametrize(
    "name, total, normalized_channels",
    [("mobilenet_v1", 4_253_864, 10_944), ("mobilenet_v2", 3_538_984, 17_056)],
)
def test_parameters_are_as_many_as_published(name, total, normalized_channels):
    model = MODELS[name]
    count = sum(prod(tensor.shape) for tensor in model.inputs.values()) - prod(model.image.shape)
    assert count == total - 3 * normalized_channels


@pytest.mark.parametrize("name, millions", [("mobilenet_v1", 569), ("mobilenet_v2", 301)])
def test_multiplications_are_as_many_as_published(name, millions):
    assert round(MODELS[name].multiplications / 1e6) == millions


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


def test_layers_of_their_own_are_the_distinct_ones_of_mobilenets():
    stem = [layer for layer in LAYERS if layer.inputs["weights"].shape == (3, 3, 3, 32)]
    pointwise = [layer for layer in LAYERS if layer.inputs["weights"].shape[:2] == (1, 1)]
    depthwise = [layer for layer in LAYERS if layer.name == "layer.depthwise_conv2d"]
    assert (len(stem), len(pointwise), len(depthwise)) == (1, 9 + 19, 9 + 9)
    assert len(LAYERS) == len(stem + pointwise + depthwise)


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
