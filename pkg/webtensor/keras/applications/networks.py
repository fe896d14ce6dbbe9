"""What networks have in common: arguments, input, classifier, pretrained weights, widths.

A family of networks is a subclass of ``Network``: a dataclass whose fields are the arguments of its
constructors, and whose methods compose layers. ``constructor`` makes the public function of one of
its networks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Signature, getdoc, signature
from typing import Any, ClassVar, Generic, ParamSpec, TypeAlias, TypeVar
from warnings import warn

from webtensor.keras import activations, layers
from webtensor.keras.applications import pretrained
from webtensor.keras.applications.pretrained import Download, Weights
from webtensor.keras.data_formats import channels_of, image_data_format, spatial_shape_of
from webtensor.keras.models import Functional
from webtensor.keras.names import check_keywords
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike, Shape
from webtensor.keras.utils.global_state import get_source_inputs

__all__ = [
    "ActivationLike",
    "Facts",
    "ImageShape",
    "Images",
    "Network",
    "StandardNetwork",
    "Symbol",
    "Weights",
    "build_async",
    "channel_axis",
    "channels",
    "constructor",
    "padding",
    "rounded",
    "spatial",
    "with_channels",
]

Arguments = ParamSpec("Arguments")
Facts = TypeVar("Facts")
Symbol: TypeAlias = KerasTensor | None
ImageShape: TypeAlias = "Sequence[int | None] | None"
#: Symbolic images with their batch. Layers do not say what they return.
Images: TypeAlias = Any

_BASE = "https://storage.googleapis.com/tensorflow/keras-applications"
_MEANINGS = {
    "alpha": "a positive number that multiplies the channels of each layer.",
    "classes": "the number of classes; 1000 with the weights of ImageNet.",
    "classifier_activation": '"softmax", or None for logits; any activation without weights.',
    "depth_multiplier": "the outputs of a depthwise convolution per channel.",
    "dropout": "the rate of dropout before the classifier.",
    "dropout_rate": "the rate of dropout before the classifier.",
    "include_preprocessing": "whether the network itself scales pixels from 0 to 255.",
    "include_top": "whether the classifier is included; else features are returned.",
    "input_shape": "the shape of an image; sizes may be None without the classifier.",
    "input_tensor": "a symbolic tensor to use as the input; None makes an ``Input``.",
    "minimalistic": "whether to do without squeezing, hard swish and kernels of size 5.",
    "name": "the name of the model.",
    "pooling": '"avg", "max" or None, how features are pooled without the classifier.',
    "weights": 'None for random ones, "imagenet" for those of Keras, a path (.weights.h5, .h5,\n'
    "        .keras), or a layers-model of TensorFlow.js: its folder, the path or address of its\n"
    "        model.json, or a mapping of its files' names to their bytes.",
}
_RAISES = """
Raises:
    OSError: the weights cannot be downloaded.
    RuntimeError: they are on the web, and the browser cannot suspend Python: see ``build_async``.
    ValueError: an argument is invalid, or the weights do not fit."""


class Network(Generic[Facts]):
    """A network with its arguments, which ``model`` builds."""

    include_top: bool
    weights: Weights
    input_tensor: Symbol
    input_shape: ImageShape
    pooling: str | None
    classes: int
    classifier_activation: ActivationLike
    name: str | None

    #: The constructor's name, the model's default name, what sets the network apart from others of
    #: its family, and the hashes of its weights with and without the classifier.
    title: str
    default_name: str
    facts: Facts
    hashes: tuple[str, ...]
    shape: Shape

    size: ClassVar[int] = 224
    minimum_size: ClassVar[int] = 32
    supports_channels_first: ClassVar[bool] = True
    #: The names of the layers that pool features, for the classifier and without it.
    classifier_pooling: ClassVar[str | None] = "avg_pool"
    feature_pooling: ClassVar[tuple[str | None, str | None]] = (None, None)
    #: The folder of weights, if it is not the default name, and parts of the names of their files.
    folder: ClassVar[str | None] = None
    file_suffix: ClassVar[str] = "_weights_tf_dim_ordering_tf_kernels"
    headless_suffix: ClassVar[str] = "_notop"

    # -- layers -------------------------------------------------------------------------------

    def features(self, x: Images) -> Images:
        """Compute the features of images."""
        raise NotImplementedError

    def classify(self, x: Images, **options: Any) -> Images:
        """Compute classes of features."""
        x = layers.GlobalAveragePooling2D(name=self.classifier_pooling)(x)
        return self.dense(x, **options)

    def dense(self, x: Images, name: str = "predictions", **options: Any) -> Images:
        """Apply the last layer."""
        activation = self.classifier_activation
        return layers.Dense(self.classes, activation=activation, name=name, **options)(x)

    def pool(self, x: Images) -> Images:
        """Pool features."""
        average_name, maximum_name = self.feature_pooling
        if self.pooling == "avg":
            return layers.GlobalAveragePooling2D(name=average_name)(x)
        return layers.GlobalMaxPooling2D(name=maximum_name)(x) if self.pooling else x

    def model(self) -> Functional:
        """Return the model, without pretrained weights.

        Raises:
            ValueError: an argument is invalid.
        """
        self.check()
        self.shape = self.image_shape()
        inputs: Any
        if self.input_tensor is None:
            x = inputs = layers.Input(self.shape)
        else:
            x, inputs = self.input_tensor, self.source_inputs(self.input_tensor)
        x = self.features(x)
        x = self.classify(x) if self.include_top else self.pool(x)
        return Functional(inputs, x, name=self.name)

    def source_inputs(self, x: KerasTensor) -> Any:
        """Return the inputs of the model that computes ``input_tensor`` first."""
        return get_source_inputs(x)

    # -- arguments ----------------------------------------------------------------------------

    @property
    def is_pretrained(self) -> bool:
        """Whether the weights are those of ImageNet."""
        return isinstance(self.weights, str) and self.weights == "imagenet"

    def check(self) -> None:
        """Check arguments but the shape."""
        tensor, activation = self.input_tensor, self.classifier_activation
        if not self.supports_channels_first and image_data_format() == "channels_first":
            raise self.error(
                "keras.config.image_data_format() must be 'channels_last', but is 'channels_first'"
            )
        pretrained.check_weights(self.title, self.weights)
        if self.pooling not in (None, "avg", "max"):
            raise self.error(f"pooling must be 'avg', 'max' or None, but got {self.pooling!r}")
        if tensor is not None and not isinstance(tensor, KerasTensor):
            raise self.error(f"input_tensor must be a symbolic tensor, but got {tensor!r}")
        if not self.include_top or self.weights is None:
            return
        if self.is_pretrained and self.classes != 1000:
            raise self.error(
                "classes must be 1000 with weights='imagenet' and include_top=True, but got "
                f"{self.classes!r}"
            )
        if activations.get(activation) not in map(activations.get, ("softmax", None)):
            raise self.error(
                "classifier_activation must be 'softmax' or None with pretrained weights, but got "
                f"{activation!r}"
            )

    def error(self, message: str) -> ValueError:
        """Return an error that names the constructor."""
        return ValueError(f"{self.title}: {message}")

    def image_shape(self) -> Shape:
        """Return the shape of an image, checked."""
        shape = self.checked_input_shape()
        count = channels((None, *shape)) if shape else 3
        if count not in (1, 3) and not self.is_pretrained:
            warn(
                f"{self.title}: images usually have 1 or 3 channels, but input_shape is {shape}",
                stacklevel=5,
            )
        size = self.default_size()
        default = with_channels((size, size), 3 if self.is_pretrained else count)
        if self.is_pretrained and self.include_top:
            if shape not in (None, default):
                raise self.error(
                    f"input_shape must be {default} with weights='imagenet' and include_top=True, "
                    f"but got {shape}"
                )
            return default
        if shape is None:
            return default if self.include_top else with_channels((None, None), 3)
        if self.is_pretrained and count != 3:
            raise self.error(f"input_shape must have 3 channels, but got {shape}")
        if self.include_top and None in shape:
            raise self.error(f"include_top=True needs a static input_shape, but got {shape}")
        return shape

    def default_size(self) -> int:
        """Return the size of images with a classifier."""
        return self.size

    def checked_input_shape(self) -> Shape | None:
        """Return ``input_shape``, checked."""
        return None if self.input_shape is None else self.checked(self.input_shape)

    def checked(self, shape: Sequence[int | None]) -> Shape:
        """Return the shape of an image as a tuple."""
        minimum = self.minimum_size
        if (
            not isinstance(shape, Sequence)
            or len(shape) != 3
            or not all(size is None or isinstance(size, int) for size in shape)
        ):
            raise self.error(
                f"input_shape must be three integers, of which sizes may be None, but got {shape!r}"
            )
        if any(size is not None and size < minimum for size in spatial((None, *shape))):
            raise self.error(f"images must be at least {minimum} x {minimum}, but got {shape}")
        return tuple(shape)

    # -- weights ------------------------------------------------------------------------------

    def download(self) -> Download:
        """Return where the weights of ImageNet are."""
        name = f"{self.file_stem()}{'' if self.include_top else self.headless_suffix}.h5"
        return Download(name, f"{self.address()}/{name}", self.file_hash())

    def address(self) -> str:
        """Return the address of the folder of these weights."""
        return f"{_BASE}/{self.folder or self.default_name}"

    def file_stem(self) -> str:
        """Return the beginning of the name of their file."""
        return f"{self.default_name}{self.file_suffix}"

    def file_hash(self) -> str | None:
        """Return their hash, if it is known."""
        return self.hashes[not self.include_top] if self.hashes else None


@dataclass
class StandardNetwork(Network[Facts]):
    """A network with the arguments that most constructors have."""

    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: Symbol = None
    input_shape: ImageShape = None
    pooling: str | None = None
    classes: int = 1000
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None


# -- widths and sizes --------------------------------------------------------------------------


def channel_axis(last: int = -1) -> int:
    """Return the axis of the channels; ``last`` is how a family writes the last one, -1 or 3."""
    return 1 if image_data_format() == "channels_first" else last


def channels(shape: Sequence[int | None]) -> Any:
    """Return the number of channels of a shape."""
    return channels_of(shape, image_data_format())


def spatial(shape: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return the height and the width of a shape."""
    return spatial_shape_of(shape, image_data_format())


def with_channels(sizes: tuple[int | None, int | None], count: int | None) -> Shape:
    """Return the shape of an image."""
    return (count, *sizes) if image_data_format() == "channels_first" else (*sizes, count)


def rounded(width: float, *, limits_loss: bool = True) -> int:
    """Return a multiple of 8 near a number of channels, which loses at most 10% with the limit."""
    near = max(8, int(width + 4) // 8 * 8)
    return near + 8 if limits_loss and near < 0.9 * width else near


def padding(x: Images, kernel: int) -> tuple[tuple[int, int], ...]:
    """Return the padding for a convolution with stride 2; unknown sizes count as even."""
    half = kernel // 2
    return tuple((half - 1 + (size or 0) % 2, half) for size in spatial(x.shape))


# -- constructors ------------------------------------------------------------------------------

#: For each constructor the function that returns a network of the same arguments.
_networks: dict[Callable[..., Functional], Callable[..., Network[Any]]] = {}


def constructor(
    family: Callable[Arguments, Network[Facts]],
    title: str,
    name: str | None,
    facts: Facts,
    *hashes: str,
) -> Callable[Arguments, Functional]:
    """Return the function that builds a network: see the attributes of ``Network``."""
    parameters = [
        parameter.replace(default=name) if parameter.name == "name" else parameter
        for parameter in signature(family).parameters.values()
    ]
    arguments = Signature(parameters, return_annotation=Functional)

    def network(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Network[Facts]:
        check_keywords(title, kwargs, arguments.parameters)
        try:
            bound = arguments.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{title}: {error}") from None
        bound.apply_defaults()
        result = family(*bound.args, **bound.kwargs)
        result.title, result.default_name = title, name or ""
        result.facts, result.hashes = facts, hashes
        return result

    def construct(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Functional:
        planned = network(*args, **kwargs)
        model = planned.model()
        pretrained.load(title, model, planned.weights, planned.download)
        return model

    entries = "".join(f"\n    {name}: {_MEANINGS[name]}" for name in arguments.parameters)
    construct.__doc__ = f"{getdoc(family)}\n\nArgs:{entries}\n{_RAISES}"
    construct.__name__ = construct.__qualname__ = title
    construct.__module__ = family.__module__
    construct.__signature__ = arguments  # type: ignore[attr-defined]
    _networks[construct] = network
    return construct


async def build_async(
    constructor: Callable[Arguments, Functional], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Functional:
    """Call a constructor such as ``MobileNet``, and wait for its weights in any browser.

    Raises:
        TypeError: ``constructor`` is no function of ``keras.applications``.
        OSError, ValueError: as of the constructor.

    Example:
        In a page::

            await keras.applications.build_async(
                keras.applications.MobileNet, weights="https://example.org/model.json"
            )
    """
    if constructor not in _networks:
        raise TypeError(
            "build_async: constructor must be a function of keras.applications, such as "
            f"keras.applications.MobileNet, but got {constructor!r}"
        )
    network = _networks[constructor](*args, **kwargs)
    model = network.model()
    await pretrained.load_async(network.title, model, network.weights, network.download)
    return model
