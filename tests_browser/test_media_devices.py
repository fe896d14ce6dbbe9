"""Cameras and microphones: what imitated ones of Chromium and Firefox record."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Playwright

from tests_browser.browsers import launch_chromium, launch_firefox
from tests_browser.python_page import PlaywrightPythonPage, PythonPage

IMITATED = "--use-fake-device-for-media-stream"
ALLOWED = "--use-fake-ui-for-media-stream"
FIREFOX = {"media.navigator.streams.fake": True, "media.navigator.permission.disabled": True}

START = """
import asyncio, gc
import js
import webtensor as wt
from pyodide_js import _module as module
"""


@pytest.fixture(scope="module")
def recording(playwright: Playwright, site_url: str) -> Iterator[PythonPage]:
    """A page in a Chromium with an imitated camera and microphone, which pages may use."""
    browser = launch_chromium(playwright, [IMITATED, ALLOWED])
    yield PlaywrightPythonPage("chromium", site_url, browser.new_page())
    browser.close()


@pytest.fixture(scope="module")
def firefox_recording(playwright: Playwright, site_url: str) -> Iterator[PythonPage]:
    """A page in a Firefox of this kind."""
    browser = launch_firefox(playwright, FIREFOX)
    yield PlaywrightPythonPage("firefox", site_url, browser.new_page())
    browser.close()


@pytest.fixture(params=["recording", "firefox_recording"])
def page(request: pytest.FixtureRequest) -> PythonPage:
    """A page with an imitated camera."""
    page: PythonPage = request.getfixturevalue(request.param)
    return page


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_frames_of_a_camera(page: PythonPage, backend: str):
    code = """
wt.set_backend(backend)
with await wt.data.webcam() as camera:
    frames = [(frame.shape, str(frame.dtype), float(wt.max(frame)))
              async for frame in camera.take(3)]
    size = [camera.video.videoHeight, camera.video.videoWidth, 3]
    whole = await camera.capture_async()
    is_live = camera.is_live
[frames, size, whole.shape, is_live, camera.is_live]
"""
    frames, size, shape, *is_live = page.run(START + code, backend=backend)
    assert len(frames) == 3
    for frame_size, dtype, maximum in frames:
        assert frame_size == shape == size
        assert dtype == "int32"
        assert 0 < maximum <= 255
    assert is_live == [True, False]


def test_frames_are_resized(page: PythonPage):
    code = """
wt.set_backend("wasm")
video = js.document.createElement("video")
with await wt.data.webcam(video, resize_width=16, resize_height=24, center_crop=True) as camera:
    frame = await camera.capture_async()
    camera.video.pause()
    element_is_used = camera.video.isSameNode(video)
[frame.shape, str(frame.dtype), float(wt.max(frame)) <= 255, element_is_used]
"""
    assert page.run(START + code) == [[24, 16, 3], "float32", True, True]


def test_pipelines_of_frames(page: PythonPage):
    code = """
wt.set_backend("wasm")
with await wt.data.webcam(resize_width=8, resize_height=8) as camera:
    batches = [batch.shape async for batch in camera.map(lambda x: x / 255).batch(2).take(2)]
batches
"""
    assert page.run(START + code) == [[2, 8, 8, 3], [2, 8, 8, 3]]


@pytest.mark.parametrize("end", ["stop", "lose"])
def test_the_end_of_a_camera(page: PythonPage, end: str):
    code = """
camera = await wt.data.webcam()
stream = camera.video.srcObject

async def frames():
    async for frame in camera:
        pass
    return "ended"

async def outcome(awaitable):
    try:
        return await awaitable
    except Exception as error:
        return f"{type(error).__name__}: {error}"

running = asyncio.ensure_future(outcome(frames()))
await asyncio.sleep(0.1)
if end == "stop":
    camera.stop()
else:
    stream.getTracks()[0].stop()
result = [await running, await outcome(camera.capture_async()), stream.active]
camera.stop()
result
"""
    iteration, capture, is_active = page.run(START + code, end=end)
    assert not is_active
    if end == "stop":
        assert iteration == "ended"
        assert capture == "RuntimeError: the camera was stopped"
    else:
        assert iteration == capture == "OSError: the camera was taken away"


def test_a_camera_that_is_stopped_when_a_frame_arrives(page: PythonPage):
    code = """
from pyodide.ffi import create_once_callable

camera = await wt.data.webcam()
capture = asyncio.ensure_future(camera.capture_async())
await asyncio.sleep(0)
camera.video.requestVideoFrameCallback(create_once_callable(lambda *_: camera.stop()))
try:
    await capture
except Exception as error:
    outcome = f"{type(error).__name__}: {error}"
outcome
"""
    assert page.run(START + code) == "RuntimeError: the camera was stopped"


def test_nothing_leaks(page: PythonPage):
    code = """
wt.set_backend("wasm")

async def record():
    with await wt.data.webcam(resize_width=8, resize_height=8) as camera:
        async for frame in camera.take(2):
            pass
    if has_audio:
        with await wt.data.microphone(num_frames_per_spectrogram=2) as microphone:
            await microphone.capture_async()

def counts():
    gc.collect()
    return [module._hiwire_num_refs(), module.pyproxy_alloc_map.size, wt.memory()["num_tensors"]]

module.enable_pyproxy_allocation_tracing()
for _ in range(2):
    await record()
before = counts()
for _ in range(5):
    await record()
[before, counts()]
"""
    before, after = page.run(START + code, has_audio=page.browser_name == "chromium")
    assert after == before


class TestMicrophone:
    """Firefox plays and records nothing where the machine has no device to play with."""

    def test_shapes(self, recording: PythonPage):
        code = """
with await wt.data.microphone(
    fft_size=512, num_frames_per_spectrogram=8, column_truncate_length=100, include_waveform=True
) as microphone:
    element = await microphone.capture_async()
    rate = microphone.sample_rate
spectrogram, waveform = element["spectrogram"], element["waveform"]
[spectrogram.shape, waveform.shape, rate >= 8000, str(spectrogram.dtype),
 float(wt.max(wt.abs(waveform)))]
"""
        spectrogram, waveform, has_rate, dtype, peak = recording.run(START + code)
        assert spectrogram == [8, 100, 1]
        assert waveform == [8 * 512, 1]
        assert has_rate
        assert dtype == "float32"
        assert 0 <= peak <= 1

    def test_it_hears_the_beeps(self, recording: PythonPage):
        code = """
# Chromium's imitated microphone beeps once a second, which a page that is kept waiting may miss.
with await wt.data.microphone(num_frames_per_spectrogram=60) as microphone:
    for _ in range(40):
        element = await microphone.capture_async()
        levels = [max(value for value, in row) for row in element["spectrogram"].tolist()]
        if max(levels) > min(levels) + 20:
            break
[max(levels), min(levels)]
"""
        loudest, quietest = recording.run(START + code)
        assert loudest > quietest + 20

    @pytest.mark.parametrize("backend", ["wasm", "webgl"])
    def test_models_listen_to_it(self, recording: PythonPage, backend: str):
        code = """
from webtensor import keras

wt.set_backend(backend)
network = keras.Sequential([
    keras.Input((10, 232, 1)),
    keras.layers.Flatten(),
    keras.layers.Dense(2, activation="softmax", kernel_initializer="zeros"),
])
speech = wt.audio.SpeechCommands(network, words=["yes", "no"])

async def listen():
    with await wt.data.microphone(num_frames_per_spectrogram=1) as microphone:
        words = []
        async for heard in speech.listen(microphone):
            words.append([heard.word, *heard.probabilities.values()])
            if len(words) == 2:
                return words

def counts():
    gc.collect()
    return [module._hiwire_num_refs(), module.pyproxy_alloc_map.size, wt.memory()["num_tensors"]]

module.enable_pyproxy_allocation_tracing()
for _ in range(2):
    await listen()
before = counts()
words = await listen()
[words, before, counts()]
"""
        words, before, after = recording.run(START + code, backend=backend)
        assert words == [["yes", 0.5, 0.5]] * 2
        assert after == before

    def test_a_browser_without_audio(self, firefox_recording: PythonPage):
        code = """
try:
    with await wt.data.microphone(num_frames_per_spectrogram=2) as microphone:
        element = await microphone.capture_async()
    outcome = str(element["spectrogram"].shape)
except OSError as error:
    outcome = str(error)
outcome
"""
        outcome = firefox_recording.run(START + code)
        assert outcome == "(2, 1024, 1)" or "the browser starts no audio" in outcome


def test_permission_denied(playwright: Playwright, site_url: str):
    browser = launch_chromium(playwright, [IMITATED])
    page = PlaywrightPythonPage("chromium", site_url, browser.new_page())
    code = """
errors = []
for open_device in (wt.data.webcam, wt.data.microphone):
    try:
        await open_device()
    except PermissionError as error:
        errors.append(str(error))
errors
"""
    camera, microphone = page.run(START + code)
    browser.close()
    assert "webcam: the camera was not allowed, by the visitor or by the page's policy" in camera
    assert "microphone: the microphone was not allowed" in microphone


def test_no_device(chromium_python: PythonPage):
    code = """
try:
    await wt.data.webcam(device_id="missing")
except OSError as error:
    message = str(error)
message
"""
    assert chromium_python.run(START + code).startswith("webcam: there is no camera of this kind")
