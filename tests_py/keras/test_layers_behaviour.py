"""What layers do around their computation, Keras's and ours: each test runs with both."""

from typing import Any

import keras
import numpy as np
import pytest

from tests_py.closeness import assert_close
from webtensor import keras as ours

BOTH = pytest.mark.parametrize("k", [keras, ours], ids=["theirs", "ours"])


# -- built from the beginning --------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "name, args",
    [
        ("Activation", ("relu",)),
        ("Dropout", (0.5,)),
        ("GlobalMaxPooling2D", ()),
        ("Identity", ()),
        ("Masking", ()),
        ("MaxPooling1D", ()),
        ("Softmax", ()),
        ("UnitNormalization", ()),
    ],
)
def test_layers_without_weights_are_built_unless_a_subclass_builds(
    k: Any, name: str, args: tuple[Any, ...]
) -> None:
    kind = getattr(k.layers, name)
    assert kind(*args).built
    building = type("Building", (kind,), {"build": lambda self, input_shape: None})
    assert not building(*args).built


@BOTH
def test_layers_in_a_layer_that_says_its_output_shape_are_built_by_a_symbolic_call(k: Any) -> None:
    class Block(k.layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = k.layers.Dense(3)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

        def compute_output_shape(self, input_shape: Any) -> Any:
            return input_shape

    x = k.Input((3,))
    assert len(k.Model(x, Block()(x)).weights) == 2


# -- masks ---------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("name", ["Add", "Concatenate", "Multiply", "Maximum"])
def test_masks_of_merged_inputs_are_a_list_as_the_inputs_are(k: Any, name: str) -> None:
    layer = getattr(k.layers, name)()
    first, other = k.Input((4, 5)), k.Input((4, 5))
    assert layer.compute_mask([first, other], mask=None) is None
    for inputs, mask in (([first, other], np.ones((2, 4))), (first, [None, None])):
        with pytest.raises(ValueError, match=r"should be a list|must be a list"):
            layer.compute_mask(inputs, mask)
    with pytest.raises(ValueError, match=r"same length|for each of 2 inputs"):
        layer.compute_mask([first, other], [None])


@BOTH
def test_masks_of_symbolic_tensors_are_symbolic(k: Any) -> None:
    x = k.Input((4, 2))
    mask = k.layers.Masking(1.0).compute_mask(x)
    assert (mask.shape, str(mask.dtype)) == ((None, 4), "bool")
    joint = k.layers.Concatenate(axis=1).compute_mask([x, x], [mask, None])
    assert joint.shape == (None, 8)
    either = k.layers.Add().compute_mask([x, x], [mask, mask])
    result = k.Model(x, [joint, either])(k.ops.convert_to_tensor([[[0.0, 1], [1, 1]] * 2]))
    assert np.asarray(result[0]).tolist() == [[True, False] * 2 + [True] * 4]
    assert np.asarray(result[1]).tolist() == [[True, False] * 2]


def test_symbolic_masks_are_arguments_of_layers_in_models() -> None:
    results, table = [], np.arange(15, dtype="float32").reshape(5, 3)
    for k in (keras, ours):
        ids = k.Input((4,), dtype="int32", name="ids")
        embedding = k.layers.Embedding(5, 3, mask_zero=True, weights=[table])
        mean = k.layers.GlobalAveragePooling1D()
        model = k.Model(ids, mean(embedding(ids), mask=embedding.compute_mask(ids)))
        for same in (model, ours.Model.from_config(model.get_config())):
            same.set_weights([table])
            results.append(np.asarray(same(np.array([[1, 2, 0, 0], [3, 0, 0, 4]]))))
    for result in results:
        np.testing.assert_allclose(result, [[4.5, 5.5, 6.5], [10.5, 11.5, 12.5]])


@BOTH
def test_attention_hands_the_mask_of_the_query_on(k: Any) -> None:
    layer, inputs = k.layers.Attention(), [np.ones((2, 3, 4)), np.ones((2, 5, 4))]
    assert layer.compute_mask(inputs=inputs, mask=None) is None
    assert layer.compute_mask(inputs, mask=[None, np.ones((2, 5), bool)]) is None
    mask = np.array([[True, False, True]] * 2)
    np.testing.assert_array_equal(np.asarray(layer.compute_mask(inputs, [mask, mask])), mask)


@BOTH
def test_masking_takes_a_value_for_each_feature(k: Any) -> None:
    layer = k.layers.Masking(k.ops.convert_to_tensor([1.0, 2.0]))
    result = layer(k.ops.convert_to_tensor([[[1.0, 2.0], [1.0, 3.0]]]))
    assert np.asarray(result).tolist() == [[[0.0, 0.0], [1.0, 3.0]]]


# -- shapes --------------------------------------------------------------------------------------


@BOTH
def test_reshape_takes_none_for_a_length_that_is_found_out(k: Any) -> None:
    layer = k.layers.Reshape((None, 4))
    assert layer.compute_output_shape((2, 3, 4)) == (2, None, 4)
    assert layer(np.ones((2, 6, 2))).shape == (2, 3, 4)


@BOTH
def test_equations_of_unknown_lengths_have_a_shape_but_no_kernel(k: Any) -> None:
    layer = k.layers.EinsumDense("abc,cd->abd", (None, 5))
    assert layer.compute_output_shape((2, None, None)) == (2, None, 5)
    with pytest.raises(ValueError, match=r"known|fully-defined"):
        layer(k.Input((3, None)))


@BOTH
@pytest.mark.parametrize("name, args", [("LSTM", (2,)), ("BatchNormalization", ())])
def test_weights_of_unknown_lengths_are_refused(k: Any, name: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"known|fully-defined"):
        getattr(k.layers, name)(*args)(k.Input((3, None)))


@BOTH
@pytest.mark.parametrize(
    "name, args", [("MultiHeadAttention", (2, 3)), ("GroupQueryAttention", (3, 2, 1))]
)
def test_scores_are_returned_where_a_position_asks(k: Any, name: str, args: Any) -> None:
    layer = getattr(k.layers, name)(*args)
    query, value = k.Input((3, 4)), k.Input((3, 4))
    masks = {"query_mask": None, "value_mask": None, "key_mask": None, "attention_mask": None}
    specs = layer.compute_output_spec(query, value, None, *masks.values(), True)
    assert [spec.shape for spec in specs] == [(None, 3, 4), (None, 2, 3, 3)]


@BOTH
def test_layers_of_a_sequential_model_say_which_lengths_fit(k: Any) -> None:
    model = k.Sequential([k.Input((5, 7)), k.layers.Flatten()])
    assert model(np.ones((2, 7, 5))).shape == (2, 35)
    assert model.predict(np.ones((2, 3, 2)), verbose=0).shape == (2, 6)
    with pytest.raises(ValueError, match="shape"):
        model(np.ones((2, 5)))


# -- what subclasses may change -----------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_subclasses_may_convolve_in_their_own_way(k: Any, data_format: str) -> None:
    class Doubled(k.layers.Conv2D):  # type: ignore[misc]
        def convolution_op(self, inputs: Any, kernel: Any) -> Any:
            return super().convolution_op(inputs, kernel * 2)

    ones = {"kernel_initializer": "ones", "bias_initializer": "ones"}
    layer = Doubled(2, 1, activation="relu", data_format=data_format, **ones)
    assert np.unique(layer(np.ones((1, 3, 3, 3), "float32"))).tolist() == [7.0]


# -- attributes and configurations ---------------------------------------------------------------


@BOTH
def test_grouped_query_attention_shows_its_arguments(k: Any) -> None:
    layer = k.layers.GroupQueryAttention(
        3,
        2,
        1,
        dropout=0.1,
        sliding_window=2,
        activity_regularizer="l2",
        kernel_constraint="non_neg",
    )
    assert (layer.dropout, layer.use_bias, layer.use_gate, layer.sliding_window) == (
        0.1,
        True,
        False,
        2,
    )
    assert type(layer.kernel_constraint).__name__ == "NonNeg"
    assert type(layer.activity_regularizer).__name__ == "L2"


@BOTH
def test_bidirectional_keeps_whether_to_use_cudnn(k: Any) -> None:
    bidirectional = k.layers.Bidirectional(k.layers.GRU(1, use_cudnn=False))
    assert bidirectional.forward_layer.use_cudnn is bidirectional.backward_layer.use_cudnn is False
    assert not hasattr(k.layers.SimpleRNN(1), "use_cudnn")


def test_normalized_weights_are_a_vector_and_a_kernel() -> None:
    layer = ours.layers.SpectralNormalization(ours.layers.Dense(3), power_iterations=20)
    layer.build((None, 2))
    kernel = np.arange(6, dtype="float32").reshape(2, 3)
    layer.kernel.assign(kernel)
    vector, divided = map(np.asarray, layer.normalized_weights())
    _, lengths, axes = np.linalg.svd(kernel)
    assert_close(divided, kernel / lengths[0], rtol=1e-4)
    assert_close(np.abs(vector), np.abs(axes[:1]), rtol=1e-3)


def test_symbolic_relu_is_the_operation_of_keras() -> None:
    configs = []
    for k in (keras, ours):
        x = k.Input((3,), name="x")
        model = k.Model(x, k.activations.relu(x, 0.1, max_value=3.0))
        assert len(model.layers) == 1
        result = model(k.ops.convert_to_tensor([[-1.0, 2.0, 5.0]]))
        assert_close(np.asarray(result), [[-0.1, 2.0, 3.0]], rtol=1e-6)
        config = model.get_config()["layers"][1]
        configs.append({key: config[key] for key in ("module", "class_name")})
        configs[-1].update({**config["config"], "name": None})
        again = ours.Model.from_config(model.get_config())
        assert type(again.operations[1]).__name__ == "ReLU"
    assert configs[0] == configs[1]


@BOTH
@pytest.mark.parametrize("value", [None, 1, True, "text"])
@pytest.mark.parametrize("kind", ["array", "tensor", "symbol", "variable"])
def test_attributes_with_elements_are_replaced_by_plain_values(
    k: Any, kind: str, value: Any
) -> None:
    previous = {
        "array": lambda: np.ones(2, "float32"),
        "tensor": lambda: k.ops.ones(2),
        "symbol": lambda: k.KerasTensor((2,)),
        "variable": lambda: k.Variable(np.ones(2, "float32")),
    }
    layer = k.layers.Layer()
    layer.state = previous[kind]()
    layer.state = value
    assert layer.state is value


@pytest.mark.parametrize("k", [keras, ours], ids=["keras", "ours"])
def test_call_makes_no_variables(k: Any):
    class Growing(k.layers.Layer):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            return inputs * self.add_weight(shape=(), initializer="ones")

    for inputs in (np.ones((1, 2), "float32"), k.Input((2,))):
        with pytest.raises(ValueError, match=r"must not make variables|cannot add new elements"):
            Growing()(inputs)


class Scaled(ours.layers.Layer):
    """A layer whose methods have other names for the instance."""

    def build(this, input_shape: Any) -> None:  # noqa: N805
        this.scale = this.add_weight(shape=input_shape[-1:], initializer="ones")

    def call(s, inputs: Any, training: bool = False) -> Any:  # noqa: N805
        return inputs * s.scale * (2.0 if training else 1.0)

    def compute_output_shape(s, input_shape: Any) -> Any:  # noqa: N805
        return input_shape


class Doubled(ours.layers.Layer):
    @staticmethod
    def call(inputs: Any, training: bool = False) -> Any:
        return inputs * (2.0 if training else 1.0)

    @staticmethod
    def compute_output_shape(input_shape: Any) -> Any:
        return input_shape


@pytest.mark.parametrize("cls", [Scaled, Doubled])
def test_methods_need_not_call_the_instance_self(cls: type[ours.layers.Layer]):
    layer = cls()
    inputs = ours.Input((3,))
    model = ours.Model(inputs, layer(inputs))
    x = np.ones((2, 3), "float32")
    for call in (cls(), layer, model):
        assert_close(call(x, training=True).numpy(), 2 * x, rtol=1e-6)
        assert_close(call(x).numpy(), x, rtol=1e-6)


# MixUp of Keras asks JAX for int64.
@pytest.mark.filterwarnings("ignore:.*dtype int64:UserWarning")
@pytest.mark.parametrize(
    "name, argument, value",
    [
        ("MixUp", "alpha", np.float32(0.5)),
        ("MixUp", "alpha", np.int32(1)),
        ("RMSNormalization", "axis", np.int64(-1)),
        ("RMSNormalization", "axis", [np.int64(2), np.int64(3)]),
        ("RandomPerspective", "scale", np.float32(0.5)),
        ("RandomPerspective", "scale", np.int64(1)),
    ],
)
def test_numbers_of_numpy_are_options_of_layers(name: str, argument: str, value: Any) -> None:
    x = np.linspace(-1, 1, 48, dtype="float32").reshape(1, 4, 4, 3)
    results = []
    for k in (keras, ours):
        layer = getattr(k.layers, name)(**{argument: value})
        assert layer.get_config()[argument] == value
        results.append(np.asarray(layer(x)))
    assert results[1].shape == results[0].shape
    if name == "RMSNormalization":
        assert_close(results[1], results[0], 1e-5)


@pytest.mark.parametrize("name", ["GRU", "LSTM", "SimpleRNN"])
def test_a_number_of_units_may_be_numpys(name: str) -> None:
    assert getattr(ours.layers, name)(np.int64(3))(np.ones((1, 2, 4), "float32")).shape == (1, 3)


def test_a_number_of_tokens_may_be_numpys() -> None:
    encoding = ours.layers.CategoryEncoding(np.int64(3))  # type: ignore[arg-type]
    assert encoding([[0, 2]]).tolist() == [[1.0, 0.0, 1.0]]


@pytest.mark.parametrize("name", ["Hashing", "HashedCrossing"])
def test_a_number_of_bins_may_be_numpys(name: str) -> None:
    inputs = [["a"], ["b"]] if name == "Hashing" else (["a", "b"], ["c", "d"])
    layers = [getattr(ours.layers, name)(num_bins=kind(7)) for kind in (int, np.int64)]
    plain, scalar = (np.asarray(layer(inputs)).tolist() for layer in layers)
    assert plain == scalar
    with pytest.raises(ValueError, match="num_bins must be a positive integer"):
        getattr(ours.layers, name)(num_bins=np.int64(0))


@BOTH
def test_mode_is_passed_to_calls_that_name_it_alone(k: Any) -> None:
    class Open(k.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any, **kwargs: Any) -> Any:
            received.append(kwargs)
            return x

    received: list[dict[str, Any]] = []
    layer = Open()
    for kwargs in ({}, {"training": True}, {"other": 1}):
        layer(np.ones((2, 3), "float32"), **kwargs)
    assert received == [{}, {}, {"other": 1}]
