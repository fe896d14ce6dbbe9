"""Data sets of the images, texts and sounds in folders.

In a page, these are folders of Pyodide's file system, into which the page has fetched files.
"""

from __future__ import annotations

import wave
from collections.abc import Callable, Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.keras.arguments import check_positive
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.ops import image as image_ops
from webtensor.keras.utils.directories import FileDatasets, Options, folder_datasets
from webtensor.keras.utils.images import decoded_image
from webtensor.keras.utils.sample_datasets import checked_format

__all__ = [
    "audio_dataset_from_directory",
    "image_dataset_from_directory",
    "text_dataset_from_directory",
]

_IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}
#: By the bytes per sample of a sound: its format, the value of silence, and the amplitude.
_SAMPLES = {1: ("B", 128, 128), 2: ("h", 0, 1 << 15), 4: ("i", 0, 1 << 31)}


def image_dataset_from_directory(
    directory: str | PathLike[str],
    labels: str | Sequence[int] | None = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: tuple[int, int] = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    data_format: str | None = None,
    format: str = "tf",
    verbose: bool = True,
) -> FileDatasets[Tensor]:
    """Return a data set of the images in a folder, by default labelled by their subfolders.

    Batches are float32 from 0 to 255, ``(batch, height, width, channels)``, with their labels. The
    subset "both" returns two data sets. Pillow decodes the images.

    Raises:
        ImportError: Pillow is not installed; raised when the first image is read.
        ValueError: an argument is invalid, or there are no images.
    """
    name = "image_dataset_from_directory"
    checked_format(name, format)
    check_choice(name, "color_mode", color_mode, _CHANNELS)
    if len(image_size) != 2:
        raise ValueError(f"{name}: image_size must be (height, width), but got {image_size!r}")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError(f"{name}: give crop_to_aspect_ratio or pad_to_aspect_ratio, but not both")
    layout = as_data_format(name, data_format)
    channels = _CHANNELS[color_mode]

    height, width = image_size

    def resized(pixels: Tensor, size: tuple[int, int] = (height, width)) -> TensorLike:
        return image_ops.resize(
            pixels,
            size,
            interpolation=interpolation,
            crop_to_aspect_ratio=crop_to_aspect_ratio,
            pad_to_aspect_ratio=pad_to_aspect_ratio and format == "grain",
            data_format="channels_last",
        )

    def padded(pixels: Tensor) -> TensorLike:
        rows, columns, _ = pixels.shape
        size = min(height, rows * width // columns), min(width, columns * height // rows)
        return image_ops.pad_images(
            resized(pixels, size),
            top_padding=max(0, height * columns - rows * width) // (2 * columns),
            left_padding=max(0, width * rows - columns * height) // (2 * rows),
            target_height=height,
            target_width=width,
            data_format="channels_last",
        )

    # An unknown interpolation is an error now, not when an image is read.
    resized(wt.zeros((1, 1, channels)))
    # As in Keras, "grain" pads images before they are resized, and "tf" after it.
    fitted = padded if pad_to_aspect_ratio and format == "tf" else resized

    def read(path: str) -> Tensor:
        image = decoded_image(path, color_mode)
        columns, rows = image.size
        pixels = wt.tensor(memoryview(image.tobytes()), dtype=float32)
        scaled = wt.asarray(fitted(wt.reshape(pixels, (rows, columns, channels))))
        return wt.permute_dims(scaled, (2, 0, 1)) if layout == "channels_first" else scaled

    options = Options(
        directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split,
        subset, follow_links, verbose, format,
    )  # fmt: skip
    return folder_datasets(name, "image", _IMAGES, options, read, wt.stack)


def text_dataset_from_directory(
    directory: str | PathLike[str],
    labels: str | Sequence[int] | None = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    format: str = "tf",
    verbose: bool = True,
) -> FileDatasets[str] | FileDatasets[Tensor]:
    """Return a data set of the texts (.txt) in a folder, by default labelled by their subfolders.

    Batches are tensors of strings, or with ``format="grain"`` lists of strings, with their labels.
    Texts are truncated to ``max_length`` characters. The subset "both" returns two data sets.

    Raises:
        ValueError: an argument is invalid, or there are no texts.
    """
    name = "text_dataset_from_directory"
    as_tensors = checked_format(name, format) == "tf"
    options = Options(
        directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split,
        subset, follow_links, verbose, format,
    )  # fmt: skip

    def read(path: str) -> str:
        return Path(path).read_text("utf-8", "replace")[:max_length]

    if as_tensors and batch_size is None:
        return folder_datasets(
            name, "text", (".txt",), options, lambda path: wt.tensor(read(path)), wt.stack
        )
    collect: Callable[[list[str]], Tensor | list[str]] = wt.tensor if as_tensors else list
    return folder_datasets(name, "text", (".txt",), options, read, collect)


def audio_dataset_from_directory(
    directory: str | PathLike[str],
    labels: str | Sequence[int] | None = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    sampling_rate: int | None = None,
    output_sequence_length: int | None = None,
    ragged: bool = False,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    verbose: bool = True,
) -> FileDatasets[Tensor]:
    """Return a data set of the sounds (.wav) in a folder, by default labelled by their subfolders.

    Batches are float32 from -1 to 1, ``(batch, length, channels)``, with their labels. Sounds are
    truncated or padded with silence to ``output_sequence_length``, or to the longest of the batch.
    The subset "both" returns two data sets.

    Raises:
        ValueError: an argument is invalid, or there are no sounds; or, when a sound is read, it
            has another ``sampling_rate``, or is no WAV file of integers.
    """
    name = "audio_dataset_from_directory"
    if ragged:
        raise ValueError(
            f"{name}: ragged must be False; sounds are padded to one length, see "
            "output_sequence_length"
        )
    numbers = {"sampling_rate": sampling_rate, "output_sequence_length": output_sequence_length}
    check_positive(name, **{key: value for key, value in numbers.items() if value is not None})

    def read(path: str) -> Tensor:
        sound = _read_sound(name, path, sampling_rate)
        return (
            sound if output_sequence_length is None else _of_length(sound, output_sequence_length)
        )

    def collect(sounds: list[Tensor]) -> Tensor:
        longest = max(sound.shape[0] for sound in sounds)
        return wt.stack([_of_length(sound, longest) for sound in sounds])

    options = Options(
        directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split,
        subset, follow_links, verbose,
    )  # fmt: skip
    return folder_datasets(name, "audio", (".wav",), options, read, collect)


def _read_sound(name: str, path: str, sampling_rate: int | None) -> Tensor:
    """Return the samples of a WAV file, ``(length, channels)``."""
    data = Path(path).read_bytes()
    with reading(f"{name}: {path!r} is no WAV file of integers"):
        # ``wave`` allocates no more than BytesIO has, whatever length the header claims.
        with wave.open(BytesIO(data), "rb") as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            frames = file.readframes(file.getnframes())
            if len(frames) < file.getnframes() * channels * width:
                raise ModelFormatError(f"{name}: {path!r} ends before its last sample")
        if width not in _SAMPLES:
            raise ModelFormatError(
                f"{name}: {path!r} has {8 * width} bits per sample, which is not supported"
            )
        format, silence, amplitude = _SAMPLES[width]
        samples = wt.tensor(memoryview(frames).cast(format))  # type: ignore[call-overload]
        sound = wt.reshape((wt.astype(samples, float32) - silence) / amplitude, (-1, channels))
    if sampling_rate not in (None, rate):
        raise ValueError(
            f"{name}: {path!r} has {rate} samples per second, not sampling_rate={sampling_rate}; "
            "sounds are not resampled"
        )
    return sound


def _of_length(sound: Tensor, length: int) -> Tensor:
    """Truncate a sound, or pad it with silence."""
    missing = length - sound.shape[0]
    return sound[:length] if missing <= 0 else wt.pad(sound, ((0, missing), (0, 0)))
