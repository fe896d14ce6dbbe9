"""What models take as an image."""

import asyncio
import struct
import sys
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from PIL import Image

import webtensor as wt

RGBA = np.random.default_rng(0).integers(0, 256, (3, 5, 4)).astype(np.uint8)
RGB = RGBA[:, :, :3]


def file_of(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "image",
    [
        RGB,
        RGBA,
        RGB.astype(np.int64),
        RGB.tolist(),
        wt.tensor(RGB),
        wt.tensor(RGBA),
        Image.fromarray(RGB),
        Image.fromarray(RGBA),
        file_of(Image.fromarray(RGB), "PNG"),
        bytearray(file_of(Image.fromarray(RGBA), "PNG")),
        {"data": RGBA.tobytes(), "width": 5, "height": 3},
    ],
    ids=[
        *("uint8", "opacity", "int64", "lists", "tensor", "tensor with opacity"),
        *("Pillow", "Pillow with opacity", "PNG", "bytearray", "mapping"),
    ],
)
def test_integers_are_read_as_they_are(backend: str, no_leak: None, image: Any) -> None:
    pixels, size = wt.vision.read_image(image)
    assert size == (3, 5)
    assert (size.height, size.width) == size
    assert pixels.dtype is wt.float32
    np.testing.assert_array_equal(pixels.numpy(), RGB)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_lie_between_0_and_1(backend: str, dtype: Any) -> None:
    image = (RGBA / 255).astype(dtype)
    for variant in (image, wt.tensor(image)):
        pixels, _ = wt.vision.read_image(variant)
        np.testing.assert_allclose(pixels.numpy(), RGB, atol=2e-5)


@pytest.mark.parametrize("grey", [RGBA[:, :, 0], RGBA[:, :, :1], Image.fromarray(RGBA[:, :, 0])])
def test_grey_images_get_three_equal_channels(grey: Any) -> None:
    pixels, size = wt.vision.read_image(grey)
    assert size == (3, 5)
    np.testing.assert_array_equal(pixels.numpy(), np.repeat(RGBA[:, :, :1], 3, axis=2))


def test_images_with_a_palette_are_read() -> None:
    image = Image.fromarray(RGB).convert("P")
    pixels, _ = wt.vision.read_image(image)
    np.testing.assert_array_equal(pixels.numpy(), np.asarray(image.convert("RGB")))


@pytest.mark.parametrize("mode", ["I;16", "I", "I;16B"])
def test_upper_bytes_are_the_levels_of_16_bit_images(mode: str) -> None:
    stored = {"I": "<i4", "I;16": "<u2", "I;16B": ">u2"}[mode]
    pixels = 256 * np.arange(0, 255, 17) + 255
    image = Image.frombytes(mode, (5, 3), pixels.astype(stored).tobytes())
    levels, _ = wt.vision.read_image(image)
    expected = np.repeat(np.arange(0, 255, 17).reshape(3, 5, 1), 3, axis=2)
    np.testing.assert_array_equal(levels.numpy(), expected)


def large_png(width: int, height: int) -> bytes:
    """The first pixels of a large image."""
    chunks = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", b""),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data))
        for kind, data in chunks
    )


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    "size, message",
    [
        ((12_000, 12_000), "would become 576000000 bytes, but only 57 are stored"),
        ((60_000, 60_000), "DecompressionBombError"),
    ],
)
def test_small_files_of_large_images_are_refused(
    tmp_path: Path, size: tuple[int, int], message: str
) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(large_png(*size))
    with pytest.raises(wt.ModelFormatError, match=rf"image: .*large\.png.* {message}"):
        wt.vision.read_image(path)


def test_files_are_turned_as_their_metadata_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "turned.png"
    Image.fromarray(RGB).save(path, exif=exif)
    for source in (path, str(path)):
        pixels, size = wt.vision.read_image(source)
        assert size == (5, 3)
        np.testing.assert_array_equal(pixels.numpy(), np.rot90(RGB, -1))


def test_the_asynchronous_form_reads_the_same() -> None:
    pixels, size = asyncio.run(wt.vision.read_image_async(RGB))
    assert size == (3, 5)
    np.testing.assert_array_equal(pixels.numpy(), RGB)


@pytest.mark.parametrize(
    "image, error, message",
    [
        (None, TypeError, "image: expected a tensor, .* but got NoneType"),
        (7, TypeError, "image: expected a tensor, .* but got int"),
        (np.zeros((4,), np.uint8), ValueError, r"image: expected shape .* but got \(4,\)"),
        (np.zeros((1, 4, 4, 3)), ValueError, r"image: expected shape .* but got \(1, 4, 4, 3\)"),
        (np.zeros((4, 4, 2)), ValueError, r"image: expected shape .* but got \(4, 4, 2\)"),
        (np.zeros((0, 4, 3)), ValueError, r"image: there are no pixels; the shape is \(0, 4, 3\)"),
        (wt.zeros((4, 0)), ValueError, r"image: there are no pixels; the shape is \(4, 0\)"),
        (np.zeros((2, 2), np.bool_), TypeError, "image: expected int32 or float32, but got bool"),
        (wt.zeros((2, 2), "complex64"), TypeError, "int32 or float32, but got complex64"),
        (
            np.full((2, 2), 200.0),
            ValueError,
            r"float64 arrays must lie in \[0, 1\], but they range from 200 to 200",
        ),
        (np.full((2, 2), np.nan), ValueError, "they range from nan to nan"),
        (np.full((2, 2), -1), ValueError, r"int64 arrays must lie in \[0, 255\], .* from -1 to -1"),
        (b"no image", wt.ModelFormatError, "image: a BytesIO: cannot identify image file"),
        (Path("missing.png"), OSError, "missing.png"),
    ],
)
def test_what_is_no_image_is_refused(image: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wt.vision.read_image(image)


def test_files_need_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    png = file_of(Image.fromarray(RGB), "PNG")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="image: reading image files needs Pillow"):
        wt.vision.read_image(png)
