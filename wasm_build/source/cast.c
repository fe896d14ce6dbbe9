/* Conversion between dtypes, and filling: cast_<from>_<to>(x, out, size), fill_<dtype>(…). */
#include "vector.h"

#define CAST(NAME, IN, OUT, EXPRESSION)                                                            \
  EXPORT(NAME) void NAME(const IN *from, OUT *out, int size) {                                     \
    for (int i = 0; i < size; i += 4) {                                                            \
      __typeof__(load(from)) x = load(from + i);                                                   \
      store(out + i, EXPRESSION);                                                                  \
    }                                                                                              \
  }

CAST(cast_float32_int32, float, int, vtoint(x))
CAST(cast_float32_bool, float, byte, x != 0)
CAST(cast_int32_float32, int, float, vtofloat(x))
CAST(cast_int32_bool, int, byte, x != 0)
CAST(cast_bool_float32, byte, float, (vf)(x & (vi)vset(1.f)))
CAST(cast_bool_int32, byte, int, x & 1)

#define FILL(NAME, TYPE)                                                                           \
  EXPORT(NAME) void NAME(TYPE *out, int size, TYPE value) {                                        \
    for (int i = 0; i < size; i += 4) store(out + i, load_splat(&value));                          \
  }

FILL(fill_float32, float)
FILL(fill_int32, int)
EXPORT(fill_bool) void fill_bool(byte *out, int size, int value) {
  __builtin_memset(out, value != 0, size);
}
