"""What was drawn, for those who ask: programs and the textures that they read and wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webtensor.backends.webgl.programs import LinkedProgram
from webtensor.backends.webgl.textures import Texture

__all__ = ["Draw", "Layout", "copied", "traced"]

_FORMATS = (
    *("RGBA32F", "RGBA32I", "RGBA8UI", "RGBA8", "RGBA16F"),
    *("RGBA32F", "RGBA16F", "RGBA8"),  # of WebGL 1
)


class Layout(NamedTuple):
    """Physical size, in texels of four elements, and format of a texture."""

    width: int
    height: int
    format: str

    def __str__(self) -> str:
        return f"{self.width}×{self.height} {self.format}"


class Draw(NamedTuple):
    """A draw, or copies of textures into one."""

    #: The program's number on the device; 0 for copies, which have no source.
    program: int
    #: The kernel's name of the program.
    name: str
    glsl: str
    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    #: The uniforms of the draw, mostly sizes and strides.
    uniforms: tuple[float, ...]

    def __str__(self) -> str:
        read = ", ".join(map(str, self.inputs)) or "nothing"
        by = f"program {self.program}, {self.name}" if self.program else self.name
        return f"{by}: {read} -> {', '.join(map(str, self.outputs))}"


def traced(
    program: LinkedProgram,
    inputs: Sequence[Texture],
    outputs: Sequence[Texture],
    uniforms: tuple[float, ...],
) -> Draw:
    """Describe a draw."""
    return Draw(
        program.id,
        program.name,
        program.source,
        tuple(map(_layout, inputs)),
        tuple(map(_layout, outputs)),
        uniforms,
    )


def copied(parts: Sequence[Texture], output: Texture) -> Draw:
    """Describe copies of textures into one."""
    return Draw(0, "copy", "", tuple(map(_layout, parts)), (_layout(output),), ())


def _layout(texture: Texture) -> Layout:
    return Layout(texture.width, texture.height, _FORMATS[texture.kind])
