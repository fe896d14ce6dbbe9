"""Convolution layers beside Keras's: random configurations, and what is refused."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

ACTIVATIONS = (None, "relu", "elu", "leaky_relu", "sigmoid", "relu6", "tanh", "softplus")


def integers(choose: random.Random, rank: int, most: int) -> Any:
    """A number, or one for each axis."""
    return choose.choice(
        [
            choose.randint(1, most),
            tuple(choose.randint(1, most) for _ in range(rank)),
        ]
    )


def common(choose: random.Random, rank: int) -> dict[str, Any]:
    """Arguments that all convolutions have."""
    config: dict[str, Any] = {
        "kernel_size": integers(choose, rank, 3),
        "padding": choose.choice(["valid", "same", "SAME"]),
        "data_format": choose.choice([None, "channels_last", "channels_first"]),
        "activation": choose.choice(ACTIVATIONS),
        "use_bias": choose.random() < 0.7,
    }
    if choose.random() < 0.6:
        config["strides"] = choose.randint(1, 3)
    elif choose.random() < 0.6:
        config["dilation_rate"] = choose.randint(1, 2)
    if choose.random() < 0.3:
        config["bias_regularizer"] = "l2"
    return config


def shape(choose: random.Random, rank: int, channels: int, data_format: str | None) -> Any:
    """A shape of inputs that filters fit."""
    sizes = [choose.randint(6, 9) if rank < 3 else choose.randint(5, 6) for _ in range(rank)]
    if data_format == "channels_first":
        return (2, channels, *sizes)
    return (2, *sizes, channels)


def convolution(choose: random.Random, rank: int) -> Case:
    config = common(choose, rank)
    groups = choose.choice([1, 1, 2])
    config.update(filters=groups * choose.randint(1, 2), groups=groups)
    if rank == 1 and choose.random() < 0.5:
        config["padding"] = "causal"
    if choose.random() < 0.3:
        config["kernel_constraint"] = "max_norm"
    channels = groups * choose.randint(1, 2)
    return Case(f"Conv{rank}D", config, shape(choose, rank, channels, config["data_format"]))


def transposed(choose: random.Random, rank: int) -> Case:
    config = common(choose, rank)
    config["filters"] = choose.randint(1, 3)
    if choose.random() < 0.5:
        config["output_padding"] = choose.randrange(config.get("strides", 1))
    input_shape = shape(choose, rank, choose.randint(1, 3), config["data_format"])
    return Case(f"Conv{rank}DTranspose", config, input_shape)


def depthwise(choose: random.Random, rank: int) -> Case:
    config = {**common(choose, rank), "depth_multiplier": choose.randint(1, 2)}
    config["depthwise_regularizer"] = choose.choice([None, "l1"])
    input_shape = shape(choose, rank, choose.randint(1, 3), config["data_format"])
    return Case(f"DepthwiseConv{rank}D", config, input_shape)


def separable(choose: random.Random, rank: int) -> Case:
    config = {**common(choose, rank), "depth_multiplier": choose.randint(1, 2)}
    config.update(filters=choose.randint(1, 3), pointwise_initializer="he_normal")
    input_shape = shape(choose, rank, choose.randint(1, 3), config["data_format"])
    return Case(f"SeparableConv{rank}D", config, input_shape)


def cases(kind: Callable[[random.Random, int], Case], counts: dict[int, int]) -> list[Case]:
    """So many random cases for each number of axes."""
    choose = random.Random(kind.__name__)
    return [kind(choose, rank) for rank, count in counts.items() for _ in range(count)]


CASES = [
    *cases(convolution, {1: 6, 2: 6, 3: 4}),
    *cases(transposed, {1: 5, 2: 6, 3: 4}),
    *cases(depthwise, {1: 3, 2: 4}),
    *cases(separable, {1: 3, 2: 3}),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


# -- every length of a transposed convolution ----------------------------------------------------


def lengths() -> list[dict[str, Any]]:
    """Kernel sizes, strides, dilations and paddings, all that go together."""
    results = []
    for size in (1, 2, 3, 4, 5):
        for stride, rate in ((1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (5, 1)):
            for more in (None, *range(stride)):
                for padding in ("valid", "same"):
                    config = {"kernel_size": size, "strides": stride, "dilation_rate": rate}
                    results.append({**config, "output_padding": more, "padding": padding})
    return results


def reached(config: dict[str, Any]) -> list[list[int]]:
    """Which steps of the input each step of the result is made of, by the definition of Keras."""
    size, stride, rate = (config[key] for key in ("kernel_size", "strides", "dilation_rate"))
    more, reach = config["output_padding"], (size - 1) * rate + 1
    if config["padding"] == "valid":
        length = 3 * stride + reach + (max(stride - reach, 0) if more is None else more)
        before = 0
    elif more is None:
        length = 4 * stride
        before = max(reach - 1 - (stride + reach - 1) // 2, 0)
    else:
        length = 3 * stride + reach % 2 + more
        before = max(reach - 1 - (reach + reach % 2 - 1 + more) // 2, 0)
    steps: list[list[int]] = [[] for _ in range(length)]
    for start in range(4):
        for tap in range(size):
            position = start * stride + tap * rate - before
            if 0 <= position < length:
                steps[position].append(start)
    return steps


def test_lengths_of_transposed_convolutions() -> None:
    for config in lengths():
        layer = ours.layers.Conv1DTranspose(1, **config, kernel_initializer="ones")
        result = layer([[[1.0], [10.0], [100.0], [1000.0]]])
        expected = [[[float(sum(10**step for step in steps))] for steps in reached(config)]]
        assert result.tolist() == expected, config
        assert layer.compute_output_shape((1, 4, 1)) == result.shape, config
        assert layer.compute_output_shape((None, None, 1)) == (None, None, 1)


def test_the_default_data_format_can_be_set() -> None:
    try:
        ours.config.set_image_data_format("channels_first")
        layer = ours.layers.Conv2D(4, 3)
        assert layer.data_format == "channels_first"
        assert layer(ours.Input((3, 8, 9))).shape == (None, 4, 6, 7)
        assert ours.layers.MaxPooling2D()(ours.Input((3, 8, 9))).shape == (None, 3, 4, 4)
    finally:
        ours.config.set_image_data_format("channels_last")


# -- names and errors ----------------------------------------------------------------------------


def test_other_names_are_the_same_classes() -> None:
    layers = ours.layers
    for rank in (1, 2, 3):
        assert getattr(layers, f"Convolution{rank}D") is getattr(layers, f"Conv{rank}D")
        name = f"Conv{rank}DTranspose"
        assert getattr(layers, f"Convolution{rank}DTranspose") is getattr(layers, name)
    assert layers.SeparableConvolution1D is layers.SeparableConv1D
    assert layers.SeparableConvolution2D is layers.SeparableConv2D


REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("Conv2D", (0, 3), {}, "Conv2D: filters must be a positive integer, but got 0"),
    ("Conv2D", (2, 0), {}, "kernel_size must be a positive integer or 2 of them, but got 0"),
    ("Conv2D", (2, (3, 3, 3)), {}, r"kernel_size must be .* but got \(3, 3, 3\)"),
    ("Conv1D", (2, 3), {"strides": 0}, "strides must be a positive integer, but got 0"),
    (
        "Conv2D",
        (2, 3),
        {"padding": "causal"},
        "padding must be one of valid, same, but got 'causal'",
    ),
    ("Conv2D", (2, 3), {"data_format": "NHWC"}, "data_format must be 'channels_last' or"),
    ("Conv2D", (3, 3), {"groups": 2}, "filters must be a multiple of groups, .* groups=2"),
    ("Conv2D", (2, 3), {"strides": 2, "dilation_rate": 2}, "strides and dilation_rate cannot both"),
    ("Conv2D", (2, 3), {"stride": 2}, "Conv2D: unknown argument 'stride'; did you mean 'strides'?"),
    ("Conv2DTranspose", (2, 3), {"output_padding": 1}, "output_padding must be less than strides"),
    ("DepthwiseConv2D", (3,), {"depth_multiplier": 0}, "depth_multiplier must be a positive"),
    ("SeparableConv1D", (2, 3), {"activation": "rleu"}, "did you mean 'relu'"),
]


@pytest.mark.parametrize("name, args, config, message", REFUSED)
def test_refused(name: str, args: Any, config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(ours.layers, name)(*args, **config)


def test_refused_inputs() -> None:
    with pytest.raises(ValueError, match=r"number of channels must be a multiple of groups=2"):
        ours.layers.Conv2D(2, 3, groups=2)(ours.Input((8, 8, 3)))
    with pytest.raises(ValueError, match=r"window that reaches over \(5, 5\) does not fit inputs"):
        ours.layers.Conv2D(2, 3, dilation_rate=2)(ours.Input((4, 4, 3)))
    for name in ("Conv1D", "Conv1DTranspose"):
        with pytest.raises(ValueError, match=rf"{name}: inputs must have rank 3, but have shape"):
            getattr(ours.layers, name)(2, 3)(ours.Input((4, 4, 3)))
    with pytest.raises(ValueError, match="number of channels must be known"):
        ours.layers.Conv2D(2, 3)(ours.Input((4, 4, None)))
    layer = ours.layers.Conv2D(2, 3)
    layer(ours.Input((4, 4, 3)))
    with pytest.raises(ValueError, match=r"4, 4, 2\)"):
        layer(ours.Input((4, 4, 2)))
