"""Pictures of models, as SVG: boxes for layers in ranks, and arrows for what goes between them.

``diagrams`` says what there is, ``_arranged`` where it goes: each layer lies below all that it
needs; within a rank, layers are ordered to have few arrows cross, and moved towards those they
belong to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from webtensor.keras.models.diagrams import Details, check_direction, diagram_of

__all__ = ["Svg", "model_to_svg"]

_CHARACTER, _LINE, _PADDING = 7.3, 17, 8
_GAP, _RANK_GAP, _MARGIN = 24, 36, 12
_SWEEPS = 8
#: How things look, by attributes: a style sheet would change other pictures of a page, and a page's
#: policy may forbid styles.
_FONT = 'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="12px"'
_DARK, _INK = "#44566c", "#1b1f24"
_BOX = f'fill="#fff" stroke="{_DARK}"'
_NEST = f'fill="#eef2f7" stroke="{_DARK}"'
#: What XML cannot hold, even escaped.
_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


class Svg(str):
    """The text of a picture, which notebooks show."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def model_to_svg(
    model: Any,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Svg:
    """Return a picture of a model: "TB" from top to bottom, "LR" from left to right, and back.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.utils.model_to_svg(model).startswith("<svg")
        True
    """
    check_direction("model_to_svg", rankdir)
    details = Details(
        show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable
    )
    drawn = _picture(model, details, rankdir, expand_nested)
    width, height = drawn.width + 2 * _MARGIN, drawn.height + 2 * _MARGIN
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><title>{_text(model.name)}</title>'
        '<defs><marker id="webtensor-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><polygon points="0,0 8,4 0,8" fill="{_DARK}"/></marker>'
        f'</defs><g {_FONT} fill="{_INK}">'
        f"{_moved(drawn.elements, _MARGIN, _MARGIN)}</g></svg>"
    )


# -- what there is -----------------------------------------------------------------------------


class _Box:
    """Something drawn, with its size."""

    def __init__(self, width: float, height: float, elements: str) -> None:
        self.width, self.height, self.elements = width, height, elements


def _picture(model: Any, details: Details, rankdir: str, expand_nested: bool) -> _Box:
    diagram = diagram_of(model)
    boxes = []
    for layer in diagram.layers:
        if expand_nested and getattr(layer, "layers", None):
            inner = _picture(layer, details, rankdir, expand_nested)
            boxes.append(_nested(details.title(layer), inner))
        else:
            boxes.append(_layer_box(layer, details))
    return _arranged(boxes, diagram.arrows, rankdir)


# -- boxes -------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(value)))


def _layer_box(layer: Any, details: Details) -> _Box:
    title, facts = details.title(layer), list(details.facts(layer))
    width = max(len(line) for line in (title, *facts)) * _CHARACTER + 2 * _PADDING
    head = _LINE + _PADDING
    height = head + (len(facts) * _LINE + _PADDING if facts else 0)
    elements = [
        f'<rect {_BOX} width="{width:.1f}" height="{height}" rx="4"/>',
        f'<rect fill="{_DARK}" width="{width:.1f}" height="{head}" rx="4"/>',
        f'<text fill="#fff" font-weight="bold" x="{_PADDING}" y="{_LINE}">{_text(title)}</text>',
    ]
    for number, line in enumerate(facts, 1):
        place = head + number * _LINE - 3
        elements.append(f'<text x="{_PADDING}" y="{place}">{_text(line)}</text>')
    return _Box(width, height, "".join(elements))


def _nested(title: str, inner: _Box) -> _Box:
    """A model inside another, with its layers."""
    width = max(inner.width, len(title) * _CHARACTER) + 2 * _PADDING
    height = inner.height + _LINE + 3 * _PADDING
    left = (width - inner.width) / 2
    elements = (
        f'<rect {_NEST} width="{width:.1f}" height="{height:.1f}" rx="6"/>'
        f'<text x="{_PADDING}" y="{_LINE}">{_text(title)}</text>'
        + _moved(inner.elements, left, _LINE + 1.5 * _PADDING)
    )
    return _Box(width, height, elements)


def _moved(elements: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:.1f},{y:.1f})">{elements}</g>'


# -- where they go -----------------------------------------------------------------------------


class _Place:
    """Where a box goes, or an arrow that passes a rank: along the ranks, and across them."""

    def __init__(self, depth: float, breadth: float, rank: int) -> None:
        self.depth, self.breadth, self.rank = depth, breadth, rank
        #: The middle, across.
        self.across = 0.0
        self.before: list[_Place] = []
        self.after: list[_Place] = []


def _ranks(count: int, arrows: Iterable[tuple[int, int]]) -> list[int]:
    """How many arrows, at most, lead to each; arrows back to shared layers do not count."""
    ranks = [0] * count
    for source, target in sorted(arrows):
        if source < target:
            ranks[target] = max(ranks[target], ranks[source] + 1)
    return ranks


def _arranged(boxes: list[_Box], arrows: set[tuple[int, int]], rankdir: str) -> _Box:
    """The boxes and the arrows as one picture."""
    if not boxes:
        return _Box(0, 0, "")
    is_upright = rankdir in ("TB", "BT")
    ranks = _ranks(len(boxes), arrows)
    if not arrows:
        ranks = list(range(len(boxes)))
    places = [
        _Place(*((one.height, one.width) if is_upright else (one.width, one.height)), rank)
        for one, rank in zip(boxes, ranks, strict=True)
    ]
    rows: list[list[_Place]] = [[] for _ in range(max(ranks) + 1)]
    for place in places:
        rows[place.rank].append(place)
    paths = [_path(places[source], places[target], rows) for source, target in sorted(arrows)]
    _order(rows)
    starts, depth = [], 0.0
    for row in rows:
        starts.append(depth)
        depth += max(place.depth for place in row) + _RANK_GAP
    depth -= _RANK_GAP
    least = min(one.across - one.breadth / 2 for row in rows for one in row)
    breadth = max(one.across + one.breadth / 2 for row in rows for one in row) - least
    is_backward = rankdir in ("BT", "RL")

    def point(along: float, across: float) -> tuple[float, float]:
        along = depth - along if is_backward else along
        return (across - least, along) if is_upright else (along, across - least)

    elements = []
    for path in paths:
        ends = [(starts[path[0].rank] + path[0].depth, path[0].across)]
        for one in path[1:-1]:
            height = max(place.depth for place in rows[one.rank])
            ends += [(starts[one.rank], one.across), (starts[one.rank] + height, one.across)]
        ends.append((starts[path[-1].rank], path[-1].across))
        elements.append(_curve([point(*end) for end in ends], is_upright))
    for box, place in zip(boxes, places, strict=True):
        begin, end = starts[place.rank], starts[place.rank] + place.depth
        x, y = point(end if is_backward else begin, place.across)
        across = place.breadth / 2
        elements.append(_moved(box.elements, *((x - across, y) if is_upright else (x, y - across))))
    size = (breadth, depth) if is_upright else (depth, breadth)
    return _Box(*size, "".join(elements))


def _path(source: _Place, target: _Place, rows: list[list[_Place]]) -> list[_Place]:
    """An arrow's places, one in each rank."""
    path = [source]
    for rank in range(source.rank + 1, target.rank):
        passed = _Place(0, _GAP / 2, rank)
        rows[rank].append(passed)
        path.append(passed)
    path.append(target)
    for first, second in pairwise(path):
        first.after.append(second)
        second.before.append(first)
    return path


def _order(rows: list[list[_Place]]) -> None:
    """Order ranks by where the neighbours of their places are, and move those towards them."""
    for row in rows:
        _spread(row, [number * _GAP for number in range(len(row))])
    for sweep in range(_SWEEPS):
        is_downward = sweep % 2 == 0
        for row in rows if is_downward else reversed(rows):
            wanted = {}
            for place in row:
                near = place.before if is_downward else place.after
                across = [one.across for one in near]
                wanted[place] = sum(across) / len(across) if across else place.across
            if sweep < _SWEEPS // 2:
                row.sort(key=wanted.__getitem__)
            _spread(row, [wanted[place] for place in row])


def _spread(row: Sequence[_Place], wanted: Sequence[float]) -> None:
    """Move places as near as can be to where they are wanted, in order and apart.

    Without the gaps, that is the nearest sequence that does not fall: where it would, neighbours
    share the mean of what they want.
    """
    offsets, offset = [], 0.0
    for number, place in enumerate(row):
        if number:
            offset += (row[number - 1].breadth + place.breadth) / 2 + _GAP
        offsets.append(offset)
    groups: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        total, count = want - offset, 1
        while groups and groups[-1][0] / groups[-1][1] > total / count:
            before = groups.pop()
            total, count = total + before[0], count + before[1]
        groups.append((total, count))
    means = [total / count for total, count in groups for _ in range(count)]
    for place, mean, offset in zip(row, means, offsets, strict=True):
        place.across = mean + offset


def _curve(points: Sequence[tuple[float, float]], is_upright: bool) -> str:
    """An arrow through points, along the ranks at each of them."""
    (x, y), *rest = points
    steps = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in rest:
        middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
        bend = (x, middle_y, to_x, middle_y) if is_upright else (middle_x, y, middle_x, to_y)
        steps.append("C" + ",".join(f"{one:.1f}" for one in (*bend, to_x, to_y)))
        x, y = to_x, to_y
    return (
        f'<path d="{"".join(steps)}" fill="none" stroke="{_DARK}" stroke-width="1.3" '
        'marker-end="url(#webtensor-arrow)"/>'
    )
