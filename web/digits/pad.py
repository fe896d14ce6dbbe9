"""The pad: a canvas to draw a digit on, and its reduction to the 8×8 images of the data set.

The data set's digits were scaled to a bitmap of 32×32, strokes thickened or thinned until about
three tenths of it were ink, and the ink counted in blocks of 4×4. The pad does the same, with the
strokes as lines until the bitmap is drawn.
"""

from collections.abc import Callable
from math import pi
from typing import Any

from data import INK, SIDE
from js import DOMMatrix, OffscreenCanvas, Path2D, getComputedStyle
from page import on
from pyodide.ffi import to_js

BLOCK = 4
BITMAP = SIDE * BLOCK
BITMAP_WIDTH = 20  # of a digit; its height is all of the bitmap
INK_SHARE = 0.305  # of the bitmap, the mean over the data set
STRETCH = 1.5  # at most, of a narrow or a flat digit
PEN = 0.07  # of the pad's width
KEY_STEP = 0.04  # likewise, that a key moves the pen
CURSOR = 0.045  # likewise, the radius of the ring that shows where the pen is

DIRECTIONS = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, -1), "ArrowDown": (0, 1)}
PEN_KEYS = (" ", "Enter")

_IS_INK = bytes(alpha >= 128 for alpha in range(256))


class Pad:
    """Draws strokes on a canvas; `levels()` is what the network would see of them.

    A pointer draws, or keys: arrows move a pen, which the space bar lowers and lifts.
    """

    def __init__(
        self, canvas: Any, on_change: Callable[[], None], on_pen: Callable[[bool], None]
    ) -> None:
        """Listen to the canvas; call `on_change` for drawings, and `on_pen` as keys use the pen."""
        self._canvas = canvas
        self._context = canvas.getContext("2d")
        self._on_change = on_change
        self._on_pen = on_pen
        self._cursor = (canvas.width / 2, canvas.height / 2)
        self._cursor_shows = self._pen_is_down = False
        self._pressed: set[str] = set()  # of the arrow keys
        bitmap = OffscreenCanvas.new(BITMAP, BITMAP)
        self._bitmap = bitmap.getContext("2d", to_js({"willReadFrequently": True}))
        self._bitmap.lineCap = self._bitmap.lineJoin = "round"
        self.clear()
        on(canvas, "pointerdown", self._on_down)
        on(canvas, "pointermove", self._on_move)
        for event in ("pointerup", "pointercancel"):
            on(canvas, event, self._on_up)
        on(canvas, "keydown", self._on_key_down)
        on(canvas, "keyup", lambda event: self._pressed.discard(event.key))
        on(canvas, "blur", self._on_blur)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is drawn."""
        return self._box is None

    def clear(self) -> None:
        """Take a fresh sheet."""
        self._path = Path2D.new()
        self._box: tuple[float, float, float, float] | None = None
        self._pointer: int | None = None
        self._image: Any = None
        self._paint()

    def show_image(self, image: Any) -> None:
        """Fill the pad with the large pixels of a small image."""
        self._image = image
        self._paint()

    def levels(self) -> bytes:
        """Return 64 grey levels from 0 to 16, row by row."""
        # Ink grows about linearly with the width of the stroke, so two corrections are enough.
        width = 5.0
        ink = self._draw_bitmap(width)
        for _ in range(2):
            share = sum(ink) / len(ink)
            width = min(max(width * INK_SHARE / max(share, 0.01), 2), 10)
            ink = self._draw_bitmap(width)
        return block_counts(ink)

    def _draw_bitmap(self, line_width: float) -> bytes:
        """Stroke the path, fitted to the bitmap, and return a byte per pixel: 1 where ink is."""
        assert self._box is not None
        left, top, right, bottom = self._box
        scale_x = (BITMAP_WIDTH - line_width) / max(right - left, 1)
        scale_y = (BITMAP - line_width) / max(bottom - top, 1)
        scale_x, scale_y = min(scale_x, STRETCH * scale_y), min(scale_y, STRETCH * scale_x)
        centre_x, centre_y = (left + right) / 2, (top + bottom) / 2

        fit = DOMMatrix.new().translate(BITMAP / 2, BITMAP / 2)
        fit = fit.scale(scale_x, scale_y).translate(-centre_x, -centre_y)
        fitted = Path2D.new()
        fitted.addPath(self._path, fit)
        self._bitmap.clearRect(0, 0, BITMAP, BITMAP)
        self._bitmap.lineWidth = line_width
        self._bitmap.stroke(fitted)
        pixels: bytes = self._bitmap.getImageData(0, 0, BITMAP, BITMAP).data.to_bytes()
        return pixels[3::4].translate(_IS_INK)

    def _on_down(self, event: Any) -> None:
        event.preventDefault()
        self._hide_cursor()
        self._canvas.setPointerCapture(event.pointerId)
        self._pointer = event.pointerId
        x, y = self._position(event)
        self._path.moveTo(x, y)
        self._extend(x, y)
        self._show()

    def _on_move(self, event: Any) -> None:
        if event.pointerId != self._pointer:
            return
        # A browser may gather several movements of a fast pen into one event.
        for movement in event.getCoalescedEvents() or [event]:
            self._extend(*self._position(movement))
        self._show()

    def _on_up(self, event: Any) -> None:
        if event.pointerId == self._pointer:
            self._pointer = None

    def _on_key_down(self, event: Any) -> None:
        if event.ctrlKey or event.metaKey or event.altKey:
            return
        if event.key in PEN_KEYS:
            event.preventDefault()
            if not event.repeat:
                self._set_pen(not self._pen_is_down)
        elif event.key in DIRECTIONS:
            event.preventDefault()
            self._pressed.add(event.key)
            self._move_cursor()

    def _on_blur(self, event: Any) -> None:
        self._pressed.clear()
        self._hide_cursor()

    def _hide_cursor(self) -> None:
        if self._cursor_shows:
            self._set_pen(False)
            self._cursor_shows = False
            self._paint()

    def _set_pen(self, is_down: bool) -> None:
        self._cursor_shows = True
        self._pen_is_down = is_down
        self._on_pen(is_down)
        if is_down:
            self._path.moveTo(*self._cursor)
            self._extend(*self._cursor)
            self._show()
        else:
            self._paint()

    def _move_cursor(self) -> None:
        """Take a step in the direction of all arrow keys that are pressed."""
        self._cursor_shows = True
        size = self._canvas.width
        steps = [sum(DIRECTIONS[key][axis] for key in self._pressed) for axis in (0, 1)]
        x, y = (
            min(max(position + step * KEY_STEP * size, 0), size)
            for position, step in zip(self._cursor, steps, strict=True)
        )
        self._cursor = x, y
        if self._pen_is_down:
            self._extend(x, y)
            self._show()
        else:
            self._paint()

    def _position(self, event: Any) -> tuple[float, float]:
        """Return where an event lies on the canvas, in its own pixels."""
        scale = self._canvas.width / self._canvas.clientWidth
        return event.offsetX * scale, event.offsetY * scale

    def _extend(self, x: float, y: float) -> None:
        self._path.lineTo(x, y)
        left, top, right, bottom = self._box or (x, y, x, y)
        self._box = min(left, x), min(top, y), max(right, x), max(bottom, y)

    def _show(self) -> None:
        self._image = None
        self._paint()
        self._on_change()

    def _paint(self) -> None:
        context, size = self._context, self._canvas.width
        context.clearRect(0, 0, size, size)
        if self._image is not None:
            context.imageSmoothingEnabled = False
            context.drawImage(self._image, 0, 0, size, size)
        context.lineCap = context.lineJoin = "round"
        context.lineWidth = PEN * size
        context.strokeStyle = getComputedStyle(self._canvas).getPropertyValue("--ink")
        context.stroke(self._path)
        if self._cursor_shows:
            context.lineWidth = PEN * size / 4
            context.strokeStyle = getComputedStyle(self._canvas).getPropertyValue("--pen")
            ring = Path2D.new()
            ring.arc(*self._cursor, CURSOR * size, 0, 2 * pi)
            context.stroke(ring)


def block_counts(ink: bytes) -> bytes:
    """Count the ink of a bitmap, a byte of 0 or 1 per pixel, in blocks of 4×4."""
    assert BLOCK * BLOCK == INK
    return bytes(
        sum(
            sum(ink[start : start + BLOCK])
            for start in range(corner, corner + BLOCK * BITMAP, BITMAP)
        )
        for row in range(SIDE)
        for corner in range(row * BLOCK * BITMAP, row * BLOCK * BITMAP + BITMAP, BLOCK)
    )
