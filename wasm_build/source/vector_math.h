/* Mathematical functions of four floats at a time.
 *
 * None relies on fused multiply-add: relaxed SIMD only makes them faster. Where float arithmetic
 * would not do (reducing the arguments of sin, pow, remainders) they compute in double. All handle
 * NaN, infinities, signed zeros and subnormal numbers.
 *
 * Greatest errors against double precision, in units in the last place of the result, over ordinary
 * ranges and over all classes of floats (tests_py/wasm/test_vector_math.py holds them to it):
 *
 *   exp 1.0    log 0.9     sin 1.6   asin 2.5   sinh 2.2   asinh 1.8   erf 1.2
 *   log2 1.7   log10 1.9   hypot 0.51
 *   expm1 1.6  log1p 0.9   cos 1.6   acos 1.4   cosh 1.4   acosh 2.6   pow 0.51
 *   sqrt 0.5   remainder 0 tan 2.8   atan 2.1   tanh 2.4   atanh 1.8   atan2 2.2
 */
#ifndef WEBTENSOR_VECTOR_MATH_H
#define WEBTENSOR_VECTOR_MATH_H

#include "vector.h"

/* Unrolled: a vector whose lanes are indexed by a variable would be in memory. */
#define EACH_LANE(LANE) _Pragma("unroll") for (int LANE = 0; LANE < 4; LANE++)

#define LN2_HIGH 0.693359375f /* nine bits, so that products with exponents are exact */
#define LN2_LOW -2.12194440e-4f
#define PI_HALF_HIGH 1.57079637f
#define PI_HALF_LOW -4.37113883e-8f

INLINE vi sign_of(vf x) { return (vi)x & vseti((int)0x80000000); }
INLINE vf with_sign(vf magnitude, vi sign) { return (vf)((vi)magnitude | sign); }

/* 2**n for n in [-126, 127]; a multiple of 512 may have been added to n. */
INLINE vf power_of_two(vi n) { return (vf)((n << 23) + vseti(127 << 23)); }

/* -- exponentials ---------------------------------------------------------------------------- */

/* Splits x = n ln 2 + r, |r| <= ln 2 / 2, for |x| < 200. Adding 1.5 * 2**23 rounds to an integer
 * and leaves it in the lowest bits, which saves both conversions. What is returned in *n has the
 * upper bits, too, 0x4b400000, which mean nothing to power_of_two. */
INLINE vf reduce_exponential(vf x, vi *n) {
  vf shifted = vmadd(x, vset(1.44269504f), vset(0x1.8p23f));
  *n = (vi)shifted;
  vf whole = shifted - vset(0x1.8p23f);
  return vnmadd(whole, vset(LN2_LOW), vnmadd(whole, vset(LN2_HIGH), x));
}

/* exp(r) - 1 for |r| <= ln 2 / 2 (after Moshier, Cephes). */
INLINE vf exponential_less_one(vf r) {
  vf p = vmadd(r, vset(1.9875691500e-4f), vset(1.3981999507e-3f));
  p = vmadd(p, r, vset(8.3334519073e-3f));
  p = vmadd(p, r, vset(4.1665795894e-2f));
  p = vmadd(p, r, vset(1.6666665459e-1f));
  p = vmadd(p, r, vset(5.0000001201e-1f));
  return vmadd(p, r * r, r);
}

/* exp(x) * 2**shift, rounded once even where the result is denormal. */
INLINE vf exponential_shifted(vf x, int shift) {
  vi n;
  vf r = reduce_exponential(vclamp(x, -110.f, 95.f), &n);
  n = n + shift;
  vi half = n >> 1;
  vf scale = power_of_two(half);
  return vmadd(exponential_less_one(r), scale, scale) * power_of_two(n - half);
}

INLINE vf vexp(vf x) { return exponential_shifted(x, 0); }

/* exp(x) for x <= 0, which is all that softmax asks for; 0 where the result is not normal. */
INLINE vf vexp_of_negative(vf x) {
  vi n;
  vf minimum = vset(-87.33654f);
  vf r = reduce_exponential(vgreater(x, minimum), &n), scale = power_of_two(n); /* NaN stays */
  return (vf)((vi)vmadd(exponential_less_one(r), scale, scale) & ~(x < minimum));
}

/* (exp(x) - 1) / 2 for |x| <= 89. */
INLINE vf half_of_expm1(vf x) {
  vi n;
  vf r = reduce_exponential(x, &n);
  vf half = power_of_two(n - vseti(1)); /* half of 2**n, which may be 2**128 */
  return vmadd(half, exponential_less_one(r), half - vset(0.5f));
}

INLINE vf vexpm1(vf x) {
  vf y = vset(2.f) * half_of_expm1(vclamp(x, -20.f, 89.f));
  return vsel(vabs(x) < vset(1e-4f), with_sign(x + vset(0.5f) * x * x, sign_of(x)), y);
}

/* -- logarithms ------------------------------------------------------------------------------ */

/* log(1 + f) + n ln 2 + c for 1 + f in [sqrt(1/2), sqrt(2)) and small c (after FreeBSD's logf). */
INLINE vf logarithm(vf f, vf n, vf c) {
  vf s = f / (vset(2.f) + f);
  vf z = s * s, w = z * z;
  vf even = vmadd(w, vset(0.24279078841f), vset(0.40000972152f));
  vf odd = vmadd(w, vset(0.28498786688f), vset(0.66666662693f));
  vf half_square = vset(0.5f) * f * f;
  vf rest = half_square + vmadd(w, even, z * odd);
  vf y = vmadd(s, rest, vmadd(n, vset(9.0580006145e-06f), c)) - half_square + f;
  return vmadd(n, vset(6.9313812256e-01f), y);
}

/* Splits a positive normal x = m 2**n with m in [sqrt(1/2), sqrt(2)); returns m. */
INLINE vf split_exponent(vf x, vi *n) {
  vi bits = (vi)x + vseti(0x3f800000 - 0x3f3504f3);
  *n = (bits >> 23) - vseti(127);
  return (vf)((bits & vseti(0x007fffff)) + vseti(0x3f3504f3));
}

INLINE vf vlog1p(vf x) {
  vf u = vset(1.f) + x;
  vi n;
  vf m = split_exponent(u, &n);
  /* What rounding 1 + x lost, relative to it. */
  vf c = vsel(n >= 2, vset(1.f) - (u - x), x - (u - vset(1.f))) / u;
  vi small = (x > vset(-0.2928932f)) & (x < vset(0.41421356f));
  vf f = vsel(small, x, m - vset(1.f));
  vf y = logarithm(f, vsel(small, vset(0.f), vtofloat(n)), vsel(small, vset(0.f), c));
  y = vsel(x < VINF, y, x);
  y = vsel(vabs(x) < vset(0x1p-24f), x, y);
  y = vsel(x == vset(-1.f), vset(-VINF), y);
  return vsel(x < vset(-1.f), vset(VNAN), y);
}

/* Splits any positive x as split_exponent does. */
INLINE vf split_any_exponent(vf x, vf *n) {
  vi tiny = x < vset(0x1p-126f), exponent;
  vf m = split_exponent(vsel(tiny, x * vset(0x1p23f), x), &exponent);
  *n = vtofloat(exponent - (tiny & vseti(23)));
  return m;
}
/* The logarithm y, where x is not positive and finite. */
INLINE vf logarithm_at_ends(vf x, vf y) {
  y = vsel(x < vset(VINF), y, x); /* infinity and NaN */
  y = vsel(x == 0.f, vset(-VINF), y);
  return vsel(x < 0.f, vset(VNAN), y);
}
INLINE vf vlog(vf x) {
  vf n, m = split_any_exponent(x, &n);
  return logarithm_at_ends(x, logarithm(m - vset(1.f), n, vset(0.f)));
}
INLINE vf vlog2(vf x) {
  vf n, m = split_any_exponent(x, &n);
  vf y = logarithm(m - vset(1.f), vset(0.f), vset(0.f));
  return logarithm_at_ends(x, vmadd(y, vset(1.44269504f), n));
}
INLINE vf vlog10(vf x) {
  vf n, m = split_any_exponent(x, &n);
  vf y = logarithm(m - vset(1.f), vset(0.f), vset(0.f));
  /* log10(2) in two parts: products of the first with exponents are exact. */
  vf rest = vmadd(n, vset(4.605038981e-6f), y * vset(0.4342944819f));
  return logarithm_at_ends(x, vmadd(n, vset(0.30102539062f), rest));
}
INLINE vf vlogaddexp(vf x, vf y) {
  vf larger = vmax(x, y);
  vf sum = larger + vlog1p(vexp(-vabs(x - y)));
  return vsel(x == y, x + vset(0.693147182f), sum); /* infinities too */
}

/* -- trigonometry ---------------------------------------------------------------------------- */

/* x mod 2 pi for |x| >= 2**24, in units of 2**-62 pi/2 (huge_angle.c). */
uint64_t huge_angle(float x);

/* Splits x = quadrant pi/2 + r, |r| <= pi/4. */
INLINE vf reduce_angle(vf x, vi *quadrant) {
  vf magnitude = vabs(x);
  vi huge = magnitude >= vset(0x1p26f);
  vf moderate = vsel(huge, vset(0.f), magnitude);
  vd low = vlow(moderate), high = vhigh(moderate);
  vd n_low = (vd)wasm_f64x2_nearest((v128_t)(low * vsetd(0.6366197723675814)));
  vd n_high = (vd)wasm_f64x2_nearest((v128_t)(high * vsetd(0.6366197723675814)));
  /* pi/2 in 25 + 53 bits: the first product is exact. */
  vd half_pi = vsetd(1.57079631090164184570), rest = vsetd(1.58932547735281966916e-8);
  low = (low - n_low * half_pi) - n_low * rest;
  high = (high - n_high * half_pi) - n_high * rest;
  vf r = vjoin(low, high);
  vi q = (vi)wasm_i32x4_shuffle(wasm_i32x4_trunc_sat_f64x2_zero((v128_t)n_low),
                                wasm_i32x4_trunc_sat_f64x2_zero((v128_t)n_high), 0, 1, 4, 5);
  if (vany(huge)) {
    EACH_LANE(lane) {
      if (!(magnitude[lane] >= 0x1p26f && magnitude[lane] < VINF)) continue;
      uint64_t angle = huge_angle(magnitude[lane]), nearest = (angle + (1ull << 61)) >> 62;
      double turned = (double)(int64_t)(angle - (nearest << 62));
      r[lane] = (float)(turned * (1.5707963267948966 * 0x1p-62));
      q[lane] = (int)nearest;
    }
  }
  vi negative = (vi)x >> 31;
  *quadrant = (q ^ negative) - negative;
  r = (vf)((vi)r ^ sign_of(x));
  return vsel(magnitude < VINF, r, vset(VNAN));
}

INLINE vf sine_of_reduced(vf r) {
  vf z = r * r;
  vf p = vmadd(z, vset(-1.9515295891e-4f), vset(8.3321608736e-3f));
  p = vmadd(p, z, vset(-1.6666654611e-1f));
  return with_sign(p * z * r + r, sign_of(r)); /* of zeros */
}
INLINE vf cosine_of_reduced(vf r) {
  vf z = r * r;
  vf p = vmadd(z, vset(2.443315711809948e-5f), vset(-1.388731625493765e-3f));
  p = vmadd(p, z, vset(4.166664568298827e-2f));
  return p * (z * z) - vset(0.5f) * z + vset(1.f);
}
INLINE vf sine_of_quadrant(vf r, vi quadrant) {
  vf y = vsel((quadrant & 1) != 0, cosine_of_reduced(r), sine_of_reduced(r));
  return (vf)((vi)y ^ ((quadrant & 2) << 30));
}

INLINE vf vsin(vf x) {
  vi quadrant;
  vf r = reduce_angle(x, &quadrant);
  return sine_of_quadrant(r, quadrant);
}
INLINE vf vcos(vf x) {
  vi quadrant;
  vf r = reduce_angle(x, &quadrant);
  return sine_of_quadrant(r, quadrant + 1);
}
INLINE vf vtan(vf x) {
  vi quadrant;
  vf r = reduce_angle(x, &quadrant);
  vf z = r * r;
  vf p = vmadd(z, vset(9.38540185543e-3f), vset(3.11992232697e-3f));
  p = vmadd(p, z, vset(2.44301354525e-2f));
  p = vmadd(p, z, vset(5.34112807005e-2f));
  p = vmadd(p, z, vset(1.33387994085e-1f));
  p = vmadd(p, z, vset(3.33331568548e-1f));
  vf y = p * z * r + r;
  return vsel((quadrant & 1) != 0, vset(-1.f) / y, y);
}

/* (asin(x) - x) / x for z = x * x, x in [0, 1/2]. */
INLINE vf arc_sine_rest(vf z) {
  vf p = vmadd(z, vset(4.2163199048e-2f), vset(2.4181311049e-2f));
  p = vmadd(p, z, vset(4.5470025998e-2f));
  p = vmadd(p, z, vset(7.4953002686e-2f));
  p = vmadd(p, z, vset(1.6666752422e-1f));
  return p * z;
}
INLINE vf vasin(vf x) {
  vf a = vabs(x);
  vi large = a > vset(0.5f);
  vf z = vsel(large, vset(0.5f) * (vset(1.f) - a), a * a);
  vf s = vsel(large, vsqrt(z), a);
  vf y = arc_sine_rest(z) * s + s;
  y = vsel(large, vset(PI_HALF_HIGH) - (vset(2.f) * y - vset(PI_HALF_LOW)), y);
  return with_sign(y, sign_of(x));
}
INLINE vf vacos(vf x) {
  vf a = vabs(x);
  vi large = a > vset(0.5f);
  vf z = vsel(large, vset(0.5f) * (vset(1.f) - a), a * a);
  vf s = vsel(large, vsqrt(z), x);
  vf rest = arc_sine_rest(z) * s;
  vf near = vset(PI_HALF_HIGH) - (s - (vset(PI_HALF_LOW) - rest));
  vf far = vset(2.f) * (s + rest);
  far = vsel(x < 0.f, vset(2.f * PI_HALF_HIGH) - (far - vset(2.f * PI_HALF_LOW)), far);
  return vsel(large, far, near);
}

/* atan(t) for t in [0, 1]. */
INLINE vf arc_tangent_of_unit(vf t) {
  vi large = t > vset(0.41421356f);
  vf r = vsel(large, (t - vset(1.f)) / (t + vset(1.f)), t);
  vf z = r * r;
  vf p = vmadd(z, vset(8.05374449538e-2f), vset(-1.38776856032e-1f));
  p = vmadd(p, z, vset(1.99777106478e-1f));
  p = vmadd(p, z, vset(-3.33329491539e-1f));
  vf rest = p * z * r;
  vf larger = vset(0.5f * PI_HALF_HIGH) + (r + (rest + vset(0.5f * PI_HALF_LOW)));
  return vsel(large, larger, r + rest);
}
INLINE vf vatan(vf x) {
  vf a = vabs(x);
  vi large = a > vset(1.f);
  vf y = arc_tangent_of_unit(vsel(large, vset(1.f) / a, a));
  y = vsel(large, vset(PI_HALF_HIGH) - (y - vset(PI_HALF_LOW)), y);
  return with_sign(y, sign_of(x));
}
/* Angle of the point (x, y), first the ordinate, with IEEE 754's answers at zeros and infinity. */
INLINE vf vatan2(vf y, vf x) {
  vf a = vabs(x), b = vabs(y);
  vi steep = b > a;
  vf larger = vsel(steep, b, a), smaller = vsel(steep, a, b);
  vf t = smaller / larger;
  t = vsel(larger == 0.f, vset(0.f), t);
  t = vsel(smaller == VINF, vset(1.f), t);
  vf angle = arc_tangent_of_unit(t);
  angle = vsel(steep, vset(PI_HALF_HIGH) - (angle - vset(PI_HALF_LOW)), angle);
  vi backward = (vi)x >> 31;
  angle = vsel(backward, vset(2.f * PI_HALF_HIGH) - (angle - vset(2.f * PI_HALF_LOW)), angle);
  angle = with_sign(angle, sign_of(y));
  return vsel((x == x) & (y == y), angle, x + y);
}

/* -- hyperbolic functions -------------------------------------------------------------------- */

INLINE vf vsinh(vf x) {
  vf a = vabs(x);
  vf t = vexpm1(a);
  vf moderate = vset(0.5f) * (t + t / (t + vset(1.f)));
  vf y = vsel(a > vset(10.f), exponential_shifted(a, -1), moderate);
  return with_sign(y, sign_of(x));
}
INLINE vf vcosh(vf x) {
  vf half = exponential_shifted(vabs(x), -1);
  return half + vset(0.25f) / half;
}
INLINE vf vtanh(vf x) {
  /* With h = (exp(2a) - 1) / 2, tanh(a) = h / (h + 1) = 1 - 1 / (h + 1). */
  vf a = vabs(x);
  vi large = a > vset(0.55f);
  vf h = half_of_expm1(vset(2.f) * vclamp(a, 0.f, 10.f));
  vf y = vsel(large, vset(1.f), h) / (h + vset(1.f));
  return with_sign(vsel(large, vset(1.f) - y, y), sign_of(x));
}
INLINE vf vasinh(vf x) {
  vf a = vabs(x);
  vi large = a > vset(4096.f);
  vf moderate = vlog1p(a + a * a / (vsqrt(a * a + vset(1.f)) + vset(1.f)));
  vf y = vsel(large, vlog(a) + vset(0.693147182f), moderate);
  return with_sign(y, sign_of(x));
}
INLINE vf vacosh(vf x) {
  vf t = x - vset(1.f);
  vf moderate = vlog1p(t + vsqrt(t * (t + vset(2.f))));
  vf y = vsel(x > vset(4096.f), vlog(x) + vset(0.693147182f), moderate);
  return vsel(x < vset(1.f), vset(VNAN), y);
}
INLINE vf vatanh(vf x) {
  vf a = vabs(x);
  vf twice = vset(2.f) * a, rest = vset(1.f) - a;
  vf y = vset(0.5f) * vlog1p(vsel(a < vset(0.5f), twice + twice * a / rest, twice / rest));
  y = vsel(a > vset(1.f), vset(VNAN), y);
  return with_sign(y, sign_of(x));
}

/* -- error function -------------------------------------------------------------------------- */

INLINE vf verf(vf x) {
  vf a = vabs(x), s = x * x;
  vf p = vmadd(a, vset(-1.72853470e-5f), vset(3.83197126e-4f));
  vf u = vmadd(a, vset(-3.88396438e-3f), vset(2.42546219e-2f));
  p = vmadd(p, s, u);
  p = vmadd(p, a, vset(-1.06777877e-1f));
  p = vmadd(p, a, vset(-6.34846687e-1f));
  p = vmadd(p, a, vset(-1.28717512e-1f));
  vf tail = vset(1.f) - vexp(vmadd(p, a, -a));
  tail = vsel(a > vset(4.f), vset(1.f), tail);
  vf q = vmadd(s, vset(-5.96761703e-4f), vset(4.99119423e-3f));
  q = vmadd(q, s, vset(-2.67681349e-2f));
  q = vmadd(q, s, vset(1.12819925e-1f));
  q = vmadd(q, s, vset(-3.76125336e-1f));
  q = vmadd(q, s, vset(1.28379166e-1f));
  vf y = vsel(a > vset(0.927734375f), with_sign(tail, sign_of(x)), vmadd(q, x, x));
  return vsel(x == x, y, x);
}

/* Giles, Approximating the erfinv function (GPU Computing Gems, 2011), single precision. */
INLINE vf verf_inv(vf x) {
  vf w = -vlog((vset(1.f) - x) * (vset(1.f) + x));
  vf c = w - vset(2.5f);
  vf p = vmadd(c, vset(2.81022636e-08f), vset(3.43273939e-07f));
  p = vmadd(p, c, vset(-3.5233877e-06f));
  p = vmadd(p, c, vset(-4.39150654e-06f));
  p = vmadd(p, c, vset(0.00021858087f));
  p = vmadd(p, c, vset(-0.00125372503f));
  p = vmadd(p, c, vset(-0.00417768164f));
  p = vmadd(p, c, vset(0.246640727f));
  p = vmadd(p, c, vset(1.50140941f));
  vf t = vsqrt(w) - vset(3.f);
  vf q = vmadd(t, vset(-0.000200214257f), vset(0.000100950558f));
  q = vmadd(q, t, vset(0.00134934322f));
  q = vmadd(q, t, vset(-0.00367342844f));
  q = vmadd(q, t, vset(0.00573950773f));
  q = vmadd(q, t, vset(-0.0076224613f));
  q = vmadd(q, t, vset(0.00943887047f));
  q = vmadd(q, t, vset(1.00167406f));
  q = vmadd(q, t, vset(2.83297682f));
  vf y = x * vsel(w < vset(5.f), p, q);
  return vsel(vabs(x) == vset(1.f), x * VINF, y);
}

/* -- powers and remainders ------------------------------------------------------------------- */

/* 2**(y log2 m + y n), two lanes in double, far more exactly than a float. sqrt(1/2) <= m. Both
 * polynomials are nearly minimax, the logarithm's exact to 4e-12, the power's to 8e-11, and in
 * Estrin's order, as each step waits for the one before. */
INLINE vd power_of_pair(vd m, vd n, vd y) {
  vd s = (m - vsetd(1.0)) / (m + vsetd(1.0));
  vd z = s * s, w = z * z;
  vd low = vmaddd(z, vsetd(0.961796673451548475), vsetd(2.88539008178998705));
  vd high = vmaddd(z, vsetd(0.411673766237710592), vsetd(0.577083566004865861));
  vd p = vmaddd(w, vmaddd(w, vsetd(0.340712041561908598), high), low);
  vd t = y * vmaddd(s, p, n);
  /* Clamped to where floats are 0 or infinity; the order of operands lets NaN through. */
  t = (vd)wasm_f64x2_pmin((v128_t)t, (v128_t)vsetd(300.0));
  t = (vd)wasm_f64x2_pmax((v128_t)t, (v128_t)vsetd(-300.0));
  vd shifted = t + vsetd(0x1.8p52); /* rounded, and in the lowest bits, as for exp */
  vd f = t - (shifted - vsetd(0x1.8p52)), g = f * f;
  low = vmaddd(f, vsetd(0.240226509222887581), vsetd(0.693147180559945309));
  vd middle = vmaddd(f, vsetd(9.61805667852463808e-3), vsetd(0.0555041088390961839));
  high = vmaddd(f, vsetd(1.54614446985691291e-4), vsetd(1.33335023861627707e-3));
  vd e = vmaddd(g, vmaddd(g, vmaddd(g, vsetd(1.52973237607010741e-5), high), middle), low);
  v128_t scale = wasm_i64x2_shl((v128_t)shifted, 52);
  scale = wasm_i64x2_add(scale, wasm_i64x2_const_splat(1023ll << 52));
  return vmaddd(e * f, (vd)scale, (vd)scale);
}

/* Of a negative x, given the power of its magnitude. */
INLINE vf power_of_negative(vf x, vf y, vf result) {
  vi whole = vfloor(y) == y; /* infinities too */
  vf halved = y * vset(0.5f);
  vi odd = whole & (vfloor(halved) != halved) & (vabs(y) < vset(0x1p24f));
  result = with_sign(result, odd & sign_of(x));
  return vsel((x < 0.f) & (x > -VINF) & ~whole, vset(VNAN), result);
}

/* IEEE 754's pow. */
INLINE vf vpow(vf x, vf y) {
  if (!vany(y != vset(2.f))) return x * x; /* by far the most frequent one */
  vf a = vabs(x);
  vf exponent, m = split_any_exponent(a, &exponent);
  /* The logarithm of zero and of infinity. */
  vi extreme = (a == 0.f) | (a == VINF);
  m = vsel(extreme, vset(1.f), m);
  exponent = vsel(extreme, vsel(a == 0.f, vset(-VINF), vset(VINF)), exponent);
  vf result = vjoin(power_of_pair(vlow(m), vlow(exponent), vlow(y)),
                    power_of_pair(vhigh(m), vhigh(exponent), vhigh(y)));
  if (vany(sign_of(x))) result = power_of_negative(x, y, result);
  result = vsel((x == x) & (y == y), result, x + y);
  vi unit = (y == 0.f) | (x == vset(1.f)) | ((x == vset(-1.f)) & (vabs(y) == VINF));
  return vsel(unit, vset(1.f), result);
}

/* C's fmod for quotients of any size, exact. */
static float NOINLINE remainder_by_bits(float x, float y) {
  double r = __builtin_fabs((double)x), d = __builtin_fabs((double)y);
  while (r >= d) {
    double step = d;
    union { double f; uint64_t u; } ratio = {r / d};
    int shift = (int)(ratio.u >> 52 & 2047) - 1023;
    union { uint64_t u; double f; } scale = {(uint64_t)(shift + 1023) << 52};
    step = d * scale.f;
    r = r >= step ? r - step : r - 0.5 * step;
  }
  return (float)(x < 0 ? -r : r);
}

INLINE vd truncated_remainder(vd x, vd y) {
  vd q = (vd)wasm_f64x2_trunc((v128_t)(x / y));
  return x - q * y; /* exact for |q| < 2**29 */
}

/* Remainder with the sign of y, as Python's %. */
INLINE vf vremainder(vf x, vf y) {
  vf ratio = vabs(x / y);
  vf r = vjoin(truncated_remainder(vlow(x), vlow(y)), truncated_remainder(vhigh(x), vhigh(y)));
  r = vsel(vabs(x) < vabs(y), x, r);
  vi large = (ratio >= vset(0x1p28f)) & (vabs(x) < VINF) & (y != 0.f);
  if (vany(large)) {
    EACH_LANE(lane)
      if (large[lane]) r[lane] = remainder_by_bits(x[lane], y[lane]);
  }
  vi differ = (r != 0.f) & ((r < 0.f) != (y < 0.f));
  r = vsel(differ, r + y, r);
  return vsel(r == 0.f, with_sign(vset(0.f), sign_of(y)), r);
}

/* In double, where no quotient below 2**24 rounds to an integer that it is not. */
INLINE vf vfloordiv(vf x, vf y) {
  v128_t low = (v128_t)(vlow(x) / vlow(y)), high = (v128_t)(vhigh(x) / vhigh(y));
  return vjoin((vd)wasm_f64x2_floor(low), (vd)wasm_f64x2_floor(high));
}

/* -- numbers by their parts ------------------------------------------------------------------ */

/* In double no square of a float overflows or vanishes. Infinite where either is, even beside
 * NaN. */
INLINE vf vhypot(vf x, vf y) {
  vd low = vlow(x) * vlow(x) + vlow(y) * vlow(y), high = vhigh(x) * vhigh(x) + vhigh(y) * vhigh(y);
  vf root = vjoin((vd)wasm_f64x2_sqrt((v128_t)low), (vd)wasm_f64x2_sqrt((v128_t)high));
  return vsel((vabs(x) == VINF) | (vabs(y) == VINF), vset(VINF), root);
}

/* Numbers of one sign are ordered as their bits are. */
INLINE vf vnextafter(vf x, vf y) {
  vi away = (x < y) == (x > 0.f);
  vf next = (vf)((vi)x + vsel(away, vseti(1), vseti(-1)));
  next = vsel(x == 0.f, (vf)(sign_of(y) | 1), next);
  next = vsel(x == y, y, next);
  return vsel((x == x) & (y == y), next, x + y);
}

/* -- integers -------------------------------------------------------------------------------- */

INLINE v128_t floored_quotients(v128_t x, v128_t y) {
  vd q = (vd)wasm_f64x2_convert_low_i32x4(x) / (vd)wasm_f64x2_convert_low_i32x4(y);
  return wasm_i32x4_trunc_sat_f64x2_zero(wasm_f64x2_floor((v128_t)q));
}

/* Quotient rounded toward negative infinity; 0 where y is 0. */
INLINE vi vifloordiv(vi x, vi y) {
  v128_t x_high = wasm_i32x4_shuffle((v128_t)x, (v128_t)x, 2, 3, 2, 3);
  v128_t y_high = wasm_i32x4_shuffle((v128_t)y, (v128_t)y, 2, 3, 2, 3);
  vi q = (vi)wasm_i32x4_shuffle(floored_quotients((v128_t)x, (v128_t)y),
                                floored_quotients(x_high, y_high), 0, 1, 4, 5);
  q = vsel(y == -1, -x, q); /* wraps for the minimum integer */
  return vsel(y == 0, vseti(0), q);
}

/* Remainder with the sign of y; 0 where y is 0. */
INLINE vi viremainder(vi x, vi y) { return vsel(y == 0, vseti(0), x - vifloordiv(x, y) * y); }

/* Power that wraps; negative exponents truncate toward zero. */
INLINE vi vipow(vi x, vi y) {
  vi result = vseti(1), square = x, left = vmax(y, vseti(0));
  while (vany(left != 0)) {
    result = vsel((left & 1) != 0, result * square, result);
    square = square * square;
    left = left >> 1;
  }
  vi inverse = vsel(x == 1, vseti(1), vsel(x == -1, 1 - 2 * (y & 1), vseti(0)));
  return vsel(y < 0, inverse, result);
}

#endif
