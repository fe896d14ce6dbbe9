"""Geometry of sliding windows as uniforms."""

from __future__ import annotations

from webtensor.geometry import Window

__all__ = ["WINDOW_UNIFORMS", "window_numbers"]

_NAMES = (
    "inHeight",
    "inWidth",
    "inChannels",
    "outHeight",
    "outWidth",
    "outChannels",
    "filterHeight",
    "filterWidth",
    "strideHeight",
    "strideWidth",
    "dilationHeight",
    "dilationWidth",
    "padTop",
    "padLeft",
)

#: The window's geometry; the batch is not needed.
WINDOW_UNIFORMS = [(name, "int") for name in _NAMES]


def window_numbers(window: Window) -> tuple[int, ...]:
    """Values of ``WINDOW_UNIFORMS``."""
    return window[1:]
