/* Putting and adding slices at their indices. */
#include "vector.h"

/* Of cast.c. */
void fill_int32(int *out, int size, int value);

/* x and out are (length, inner bytes), updates is (count, inner bytes). Where x is a scalar, of
 * `scalar` bytes, else 0, it stands for all elements. */
EXPORT(scatter_set) void scatter_set(const byte *x, int scalar, const int *indices,
                                     const byte *updates, byte *out, int length, int inner,
                                     int count) {
  if (scalar == 4)
    fill_int32((int *)out, length * inner / 4, *(const int *)x);
  else if (scalar == 1)
    __builtin_memset(out, *x, length * inner);
  else
    __builtin_memcpy(out, x, length * inner);
  for (int i = 0; i < count; i++, updates += inner) {
    int index = indices[i];
    if (index < 0) index += length;
    if ((unsigned)index >= (unsigned)length) continue;
    byte *to = out + index * inner;
    /* memory.copy costs tens of nanoseconds, too much for one element or two. */
    if (inner == 4)
      __builtin_memcpy(to, updates, 4);
    else if (inner == 8)
      __builtin_memcpy(to, updates, 8);
    else if (inner == 1)
      *to = *updates;
    else
      __builtin_memcpy(to, updates, inner);
  }
}

#define ADD_ROW(TYPE, FROM, TO, SIZE)                                                              \
  {                                                                                                \
    const TYPE *from = FROM;                                                                       \
    TYPE *to = TO;                                                                                 \
    int j = 0;                                                                                     \
    for (; j + 4 <= SIZE; j += 4) store(to + j, load((const TYPE *)to + j) + load(from + j));      \
    for (; j < SIZE; j++) to[j] += from[j];                                                        \
  }

/* dy is (outer, count, inner), out is (outer, length, inner). */
#define SCATTER_ADD(NAME, TYPE)                                                                    \
  EXPORT(NAME) void NAME(const TYPE *dy, const int *indices, TYPE *out, int outer, int length,     \
                         int inner, int count) {                                                   \
    __builtin_memset(out, 0, outer * length * inner * sizeof(TYPE));                               \
    if (outer * inner == 1) {                                                                      \
      for (int i = 0; i < count; i++) {                                                            \
        int index = indices[i];                                                                    \
        if (index < 0) index += length;                                                            \
        if ((unsigned)index < (unsigned)length) out[index] += dy[i];                               \
      }                                                                                            \
      return;                                                                                      \
    }                                                                                              \
    for (int o = 0; o < outer; o++) {                                                              \
      for (int i = 0; i < count; i++, dy += inner) {                                               \
        int index = indices[i];                                                                    \
        if (index < 0) index += length;                                                            \
        if ((unsigned)index >= (unsigned)length) continue;                                         \
        ADD_ROW(TYPE, dy, out + index * inner, inner)                                              \
      }                                                                                            \
      out += length * inner;                                                                       \
    }                                                                                              \
  }
SCATTER_ADD(scatter_add_float32, float)
SCATTER_ADD(scatter_add_int32, int)

/* out is (length, inner), and row indices[i] of x is added to its row segments[i]. */
#define SUM_PICKED(NAME, TYPE)                                                                     \
  EXPORT(NAME) void NAME(const TYPE *x, const int *indices, const int *segments, TYPE *out,        \
                         int length, int inner, int count) {                                       \
    __builtin_memset(out, 0, length * inner * sizeof(TYPE));                                       \
    for (int i = 0; i < count; i++)                                                                \
      ADD_ROW(TYPE, x + indices[i] * inner, out + segments[i] * inner, inner)                      \
  }
SUM_PICKED(sum_picked_float32, float)
SUM_PICKED(sum_picked_int32, int)

/* out[i, indices[i]] = value, where that is inside the row. */
#define PUT_HOT(NAME, TYPE, VALUE)                                                                 \
  EXPORT(NAME) void NAME(const int *indices, TYPE *out, int count, int depth, VALUE value) {       \
    for (int i = 0; i < count; i++, out += depth)                                                  \
      if ((unsigned)indices[i] < (unsigned)depth) out[indices[i]] = value;                         \
  }
PUT_HOT(put_hot_float32, float, float)
PUT_HOT(put_hot_int32, int, int)
PUT_HOT(put_hot_bool, byte, int)
