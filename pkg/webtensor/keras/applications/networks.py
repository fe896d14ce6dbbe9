"""What the networks have in common: arguments, input, classifier and pretrained weights.

A family of networks is a subclass of ``Network``, a dataclass whose fields are the arguments of its
constructors in Keras's order; its methods compose the layers. ``constructor`` makes the public
function of one network of a family from what sets it apart from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Signature, signature
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar
from warnings import warn

from webtensor.keras import activations, layers
from webtensor.keras.applications import pretrained
from webtensor.keras.applications.blocks import Images
from webtensor.keras.applications.pretrained import Download, Weights
from webtensor.keras.data_formats import channels_of, image_data_format, spatial_shape_of
from webtensor.keras.models import Functional
from webtensor.keras.names import nearest
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike, Shape
from webtensor.keras.utils.global_state import get_source_inputs

__all__ = [
    "IMAGENET_CLASSES",
    "Facts",
    "Network",
    "StandardNetwork",
    "build_async",
    "constructor",
    "with_channels",
]

Arguments = ParamSpec("Arguments")
Facts = TypeVar("Facts")

IMAGENET_CLASSES = 1000
_BASE = "https://storage.googleapis.com/tensorflow/keras-applications"
_MEANINGS = {
    "alpha": "a positive number, by which the channels of each layer are multiplied.",
    "classes": "the number of classes; 1000 for the weights of ImageNet.",
    "classifier_activation": "the activation of the classifier; None for logits. Pretrained\n"
    '        weights need "softmax" or None.',
    "depth_multiplier": "the number of outputs of a depthwise convolution per channel.",
    "dropout": "a number from 0 to 1, the rate of dropout before the classifier.",
    "dropout_rate": "a number from 0 to 1, the rate of dropout before the classifier.",
    "include_preprocessing": "whether the network itself scales pixels from 0 to 255.",
    "include_top": "whether the classifier is included; else the network returns features.",
    "input_shape": "the shape of an image, whose sizes may be None without the classifier.",
    "input_tensor": "a symbolic tensor to use as the input; None makes an ``Input``.",
    "minimalistic": "whether the network does without squeeze-and-excitation, hard swish and\n"
    "        kernels of size 5.",
    "name": "a string, the name of the model.",
    "pooling": 'how features are pooled, without the classifier: "avg", "max" or None.',
    "weights": 'None draws them at random, "imagenet" downloads those of Keras. Others are a\n'
    "        path (.weights.h5, .h5, .keras), or a layers-model of TensorFlow.js: its folder, the\n"
    "        path or address of its model.json, or a mapping of its files' names to their bytes.",
}
_RAISES = """
Raises:
    OSError: the weights cannot be downloaded.
    ValueError: an argument is invalid, or the weights do not fit."""


class Network(Generic[Facts]):
    """A network with its arguments, which ``model`` builds."""

    include_top: bool
    weights: Weights
    input_tensor: KerasTensor | None
    pooling: str | None
    classes: int
    classifier_activation: ActivationLike
    name: str | None
    input_shape: Sequence[int | None] | None

    #: The name of the constructor, the default name of the model, what sets it apart from the other
    #: networks of its family, and the hashes of its files with and without the classifier.
    title: str
    default_name: str
    facts: Facts
    hashes: tuple[str, str] | None
    #: The shape of an image.
    shape: Shape

    #: The default size of images with a classifier, and the smallest possible one.
    size: ClassVar[int] = 224
    minimum_size: ClassVar[int] = 32
    supports_channels_first: ClassVar[bool] = True
    #: The name of the layer that pools features for the classifier, and those without it.
    classifier_pooling: ClassVar[str | None] = "avg_pool"
    feature_pooling: ClassVar[tuple[str | None, str | None]] = (None, None)
    #: The folder of the weights of ImageNet, where it is not the default name, and the end of the
    #: names of files without the classifier.
    folder: ClassVar[str | None] = None
    headless_suffix: ClassVar[str] = "_notop"

    # -- layers -------------------------------------------------------------------------------

    def features(self, x: Images) -> Images:
        """Compute the features of images."""
        raise NotImplementedError

    def classify(self, x: Images) -> Images:
        """Compute the classes of features."""
        x = layers.GlobalAveragePooling2D(name=self.classifier_pooling)(x)
        return self.dense(x)

    def dense(self, x: Images, **options: Any) -> Images:
        """Apply the last layer of most classifiers."""
        activation = self.classifier_activation
        return layers.Dense(self.classes, activation=activation, name="predictions", **options)(x)

    def pool(self, x: Images) -> Images:
        """Pool features, as ``pooling`` says."""
        average_name, maximum_name = self.feature_pooling
        if self.pooling == "avg":
            x = layers.GlobalAveragePooling2D(name=average_name)(x)
        elif self.pooling == "max":
            x = layers.GlobalMaxPooling2D(name=maximum_name)(x)
        return x

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
        """Check the arguments.

        Raises:
            ValueError: one is invalid.
        """
        if not self.supports_channels_first and image_data_format() == "channels_first":
            raise self.error("the network needs the data format 'channels_last'")
        pretrained.check_weights(self.title, self.weights)
        if self.pooling not in (None, "avg", "max"):
            raise self.error(f"pooling must be 'avg', 'max' or None, but got {self.pooling!r}")
        if self.input_tensor is not None and not isinstance(self.input_tensor, KerasTensor):
            raise self.error(
                f"input_tensor must be a symbolic tensor, but got {self.input_tensor!r}"
            )
        if not self.include_top:
            return
        if self.is_pretrained and self.classes != IMAGENET_CLASSES:
            raise self.error(
                f"classes must be {IMAGENET_CLASSES} with weights='imagenet' and include_top=True, "
                f"but got {self.classes!r}"
            )
        allowed = (activations.get("softmax"), activations.get(None))
        if self.weights is not None and activations.get(self.classifier_activation) not in allowed:
            raise self.error(
                "classifier_activation must be 'softmax' or None with pretrained weights, but got "
                f"{self.classifier_activation!r}"
            )

    def error(self, message: str) -> ValueError:
        """Return an error that names the constructor."""
        return ValueError(f"{self.title}: {message}")

    def check_sizes_of_tensor(self) -> None:
        """Check that ``input_shape`` has the sizes of ``input_tensor``, if there are both.

        Raises:
            ValueError: it has others.
        """
        shape, tensor = self.given_shape(), self.input_tensor
        if shape is None or tensor is None:
            return
        data_format = image_data_format()
        if spatial_shape_of((None, *shape), data_format) != spatial_shape_of(
            tensor.shape, data_format
        ):
            raise self.error(
                f"input_shape is {shape}, but that of input_tensor is {tensor.shape[1:]}"
            )

    def image_shape(self) -> Shape:
        """Return the shape of an image.

        Raises:
            ValueError: ``input_shape`` does not fit the network.
        """
        data_format = image_data_format()
        given = self.given_shape()
        count = channels_of((None, *given), data_format) if given else 3
        if count not in (1, 3) and not self.is_pretrained:
            warn(
                f"{self.title}: images usually have 1 or 3 channels, but input_shape is {given}",
                stacklevel=5,
            )
        size = self.default_size()
        default = with_channels((size, size), 3 if self.is_pretrained else count)
        if self.is_pretrained and self.include_top:
            if given not in (None, default):
                raise self.error(
                    f"input_shape must be {default} with weights='imagenet' and include_top=True, "
                    f"but got {given}"
                )
            return default
        if given is None:
            return default if self.include_top else with_channels((None, None), 3)
        if self.is_pretrained and count != 3:
            raise self.error(f"input_shape must have 3 channels, but got {given}")
        self.check_sizes(given)
        if self.include_top and None in given:
            raise self.error(f"include_top=True needs a static input_shape, but got {given}")
        return given

    def default_size(self) -> int:
        """Return the size of images with a classifier."""
        return self.size

    def check_sizes(self, shape: Shape) -> None:
        """Check that the images are not too small.

        Raises:
            ValueError: they are.
        """
        sizes = spatial_shape_of((None, *shape), image_data_format())
        if any(size is not None and size < self.minimum_size for size in sizes):
            raise self.error(
                f"images must be at least {self.minimum_size} x {self.minimum_size}, but "
                f"input_shape is {shape}"
            )

    def given_shape(self) -> Shape | None:
        """Return ``input_shape`` as a tuple.

        Raises:
            ValueError: it is not the shape of an image.
        """
        shape = self.input_shape
        if shape is None:
            return None
        if (
            not isinstance(shape, Sequence)
            or len(shape) != 3
            or any(size is not None and not isinstance(size, int) for size in shape)
        ):
            raise self.error(
                f"input_shape must be three integers, of which sizes may be None, but got {shape!r}"
            )
        return tuple(shape)

    # -- weights ------------------------------------------------------------------------------

    def download(self) -> Download:
        """Return where the weights of ImageNet are."""
        name = f"{self.file_stem()}{'' if self.include_top else self.headless_suffix}.h5"
        return Download(name, f"{self.address()}/{name}", self.file_hash())

    def address(self) -> str:
        """Return the address of the folder of the weights of ImageNet."""
        return f"{_BASE}/{self.folder or self.default_name}"

    def file_stem(self) -> str:
        """Return the beginning of the name of the file of weights."""
        return f"{self.default_name}_weights_tf_dim_ordering_tf_kernels"

    def file_hash(self) -> str | None:
        """Return the hash of the file of weights, if it is known."""
        return self.hashes[not self.include_top] if self.hashes else None


def with_channels(sizes: tuple[int | None, int | None], count: int | None) -> Shape:
    """Return the shape of an image in the default data format."""
    return (count, *sizes) if image_data_format() == "channels_first" else (*sizes, count)


@dataclass
class StandardNetwork(Network[Facts]):
    """A network with the arguments that most constructors have."""

    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: KerasTensor | None = None
    input_shape: Sequence[int | None] | None = None
    pooling: str | None = None
    classes: int = IMAGENET_CLASSES
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None


# -- constructors ------------------------------------------------------------------------------

#: For each constructor the function that returns a network of the same arguments.
_networks: dict[Callable[..., Functional], Callable[..., Network[Any]]] = {}


def constructor(
    family: Callable[Arguments, Network[Facts]],
    title: str,
    name: str | None,
    facts: Facts,
    hashes: tuple[str, str] | None = None,
) -> Callable[Arguments, Functional]:
    """Return the function that builds a network.

    Args:
        family: the class of the network, whose first line of documentation says what it is.
        title: the name of the function.
        name: the default of its argument ``name``.
        facts: what sets the network apart from the others of its family.
        hashes: those of its files of weights, with and without the classifier.
    """
    parameters = [
        parameter.replace(default=name) if parameter.name == "name" else parameter
        for parameter in signature(family).parameters.values()
    ]
    arguments = Signature(parameters, return_annotation=Functional)

    def network(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Network[Facts]:
        for keyword in kwargs:
            if keyword not in arguments.parameters:
                close = nearest(keyword, arguments.parameters)
                raise TypeError(f"{title}: unknown argument {keyword!r}{close}")
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
    construct.__doc__ = f"{family.__doc__}\n\nArgs:{entries}\n{_RAISES}"
    construct.__name__ = construct.__qualname__ = title
    construct.__module__ = family.__module__
    construct.__signature__ = arguments  # type: ignore[attr-defined]
    _networks[construct] = network
    return construct


async def build_async(
    constructor: Callable[Arguments, Functional], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Functional:
    """Call a constructor, and wait for its weights where the browser cannot suspend Python.

    Args:
        constructor: a function of ``keras.applications``, such as ``MobileNet``.
        *args: its arguments.
        **kwargs: its arguments.

    Raises:
        OSError: the weights cannot be fetched.
        TypeError: ``constructor`` is no such function.
        ValueError: as of the constructor.

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
