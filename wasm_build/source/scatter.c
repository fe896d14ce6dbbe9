/* Putting and adding slices at their indices. */
#include "vector.h"

/* Of cast.c. */
void fill_int32(int *out, int size, int value);

/* x and out are (length, inner bytes), updates is (count, inner bytes). Where x is a scalar, of
 * `scalar` bytes, else 0, it stands for all elements. */
EXPORT(scatter_set) void scatter_set(const byte *x, int scalar, const int *indices,
                                     const byte *updates, byte *out, int length, int inner,
                                     int count) {
  if (scalar == 4 && *(const int *)x)
    fill_int32((int *)out, length * inner / 4, *(const int *)x);
  else if (scalar)
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

/* How many elements each of the `length` rows of a sparse tensor has, whose `indices` are (count, rank);
 * then, how many rows have none, and how many elements are in none of the rows. */
EXPORT(row_counts) void row_counts(const int *indices, int *out, int length, int rank, int count) {
  __builtin_memset(out, 0, (length + 2) * sizeof(int));
  for (int i = 0; i < count; i++, indices += rank) {
    unsigned row = *indices;
    out[row < (unsigned)length ? row : (unsigned)length + 1]++;
  }
  for (int row = 0; row < length; row++) out[length] += !out[row];
}

INLINE void sort_by_rows(const int *indices, const int *counts, int *out, int *next, int length,
                         int rank, int count, int size) {
  int *order = out + size * rank, *positions = order + size;
  for (int row = 0, position = 0; row < length; row++) {
    next[row] = position;
    if (counts[row]) {
      position += counts[row];
      continue;
    }
    int *to = out + position * rank;
    *to = row;
    for (int axis = 1; axis < rank; axis++) to[axis] = 0;
    order[position++] = count;
  }
  for (int i = 0; i < count; i++, indices += rank) {
    int position = next[*indices]++;
    int *to = out + position * rank;
    for (int axis = 0; axis < rank; axis++) to[axis] = indices[axis];
    order[position] = i;
    positions[i] = position;
  }
}

/* The `size` elements of a sparse tensor in the order of their rows, where an empty row has one, too:
 * their indices, (size, rank); the elements' numbers before, or `count` for those of empty rows; and the
 * new numbers of the `count` elements before. `counts` is of row_counts, and `next` has room for as many
 * ints: the number of the next element of each row. */
EXPORT(filled_rows) void filled_rows(const int *indices, const int *counts, int *out, int *next,
                                     int length, int rank, int count, int size) {
  if (rank == 2)
    sort_by_rows(indices, counts, out, next, length, 2, count, size); /* the most frequent one */
  else
    sort_by_rows(indices, counts, out, next, length, rank, count, size);
}
