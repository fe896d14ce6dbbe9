"""Pixels into tensors and back, where there is no page."""

import asyncio
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import webtensor as wt

RGBA = np.random.default_rng(0).integers(0, 256, (3, 5, 4)).astype(np.uint8)
WHOLE = {"data": RGBA.tobytes(), "width": 5, "height": 3}


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "pixels",
    [
        WHOLE,
        {**WHOLE, "data": bytearray(RGBA.tobytes())},
        {**WHOLE, "data": RGBA.reshape(-1).tolist()},
        SimpleNamespace(**WHOLE),
        RGBA,
    ],
    ids=["bytes", "bytearray", "list", "attributes", "array"],
)
def test_from_pixels_keeps_the_first_channels(
    backend: str, no_leak: None, pixels: Any, channels: int
) -> None:
    x = wt.browser.from_pixels(pixels, channels)
    assert x.dtype is wt.int32
    np.testing.assert_array_equal(x.numpy(), RGBA[:, :, :channels])
    again = asyncio.run(wt.browser.from_pixels_async(pixels, channels))
    np.testing.assert_array_equal(again.numpy(), x.numpy())


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 9])
def test_from_pixels_as_fractions(backend: str, no_leak: None, width: int, channels: int) -> None:
    rgba = np.random.default_rng(width).integers(0, 256, (1, width, 4)).astype(np.uint8)
    pixels = {"data": rgba.tobytes(), "width": width, "height": 1}
    x = wt.browser.from_pixels(pixels, channels, as_float=True)
    assert x.dtype is wt.float32
    np.testing.assert_allclose(x.numpy(), rgba[:, :, :channels] / 255, rtol=1e-6)


def test_from_pixels_takes_three_channels_by_default() -> None:
    assert wt.browser.from_pixels(WHOLE).shape == (3, 5, 3)


def test_from_no_pixels_at_all(backend: str) -> None:
    x = wt.browser.from_pixels({"data": b"", "width": 0, "height": 3})
    assert x.shape == (3, 0, 3)
    assert (x + 1).tolist() == [[], [], []]


def to_pixels(image: Any) -> np.ndarray[Any, Any]:
    rgba = asyncio.run(wt.browser.to_pixels(image))
    shape = wt.tensor(image).shape
    return np.frombuffer(rgba, np.uint8).reshape(*shape[:2], 4)


def test_to_pixels_of_colors(backend: str, no_leak: None) -> None:
    color = RGBA[:, :, :3].astype(np.int32)
    got = to_pixels(wt.tensor(color))
    np.testing.assert_array_equal(got[:, :, :3], color)
    assert (got[:, :, 3] == 255).all()


def test_to_pixels_of_colors_with_opacity(backend: str, no_leak: None) -> None:
    got = to_pixels(wt.tensor(RGBA.astype(np.int32)))
    np.testing.assert_array_equal(got, RGBA)


@pytest.mark.parametrize("shape", [(3, 5), (3, 5, 1)])
def test_to_pixels_of_greys(backend: str, no_leak: None, shape: tuple[int, ...]) -> None:
    grey = RGBA[:, :, 0].reshape(shape).astype(np.int32)
    got = to_pixels(wt.tensor(grey))
    for channel in range(3):
        np.testing.assert_array_equal(got[:, :, channel], RGBA[:, :, 0])


def test_to_pixels_of_fractions_rounds_halves_up(backend: str, no_leak: None) -> None:
    got = to_pixels(wt.tensor([[0.0, 0.5, 1.0, 0.25]]))
    assert got[0, :, 0].tolist() == [0, 128, 255, 64]


def test_to_pixels_of_nested_lists(backend: str) -> None:
    assert to_pixels([[7, 8]])[0, :, 1].tolist() == [7, 8]


def test_to_pixels_of_nothing(backend: str) -> None:
    assert asyncio.run(wt.browser.to_pixels(wt.zeros((0, 4)))) == b""


def test_pixels_survive_a_round_trip(backend: str) -> None:
    rgba = asyncio.run(wt.browser.to_pixels(wt.browser.from_pixels(WHOLE, 4)))
    assert rgba == WHOLE["data"]
