"""Line charts as SVG text; colours and fonts come from the page's style sheet."""

from collections.abc import Sequence

WIDTH, HEIGHT = 340, 135
LEFT, RIGHT, TOP, BOTTOM = 40, WIDTH - 6, 8, HEIGHT - 20

Points = Sequence[tuple[float, float]]


def line_chart(
    label: str, points: Points, right: float, top: float, unit: str = "", smoothed: bool = False
) -> str:
    """Draw points (x from 0 to `right`, y from 0 to `top`) joined by a line.

    With `smoothed`, the points' running mean stands out and the points themselves are faint.
    """
    parts = [*_value_lines(top, unit), *_epoch_marks(right)]
    if points:
        if smoothed:
            parts.append(_line(points, right, top, "curve faint"))
        parts.append(_line(running_mean(points) if smoothed else points, right, top, "curve"))
        x, y = _place(*points[-1], right, top)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        label += f": {points[-1][1]:.3g}{unit} after epoch {points[-1][0]:.3g}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}"'
        f' data-points="{len(points)}">{"".join(parts)}</svg>'
    )


def running_mean(points: Points, decay: float = 0.9) -> list[tuple[float, float]]:
    """Smooth the points' heights by a mean whose memory decays."""
    total = weight = 0.0
    smooth = []
    for x, y in points:
        total = decay * total + y
        weight = decay * weight + 1
        smooth.append((x, total / weight))
    return smooth


def _place(x: float, y: float, right: float, top: float) -> tuple[float, float]:
    height = min(y / top, 1) * (BOTTOM - TOP)
    return LEFT + x / right * (RIGHT - LEFT), BOTTOM - height


def _line(points: Points, right: float, top: float, style: str) -> str:
    placed = (_place(x, y, right, top) for x, y in points)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    return f'<polyline class="{style}" points="{path}"/>'


def _value_lines(top: float, unit: str) -> list[str]:
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = BOTTOM - share * (BOTTOM - TOP)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text = f"{share * top:g}{unit}"
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    return parts


def _epoch_marks(epochs: float) -> list[str]:
    step = max(1, round(epochs / 6))
    marks = range(0, int(epochs) + 1, step)
    return [
        f'<text x="{_place(mark, 0, epochs, 1)[0]:.1f}" y="{HEIGHT - 5}"'
        f' text-anchor="middle">{mark or "epoch 0"}</text>'
        for mark in marks
    ]
