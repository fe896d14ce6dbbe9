/* Angles so large that neighbouring floats are radians apart. The functions that are generated for
 * chains import this one, as they can have no table. */
#include "vector_math.h"

/* Payne & Hanek: only 96 bits of 2/pi matter. */
EXPORT(huge_angle) uint64_t huge_angle(float x) {
  static const uint32_t two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                         0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  union { float f; uint32_t u; } bits = {x};
  uint32_t mantissa = (bits.u & 0x7fffff) | 0x800000;
  /* x = mantissa 2**e. Bit i of 2/pi (weight 2**-i) gives multiples of 4 where e - i > 1. */
  int first = (int)(bits.u >> 23 & 255) - 150 - 1 - 1;
  const uint32_t *words = two_over_pi + (first >> 5);
  int shift = first & 31;
  uint32_t w[3];
  for (int i = 0; i < 3; i++)
    w[i] = shift ? words[i] << shift | words[i + 1] >> (32 - shift) : words[i];
  uint64_t low = (uint64_t)mantissa * w[2];
  uint64_t middle = (uint64_t)mantissa * w[1] + (low >> 32);
  return ((uint64_t)mantissa * w[0] << 32) + middle;
}
