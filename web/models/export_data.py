"""Makes the models and pictures that the page ships, at build time.

- `shipped/digits/`, `shipped/digits.keras`: the network of the digits page, trained here on four
  fifths of scikit-learn's digits, as a layers-model of TensorFlow.js and as a file of Keras.
- `shipped/edges/`: Sobel's edges of an image of any size, a graph model of TensorFlow.js.
- `shipped/corners.onnx`: Shi and Tomasi's corners of an image of any size, written by `onnx`.
- `pictures/`: a digit that was not trained on, and a photograph for the other two.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import webtensor as wt
from web.digits.data import CLASSES, INK, SIDE, TEST_SHARE
from web.digits.model import digits_network
from webtensor import keras
from webtensor.formats.graph_def import ElementType, Graph, NodeDef, Signature, TensorInfo
from webtensor.formats.graph_writing import graph_json, signature_json
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.io.folders import files_of_model

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "pkg" / "webtensor"
SOURCES = [
    ROOT / "web" / "digits" / "model.py",
    PACKAGE / "formats",
    PACKAGE / "keras" / "saving",
]

EPOCHS = 12
BATCH = 64
LEARNING_RATE = 0.004
SEED = 3
#: Which of scikit-learn's digits the page shows; the last ones are not trained on.
SHOWN_DIGIT = -13
PHOTOGRAPH_SIZE = (320, 213)
OPSET = 18
#: The versions of the format that wrote the graph, and that can read it.
GRAPH_VERSIONS = (1645, 12)

Array = NDArray[np.float32]

# -- filters, as arrays of (height, width, input channels, output channels) ----------------------

LUMINANCE = np.reshape([0.299, 0.587, 0.114], (1, 1, 3, 1)).astype("float32")
_SLOPE = np.outer([1, 2, 1], [-1, 0, 1]) / 8
#: The derivatives along the width and along the height.
SOBEL = np.stack([_SLOPE, _SLOPE.T], axis=-1)[:, :, None].astype("float32")


def gaussian(radius: int) -> Array:
    """Return the weights of a Gaussian window of shape (size, size), whose sum is 1."""
    distances = np.arange(-radius, radius + 1)
    line = np.exp(-2 * (distances / radius) ** 2)
    window = np.outer(line, line)
    weights: Array = (window / window.sum()).astype("float32")
    return weights


# -- the digits' network -------------------------------------------------------------------------


def trained_network() -> keras.Sequential:
    """Return the digits' network with a softmax at its end, trained on most of the digits."""
    images, labels = digits()
    count = len(labels) - int(len(labels) * TEST_SHARE)
    network = digits_network(SEED)
    network.compile(
        keras.optimizers.Adam(LEARNING_RATE),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    keras.utils.set_random_seed(SEED)
    network.fit(images[:count], labels[:count], batch_size=BATCH, epochs=EPOCHS, verbose=0)
    # A model of its own: the optimizer's variables are not shipped.
    layers: list[keras.layers.Layer | keras.KerasTensor] = [
        keras.Input((SIDE, SIDE, 1)),
        *network.layers,
        keras.layers.Softmax(),
    ]
    return keras.Sequential(layers, name="digits")


def digits() -> tuple[Array, NDArray[np.int32]]:
    """Return the images, of shape (count, 8, 8, 1), and their labels."""
    from sklearn.datasets import load_digits  # slow to import

    loaded = load_digits()
    assert loaded.images.shape[1:] == (SIDE, SIDE)
    assert loaded.target.max() == CLASSES - 1
    return loaded.images[..., None].astype("float32"), loaded.target.astype("int32")


# -- edges, as a graph of TensorFlow -------------------------------------------------------------


def edges_model() -> ModelArtifacts:
    """Return the graph model of edges: the length of the gradient of a blurred image."""
    floats = {"T": ElementType("float32")}
    convolution = {
        **floats,
        "strides": [1, 1, 1, 1],
        "dilations": [1, 1, 1, 1],
        "padding": b"VALID",
        "data_format": b"NHWC",
    }
    weights = {
        "luminance": LUMINANCE,
        "window": gaussian(2)[:, :, None, None],
        "sobel": SOBEL,
        "border": np.array([[0, 0], [3, 3], [3, 3], [0, 0]], "int32"),
        "channels": np.array(3, "int32"),
    }
    shape = (None, None, None, 3)
    nodes = [
        _node("image", "Placeholder", [], {"dtype": ElementType("float32"), "shape": shape}),
        *(
            _node(name, "Const", [], {"dtype": ElementType(str(value.dtype))})
            for name, value in weights.items()
        ),
        _node("grey", "Conv2D", ["image", "luminance"], convolution),
        _node("bordered", "MirrorPad", ["grey", "border"], {**floats, "mode": b"REFLECT"}),
        _node("blurred", "DepthwiseConv2dNative", ["bordered", "window"], convolution),
        _node("slopes", "Conv2D", ["blurred", "sobel"], convolution),
        _node("squares", "Square", ["slopes"], floats),
        _node("sum", "Sum", ["squares", "channels"], {**floats, "keep_dims": True}),
        _node("edges", "Sqrt", ["sum"], floats),
    ]
    tensors = {name: wt.tensor(value) for name, value in weights.items()}
    encoded = wt.io.encode_weights(tensors)
    return ModelArtifacts(
        graph_json(Graph(tuple(nodes), {}, {}, *GRAPH_VERSIONS)),
        format="graph-model",
        generated_by="webtensor",
        signature=signature_json(
            Signature(
                {"image": TensorInfo(("image:0",), "float32", shape)},
                {"edges": TensorInfo(("edges:0",), "float32", (None, None, None, 1))},
            )
        ),
        weight_specs=encoded.specs,
        weight_data=encoded.data,
    )


def _node(name: str, op: str, inputs: list[str], attributes: dict[str, Any]) -> NodeDef:
    return NodeDef(name, op, tuple(inputs), attributes, "")


# -- corners, as a graph of ONNX -----------------------------------------------------------------


#: The nodes of the model of corners: their operators, inputs, outputs and attributes.
CORNER_NODES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("Conv", "image luminance", "grey", {}),
    ("Pad", "grey border_1", "bordered", {"mode": "reflect"}),
    ("Conv", "bordered sobel", "slopes", {}),
    ("Split", "slopes", "x y", {"axis": 1, "num_outputs": 2}),
    ("Mul", "x x", "xx", {}),
    ("Mul", "y y", "yy", {}),
    ("Mul", "x y", "xy", {}),
    ("Concat", "xx yy xy", "products", {"axis": 1}),
    ("Pad", "products border_3", "bordered_products", {"mode": "reflect"}),
    ("Conv", "bordered_products window", "structure", {"group": 3}),
    ("Split", "structure", "a c b", {"axis": 1, "num_outputs": 3}),
    ("Add", "a c", "trace", {}),
    ("Sub", "a c", "difference", {}),
    ("Mul", "difference half", "half_difference", {}),
    ("Mul", "half_difference half_difference", "square", {}),
    ("Mul", "b b", "b_square", {}),
    ("Add", "square b_square", "discriminant", {}),
    ("Sqrt", "discriminant", "radius", {}),
    ("Mul", "trace half", "mean", {}),
    ("Sub", "mean radius", "lesser", {}),
    ("Relu", "lesser", "positive", {}),
    ("Sqrt", "positive", "corners", {}),
)


def corners_model() -> bytes:
    """Return the ONNX model of corners: the root of the structure tensor's lesser eigenvalue."""
    from onnx import TensorProto, checker, helper, numpy_helper  # slow to import

    def first_channels(filter: Array) -> Array:
        return np.ascontiguousarray(filter.transpose(3, 2, 0, 1))

    window = np.broadcast_to(gaussian(3), (3, 1, 7, 7))
    initializers = {
        "luminance": first_channels(LUMINANCE),
        "sobel": first_channels(SOBEL),
        "window": np.ascontiguousarray(window),
        "border_1": np.array([0, 0, 1, 1, 0, 0, 1, 1], "int64"),
        "border_3": np.array([0, 0, 3, 3, 0, 0, 3, 3], "int64"),
        "half": np.array(0.5, "float32"),
    }
    nodes = [
        helper.make_node(op, inputs.split(), outputs.split(), **attributes)
        for op, inputs, outputs, attributes in CORNER_NODES
    ]
    image = helper.make_tensor_value_info(
        "image", TensorProto.FLOAT, ["batch", 3, "height", "width"]
    )
    corners = helper.make_tensor_value_info(
        "corners", TensorProto.FLOAT, ["batch", 1, "height", "width"]
    )
    graph = helper.make_graph(
        nodes,
        "corners",
        [image],
        [corners],
        [numpy_helper.from_array(value, name) for name, value in initializers.items()],
    )
    model = helper.make_model(
        graph,
        producer_name="webtensor",
        ir_version=8,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    checker.check_model(model, full_check=True)
    data: bytes = model.SerializeToString()
    return data


# -- pictures ------------------------------------------------------------------------------------


def write_pictures(folder: Path) -> None:
    """Write a digit, and scikit-learn's photograph of a temple, made smaller."""
    from PIL import Image
    from sklearn.datasets import load_sample_image

    folder.mkdir()
    images, _ = digits()
    levels = np.round(255 * (1 - images[SHOWN_DIGIT, :, :, 0] / INK)).astype("uint8")
    Image.fromarray(levels).save(folder / "digit.png")
    photograph = Image.fromarray(load_sample_image("china.jpg"))
    smaller = photograph.resize(PHOTOGRAPH_SIZE, Image.Resampling.LANCZOS)
    smaller.save(folder / "temple.jpg", quality=85, optimize=True)


@contextmanager
def computing_fast() -> Iterator[None]:
    """Compute on WebAssembly where that is available: training takes a fifth of NumPy's time."""
    before = wt.get_backend()
    wt.set_backend(wt.available_backends()[-1])
    try:
        yield
    finally:
        wt.set_backend(before)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new folder."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def export(output_dir: Path) -> None:
    """Write the models and the pictures into a folder."""
    shipped = output_dir / "shipped"
    shipped.mkdir()
    with computing_fast():
        network = trained_network()
        write_files(shipped / "digits", keras.saving.layers_model_files(network))
        network.save(shipped / "digits.keras")
    write_files(shipped / "edges", files_of_model(edges_model()))
    (shipped / "corners.onnx").write_bytes(corners_model())
    write_pictures(output_dir / "pictures")
