"""Files with pictures of models: SVG everywhere, other formats where Graphviz is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from warnings import warn

from webtensor.keras.models.dot import model_to_dot
from webtensor.keras.models.svg import Svg, model_to_svg

__all__ = ["plot_model"]


def plot_model(
    model: Any,
    to_file: Any = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = False,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Svg:
    """Draw a model into a file, and return the picture as SVG; ``to_file`` may be None.

    Formats other than SVG are drawn by Graphviz, with ``dpi`` dots per inch. Where it is not
    installed, as in a page, the SVG is written beside the file instead, with a warning.

    Raises:
        ValueError: there is no direction ``rankdir``, or ``to_file`` has no ending that says its
            format, or one that Graphviz does not know.
    """
    shown = (show_shapes, show_dtype, show_layer_names, rankdir, expand_nested)
    picture = model_to_svg(model, *shown, show_layer_activations, show_trainable)
    if to_file is None:
        return picture
    file = Path(to_file)
    file_format = file.suffix[1:].lower()
    if not file_format:
        raise ValueError(
            "plot_model: to_file must end with the format of the picture, such as '.svg' or "
            f"'.png', but is {str(to_file)!r}"
        )
    if file_format != "svg":
        graph = model_to_dot(
            model,
            *shown,
            dpi,
            show_layer_activations=show_layer_activations,
            show_trainable=show_trainable,
        )
        try:
            drawn = graph.create(format=file_format)
        except OSError:
            file = file.with_suffix(".svg")
            warn(
                f"plot_model: Graphviz, which draws {file_format} files, is not there: the picture "
                f"was written as {str(file)!r}",
                stacklevel=2,
            )
        else:
            file.write_bytes(drawn)
            return picture
    file.write_text(picture, encoding="utf-8")
    return picture
