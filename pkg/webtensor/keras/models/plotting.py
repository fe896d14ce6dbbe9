"""Files with pictures of models: SVG, and where Graphviz is installed, other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from warnings import warn

from webtensor.keras.models.diagrams import PictureOptions
from webtensor.keras.models.dot import draw_dot
from webtensor.keras.models.svg import Svg, draw_svg
from webtensor.keras.types import PathLike

if TYPE_CHECKING:
    from webtensor.keras.models.model import Model

__all__ = ["plot_model"]


def plot_model(
    model: Model,
    to_file: PathLike | None = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = False,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Svg:
    """Draw a model to a file, and return the picture as SVG; with ``to_file=None``, only return it.

    Graphviz draws formats other than SVG, with ``dpi`` dots per inch. Where it is not installed, as
    in a page, a warning tells the name of the SVG file that is written instead.

    Raises:
        ValueError: ``rankdir`` is not a direction, or ``to_file`` does not end in a format, or in
            one that Graphviz does not support.
    """
    options = PictureOptions(
        "plot_model",
        show_shapes,
        show_dtype,
        show_layer_names,
        rankdir,
        expand_nested,
        show_layer_activations,
        show_trainable,
    )
    picture = draw_svg(model, options)
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
        try:
            image = draw_dot(model, options, dpi).create(format=file_format)
        except OSError:
            file = file.with_suffix(".svg")
            warn(
                f"plot_model: Graphviz, which draws {file_format} files, is not installed: the "
                f"picture was written as {str(file)!r}",
                stacklevel=2,
            )
        else:
            file.write_bytes(image)
            return picture
    file.write_text(picture, encoding="utf-8")
    return picture
