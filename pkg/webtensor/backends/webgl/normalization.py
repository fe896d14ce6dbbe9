"""Kernels along the last axis: softmax and its logarithm, and sums of neighbours.

A softmax finds the greatest element, the sum of exponentials, then the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.reduction import reduce_texture
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import DType, float32
from webtensor.shapes import Shape

__all__: list[str] = []

#: Rows up to this long are normalized in one draw, each element walking over its row twice.
_SHORT = 16

_IN_ONE_DRAW = """
float compute(int i) {
  int start = (i / length_) * length_;
  float greatest = getX(start);
  for (int k = 1; k < length_; k++) greatest = float_max(greatest, getX(start + k));
  float total = 0.0;
  for (int k = 0; k < length_; k++) total += exp_(getX(start + k) - greatest);
  float shifted = getX(i) - greatest;
  return RESULT;
}
"""

_EXPONENTIALS = """
float compute(int i) { return exp_(getX(i) - getGreatest(i / length_)); }
"""

_FINISH = {
    "softmax": """
float compute(int i) { return getExponentials(i) / getTotal(i / length_); }
""",
    "log_softmax": """
float compute(int i) { return getX(i) - getGreatest(i / length_) - log_(getTotal(i / length_)); }
""",
}
_RESULT = {"softmax": "exp_(shifted) / total", "log_softmax": "shifted - log_(total)"}


def _normalize(
    backend: WebGLBackend, inputs: Sequence[Operand], kind: str, outer: int, length: int
) -> Handle:
    x = inputs[0].storage.handle
    size = outer * length
    uniforms = [("length_", "int")]

    def shader(names: Sequence[str], code: str) -> Shader:
        sources = [Input(name, float32, 1) for name in names]
        return Shader(kind, sources, float32, 1, uniforms, code)

    if length <= _SHORT:
        code = _IN_ONE_DRAW.replace("RESULT", _RESULT[kind])
        program = backend.program((kind, "short"), lambda: shader(["x"], code))
        return backend.draw(program, [x], size, float32, length)
    with ExitStack() as temporary:

        def held(texture: Texture) -> Texture:
            temporary.callback(backend.release, texture)
            return texture

        greatest = held(reduce_texture(backend, x, float32, "max", (outer, length, 1)))
        program = backend.program("exponentials", lambda: shader(["x", "greatest"], _EXPONENTIALS))
        exponentials = held(backend.draw(program, [x, greatest], size, float32, length))
        total = held(reduce_texture(backend, exponentials, float32, "sum", (outer, length, 1)))
        if kind == "softmax":
            names, textures = ["exponentials", "total"], [exponentials, total]
        else:
            names, textures = ["x", "greatest", "total"], [x, greatest, total]
        program = backend.program((kind, "long"), lambda: shader(names, _FINISH[kind]))
        return backend.draw(program, textures, size, float32, length)


@kernel("softmax")
def softmax(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
) -> Handle:
    """Exponentials over their sum."""
    return _normalize(backend, inputs, "softmax", outer, length)


@kernel("log_softmax")
def log_softmax(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
) -> Handle:
    """Logarithm of the softmax."""
    return _normalize(backend, inputs, "log_softmax", outer, length)


_WINDOW_SUM = """
float compute(int i) {
  int place = i % length_;
  float total = 0.0;
  int end = min(length_ - 1, place + radius);
  for (int k = max(0, place - radius); k <= end; k++) total += getX(i - place + k);
  return total;
}
"""


@kernel("window_sum")
def window_sum(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    radius: int,
) -> Handle:
    """Sum of each element and of up to ``radius`` neighbours on either side."""

    def shader() -> Shader:
        uniforms = [("length_", "int"), ("radius", "int")]
        return Shader("window_sum", [Input("x", float32, 1)], float32, 1, uniforms, _WINDOW_SUM)

    return backend.run("window_sum", shader, inputs, outer * length, float32, length, radius)
