"""The layers that everything is made of beside Keras's, and what is refused."""

from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

DENSE: list[dict[str, Any]] = [
    {"units": 3},
    {"units": 2, "activation": "relu"},
    {"units": 4, "activation": "softmax", "use_bias": False},
    {"units": 1, "activation": "elu", "kernel_regularizer": "l2", "bias_constraint": "non_neg"},
    {"units": 2, "activation": "gelu", "kernel_initializer": "he_normal", "name": "last"},
]

#: Equation, output shape, axes of the bias, shape of the inputs.
EINSUM: list[tuple[str, Any, str | None, tuple[int, ...]]] = [
    ("ab,bc->ac", 4, None, (2, 3)),
    ("ab,bc->ac", 4, "c", (2, 3)),
    ("abc,cd->abd", (None, 4), "d", (2, 5, 3)),
    ("abc,cde->abde", (None, 2, 4), "de", (2, 5, 3)),
    ("abc,cde->abde", (None, 2, 4), "e", (2, 5, 3)),
    ("abc,cde->abde", (None, 2, 4), "d", (2, 5, 3)),
    ("abcd,cde->abe", (None, 4), "e", (2, 5, 2, 3)),
    ("abcd,bde->abce", (3, 5, 2), "be", (2, 3, 5, 4)),
    ("abc,cd->adb", (4, 5), "d", (2, 5, 3)),
    ("...x,xy->...y", 4, "y", (2, 3)),
    ("...x,xy->...y", 4, "y", (2, 5, 3)),
    ("...ab,abc->...c", 4, None, (2, 5, 2, 3)),
    ("ab...,bc->ac...", 4, "c", (2, 3, 5)),
    ("ab...,bc->ac...", 4, None, (2, 3)),
]


def doubled(x: Any) -> Any:
    """A function with a name."""
    return x * 2


CASES = [
    *(Case("Dense", config, shape) for config in DENSE for shape in [(2, 3), (2, 3, 4)]),
    *(
        Case(
            "EinsumDense",
            {"equation": equation_input, "output_shape": output, "bias_axes": axes},
            shape,
        )
        for equation_input, output, axes, shape in EINSUM
    ),
    Case(
        "EinsumDense",
        {
            "equation": "abc,cd->abd",
            "output_shape": (None, 4),
            "bias_axes": "d",
            "activation": "relu",
            "kernel_regularizer": "l1",
            "kernel_initializer": "lecun_normal",
        },
        (2, 5, 3),
    ),
    Case("Activation", {"activation": "relu"}, (2, 3)),
    Case("Activation", {"activation": "softmax"}, (2, 3, 4)),
    Case("Activation", {"activation": None}, (2, 3)),
    Case("Identity", {}, (2, 3)),
    Case("Identity", {}, np.arange(6, dtype="int32").reshape(2, 3)),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


# -- Dense ---------------------------------------------------------------------------------------


def test_an_activation_set_later_is_taken() -> None:
    layer = ours.layers.Dense(2, activation="relu", kernel_initializer="ones")
    assert layer([[-1.0, -2.0]]).tolist() == [[0.0, 0.0]]
    layer.activation = ours.activations.linear
    assert layer([[-1.0, -2.0]]).tolist() == [[-3.0, -3.0]]
    layer.activation = None  # type: ignore[assignment]
    assert layer([[-1.0, -2.0]]).tolist() == [[-3.0, -3.0]]


def test_no_examples() -> None:
    assert ours.layers.Dense(3)(wt.zeros((0, 2))).shape == (0, 3)
    assert ours.layers.Dense(3, activation="relu")(wt.zeros((0, 4, 2))).shape == (0, 4, 3)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("Dense", {"units": 0}, "Dense: units must be a positive integer, but got 0"),
    ("Dense", {"units": 2.5}, "Dense: units must be a positive integer, but got 2.5"),
    ("Dense", {"units": 2, "quantization_config": 1}, "no quantization"),
    ("Dense", {"units": 2, "unit": 2}, "Dense: unknown argument 'unit'; did you mean 'units'?"),
    ("Activation", {"activation": "rleu"}, "did you mean 'relu'"),
    ("EinsumDense", {"equation": "ab,bc", "output_shape": 3}, "equation must be like"),
    ("EinsumDense", {"equation": "...a...,ab->...b...", "output_shape": 3}, "must be like"),
]


@pytest.mark.parametrize("name, config, message", REFUSED)
def test_refused(name: str, config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(ours.layers, name)(**config)


@pytest.mark.parametrize(
    "name, config, message",
    [
        ("Dense", {"unit": 3}, "^Dense: unknown argument 'unit'; did you mean 'units'\\?$"),
        ("Conv2D", {"filter": 3, "kernel_size": 2}, "^Conv2D: unknown argument 'filter'; did you"),
        ("LSTM", {"q": 3}, "^LSTM: unknown argument 'q'$"),
        ("Bidirectional", {"lyer": None}, "did you mean 'layer'"),
    ],
)
def test_a_misspelt_required_argument_is_named(
    name: str, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        getattr(ours.layers, name)(**config)


@pytest.mark.parametrize(
    "name, config, message",
    [
        ("AveragePooling1D", {}, r"^AveragePooling1D\(\) missing 1 .* 'pool_size'; its signature"),
        ("Attention", {"dropout": "a"}, r"^Attention: .* \(called with dropout='a'\)$"),
        ("BatchNormalization", {"axis": "a"}, r"^BatchNormalization: .* \(called with axis='a'\)$"),
        ("BatchNormalization", {"axis": 7}, r"^BatchNormalization: .* \(called with axis=7\)$"),
        ("Conv1D", {"filters": 2, "kernel_size": np.ones(2, int)}, "^Conv1D: kernel_size must be"),
        ("Conv1D", {"filters": 2, "kernel_size": int}, "^Conv1D: kernel_size must be a positive"),
        ("Conv1D", {"filters": 2, "kernel_size": 3, "activation": "x"}, "^Conv1D: activation"),
        ("Cropping1D", {"cropping": wt.tensor(0.5)}, "^Cropping1D: cropping must be a non-neg"),
        ("GroupNormalization", {"axis": "a"}, "^GroupNormalization: axis must be an integer, but"),
        ("PReLU", {"shared_axes": 7}, r"^PReLU: .* \(called with shared_axes=7\)$"),
    ],
)
def test_errors_name_the_layer_and_its_argument(
    name: str, config: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(ours.layers, name)(**config)(wt.zeros((1, 4, 3)))


def test_errors_of_inherited_constructors_name_the_class_of_the_library() -> None:
    class Convolution(ours.layers.Conv2D):
        def __init__(self, activation: str) -> None:
            super().__init__(2, 3, activation=activation)

    with pytest.raises(
        ValueError, match=r"^Conv2D: activation 'x' is not known \(called with filters=2"
    ):
        Convolution("x")


def test_a_missing_argument_is_reported_as_python_does() -> None:
    with pytest.raises(TypeError, match="units"):
        ours.layers.Dense()  # type: ignore[call-arg]


def test_refused_inputs_of_dense() -> None:
    with pytest.raises(ValueError, match="the last axis of the inputs must have a known size"):
        ours.layers.Dense(2)(ours.Input((None,)))
    layer = ours.layers.Dense(2)
    layer(wt.zeros((1, 3)))
    with pytest.raises(ValueError, match="4"):
        layer(wt.zeros((1, 4)))


# -- EinsumDense ---------------------------------------------------------------------------------

#: Equation, output shape, axes of the bias, message.
WRONG: list[tuple[str, Any, str | None, str]] = [
    ("abc,cd->abd", (4, 2), None, "axis 'b' has size 5 in the inputs, but 4 in output_shape"),
    ("abc,cd->abde", (None, 4, 2), None, "axis 'e' of the result is neither one of the inputs"),
    ("abc,cde->abd", (None, 4), None, r"sizes of the kernel, \[3, 4, None\], must be known"),
    ("abc,cd->abd", (None, 4), "c", "bias_axes has axis 'c', which the result, 'abd', has not"),
    ("ab,bc->ac", 4, None, r"do not fit inputs of shape \(None, 5, 3\)"),
    ("abc,cd->abd", 4, None, r"do not fit inputs of shape .* output_shape=\(4,\)"),
]


@pytest.mark.parametrize("equation, output_shape, bias_axes, message", WRONG)
def test_refused_inputs_of_einsum_dense(
    equation: str, output_shape: Any, bias_axes: str | None, message: str
) -> None:
    layer = ours.layers.EinsumDense(equation, output_shape, bias_axes=bias_axes)
    with pytest.raises(ValueError, match=message):
        layer(ours.Input((5, 3)))


def test_shape_of_several_axes_that_dots_stand_for() -> None:
    # Keras 3.15.1 says (None, 2, 5, 4), but computes this, too.
    layer = ours.layers.EinsumDense("...x,xy->...y", 4)
    assert layer(ours.Input((5, 2, 3))).shape == (None, 5, 2, 4)
    assert layer(wt.zeros((1, 5, 2, 3))).shape == (1, 5, 2, 4)


@pytest.mark.parametrize("kind", ["glorot_uniform", "he_normal", "variance_scaling"])
def test_kernels_of_einsum_dense_begin_with_the_variance_of_their_axes(kind: str) -> None:
    config = {"equation": "abc,cde->abde", "output_shape": (None, 40, 5)}
    deviations = []
    for module in (ours, keras):
        layer = module.layers.EinsumDense(**config, kernel_initializer=kind)
        layer.build((None, 7, 100))
        deviations.append(np.asarray(layer.kernel.value).std())
    assert_close(deviations[0], deviations[1], rtol=0.05)


# -- Lambda --------------------------------------------------------------------------------------


def test_lambda_computes() -> None:
    layer = ours.layers.Lambda(lambda x, factor: x * factor, arguments={"factor": 3})
    assert layer([[1.0, 2.0]]).tolist() == [[3.0, 6.0]]
    assert layer(ours.Input((4,))).shape == (None, 4)
    assert layer.compute_output_shape((None, 4)) == (None, 4)
    assert ours.layers.Lambda(lambda x: [x, x[:, :1]])(ours.Input((4,)))[1].shape == (None, 1)


def test_output_shapes_of_lambda() -> None:
    fixed = ours.layers.Lambda(doubled, output_shape=(7,))
    assert fixed(ours.Input((4,))).shape == (None, 7)
    inferred = ours.layers.Lambda(doubled, output_shape=lambda shape: (*shape, 2))
    assert inferred.compute_output_shape((None, 4)) == (None, 4, 2)


def test_lambda_is_given_masks_and_training() -> None:
    def chosen(x: Any, mask: Any = None, training: Any = None) -> Any:
        return x * (2 if training else 1) * (1 if mask is None else 5)

    layer = ours.layers.Lambda(chosen, mask=lambda inputs, mask: mask)
    x = wt.ones((1, 1))
    assert layer(x).item() == 1
    assert layer(x, training=True).item() == 2
    x._keras_mask = wt.tensor([True])
    result = layer(x)
    assert result.item() == 5
    assert result._keras_mask.tolist() == [True]


def test_configurations_of_lambda() -> None:
    with ours.saving.custom_object_scope({"doubled": doubled}):
        layer = ours.layers.Lambda(doubled, output_shape=(4,), name="twice")
        config = layer.get_config()
        again = ours.layers.Lambda.from_config(config)
    assert again.function is doubled
    assert again.name == "twice"
    assert again.compute_output_shape((None, 4)) == (None, 4)
    expected = keras.layers.Lambda(doubled, output_shape=(4,), name="twice").get_config()
    assert config == expected


def test_code_of_lambda_is_never_saved_or_loaded() -> None:
    with pytest.raises(ValueError, match="a lambda has no name"):
        ours.layers.Lambda(lambda x: x).get_config()
    theirs = keras.layers.Lambda(lambda x: x)
    with pytest.raises(ValueError, match="never executed"):
        ours.layers.Lambda.from_config(theirs.get_config())
    with pytest.raises(ValueError, match="never executed"):
        ours.saving.deserialize_keras_object(keras.saving.serialize_keras_object(theirs))
    with pytest.raises(TypeError, match="function must be callable, but got 'doubled'"):
        ours.layers.Lambda("doubled")  # type: ignore[arg-type]


# -- Identity ------------------------------------------------------------------------------------


def test_identity_takes_structures() -> None:
    layer = ours.layers.Identity()
    outputs = layer([ours.Input((2,)), ours.Input((3,), dtype="int32")])
    assert [(output.shape, str(output.dtype)) for output in outputs] == [
        ((None, 2), "float32"),
        ((None, 3), "int32"),
    ]


# -- configurations ------------------------------------------------------------------------------


def test_configurations_have_a_name_that_the_class_takes() -> None:
    keys = []
    for k in (ours, keras):

        class Forwarding(k.layers.Layer):  # type: ignore[misc,name-defined]
            def __init__(self, units: int = 2, **kwargs: Any) -> None:
                super().__init__(**kwargs)

        class Named(k.layers.Layer):  # type: ignore[misc,name-defined]
            def __init__(self, name: Any = None) -> None:
                super().__init__(name=name)

        class Nameless(k.layers.Layer):  # type: ignore[misc,name-defined]
            def __init__(self, units: int = 2) -> None:
                super().__init__()

        keys.append([set(cls().get_config()) for cls in (Forwarding, Named, Nameless)])
    assert keys[0] == keys[1]
    assert [("name" in names) for names in keys[0]] == [True, True, False]


def test_layers_of_configurations() -> None:
    config = keras.layers.serialize(keras.layers.Dense(3, activation="relu", name="first"))
    layer = ours.layers.deserialize(config)
    assert isinstance(layer, ours.layers.Dense)
    assert ours.layers.serialize(layer) == config
    with pytest.raises(ValueError, match="config must be that of a layer"):
        ours.layers.deserialize(ours.saving.serialize_keras_object(ours.regularizers.L2()))
