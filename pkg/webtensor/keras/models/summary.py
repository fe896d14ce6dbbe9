"""The table that ``summary`` prints: layers, the shapes of their outputs, numbers of parameters.

``_rows`` collects the cells of the table, ``_drawn`` draws it as Keras does: columns have fixed
widths, lines are broken between words, and words that are too long end with "…".
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import ceil, prod
from typing import TYPE_CHECKING, Any, NamedTuple

from webtensor.engine import Variable
from webtensor.keras import models
from webtensor.keras.layers import Layer
from webtensor.keras.models.diagrams import LayerContainer
from webtensor.keras.models.function import Graph, depths_of
from webtensor.keras.nodes import Operation
from webtensor.keras.symbols import map_shapes
from webtensor.keras.types import Shape

if TYPE_CHECKING:
    from webtensor.keras.models.model import Model

__all__ = ["summary_html", "summary_lines"]

_INDENT = "   "
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


class _Column(NamedTuple):
    """A column: its title, its alignment, and the text of a cell by layer and indentation."""

    title: str
    alignment: str
    text: Callable[[Operation, str], str]


def summary_lines(
    model: Model,
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
    graph = _graph_of(model)
    columns = _columns(graph)
    if graph is None or _is_sequence(graph):
        length, ends = 88, list(positions or (0.45, 0.80, 1.0))
    else:
        length, ends = 108, list(positions or (0.3, 0.56, 0.74, 1.0))
    if show_trainable:
        length, ends = length + 12, [*(end * 0.90 for end in ends), 1.0]
        columns.append(_Column("Trainable", "center", lambda layer, _: _is_trainable(layer)))
    if len(ends) != len(columns):
        raise ValueError(
            f"summary: positions must be {len(columns)} parts of a line, but got {positions}"
        )
    length = line_length or min(length, shutil.get_terminal_size().columns - 4)
    rows = _rows(model, graph, columns, layer_range, expand_nested)
    return [_title(model), *_drawn(columns, rows, _widths(ends, length)), *_totals(model)]


def summary_html(model: Model) -> str:
    """Return a model's table as HTML."""
    graph = _graph_of(model)
    columns = _columns(graph)
    head = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in _rows(model, graph, columns)
    )
    totals = "<br>".join(escape(total.strip()) for total in _totals(model))
    return (
        f"<table><caption>{escape(_title(model))}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table><p>{totals}</p>"
    )


def _title(model: Model) -> str:
    return f'Model: "{model.name}"'


def _columns(graph: Graph | None) -> list[_Column]:
    columns = [
        _Column("Layer (type)", "left", _name),
        _Column("Output Shape", "left", lambda layer, _: _output_shape(layer)),
        _Column("Param #", "right", lambda layer, _: _parameters(layer)),
    ]
    if graph is not None and not _is_sequence(graph):
        nodes = {id(node) for node in graph.nodes}
        columns.append(_Column("Connected to", "left", lambda layer, _: _connections(layer, nodes)))
    return columns


def _rows(
    model: Model,
    graph: Graph | None,
    columns: Sequence[_Column],
    layer_range: Sequence[str] | None = None,
    expand_nested: bool = False,
) -> list[list[str]]:
    layers: Sequence[Operation] = model.layers if graph is None else graph.operations
    return [
        [column.text(layer, indentation) for column in columns]
        for layer, indentation in _indented(_in_range(layers, layer_range), expand_nested)
    ]


# -- the model ---------------------------------------------------------------------------------


def _graph_of(model: Model) -> Graph | None:
    return model._graph if isinstance(model, models.Functional) else None


def _is_sequence(graph: Graph) -> bool:
    """Whether each layer takes only the output of the previous layer."""
    depths = depths_of(graph.nodes, graph.inputs)
    if len(set(depths.values())) < len(depths):
        return False
    if any(len(node.inputs) > 1 for node in graph.nodes):
        return False
    return len({id(node.operation) for node in graph.nodes}) == len(graph.nodes)


def _in_range(
    layers: Sequence[Operation], layer_range: Sequence[str] | None
) -> Sequence[Operation]:
    """Return the layers between the first and the last whose names match ``layer_range``."""
    if layer_range is None:
        return layers
    if len(layer_range) != 2 or not all(isinstance(name, str) for name in layer_range):
        raise ValueError(
            f"summary: layer_range must be two names of layers, but got {layer_range!r}"
        )
    first, last = (
        [index for index, layer in enumerate(layers) if re.match(name, layer.name)]
        for name in layer_range
    )
    if not first or not last:
        names = [layer.name for layer in layers]
        raise ValueError(f"summary: layer_range is {layer_range!r}, but the layers are {names}")
    if min(first) > max(last):
        return layers[min(last) : max(first) + 1]
    return layers[min(first) : max(last) + 1]


def _indented(
    layers: Iterable[Operation], expand_nested: bool, level: int = 0
) -> Iterable[tuple[Operation, str]]:
    """Yield layers, with ``expand_nested`` also the layers in them, and their indentation."""
    for layer in layers:
        yield layer, f"{_INDENT * level}└ " if level else ""
        if expand_nested and isinstance(layer, LayerContainer):
            yield from _indented(layer.layers, expand_nested, level + 1)


# -- cells -------------------------------------------------------------------------------------


def _name(layer: Operation, indentation: str) -> str:
    return f"{indentation}{layer.name} ({type(layer).__name__})"


def _output_shape(layer: Any) -> str:
    shapes: list[Shape] = []
    try:
        if layer._inbound_nodes:
            shapes = [output.shape for output in layer._inbound_nodes[-1].outputs]
        elif hasattr(layer, "output_shape"):
            map_shapes(shapes.append, layer.output_shape)
        else:  # it was only called with tensors, if at all
            first, *others = layer._build_shapes.values()
            map_shapes(shapes.append, layer.compute_output_shape(first, *others))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return "?"
    text = ", ".join("(" + ", ".join(map(str, shape)) + ")" for shape in shapes)
    return text if len(shapes) == 1 else f"[{text}]" if layer._inbound_nodes else f"({text})"


def _parameters(layer: Operation) -> str:
    if not isinstance(layer, Layer):
        return "0"
    return f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"


def _connections(layer: Operation, nodes: set[int]) -> str:
    sources = []
    for node in layer._inbound_nodes:
        for symbol in node.inputs if id(node) in nodes else ():
            if symbol._keras_history is not None:
                operation, node_index, tensor_index = symbol._keras_history
                sources.append(f"{operation.name}[{node_index}][{tensor_index}]")
    return ", ".join(sources) or "-"


def _is_trainable(layer: Operation) -> str:
    if not isinstance(layer, Layer) or not layer.weights:
        return "-"
    return "Y" if layer.trainable else "N"


# -- totals ------------------------------------------------------------------------------------


def _totals(model: Model) -> list[str]:
    groups: dict[str, list[Variable]] = {
        "Trainable": model.trainable_weights,
        "Non-trainable": model.non_trainable_weights,
    }
    if model.optimizer is not None and model.optimizer.built:
        groups["Optimizer"] = model.optimizer.variables
    total = _total("Total", [variable for group in groups.values() for variable in group])
    return [total, *(_total(name, group) for name, group in groups.items())]


def _total(name: str, variables: Iterable[Variable]) -> str:
    """Return the line with the number of parameters in variables and their size in bytes."""
    count, size = 0, 0.0
    for variable in variables:
        elements = prod(variable.shape)
        count += elements
        size += elements * variable.dtype.itemsize
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f" {name} params: {count:,} ({size:.2f} {_UNITS[unit]})"


# -- drawing -----------------------------------------------------------------------------------


def _widths(ends: Sequence[float], length: int) -> list[int]:
    """Return the widths of columns, with a space on either side, so that lines have a length.

    ``ends`` are the ends of the columns as parts of a line.
    """
    widths: list[int] = []
    start = 0
    for end in ends:
        width = int(end * length) - start
        if width < 4:
            raise ValueError(
                f"summary: a line of {length} characters is too short for {len(ends)} columns"
            )
        widths.append(width + 2)
        start += width
    available = length - len(widths) - 1
    surplus = sum(widths) - available
    if surplus > 0:
        for index, width in enumerate(widths):
            cut = min(width, round(surplus / (len(widths) - index)))
            widths[index], surplus = width - cut, surplus - cut
    elif surplus < 0:
        missing, total = -surplus, sum(widths)
        for index, width in enumerate(widths):
            added = ceil(width * missing / total)
            widths[index], missing, total = width + added, missing - added, total - width
    return widths


def _drawn(
    columns: Sequence[_Column], rows: Sequence[Sequence[str]], widths: Sequence[int]
) -> Iterable[str]:
    def line(left: str, fill: str, between: str, right: str) -> str:
        return left + between.join(fill * width for width in widths) + right

    alignments = [column.alignment for column in columns]
    titles = [column.title for column in columns]
    yield line("┏", "━", "┳", "┓")
    yield from _row(titles, alignments, widths, "┃", at_bottom=True)
    yield line("┡", "━", "╇", "┩")
    for index, row in enumerate(rows):
        if index:
            yield line("├", "─", "┼", "┤")
        yield from _row(row, alignments, widths, "│")
    yield line("└", "─", "┴", "┘")


def _row(
    texts: Sequence[str],
    alignments: Sequence[str],
    widths: Sequence[int],
    bar: str,
    at_bottom: bool = False,
) -> Iterable[str]:
    cells = [_broken(text, width - 2) for text, width in zip(texts, widths, strict=True)]
    height = max(len(cell) for cell in cells)
    if at_bottom:
        cells = [[""] * (height - len(cell)) + cell for cell in cells]
    for index in range(height):
        parts = [
            _aligned(cell[index] if index < len(cell) else "", alignment, width - 2)
            for cell, alignment, width in zip(cells, alignments, widths, strict=True)
        ]
        yield bar + bar.join(f" {part} " for part in parts) + bar


def _broken(text: str, width: int) -> list[str]:
    """Break a text into lines, between words."""
    lines = [""]
    for word in re.findall(r"\s*\S+\s*", text):
        if lines[-1] and len(word.rstrip()) > width - len(lines[-1]):
            lines.append("")
        lines[-1] += word
    return [line if len(line.rstrip()) <= width else line[: width - 1] + "…" for line in lines]


def _aligned(line: str, alignment: str, width: int) -> str:
    if alignment == "left":
        return line[:width].ljust(width)
    line = line.rstrip()
    if alignment == "right":
        return line.rjust(width)
    before = (width - len(line)) // 2
    return (" " * before + line).ljust(width)
