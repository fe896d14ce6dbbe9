"""Models in DOT, the language of Graphviz, which draws them in many formats."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from html import escape
from itertools import count
from pathlib import Path
from typing import Any

from webtensor.keras.models.diagrams import Details, check_direction, diagram_of

__all__ = ["Dot", "model_to_dot"]


class Dot(str):
    """A graph in DOT, with the methods of pydot's graphs that scripts use."""

    __slots__ = ()

    def to_string(self) -> str:
        """Return the text."""
        return str(self)

    def create(self, prog: str = "dot", format: str = "ps") -> bytes:
        """Draw the graph in a format that Graphviz knows, such as "png", "pdf" or "svg".

        Raises:
            FileNotFoundError: Graphviz's program ``prog`` is not installed.
            OSError: no program can be started here, as in a page.
            ValueError: Graphviz refuses the format.
        """
        drawn = subprocess.run(
            [prog, f"-T{format}"], input=self.encode(), capture_output=True, check=False
        )
        if drawn.returncode:
            reason = drawn.stderr.decode(errors="replace").strip()
            raise ValueError(f"{prog} cannot draw format {format!r}: {reason}")
        return drawn.stdout

    def write(self, path: Any, prog: str = "dot", format: str = "raw") -> bool:
        """Write the text, with format "raw", or a picture to a file; return True."""
        Path(path).write_bytes(self.encode() if format == "raw" else self.create(prog, format))
        return True


def model_to_dot(
    model: Any,
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

    With ``subgraph`` it is one cluster, to stand in another graph. ``dpi`` is the number of dots
    per inch of pictures that are made of pixels.

    Raises:
        ValueError: there is no direction ``rankdir``.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.utils.model_to_dot(model).splitlines()[0]
        'digraph {'
    """
    check_direction("model_to_dot", rankdir)
    details = Details(
        show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable
    )
    lines, _, _ = _statements(model, details, expand_nested, count())
    if subgraph:
        return Dot("\n".join(_cluster(model.name, "cluster_model", lines)))
    head = [
        f"graph [rankdir={rankdir}, dpi={int(dpi)}];",
        'node [shape=box, fontname="Helvetica"];',
        "edge [penwidth=2];",
    ]
    return Dot("\n".join(["digraph {", *_indented([*head, *lines]), "}"]))


def _statements(
    model: Any, details: Details, expand_nested: bool, numbers: Iterator[int]
) -> tuple[list[str], str, str]:
    """Return the statements of a model's graph, and its first and its last node."""
    diagram = diagram_of(model)
    lines: list[str] = []
    ends: list[tuple[str, str]] = []
    for layer in diagram.layers:
        if expand_nested and getattr(layer, "layers", None):
            inner, first, last = _statements(layer, details, expand_nested, numbers)
            name = f"cluster_{next(numbers)}"
            lines += _cluster(details.title(layer), name, inner)
        else:
            first = last = f"layer_{next(numbers)}"
            lines.append(f"{first} [label={_label(layer, details)}];")
        ends.append((first, last))
    lines += [
        f"{ends[source][1]} -> {ends[target][0]};" for source, target in sorted(diagram.arrows)
    ]
    return lines, ends[0][0], ends[-1][1]


def _cluster(title: str, name: str, lines: list[str]) -> list[str]:
    return [f"subgraph {name} {{", *_indented([f"label=<{escape(title)}>;", *lines]), "}"]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _label(layer: Any, details: Details) -> str:
    lines = [f"<b>{escape(details.title(layer))}</b>", *map(escape, details.facts(layer))]
    return f"<{'<br/>'.join(lines)}>"
