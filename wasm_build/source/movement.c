/* Moving elements without looking at them: strided copies, padding, concatenation, gathering.
 *
 * Elements are words (four bytes) or bytes. Parameters of a strided copy, as ints: offset, rank,
 * sizes[rank], strides[rank], outermost axis first; axes are collapsed as far as possible and
 * rank >= 1.
 */
#include "vector.h"

#define MAX_RANK 60

/* A copy of size bytes; memory.copy costs tens of nanoseconds, too much for a few words. */
INLINE void copy_bytes(byte *to, const byte *from, int size) {
  if (size >= 256) {
    __builtin_memcpy(to, from, size);
    return;
  }
  int i = 0;
  for (; i + 16 <= size; i += 16) wasm_v128_store(to + i, wasm_v128_load(from + i));
  if (i > 0) { /* the last bytes, of which some are there already */
    if (i < size) wasm_v128_store(to + size - 16, wasm_v128_load(from + size - 16));
    return;
  }
  for (; i + 4 <= size; i += 4) __builtin_memcpy(to + i, from + i, 4);
  for (; i < size; i++) to[i] = from[i];
}

/* -- strided copies -------------------------------------------------------------------------- */

/* out[r * out_stride + c] = x[r + c * column_stride], four rows and columns at a time through
 * registers. */
static void NOINLINE transpose_block(const int *x, int *out, int rows, int columns,
                                     int column_stride, int out_stride) {
  int c = 0;
  for (; c + 4 <= columns; c += 4) {
    int r = 0;
    for (; r + 4 <= rows; r += 4) {
      const int *from = x + r + c * column_stride;
      v128_t x0 = wasm_v128_load(from), x1 = wasm_v128_load(from + column_stride);
      v128_t x2 = wasm_v128_load(from + 2 * column_stride);
      v128_t x3 = wasm_v128_load(from + 3 * column_stride);
      v128_t low01 = wasm_i32x4_shuffle(x0, x1, 0, 4, 1, 5);
      v128_t low23 = wasm_i32x4_shuffle(x2, x3, 0, 4, 1, 5);
      v128_t high01 = wasm_i32x4_shuffle(x0, x1, 2, 6, 3, 7);
      v128_t high23 = wasm_i32x4_shuffle(x2, x3, 2, 6, 3, 7);
      int *to = out + r * out_stride + c;
      wasm_v128_store(to, wasm_i64x2_shuffle(low01, low23, 0, 2));
      wasm_v128_store(to + out_stride, wasm_i64x2_shuffle(low01, low23, 1, 3));
      wasm_v128_store(to + 2 * out_stride, wasm_i64x2_shuffle(high01, high23, 0, 2));
      wasm_v128_store(to + 3 * out_stride, wasm_i64x2_shuffle(high01, high23, 1, 3));
    }
    for (; r < rows; r++)
      for (int i = 0; i < 4; i++) out[r * out_stride + c + i] = x[r + (c + i) * column_stride];
  }
  for (; c < columns; c++)
    for (int r = 0; r < rows; r++) out[r * out_stride + c] = x[r + c * column_stride];
}

/* In squares of one cache line's width, through a buffer: each line is read and written once, as a
 * whole. Where strides are powers of two, lines compete for the same cache lines and would
 * not survive until their next use. What the first-level cache holds needs no buffer. */
static void NOINLINE transpose_words(const int *x, int *out, int rows, int columns,
                                     int column_stride) {
  enum { SIDE = 16, FEW = 8, CACHED = 4096 };
  int square[SIDE * SIDE];
  int direct = rows <= FEW || rows * columns <= CACHED ? rows : columns <= FEW ? CACHED / FEW : 0;
  int height = direct ? direct : SIDE;
  for (int r = 0; r < rows; r += height) {
    int tall = rows - r < height ? rows - r : height;
    if (direct) {
      transpose_block(x + r, out + r * columns, tall, columns, column_stride, columns);
      continue;
    }
    for (int c = 0; c < columns; c += SIDE) {
      int wide = columns - c < SIDE ? columns - c : SIDE;
      transpose_block(x + r + c * column_stride, square, tall, wide, column_stride, SIDE);
      for (int i = 0; i < tall; i++)
        copy_bytes((byte *)(out + (r + i) * columns + c), (const byte *)(square + i * SIDE),
                   4 * wide);
    }
  }
}

/* Rows of the two innermost axes: out[r * size + i] = x[r * row_stride + i * stride]. */
#define STRIDED_ROWS(NAME, TYPE)                                                                   \
  static void NOINLINE NAME(const TYPE *x, TYPE *out, int rows, int size, int row_stride,          \
                            int stride) {                                                          \
    if (stride == 1 && size == 3) { /* the colors of pixels */                                     \
      for (; rows > 0; rows--, x += row_stride, out += 3) {                                        \
        __builtin_memcpy(out, x, 2 * sizeof(TYPE));                                                \
        out[2] = x[2];                                                                             \
      }                                                                                            \
    } else if (stride == 1) {                                                                      \
      for (; rows > 0; rows--, x += row_stride, out += size)                                       \
        copy_bytes((byte *)out, (const byte *)x, size * (int)sizeof(TYPE));                        \
    } else if (stride == 0) {                                                                      \
      for (; rows > 0; rows--, x += row_stride, out += size) {                                     \
        const TYPE only = *x;                                                                      \
        for (int i = 0; i < size; i++) out[i] = only;                                              \
      }                                                                                            \
    } else {                                                                                       \
      for (; rows > 0; rows--, x += row_stride, out += size) {                                     \
        const TYPE *from = x;                                                                      \
        UNROLLED(4) for (int i = 0; i < size; i++, from += stride) out[i] = *from;                 \
      }                                                                                            \
    }                                                                                              \
  }
STRIDED_ROWS(strided_rows_of_words, int)
STRIDED_ROWS(strided_rows_of_bytes, byte)

/* Counts the index of a row up, and adds the elements from the row to the next one to *distance;
 * 0 after the last row. */
INLINE int next_row(int *index, const int *sizes, const int *strides, int outer, int *distance) {
  for (int axis = outer - 1; axis >= 0; axis--) {
    *distance += strides[axis];
    if (++index[axis] < sizes[axis]) return 1;
    *distance -= strides[axis] * sizes[axis];
    index[axis] = 0;
  }
  return 0;
}

#define STRIDED(NAME, TYPE, ROWS)                                                                  \
  EXPORT(NAME) void NAME(const TYPE *x, TYPE *out, const int *parameters) {                        \
    int outer = parameters[1] - 1;                                                                 \
    const int *sizes = parameters + 2, *strides = sizes + outer + 1;                               \
    int size = sizes[outer], stride = strides[outer];                                              \
    int index[MAX_RANK] = {0};                                                                     \
    x += parameters[0];                                                                            \
    int rows = 1, row_stride = 0;                                                                  \
    if (outer > 0) {                                                                               \
      outer--;                                                                                     \
      rows = sizes[outer];                                                                         \
      row_stride = strides[outer];                                                                 \
    }                                                                                              \
    for (;;) {                                                                                     \
      /* A transposed pair of innermost axes goes through registers. */                            \
      if (sizeof(TYPE) == 4 && row_stride == 1 && stride > 1)                                      \
        transpose_words((const int *)x, (int *)out, rows, size, stride);                           \
      else                                                                                         \
        ROWS(x, out, rows, size, row_stride, stride);                                              \
      out += rows * size;                                                                          \
      int distance = 0;                                                                            \
      if (!next_row(index, sizes, strides, outer, &distance)) return;                              \
      x += distance;                                                                               \
    }                                                                                              \
  }
STRIDED(strided_words, int, strided_rows_of_words)
STRIDED(strided_bytes, byte, strided_rows_of_bytes)

OVERLOAD void fill_up_to(int *from, const int *to, int value) {
  for (; from + 4 <= to; from += 4) store(from, vseti(value));
  for (; from < to; from++) *from = value;
}
OVERLOAD void fill_up_to(byte *from, const byte *to, int value) {
  if (from < to) __builtin_memset(from, value, to - from);
}

/* The reverse, for padding: x is read in order and spread over out. What lies between, up to
 * `total` elements, gets a value; nothing does if `total` is 0. */
#define SPREAD(NAME, TYPE)                                                                         \
  EXPORT(NAME)                                                                                     \
  void NAME(const TYPE *x, TYPE *out, const int *parameters, int total, int value) {               \
    int outer = parameters[1] - 1;                                                                 \
    const int *sizes = parameters + 2, *strides = sizes + outer + 1;                               \
    int size = sizes[outer], stride = strides[outer];                                              \
    int index[MAX_RANK] = {0};                                                                     \
    TYPE *done = out, *end = out + total;                                                          \
    out += parameters[0];                                                                          \
    for (;;) {                                                                                     \
      TYPE *row_end = out + (size - 1) * stride + 1;                                               \
      if (total) fill_up_to(done, stride == 1 ? out : row_end, value);                             \
      done = row_end;                                                                              \
      if (stride == 1)                                                                             \
        copy_bytes((byte *)out, (const byte *)x, size * (int)sizeof(TYPE));                        \
      else                                                                                         \
        for (int i = 0; i < size; i++) out[i * stride] = x[i];                                     \
      x += size;                                                                                   \
      int distance = 0;                                                                            \
      if (!next_row(index, sizes, strides, outer, &distance)) break;                               \
      out += distance;                                                                             \
    }                                                                                              \
    fill_up_to(done, end, value);                                                                  \
  }
SPREAD(spread_words, int)
SPREAD(spread_bytes, byte)

/* Fill the ends of rows with mirror images of what is between them. A row is `length` cells of
 * `size` bytes, of which `own` are there, after `before` others; `skipped` outermost ones are not
 * repeated. */
EXPORT(mirror_ends) void mirror_ends(byte *out, int rows, int length, int size, int before, int own,
                                     int skipped) {
  for (int row = 0; row < rows; row++, out += length * size) {
    byte *first = out + before * size, *past = first + own * size;
    for (int i = 0; i < before; i++)
      copy_bytes(first - (i + 1) * size, first + (i + skipped) * size, size);
    for (int i = 0; i < length - before - own; i++)
      copy_bytes(past + i * size, past - (i + 1 + skipped) * size, size);
  }
}

/* -- joining --------------------------------------------------------------------------------- */

/* Copy rows of `size` bytes to rows that begin `stride` bytes apart. */
EXPORT(copy_rows) void copy_rows(const byte *x, byte *out, int rows, int size, int stride) {
  for (int row = 0; row < rows; row++) copy_bytes(out + row * stride, x + row * size, size);
}

/* -- gathering ------------------------------------------------------------------------------- */

/* The row of x that an index picks, or null. */
INLINE const byte *picked_row(const byte *x, int index, int length, int inner) {
  if (index < 0) index += length;
  return (unsigned)index < (unsigned)length ? x + index * inner : 0;
}

/* Picks single elements, by a load and a store each. */
#define PICK_ELEMENTS(TYPE)                                                                        \
  for (int i = 0; i < count; i++) {                                                                \
    const TYPE *from = (const TYPE *)picked_row(x, indices[i], length, sizeof(TYPE));              \
    ((TYPE *)out)[i] = from ? *from : 0;                                                           \
  }

/* x is (outer, length, inner bytes), out is (outer, count, inner bytes). */
EXPORT(gather) void gather(const byte *x, const int *indices, byte *out, int outer, int length,
                           int inner, int count) {
  for (int o = 0; o < outer; o++, x += length * inner, out += count * inner) {
    if (inner == 4) {
      PICK_ELEMENTS(int)
    } else if (inner == 1) {
      PICK_ELEMENTS(byte)
    } else {
      for (int i = 0; i < count; i++) {
        const byte *from = picked_row(x, indices[i], length, inner);
        if (from)
          copy_bytes(out + i * inner, from, inner);
        else
          __builtin_memset(out + i * inner, 0, inner);
      }
    }
  }
}

INLINE void flat_indices_of(const int *x, int *out, int count, int depth, const int *sizes) {
  int end = 1;
  for (int axis = 0; axis < depth; axis++) end *= sizes[axis];
  for (int i = 0; i < count; i++, x += depth) {
    int flat = 0, inside = 1;
    for (int axis = 0; axis < depth; axis++) {
      inside &= (unsigned)x[axis] < (unsigned)sizes[axis];
      flat = flat * sizes[axis] + x[axis];
    }
    out[i] = inside ? flat : end;
  }
}

/* The row-major offsets of rows of indices; of those outside, the number of all elements. */
EXPORT(flat_indices) void flat_indices(const int *x, int *out, int count, int depth,
                                       const int *sizes) {
  if (depth == 2)
    flat_indices_of(x, out, count, 2, sizes); /* unrolled, as the most frequent one */
  else
    flat_indices_of(x, out, count, depth, sizes);
}

/* The rows of indices of row-major offsets. */
EXPORT(coordinates) void coordinates(const int *flat_indices, int *out, int count, int depth,
                                     const int *sizes) {
  for (int i = 0; i < count; i++, out += depth) {
    unsigned rest = flat_indices[i];
    for (int axis = depth - 1; axis > 0; axis--) {
      unsigned whole = rest / (unsigned)sizes[axis];
      out[axis] = rest - whole * sizes[axis];
      rest = whole;
    }
    out[0] = rest;
  }
}
