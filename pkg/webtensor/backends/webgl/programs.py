"""Compiled programs: cached by key, compiled once, drawn by packing a record."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from struct import Struct
from typing import Any

from webtensor.backends.webgl.compiler import Shader, fragment_source
from webtensor.errors import BackendError

__all__ = ["Program", "ProgramCache"]

# One triangle that covers the viewport, without vertex buffers; and where each fragment lies.
_VERTEX_SOURCE = """#version 300 es
uniform vec2 hereSize;
out vec2 hereUv;
out vec2 herePlace;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  hereUv = corner * 2.0;
  herePlace = hereUv * hereSize;
  gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);
}
"""


class Program:
    """A program's number on the device and the layout of its draw record."""

    __slots__ = ("id", "name", "record", "source")

    def __init__(self, id: int, name: str, source: str, record: Struct) -> None:
        self.id = id
        self.name = name
        self.source = source
        self.record = record


class ProgramCache:
    """Programs by key. A key names all that the shader's source depends on."""

    def __init__(self, gl: Any, device: Any) -> None:
        self._gl = gl
        self._device = device
        self._programs: dict[Hashable, Program] = {}
        self._vertex_shader = self._compile_shader(gl.VERTEX_SHADER, _VERTEX_SOURCE, "vertex")

    def __len__(self) -> int:
        return len(self._programs)

    def get(self, key: Hashable, make: Callable[[], Shader]) -> Program:
        """Return the program for ``key``, compiling what ``make`` describes the first time."""
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._link(make())
        return program

    def _link(self, shader: Shader) -> Program:
        gl = self._gl
        source = fragment_source(shader)
        fragment = self._compile_shader(gl.FRAGMENT_SHADER, source, shader.name)
        linked = gl.createProgram()
        gl.attachShader(linked, self._vertex_shader)
        gl.attachShader(linked, fragment)
        gl.linkProgram(linked)
        gl.deleteShader(fragment)
        if not gl.getProgramParameter(linked, gl.LINK_STATUS) and not gl.isContextLost():
            log = gl.getProgramInfoLog(linked)
            gl.deleteProgram(linked)
            raise BackendError(f"webgl: linking the program of {shader.name} failed: {log}")
        id = self._device.addProgram(
            linked,
            shader.targets,
            ",".join(f"{source.name}:{source.lanes}" for source in shader.inputs),
            ",".join(f"{name}:{kind[0]}" for name, kind in shader.uniforms),
        )
        # program, targets, textures, uniforms, end mark
        words = (
            "i" * (1 + shader.targets + len(shader.inputs))
            + "".join(kind[0] for _, kind in shader.uniforms)
            + "i"
        )
        return Program(id, shader.name, source, Struct(f"={words}"))

    def _compile_shader(self, kind: int, source: str, name: str) -> Any:
        gl = self._gl
        shader = gl.createShader(kind)
        gl.shaderSource(shader, source)
        gl.compileShader(shader)
        if not gl.getShaderParameter(shader, gl.COMPILE_STATUS) and not gl.isContextLost():
            log = str(gl.getShaderInfoLog(shader))
            gl.deleteShader(shader)
            numbered = "\n".join(
                f"{number:4} {line}" for number, line in enumerate(source.splitlines(), 1)
            )
            raise BackendError(f"webgl: compiling the shader of {name} failed: {log}\n{numbered}")
        return shader
