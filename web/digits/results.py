"""Shows predictions: the confusion matrix, the grid of test digits, images of digits."""

from base64 import b64decode
from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import ceil
from typing import Any

from data import CLASSES, INK, SIDE, Digits
from js import URL, Blob, ImageData, Uint8Array, Uint8ClampedArray, document
from pyodide.ffi import to_js

SPRITE_COLUMNS = 20
INK_COLOUR = (0x16, 0x20, 0x2C)

# A grey level as the RGBA of ink over transparent paper.
_RGBA = [bytes((*INK_COLOUR, round(level * 255 / INK))) for level in range(INK + 1)]


def draw_pixels(canvas: Any, pixels: bytes) -> None:
    """Fill a canvas, row by row, with the ink of grey levels."""
    colours = Uint8ClampedArray.new(4 * len(pixels))
    colours.assign(b"".join(map(_RGBA.__getitem__, pixels)))
    image = ImageData.new(colours, canvas.width, canvas.height)
    canvas.getContext("2d").putImageData(image, 0, 0)


def show_confusion(table: Any, labels: Sequence[int], predictions: Sequence[int]) -> None:
    """Fill a table: a row for each true digit, a column for each prediction."""
    counts = Counter(zip(labels, predictions, strict=True))
    totals = Counter(labels)
    classes = range(CLASSES)
    rows = [
        "<caption>Rows: the true digit. Columns: the network's prediction.</caption>",
        "<thead><tr><td></td>",
        *(f'<th scope="col">{predicted}</th>' for predicted in classes),
        "</tr></thead><tbody>",
    ]
    for true in classes:
        rows.append(f'<tr><th scope="row">{true}</th>')
        for predicted in classes:
            count = counts[true, predicted]
            kind = ("right " if true == predicted else "") + ("" if count else "none")
            rows.append(f'<td class="{kind}">{count}</td>')
        rows.append("</tr>")
    table.innerHTML = "".join([*rows, "</tbody>"])
    cells = table.querySelectorAll("tbody td")
    for cell, (true, predicted) in zip(cells, product(classes, repeat=2), strict=True):
        share = counts[true, predicted] / max(totals[true], 1)
        cell.style.setProperty("--share", f"{share:.2f}")


class DigitGrid:
    """The grid of test digits; their images are one sprite, drawn once."""

    def __init__(self, parent: Any, digits: Digits) -> None:
        """Fill the list element `parent` with digits that have no prediction yet."""
        self._labels = digits.labels
        self._shown: list[int | None] = [None] * len(digits)
        rows = ceil(len(digits) / SPRITE_COLUMNS)
        parent.innerHTML = "".join(
            f'<li title="{label}"><i></i><span>&nbsp;</span></li>' for label in digits.labels
        )
        self._items = list(parent.children)
        for index, item in enumerate(self._items):
            style = item.firstChild.style
            style.setProperty("--column", str(index % SPRITE_COLUMNS))
            style.setProperty("--row", str(index // SPRITE_COLUMNS))
        for name, value in (
            ("--sprite", f"url({_image_url(_sprite(digits.pixels, rows), rows)})"),
            ("--columns", str(SPRITE_COLUMNS)),
            ("--rows", str(rows)),
        ):
            parent.style.setProperty(name, value)

    def show(self, predictions: Sequence[int]) -> None:
        """Write each prediction under its digit; where it is wrong, strike it and add the truth."""
        for index, predicted in enumerate(predictions):
            if predicted == self._shown[index]:
                continue
            self._shown[index] = predicted
            label = self._labels[index]
            item = self._items[index]
            item.className = "" if predicted == label else "wrong"
            text = str(label) if predicted == label else f"<s>{predicted}</s> {label}"
            item.lastChild.innerHTML = text


def _image_url(pixels: bytes, rows: int) -> str:
    """Return an address for a sheet of digits, short so that style rules with it stay cheap."""
    canvas = document.createElement("canvas")
    canvas.width, canvas.height = SPRITE_COLUMNS * SIDE, rows * SIDE
    draw_pixels(canvas, pixels)
    encoded = b64decode(canvas.toDataURL().partition(",")[2])
    content = Uint8Array.new(len(encoded))
    content.assign(encoded)
    return str(URL.createObjectURL(Blob.new(to_js([content]), to_js({"type": "image/png"}))))


def _sprite(images: Sequence[bytes], rows: int) -> bytes:
    """Arrange images in rows of `SPRITE_COLUMNS`; returns the pixels of the whole sheet."""
    blank = bytes(SIDE * SIDE)
    cells = [*images, *[blank] * (rows * SPRITE_COLUMNS - len(images))]
    lines = []
    for start in range(0, len(cells), SPRITE_COLUMNS):
        for line in range(SIDE):
            part = slice(line * SIDE, (line + 1) * SIDE)
            lines += [image[part] for image in cells[start : start + SPRITE_COLUMNS]]
    return b"".join(lines)
