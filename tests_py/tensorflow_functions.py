"""Functions that models of TensorFlow have beside layers, converted: they compute the same here.

`make test-tensorflow` runs these tests in an environment of their own, as `tensorflow_files.py`.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests_py.tensorflow_conversions import Array, close, floats, function, in_order, ours, theirs
from webtensor.convert import convert_model

pytestmark = pytest.mark.filterwarnings("ignore")

Call = Callable[[Any], Any]
MATRICES = floats(3, 4, 4)
DEFINITE = MATRICES @ MATRICES.transpose(0, 2, 1) + 3 * np.eye(4, dtype="float32")


def rows_of(x: Any) -> Any:
    """The elements of a tensor as rows of 1, 2 and more elements."""
    size = tf.size(x)
    return tf.RaggedTensor.from_row_lengths(tf.reshape(x, [-1]), [1, 2, size - 3])


def mapped(x: Any, function: Call, rank: int) -> Any:
    """What a function computes of each row, which is ragged with a rank."""
    kind = tf.RaggedTensorSpec([None] * rank, tf.float32, rank - 1) if rank else tf.float32
    result = tf.map_fn(function, rows_of(x), fn_output_signature=kind)
    return result.to_tensor(-1.0) if rank else result


def decoded(x: Any, merges_repeated: bool = True) -> list[Any]:
    """Labels of steps by CTC, of sequences whose lengths differ, and their scores."""
    lengths = tf.shape(x)[0] - tf.range(tf.shape(x)[1]) % 2
    (labels,), scores = tf.nn.ctc_greedy_decoder(x, lengths, merges_repeated)
    return [tf.cast(tf.sparse.to_dense(labels, default_value=-1), tf.float32), scores]


ARRAYS: dict[str, Call] = {
    "conv3d_transpose": lambda x: tf.nn.conv3d_transpose(
        x[..., None, None], tf.ones([2, 2, 1, 2, 1]), [3, 8, 8, 1, 2], [1, 2, 2, 1, 1]
    ),
    "diag": lambda x: tf.linalg.diag(x[:, 0], k=1),
    "diag_part": tf.linalg.diag_part,
    "eye": lambda x: x + tf.eye(tf.shape(x)[1]),
    "fake_quant": lambda x: tf.quantization.fake_quant_with_min_max_args(x, -1, 1),
    "fake_quant of channels": lambda x: tf.quantization.fake_quant_with_min_max_vars_per_channel(
        x, [-1.0, -2, -0.5, -1], [1.0, 2, 0.7, 1]
    ),
    "gamma functions": lambda x: tf.math.lgamma(x * 9) + tf.math.digamma(x * 9),
    "inverse": tf.linalg.inv,
    "limits of int64": lambda x: tf.minimum(tf.cast(x, tf.int64), tf.int64.max),
    "pseudo-inverse": tf.linalg.pinv,
    "rows mapped to numbers": lambda x: mapped(x, lambda row: tf.reduce_sum(row * row), 0),
    "rows mapped to rows": lambda x: mapped(x, lambda row: row[1:] * 2.0, 1),
    "rows mapped to ragged tensors": lambda x: mapped(
        x, lambda row: tf.RaggedTensor.from_row_lengths(row, [0, tf.size(row), 0]), 2
    ),
    "reverse_sequence": lambda x: tf.reverse_sequence(x, [2, 4, 0], 1, 0),
    "roll by a tensor": lambda x: tf.roll(x, tf.shape(x)[0], 1),
    "logarithms of sums": lambda x: tf.math.cumulative_logsumexp(x, 1, reverse=True),
    "greedy decoding": lambda x: tf.concat(decoded(tf.transpose(x, [1, 0, 2])), 1),
    "greedy decoding with repeated labels": lambda x: tf.concat(decoded(x, False), 1),
    "maxima of a sparse tensor": lambda x: tf.sparse.reduce_max(
        tf.sparse.from_dense(tf.nn.relu(x - 0.5)), 1
    ),
    "maxima at indices": lambda x: tf.tensor_scatter_nd_max(x, [[2], [0], [2]], x),
    "segment_sum": lambda x: tf.math.segment_sum(x, [0, 0, 2]),
    **{
        f"{name} of rows": partial(
            getattr(tf.sparse, name), indices=[2, 0, 2], segment_ids=[0, 0, 2], num_segments=5
        )
        for name in ("segment_mean", "segment_sqrt_n", "segment_sum")
    },
    "square roots of rows": lambda x: tf.sparse.segment_sqrt_n(x, [2, 0, 2], [0, 0, 2]),
    "set_diag": lambda x: tf.linalg.set_diag(x, x[:, 0]),
    "svd": lambda x: tf.linalg.svd(x, compute_uv=False),
    "unsorted_segment_max": lambda x: tf.math.unsorted_segment_max(x, [1, 0, 1], 4),
}
POSITIVE: dict[str, Call] = {
    "cholesky": tf.linalg.cholesky,
    "determinant": tf.linalg.det,
    "least squares": lambda x: tf.linalg.lstsq(x, x[..., :2]),
    "logdet": tf.linalg.logdet,
    "slogdet": lambda x: tf.stack(tf.linalg.slogdet(x)),
    "solve": lambda x: tf.linalg.solve(x, x[..., :2]),
}
IMAGES: dict[str, Call] = {
    "adjust_contrast": lambda x: tf.image.adjust_contrast(x, 1.5),
    "extract_patches": lambda x: tf.image.extract_patches(
        x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
    ),
    "hsv": lambda x: tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(x)),
    "resize bicubic": lambda x: tf.image.resize(x, [5, 12], "bicubic"),
    "resize by a normal distribution": lambda x: tf.image.resize(x, [5, 12], "gaussian"),
    "resize by Mitchell's cubic": lambda x: tf.image.resize(
        x, [5, 12], "mitchellcubic", antialias=True
    ),
    "transform": lambda x: tf.raw_ops.ImageProjectiveTransformV2(
        images=x,
        transforms=[[1.0, 0.1, 0.5, 0.0, 0.9, 1.0, 0.0, 0.01]],
        output_shape=[6, 8],
        interpolation="BILINEAR",
    ),
    "resize lanczos3": lambda x: tf.image.resize(x, [5, 12], "lanczos3"),
    "resize without aliases": lambda x: tf.image.resize(x, [4, 3], antialias=True),
    "non-max suppression that lowers scores": lambda x: tf.raw_ops.NonMaxSuppressionV5(
        boxes=tf.concat([x[0, 0, :, :2], x[0, 0, :, :2] + 1], 1),
        scores=x[0, 0, :, 2],
        max_output_size=9,
        iou_threshold=0.3,
        score_threshold=0.1,
        soft_nms_sigma=0.4,
        pad_to_max_output_size=True,
    )[1],
    "rfft2d": lambda x: tf.abs(tf.signal.rfft2d(x[..., 0])),
}


def gradient(function: Call) -> Call:
    """Differentiate the sum of what a function computes, times its sine."""

    def differentiated(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            total = tf.reduce_sum(y * tf.sin(y))
        return tape.gradient(total, x)

    return differentiated


def of_filter(function: Callable[[Any, Any], Any], *shape: int) -> Call:
    """Differentiate by a filter, to which the input is a constant."""
    return lambda x: gradient(lambda filter: function(x, filter))(tf.constant(floats(*shape)))


FILTER = floats(3, 3, 3, 4)
PADS = [[0, 0], [1, 2], [0, 1], [0, 0]]
GRADIENTS: dict[str, Call] = {
    **{
        name: gradient(getattr(tf.nn, name))
        for name in (
            *("elu", "leaky_relu", "log_softmax", "relu", "relu6", "selu", "sigmoid", "softmax"),
            *("softplus", "softsign", "tanh"),
        )
    },
    "average of windows": gradient(lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME")),
    "bias": of_filter(tf.nn.bias_add, 3),
    "branch": gradient(
        lambda x: tf.cond(tf.reduce_sum(x) > 99, lambda: x * tf.sin(x), lambda: tf.exp(x))
    ),
    "branches in a loop": gradient(
        lambda x: tf.while_loop(
            lambda i, _: i < 3,
            lambda i, y: (
                i + 1,
                tf.cond(tf.reduce_sum(y) > 0, lambda: y * tf.sin(x), lambda: y - x),
            ),
            (0, x),
        )[1]
    ),
    "broadcasts": gradient(lambda x: x + x[:1, :1] * 2 + x[..., :1] - x[0, 0]),
    "concatenation": gradient(lambda x: tf.concat([x, x * 2, x[:, 1:]], 1)),
    "convolution": gradient(lambda x: tf.nn.conv2d(x, FILTER, 2, "SAME")),
    "cross entropy": gradient(
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(tf.ones_like(x)), x)
    ),
    "cross entropy of indices": gradient(
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.argmax(x, -1), x)
    ),
    "depthwise convolution": gradient(
        lambda x: tf.nn.depthwise_conv2d(x, FILTER, [1, 1, 1, 1], "VALID")
    ),
    "depthwise filter": of_filter(
        lambda x, filter: tf.nn.depthwise_conv2d(x, filter, [1, 1, 1, 1], "SAME"), 3, 3, 3, 2
    ),
    "filter": of_filter(lambda x, filter: tf.nn.conv2d(x, filter, 1, "SAME"), 3, 3, 3, 4),
    "loop": gradient(
        lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y) * 2), [0, x])[1]
    ),
    "maximum of windows": gradient(lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME")),
    "mirrored padding": gradient(lambda x: tf.pad(x, PADS, "REFLECT")),
    "normalization": gradient(
        lambda x: tf.compat.v1.nn.fused_batch_norm(
            x, [1.0, 2, 3], [0.0, 1, 2], [0.1, 0.2, 0.3], [1.0, 2, 0.5], is_training=False
        )[0]
    ),
    "normalization of the batch": gradient(
        lambda x: tf.compat.v1.nn.fused_batch_norm(x, [1.0, 2, 3], [0.0, 1, 2])[0]
    ),
    "resize": gradient(lambda x: tf.image.resize(x, [5, 12])),
    "resize nearest": gradient(lambda x: tf.image.resize(x, [5, 12], "nearest")),
    "roots": gradient(lambda x: tf.sqrt(1 + x) + tf.math.rsqrt(1 + x) + tf.math.reciprocal(1 + x)),
    "second derivative": gradient(gradient(lambda x: tf.nn.conv2d(tf.tanh(x), FILTER, 1, "SAME"))),
    "roots at zero": gradient(lambda x: tf.sqrt(x * 0)),
    "slice": gradient(lambda x: x[:, ::2, 1:, 0]),
    "transpose": gradient(lambda x: tf.transpose(x, tf.argsort(tf.shape(x)))),
}
LINES = np.array(
    [b"Hello World, foo", b"", b"a,b,,c", b"  lead trail  ", "ünïcode ÄÖ".encode()], object
)
TEXTS: dict[str, Call] = {
    "as_string": lambda x: tf.strings.as_string(tf.strings.length(x) / 3, precision=2),
    "bytes_split": lambda x: tf.strings.bytes_split(x).to_tensor(),
    "crossed": lambda x: tf.sparse.to_dense(
        tf.sparse.cross_hashed([tf.stack([x, x[::-1]], 1), tf.strings.length(x)[:, None]], 50, 7)
    ),
    "hash": lambda x: tf.strings.to_hash_bucket_strong(x, 100, [3, 4]),
    "join": lambda x: tf.strings.join([x, x], "-"),
    "length": lambda x: tf.strings.length(x, "UTF8_CHAR"),
    "lower": tf.strings.lower,
    "lower characters": lambda x: tf.strings.lower(x, "utf-8"),
    "plus": lambda x: x + "!" + x,
    "reduce_join": lambda x: tf.strings.reduce_join(x, 0, True, separator="|"),
    "regex_full_match": lambda x: tf.strings.regex_full_match(x, r".*\w o.*|\w+ .*"),
    "regex_replace": lambda x: tf.strings.regex_replace(x, r"[[:punct:]\s]|\W$", "_"),
    "split": lambda x: tf.strings.split(x, ",").to_tensor("-"),
    "split once": lambda x: tf.strings.split(x, ",", maxsplit=1).to_tensor("-"),
    "split at white space": lambda x: tf.strings.split(x).to_tensor("-"),
    "strip": tf.strings.strip,
    "substr": lambda x: tf.strings.substr(x, 0, 3, unit="UTF8_CHAR"),
    "to_number": lambda x: tf.strings.to_number(tf.strings.as_string(tf.strings.length(x))),
    "to_sparse": lambda x: tf.strings.split(x).to_sparse().indices,
    "unicode_split": lambda x: tf.strings.unicode_split(x, "UTF-8").to_tensor(),
}
INPUTS: dict[str, tuple[dict[str, Call], Array, Any]] = {
    "gradient": (GRADIENTS, np.random.default_rng(1).uniform(size=(2, 9, 7, 3)), tf.float32),
    "array": (ARRAYS, MATRICES, tf.float32),
    "image": (IMAGES, np.random.default_rng(0).uniform(size=(2, 9, 7, 3)), tf.float32),
    "matrix": (POSITIVE, DEFINITE, tf.float32),
    "text": (TEXTS, LINES, tf.string),
}
FUNCTIONS = {
    f"{family}: {name}": (call, array, dtype)
    for family, (calls, array, dtype) in INPUTS.items()
    for name, call in calls.items()
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, tmp_path: Path) -> None:
    call, array, dtype = FUNCTIONS[name]
    inputs = {"x": array if array.dtype == object else array.astype("float32")}
    signature = [tf.TensorSpec([None] * array.ndim, dtype, "x")]
    if dtype == tf.float32 and array.ndim == 3:
        signature = [tf.TensorSpec([None, 4, 4], dtype, "x")]
    function(signature, lambda _, x: {"y": call(x)})(tmp_path / "saved")
    assert_same(tmp_path, inputs)


def assert_same(folder: Path, inputs: dict[str, Array]) -> None:
    """Convert a SavedModel, and compare what it computes."""
    expected = in_order(theirs(folder / "saved", inputs))
    convert_model(folder / "saved", folder / "web")
    for actual, expected_array in zip(ours(folder / "web", inputs), expected, strict=True):
        close(actual, expected_array)


WORDS = ["the", "cat", "sat", "on", "mat"]
SENTENCES = np.array([[b"The cat sat!"], [b"on; the, mat dog"], [b""]], object)
VECTORIZATIONS: dict[str, dict[str, Any]] = {
    "characters": {"vocabulary": list("abcdefst"), "split": "character"},
    "counts": {"output_mode": "count"},
    "indices": {"output_sequence_length": 6},
    "multi-hot": {"output_mode": "multi_hot"},
    "n-grams": {"vocabulary": [*WORDS, "the cat"], "ngrams": 2},
    "tf-idf": {"output_mode": "tf_idf", "idf_weights": [0.1, 0.2, 0.3, 0.4, 0.5]},
}


@pytest.mark.parametrize("name", VECTORIZATIONS)
def test_text_vectorization(name: str, tmp_path: Path) -> None:
    layer = keras.layers.TextVectorization(**{"vocabulary": WORDS, **VECTORIZATIONS[name]})
    model = keras.Sequential([keras.Input((1,), dtype="string", name="x"), layer])
    model.export(tmp_path / "saved", verbose=False)
    assert_same(tmp_path, {"x": SENTENCES})


def test_vocabulary_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    layer = keras.layers.StringLookup(vocabulary=str(tmp_path / "words.txt"))
    model = keras.Sequential([keras.Input((1,), dtype="string", name="x"), layer])
    model.export(tmp_path / "saved", verbose=False)
    assert_same(tmp_path, {"x": np.array([[b"the"], [b"mat"], [b"dog"]], object)})


class Draws(keras.layers.Layer):  # type: ignore[misc]
    """Random numbers of a seed that each call assigns."""

    def __init__(self) -> None:
        super().__init__()
        self.seed = keras.random.SeedGenerator(1)

    def call(self, x: Any) -> list[Any]:
        random, shape = keras.random, keras.ops.shape(x)
        return [
            random.normal(shape, 1.0, 2.0, seed=self.seed),
            random.uniform(shape, -1.0, 3.0, seed=self.seed),
            random.truncated_normal(shape, 0.0, 2.0, seed=self.seed),
            keras.ops.cast(random.randint(shape, 2, 9, seed=self.seed), "float32"),
            random.dropout(x, 0.3, seed=self.seed),
        ]


def test_random_numbers_of_layers(tmp_path: Path) -> None:
    x = keras.Input((20_000,), name="x")
    keras.Model(x, Draws()(x)).export(tmp_path / "saved", verbose=False)
    inputs = {"x": np.linspace(0, 1, 20_000, dtype="float32")[None]}
    convert_model(tmp_path / "saved", tmp_path / "web")
    first, second = (ours(tmp_path / "web", inputs) for _ in range(2))
    expected = in_order(theirs(tmp_path / "saved", inputs))
    for drawn, others, array in zip(first, second, expected, strict=True):
        assert (drawn != others).any()
        assert drawn.shape == array.shape
        np.testing.assert_allclose(drawn.mean(), array.mean(), atol=0.1)
        np.testing.assert_allclose(drawn.std(), array.std(), atol=0.1)


@pytest.mark.parametrize("salt", [None, 133])
def test_hashing(salt: int | None, tmp_path: Path) -> None:
    layer = keras.layers.Hashing(7, salt=salt)
    model = keras.Sequential([keras.Input((1,), dtype="string", name="x"), layer])
    model.export(tmp_path / "saved", verbose=False)
    assert_same(tmp_path, {"x": SENTENCES})


@pytest.mark.parametrize("mode", ["int", "one_hot"])
def test_hashed_crossing(mode: str, tmp_path: Path) -> None:
    inputs = [keras.Input((1,), dtype=dtype, name=dtype) for dtype in ("string", "int64")]
    outputs = keras.layers.HashedCrossing(7, output_mode=mode)(inputs)
    keras.Model(inputs, outputs).export(tmp_path / "saved", verbose=False)
    assert_same(tmp_path, {"string": SENTENCES, "int64": np.array([[3], [-1], [3]])})
