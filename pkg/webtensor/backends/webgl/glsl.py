"""GLSL functions that expressions may call, each with those it needs.

GLSL leaves NaN, infinities and large arguments to the device, so functions that must be right there
are written out here. NaN is recognized by its bits: compilers may assume that ``x != x`` is false.
Numbers below the smallest normal one count as zero, as they do on many devices.

Values are chosen by ``mix`` rather than by branches: the fragments that a device computes together
execute all branches that any of them takes. The right operand of ``&&`` or ``||`` must not call a
function, or it becomes a branch. Emulated devices also shift bits and round halves to even lane by
lane, so exponents are scaled by multiplication, and ``floor`` rounds numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from webtensor.backends.webgl.precision_modes import Mode

__all__ = ["FUNCTIONS", "functions_for", "library_for"]

FUNCTIONS = {
    # Divide an index, and return the remainder: one division does for both.
    "split": """
int split(inout int t, int n) {
  int whole = t;
  t /= n;
  return whole - t * n;
}
""",
    "is_nan": """
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
""",
    "either": """
float either(bool yes, float x, float y) { return mix(y, x, yes); }
vec4 either(bool yes, vec4 x, vec4 y) { return mix(y, x, bvec4(yes)); }
""",
    "within": """
float within(float x, bool inside) { return mix(0.0, x, inside); }
vec4 within(vec4 x, bool inside) { return mix(vec4(0.0), x, bvec4(inside)); }
""",
    "is_any_nan": """
bool is_any_nan(float x, float y) {
  return max(floatBitsToUint(x) & 0x7fffffffu, floatBitsToUint(y) & 0x7fffffffu) > 0x7f800000u;
}
""",
    # Whether x is NaN and y is not, or x is greater.
    "nan_or_greater": """
bool nan_or_greater(float x, float y) {
  bool first = is_nan(x);
  bool second = is_nan(y);
  return !second && (first || x > y);
}
""",
    "nan_or_less": """
bool nan_or_less(float x, float y) {
  bool first = is_nan(x);
  bool second = is_nan(y);
  return !second && (first || x < y);
}
""",
    "is_inf": """
bool is_inf(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }
""",
    "is_finite": """
bool is_finite(float x) { return (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u; }
""",
    "nan": """
float nan() { return uintBitsToFloat(0x7fc00000u); }
""",
    "infinity": """
float infinity() { return uintBitsToFloat(0x7f800000u); }
""",
    "float_max": """
float float_max(float x, float y) { return mix(mix(max(x, y), y, is_nan(y)), x, is_nan(x)); }
""",
    "float_min": """
float float_min(float x, float y) { return mix(mix(min(x, y), y, is_nan(y)), x, is_nan(x)); }
""",
    # 2**n * exp(r), with n whole and r in [-ln(2)/2, ln(2)/2].
    "scaled_exp": """
float scaled_exp(float n, float r) {
  float p = 8.29017e-3;
  p = p * r + 4.189878e-2;
  p = p * r + 1.6667643e-1;
  p = p * r + 4.9999143e-1;
  p = p * r + 9.999997e-1;
  return intBitsToFloat(floatBitsToInt(p * r + 1.0) + int(n * 8388608.0));
}
""",
    # x = n ln(2) + r, with n whole and r in [-ln(2)/2, ln(2)/2], in two parts (Cody & Waite).
    "exp_parts": """
float exp_parts(float x, out float n) {
  n = floor(x * 1.44269504 + 0.5);
  return (x - n * 0.693359375) + n * 2.12194440e-4;
}
""",
    # exp(x), if that is a normal number.
    "exp_normal": """
float exp_normal(float x) {
  float n;
  float r = exp_parts(x, n);
  return scaled_exp(n, r);
}
""",
    "exp_": """
float exp_(float x) {
  float y = mix(exp_normal(x), infinity(), x > 88.72283);
  return mix(mix(y, 0.0, x < -87.33654), x, is_nan(x));
}
""",
    # exp(x) / 2 for x >= 0, also where exp(x) itself is infinite. A product of exp(x / 2) would not
    # do: devices may reorder it.
    "half_exp": """
float half_exp(float x) {
  float n;
  float r = exp_parts(x, n);
  return mix(mix(scaled_exp(n - 1.0, r), infinity(), x > 89.41598), x, is_nan(x));
}
""",
    # A Taylor series where the difference would cancel. A multiple of x, as are those below:
    # -0.0 keeps its sign.
    "expm1_": """
float expm1_(float x) {
  float p = 1.0 / 5040.0;
  p = p * x + 1.0 / 720.0;
  p = p * x + 1.0 / 120.0;
  p = p * x + 1.0 / 24.0;
  p = p * x + 1.0 / 6.0;
  p = p * x + 0.5;
  return mix(exp_(x) - 1.0, (p * x + 1.0) * x, abs(x) < 0.3);
}
""",
    # log(x) = e ln(2) + log(m), with m in [sqrt(1/2), sqrt(2)), and
    # log(m) = 2 atanh((m - 1) / (m + 1)).
    # `or_log_limit` replaces the result if x is not positive and normal.
    "log_parts": """
float log_parts(float x, out float e) {
  int high = (floatBitsToInt(x) - 0x3f3504f3) & -8388608;
  e = float(high) * 1.1920928955078125e-7;
  float m = intBitsToFloat(floatBitsToInt(x) - high);
  float s = (m - 1.0) / (m + 1.0);
  float z = s * s;
  return s * (((0.298711 * z + 0.39977568) * z + 0.66666776) * z + 2.0);
}
""",
    "or_log_limit": """
float or_log_limit(float y, float x) {
  int bits = floatBitsToInt(x);
  float limit = mix(nan(), -infinity(), (bits & 0x7fffffff) < 0x00800000);
  limit = mix(limit, x, bits >= 0x7f800000);
  return mix(y, limit, uint(bits - 0x00800000) >= 0x7f000000u);
}
""",
    "log_": """
float log_(float x) {
  float e;
  float y = log_parts(x, e);
  return or_log_limit((y - e * 2.12194440e-4) + e * 0.693359375, x);
}
""",
    # Powers of two are exact: the logarithm of m is 0.
    "log2_": """
float log2_(float x) {
  float e;
  float y = log_parts(x, e);
  return or_log_limit(e + y * 1.44269504, x);
}
""",
    "log10_": """
float log10_(float x) {
  float e;
  float y = log_parts(x, e);
  return or_log_limit(e * 0.301025390625 + (e * 4.6050390e-6 + y * 0.434294482), x);
}
""",
    # Devices may multiply by the reciprocal, which for a large divisor is below the normal numbers.
    "ratio": """
float ratio(float x, float y) {
  float scale = mix(1.0, 0.25, abs(y) > 4e37);
  return (x * scale) / (y * scale);
}
""",
    # Reciprocals are rounded; whole quotients are exact all the same, and zeros keep their signs.
    "quotient": """
float quotient(float x, float y) {
  float q = ratio(x, y);
  float n = floor(q + 0.5);
  return mix(q, n, n * y == x && n != 0.0);
}
""",
    "hypot_": """
float hypot_(float x, float y) {
  if (is_inf(x)) return infinity();
  if (is_inf(y)) return infinity();
  float a = abs(x);
  float b = abs(y);
  float larger = float_max(a, b);
  if (larger == 0.0 || is_nan(larger)) return larger;
  float part = ratio(a + b > larger ? min(a, b) : 0.0, larger);
  return larger * sqrt(1.0 + part * part);
}
""",
    "log_add_exp": """
float log_add_exp(float x, float y) {
  if (x == y) return x + 0.69314718;
  return float_max(x, y) + log1p_(exp_(-abs(x - y)));
}
""",
    "is_negative": """
bool is_negative(float x) { return floatBitsToInt(x) < 0; }
""",
    "signs_differ": """
bool signs_differ(float x, float y) { return (floatBitsToInt(x) ^ floatBitsToInt(y)) < 0; }
""",
    "copy_sign": """
float copy_sign(float x, float y) {
  return uintBitsToFloat((floatBitsToUint(x) & 0x7fffffffu) | (floatBitsToUint(y) & 0x80000000u));
}
""",
    # Numbers of one sign are ordered as their bits are.
    "next_after": """
float next_after(float x, float y) {
  if (is_any_nan(x, y)) return nan();
  if (x == y) return y;
  if (x == 0.0) return uintBitsToFloat((floatBitsToUint(y) & 0x80000000u) | 1u);
  int away = (x < y) == (x > 0.0) ? 1 : -1;
  return intBitsToFloat(floatBitsToInt(x) + away);
}
""",
    "log1p_": """
float log1p_(float x) {
  float p = -1.0 / 6.0;
  p = p * x + 0.2;
  p = p * x - 0.25;
  p = p * x + 1.0 / 3.0;
  p = p * x - 0.5;
  return mix(log_(1.0 + x), p * x * x + x, abs(x) < 0.04);
}
""",
    # Cephes: reduction to [-pi/4, pi/4] in three parts, then a polynomial. Good to about 1e5; the
    # built-in functions of some devices are off by 1e-4 beyond a few turns.
    "quadrant": """
float quadrant(float x, out int q) {
  float n = floor(x * 0.63661977 + 0.5);
  q = int(n) & 3;
  return ((x - n * 1.5703125) - n * 4.837512969970703125e-4) - n * 7.549789948768648e-8;
}
""",
    "sin_polynomial": """
float sin_polynomial(float r) {
  float z = r * r;
  return (((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z + 1.0) * r;
}
""",
    "cos_polynomial": """
float cos_polynomial(float r) {
  float z = r * r;
  return ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z
    - 0.5 * z + 1.0;
}
""",
    "sin_": """
float sin_(float x) {
  int q;
  float r = quadrant(x, q);
  float y = mix(cos_polynomial(r), sin_polynomial(r), (q & 1) == 0);
  return mix(nan(), mix(y, -y, q >= 2), is_finite(x));
}
""",
    "cos_": """
float cos_(float x) {
  int q;
  float r = quadrant(x, q);
  float y = mix(sin_polynomial(r), cos_polynomial(r), (q & 1) == 0);
  return mix(nan(), mix(y, -y, q == 1 || q == 2), is_finite(x));
}
""",
    "tan_": """
float tan_(float x) {
  int q;
  float r = quadrant(x, q);
  float s = sin_polynomial(r);
  float c = cos_polynomial(r);
  return mix(nan(), mix(-c / s, s / c, (q & 1) == 0), is_finite(x));
}
""",
    "asin_": """
float asin_(float x) {
  float a = abs(x);
  bool outer = a > 0.5;
  float z = mix(a * a, 0.5 * (1.0 - a), outer);
  float s = mix(a, sqrt(z), outer);
  float p = 4.2163199048e-2;
  p = p * z + 2.4181311049e-2;
  p = p * z + 4.5470025998e-2;
  p = p * z + 7.4953002686e-2;
  p = p * z + 1.6666752422e-1;
  float r = p * z * s + s;
  r = mix(r, 1.5707963268 - 2.0 * r, outer);
  return mix(nan(), copy_sign(r, x), a <= 1.0);
}
""",
    "acos_": """
float acos_(float x) {
  float a = abs(x);
  bool outer = a > 0.5;
  float r = asin_(mix(x, sqrt(0.5 * (1.0 - a)), outer));
  float y = mix(2.0 * r, 3.1415926536 - 2.0 * r, x < 0.0);
  return mix(nan(), mix(1.5707963268 - r, y, outer), a <= 1.0);
}
""",
    # Of x / y, for x from 0 to y.
    "atan_of_ratio": """
float atan_of_ratio(float x, float y) {
  bool middle = x > 0.4142135624 * y;
  float s = mix(x, x - y, middle) / mix(y, x + y, middle);
  float z = s * s;
  float p = 8.05374449538e-2;
  p = p * z - 1.38776856032e-1;
  p = p * z + 1.99777106478e-1;
  p = p * z - 3.33329491539e-1;
  return mix(0.0, 0.7853981634, middle) + (p * z * s + s);
}
""",
    "atan_": """
float atan_(float x) {
  float a = abs(x);
  float r = atan_of_ratio(min(a, 1.0), max(a, 1.0));
  r = mix(r, 1.5707963268 - r, a > 1.0);
  return mix(copy_sign(r, x), x, is_nan(x));
}
""",
    "atan2_": """
float atan2_(float y, float x) {
  float a = abs(y);
  float b = abs(x);
  float shorter = min(a, b);
  float longer = max(a, b);
  bool infinite = is_inf(shorter);
  float scale = mix(1.0, 0.25, longer > 4e37);
  shorter = mix(shorter * scale, 1.0, infinite);
  longer = mix(longer * scale, 1.0, infinite || longer == 0.0);
  float r = atan_of_ratio(shorter, longer);
  r = mix(r, 1.5707963268 - r, a > b);
  r = mix(r, 3.1415926536 - r, is_negative(x));
  return mix(copy_sign(r, y), nan(), is_any_nan(x, y));
}
""",
    "sinh_": """
float sinh_(float x) {
  float a = abs(x);
  float z = x * x;
  float p = 2.03721912945e-4;
  p = p * z + 8.33028376239e-3;
  p = p * z + 1.66667160211e-1;
  float h = half_exp(a);
  float r = h - 0.25 / h;
  return mix(mix(r, -r, x < 0.0), p * z * x + x, a < 1.0);
}
""",
    "cosh_": """
float cosh_(float x) {
  float h = half_exp(abs(x));
  return h + 0.25 / h;
}
""",
    "tanh_": """
float tanh_(float x) {
  float z = x * x;
  float p = -5.70498872745e-3;
  p = p * z + 2.06390887954e-2;
  p = p * z - 5.37397155531e-2;
  p = p * z + 1.33314422036e-1;
  p = p * z - 3.33332819422e-1;
  float r = 1.0 - 2.0 / (exp_normal(clamp(2.0 * x, -20.0, 20.0)) + 1.0);
  return mix(mix(r, (p * z + 1.0) * x, abs(x) < 0.625), x, is_nan(x));
}
""",
    "sigmoid_": """
float sigmoid_(float x) {
  float y = 1.0 / (1.0 + exp_normal(-min(x, 87.0)));
  return mix(mix(y, 0.0, x < -87.33654), x, is_nan(x));
}
""",
    # Bits that are, as a signed integer, no more than those of -infinity are not a NaN's.
    "relu_": """
float relu_(float x) { return mix(x, 0.0, floatBitsToInt(x) <= -8388608); }
""",
    "asinh_": """
float asinh_(float x) {
  float a = abs(x);
  float r = a > 1e9 ? log_(a) + 0.69314718056 : log1p_(a + a * a / (1.0 + sqrt(a * a + 1.0)));
  return copy_sign(r, x);
}
""",
    "acosh_": """
float acosh_(float x) {
  if (!(x >= 1.0)) return nan();
  float t = x - 1.0;
  return x > 1e9 ? log_(x) + 0.69314718056 : log1p_(t + sqrt(2.0 * t + t * t));
}
""",
    "atanh_": """
float atanh_(float x) {
  float a = abs(x);
  if (!(a <= 1.0)) return nan();
  if (a == 1.0) return x < 0.0 ? -infinity() : infinity();
  float r = 0.5 * log1p_(2.0 * a / (1.0 - a));
  return copy_sign(r, x);
}
""",
    # Rational approximation, within 2 ULP.
    "erf_": """
float erf_(float x) {
  if (is_nan(x)) return x;
  float t = clamp(x, -4.0, 4.0);
  float s = t * t;
  float p = -2.72614225801306e-10;
  p = p * s + 2.77068142495902e-08;
  p = p * s - 2.10102402082508e-06;
  p = p * s - 5.69250639462346e-05;
  p = p * s - 7.34990630326855e-04;
  p = p * s - 2.95459980854025e-03;
  p = p * s - 1.60960333262415e-02;
  float q = -1.45660718464996e-05;
  q = q * s - 2.13374055278905e-04;
  q = q * s - 1.68282697438203e-03;
  q = q * s - 7.37332916720468e-03;
  q = q * s - 1.42647390514189e-02;
  return t * p / q;
}
""",
    # M. Giles, Approximating the erfinv function (2011).
    "erf_inv_": """
float erf_inv_(float x) {
  if (!(abs(x) < 1.0)) return abs(x) == 1.0 ? x * infinity() : nan();
  float w = -log_((1.0 - x) * (1.0 + x));
  float p;
  if (w < 5.0) {
    w -= 2.5;
    p = 2.81022636e-08;
    p = p * w + 3.43273939e-07;
    p = p * w - 3.5233877e-06;
    p = p * w - 4.39150654e-06;
    p = p * w + 0.00021858087;
    p = p * w - 0.00125372503;
    p = p * w - 0.00417768164;
    p = p * w + 0.246640727;
    p = p * w + 1.50140941;
  } else {
    w = sqrt(w) - 3.0;
    p = -0.000200214257;
    p = p * w + 0.000100950558;
    p = p * w + 0.00134934322;
    p = p * w - 0.00367342844;
    p = p * w + 0.00573950773;
    p = p * w - 0.0076224613;
    p = p * w + 0.00943887047;
    p = p * w + 1.00167406;
    p = p * w + 2.83297682;
  }
  return p * x;
}
""",
    # 2**x; results beyond the normal numbers become 0 or infinite: 2**-127 and 2**128 result from
    # setting the exponent's bits.
    "exp2_clamped": """
float exp2_clamped(float x) {
  float t = clamp(x, -127.0, 128.0);
  float n = floor(t + 0.5);
  float r = (t - n) * 0.69314718;
  return scaled_exp(n, r);
}
""",
    "power_product": """
float power_product(float x, int n) {
  float r = mix(1.0, x, (n & 1) != 0);
  x *= x;
  r *= mix(1.0, x, (n & 2) != 0);
  x *= x;
  return r * mix(1.0, x, (n & 4) != 0);
}
""",
    # Small whole powers are products, which are exact as long as they can be; others 2**(y log2 x).
    # Infinite y are made finite, so that powers of 1 are 1; logarithms of 0 and of infinity large.
    "float_pow": """
float float_pow(float x, float y) {
  float a = abs(x);
  float n = abs(y);
  bool whole = y == floor(y);
  float e;
  float l = log_parts(a, e) * 1.44269504 + e;
  bool finite = a <= 3.4028234e38;
  // Some compilers take the smallest normal number for 0.
  l *= mix(1e30, 1.0, finite && a >= 1.1754944e-38 && a > 0.0);
  float r = exp2_clamped(clamp(y, -1e30, 1e30) * l);
  bool none = is_any_nan(x, y);
  r = mix(r, nan(), (none && x != 1.0) || (x < 0.0 && !whole && finite));
  int k = int(mix(0.0, min(n, 16777216.0), whole));
  float product = power_product(a, k);
  product = mix(product, 1.0 / product, y < 0.0);
  r = mix(r, product, whole && n <= 7.0);
  return with_odd_sign(r, x, k);
}
""",
    # The sign of x, where k is odd.
    "with_odd_sign": """
float with_odd_sign(float r, float x, int k) {
  return intBitsToFloat(floatBitsToInt(r) ^ (floatBitsToInt(x) & (k << 31)));
}
""",
    "int_pow": """
int int_pow(int x, int y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? 1 - 2 * (y & 1) : 0;
  int r = 1;
  for (int bit = 0; bit < 31; bit++) {
    if ((y & 1) == 1) r *= x;
    y >>= 1;
    if (y == 0) break;
    x *= x;
  }
  return r;
}
""",
    "int_floor_divide": """
int int_floor_divide(int x, int y) {
  if (y == 0) return 0;
  if (y == -1) return -x;
  int q = x / y;
  return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}
""",
    "int_remainder": """
int int_remainder(int x, int y) {
  if (y == 0 || y == -1) return 0;
  int r = x - (x / y) * y;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
""",
    # Where y is 0 or x is infinite, the differences are NaN. A remainder of 0 has the sign of y.
    "float_remainder": """
float float_remainder(float x, float y) {
  float r = x - y * trunc(x / y);
  float most = abs(y);
  r = mix(r, 0.0, abs(r) >= most);
  r = mix(r, x, abs(x) < most);
  bool apart = signs_differ(r, y);
  return mix(copy_sign(r, y), mix(r, r + y, apart), r != 0.0);
}
""",
    "to_int": """
int to_int(float x) {
  int y = int(clamp(x, -2147483648.0, 2147483520.0));
  y = x >= 2147483648.0 ? 2147483647 : y;
  return is_nan(x) ? 0 : y;
}
""",
    # Choose between four elements and four others, lane by lane.
    "choose_lanes": """
vec4 choose_lanes(vec4 a, vec4 b, bvec4 second) { return mix(a, b, second); }
ivec4 choose_lanes(ivec4 a, ivec4 b, bvec4 second) { return a ^ ((a ^ b) & -ivec4(second)); }
bvec4 choose_lanes(bvec4 a, bvec4 b, bvec4 second) {
  return bvec4((ivec4(a) & ~-ivec4(second)) | (ivec4(b) & -ivec4(second)));
}
""",
    # 1 where coordinates are outside an axis, else 0.
    "outside_of": """
ivec4 outside_of(ivec4 c, int length_) {
  return ivec4(greaterThanEqual(uvec4(c), uvec4(length_)));
}
""",
    # The upper 24 bits, as a number in [0, 1).
    "unit_of_bits": """
float unit_of_bits(int x) { return float(uint(x) >> 8) * 5.9604644775390625e-8; }
""",
}

#: Functions for results that are rounded to 16-bit floats.
_FOR_HALF = {
    # Some devices make infinities of larger numbers, others NaN, even of infinities.
    "half_range": """
vec4 half_range(vec4 x) {
  bvec4 none = greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u));
  return mix(clamp(x, -65504.0, 65504.0), x, none);
}
""",
    # 1 - 2**-11 is the largest such number below 1.
    "unit_of_bits": """
float unit_of_bits(int x) {
  return min(float(uint(x) >> 8) * 5.9604644775390625e-8, 0.99951171875);
}
""",
}

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def functions_for(mode: Mode) -> Callable[[str], str | None]:
    """Return a function that finds GLSL functions by their names."""
    return (FUNCTIONS | _FOR_HALF if mode.is_half else FUNCTIONS).get


def library_for(code: str, find: Callable[[str], str | None]) -> str:
    """Return the functions that ``code`` calls, and those that they call, in a fit order."""
    needed: dict[str, str] = {}

    def require(text: str) -> None:
        for name in dict.fromkeys(_WORD.findall(text)):
            definition = None if name in needed else find(name)
            if definition is not None:
                require(definition.replace(f"{name}(", ""))
                needed[name] = definition.strip()

    require(code)
    return "\n".join(needed.values())
