"""Fourier transforms."""

from __future__ import annotations

import webtensor as wt
from tests_browser.bench.workload import CPU_FOR_WASM, SINES, Input, Workload

__all__ = ["SIGNALS"]

SIGNALS = [
    Workload(
        "spectral.fft",
        lambda a, b: wt.real(wt.spectral.fft(wt.complex(a, b))),
        "tf.tidy(() => tf.real(tf.spectral.fft(tf.complex(a, b))))",
        {"a": Input((64, 1024)), "b": Input((64, 1024))},
        peers=CPU_FOR_WASM,
        tolerance=SINES,
    ),
    Workload(
        "spectral.rfft",
        lambda x: wt.real(wt.spectral.rfft(x)),
        "tf.tidy(() => tf.real(tf.spectral.rfft(x)))",
        {"x": Input((64, 1024))},
        peers=CPU_FOR_WASM,
        tolerance=SINES,
    ),
    Workload(
        "signal.stft",
        lambda x: wt.real(wt.signal.stft(x, 256, 128)),
        "tf.tidy(() => tf.real(tf.signal.stft(x, 256, 128)))",
        {"x": Input((16_000,))},
        peers=CPU_FOR_WASM,
        tolerance=SINES,
    ),
]
