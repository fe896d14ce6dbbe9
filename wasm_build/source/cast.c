/* Conversion between dtypes, and filling: cast_<from>_<to>(x, out, size), fill_<dtype>(…). And
 * bytes of pixels: expand_pixels_<dtype>(rgba, out, pixels, channels). */
#include "vector.h"

#define CAST(NAME, IN, OUT, EXPRESSION)                                                            \
  EXPORT(NAME) void NAME(const IN *from, OUT *out, int size) {                                     \
    UNROLLED(4) for (int i = 0; i < size; i += 4) {                                                \
      __typeof__(load(from)) x = load(from + i);                                                   \
      store(out + i, EXPRESSION);                                                                  \
    }                                                                                              \
  }

CAST(cast_float32_int32, float, int, vtoint(x))
CAST(cast_float32_bool, float, byte, x != 0)
CAST(cast_int32_float32, int, float, vtofloat(x))
CAST(cast_int32_bool, int, byte, x != 0)

/* Bools, sixteen at a time: EXPRESSION of four as integers x. */
#define CAST_BOOL(NAME, OUT, EXPRESSION)                                                           \
  INLINE void NAME##_four(OUT *out, v128_t halves) {                                               \
    vi x = (vi)wasm_u32x4_extend_low_u16x8(halves);                                                \
    store(out, EXPRESSION);                                                                        \
  }                                                                                                \
  EXPORT(NAME) void NAME(const byte *from, OUT *out, int size) {                                   \
    int i = 0;                                                                                     \
    for (; i + 16 <= size; i += 16) {                                                              \
      v128_t bytes = wasm_v128_load(from + i);                                                     \
      v128_t low = wasm_u16x8_extend_low_u8x16(bytes), high = wasm_u16x8_extend_high_u8x16(bytes); \
      NAME##_four(out + i, low);                                                                   \
      NAME##_four(out + i + 4, wasm_i64x2_shuffle(low, low, 1, 1));                                \
      NAME##_four(out + i + 8, high);                                                              \
      NAME##_four(out + i + 12, wasm_i64x2_shuffle(high, high, 1, 1));                             \
    }                                                                                              \
    for (; i < size; i += 4)                                                                       \
      NAME##_four(out + i, wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(from + i)));          \
  }

CAST_BOOL(cast_bool_float32, float, vtofloat(x))
CAST_BOOL(cast_bool_int32, int, x)

/* The first channels of pixels of four bytes each, as numbers from 0 to 255. All four are stored,
 * and the next pixel over those that are too many; the last pixels have room for their own
 * alone. */
#define EXPAND_PIXELS(NAME, OUT, EXPRESSION)                                                       \
  EXPORT(NAME) void NAME(const byte *rgba, OUT *out, int pixels, int channels) {                   \
    for (int i = 0; i < pixels; i++, rgba += 4, out += channels) {                                 \
      v128_t halves = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(rgba));                    \
      vi x = (vi)wasm_u32x4_extend_low_u16x8(halves);                                              \
      store_up_to(out, EXPRESSION, i < pixels - 3 ? 4 : channels);                                 \
    }                                                                                              \
  }

EXPAND_PIXELS(expand_pixels_float32, float, vtofloat(x))
EXPAND_PIXELS(expand_pixels_int32, int, x)

#define FILL(NAME, TYPE)                                                                           \
  EXPORT(NAME) void NAME(TYPE *out, int size, TYPE value) {                                        \
    if (*(const int *)&value == 0) /* quicker where there is much to fill */                       \
      __builtin_memset(out, 0, size * sizeof(TYPE));                                               \
    else                                                                                           \
      for (int i = 0; i < size; i += 4) store(out + i, load_splat(&value));                        \
  }

FILL(fill_float32, float)
FILL(fill_int32, int)
EXPORT(fill_bool) void fill_bool(byte *out, int size, int value) {
  __builtin_memset(out, value != 0, size);
}
