"""Draws a hand for the page to begin with, at build time: there is no photograph of one."""

from pathlib import Path

#: x and y of the base and of the tip of each finger, from the thumb on, and its width.
FINGERS = (
    ((220, 380), (95, 270), 38),
    ((190, 280), (165, 130), 34),
    ((228, 280), (222, 100), 34),
    ((264, 280), (280, 120), 34),
    ((296, 290), (335, 170), 28),
)
WRIST = ((240, 520), (240, 400), 90)
PALM = (168, 250, 318, 420)
SIZE = 480
BACKGROUND, SKIN, EDGE = (70, 90, 110), (222, 170, 140), (170, 115, 90)
EDGE_WIDTH = 3


def export(output_dir: Path) -> None:
    """Write `drawn_hand.png` into a folder."""
    from PIL import Image, ImageDraw, ImageFilter

    image = Image.new("RGB", (SIZE, SIZE), BACKGROUND)
    draw = ImageDraw.Draw(image)
    for colour, margin in ((EDGE, EDGE_WIDTH), (SKIN, 0)):
        left, top, right, bottom = PALM
        palm = (left - margin, top - margin, right + margin, bottom + margin)
        draw.rounded_rectangle(palm, 40, fill=colour)
        for (x1, y1), (x2, y2), width in (WRIST, *FINGERS):
            draw.line((x1, y1, x2, y2), fill=colour, width=width + 2 * margin)
            radius = width / 2 + margin
            draw.ellipse((x2 - radius, y2 - radius, x2 + radius, y2 + radius), fill=colour)
    image.filter(ImageFilter.GaussianBlur(1.5)).save(output_dir / "drawn_hand.png", optimize=True)
