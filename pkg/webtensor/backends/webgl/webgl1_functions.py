"""Functions in GLSL ES 1.00, for WebGL 1: those that the language lacks, or that use bits in 3.00.

Translated code (``glsl_es_100``) calls some of them in place of operators on integers, others,
whose names end in ``_``, in place of built-in functions, which take only floats there.
"""

from __future__ import annotations

__all__ = ["FOR_HALF", "FUNCTIONS"]

_CHOICES = """
KIND mix_(KIND x, KIND y, MASK second) { return CHOSEN; }
"""
_LANES = "xyzw"


def _choices() -> str:
    """``mix`` with a mask for each kind that kernels choose among."""
    code = ""
    for kind, mask in (("float", "bool"), ("int", "bool"), ("bool", "bool")):
        code += _CHOICES.replace("KIND", kind).replace("MASK", mask)
        code = code.replace("CHOSEN", "second ? y : x")
    for kind, mask in (
        ("vec2", "bvec2"),
        ("vec4", "bvec4"),
        ("ivec4", "bvec4"),
        ("bvec4", "bvec4"),
    ):
        lanes = ", ".join(
            f"second.{lane} ? y.{lane} : x.{lane}" for lane in _LANES[: int(kind[-1])]
        )
        code += _CHOICES.replace("KIND", kind).replace("MASK", mask)
        code = code.replace("CHOSEN", f"{kind}({lanes})")
    for kind in ("float", "vec2", "vec4"):
        code += f"{kind} mix_({kind} x, {kind} y, float share) {{ return mix(x, y, share); }}\n"
    return code


def _for_integers(name: str, expression: str) -> str:
    """A function of floats, and of integers as GLSL ES 3.00 has it, of two arguments."""
    code = ""
    for kind in ("float", "vec2", "vec4"):
        code += f"{kind} {name}_({kind} x, {kind} y) {{ return {name}(x, y); }}\n"
    code += f"vec4 {name}_(vec4 x, float y) {{ return {name}(x, y); }}\n"
    code += f"int {name}_(int x, int y) {{ return {expression}; }}\n"
    calls = ", ".join(f"{name}_(x.{lane}, y.{lane})" for lane in _LANES)
    code += f"ivec4 {name}_(ivec4 x, ivec4 y) {{ return ivec4({calls}); }}\n"
    return code


FUNCTIONS = {
    "mix_": _choices(),
    "min_": _for_integers("min", "x < y ? x : y"),
    "max_": _for_integers("max", "x > y ? x : y"),
    "clamp_": """
float clamp_(float x, float low, float high) { return clamp(x, low, high); }
vec4 clamp_(vec4 x, float low, float high) { return clamp(x, low, high); }
int clamp_(int x, int low, int high) { return x < low ? low : (x > high ? high : x); }
""",
    "abs_": """
float abs_(float x) { return abs(x); }
vec2 abs_(vec2 x) { return abs(x); }
vec4 abs_(vec4 x) { return abs(x); }
int abs_(int x) { return x < 0 ? -x : x; }
ivec4 abs_(ivec4 x) { return ivec4(abs_(x.x), abs_(x.y), abs_(x.z), abs_(x.w)); }
""",
    "sign_": """
float sign_(float x) { return sign(x); }
int sign_(int x) { return x < 0 ? -1 : (x > 0 ? 1 : 0); }
""",
    "trunc": """
float trunc(float x) { return x < 0.0 ? ceil(x) : floor(x); }
""",
    # If the last bit counts halves, there are no other fractions.
    "roundEven": """
float roundEven(float x) {
  float whole = floor(x);
  float part = x - whole;
  bool up = part > 0.5 || (part == 0.5 && mod(whole, 2.0) == 1.0);
  return up ? whole + 1.0 : (whole == x ? x : whole);
}
""",
    "lane_of": """
float lane_of(vec4 x, int lane) {
  return lane < 2 ? (lane == 0 ? x.x : x.y) : (lane == 2 ? x.z : x.w);
}
int lane_of(ivec4 x, int lane) {
  return lane < 2 ? (lane == 0 ? x.x : x.y) : (lane == 2 ? x.z : x.w);
}
""",
    "rest_of": """
int rest_of(int x, int y) { return x - x / y * y; }
""",
    "floor_part": """
int floor_part(int x, int y) {
  int whole = x / y;
  return whole * y > x ? whole - 1 : whole;
}
""",
    "floor_rest": """
int floor_rest(int x, int y) { return x - floor_part(x, y) * y; }
""",
    "bit_of": """
int bit_of(int x, int bit) { return floor_rest(x, 2 * bit) - floor_rest(x, bit); }
""",
    "left_shifted": """
int left_shifted(int x, int by) { return x * int(power_of_two(float(by))); }
""",
    "right_shifted": """
int right_shifted(int x, int by) {
  return by > 30 ? (x < 0 ? -1 : 0) : floor_part(x, int(power_of_two(float(by))));
}
""",
    # Exact, which the built-in function need not be; for whole numbers from -127 to 127.
    "power_of_two": """
float power_of_two(float n) {
  float left = abs(n);
  float base = 2.0;
  float power = 1.0;
  for (int bit = 0; bit < 7; bit++) {
    if (mod(left, 2.0) == 1.0) power *= base;
    left = floor(left * 0.5);
    base *= base;
  }
  return n < 0.0 ? 1.0 / power : power;
}
""",
    # Times 2**n, in steps that stay in the range of normal numbers.
    "scaled_by": """
float scaled_by(float x, float n) {
  float half_ = floor(n * 0.5);
  return x * power_of_two(half_) * power_of_two(n - half_);
}
""",
    "infinity": """
float infinity() { return 1.0 / hereZero; }
""",
    "nan": """
float nan() { return hereZero / hereZero; }
""",
    "is_nan": """
bool is_nan(float x) { return !(x < 0.0 || 0.0 < x || x == 0.0); }
""",
    "is_any_nan": """
bool is_any_nan(float x, float y) {
  bool first = is_nan(x);
  bool second = is_nan(y);
  return first || second;
}
""",
    "is_inf": """
bool is_inf(float x) { return abs(x) > 3.4028234e38; }
""",
    "is_finite": """
bool is_finite(float x) { return abs(x) < infinity(); }
""",
    "is_negative": """
bool is_negative(float x) {
  float y = x == 0.0 ? 1.0 / x : x;
  return y < 0.0;
}
""",
    "signs_differ": """
bool signs_differ(float x, float y) {
  bool first = is_negative(x);
  bool second = is_negative(y);
  return first != second;
}
""",
    "scaled_exp": """
float scaled_exp(float n, float r) {
  float p = 8.29017e-3;
  p = p * r + 4.189878e-2;
  p = p * r + 1.6667643e-1;
  p = p * r + 4.9999143e-1;
  p = p * r + 9.999997e-1;
  return scaled_by(p * r + 1.0, n);
}
""",
    "log_parts": """
float log_parts(float x, out float e) {
  float normal = clamp(x, 1.1754944e-38, 3.4028234e38);
  e = floor(log2(normal) + 0.5);
  float m = scaled_by(normal, -e);
  float s = (m - 1.0) / (m + 1.0);
  float z = s * s;
  return s * (((0.298711 * z + 0.39977568) * z + 0.66666776) * z + 2.0);
}
""",
    "or_log_limit": """
float or_log_limit(float y, float x) {
  if (x > 0.0) return x > 3.4028234e38 ? x : y;
  return x == 0.0 ? -infinity() : nan();
}
""",
    "copy_sign": """
float copy_sign(float x, float y) {
  bool turned = is_negative(y);
  return turned ? -abs(x) : abs(x);
}
""",
    "with_odd_sign": """
float with_odd_sign(float r, float x, int k) {
  bool turned = is_negative(x);
  return turned && floor_rest(k, 2) == 1 ? -r : r;
}
""",
    "relu_": """
float relu_(float x) { return x <= 0.0 ? 0.0 : x; }
""",
    "choose_lanes": """
vec4 choose_lanes(vec4 a, vec4 b, bvec4 second) { return mix_(a, b, second); }
ivec4 choose_lanes(ivec4 a, ivec4 b, bvec4 second) { return mix_(a, b, second); }
bvec4 choose_lanes(bvec4 a, bvec4 b, bvec4 second) { return mix_(a, b, second); }
""",
    "outside_of": """
ivec4 outside_of(ivec4 c, int length_) {
  return ivec4(lessThan(c, ivec4(0))) + ivec4(greaterThanEqual(c, ivec4(length_)));
}
""",
}

FOR_HALF = {
    "half_range": """
float half_range(float x) {
  bool none = is_nan(x);
  return none ? x : clamp(x, -65504.0, 65504.0);
}
vec4 half_range(vec4 x) {
  return vec4(half_range(x.x), half_range(x.y), half_range(x.z), half_range(x.w));
}
""",
}
