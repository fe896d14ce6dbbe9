"""Spectrograms beside those of the browser's own ``AnalyserNode``."""

import numpy as np
import pytest

from tests_browser.python_page import PythonPage

FFT_SIZE, FRAMES, RATE = 1024, 8, 44100

#: The levels of a sound, as an AnalyserNode sees it after each 1024 samples.
PROGRAM = """
import js
import webtensor as wt
from pyodide.code import run_js
from pyodide.ffi import to_js

analyse = run_js('''async (numbers, fftSize, frames, rate) => {
  const samples = new Float32Array(numbers);
  const context = new OfflineAudioContext(1, samples.length + 128, rate);
  const buffer = context.createBuffer(1, samples.length, rate);
  buffer.copyToChannel(samples, 0);
  const source = new AudioBufferSourceNode(context, { buffer });
  const analyser = new AnalyserNode(context, { fftSize: 2 * fftSize, smoothingTimeConstant: 0 });
  source.connect(analyser).connect(context.destination);
  source.start();
  const levels = new Float32Array(frames * fftSize);
  for (let frame = 0; frame < frames; frame++) {
    // Rendering stops at multiples of 128 samples, the next after this time.
    const time = ((frame + 1) * fftSize - 64) / rate;
    context.suspend(time).then(() => {
      analyser.getFloatFrequencyData(levels.subarray(frame * fftSize, (frame + 1) * fftSize));
      context.resume();
    });
  }
  await context.startRendering();
  return levels;
}''')
theirs = (await analyse(to_js(samples), fft_size, frames, rate)).to_py()
wt.set_backend(backend)
ours = wt.audio.spectrogram(samples, fft_size=fft_size)
[list(theirs), (await ours.array())]
"""


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_spectrograms_are_those_of_the_browser(chromium_python: PythonPage, backend: str) -> None:
    random = np.random.default_rng(0)
    time = np.arange(FRAMES * FFT_SIZE) / RATE
    tones = sum(np.sin(2 * np.pi * hertz * time) for hertz in (440.0, 3000.0))
    samples = (0.2 * tones + random.normal(0, 0.01, len(time))).astype(np.float32)
    theirs, ours = chromium_python.run(
        PROGRAM,
        samples=samples.tolist(),
        fft_size=FFT_SIZE,
        frames=FRAMES,
        rate=RATE,
        backend=backend,
    )
    expected = np.array(theirs).reshape(FRAMES, FFT_SIZE)
    assert expected.max() > -30
    np.testing.assert_allclose(np.array(ours)[..., 0], expected, atol=0.1)
