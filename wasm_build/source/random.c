/* Threefry-2x32 with 20 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
 *
 * random_bits(out, size, key0, key1): element i is word i & 1 of the block of counter (i >> 1, 0).
 */
#include "vector.h"

INLINE vu rotate(vu x, int by) { return x << by | x >> (32 - by); }

#define FOUR_ROUNDS(a, b, c, d)                                                                    \
  x += y; y = rotate(y, a) ^ x;                                                                    \
  x += y; y = rotate(y, b) ^ x;                                                                    \
  x += y; y = rotate(y, c) ^ x;                                                                    \
  x += y; y = rotate(y, d) ^ x;

EXPORT(random_bits) void random_bits(uint32_t *out, int size, uint32_t key0, uint32_t key1) {
  uint32_t key2 = 0x1BD11BDA ^ key0 ^ key1;
  vu counter = {0, 1, 2, 3};
  for (int i = 0; i < size; i += 8, counter += 4) {
    vu x = counter + key0, y = (vu){0, 0, 0, 0} + key1;
    FOUR_ROUNDS(13, 15, 26, 6)
    x += key1; y += key2 + 1;
    FOUR_ROUNDS(17, 29, 16, 24)
    x += key2; y += key0 + 2;
    FOUR_ROUNDS(13, 15, 26, 6)
    x += key0; y += key1 + 3;
    FOUR_ROUNDS(17, 29, 16, 24)
    x += key1; y += key2 + 4;
    FOUR_ROUNDS(13, 15, 26, 6)
    x += key2; y += key0 + 5;
    store((int *)out + i, (vi)wasm_i32x4_shuffle((v128_t)x, (v128_t)y, 0, 4, 1, 5));
    if (i + 4 < size)
      store((int *)out + i + 4, (vi)wasm_i32x4_shuffle((v128_t)x, (v128_t)y, 2, 6, 3, 7));
  }
}
