"""Numbers in fewer bytes, compared with NumPy in double precision."""

from array import array
from typing import Any

import numpy as np
import pytest

from webtensor.formats.quantization import dequantized, float32_of_float16, quantized
from webtensor.formats.weights_manifest import Quantization

COUNTS = (0, 1, 255, 256, 257, 70_000)


def numbers(count: int, low: float = -3.0, high: float = 5.0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(count).uniform(low, high, count).astype("float32")


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("target", ["uint8", "uint16"])
@pytest.mark.parametrize("count", COUNTS)
def test_dequantized_numbers_are_computed_in_double_precision(
    target: str, dtype: str, count: int
) -> None:
    """Both ways are tried: a table of all steps, and fewer numbers than it would have."""
    last = np.iinfo(target).max
    steps = np.random.default_rng(count).integers(0, last, count, target, endpoint=True)
    scale, minimum = 0.013, -7.3
    exact = steps.astype("float64") * scale + minimum
    expected = exact if dtype == "float32" else np.floor(exact + 0.5)
    result = dequantized(steps.tobytes(), Quantization(target, scale, minimum), dtype)
    np.testing.assert_array_equal(np.asarray(result), expected.astype(dtype))


def test_dequantized_integers_that_would_not_fit() -> None:
    with pytest.raises(ValueError, match="do not fit int32"):
        dequantized(b"\xff", Quantization("uint8", 1e8, 0.0), "int32")


def test_all_numbers_of_half_precision() -> None:
    bits = np.arange(1 << 16, dtype="uint16")
    with np.errstate(invalid="ignore"):
        expected = bits.view("float16").astype("float32")
    np.testing.assert_array_equal(np.asarray(float32_of_float16(bits.tobytes())), expected)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("target", ["uint8", "uint16"])
@pytest.mark.parametrize("low, high", [(-3.0, 5.0), (2.0, 9.0), (-900.0, -100.0), (0.0, 1.0)])
def test_quantized_numbers_are_within_half_a_step(
    target: str, dtype: str, low: float, high: float
) -> None:
    values = numbers(1000, low, high).astype(dtype)
    data, quantization = quantized(values.tobytes(), dtype, target)
    assert quantization.dtype == target
    assert len(data) == 1000 * np.dtype(target).itemsize
    result = np.asarray(dequantized(data, quantization, dtype))
    # The range is shifted by up to half a step so that it has an exact zero.
    slack = 1.0 if dtype == "int32" else 1e-6 * max(abs(low), abs(high))
    assert np.abs(result.astype("float64") - values).max() <= quantization.scale + slack


@pytest.mark.parametrize("target", ["uint8", "uint16"])
def test_zero_stays_zero(target: str) -> None:
    values = np.array([-1.7, 0.0, 2.9], "float32")
    data, quantization = quantized(values, "float32", target)  # type: ignore[arg-type]
    assert np.asarray(dequantized(data, quantization, "float32"))[1] == 0.0


def test_equal_numbers_are_exact() -> None:
    data, quantization = quantized(array("f", [0.3] * 4), "float32", "uint8")  # type: ignore[arg-type]
    assert list(dequantized(data, quantization, "float32")) == list(array("f", [0.3] * 4))


def test_numbers_of_half_precision_are_rounded_to_even() -> None:
    values = np.concatenate([numbers(2000, -70, 70), [65504.0, 6e-8, 2.0**-14, 1 + 2.0**-11]])
    data, quantization = quantized(values.astype("float32").tobytes(), "float32", "float16")
    assert quantization == Quantization("float16")
    assert bytes(data) == values.astype("float32").astype("float16").tobytes()


@pytest.mark.parametrize(
    "values, target, message",
    [
        ([1.0, float("nan")], "uint8", "must be finite"),
        ([float("-inf")], "float16", "must be finite"),
        ([1.0, -70000.0], "float16", r"-70000\.0 is larger than what float16 holds"),
    ],
)
def test_numbers_that_cannot_be_quantized(values: list[float], target: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quantized(array("f", values), "float32", target)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype, target", [("bool", "uint8"), ("int32", "float16")])
def test_dtypes_that_cannot_be_quantized(dtype: str, target: str) -> None:
    with pytest.raises(ValueError, match=f"{dtype} cannot be stored as '{target}'"):
        quantized(bytes(4), dtype, target)
