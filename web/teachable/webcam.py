"""The webcam: the button that starts it, and buttons of classes that record while they are held."""

from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import Any

import class_cards
from class_cards import MAX_EXAMPLES, Example, TaughtClass
from js import window
from page import element, write
from pictures import square
from program import on

import webtensor as wt

SECONDS_BETWEEN_EXAMPLES = 0.1


class Webcam:
    """The webcam, in the page's video element, and the class that it records."""

    def __init__(self, notify: Callable[[str], None], on_change: Callable[[], None]) -> None:
        """Leave it off.

        Args:
            notify: hears what goes wrong, as a sentence.
            on_change: is called when the webcam starts, and when a recording ends.
        """
        self._notify = notify
        self._on_change = on_change
        self._device: wt.data.Webcam | None = None
        self._recorded: TaughtClass | None = None
        self._recorded_at = 0.0
        self._is_open = True

    def listen(self) -> None:
        """Let the visitor use it."""
        on(element("webcam"), "click", lambda event: self._start_or_stop())
        cards = element("classes")
        for start in ("pointerdown", "keydown"):
            on(cards, start, self._start_recording)
        for end in ("pointerup", "pointercancel", "keyup"):
            on(cards, end, self._stop_recording)
        on(window, "blur", self._stop_recording)
        on(cards, "contextmenu", self._keep_holding)

    @property
    def is_on(self) -> bool:
        """Whether it is on, though it may have been taken away."""
        return self._device is not None

    def stop_if_lost(self) -> None:
        """Turn it off, and say so, if it was taken away."""
        if self._device is not None and not self._device.is_live:
            self.stop()
            self._notify("The webcam was taken away.")

    async def picture(self) -> Any:
        """Return what the webcam sees at the page's next frame."""
        await wt.next_frame()
        video = element("video")
        return square(video, video.videoWidth, video.videoHeight)

    def recorded(self, picture: Any) -> Example | None:
        """Return an example with a picture if the visitor records a class, and it is time."""
        taught, now = self._recorded, perf_counter()
        if taught is None or now - self._recorded_at < SECONDS_BETWEEN_EXAMPLES:
            return None
        if taught.is_full:
            self._stop_recording()
            self._notify(f"{taught.name} is full: a class has up to {MAX_EXAMPLES} pictures.")
            return None
        self._recorded_at = now
        return taught.add(picture)

    def stop(self) -> None:
        """Give the webcam back."""
        if self._device is not None:
            self._device.stop()
            self._device = None
        self._stop_recording()
        element("judged").classList.remove("live")
        write("webcam", "Start webcam")

    def close(self) -> None:
        """Give the webcam back, and leave it off for ever."""
        self._is_open = False
        self.stop()

    async def _start_or_stop(self) -> None:
        if self.is_on:
            self.stop()
        else:
            await self._start()

    async def _start(self) -> None:
        """Ask the visitor for the webcam."""
        button = element("webcam")
        button.disabled = True
        try:
            device = await wt.data.webcam(element("video"))
        except PermissionError:
            self._notify("The webcam was not allowed.")
            return
        except OSError:
            self._notify("There is no webcam that can be used.")
            return
        finally:
            button.disabled = False
        if not self._is_open:
            device.stop()
            return
        self._device = device
        self._notify("")
        element("judged").classList.add("live")
        write("webcam", "Stop webcam")
        self._on_change()

    def _start_recording(self, event: Any) -> Coroutine[Any, Any, None] | None:
        """Record a class from now on, if its button is held down by the pointer or by a key."""
        button = event.target.closest("[data-action=record]")
        is_key = event.type == "keydown"
        if not button or (event.key not in (" ", "Enter") if is_key else event.button != 0):
            return None
        if is_key:
            event.preventDefault()
        else:
            button.setPointerCapture(event.pointerId)
        if self._recorded is not None:
            return None
        self._recorded = class_cards.class_of(button)
        button.classList.add("recording")
        return None if self.is_on else self._start()

    def _stop_recording(self, event: Any = None) -> None:
        if self._recorded is not None:
            self._recorded.card.querySelector(".recording").classList.remove("recording")
            self._recorded = None
            self._on_change()

    def _keep_holding(self, event: Any) -> None:
        """Let a long touch of the button open no menu."""
        if event.target.closest("[data-action=record]"):
            event.preventDefault()
