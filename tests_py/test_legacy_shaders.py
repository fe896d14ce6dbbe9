"""Shaders for WebGL 1, translated without a browser."""

import re

import pytest

from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.elementwise import row_shader
from webtensor.backends.webgl.glsl_es_100 import UntranslatableError, translated
from webtensor.backends.webgl.precision_modes import Mode
from webtensor.backends.webgl.webgl1_compiler import fragment_source
from webtensor.dtypes import float32
from webtensor.errors import KernelNotFoundError
from webtensor.ops.elementwise import ROWS

#: What needs the bits of numbers; it runs on another backend.
NEED_BITS = {
    *("bitwise_and", "bitwise_or", "bitwise_xor"),
    *("nextafter", "unit_float", "divisor_of_kept", "float_between"),
}


def same(text: str) -> str:
    """Text without differences in white space."""
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.parametrize(
    "source, expected",
    [
        ("a % b", "rest_of(a, b)"),
        ("a + b >> 2", "floor_part(a + b, 4)"),
        ("a >> b", "right_shifted(a, b)"),
        ("(a << 2) % c", "rest_of((((a) * 4)), c)"),
        ("a & 3", "floor_rest(a, 4)"),
        ("(a & 4) != 0", "(bit_of(a, 4)) != 0"),
        ("~a", "(-1 - a)"),
        ("a *= b % c", "a *= rest_of(b, c)"),
        ("a >>= 1", "a = floor_part(a, 2)"),
        ("a < b ? c : d % e", "a < b ? c : rest_of(d, e)"),
        ("!a && b || c ^^ d", "!a && b || c ^^ d"),
        ("mix(a, max(b, 1.0), c).xy", "mix_(a, max_(b, 1.0), c).xy"),
        ("v[2] + v[i]", "v[2] + lane_of(v, i)"),
        ("-f(a, b)[1]", "-f(a, b)[1]"),
        ("a++ + --b", "a++ + --b"),
    ],
)
def test_expressions(source: str, expected: str) -> None:
    assert same(translated(f"void f() {{ x = {source}; }}")) == f"void f() {{ x = {expected}; }}"


@pytest.mark.parametrize(
    "source, expected",
    [
        (
            "for (int i = 0; i < 4; i++) v[i] = w[i];",
            "for (int i = 0; i < 4; i++) { v[i] = w[i]; }",
        ),
        (
            "for (int i = n; i < 4; i++) v[i] = w[j];",
            "int first_1 = n; for (int i = 0; i < 4; i++) { if (i < first_1) continue;"
            " { v[i] = lane_of(w, j); } }",
        ),
        (
            "for (int i = a; i < b; i += 2) { if (c) continue; d(); }",
            "{ int i = a; for (int turn_1 = 0; turn_1 < 16777216; turn_1++) {"
            " if (!(i < b)) break; { if (c) { i += 2; continue; } d(); } i += 2; } }",
        ),
        (
            "while (a) { if (b) continue; a--; }",
            "{ for (int turn_1 = 0; turn_1 < 16777216; turn_1++) { if (!(a)) break;"
            " { if (b) { continue; } a--; } } }",
        ),
    ],
)
def test_loops(source: str, expected: str) -> None:
    assert same(translated(f"void f() {{ {source} }}")) == f"void f() {{ {expected} }}"


def test_declarations_stay() -> None:
    code = """#define READ(p) getX(p)
#define T float
struct Place { bool inside; int at; };
uniform int lengths[3];
bool outside = false;
int find(int i, out int rest) { const int n = 2; float a, b = 1.0; rest = i; return n; }"""
    assert same(translated(code)) == same(code)


@pytest.mark.parametrize("source", ["uint a;", "x = 1u;", "x = floatBitsToInt(y);", "x = a | b;"])
def test_what_cannot_be_said_is_refused(source: str) -> None:
    with pytest.raises(UntranslatableError):
        translated(source)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_the_elementwise_table(name: str, half: bool) -> None:
    row = ROWS[name]
    for dtype in row.input_dtypes:
        shader = row_shader(row, [dtype] * row.arity, row.output_dtype(dtype), [0] * row.arity, 0)
        if name in NEED_BITS:
            with pytest.raises(KernelNotFoundError, match=f"{name} needs WebGL 2"):
                fragment_source(shader, Mode(1, half))
        else:
            source = fragment_source(shader, Mode(1, half))
            assert not re.search(r"\buint|Bits|[^&]&[^&]|<<|>>|%", source)


@pytest.mark.parametrize("half", [False, True])
def test_several_targets(half: bool) -> None:
    code = "void compute(int t) { vec4 x = getX(t); result0 = x; result1 = x + 1.0; }"
    shader = Shader("tile", [Input("x", float32, 4)], float32, 4, [], code, 2)
    source = fragment_source(shader, Mode(1, half))
    assert source.startswith("#extension GL_EXT_draw_buffers : require")
    assert "vec4 result0;\nvec4 result1;" in source
    for target in range(2):
        value = f"vec4(result{target})"
        written = f"half_range({value})" if half else value
        assert f"gl_FragData[{target}] = {written};" in source
    assert "gl_FragColor" not in source
