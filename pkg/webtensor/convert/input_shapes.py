"""Shapes that a user fixes for the inputs of a model that declares unknown sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from webtensor.arguments import as_non_negative_integer

__all__ = ["DeclaredShape", "InputShapes", "fixed_shapes"]

#: The shape of each input by its name; None is a size that stays unknown.
InputShapes: TypeAlias = Mapping[str, Sequence[int | None]]
#: What a model declares: sizes, names of sizes, and None; or None where not even the rank is known.
DeclaredShape: TypeAlias = "Sequence[int | str | None] | None"


def fixed_shapes(
    label: str, declared: Mapping[str, DeclaredShape], shapes: InputShapes
) -> dict[str, DeclaredShape]:
    """Return the shapes of all inputs. A name that gets a size has it in all inputs.

    Args:
        label: what errors call the model.
        declared: what the model declares.
        shapes: what the user fixes.

    Raises:
        TypeError: a size is no integer.
        ValueError: there is no such input, a size is negative, or a shape contradicts what the
            model declares.

    Example:
        >>> fixed_shapes("m.onnx", {"x": ("batch", 3), "y": ("batch",)}, {"x": (1, None)})
        {'x': (1, 3), 'y': (1,)}
    """
    sizes: dict[str, int] = {}
    results: dict[str, DeclaredShape] = {**declared}
    for name, shape in shapes.items():
        where = f"convert_model: input_shapes[{name!r:.200}]"
        if name not in declared:
            names = ", ".join(map(repr, declared))
            raise ValueError(f"{where}: {label} has no such input; its inputs are {names:.500}")
        own = declared[name]
        if own is None:
            own = (None,) * len(shape)
        if len(own) != len(shape):
            raise ValueError(
                f"{where}: the input has rank {len(own)}, its shape is {_listed(own)}, but got "
                f"{_listed(shape)}"
            )
        for axis, (before, size) in enumerate(zip(own, shape, strict=True)):
            if size is None:
                continue
            as_non_negative_integer("convert_model", f"input_shapes[{name!r:.200}][{axis}]", size)
            if isinstance(before, str):
                before = sizes.setdefault(before, size)
            if before not in (None, size):
                raise ValueError(
                    f"{where}: size {size} along axis {axis} contradicts {before}, as the input "
                    f"has shape {_listed(own)}"
                )
        results[name] = tuple(
            before if size is None else size for before, size in zip(own, shape, strict=True)
        )
    return {
        name: shape
        and tuple(sizes.get(size, size) if isinstance(size, str) else size for size in shape)
        for name, shape in results.items()
    }


def _listed(shape: Sequence[int | str | None]) -> str:
    return f"({', '.join('?' if size is None else str(size) for size in shape)})"
