"""Computations that are traced: what no graph computes is refused, and nothing stays behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor import keras
from webtensor.convert import convert_model
from webtensor.convert.recording import Recorder, TracedInput, TracedModel, Unknown
from webtensor.convert.sizes import Varying, product
from webtensor.convert.tracing import traced_graph
from webtensor.formats.budgets import Budget
from webtensor.graph.model import GraphModel
from webtensor.graph.nodes import nodes_of

Function = Callable[..., Any]


def traced(
    function: Function, *shapes: tuple[Any, ...], dtype: str = "float32", outputs: int = 1
) -> GraphModel:
    """Return the graph of a function; unknown sizes of a shape are names."""
    inputs = [TracedInput(f"x{index}", dtype, shape) for index, shape in enumerate(shapes)]

    def run(tensors: Any, _: Recorder) -> list[Any]:
        results = function(*tensors)
        return [*results] if isinstance(results, (list, tuple)) else [results]

    names = [f"y{index}" for index in range(outputs)]
    source = traced_graph(TracedModel("function", inputs, names, run, Budget("function")))
    bodies = [source.graph.nodes, *(body.nodes for body in source.graph.functions.values())]
    nodes = [node for body in bodies for node in nodes_of(body, "function").values()]
    weights = {node.name: source.constant(node) for node in nodes if node.op == "Const"}
    return GraphModel(source.graph, weights, "function", signature=source.signature)


def operations(model: GraphModel) -> list[str]:
    return [node.op for node in model._nodes.values() if node.op not in ("Const", "Placeholder")]


X = np.random.default_rng(0).uniform(0.1, 1, (4, 6, 5)).astype("float32")


SIZED: dict[str, tuple[Function, tuple[Any, ...], Function]] = {
    "rows of one axis": (
        lambda x: wt.reshape(x, (-1, x.shape[2])),
        ("batch", 6, 5),
        lambda x: x.reshape(-1, 5),
    ),
    "unknown axes": (
        lambda x: wt.reshape(x, (x.shape[0], x.shape[1] * x.shape[2])),
        ("batch", "length", "width"),
        lambda x: x.reshape(4, 30),
    ),
    "a mean": (
        lambda x: wt.mean(x, 1),
        ("batch", "length", 5),
        lambda x: x.mean(1),
    ),
    "numbers of steps": (
        lambda x: x + wt.reshape(wt.arange(x.shape[1]), (-1, 1)),
        ("batch", "length", 5),
        lambda x: x + np.arange(6).reshape(-1, 1),
    ),
    "the last step": (
        lambda x: x[:, -1] + x[:, x.shape[1] - 2],
        ("batch", "length", 5),
        lambda x: x[:, -1] + x[:, -2],
    ),
    "all but the first": (
        lambda x: wt.slice(x, (0, 1, 0), (x.shape[0], x.shape[1] - 1, 3)),
        ("batch", "length", 5),
        lambda x: x[:, 1:, :3],
    ),
    "every second step": (
        lambda x: x[:, ::2],
        ("batch", "length", 5),
        lambda x: x[:, ::2],
    ),
    "every second step between the first and the last": (
        lambda x: x[:, 1:-1:2],
        ("batch", "length", 5),
        lambda x: x[:, 1:-1:2],
    ),
    "many sorted rows": (
        lambda x: wt.sort(wt.tile(x, (1, 60, 1))),
        ("batch", 6, 5),
        lambda x: np.sort(np.tile(x, (1, 60, 1))),
    ),
    "counts of numbers": (
        lambda x: wt.dense_bincount(wt.astype(x[:, :, 0] * 4, "int32"), None, 4),
        ("batch", "length", 5),
        lambda x: np.array([np.bincount(row, minlength=4) for row in (x[..., 0] * 4).astype(int)]),
    ),
    "ones beside": (
        lambda x: wt.concat([x, wt.ones((x.shape[0], 1, 5))], 1),
        ("batch", "length", 5),
        lambda x: np.concatenate([x, np.ones((4, 1, 5))], 1),
    ),
    "a size beside the number that it is in one run": (
        lambda x: x * x.shape[0] + x * 2,
        ("batch", 6, 5),
        lambda x: x * 6,
    ),
    "a mask of NaN": (
        lambda x: wt.where(x > 0.5, x, wt.full(x.shape, float("nan"))),
        ("batch", "length", 5),
        lambda x: np.where(x > 0.5, x, np.nan),
    ),
    "half of an axis": (
        lambda x: wt.sum(wt.reshape(x[:, :, :4], (x.shape[0], x.shape[1], 2, 2)), 1),
        ("batch", "length", 5),
        lambda x: x[:, :, :4].reshape(4, 6, 2, 2).sum(1),
    ),
    "a wider image": (
        lambda x: wt.image.resize_bilinear(
            wt.expand_dims(x, 3), (2 * x.shape[1], x.shape[2]), half_pixel_centers=False
        ),
        ("batch", "length", 5),
        lambda x: np.stack(
            [
                (x if row % 2 == 0 else (x + np.concatenate([x[:, 1:], x[:, -1:]], 1)) / 2)[
                    :, row // 2
                ]
                for row in range(12)
            ],
            1,
        )[..., None],
    ),
    "half of the rows and one": (
        lambda x: wt.slice(x, (0, 0, 0), (x.shape[0], x.shape[1] // 2 + 1, 5)),
        ("batch", "length", 5),
        lambda x: x[:, :4],
    ),
    "a transform": (
        lambda x: wt.imag(wt.spectral.rfft(x)),
        ("batch", "length", 5),
        lambda x: np.fft.rfft(x).imag,
    ),
    "a transform and its inverse": (
        lambda x: wt.abs(wt.fft.ifft(wt.fft.fft(wt.complex(x, 2 * x)) * (2 - 1j), axis=1)),
        ("batch", "length", 5),
        lambda x: np.abs(np.fft.ifft(np.fft.fft(x + 2j * x) * (2 - 1j), axis=1)),
    ),
    "neighbours": (
        lambda x: wt.avg_pool(wt.expand_dims(x, 3), 3, 2, [[0, 0], [1, 1], [1, 1], [0, 0]]),
        ("batch", "length", 5),
        lambda x: np.stack(
            [
                np.stack(
                    [
                        x[:, max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2].mean((1, 2))
                        for j in (0, 2, 4)
                    ],
                    1,
                )
                for i in (0, 2, 4)
            ],
            1,
        )[..., None],
    ),
}


@pytest.mark.parametrize("name", SIZED)
def test_sizes_are_computed_from_shapes(name: str) -> None:
    function, shape, expected = SIZED[name]
    model: Any = traced(function, shape)
    np.testing.assert_allclose(model.predict(X).numpy(), expected(X), rtol=1e-5)


def halved(x: Any, times: int) -> Any:
    """Return the means of blocks of an image."""
    for _ in range(times):
        x = wt.avg_pool(x, 2, 2)
    return x


def means_of_blocks(x: Any, size: int) -> Any:
    batch, height, width, channels = x.shape
    blocks = x.reshape(batch, height // size, size, width // size, size, channels)
    return blocks.mean((2, 4))


ONES = np.ones((400, 1, 1), "float32")

#: Of small inputs nothing is left, or one element along each axis.
LARGE: dict[str, tuple[Function, tuple[Any, ...], Function, tuple[int, ...]]] = {
    "rows of pixels": (
        lambda x: wt.reshape(halved(x, 5), (x.shape[0], -1, 3)),
        ("batch", "height", "width", 3),
        lambda x: means_of_blocks(x, 32).reshape(x.shape[0], -1, 3),
        (2, 96, 128, 3),
    ),
    "means of images": (
        lambda x: wt.mean(halved(x, 5), (1, 2)),
        ("batch", "height", "width", 3),
        lambda x: x.mean((1, 2)),
        (3, 64, 96, 3),
    ),
    "patches": (
        lambda x: wt.softmax(wt.reshape(wt.avg_pool(x, 16, 16), (x.shape[0], -1))),
        ("batch", "height", "width", 1),
        lambda x: (lambda y: y / y.sum(1, keepdims=True))(
            np.exp(means_of_blocks(x, 16).reshape(x.shape[0], -1))
        ),
        (2, 48, 32, 1),
    ),
    "an image of any width": (
        lambda x: wt.reshape(halved(x, 4), (x.shape[0], -1, 4)),
        ("batch", 32, "width", 2),
        lambda x: means_of_blocks(x, 16).reshape(x.shape[0], -1, 4),
        (2, 32, 160, 2),
    ),
    "an image joined with its blocks": (
        lambda x: (
            halved(x, 5)
            + wt.image.resize_nearest_neighbor(
                halved(x, 6), (x.shape[1] // 32, x.shape[2] // 32), half_pixel_centers=True
            )
        ),
        ("batch", "height", "width", 1),
        lambda x: means_of_blocks(x, 32) + means_of_blocks(x, 64).repeat(2, 1).repeat(2, 2),
        (1, 128, 192, 1),
    ),
    "windows of a signal": (
        lambda x: wt.reshape(
            wt.conv1d(wt.expand_dims(x, 2), wt.tensor(ONES), 160, "valid"), (x.shape[0], -1)
        ),
        ("batch", "samples"),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 400, 1)[:, ::160].sum(2),
        (2, 5000),
    ),
    "a ratio of rates": (
        lambda x: wt.arange((x.shape[1] * 5 + 6) // 7) + 0 * wt.sum(x),
        (1, "samples"),
        lambda x: np.arange(-(-x.shape[1] * 5 // 7)),
        (1, 1001),
    ),
}


@pytest.mark.parametrize("count", [8, 9, 10, 3000, 3001])
def test_a_slice_may_be_all_of_a_tensor_for_some_sizes(count: int) -> None:
    def sums_of_three(x: Any) -> Any:
        padded = wt.pad(wt.expand_dims(x, 2), [[0, 0], [0, 3], [0, 0]])
        sums = wt.conv1d(padded, wt.ones((3, 1, 1)), 3, "valid")
        return wt.slice(sums, (0, 0, 0), (x.shape[0], (x.shape[1] + 2) // 3, 1))

    model: Any = traced(sums_of_three, ("batch", "samples"))
    x = np.random.default_rng(1).random((2, count), np.float32)
    padded = np.pad(x, ((0, 0), (0, -count % 3)))
    expected = padded.reshape(2, -1, 3).sum(2)[..., None]
    np.testing.assert_allclose(model.predict(x).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("name", LARGE)
def test_large_inputs_show_sizes_that_small_ones_do_not(name: str, no_leak: None) -> None:
    function, shape, expected, size = LARGE[name]
    model: Any = traced(function, shape)
    x = np.random.default_rng(1).random(size, np.float32)
    np.testing.assert_allclose(model.predict(x).numpy(), expected(x), rtol=1e-4)
    model.dispose()


def test_what_is_not_needed_is_left_out_and_what_is_known_is_a_constant() -> None:
    def function(x: Any) -> Any:
        wt.exp(x)  # which nothing uses
        return x * wt.sum(wt.tensor([1.0, 2.0]))

    model: Any = traced(function, ("batch", 3))
    assert operations(model) == ["Mul"]
    assert model.predict([[1.0, 2.0, 3.0]]).tolist() == [[3, 6, 9]]


def test_activations_and_means_are_operations_of_their_own() -> None:
    def function(x: Any) -> Any:
        rows = wt.minimum(wt.maximum(x, 0.0), 6.0)
        return wt.mean(wt.softmax(rows), 1, keepdims=True)

    assert {"Relu6", "Softmax", "Mean"} < {*operations(traced(function, ("batch", 3, 4)))}


@pytest.mark.parametrize("mode", ["constant", "reflect", "wrap", "nearest"])
@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_warped_images_are_one_operation(mode: str, interpolation: str) -> None:
    image = np.random.default_rng(1).random((2, 5, 6, 3), np.float32)
    turn = wt.tensor([[0.9, 0.3, -2.3, -0.2, 1.1, 1.7, 0.01, 0.02]])

    def function(x: Any) -> Any:
        return wt.image.transform(x, turn, interpolation, mode, 0.5, (4, 7))

    model: Any = traced(function, (2, "height", "width", 3))
    assert "ImageProjectiveTransformV3" in operations(model)
    expected = function(wt.tensor(image)).numpy()
    np.testing.assert_allclose(model.predict(image).numpy(), expected, atol=1e-5)


def test_outputs_may_be_inputs_and_constants() -> None:
    model: Any = traced(lambda x: (x, wt.tensor([1.0, 2.0]), x), ("batch", 2), outputs=3)
    results = model.predict([[3.0, 4.0]])
    assert [result.tolist() for result in results] == [[[3, 4]], [1, 2], [[3, 4]]]


REFUSED: dict[str, tuple[Function, tuple[Any, ...], str]] = {
    "a choice": (
        lambda x: x + 1 if wt.sum(x).tolist() > 1 else x,
        (3,),
        "values that only the inputs decide",
    ),
    "elements that are not zero": (
        lambda x: wt.argwhere(wt.greater(x, 0.5)),
        (9,),
        "values that only the inputs decide",
    ),
    "a loop over an unknown size": (
        lambda x: wt.stack([wt.exp(part) for part in wt.unstack(x, 1)]),
        (3, "length"),
        "depends on a size that is unknown",
    ),
    "a choice by size": (
        lambda x: wt.exp(x) if x.shape[0] > 2 else wt.sin(x),
        ("batch", 2),
        "depends on a size that is unknown",
    ),
    "a table of an unknown size": (
        lambda x: x + wt.tensor([float(index * index) for index in range(x.shape[0])]),
        ("length",),
        "a constant depends on an unknown size",
    ),
    "random numbers": (
        lambda x: x + wt.random_uniform((3,)),
        (3,),
        "random numbers, which no graph computes",
    ),
    "eigenvalues": (
        lambda x: wt.linalg.eigh(x + wt.transpose(x))[0],
        (3, 3),
        "eigh, which no graph computes",
    ),
    "complex numbers": (lambda x: wt.complex(x, x), (4,), "an output has dtype complex64"),
    "a complex constant of an unknown size": (
        lambda x: wt.abs(wt.complex(x, x) + wt.tensor([1j] * x.shape[0])),
        ("length",),
        "complex64 tensors, which no graph does here",
    ),
    "another computation of images that are small": (
        lambda x: wt.max_pool(x, 3, 1, "same") if x.shape[1] > 10 else x,
        (1, "size", 8, 2),
        "computes something else",
    ),
    "another computation of images that are large": (
        lambda x: wt.max_pool(x, 3, 1, "same") if x.shape[1] < 150 else x,
        (1, "size", 8, 2),
        "computes something else",
    ),
    "windows that are too long": (
        lambda x: wt.mean(wt.conv1d(x, wt.ones((400, 9, 1)), 1, "valid"), 1),
        ("batch", "length", 9),
        "nothing is left of inputs",
    ),
    "no numbers at all": (
        lambda x: wt.sqrt(x - 2),
        ("batch", "length"),
        "no finite number as 'y0'",
    ),
    "a long loop": (
        lambda x: [x := x + 1 for _ in range(70_000)][-1],
        (1,),
        "more than 65,536 nodes",
    ),
    "a list": (lambda x: [[x]], (1,), "is a list of tensors"),
    "an error": (lambda x: wt.reshape(x, (5,)), (3,), "reshape: "),
    "a giant input": (lambda x: x, (1 << 30,), "1,073,741,824 elements"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_graph_computes_is_refused(name: str, no_leak: None) -> None:
    function, shape, message = REFUSED[name]
    with pytest.raises(wt.ModelFormatError, match=message) as caught:
        traced(function, shape)
    assert str(caught.value).startswith("function: ")
    assert len(str(caught.value)) <= 500


def test_a_model_that_counts_its_calls_is_refused() -> None:
    calls: list[float] = []

    def function(x: Any) -> Any:
        calls.append(1.0)
        return x * wt.tensor([float(len(calls)), 2.0])

    with pytest.raises(wt.ModelFormatError, match="on earlier runs"):
        traced(function, (2,))


def test_tensors_can_be_read_after_they_were_traced() -> None:
    results: list[Any] = []

    def function(x: Any) -> Any:
        results.append(wt.exp(x))
        return results[-1]

    traced(function, (2,))
    assert all(len(result.tolist()) == 2 for result in results)


@pytest.mark.parametrize("sizes", [(Unknown("a", 0), Unknown("b", 0)), ("unk__1", "unk__2")])
def test_inputs_of_which_one_size_must_be_that_of_another(sizes: tuple[Any, Any]) -> None:
    inputs = [
        TracedInput(name, "float32", (size, 2))
        for name, size in zip(("a", "b"), sizes, strict=True)
    ]
    run = lambda tensors, _: [wt.concat([tensors[0] * tensors[1], tensors[0]], 1)]  # noqa: E731
    source = traced_graph(TracedModel("pair", inputs, ["y"], run, Budget("pair")))
    assert source.signature.outputs["y"].shape == (None, 4)


def test_loops_over_elements_are_not_checked_with_signals() -> None:
    """A loop of 2,819 steps takes long, and computes nothing that one of 105 does not."""
    layer, lengths = keras.layers.SimpleRNN(2), set[int]()

    def run(x: Any) -> Any:
        lengths.add(x.shape[1])
        return layer(x)

    result: Any = traced(run, ("batch", "length", 5)).predict(X)
    assert 100 < max(lengths) < 200
    np.testing.assert_allclose(result.numpy(), layer(X).numpy(), rtol=1e-5)


def test_inputs_of_one_batch_may_have_different_lengths() -> None:
    inputs = [
        TracedInput(name, "float32", (Unknown(name, 0), Unknown(name, 1))) for name in ("a", "b")
    ]
    run = lambda tensors, _: [wt.stack([wt.mean(x, 1) for x in tensors], 1)]  # noqa: E731
    source = traced_graph(TracedModel("pair", inputs, ["y"], run, Budget("pair")))
    nodes = nodes_of(source.graph.nodes, "pair").values()
    weights = {node.name: source.constant(node) for node in nodes if node.op == "Const"}
    model = GraphModel(source.graph, weights, "pair", signature=source.signature)
    result: Any = model.predict({"a": [[1.0, 2.0, 6.0]], "b": [[4.0, 5.0]]})
    assert result.tolist() == [[3, 4.5]]


@keras.saving.register_keras_serializable()
class SumCell(keras.layers.Layer):
    """A cell whose output is the sum of its inputs."""

    state_size = 3

    def call(self, inputs: Any, states: Any) -> Any:
        total = states[0] + inputs
        return total, [total]


def test_a_layer_that_needs_a_known_length_is_named(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((None, 3)), keras.layers.RNN(SumCell(), name="memory")])
    model.save(tmp_path / "model.keras")
    with pytest.raises(wt.ModelFormatError, match=r"memory/sum_cell: .* size that is unknown"):
        convert_model(tmp_path / "model.keras", tmp_path / "web", output_format="tfjs_graph_model")
    assert not (tmp_path / "web").exists()


def test_models_are_traced_on_webassembly_too(tmp_path: Path, no_leak: None) -> None:
    wt.set_backend("wasm")
    layers = [keras.layers.Conv2D(2, 3, activation="relu"), keras.layers.Flatten()]
    model = keras.Sequential([keras.Input((6, 6, 1)), *layers, keras.layers.Dense(2)])
    model.save(tmp_path / "model.keras")
    convert_model(tmp_path / "model.keras", tmp_path / "web", output_format="tfjs_graph_model")
    x = np.random.default_rng(1).standard_normal((2, 6, 6, 1)).astype("float32")
    graph: Any = wt.load_graph_model(tmp_path / "web")
    expected = model.predict(x, verbose=0)
    np.testing.assert_allclose(graph.predict(x).numpy(), expected, atol=1e-5)
    graph.dispose()


def test_sizes_that_vary() -> None:
    size = Varying((2, 3))
    assert size - 1 == Varying((1, 2))
    assert 7 - size == Varying((5, 4))
    assert size // 2 == 1
    assert product((2, size, size)) == Varying((8, 18))
