"""Shaders for WebGL 1: the counterpart of ``compiler`` for GLSL ES 1.00.

There are no textures of integers: int32 elements are floats, exact to 2**24, and bools are bytes.
``glsl_es_100`` translates a kernel's code to the older language.
"""

from __future__ import annotations

from functools import cache

from webtensor.backends.webgl import glsl, webgl1_functions
from webtensor.backends.webgl.compiler import (
    Input,
    Shader,
    declarations,
    getter_name,
    reader_at,
    target_names,
    vector_type,
)
from webtensor.backends.webgl.glsl import library_for
from webtensor.backends.webgl.glsl_es_100 import UntranslatableError, translated
from webtensor.backends.webgl.precision_modes import Mode
from webtensor.dtypes import DType, bool_, float32, int32
from webtensor.errors import KernelNotFoundError

__all__ = ["VERTEX_SOURCE", "fragment_source"]

VERTEX_SOURCE = """
attribute vec2 hereCorner;
uniform vec2 hereSize;
varying vec2 hereUv;
varying vec2 herePlace;
void main() {
  hereUv = hereCorner * 2.0;
  herePlace = hereUv * hereSize;
  gl_Position = vec4(hereCorner * 4.0 - 1.0, 0.0, 1.0);
}
"""

#: GLSL that converts a texture's floats to a dtype, for one lane and for four.
_LOADED = {
    float32: ("{}", "{}"),
    int32: ("int({})", "ivec4({})"),
    bool_: ("{} != 0.0", "notEqual({}, vec4(0.0))"),
}

# The elements of two texels, shifted by one and by two.
_RUN = """
VECTOR GETTERRun(int i) {
  vec4 a = GETTERTexel(i);
  vec4 b = GETTERTexel(i + 3);
  int lane = floor_rest(i, 4);
  a = lane < 2 ? (lane == 0 ? a : vec4(a.yzw, b.x))
    : (lane == 2 ? vec4(a.zw, b.xy) : vec4(a.w, b.xyz));
  return LOADED;
}
"""


def _accessor(source: Input, code: str) -> str:
    """Return the functions that ``code`` calls to read one input."""
    name, dtype = source.name, source.dtype
    getter = getter_name(name)
    scalar, vector = _LOADED[dtype]
    types = [vector_type(dtype, lanes) for lanes in (1, 4)]
    lines = [
        f"uniform highp sampler2D {name};",
        f"uniform int {name}Mask;",
        f"uniform vec4 {name}Place;",
        f"vec4 {getter}Texel(int i) {{",
        f"  int column = rest_of(i, {name}Mask + 1);",
        f"  vec2 place = vec2(column, i - column) * {name}Place.xy + {name}Place.zw;",
        f"  return texture2D({name}, place);",
        "}",
    ]
    if source.lanes == 4:
        lines += [
            f"{types[1]} {getter}(int t) {{ return {vector.format(f'{getter}Texel(t)')}; }}",
            f"{types[1]} {getter}Here() {{"
            f" return {vector.format(f'texture2D({name}, hereUv)')}; }}",
        ]
        if f"{getter}At(" in code:
            lines += reader_at(name, types[1], vector.format(f"texture2D({name}, place)"))
    else:
        lane = scalar.format("lane_of(v, floor_rest(i, 4))")
        lines += [
            f"{types[0]} {getter}(int i) {{",
            f"  vec4 v = {getter}Texel(i);",
            f"  return {lane};",
            "}",
        ]
        if f"{getter}Run(" in code:
            run = _RUN.replace("VECTOR", types[1]).replace("GETTER", getter)
            lines.append(run.replace("LOADED", vector.format("a")).strip())
    return "\n".join(lines)


@cache
def _find(name: str) -> str | None:
    """The function of a name."""
    if name in webgl1_functions.FUNCTIONS:
        return webgl1_functions.FUNCTIONS[name]
    return translated(glsl.FUNCTIONS[name]) if name in glsl.FUNCTIONS else None


def _find_for_half(name: str) -> str | None:
    return webgl1_functions.FOR_HALF.get(name) or _find(name)


def _written(value: str, dtype: DType, is_limited: bool) -> str:
    """Return the colour to write for a value; a bool becomes the byte 0 or 1."""
    stored = f"vec4({value}) / 255.0" if dtype is bool_ else f"vec4({value})"
    return f"half_range({stored})" if is_limited else stored


def _targets(shader: Shader) -> tuple[str, dict[str, str]]:
    """Return the code before a shader writes its targets, and these by what it writes."""
    if shader.targets > 1:
        names = target_names(shader.targets)
        return "  compute(t);\n", {
            name: f"gl_FragData[{index}]" for index, name in enumerate(names)
        }
    if shader.lanes == 4:
        return "", {"compute(t)": "gl_FragColor"}
    elements = "compute(i), compute(i + 1), compute(i + 2), compute(i + 3)"
    return "  int i = t * 4;\n", {elements: "gl_FragColor"}


def fragment_source(shader: Shader, mode: Mode) -> str:
    """Generate the fragment shader.

    Raises:
        KernelNotFoundError: WebGL 1 cannot compute it.
    """
    value = vector_type(shader.output, shader.lanes)
    prologue, targets = _targets(shader)
    is_limited = mode.is_half and shader.output is not bool_
    written = "".join(
        f"  {target} = {_written(computed, shader.output, is_limited)};\n"
        for computed, target in targets.items()
    )
    accessors = "\n".join(_accessor(source, shader.code) for source in shader.inputs)
    find = _find_for_half if mode.is_half else _find
    try:
        code = translated(shader.code)
        library = library_for("\n".join((accessors, code, written)), find)
    except UntranslatableError as error:
        raise KernelNotFoundError(f"webgl: {shader.name} needs WebGL 2: {error}") from None
    parts = [
        "#extension GL_EXT_draw_buffers : require" if shader.targets > 1 else "",
        f"// {shader.name}",
        "precision highp float;\nprecision highp int;",
        f"#define T {vector_type(shader.output, 1)}\n#define V {value}",
        "varying vec2 hereUv;\nvarying vec2 herePlace;\nuniform int hereWidth;",
        "uniform float hereZero;  // as it is where nobody sets it",
        declarations(shader.uniforms),
        library,
        accessors,
        *(f"vec4 {name};" for name in targets if shader.targets > 1),
        code,
        "void main() {\n"
        "  int t = int(herePlace.y) * hereWidth + int(herePlace.x);\n"
        f"{prologue}{written}}}",
    ]
    return "\n".join(part for part in parts if part) + "\n"
