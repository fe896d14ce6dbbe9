"""Models to save and to load, made of either ``keras`` module, with the shapes of their inputs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import h5py
import keras as keras
import numpy as np


class SavedModel(NamedTuple):
    """What makes a model, given a ``keras`` module, and what it is called with."""

    make: Callable[[Any], Any]
    shapes: tuple[tuple[int, ...], ...]

    def inputs(self, seed: int = 0) -> Any:
        """Inputs for two samples."""
        rng = np.random.default_rng(seed)
        arrays = [rng.normal(size=(2, *shape)).astype("float32") for shape in self.shapes]
        return arrays[0] if len(arrays) == 1 else arrays


def functional(api: Any) -> Any:
    """Two inputs, two outputs, a shared layer and a nested model that is called twice."""
    first, second = api.Input((5,), name="first"), api.Input((4,), name="second")
    shared = api.layers.Dense(4, activation="relu", name="shared")
    inner = api.Sequential(
        [api.Input((4,)), api.layers.Dense(3), api.layers.Dense(4)], name="inner"
    )
    a = inner(shared(api.layers.Dense(4)(first)))
    b = inner(shared(second))
    c = api.layers.Concatenate()([a, b])
    return api.Model([first, second], [api.layers.Dense(1)(c), api.layers.Add()([a, b])])


def nested(api: Any) -> Any:
    """A functional model within a Sequential one within a functional one."""
    inside = api.Input((4,))
    core = api.Model(inside, api.layers.Dense(4, name="core_dense")(inside), name="core")
    middle = api.Sequential([api.Input((4,)), api.layers.Dense(4), core], name="middle")
    x = api.Input((4,))
    return api.Model(x, middle(x), name="outer")


def convolutional(api: Any) -> Any:
    """A network for images, with batch norm that has seen a batch."""
    return api.Sequential(
        [
            api.Input((8, 8, 3)),
            api.layers.Conv2D(4, 3, padding="same", activation="relu"),
            api.layers.BatchNormalization(),
            api.layers.MaxPooling2D(),
            api.layers.SeparableConv2D(3, 2),
            api.layers.DepthwiseConv2D(2, strides=2),
            api.layers.LeakyReLU(negative_slope=0.1),
            api.layers.Conv2DTranspose(2, 2),
            api.layers.Dropout(0.3, seed=1),
            api.layers.GlobalAveragePooling2D(),
            api.layers.LayerNormalization(),
            api.layers.Dense(2, activation="softmax"),
        ]
    )


def recurrent(api: Any) -> Any:
    """An LSTM, stacked cells, and both directions."""
    return api.Sequential(
        [
            api.Input((5, 4)),
            api.layers.LSTM(3, return_sequences=True),
            api.layers.Bidirectional(api.layers.GRU(2, return_sequences=True)),
            api.layers.TimeDistributed(api.layers.Dense(3)),
            api.layers.RNN([api.layers.LSTMCell(3), api.layers.GRUCell(2)], return_sequences=True),
            api.layers.SimpleRNN(2, recurrent_dropout=0.1, seed=3),
        ]
    )


def attentive(api: Any) -> Any:
    """Attention of two kinds, and an activation with weights."""
    x = api.Input((5, 4))
    y = api.layers.MultiHeadAttention(2, 3)(x, x)
    y = api.layers.PReLU(shared_axes=[1])(y)
    y = api.layers.GroupQueryAttention(3, 4, 2)(y, y)
    return api.Model(x, api.layers.GlobalAveragePooling1D()(y))


MODELS = {
    value.__name__: SavedModel(value, shapes)
    for value, shapes in (
        (functional, ((5,), (4,))),
        (nested, ((4,),)),
        (convolutional, ((8, 8, 3),)),
        (recurrent, ((5, 4),)),
        (attentive, ((5, 4),)),
    )
}


def custom(api: Any) -> Any:
    """The class of a model with layers in attributes, lists and dictionaries, and a weight."""

    class Custom(api.Model):  # type: ignore[misc]
        def __init__(self, units: int = 3, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.units = units
            self.blocks = [api.layers.Dense(units), api.layers.Dense(units)]
            self.others = {"deep": [api.layers.Dense(2)], "norm": api.layers.BatchNormalization()}
            self._head = api.layers.Dense(1)
            self.zeroth = api.layers.Dense(units)
            self.scale = self.add_weight(shape=(1,), initializer="ones", name="scale")

        @property
        def head(self) -> Any:
            return self._head

        def call(self, inputs: Any) -> Any:
            x = self.zeroth(inputs)
            for block in self.blocks:
                x = block(x)
            x = self.others["norm"](self.others["deep"][0](x))
            return self._head(x) * self.scale

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "units": self.units}

    return Custom


def randomized(model: Any, seed: int = 0) -> Any:
    """Give all weights other values than those they begin with; variances stay positive."""
    rng = np.random.default_rng(seed)
    model.set_weights(
        [rng.uniform(0.1, 1, np.shape(weight)).astype("float32") for weight in model.get_weights()]
    )
    return model


def predicted(model: Any, inputs: Any) -> list[Any]:
    """What a model predicts, as a list of arrays."""
    outputs = model(inputs)
    return [
        np.asarray(value)
        for value in (outputs if isinstance(outputs, (list, tuple)) else [outputs])
    ]


def same(first: Any, second: Any, inputs: Any) -> None:
    """Check that two models predict the same."""
    for mine, other in zip(predicted(first, inputs), predicted(second, inputs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


def same_weights(first: Any, second: Any) -> None:
    """Check that two models have equal weights, in the same order."""
    for mine, other in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, other)


def contents(file: Any) -> dict[str, Any]:
    """What is in an HDF5 file: shapes, dtypes and values of arrays, attributes of groups."""
    arrays: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            arrays[name] = item.shape, str(item.dtype), item[()].tolist()
        else:
            arrays[name] = {key: np.asarray(value).tolist() for key, value in item.attrs.items()}

    with h5py.File(file) as opened:
        opened.visititems(note)
    return arrays


def arrays_in(group: dict[str, Any]) -> dict[str, Any]:
    """The arrays among the contents of a file."""
    return {name: value for name, value in group.items() if isinstance(value, tuple)}
