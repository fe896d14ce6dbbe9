/* Factorizations of batches of matrices, in double; see factorizations.h.
 *
 * Each kernel exists for real and for complex numbers (pairs of floats), with `work` in memory that
 * the caller allocated: its size is given beside each function of that file. Matrices that
 * cannot be factored give NaN.
 */
#include "vector.h"

/* Finite numbers are multiplied without a test for infinities: NaN and infinity come out as NaN. */
#pragma STDC CX_LIMITED_RANGE ON

/* The natural logarithm of a positive normal double. */
static double logarithm_of(double x) {
  union { double f; uint64_t u; } bits = {x};
  int exponent = (int)(bits.u >> 52) - 1023;
  bits.u = (bits.u & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  if (bits.f > 1.4142135623730951) {
    bits.f *= 0.5;
    exponent++;
  }
  double s = (bits.f - 1) / (bits.f + 1), z = s * s, sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * z + 1.0 / k;
  return exponent * 0.6931471805599453 + 2 * s * sum;
}
/* exp(x), or exp(690) where x is greater (which is beyond float), or its inverse. */
static double exponential_of(double x) {
  x = x > 690 ? 690 : x < -690 ? -690 : x;
  int exponent = (int)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  double r = x - exponent * 0.6931471805599453, sum = 1;
  for (int k = 18; k >= 1; k--) sum = 1 + sum * r / k;
  union { uint64_t u; double f; } scale = {(uint64_t)(exponent + 1023) << 52};
  return sum * scale.f;
}

#define NUMBER double
#define WORDS 1
#define OF(name) name##_of_reals
#define REAL(x) (x)
#define CONJUGATE(x) (x)
#define SQUARED(x) ((x) * (x))
#define READ(from) ((double)*(from))
#define WRITE(to, x) (*(to) = (float)(x))
#include "factorizations.h"

typedef double _Complex complex_number;
INLINE complex_number read_complex(const float *from) {
  return __builtin_complex((double)from[0], (double)from[1]);
}
INLINE void write_complex(float *to, complex_number x) {
  to[0] = (float)__real__ x;
  to[1] = (float)__imag__ x;
}
INLINE double squared_size(complex_number x) {
  return __real__ x * __real__ x + __imag__ x * __imag__ x;
}

#define NUMBER complex_number
#define WORDS 2
#define OF(name) name##_of_complexes
#define REAL(x) (__real__(complex_number)(x))
#define CONJUGATE(x) (~(x))
#define SQUARED(x) squared_size(x)
#define READ(from) read_complex(from)
#define WRITE(to, x) write_complex(to, x)
#include "factorizations.h"

/* All pages download the kernels, and few call these. */
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)

/* `words` is 1 for real and 2 for complex numbers. */
EXPORT(cholesky)
void cholesky(const float *x, float *out, void *work, int words, int batch, int n) {
  if (words == 1) cholesky_batch_of_reals(x, out, work, batch, n);
  else cholesky_batch_of_complexes(x, out, work, batch, n);
}
EXPORT(solve)
void solve(const float *a, const float *b, float *out, void *work, int words, int batch, int n,
           int m) {
  if (words == 1) solve_batch_of_reals(a, b, out, work, batch, n, m);
  else solve_batch_of_complexes(a, b, out, work, batch, n, m);
}
EXPORT(determinant)
void determinant(const float *x, float *out, void *work, int words, int batch, int n,
                 int logarithm) {
  if (words == 1) determinant_batch_of_reals(x, out, work, batch, n, logarithm);
  else determinant_batch_of_complexes(x, out, work, batch, n, logarithm);
}
EXPORT(qr)
void qr(const float *x, float *out, void *work, int words, int batch, int m, int n, int full) {
  if (words == 1) qr_batch_of_reals(x, out, work, batch, m, n, full);
  else qr_batch_of_complexes(x, out, work, batch, m, n, full);
}
EXPORT(eigh) void eigh(const float *x, float *out, void *work, int words, int batch, int n) {
  if (words == 1) eigh_batch_of_reals(x, out, work, batch, n);
  else eigh_batch_of_complexes(x, out, work, batch, n);
}
EXPORT(svd)
void svd(const float *x, float *out, void *work, int words, int batch, int m, int n, int full) {
  if (words == 1) svd_batch_of_reals(x, out, work, batch, m, n, full);
  else svd_batch_of_complexes(x, out, work, batch, m, n, full);
}

#pragma clang attribute pop
