/* Discrete Fourier transforms of rows of complex numbers, each a pair of floats.
 *
 * Stockham's self-sorting transform with radices 4, 2, 3, 5, 7, 11 and 13; lengths with another
 * prime factor become a convolution of a length without (Bluestein). Either way n log n.
 *
 * After stages of radices whose product is l, row X holds the transforms, of length l, of the n / l
 * interleaved parts of the input: X[q l + k] = sum over t of x[q + t n / l] exp(-2 pi i t k / l).
 * A stage of radix r joins r of them: with Q = n / (l r),
 *   X'[(q r + m) l + k] = sum over j of X[(q + j Q) l + k] exp(-2 pi i j k / (l r))
 *                                                         exp(-2 pi i j m / r).
 *
 * A plan holds all roots of unity that a length needs, rounded from double:
 *   ints n, m, count, radices[MAX_STAGES]; m is the length of the convolution, or 0
 *   roots of the stages of n, or of m: for each, the r roots of 1 where r > 5, and the (r - 1) l
 *   that come before its sums
 *   for a convolution: the chirp exp(-i pi j j / n), n numbers; its spectrum over m, m numbers
 *
 * fft_plan_bytes(n), fft_work_bytes(n)   what the caller allocates, which may be more than 2 GB
 * fft_plan(plan, work, n)                fills a plan
 * fft(x, out, work, plan, rows, inverse) transforms rows, without a factor 1 / n
 */
#include "vector.h"

#define MAX_STAGES 29
#define LARGEST_RADIX 13

typedef struct Plan {
  int length, convolution, stages, radices[MAX_STAGES];
  float tables[];
} Plan;

/* -- two complex numbers at a time ----------------------------------------------------------- */

#define SHUFFLE(x, a, b, c, d) (vf)wasm_i32x4_shuffle((v128_t)(x), (v128_t)(x), a, b, c, d)

INLINE vf load_one(const float *from) { return (vf)wasm_v128_load64_zero(from); }
INLINE void store_one(float *to, vf x) { wasm_v128_store64_lane(to, (v128_t)x, 0); }

/* x w, or x conj(w). */
INLINE vf times(vf x, vf w, const int conjugated) {
  vf turned = SHUFFLE(x, 1, 0, 3, 2) * SHUFFLE(w, 1, 1, 3, 3);
  vf sign = conjugated ? (vf){1, -1, 1, -1} : (vf){-1, 1, -1, 1};
  return x * SHUFFLE(w, 0, 0, 2, 2) + turned * sign;
}
/* -i x, or i x. */
INLINE vf quarter_turn(vf x, const int conjugated) {
  return SHUFFLE(x, 1, 0, 3, 2) * (conjugated ? (vf){-1, 1, -1, 1} : (vf){1, -1, 1, -1});
}
INLINE vf conjugate(vf x) { return x * (vf){1, -1, 1, -1}; }

/* -- roots of unity -------------------------------------------------------------------------- */

/* exp(-2 pi i k / n) for 0 <= k < n, right to a double's last digits. Not inlined, as plans are made
 * seldom, and all pages download the kernels. */
static void NOINLINE unit_root(float *to, int64_t k, int64_t n) {
  int octant = (int)(8 * k / n);
  int64_t rest = 8 * k - octant * n;
  if (octant & 1) rest = n - rest;
  double a = 0.78539816339744831 * ((double)rest / (double)n), z = a * a;
  double s = a * (1 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 +
             z * (-1.0 / 39916800 + z * (1.0 / 6227020800 - z / 1307674368000)))))));
  double c = 1 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 +
             z * (-1.0 / 3628800 + z * (1.0 / 479001600 - z / 87178291200))))));
  int swapped = (octant + 1) & 2; /* octants 1, 2, 5, 6 */
  double x = swapped ? s : c, y = swapped ? c : s;
  to[0] = (float)(octant >= 2 && octant < 6 ? -x : x);
  to[1] = (float)(octant < 4 ? -y : y);
}

/* -- stages ---------------------------------------------------------------------------------- */

INLINE void butterfly_2(vf *t) {
  vf a = t[0] + t[1];
  t[1] = t[0] - t[1];
  t[0] = a;
}
INLINE void butterfly_3(vf *t, const int inverse) {
  vf sum = t[1] + t[2], turned = quarter_turn(t[1] - t[2], inverse) * 0.866025404f;
  vf middle = t[0] - sum * 0.5f;
  t[0] = t[0] + sum;
  t[1] = middle + turned;
  t[2] = middle - turned;
}
INLINE void butterfly_4(vf *t, const int inverse) {
  vf a = t[0] + t[2], b = t[0] - t[2], c = t[1] + t[3];
  vf d = quarter_turn(t[1] - t[3], inverse);
  t[0] = a + c;
  t[1] = b + d;
  t[2] = a - c;
  t[3] = b - d;
}
INLINE void butterfly_5(vf *t, const int inverse) {
  vf a = t[1] + t[4], b = t[2] + t[3];
  vf c = quarter_turn(t[1] - t[4], inverse), d = quarter_turn(t[2] - t[3], inverse);
  vf p = t[0] + a * 0.309016994f - b * 0.809016994f, q = t[0] - a * 0.809016994f + b * 0.309016994f;
  vf r = c * 0.951056516f + d * 0.587785252f, s = c * 0.587785252f - d * 0.951056516f;
  t[0] = t[0] + a + b;
  t[1] = p + r;
  t[2] = q + s;
  t[3] = q - s;
  t[4] = p - r;
}
/* Any odd radix: pairs of results from the sums and differences of pairs of operands. */
INLINE void butterfly_odd(vf *t, const float *circle, const int radix, const int inverse) {
  vf sums[LARGEST_RADIX / 2], turns[LARGEST_RADIX / 2], first = t[0], total = t[0];
  for (int j = 1; 2 * j < radix; j++) {
    sums[j - 1] = t[j] + t[radix - j];
    turns[j - 1] = quarter_turn(t[j] - t[radix - j], inverse);
    total = total + sums[j - 1];
  }
  t[0] = total;
  for (int m = 1; 2 * m < radix; m++) {
    vf even = first, odd = vset(0.f);
    for (int j = 1; 2 * j < radix; j++) {
      const float *root = circle + 2 * (j * m % radix);
      even = even + sums[j - 1] * root[0];
      odd = odd - turns[j - 1] * root[1];
    }
    t[m] = even + odd;
    t[radix - m] = even - odd;
  }
}
INLINE void butterfly(vf *t, const float *circle, const int radix, const int inverse) {
  if (radix == 2) butterfly_2(t);
  else if (radix == 3) butterfly_3(t, inverse);
  else if (radix == 4) butterfly_4(t, inverse);
  else if (radix == 5) butterfly_5(t, inverse);
  else butterfly_odd(t, circle, radix, inverse);
}

INLINE int circle_floats(int radix) { return radix > 5 ? 2 * radix : 0; }

/* One stage; `table` holds its roots. */
INLINE void stage(const float *x, float *out, const float *table, int n, int l, const int radix,
                  const int inverse) {
  const float *circle = table, *roots = table + circle_floats(radix);
  int parts = n / (l * radix), apart = 2 * parts * l;
  vf t[LARGEST_RADIX];
  for (int q = 0; q < parts; q++) {
    const float *from = x + 2 * q * l;
    float *to = out + 2 * q * l * radix;
    int k = 0;
    for (; k + 2 <= l; k += 2) {
      t[0] = load(from + 2 * k);
      for (int j = 1; j < radix; j++)
        t[j] = times(load(from + j * apart + 2 * k), load(roots + 2 * ((j - 1) * l + k)), inverse);
      butterfly(t, circle, radix, inverse);
      for (int m = 0; m < radix; m++) store(to + 2 * (m * l + k), t[m]);
    }
    if (k < l) {
      t[0] = load_one(from + 2 * k);
      for (int j = 1; j < radix; j++)
        t[j] = times(load_one(from + j * apart + 2 * k), load_one(roots + 2 * ((j - 1) * l + k)),
                     inverse);
      butterfly(t, circle, radix, inverse);
      for (int m = 0; m < radix; m++) store_one(to + 2 * (m * l + k), t[m]);
    }
  }
}

/* The first stage, of radix 4, two parts at a time: its roots are 1. */
INLINE void first_stage_of_4(const float *x, float *out, int n, const int inverse) {
  int parts = n / 4, q = 0;
  vf t[4];
  for (; q + 2 <= parts; q += 2, out += 16) {
    for (int j = 0; j < 4; j++) t[j] = load(x + 2 * (q + j * parts));
    butterfly_4(t, inverse);
    for (int half = 0; half < 2; half++) {
      v128_t low = half ? wasm_i64x2_shuffle((v128_t)t[0], (v128_t)t[1], 1, 3)
                        : wasm_i64x2_shuffle((v128_t)t[0], (v128_t)t[1], 0, 2);
      v128_t high = half ? wasm_i64x2_shuffle((v128_t)t[2], (v128_t)t[3], 1, 3)
                         : wasm_i64x2_shuffle((v128_t)t[2], (v128_t)t[3], 0, 2);
      wasm_v128_store(out + 8 * half, low);
      wasm_v128_store(out + 8 * half + 4, high);
    }
  }
  if (q < parts) {
    for (int j = 0; j < 4; j++) t[j] = load_one(x + 2 * (q + j * parts));
    butterfly_4(t, inverse);
    for (int m = 0; m < 4; m++) store_one(out + 2 * m, t[m]);
  }
}

#define STAGE(RADIX)                                                                               \
  static void NOINLINE stage_##RADIX(const float *x, float *out, const float *table, int n, int l, \
                                     int inverse) {                                                \
    if (RADIX == 4 && l == 1) {                                                                    \
      if (inverse) first_stage_of_4(x, out, n, 1);                                                 \
      else first_stage_of_4(x, out, n, 0);                                                         \
    } else if (inverse) {                                                                          \
      stage(x, out, table, n, l, RADIX, 1);                                                        \
    } else {                                                                                       \
      stage(x, out, table, n, l, RADIX, 0);                                                        \
    }                                                                                              \
  }
STAGE(2)
STAGE(3)
STAGE(4)
STAGE(5)
STAGE(7)
STAGE(11)
STAGE(13)

/* Transforms a row of the length whose stages a plan holds; `work` is as long as the row. */
static void NOINLINE transform_row(const Plan *plan, const float *x, float *out, float *work,
                                   int inverse) {
  int n = plan->convolution ? plan->convolution : plan->length;
  const float *table = plan->tables;
  if (plan->stages == 0) __builtin_memcpy(out, x, 8 * (unsigned)n);
  for (int s = 0, l = 1; s < plan->stages; s++) {
    int radix = plan->radices[s];
    float *to = (plan->stages - s) & 1 ? out : work; /* the last one writes to out */
    switch (radix) {
      case 2: stage_2(x, to, table, n, l, inverse); break;
      case 3: stage_3(x, to, table, n, l, inverse); break;
      case 4: stage_4(x, to, table, n, l, inverse); break;
      case 5: stage_5(x, to, table, n, l, inverse); break;
      case 7: stage_7(x, to, table, n, l, inverse); break;
      case 11: stage_11(x, to, table, n, l, inverse); break;
      default: stage_13(x, to, table, n, l, inverse); break;
    }
    table += circle_floats(radix) + 2 * (radix - 1) * l;
    l *= radix;
    x = to;
  }
}

/* -- plans ----------------------------------------------------------------------------------- */

/* Number of radices of n, listed where `radices` is not 0; -1 where n has another prime factor. */
static int NOINLINE factor(int n, int *radices) {
  static const int candidates[] = {4, 2, 3, 5, 7, 11, 13};
  int count = 0;
  for (int c = 0; c < 7; c++) {
    for (; n % candidates[c] == 0; n /= candidates[c], count++)
      if (radices) radices[count] = candidates[c];
  }
  return n == 1 ? count : -1;
}

/* The least 2**a, 3 2**a or 5 2**a that holds a convolution of length n without wrapping. */
static int NOINLINE convolution_length(int n) {
  int best = 0;
  for (int odd = 1; odd <= 5; odd += 2) {
    int m = odd;
    while (m < 2 * n - 1) m *= 2;
    if (!best || m < best) best = m;
  }
  return best;
}

INLINE int is_smooth(int n) { return factor(n, 0) >= 0; }

/* The roots before the sums of all stages are one less than the length; the circles fit the
 * rest. */
#define CIRCLES_BYTES (10 * 8 * LARGEST_RADIX)
EXPORT(fft_plan_bytes) double fft_plan_bytes(int n) {
  double m = is_smooth(n) ? 0 : convolution_length(n);
  return sizeof(Plan) + 8 * (m ? m - 1 + n + m : n - 1.) + CIRCLES_BYTES;
}
EXPORT(fft_work_bytes) double fft_work_bytes(int n) {
  return 8. * (is_smooth(n) ? n : 3. * convolution_length(n)) + 64;
}

EXPORT(fft_plan) void fft_plan(Plan *plan, float *work, int n) {
  plan->length = n;
  plan->convolution = is_smooth(n) ? 0 : convolution_length(n);
  int m = plan->convolution ? plan->convolution : n;
  plan->stages = factor(m, plan->radices);
  float *to = plan->tables;
  for (int s = 0, l = 1; s < plan->stages; s++) {
    int radix = plan->radices[s];
    for (int k = 0; 2 * k < circle_floats(radix); k++, to += 2) unit_root(to, k, radix);
    for (int j = 1; j < radix; j++)
      for (int k = 0; k < l; k++, to += 2) unit_root(to, j * (int64_t)k, l * radix);
    l *= radix;
  }
  if (!plan->convolution) return;
  float *chirp = to, *spectrum = to + 2 * n, *circle = work;
  for (int j = 0; j < n; j++) unit_root(chirp + 2 * j, (int64_t)j * j % (2 * n), 2 * n);
  __builtin_memset(circle, 0, 8 * (unsigned)m);
  for (int j = 0; j < n; j++) {
    vf one = conjugate(load_one(chirp + 2 * j)) * (1.f / (float)m);
    store_one(circle + 2 * j, one);
    if (j) store_one(circle + 2 * (m - j), one);
  }
  transform_row(plan, circle, spectrum, work + 2 * m, 0);
}

/* Bluestein: j k = (j j + k k - (k - j)**2) / 2 makes the transform a convolution with a chirp. */
static void convolve_row(const Plan *plan, const float *x, float *out, float *work, int inverse) {
  int n = plan->length, m = plan->convolution;
  const float *chirp = plan->tables + 2 * (m - 1), *spectrum = chirp + 2 * n;
  float *a = work, *b = work + 2 * m, *spare = work + 4 * m;
  __builtin_memset(a + 2 * n, 0, 8 * (unsigned)(m - n));
  /* The inverse is the conjugate of the transform of the conjugate. */
  for (int j = 0; j < n; j++) {
    vf one = load_one(x + 2 * j);
    store_one(a + 2 * j, times(inverse ? conjugate(one) : one, load_one(chirp + 2 * j), 0));
  }
  transform_row(plan, a, b, spare, 0);
  for (int j = 0; j < m; j++)
    store_one(b + 2 * j, times(load_one(b + 2 * j), load_one(spectrum + 2 * j), 0));
  transform_row(plan, b, a, spare, 1);
  for (int j = 0; j < n; j++) {
    vf one = times(load_one(a + 2 * j), load_one(chirp + 2 * j), 0);
    store_one(out + 2 * j, inverse ? conjugate(one) : one);
  }
}

EXPORT(fft) void fft(const float *x, float *out, float *work, const Plan *plan, int rows,
                     int inverse) {
  for (int row = 0; row < rows; row++, x += 2 * plan->length, out += 2 * plan->length) {
    if (plan->convolution) convolve_row(plan, x, out, work, inverse);
    else transform_row(plan, x, out, work, inverse);
  }
}
