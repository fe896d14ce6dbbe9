"""Spectrograms beside NumPy, which computes them as the Web Audio API's specification says."""

from typing import Any

import numpy as np
import pytest

import webtensor as wt

RATE = 44100


def levels_of(samples: np.ndarray, fft_size: int = 1024) -> np.ndarray:
    """Levels in decibels: Blackman's window over the last 2 * fft_size samples of each frame."""
    size = 2 * fft_size
    n = np.arange(size)
    alpha = 0.16
    window = (1 - alpha) / 2 - np.cos(2 * np.pi * n / size) / 2
    window += alpha / 2 * np.cos(4 * np.pi * n / size)
    padded = np.concatenate([np.zeros(fft_size), samples])
    frames = [padded[start : start + size] for start in range(0, len(padded) - size + 1, fft_size)]
    spectra = np.fft.fft(np.array(frames) * window, axis=1)[:, :fft_size] / size
    return 20 * np.log10(np.maximum(np.abs(spectra), 1e-10))


def speech_like(seconds: float) -> np.ndarray:
    time = np.arange(int(seconds * RATE)) / RATE
    noise = np.random.default_rng(0).normal(0, 0.01, len(time))
    tones = sum(np.sin(2 * np.pi * hertz * time) / hertz for hertz in (220.0, 440.0, 1234.5))
    return (40 * tones * np.hanning(len(time)) + noise).clip(-1, 1)


@pytest.mark.parametrize("fft_size", [128, 1024])
def test_levels_are_those_of_numpy(backend: str, no_leak: None, fft_size: int) -> None:
    samples = speech_like(0.6)
    levels = wt.audio.spectrogram(samples.astype(np.float32), fft_size=fft_size)
    expected = levels_of(samples, fft_size)
    assert levels.shape == (*expected.shape, 1)
    # Rounding to float32 adds noise of about -150 decibels.
    magnitudes, expected_magnitudes = 10 ** (levels.numpy()[..., 0] / 20), 10 ** (expected / 20)
    np.testing.assert_allclose(magnitudes, expected_magnitudes, rtol=1e-4, atol=3e-8)
    assert (expected > -100).mean() > 0.9


def test_the_loudest_column_is_that_of_the_tone() -> None:
    for column in (3, 100, 231):
        time = np.arange(RATE) / RATE
        tone = np.sin(2 * np.pi * column * RATE / 2048 * time)
        levels = wt.audio.spectrogram(tone, column_truncate_length=232).numpy()
        assert levels.shape == (43, 232, 1)
        assert (levels[1:, :, 0].argmax(axis=1) == column).all()
        # Half of an amplitude of 1, times the window's mean of 0.42.
        np.testing.assert_allclose(levels[1:, column, 0], 20 * np.log10(0.21), atol=0.01)


def test_silence_has_a_level() -> None:
    for columns in (1, 5):
        silence = np.zeros((3000, 1), np.float32)
        levels = wt.audio.spectrogram(silence, column_truncate_length=columns)
        np.testing.assert_allclose(levels.numpy(), np.full((2, columns, 1), -200.0), rtol=1e-6)


def test_normalized_spectrograms_have_no_mean_and_a_deviation_of_one(backend: str) -> None:
    levels = np.random.default_rng(1).normal(-80, 15, (43, 232, 1))
    normalized = wt.audio.normalize_spectrogram(levels.astype(np.float32)).numpy()
    np.testing.assert_allclose(normalized, (levels - levels.mean()) / levels.std(), atol=1e-4)
    constant = wt.audio.normalize_spectrogram(wt.full((4, 5), -100.0))
    np.testing.assert_array_equal(constant.numpy(), np.zeros((4, 5)))


@pytest.mark.parametrize(
    "samples, options, message",
    [
        ([[0.0, 0.0]], {}, r"samples must have shape \(samples,\) or \(samples, 1\), but has"),
        (
            [0.0] * 9,
            {"fft_size": 10},
            "samples must be at least the 10 of a frame, but there are 9",
        ),
        ([0.0], {"fft_size": 0}, "fft_size must be positive, and column_truncate_length from 1"),
        ([0.0], {"column_truncate_length": 0}, "but they are 1024 and 0"),
        ([0.0], {"column_truncate_length": 1025}, "but they are 1024 and 1025"),
    ],
)
def test_arguments_are_checked(samples: Any, options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^spectrogram: .*{message}"):
        wt.audio.spectrogram(samples, **options)
    with pytest.raises(TypeError, match="spectrogram: fft_size must be an integer, but got 2"):
        wt.audio.spectrogram(samples, fft_size=2.5)  # type: ignore[arg-type]
