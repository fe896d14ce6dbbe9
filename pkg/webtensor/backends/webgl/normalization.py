"""Kernels along the last axis: softmax, sums of neighbours, normalization by channel.

A softmax finds the maximum, the sum of exponentials, then the quotients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.backends.webgl.reduction import reduced_value
from webtensor.dtypes import float32

__all__: list[str] = []

#: Rows up to this long are normalized in one draw, each element walking over its row twice.
_SHORT = 16

_IN_ONE_DRAW = """
float compute(int i) {
  int start = (i / length_) * length_;
  float maximum = getX(start);
  for (int k = 1; k < length_; k++) maximum = float_max(maximum, getX(start + k));
  float total = 0.0;
  for (int k = 0; k < length_; k++) total += exp_(getX(start + k) - maximum);
  float shifted = getX(i) - maximum;
  return RESULT;
}
"""

# Rows of whole texels are computed by fours.
_EXPONENTIALS = {
    1: """
float compute(int i) { return exp_(getX(i) - getMaximum(i / length_)); }
""",
    4: """
vec4 compute(int t) {
  vec4 x = getX(t) - getMaximum(t / length_);
  return vec4(exp_(x.x), exp_(x.y), exp_(x.z), exp_(x.w));
}
""",
}

_LAST_DRAW = {
    "softmax": """
V compute(int t) { return getExponentials(t) / getTotal(t / length_); }
""",
    "log_softmax": """
V compute(int t) {
  int row = t / length_;
  return getX(t) - getMaximum(row) - log_(getTotal(row));
}
""",
}
_RESULT = {"softmax": "exp_(shifted) / total", "log_softmax": "shifted - log_(total)"}


def _normalize(draws: Draws, kind: str, outer: int, length: int) -> Value:
    (x,) = draws.inputs
    size = outer * length
    uniforms = [("length_", "int")]
    lanes = 4 if length > _SHORT and length % 4 == 0 else 1

    def shader(names: Sequence[str], code: str) -> Shader:
        sources = [
            Input(name, float32, 1 if name in ("maximum", "total") else lanes) for name in names
        ]
        return Shader(kind, sources, float32, lanes, uniforms, code)

    if length <= _SHORT:
        code = _IN_ONE_DRAW.replace("RESULT", _RESULT[kind])
        program = Program((kind, "short"), lambda: shader(["x"], code))
        return draws.draw(program, [x], size, float32, length)
    row = length // lanes
    maximum = reduced_value(draws, x, float32, "max", (outer, length, 1))
    program = Program(
        ("exponentials", lanes), lambda: shader(["x", "maximum"], _EXPONENTIALS[lanes])
    )
    exponentials = draws.draw(program, [x, maximum], size, float32, row)
    total = reduced_value(draws, exponentials, float32, "sum", (outer, length, 1))

    if kind == "softmax":
        names, textures = ["exponentials", "total"], [exponentials, total]
    else:
        names, textures = ["x", "maximum", "total"], [x, maximum, total]
    program = Program((kind, "long", lanes), lambda: shader(names, _LAST_DRAW[kind]))
    return draws.draw(program, textures, size, float32, row)


def _softmax(kind: str) -> Callable[..., Value]:
    """Make the kernel of the softmax of rows, or of its logarithm."""

    def softmax(draws: Draws, outer: int, length: int) -> Value:
        return _normalize(draws, kind, outer, length)

    return softmax


for _name in ("softmax", "log_softmax"):
    kernel(_name)(_softmax(_name))


_WINDOW_SUM = """
float compute(int i) {
  int indexInRow = i % length_;
  float total = 0.0;
  int end = min(length_ - 1, indexInRow + radius);
  for (int k = max(0, indexInRow - radius); k <= end; k++) total += getX(i - indexInRow + k);
  return total;
}
"""
# A texel of sums: each texel with a neighbour is read once.
_WINDOW_SUM_BY_FOURS = """
float near(vec4 x, ivec4 distance_) {
  vec4 nearby = mix(vec4(0.0), x, lessThanEqual(abs(distance_), ivec4(radius)));
  return nearby.x + nearby.y + nearby.z + nearby.w;
}
vec4 compute(int t) {
  int indexInRow = (t << 2) % length_;
  int row = t - (indexInRow >> 2);
  int end = min(length_ - 1, indexInRow + 3 + radius) >> 2;
  vec4 total = vec4(0.0);
  for (int k = max(0, indexInRow - radius) >> 2; k <= end; k++) {
    vec4 x = getX(row + k);
    ivec4 d = ivec4(0, 1, 2, 3) + ((k << 2) - indexInRow);
    total += vec4(near(x, d), near(x, d - 1), near(x, d - 2), near(x, d - 3));
  }
  return total;
}
"""


@kernel("window_sum")
def window_sum(draws: Draws, outer: int, length: int, radius: int) -> Value:
    """Sum of each element and of up to ``radius`` neighbours on either side."""
    lanes, code = (4, _WINDOW_SUM_BY_FOURS) if length % 4 == 0 else (1, _WINDOW_SUM)

    def shader() -> Shader:
        uniforms = [("length_", "int"), ("radius", "int")]
        sources = [Input("x", float32, lanes)]
        return Shader("window_sum", sources, float32, lanes, uniforms, code)

    return draws.result(("window_sum", lanes), shader, length, radius)


_NORMALIZE = """
V compute(int t) {
  int channel = t % channels;
  return (getX(t) - getMean(channel)) * getFactor(channel) + getOffset(channel);
}
"""


@kernel("normalize")
def normalize(draws: Draws, outer: int, channels: int) -> Value:
    """``(x - mean) * factor + offset``, with a number per channel for each."""
    lanes = 4 if channels % 4 == 0 else 1

    def shader() -> Shader:
        sources = [Input(name, float32, lanes) for name in ("x", "mean", "factor", "offset")]
        return Shader("normalize", sources, float32, lanes, [("channels", "int")], _NORMALIZE)

    return draws.result(("normalize", lanes), shader, channels // lanes)
