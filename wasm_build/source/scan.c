/* Running sums, products and recurrences of x, seen as (outer, length, inner), along its middle
 * axis.
 *
 * <kind>_<dtype>(x, out, outer, length, inner, exclusive, reverse) combines each element with those
 * before it, in their order; exclusive ones leave the element itself out.
 */
#include "vector.h"

#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))

/* A dense row is a chain of scalars; where inner > 1, each row of the result is made of the one
 * before, four columns at a time. */
#define SCAN(NAME, TYPE, COMBINE, START)                                                           \
  static void NOINLINE NAME##_row(const TYPE *x, TYPE *out, int length, int exclusive, int step) { \
    TYPE total = START;                                                                            \
    UNROLLED(4) for (int k = 0; k < length; k++, x += step, out += step) {                         \
      TYPE next = COMBINE(total, *x);                                                              \
      *out = exclusive ? total : next;                                                             \
      total = next;                                                                                \
    }                                                                                              \
  }                                                                                                \
  static void NOINLINE NAME##_rows(const TYPE *x, TYPE *out, int length, int inner, int exclusive, \
                                   int step) {                                                     \
    const TYPE start = START;                                                                      \
    for (int j = 0; j < inner; j += 4)                                                             \
      store_up_to(out + j, exclusive ? load_splat(&start) : load(x + j), inner - j);               \
    if (!exclusive) x += step;                                                                     \
    for (int k = 1; k < length; k++, x += step, out += step)                                       \
      for (int j = 0; j < inner; j += 4)                                                           \
        store_up_to(out + step + j, COMBINE(load((const TYPE *)out + j), load(x + j)), inner - j); \
  }                                                                                                \
  EXPORT(NAME) void NAME(const TYPE *x, TYPE *out, int outer, int length, int inner,               \
                         int exclusive, int reverse) {                                             \
    int step = reverse ? -inner : inner, first = reverse ? (length - 1) * inner : 0;               \
    for (int o = 0; o < outer; o++, x += length * inner, out += length * inner) {                  \
      if (inner == 1)                                                                              \
        NAME##_row(x + first, out + first, length, exclusive, step);                               \
      else                                                                                         \
        NAME##_rows(x + first, out + first, length, inner, exclusive, step);                       \
    }                                                                                              \
  }

SCAN(cumsum_float32, float, SUM, 0.f)
SCAN(cumsum_int32, int, SUM, 0)
SCAN(cumprod_float32, float, PROD, 1.f)
SCAN(cumprod_int32, int, PROD, 1)

/* y[k] = a[k] y[k - 1] + b[k] with y[-1] = 0, or from the other end. */
EXPORT(recurrence) void recurrence(const float *a, const float *b, float *out, int outer,
                                   int length, int inner, int reverse) {
  int step = reverse ? -inner : inner, first = reverse ? (length - 1) * inner : 0;
  for (int o = 0; o < outer; o++) {
    for (int j = 0; j < inner; j++) {
      int at = o * length * inner + first + j;
      float y = 0;
      for (int k = 0; k < length; k++, at += step) out[at] = y = a[at] * y + b[at];
    }
  }
}
