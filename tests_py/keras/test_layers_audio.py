"""Spectra of sound: values, kernels, gradients, shapes and configurations are those of Keras."""

from typing import Any

import keras
import numpy as np
import pytest
import scipy.signal

import webtensor as wt
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours
from webtensor.keras.window_functions import window_values

WINDOWS = [
    *("barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine"),
    *("exponential", "flattop", "hamming", "hann", "lanczos", "nuttall", "parzen", "taylor"),
    *("triang", "tukey"),
]

FRAMES = {"frame_length": 8, "frame_step": 3, "fft_length": 16}

STFT_CASES = [
    Case("STFTSpectrogram", {**FRAMES, "mode": "log"}, (2, 30, 3)),
    Case("STFTSpectrogram", {**FRAMES, "mode": "magnitude", "padding": "same"}, (2, 30, 1)),
    Case("STFTSpectrogram", {**FRAMES, "mode": "psd", "scaling": "spectrum"}, (2, 30, 2)),
    Case("STFTSpectrogram", {**FRAMES, "mode": "real", "window": "tukey"}, (1, 20, 2)),
    Case("STFTSpectrogram", {**FRAMES, "mode": "imag", "window": None}, (1, 20, 2)),
    Case("STFTSpectrogram", {"mode": "angle", "frame_length": 6, "periodic": True}, (1, 20, 1)),
    Case("STFTSpectrogram", {**FRAMES, "mode": "stft", "expand_dims": True}, (2, 20, 2)),
    Case(
        "STFTSpectrogram",
        {**FRAMES, "mode": "stft", "scaling": None, "data_format": "channels_first"},
        (2, 2, 20),
    ),
    Case(
        "STFTSpectrogram",
        {**FRAMES, "mode": "psd", "expand_dims": True, "data_format": "channels_first"},
        (2, 2, 20),
    ),
]

MEL: dict[str, Any] = {
    "fft_length": 16,
    "sequence_stride": 4,
    "sampling_rate": 100,
    "num_mel_bins": 5,
}
MEL_CASES = [
    Case("MelSpectrogram", MEL, (2, 64)),
    Case("MelSpectrogram", {**MEL, "power_to_db": False, "min_freq": 5.0}, (41,)),
    Case("MelSpectrogram", {**MEL, "sampling_rate": 16000, "power_to_db": False}, (41,)),
    Case("MelSpectrogram", {**MEL, "mag_exp": 1.0, "power_to_db": False, "window": None}, (1, 40)),
    Case(
        "MelSpectrogram",
        {**MEL, "sequence_length": 11, "window": "hamming", "top_db": 10.0, "ref_power": 0.5},
        (3, 40),
    ),
]


@pytest.mark.parametrize("case", STFT_CASES + MEL_CASES, ids=repr)
def test_layer(case: Case) -> None:
    is_log = case.layer == "MelSpectrogram"  # whose slope is steep where little is heard
    check(case, atol=2e-3 if is_log else 2e-4)


def test_weights_begin_as_those_of_keras() -> None:
    options: dict[str, Any] = {**FRAMES, "window": "flattop", "scaling": "spectrum"}
    theirs, mine = keras.layers.STFTSpectrogram(**options), ours.layers.STFTSpectrogram(**options)
    theirs.build((None, 20, 1))
    mine.build((None, 20, 1))
    for weight, other in zip(theirs.weights, mine.weights, strict=True):
        np.testing.assert_allclose(other.numpy(), np.asarray(weight.value), atol=1e-6)


def test_number_of_frames_is_known_before() -> None:
    layer = ours.layers.MelSpectrogram(**MEL)
    for samples in range(20, 28):
        result = layer(wt.ones((1, samples)))
        assert result.shape == layer.compute_output_shape((1, samples))


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("periodic", [False, True])
def test_window_is_that_of_scipy(name: str, periodic: bool) -> None:
    for length in (1, 2, 7, 16):
        expected = scipy.signal.get_window(name, length, fftbins=periodic)
        np.testing.assert_allclose(window_values(name, length, periodic), expected, atol=1e-7)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"mode": "loud"}, ValueError),
        ({"frame_step": 300}, ValueError),
        ({"frame_step": 0}, ValueError),
        ({"fft_length": 128}, ValueError),
        ({"scaling": "l2"}, ValueError),
        ({"padding": "causal"}, ValueError),
        ({"window": "han"}, ValueError),
    ],
)
def test_wrong_arguments(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=f"STFTSpectrogram: {next(iter(options))}"):
        ours.layers.STFTSpectrogram(**options)


def test_wrong_inputs_and_lengths() -> None:
    with pytest.raises(TypeError, match="inputs must be float32"):
        ours.layers.STFTSpectrogram()(wt.ones((1, 400, 1), "int32"))
    with pytest.raises(ValueError, match="fft_length must be no less"):
        ours.layers.MelSpectrogram(fft_length=16, sequence_length=17)
    with pytest.raises(wt.TensorSizeError, match="fft_length=1099511627776 asks for"):
        ours.layers.MelSpectrogram(fft_length=2**40)
    with pytest.raises(ValueError, match="min_freq must be less than max_freq"):
        ours.layers.MelSpectrogram(sampling_rate=30)
    with pytest.raises(ValueError, match="window must be 'hann' or 'hamming'"):
        ours.layers.MelSpectrogram(window="tukey")
    with pytest.warns(UserWarning, match="a power of two"):
        ours.layers.STFTSpectrogram(fft_length=300)
