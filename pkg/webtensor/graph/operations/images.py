"""Operations on images."""

from __future__ import annotations

from webtensor.graph.operations.arguments import attribute, boolean, integers, number, text
from webtensor.graph.operations.rows import Row

__all__ = ["ROWS"]

_CORNERS = {
    "align_corners": boolean("align_corners"),
    "half_pixel_centers": boolean("half_pixel_centers"),
}

ROWS = {
    "CropAndResize": Row(
        "image.crop_and_resize",
        0,
        1,
        2,
        crop_size=integers(3),
        method=text("method", "bilinear"),
        extrapolation_value=attribute("extrapolation_value", 0.0),
    ),
    "ImageProjectiveTransformV3": Row(
        "image.transform",
        0,
        1,
        output_shape=integers(2),
        fill_value=number(3),
        interpolation=attribute("interpolation", convert=lambda name: name.lower()),
        fill_mode=attribute("fill_mode", "constant", lambda name: name.lower()),
    ),
    "ResizeBilinear": Row("image.resize_bilinear", 0, size=integers(1), **_CORNERS),
    "ResizeNearestNeighbor": Row("image.resize_nearest_neighbor", 0, size=integers(1), **_CORNERS),
}
