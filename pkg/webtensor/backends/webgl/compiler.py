"""The shader compiler: from a kernel's logical code to a GLSL ES 3.00 fragment shader.

Kernel authors write GLSL that knows nothing of textures: a function ``compute`` from the index of
an output to its value, with ``getX(index)`` to read an input named ``x``. A shader works on one
element at a time (``lanes=1``: indices count elements, values are scalars) or on the four of a
texel at once (``lanes=4``: indices count texels, values are vectors); an input can be read either
way, whatever the output's. ``getXAt(t)`` reads a texel whose index is a float, exact up to 2**24;
that is faster than an integer index if the index is a float already. ``getXHere()`` reads the texel
at the result's own coordinates: the same elements, if both have as many. ``getXRun(i)`` reads the
four elements from ``i`` on, which may be in two texels; those before the first element or after the
last are arbitrary. ``V`` names the value type, ``T`` its scalar. Shapes are uniforms, so one
program serves every shape of a kind.

Texels are sampled by normalized coordinates; the result's own are interpolated by the vertex
shader. Fetching texels by integers, shifting bits (even to divide by four) and reading
``gl_FragCoord`` all take longer on emulated devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webtensor.backends.webgl.glsl import functions_for, library_for
from webtensor.backends.webgl.precision_modes import Mode
from webtensor.dtypes import DType, bool_, float32, int32

__all__ = [
    "VERTEX_SOURCE",
    "Input",
    "Shader",
    "Uniform",
    "array_uniform",
    "declarations",
    "fragment_source",
    "getter_name",
    "reader_at",
    "target_names",
    "vector_type",
]


# One triangle that covers the viewport, without vertex buffers, and the fragments' coordinates.
VERTEX_SOURCE = """#version 300 es
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


class _Types(NamedTuple):
    scalar: str
    vector: str
    sampler: str
    stored: str


_TYPES = {
    float32: _Types("float", "vec4", "sampler2D", "vec4"),
    int32: _Types("int", "ivec4", "isampler2D", "ivec4"),
    bool_: _Types("bool", "bvec4", "usampler2D", "uvec4"),
}


class Input(NamedTuple):
    """A texture to read: ``getName(index)`` gives ``lanes`` elements of it."""

    name: str
    dtype: DType
    lanes: int


#: Name and type ("int" or "float") of a uniform.
Uniform = tuple[str, str]


def array_uniform(name: str, length: int) -> list[Uniform]:
    """Uniforms for a fixed-length array of integers."""
    return [(f"{name}[{index}]", "int") for index in range(length)]


class Shader(NamedTuple):
    """A kernel's logical code with its inputs, its output and its uniforms."""

    name: str
    inputs: Sequence[Input]
    output: DType
    lanes: int
    uniforms: Sequence[Uniform]
    code: str
    #: With more than one target, ``compute`` takes a texel's index and sets ``result0`` and so on.
    targets: int = 1


def vector_type(dtype: DType, lanes: int) -> str:
    """GLSL type of ``lanes`` elements."""
    types = _TYPES[dtype]
    return types.vector if lanes == 4 else types.scalar


def target_names(count: int) -> list[str]:
    """Names of the variables that a shader writes."""
    return ["result"] if count == 1 else [f"result{index}" for index in range(count)]


def declarations(uniforms: Sequence[Uniform]) -> str:
    """Declare uniforms."""
    array_lengths: dict[tuple[str, str], int] = {}
    for name, kind in uniforms:
        plain, bracket, _ = name.partition("[")
        array_lengths[plain, kind] = array_lengths.get((plain, kind), 0) + 1 if bracket else 0
    return "\n".join(
        f"uniform {kind} {name}{f'[{length}]' if length else ''};"
        for (name, kind), length in array_lengths.items()
    )


# The elements of two texels, shifted by one and by two. ``mix`` chooses among floats alone.
_FLOAT_RUN = """
vec4 GETTERRun(int i) {
  vec4 a = GETTERTexel(i);
  vec4 b = GETTERTexel(i + 3);
  bool one = (i & 1) != 0;
  a = mix(a, vec4(a.yzw, b.x), bvec4(one));
  b.xy = mix(b.xy, b.yz, bvec2(one));
  return mix(a, vec4(a.zw, b.xy), bvec4((i & 2) != 0));
}
"""
_INTEGER_RUN = """
VECTOR GETTERRun(int i) {
  STORED a = GETTERTexel(i);
  STORED b = GETTERTexel(i + 3);
  NUMBER one = NUMBER(-(i & 1));
  a ^= (a ^ STORED(a.yzw, b.x)) & one;
  b.xy ^= (b.xy ^ b.yz) & one;
  a ^= (a ^ STORED(a.zw, b.xy)) & NUMBER(-int((i & 2) != 0));
  return FINISHED;
}
"""


def _run(getter: str, dtype: DType) -> str:
    """The function that reads four elements that follow each other."""
    types = _TYPES[dtype]
    code = _FLOAT_RUN if dtype is float32 else _INTEGER_RUN
    for word, meaning in {
        "GETTER": getter,
        "VECTOR": types.vector,
        "STORED": types.stored,
        "NUMBER": "uint" if dtype is bool_ else "int",
        "FINISHED": "notEqual(a, uvec4(0u))" if dtype is bool_ else "a",
    }.items():
        code = code.replace(word, meaning)
    return code.strip()


def getter_name(name: str) -> str:
    """Return the name of the function that reads an input."""
    return f"get{name[0].upper()}{name[1:]}"


def reader_at(name: str, vector: str, value: str) -> list[str]:
    """Return the function that reads texel ``t``, a float, of the input with this sampler.

    ``value`` is the expression for the coordinates ``place``; textures' widths are powers of two.
    """
    return [
        f"{vector} {getter_name(name)}At(float t) {{",
        f"  float q = t * {name}Place.x, row = floor(q);",
        f"  vec2 place = vec2(q - row + {name}Place.z, (row + row + 1.0) * {name}Place.w);",
        f"  return {value};",
        "}",
    ]


def _accessor(source: Input, code: str) -> str:
    """Return the functions that ``code`` calls to read one input."""
    types = _TYPES[source.dtype]
    name, dtype = source.name, source.dtype
    getter = getter_name(name)
    is_set = "" if dtype is not bool_ else " != 0u"
    vector = "notEqual({}, uvec4(0u))" if dtype is bool_ else "{}"
    # Both products are exact in float32, as the second has few bits above the row's.
    sample = f"texture({name}, vec2(column, i - column) * {name}Place.xy + {name}Place.zw)"
    lines = [
        f"uniform highp {types.sampler} {name};",
        f"uniform int {name}Mask;",
        f"uniform vec4 {name}Place;",
        f"{types.stored} {getter}Texel(int i) {{",
        f"  int column = i & {name}Mask;",
        f"  return {sample};",
        "}",
    ]
    if source.lanes == 4:
        here = vector.format(f"texture({name}, hereUv)")
        lines += [
            f"{types.vector} {getter}(int t) {{ return {vector.format(f'{getter}Texel(t)')}; }}",
            f"{types.vector} {getter}Here() {{ return {here}; }}",
        ]
        if f"{getter}At(" in code:
            lines += reader_at(name, types.vector, vector.format(f"texture({name}, place)"))
    else:
        lines.append(
            f"{types.scalar} {getter}(int i) {{\n"
            f"  {types.stored} v = {getter}Texel(i);\n"
            f"  int lane = i & 3;\n"
            f"  return (lane < 2 ? (lane == 0 ? v.x : v.y) : (lane == 2 ? v.z : v.w)){is_set};\n"
            f"}}"
        )
        if f"{getter}Run(" in code:
            lines.append(_run(getter, dtype))
    return "\n".join(lines)


def fragment_source(shader: Shader, mode: Mode) -> str:
    """Generate the fragment shader."""
    types = _TYPES[shader.output]
    value = vector_type(shader.output, shader.lanes)
    targets = target_names(shader.targets)
    if shader.targets > 1:
        body = "  compute(t);"
    elif shader.lanes == 4:
        body = f"  result = {types.stored}(compute(t));"
    else:
        body = (
            "  int i = t * 4;\n"
            f"  result = {types.stored}"
            "(compute(i), compute(i + 1), compute(i + 2), compute(i + 3));"
        )
    if mode.is_half and shader.output is float32:
        body += "".join(f"\n  {name} = half_range({name});" for name in targets)
    parts = [
        "#version 300 es",
        f"// {shader.name}",
        "precision highp float;\nprecision highp int;",
        f"#define T {types.scalar}\n#define V {value}",
        "in vec2 hereUv;\nin vec2 herePlace;\nuniform int hereWidth;",
        *(_accessor(source, shader.code) for source in shader.inputs),
        declarations(shader.uniforms),
        *(
            f"layout(location = {index}) out highp {types.stored} {name};"
            for index, name in enumerate(targets)
        ),
        library_for(f"{shader.code}{body}", functions_for(mode)),
        shader.code.strip(),
        f"void main() {{\n  int t = int(herePlace.y) * hereWidth + int(herePlace.x);\n{body}\n}}",
    ]
    return "\n".join(part for part in parts if part) + "\n"
