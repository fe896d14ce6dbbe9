"""Models in DOT, the language of Graphviz, which draws graphs in many formats."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from html import escape
from itertools import count
from pathlib import Path

from webtensor.keras.models.diagrams import LayerContainer, PictureOptions, as_container, diagram_of
from webtensor.keras.nodes import Operation
from webtensor.keras.types import PathLike

__all__ = ["Dot", "draw_dot", "model_to_dot"]


class Dot(str):
    """A graph in DOT, with the main methods of pydot's graphs."""

    __slots__ = ()

    def to_string(self) -> str:
        """Return the graph as text."""
        return str(self)

    def create(self, prog: str = "dot", format: str = "ps") -> bytes:
        """Draw the graph in a format of Graphviz, such as "png", "pdf" or "svg".

        Raises:
            FileNotFoundError: Graphviz's program ``prog`` is not installed.
            OSError: programs cannot be started here, as in a page.
            ValueError: Graphviz does not support the format.
        """
        drawn = subprocess.run(
            [prog, f"-T{format}"], input=self.encode(), capture_output=True, check=False
        )
        if drawn.returncode:
            reason = drawn.stderr.decode(errors="replace").strip()
            raise ValueError(f"{prog} cannot draw format {format!r}: {reason}")
        return drawn.stdout

    def write(self, path: PathLike, prog: str = "dot", format: str = "raw") -> bool:
        """Write a picture to a file, or with format "raw" the text; return True."""
        Path(path).write_bytes(self.encode() if format == "raw" else self.create(prog, format))
        return True


def model_to_dot(
    model: LayerContainer,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    subgraph: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Dot:
    """Return a model as a graph in DOT: a node for each layer, a cluster for each nested model.

    With ``subgraph`` the whole model is a cluster, to be put into another graph. ``dpi`` is the
    resolution of raster images in dots per inch.

    Raises:
        ValueError: ``rankdir`` is not a direction.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.utils.model_to_dot(model).splitlines()[0]
        'digraph {'
    """
    options = PictureOptions(
        "model_to_dot",
        show_shapes,
        show_dtype,
        show_layer_names,
        rankdir,
        expand_nested,
        show_layer_activations,
        show_trainable,
    )
    return draw_dot(model, options, dpi, subgraph)


def draw_dot(
    model: LayerContainer, options: PictureOptions, dpi: int, subgraph: bool = False
) -> Dot:
    """Return a model as a graph in DOT, drawn with the options of ``model_to_dot``."""
    lines, _, _ = _statements(model, options, count())
    if subgraph:
        return Dot("\n".join(_cluster(model.name, "cluster_model", lines)))
    head = [
        f"graph [rankdir={options.rankdir}, dpi={int(dpi)}];",
        'node [shape=box, fontname="Helvetica"];',
        "edge [penwidth=2];",
    ]
    return Dot("\n".join(["digraph {", *_indented([*head, *lines]), "}"]))


def _statements(
    model: LayerContainer, options: PictureOptions, numbers: Iterator[int]
) -> tuple[list[str], str, str]:
    """Return the statements of a model's graph, and the names of its first and last nodes."""
    diagram = diagram_of(model)
    lines: list[str] = []
    ends: list[tuple[str, str]] = []
    for operation in diagram.operations:
        inner = as_container(operation) if options.expand_nested else None
        if inner is not None:
            inner_lines, first, last = _statements(inner, options, numbers)
            name = f"cluster_{next(numbers)}"
            lines += _cluster(options.title(operation), name, inner_lines)
        else:
            first = last = f"layer_{next(numbers)}"
            lines.append(f"{first} [label={_label(operation, options)}];")
        ends.append((first, last))
    lines += [
        f"{ends[source][1]} -> {ends[target][0]};" for source, target in sorted(diagram.arrows)
    ]
    return lines, ends[0][0], ends[-1][1]


def _cluster(title: str, name: str, lines: list[str]) -> list[str]:
    return [f"subgraph {name} {{", *_indented([f"label=<{escape(title)}>;", *lines]), "}"]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _label(operation: Operation, options: PictureOptions) -> str:
    details = map(escape, options.details(operation))
    lines = [f"<b>{escape(options.title(operation))}</b>", *details]
    return f"<{'<br/>'.join(lines)}>"
