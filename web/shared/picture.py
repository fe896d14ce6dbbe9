"""The picture that a page's program looks at: an image, or the webcam.

It is the page's example at first, then what the visitor opens, drops or pastes, or the webcam. It
never leaves the page. An image is yielded once, and again when a control of the page changes; of
the webcam, frame after frame.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from time import perf_counter
from typing import Any, NamedTuple

from bitmaps import read_bitmap
from js import document, fetch, window
from overlay import Overlay
from page import element, find, run_in_background, write
from program import FrameRate, at_end, on, show_facts
from pyodide.ffi import JsException

import webtensor as wt
from webtensor.io.handlers import LoadOptions

#: The maximum of pixels of an image's longer side; larger images are scaled down to it.
LARGEST_SIDE = 960
#: How long a line about the webcam's frames stays, so that it can be read.
SECONDS_TO_READ = 1.0
BUTTONS = ("webcam", "choose", "example")


class Frame(NamedTuple):
    """A frame of the webcam, or an image.

    Attributes:
        pixels: int32, (height, width, 3), from 0 to 255.
        canvas: a canvas with the same pixels, which `Picture.show` shows.
        timestamp: when it was taken, in milliseconds; None for an image.
    """

    pixels: wt.Tensor
    canvas: Any
    timestamp: float | None


class Picture:
    """The picture, and the page's canvas and controls for it."""

    def __init__(self) -> None:
        """Show the page's example, if it has one; until the run ends, let the visitor choose."""
        self._stage = element("picture")
        self._canvas = document.createElement("canvas")
        # Its pixels are read where Python computes. The GPU takes them from a canvas of its own.
        is_read = wt.get_backend() != "webgl"
        self._context = self._canvas.getContext("2d", willReadFrequently=is_read)
        self._image: Any = None
        self._camera: wt.data.Webcam | None = None
        self._changed = asyncio.Event()
        self._rate = FrameRate()
        self._is_open = True
        self._said_at = self._began = 0.0
        self._is_fresh = False
        at_end(self._close)
        self._listen()
        if find("example"):
            run_in_background(self._open_example())

    # -- for programs --

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield images and the webcam's frames, and show how long the program computes for each."""
        while True:
            self._changed.clear()
            frame = await self._next_frame()
            if frame is None:
                continue
            self._began = perf_counter()
            yield frame
            seconds = perf_counter() - self._began
            if frame.timestamp is None:
                occasion = ", the first time" if self._is_fresh else ""
                show_facts(f"{1000 * seconds:.0f} ms for this image{occasion}")
                self._is_fresh = False
                await self._changed.wait()
            else:
                self._rate.count(seconds)

    def show(self, frame: Frame) -> Overlay:
        """Show a frame, the webcam's like a mirror, and return what is drawn on it."""
        return Overlay(self._stage, frame.canvas, is_mirrored=frame.timestamp is not None)

    def say(self, text: str) -> None:
        """Write a line below the picture; while the webcam runs, one a second."""
        now = perf_counter()
        if self._camera is None or now - self._said_at >= SECONDS_TO_READ:
            self._said_at = now
            write("status", text)

    def loading(self, name: str) -> LoadOptions:
        """Return options of loading a model, by which the page shows how much of it is there."""

        def show(fraction: float) -> None:
            write(
                "status", f"Loading {name}: {100 * fraction:.0f} %" if fraction < 1 else "Starting"
            )
            self._began = perf_counter()  # loading is no part of computing
            self._is_fresh = True

        return {"on_progress": show}

    # -- frames --

    async def _next_frame(self) -> Frame | None:
        """Return the next frame; None where there is none yet, or another picture was chosen."""
        if self._camera is not None:
            return await self._camera_frame(self._camera)
        if self._image is not None:
            self._copy_image()
            return Frame(wt.browser.from_pixels(self._canvas), self._canvas, None)
        await self._changed.wait()
        return None

    async def _camera_frame(self, camera: wt.data.Webcam) -> Frame | None:
        try:
            pixels = await camera.capture_async()
        except RuntimeError:  # the visitor stopped it
            return None
        except OSError:
            self._stop_camera()
            write("notice", "The webcam was taken away.")
            return None
        height, width = pixels.shape[:2]
        self._copy(camera.video, width, height)
        return Frame(pixels, self._canvas, 1000 * perf_counter())

    def _copy_image(self) -> None:
        width, height = self._image.width, self._image.height
        scale = min(1.0, LARGEST_SIDE / max(width, height))
        self._copy(self._image, max(1, round(scale * width)), max(1, round(scale * height)))

    def _copy(self, source: Any, width: int, height: int) -> None:
        self._canvas.width, self._canvas.height = width, height
        self._context.drawImage(source, 0, 0, width, height)

    # -- what the visitor chooses --

    def _listen(self) -> None:
        on(element("webcam"), "click", self._start_or_stop_camera)
        on(element("choose"), "click", self._choose_file)
        on(element("file"), "change", lambda event: self._open_first(event.target.files))
        on(window, "drop", lambda event: self._open_first(event.dataTransfer.files))
        on(window, "paste", lambda event: self._open_first(event.clipboardData.files))
        on(window, "resize", self._look_again)
        on(element("controls"), "input", self._look_again)
        if find("example"):
            on(element("example"), "click", lambda event: self._open_example())
        self._enable_buttons()

    def _enable_buttons(self) -> None:
        for button in filter(None, map(find, BUTTONS)):
            button.disabled = not self._is_open

    def _look_again(self, event: Any) -> None:
        self._changed.set()

    def _choose_file(self, event: Any) -> None:
        file = element("file")
        file.value = ""  # or the same file would be no change
        file.click()

    async def _open_example(self) -> None:
        try:
            response = await fetch(element("example").dataset.source)
            content = await response.blob()
        except JsException:
            write("notice", "The example could not be loaded.")
            return
        await self._open_image(content, "The example")

    def _open_first(self, files: Any) -> Coroutine[Any, Any, None] | None:
        """Take what was dropped, pasted or chosen, which is there until the event is over."""
        return self._open_image(files[0], files[0].name) if files.length else None

    async def _open_image(self, file: Any, name: str) -> None:
        """Look at an image from now on."""
        try:
            image = await read_bitmap(file)
        except JsException:
            write("notice", f"{name} is no image that this browser can read.")
            return
        if not self._is_open:
            image.close()
            return
        self._close_image()
        self._stop_camera()
        self._image = image
        write("notice", "")
        self._copy_image()
        Overlay(self._stage, self._canvas, is_mirrored=False)
        self._changed.set()

    def _close_image(self) -> None:
        if self._image is not None:
            self._image.close()
            self._image = None

    async def _start_or_stop_camera(self, event: Any) -> None:
        if self._camera is not None:
            self._stop_camera()
            return
        button = element("webcam")
        button.disabled = True
        write("notice", "The browser asks whether this page may use the webcam.")
        try:
            self._camera = await wt.data.webcam()
        except PermissionError:
            write("notice", "The webcam was not allowed. The browser's settings can allow it.")
        except OSError as error:
            reason = str(error).removeprefix("webcam: ").partition(" (")[0]
            write("notice", f"{reason[0].upper()}{reason[1:]}.")
        else:
            button.textContent = "Stop the webcam"
            write("notice", "")
            self._changed.set()
        if self._is_open:
            button.disabled = False
        else:
            self._stop_camera()

    def _stop_camera(self) -> None:
        if self._camera is not None:
            self._camera.stop()
            self._camera = None
            element("webcam").textContent = "Webcam"
            self._changed.set()

    def _close(self) -> None:
        self._is_open = False
        self._stop_camera()
        self._close_image()
        self._enable_buttons()
