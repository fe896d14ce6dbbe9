"""Pictures of models as SVG: boxes for layers, in ranks, and arrows between them.

``diagrams`` defines the boxes and the arrows, ``_arranged`` their positions. A layer is in a rank
after those of all its inputs. Within a rank, layers are ordered so that few arrows cross, and moved
towards the layers that they are connected with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from webtensor.charts.elements import escaped
from webtensor.keras.models.diagrams import LayerContainer, PictureOptions, as_container, diagram_of
from webtensor.keras.nodes import Operation

__all__ = ["Svg", "draw_svg", "model_to_svg"]

_CHARACTER, _LINE, _PADDING = 7.3, 17, 8
_GAP, _RANK_GAP, _MARGIN = 24, 36, 12
_SWEEPS = 8
#: The style, as attributes: a style sheet would apply to all pictures of a page, and a page's
#: policy may forbid styles.
_FONT = 'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="12px"'
_DARK, _INK = "#44566c", "#1b1f24"
_BOX = f'fill="#fff" stroke="{_DARK}"'
_NEST = f'fill="#eef2f7" stroke="{_DARK}"'


class Svg(str):
    """A picture as text, which notebooks display."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def model_to_svg(
    model: LayerContainer,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Svg:
    """Return a picture of a model.

    ``rankdir`` is the direction: "TB" from top to bottom, "LR" from left to right, "BT" or "RL".

    Raises:
        ValueError: ``rankdir`` is not a direction.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.utils.model_to_svg(model).startswith("<svg")
        True
    """
    options = PictureOptions(
        "model_to_svg",
        show_shapes,
        show_dtype,
        show_layer_names,
        rankdir,
        expand_nested,
        show_layer_activations,
        show_trainable,
    )
    return draw_svg(model, options)


def draw_svg(model: LayerContainer, options: PictureOptions) -> Svg:
    """Return a picture of a model, drawn with the options of ``model_to_svg``."""
    picture = _picture(model, options)
    width, height = picture.width + 2 * _MARGIN, picture.height + 2 * _MARGIN
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><title>{escaped(model.name)}</title>'
        '<defs><marker id="webtensor-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><polygon points="0,0 8,4 0,8" fill="{_DARK}"/></marker>'
        f'</defs><g {_FONT} fill="{_INK}">'
        f"{_moved(picture.elements, _MARGIN, _MARGIN)}</g></svg>"
    )


class _Box:
    """A part of a picture: its size and its elements."""

    def __init__(self, width: float, height: float, elements: str) -> None:
        self.width, self.height, self.elements = width, height, elements


def _picture(model: LayerContainer, options: PictureOptions) -> _Box:
    diagram = diagram_of(model)
    boxes = []
    for operation in diagram.operations:
        inner = as_container(operation) if options.expand_nested else None
        if inner is not None:
            boxes.append(_nested(options.title(operation), _picture(inner, options)))
        else:
            boxes.append(_operation_box(operation, options))
    return _arranged(boxes, diagram.arrows, options.rankdir)


# -- boxes -------------------------------------------------------------------------------------


def _operation_box(operation: Operation, options: PictureOptions) -> _Box:
    title, details = options.title(operation), list(options.details(operation))
    width = max(len(line) for line in (title, *details)) * _CHARACTER + 2 * _PADDING
    head = _LINE + _PADDING
    height = head + (len(details) * _LINE + _PADDING if details else 0)
    elements = [
        f'<rect {_BOX} width="{width:.1f}" height="{height}" rx="4"/>',
        f'<rect fill="{_DARK}" width="{width:.1f}" height="{head}" rx="4"/>',
        f'<text fill="#fff" font-weight="bold" x="{_PADDING}" y="{_LINE}">{escaped(title)}</text>',
    ]
    for number, line in enumerate(details, 1):
        y = head + number * _LINE - 3
        elements.append(f'<text x="{_PADDING}" y="{y}">{escaped(line)}</text>')
    return _Box(width, height, "".join(elements))


def _nested(title: str, inner: _Box) -> _Box:
    """Return a box with a title around the picture of a nested model."""
    width = max(inner.width, len(title) * _CHARACTER) + 2 * _PADDING
    height = inner.height + _LINE + 3 * _PADDING
    left = (width - inner.width) / 2
    elements = (
        f'<rect {_NEST} width="{width:.1f}" height="{height:.1f}" rx="6"/>'
        f'<text x="{_PADDING}" y="{_LINE}">{escaped(title)}</text>'
        + _moved(inner.elements, left, _LINE + 1.5 * _PADDING)
    )
    return _Box(width, height, elements)


def _moved(elements: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:.1f},{y:.1f})">{elements}</g>'


# -- positions ---------------------------------------------------------------------------------


class _Item:
    """A box in a rank, or the space for an arrow that crosses the rank."""

    def __init__(self, depth: float, breadth: float, rank: int) -> None:
        #: The size in the direction of the arrows, and across it.
        self.depth, self.breadth, self.rank = depth, breadth, rank
        #: The position of the middle across the direction of the arrows.
        self.across = 0.0
        self.before: list[_Item] = []
        self.after: list[_Item] = []


def _ranks(count: int, arrows: Iterable[tuple[int, int]]) -> list[int]:
    """Return the maximum number of arrows in a path to each box.

    Arrows back to a shared layer do not count.
    """
    ranks = [0] * count
    for source, target in sorted(arrows):
        if source < target:
            ranks[target] = max(ranks[target], ranks[source] + 1)
    return ranks


def _arranged(boxes: list[_Box], arrows: set[tuple[int, int]], rankdir: str) -> _Box:
    """Return the picture of boxes and arrows."""
    if not boxes:
        return _Box(0, 0, "")
    is_upright = rankdir in ("TB", "BT")
    ranks = _ranks(len(boxes), arrows) if arrows else range(len(boxes))
    items = [
        _Item(*((box.height, box.width) if is_upright else (box.width, box.height)), rank)
        for box, rank in zip(boxes, ranks, strict=True)
    ]
    rows: list[list[_Item]] = [[] for _ in range(max(ranks) + 1)]
    for item in items:
        rows[item.rank].append(item)
    paths = [_path(items[source], items[target], rows) for source, target in sorted(arrows)]
    _order(rows)
    plane = _Plane(rows, is_upright, rankdir in ("BT", "RL"))
    elements = [plane.arrow(path) for path in paths]
    elements += [plane.box(box, item) for box, item in zip(boxes, items, strict=True)]
    return _Box(*plane.size(), "".join(elements))


class _Plane:
    """The coordinates of a picture, whose ranks follow each other in one of four directions."""

    def __init__(self, rows: list[list[_Item]], is_upright: bool, is_backward: bool) -> None:
        self._is_upright, self._is_backward = is_upright, is_backward
        #: The size of each rank in the direction of the arrows, and where it starts.
        self._depths = [max(item.depth for item in row) for row in rows]
        self._starts = [0.0, *accumulate(depth + _RANK_GAP for depth in self._depths)]
        self._depth = self._starts.pop() - _RANK_GAP
        items = [item for row in rows for item in row]
        self._minimum = min(item.across - item.breadth / 2 for item in items)
        self._breadth = max(item.across + item.breadth / 2 for item in items) - self._minimum

    def size(self) -> tuple[float, float]:
        """Return the width and the height."""
        sizes = self._breadth, self._depth
        return sizes if self._is_upright else sizes[::-1]

    def _point(self, along: float, across: float) -> tuple[float, float]:
        along = self._depth - along if self._is_backward else along
        across -= self._minimum
        return (across, along) if self._is_upright else (along, across)

    def arrow(self, path: list[_Item]) -> str:
        """Return the arrow from the end of the first item to the start of the last."""
        first, *crossed, last = path
        ends = [(self._starts[first.rank] + first.depth, first.across)]
        for item in crossed:
            start = self._starts[item.rank]
            ends += [(start, item.across), (start + self._depths[item.rank], item.across)]
        ends.append((self._starts[last.rank], last.across))
        return _curve([self._point(*end) for end in ends], self._is_upright)

    def box(self, box: _Box, item: _Item) -> str:
        """Return the elements of a box at the position of its item."""
        start = self._starts[item.rank]
        x, y = self._point(start + item.depth if self._is_backward else start, item.across)
        half = item.breadth / 2
        return _moved(box.elements, *((x - half, y) if self._is_upright else (x, y - half)))


def _path(source: _Item, target: _Item, rows: list[list[_Item]]) -> list[_Item]:
    """Return the items of an arrow, one in each rank, and add the new ones to the rows."""
    path = [source]
    for rank in range(source.rank + 1, target.rank):
        crossing = _Item(0, _GAP / 2, rank)
        rows[rank].append(crossing)
        path.append(crossing)
    path.append(target)
    for first, second in pairwise(path):
        first.after.append(second)
        second.before.append(first)
    return path


def _order(rows: list[list[_Item]]) -> None:
    """Order the items of each rank by the mean position of their neighbours, and move them there.

    The neighbours are those in the rank before and in the rank after, in turns.
    """
    for row in rows:
        _spread(row, [index * _GAP for index in range(len(row))])
    for sweep in range(_SWEEPS):
        is_downward = sweep % 2 == 0
        for row in rows if is_downward else reversed(rows):
            targets = {}
            for item in row:
                neighbours = item.before if is_downward else item.after
                across = [neighbour.across for neighbour in neighbours]
                targets[item] = sum(across) / len(across) if across else item.across
            if sweep < _SWEEPS // 2:
                row.sort(key=targets.__getitem__)
            _spread(row, [targets[item] for item in row])


def _spread(row: Sequence[_Item], targets: Sequence[float]) -> None:
    """Move items as near to their targets as possible, in order and without overlap.

    Without the gaps, the result is the nearest non-decreasing sequence: where the targets decrease,
    neighbours share the mean of their targets.
    """
    offsets, offset = [], 0.0
    for index, item in enumerate(row):
        if index:
            offset += (row[index - 1].breadth + item.breadth) / 2 + _GAP
        offsets.append(offset)
    groups: list[tuple[float, int]] = []
    for target, offset in zip(targets, offsets, strict=True):
        total, count = target - offset, 1
        while groups and groups[-1][0] / groups[-1][1] > total / count:
            previous = groups.pop()
            total, count = total + previous[0], count + previous[1]
        groups.append((total, count))
    means = [total / count for total, count in groups for _ in range(count)]
    for item, mean, offset in zip(row, means, offsets, strict=True):
        item.across = mean + offset


def _curve(points: Sequence[tuple[float, float]], is_upright: bool) -> str:
    """Return an arrow through points, in the direction of the ranks at each point."""
    (x, y), *rest = points
    steps = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in rest:
        middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
        bend = (x, middle_y, to_x, middle_y) if is_upright else (middle_x, y, middle_x, to_y)
        steps.append("C" + ",".join(f"{number:.1f}" for number in (*bend, to_x, to_y)))
        x, y = to_x, to_y
    return (
        f'<path d="{"".join(steps)}" fill="none" stroke="{_DARK}" stroke-width="1.3" '
        'marker-end="url(#webtensor-arrow)"/>'
    )
