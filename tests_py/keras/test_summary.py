"""Summaries are the texts that Keras prints."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours
from webtensor.keras.names import forget_names


def plain(module: Any) -> Any:
    layers = module.layers
    return module.Sequential(
        [
            module.Input((8,)),
            layers.Dense(4, name="a_rather_long_name_that_is_cut_where_the_column_ends"),
            layers.Dense(2, activation="relu"),
            layers.Dense(1200),
            layers.Dense(1200),
        ],
        name="plain",
    )


def frozen(module: Any) -> Any:
    model = plain(module)
    model.layers[0].trainable = False
    model.layers[2].trainable = False
    return model


def inner(module: Any) -> Any:
    layers = [module.Input((4,)), module.layers.Dense(3), module.layers.Dense(4)]
    return module.Sequential(layers, name="inner")


def branches(module: Any) -> Any:
    x = module.Input((8,), name="given")
    shared = module.layers.Dense(4, name="shared")
    left, right = shared(x), shared(module.layers.Dense(8, name="turned")(x))
    y = module.ops.maximum(left, right) * 2 + 1
    z = inner(module)(y)
    return module.Model(x, [z, y], name="branches")


def chain(module: Any) -> Any:
    x = module.Input((8,))
    y = module.layers.Dense(3)(x)
    y = module.ops.reshape(y, (-1, 3, 1))
    return module.Model(x, module.ops.sum(y, axis=1), name="chain")


def nested(module: Any) -> Any:
    x = module.Input((4,))
    outer = module.Sequential([module.Input((4,)), inner(module), module.layers.Dense(2)])
    return module.Model(x, module.layers.Dense(1)(outer(x)), name="nested")


def two_inputs(module: Any) -> Any:
    first, second = module.Input((3,)), module.Input((3,))
    return module.Model([first, second], first - second, name="two")


def several_outputs(module: Any) -> Any:
    x = module.Input((6,))
    parts = module.ops.split(x, 2, axis=1)
    return module.Model(x, module.ops.add(*parts), name="parts")


def unbuilt(module: Any) -> Any:
    return module.Sequential([module.layers.Dense(3), module.layers.Dense(2)], name="unbuilt")


def empty(module: Any) -> Any:
    return module.Sequential(name="empty")


def written(module: Any) -> Any:
    """A class of the user's, called with an array."""

    class Written(module.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="written")
            self.first = module.layers.Dense(3, name="first")
            self.second = module.layers.MultiHeadAttention(2, 2, output_shape=4, name="second")

        def call(self, inputs: Any) -> Any:
            x = self.first(inputs)
            return self.second(x, x)

    model = Written()
    model(np.zeros((2, 5, 3), "float32"))
    return model


def written_of_models(module: Any) -> Any:
    """A class of the user's whose parts are functional models and a layer with several outputs."""
    layers = module.layers
    x = module.Input((3,))
    y = layers.Dense(4)(x)

    class Written(module.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="written_of_models")
            self.one = module.Model(x, y, name="one")
            self.two = module.Model(x, [layers.Dense(2)(y), y], name="two")
            self.named = module.Model(x, {"a": y, "b": layers.Dense(2)(y)}, name="named")
            self.recurrent = layers.LSTM(4, return_state=True, name="recurrent")

        def call(self, inputs: Any) -> Any:
            return self.recurrent(module.ops.expand_dims(inputs, 1)), self.one(inputs)

    model = Written()
    model(np.zeros((2, 3), "float32"))
    return model


MODELS = [
    plain,
    frozen,
    branches,
    chain,
    nested,
    two_inputs,
    several_outputs,
    unbuilt,
    empty,
    written,
    written_of_models,
]


def text_of(module: Any, make: Callable[[Any], Any], **options: Any) -> str:
    keras.utils.clear_session(free_memory=False)
    forget_names()
    texts: list[str] = []
    make(module).summary(print_fn=texts.append, **options)
    return "".join(texts).rstrip("\n")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"line_length": 60},
        {"line_length": 79, "expand_nested": True, "show_trainable": True},
        {"expand_nested": True},
        {"show_trainable": True},
    ],
)
@pytest.mark.parametrize("make", MODELS)
def test_summaries(make: Callable[[Any], Any], options: dict[str, Any]) -> None:
    assert text_of(ours, make, **options) == text_of(keras, make, **options)


@pytest.mark.parametrize("positions", [[0.5, 0.7, 1.0], [0.3, 0.5, 0.7]])
def test_positions(positions: list[float]) -> None:
    options = {"positions": positions, "line_length": 70}
    assert text_of(ours, plain, **options) == text_of(keras, plain, **options)


@pytest.mark.parametrize("layer_range", [("turned", "shared"), ("shared", "mult"), ("g", "i.*r")])
def test_ranges_of_layers(layer_range: tuple[str, str]) -> None:
    options = {"layer_range": layer_range}
    assert text_of(ours, branches, **options) == text_of(keras, branches, **options)


def test_optimizers_count() -> None:
    def trained(module: Any) -> Any:
        model = plain(module)
        model.compile("adam", "mse")
        model.optimizer.build(model.trainable_variables)
        return model

    assert text_of(ours, trained) == text_of(keras, trained)


def test_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    forget_names()
    model = plain(ours)
    model.summary()
    assert capsys.readouterr().out == text_of(ours, plain) + "\n"


@pytest.mark.parametrize(
    "options, message",
    [
        ({"line_length": 12}, "a line of 12 characters is too short for 3 columns"),
        ({"layer_range": ("nothing", "dense")}, "the layers are"),
        ({"layer_range": ("dense",)}, "layer_range must be two names"),
        ({"positions": [0.5, 1.0]}, "positions must be 3 parts"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plain(ours).summary(**options)


def test_nothing_is_held(no_leak: None) -> None:
    text_of(ours, branches)
    wt.ones(1)
