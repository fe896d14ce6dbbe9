"""The history of a training as HTML: a chart of each metric, with its validation, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite

__all__ = ["history_html"]

_WIDTH, _HEIGHT = 300, 170
#: The area of the curves: left, top, right, bottom.
_LEFT, _TOP, _RIGHT, _BOTTOM = 58, 30, 290, 142
_INK, _TRAINING, _VALIDATION = "#5b6675", "#2f6fb0", "#c2571a"
_FONT = 'font-family="ui-sans-serif,system-ui,sans-serif" font-size="11"'


def history_html(history: Mapping[str, Sequence[float]], epochs: Sequence[int]) -> str:
    """Return one chart for each metric, with the curve of its validation in the same chart."""
    charts = [
        _chart(name, values, history.get(f"val_{name}", ()), epochs)
        for name, values in history.items()
        if not (name.startswith("val_") and name.removeprefix("val_") in history)
    ]
    return "".join(charts) or "<p>History of no epochs</p>"


def _chart(
    name: str, training: Sequence[float], validation: Sequence[float], epochs: Sequence[int]
) -> str:
    curves = [(name, training, _TRAINING)]
    if validation:
        curves.append((f"val_{name}", validation, _VALIDATION))
    values = [float(value) for _, curve, _ in curves for value in curve if isfinite(value)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    first, last = (epochs[0] + 1, epochs[-1] + 1) if epochs else (1, 1)
    frame = (
        f'<path d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}" fill="none" stroke="{_INK}"/>'
        f"{_text(_LEFT - 5, _TOP + 8, f'{high:.4g}', 'end')}"
        f"{_text(_LEFT - 5, _BOTTOM, f'{low:.4g}', 'end')}"
        f"{_text(_LEFT, _BOTTOM + 15, str(first), 'start')}"
        f"{_text(_RIGHT, _BOTTOM + 15, str(last), 'end')}"
        f"{_text((_LEFT + _RIGHT) / 2, _BOTTOM + 15, 'epoch', 'middle')}"
    )
    lines, legend, start = [], [], float(_LEFT)
    for label, curve, colour in curves:
        lines.append(_line(curve, low, high, colour))
        latest = f"{label} {curve[-1]:.4g}" if curve else label
        legend.append(_text(start, 16, latest, "start", colour))
        start += 7 * len(latest) + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{escape(name)}</title><g {_FONT}>'
        f"{frame}{''.join(lines)}{''.join(legend)}</g></svg>"
    )


def _line(values: Sequence[float], low: float, high: float, colour: str) -> str:
    """Return a curve, and a dot where there is one value only."""
    step = (_RIGHT - _LEFT) / max(len(values) - 1, 1)
    scale = (_BOTTOM - _TOP) / (high - low or 1.0)
    points = [
        (_LEFT + index * step, _BOTTOM - (value - low) * scale)
        for index, value in enumerate(values)
        if isfinite(value)
    ]
    if len(points) == 1:
        ((x, y),) = points
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str = _INK) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )
