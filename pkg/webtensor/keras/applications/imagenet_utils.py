"""Images as networks need them, and the names of the classes of ImageNet."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from sys import modules
from typing import Any

from webtensor.arguments import check_choice
from webtensor.keras import ops
from webtensor.keras.config import floatx
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.utils.downloads import get_file

__all__ = ["decode_predictions", "preprocess_input"]

#: The means and the deviations of ImageNet's red, green and blue, in numbers from 0 to 1.
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
#: The means of its blue, green and red, from 0 to 255.
_PIXEL_MEAN = (103.939, 116.779, 123.68)
_MODES = ("caffe", "tf", "torch")
_CLASS_INDEX = "imagenet_class_index.json"
_CLASS_INDEX_ADDRESS = f"https://storage.googleapis.com/download.tensorflow.org/data/{_CLASS_INDEX}"
_CLASS_INDEX_HASH = "c2c37ea517e94d9795004a39431a14cb"


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Return images as networks need them; ``x`` stays as it is.

    Args:
        x: images with red, green and blue from 0 to 255, of shape ``(batch, height, width, 3)`` or
            without the batch: an array, a tensor, which may be symbolic, or lists.
        data_format: "channels_last", "channels_first", or None for ``keras.config``'s.
        mode: "caffe" puts blue first and subtracts ImageNet's means; "tf" scales to numbers from
            -1 to 1; "torch" scales to numbers from 0 to 1, subtracts ImageNet's means and divides
            by its deviations.

    Returns:
        A NumPy array for one, else a tensor. Integers become ``keras.config.floatx()``.

    Raises:
        ValueError: an argument is invalid, or there are not three channels.

    Example:
        >>> from webtensor import keras
        >>> image = [[[0.0, 127.5, 255.0]]]
        >>> keras.applications.imagenet_utils.preprocess_input(image, mode="tf").tolist()
        [[[-1.0, 0.0, 1.0]]]
    """
    check_choice("preprocess_input", "mode", mode, _MODES)
    channel_axis = -1 if as_data_format("preprocess_input", data_format) == "channels_last" else -3
    numpy = modules.get("numpy")
    xp: Any = ops
    if numpy is not None and isinstance(x, numpy.ndarray):
        xp = numpy
    elif not hasattr(x, "dtype"):
        x = ops.convert_to_tensor(x)
    if "float" not in str(x.dtype):
        x = x.astype(floatx()) if xp is numpy else ops.cast(x, floatx())
    if mode == "tf":
        return x / 127.5 - 1.0
    if len(x.shape) < 3 or x.shape[channel_axis] != 3:
        raise ValueError(
            f"preprocess_input: x must be images with 3 channels, but its shape is {x.shape}"
        )

    def per_channel(values: tuple[float, ...]) -> Any:
        return xp.reshape(xp.array(values, x.dtype), (3,) if channel_axis == -1 else (3, 1, 1))

    if mode == "caffe":
        return xp.flip(x, channel_axis) - per_channel(_PIXEL_MEAN)
    return (x / 255.0 - per_channel(MEAN)) / per_channel(DEVIATION)


def _preprocessing(mode: str, effect: str) -> Callable[..., Any]:
    def preprocess(x: Any, data_format: str | None = None) -> Any:
        return preprocess_input(x, data_format, mode) if mode else x

    preprocess.__name__ = preprocess.__qualname__ = "preprocess_input"
    preprocess.__doc__ = f"Return images {effect}, as the network needs them."
    return preprocess


preprocess_for_caffe = _preprocessing("caffe", "with blue first, less ImageNet's means")
preprocess_for_tf = _preprocessing("tf", "in numbers from -1 to 1")
preprocess_for_torch = _preprocessing("torch", "less ImageNet's means, over its deviations")
preprocess_unchanged = _preprocessing("", "as they are")


def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """Return the most probable classes of ImageNet, whose names are downloaded once.

    Args:
        preds: predictions of shape ``(samples, 1000)``: an array, a tensor or lists.
        top: the number of classes for each sample.

    Returns:
        For each sample its classes, the most probable first: names in WordNet and in English, and
        probabilities.

    Raises:
        OSError: the names cannot be downloaded.
        RuntimeError: the browser cannot suspend Python.
        ValueError: the predictions have another shape.

    Example:
        Of one image::

            decode_predictions(model.predict(images), 1)  # [[("n02123045", "tabby", 0.8)]]
    """
    predictions = preds if hasattr(preds, "shape") else ops.convert_to_tensor(preds)
    if len(predictions.shape) != 2 or predictions.shape[1] != 1000:
        raise ValueError(
            "decode_predictions: preds must have shape (samples, 1000), but its shape is "
            f"{tuple(predictions.shape)}"
        )
    names = _class_names()
    ranked = (
        sorted(((value, index) for index, value in enumerate(row)), reverse=True)
        for row in predictions.tolist()
    )
    return [[(*names[str(index)], value) for value, index in row[:top]] for row in ranked]


@cache
def _class_names() -> dict[str, tuple[str, str]]:
    """Return the names of each class by its number."""
    name, address = _CLASS_INDEX, _CLASS_INDEX_ADDRESS
    try:
        path = get_file(name, address, cache_subdir="models", file_hash=_CLASS_INDEX_HASH)
    except RuntimeError as error:
        raise RuntimeError(
            "decode_predictions: this browser cannot wait for the names of the classes; write "
            f"first: await keras.utils.get_file_async({name!r}, {address!r}, cache_subdir='models')"
        ) from error
    except OSError as error:
        raise OSError(
            f"decode_predictions: the names of the classes cannot be fetched from {address}: "
            f"{error}. Put the file into the folder 'models' of the cache of keras.utils.get_file"
        ) from error
    names = json.loads(Path(path).read_text("utf-8"))
    return {number: (wordnet_name, name) for number, (wordnet_name, name) in names.items()}
