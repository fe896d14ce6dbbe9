"""Fourier transforms of every kind of length, and the plans that are kept for them."""

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, Operand
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.fourier import work_bytes
from webtensor.dtypes import float32


def transform(backend: WasmBackend, x: Array, inverse: bool) -> Array:
    """Transform rows of complex numbers; the plan stays."""
    length = x.shape[-1]
    operand = Operand(backend, np.ascontiguousarray(x).view(np.float32))
    shape = (*x.shape, 2)
    handle = backend.kernels["fft"]([operand], shape, float32, x.size // length, length, inverse)
    result = np.array(backend.read(handle, float32, 2 * x.size)).view(np.complex64)
    backend.release(operand.handle)
    backend.release(handle)
    return result.reshape(x.shape)


def numbers(*shape: int) -> Array:
    random = np.random.default_rng(shape)
    parts = random.standard_normal((*shape, 2)).astype(np.float32)
    return parts.view(np.complex64)[..., 0]


LENGTHS = [
    *range(1, 130),
    *(243, 343, 625, 1001, 1024, 1331, 2197),  # products of small primes
    *(211, 1013, 1018, 4099, 10007),  # with a large prime factor
    *(1 << 15, 99991, 1 << 18),
]


@pytest.mark.parametrize("inverse", [False, True])
def test_every_length(wasm: WasmBackend, inverse: bool) -> None:
    for length in LENGTHS:
        x = numbers(3 if length < 5000 else 1, length)
        wide = x.astype(np.complex128)
        expected = np.fft.ifft(wide, norm="forward") if inverse else np.fft.fft(wide)
        error = np.linalg.norm(transform(wasm, x, inverse) - expected) / np.linalg.norm(expected)
        assert error < 3 * 2.0**-23, f"length {length}"


def test_the_work_area_is_as_large_as_the_module_says(wasm: WasmBackend) -> None:
    expected = wasm.functions["fft", "work", "bytes"]
    for length in LENGTHS:
        assert work_bytes(length) == expected(length)


def test_a_wave_is_one_frequency(wasm: WasmBackend) -> None:
    for length in (12, 16, 35, 37):
        wave = np.exp(2j * np.pi * 5 * np.arange(length) / length).astype(np.complex64)
        expected = np.where(np.arange(length) == 5, length, 0)
        np.testing.assert_allclose(transform(wasm, wave, False), expected, atol=2e-5)


def test_plans_of_the_lengths_used_last_are_kept(fresh_wasm: WasmBackend) -> None:
    blocks = fresh_wasm.memory()["blocks"]
    for length in range(2, 30):
        transform(fresh_wasm, numbers(1, length), False)
    assert fresh_wasm.memory()["blocks"] == blocks + 8
    transform(fresh_wasm, numbers(1, 29), True)
    assert fresh_wasm.memory()["blocks"] == blocks + 8
