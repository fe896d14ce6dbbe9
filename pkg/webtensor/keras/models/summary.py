"""The table that ``summary`` prints: layers, their outputs' shapes, and how many numbers they hold.

``summary_lines`` gathers the table, ``_drawn`` draws it as Keras does: columns of given widths,
where lines are broken between words, and words that are too long end with "…".
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from math import ceil, prod
from typing import Any

from webtensor.keras.models.function import _depths
from webtensor.keras.symbols import map_shapes

__all__ = ["summary_lines"]

_INDENT = "   "
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def summary_lines(
    model: Any,
    line_length: int | None = None,
    positions: Sequence[float] | None = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: Sequence[str] | None = None,
) -> list[str]:
    """Return the lines of a model's table.

    Raises:
        ValueError: the lines are too short, or ``layer_range`` names no layers.
    """
    graph = None if _is_sequence(model) else model._graph
    columns: list[_Column] = [
        _Column("Layer (type)", "left", _name),
        _Column("Output Shape", "left", lambda layer, _: _output_shape(layer)),
        _Column("Param #", "right", lambda layer, _: _parameters(layer)),
    ]
    if graph is None:
        length, places = 88, list(positions or (0.45, 0.80, 1.0))
    else:
        length, places = 108, list(positions or (0.3, 0.56, 0.74, 1.0))
        nodes = {id(node) for node in graph.nodes}
        columns.append(_Column("Connected to", "left", lambda layer, _: _connections(layer, nodes)))
    if show_trainable:
        length, places = length + 12, [*(place * 0.90 for place in places), 1.0]
        columns.append(_Column("Trainable", "center", lambda layer, _: _is_trainable(layer)))
    if len(places) != len(columns):
        raise ValueError(
            f"summary: positions must be {len(columns)} parts of a line, but got {positions}"
        )
    length = line_length or min(length, shutil.get_terminal_size().columns - 4)
    layers = getattr(model, "operations", None) if _is_functional(model) else model.layers
    rows = [
        [column.text(layer, prefix) for column in columns]
        for layer, prefix in _listed(_in_range(layers or [], layer_range), expand_nested)
    ]
    return [
        f'Model: "{model.name}"',
        *_drawn(columns, rows, _widths(places, length), length),
        *_totals(model),
    ]


class _Column:
    """A column's heading, on which side its text is, and what makes it of a layer."""

    def __init__(self, title: str, side: str, text: Callable[[Any, str], str]) -> None:
        self.title, self.side, self.text = title, side, text


# -- what the model is -------------------------------------------------------------------------


def _is_functional(model: Any) -> bool:
    from webtensor.keras.models.functional import Functional

    return isinstance(model, Functional)


def _is_sequence(model: Any) -> bool:
    """Whether each layer takes what the one before returned."""
    if not _is_functional(model):
        return True
    graph = model._graph
    depths = _depths(graph.nodes, graph.inputs, {})
    if len(set(depths.values())) < len(depths) or any(len(n.inputs) > 1 for n in graph.nodes):
        return False
    return len({id(node.operation) for node in graph.nodes}) == len(graph.nodes)


def _in_range(layers: Sequence[Any], layer_range: Sequence[str] | None) -> Sequence[Any]:
    """The layers from the first whose name matches to the last, or all."""
    if layer_range is None:
        return layers
    if len(layer_range) != 2 or not all(isinstance(one, str) for one in layer_range):
        raise ValueError(
            f"summary: layer_range must be two names of layers, but got {layer_range!r}"
        )
    first, last = (
        [place for place, layer in enumerate(layers) if re.match(name, layer.name)]
        for name in layer_range
    )
    if not first or not last:
        names = [layer.name for layer in layers]
        raise ValueError(f"summary: layer_range is {layer_range!r}, but the layers are {names}")
    if min(first) > max(last):
        return layers[min(last) : max(first) + 1]
    return layers[min(first) : max(last) + 1]


def _listed(
    layers: Iterable[Any], expand_nested: bool, level: int = 0
) -> Iterable[tuple[Any, str]]:
    """The layers, with those inside them, and what stands before their names."""
    for layer in layers:
        yield layer, f"{_INDENT * level}└ " if level else ""
        if expand_nested and hasattr(layer, "layers"):
            yield from _listed(layer.layers, expand_nested, level + 1)


# -- cells -------------------------------------------------------------------------------------


def _name(layer: Any, prefix: str) -> str:
    return f"{prefix}{layer.name} ({type(layer).__name__})"


def _output_shape(layer: Any) -> str:
    if layer._inbound_nodes:
        shapes = [one.shape for one in layer._inbound_nodes[-1].outputs]
    else:
        try:
            found = _computed_shape(layer)
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            return "?"
        shapes = _shapes_in(found)
    texts = ["(" + ", ".join(str(length) for length in shape) + ")" for shape in shapes]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _shapes_in(found: Any) -> list[Any]:
    shapes: list[Any] = []
    map_shapes(shapes.append, found)
    return shapes


def _computed_shape(layer: Any) -> Any:
    """The output's shape of a layer that was only called with tensors."""
    if not layer._build_shapes:
        raise ValueError("the layer has no shapes")
    if hasattr(layer, "output_shape"):
        return layer.output_shape
    return layer.compute_output_shape(*layer._build_shapes.values())


def _parameters(layer: Any) -> str:
    if not hasattr(layer, "built"):
        return "0"
    return f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"


def _connections(layer: Any, nodes: set[int]) -> str:
    found = []
    for node in layer._inbound_nodes:
        for one in node.inputs if id(node) in nodes else ():
            operation, number, place = one._keras_history
            found.append(f"{operation.name}[{number}][{place}]")
    return ", ".join(found) or "-"


def _is_trainable(layer: Any) -> str:
    if not getattr(layer, "weights", None):
        return "-"
    return "Y" if layer.trainable else "N"


# -- totals ------------------------------------------------------------------------------------


def _totals(model: Any) -> list[str]:
    parts = {
        "Trainable": model.trainable_weights,
        "Non-trainable": model.non_trainable_weights,
    }
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer.built:
        parts["Optimizer"] = optimizer.variables
    lines = [_total("Total", [one for row in parts.values() for one in row])]
    return lines + [_total(name, row) for name, row in parts.items()]


def _total(name: str, variables: Iterable[Any]) -> str:
    """How many numbers there are, and how many bytes they are."""
    count, size = 0, 0.0
    for one in variables:
        numbers = prod(one.shape)
        count += numbers
        size += numbers * one.dtype.itemsize
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f" {name} params: {count:,} ({size:.2f} {_UNITS[unit]})"


# -- drawing -----------------------------------------------------------------------------------


def _widths(places: Sequence[float], length: int) -> list[int]:
    """Widths of columns, with a space on either side, such that lines are so long in all."""
    widths: list[int] = []
    end = 0
    for place in places:
        width = int(place * length) - end
        if width < 4:
            raise ValueError(
                f"summary: a line of {length} characters is too short for {len(places)} columns"
            )
        widths.append(width + 2)
        end += width
    room = length - len(widths) - 1
    surplus = sum(widths) - room
    if surplus > 0:
        for place, width in enumerate(widths):
            taken = min(width, round(surplus / (len(widths) - place)))
            widths[place], surplus = width - taken, surplus - taken
    elif surplus < 0:
        missing, total = -surplus, sum(widths)
        for place, width in enumerate(widths):
            added = ceil(width * missing / total)
            widths[place], missing, total = width + added, missing - added, total - width
    return widths


def _drawn(
    columns: Sequence[_Column], rows: Sequence[Sequence[str]], widths: Sequence[int], length: int
) -> Iterable[str]:
    def line(left: str, fill: str, between: str, right: str) -> str:
        return left + between.join(fill * width for width in widths) + right

    sides = [column.side for column in columns]
    yield line("┏", "━", "┳", "┓")
    yield from _row([column.title for column in columns], sides, widths, "┃", at_bottom=True)
    yield line("┡", "━", "╇", "┩")
    for number, row in enumerate(rows):
        if number:
            yield line("├", "─", "┼", "┤")
        yield from _row(row, sides, widths, "│")
    yield line("└", "─", "┴", "┘")


def _row(
    texts: Sequence[str], sides: Sequence[str], widths: Sequence[int], bar: str,
    at_bottom: bool = False,
) -> Iterable[str]:  # fmt: skip
    cells = [_broken(text, width - 2) for text, width in zip(texts, widths, strict=True)]
    height = max(len(cell) for cell in cells)
    if at_bottom:
        cells = [[""] * (height - len(cell)) + cell for cell in cells]
    for number in range(height):
        parts = [
            _placed(cell[number] if number < len(cell) else "", side, width - 2)
            for cell, side, width in zip(cells, sides, widths, strict=True)
        ]
        yield bar + bar.join(f" {part} " for part in parts) + bar


def _broken(text: str, width: int) -> list[str]:
    """A text in lines, broken between words."""
    lines = [""]
    for word in re.findall(r"\s*\S+\s*", text):
        if lines[-1] and len(word.rstrip()) > width - len(lines[-1]):
            lines.append("")
        lines[-1] += word
    return [line if len(line.rstrip()) <= width else line[: width - 1] + "…" for line in lines]


def _placed(line: str, side: str, width: int) -> str:
    if side == "left":
        return line[:width].ljust(width)
    line = line.rstrip()
    if side == "right":
        return line.rjust(width)
    before = (width - len(line)) // 2
    return (" " * before + line).ljust(width)
