/* Reductions of x, seen as (outer, reduced, inner), along its middle axis.
 *
 * reduce_<kind>_<dtype>(x, out, outer, reduced, inner, part, parts); threads share the outer axis.
 * Sums are pairwise, from partial sums of at most BLOCK terms, so that rounding errors grow with
 * the logarithm of the length.
 *
 * chain_reduce_<kind>_<dtype>(record, out, pieces, a, b, c, d, e, f, g, h, part, parts) reduces
 * what a chain computes, as (outer, reduced, 1), in the same order. Two ints precede the record:
 * how long the reduced axis is, and how often it is halved into pieces, which threads share. If it
 * is, each piece gives a vector, and reduce_vectors_<kind>_<dtype>(x, out, outer, halvings) reduces
 * these.
 */
#include "chain.h"

#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))

#define BLOCK 64
#define MAX_AT_ONCE (16 * BLOCK)
/* The length of the first half of a longer row. */
#define HALF(SIZE) (((SIZE) / 2 + 15) & ~15)

/* clang 22 crashes where it would turn a recursion that ends in an integer maximum into a loop. */
#define RECURSIVE NOINLINE __attribute__((disable_tail_calls))

/* Lanes of one vector combined: NAME##_lanes(x). */
#define ACROSS_LANES(NAME, TYPE, VECTOR, COMBINE)                                                  \
  INLINE TYPE NAME##_lanes(VECTOR x) {                                                             \
    VECTOR y = COMBINE(x, (VECTOR)wasm_i32x4_shuffle((v128_t)x, (v128_t)x, 2, 3, 2, 3));           \
    VECTOR z = COMBINE(y, (VECTOR)wasm_i32x4_shuffle((v128_t)y, (v128_t)y, 1, 1, 1, 1));           \
    return z[0];                                                                                   \
  }

/* A dense row, four vectors side by side. START is the neutral element. */
#define REDUCE(NAME, TYPE, VECTOR, COMBINE, START)                                                 \
  ACROSS_LANES(NAME, TYPE, VECTOR, COMBINE)                                                        \
  static VECTOR RECURSIVE NAME##_row(const TYPE *x, int size) {                                    \
    if (size > MAX_AT_ONCE) {                                                                      \
      int half = HALF(size);                                                                       \
      return COMBINE(NAME##_row(x, half), NAME##_row(x + half, size - half));                      \
    }                                                                                              \
    const TYPE start = START;                                                                      \
    const VECTOR neutral = load_splat(&start);                                                     \
    VECTOR t0 = neutral, t1 = neutral, t2 = neutral, t3 = neutral;                                 \
    int i = 0;                                                                                     \
    for (; i + 16 <= size; i += 16) {                                                              \
      t0 = COMBINE(t0, load(x + i));                                                               \
      t1 = COMBINE(t1, load(x + i + 4));                                                           \
      t2 = COMBINE(t2, load(x + i + 8));                                                           \
      t3 = COMBINE(t3, load(x + i + 12));                                                          \
    }                                                                                              \
    for (; i < size; i += 4)                                                                       \
      t0 = vsel(first_lanes(size - i), COMBINE(t0, load(x + i)), t0);                              \
    return COMBINE(COMBINE(t0, t1), COMBINE(t2, t3));                                              \
  }                                                                                                \
  /* Sixteen columns, of rows that begin `stride` elements apart. */                               \
  static void NOINLINE NAME##_columns(const TYPE *x, TYPE *sums, int rows, int stride, int left) { \
    if (rows > BLOCK) {                                                                            \
      TYPE others[16];                                                                             \
      int half = rows / 2;                                                                         \
      NAME##_columns(x, sums, half, stride, left);                                                 \
      NAME##_columns(x + half * stride, others, rows - half, stride, left);                        \
      for (int i = 0; i < 16; i += 4)                                                              \
        store(sums + i, COMBINE(load((const TYPE *)sums + i), load((const TYPE *)others + i)));    \
      return;                                                                                      \
    }                                                                                              \
    const TYPE start = START;                                                                      \
    const VECTOR neutral = load_splat(&start);                                                     \
    VECTOR t0 = neutral, t1 = neutral, t2 = neutral, t3 = neutral;                                 \
    if (left > 4) {                                                                                \
      UNROLLED(2) for (; rows > 0; rows--, x += stride) {                                          \
        t0 = COMBINE(t0, load(x));                                                                 \
        t1 = COMBINE(t1, load(x + 4));                                                             \
        t2 = COMBINE(t2, load(x + 8));                                                             \
        t3 = COMBINE(t3, load(x + 12));                                                            \
      }                                                                                            \
    } else {                                                                                       \
      for (; rows > 0; rows--, x += stride) t0 = COMBINE(t0, load(x));                             \
    }                                                                                              \
    store(sums, t0);                                                                               \
    store(sums + 4, t1);                                                                           \
    store(sums + 8, t2);                                                                           \
    store(sums + 12, t3);                                                                          \
  }                                                                                                \
  /* Four short rows, a lane each. */                                                              \
  INLINE VECTOR NAME##_short_rows(const TYPE *x, int size) {                                       \
    const TYPE *second = x + size, *third = second + size, *fourth = third + size;                 \
    VECTOR result = {x[0], second[0], third[0], fourth[0]};                                        \
    for (int i = 1; i < size; i++) {                                                               \
      VECTOR next = {x[i], second[i], third[i], fourth[i]};                                        \
      result = COMBINE(result, next);                                                              \
    }                                                                                              \
    return result;                                                                                 \
  }                                                                                                \
  EXPORT(NAME)                                                                                     \
  void NAME(const TYPE *x, TYPE *out, int outer, int reduced, int inner, int part, int parts) {    \
    int o, end;                                                                                    \
    find_piece(outer, 1, part, parts, &o, &end);                                                   \
    x += o * reduced * inner;                                                                      \
    out += o * inner;                                                                              \
    if (inner == 1 && reduced < 8)                                                                 \
      for (; o + 4 <= end; o += 4, x += 4 * reduced, out += 4)                                     \
        store(out, NAME##_short_rows(x, reduced));                                                 \
    for (; o < end; o++, x += reduced * inner, out += inner) {                                     \
      if (inner == 1) {                                                                            \
        *out = NAME##_lanes(NAME##_row(x, reduced));                                               \
        continue;                                                                                  \
      }                                                                                            \
      for (int j = 0; j < inner; j += 16) {                                                        \
        TYPE sums[16];                                                                             \
        NAME##_columns(x + j, sums, reduced, inner, inner - j);                                    \
        for (int i = 0; i < 16 && j + i < inner; i += 4)                                           \
          store_up_to(out + j + i, load((const TYPE *)sums + i), inner - j - i);                   \
      }                                                                                            \
    }                                                                                              \
  }

#define REDUCE_CHAIN(KIND, TYPE, VECTOR, COMBINE)                                                  \
  static VECTOR RECURSIVE KIND##_of_chain(const Chain *chain, int begin, int size) {               \
    if (size > MAX_AT_ONCE) {                                                                      \
      int half = HALF(size);                                                                       \
      return COMBINE(KIND##_of_chain(chain, begin, half),                                          \
                     KIND##_of_chain(chain, begin + half, size - half));                           \
    }                                                                                              \
    _Alignas(16) TYPE x[MAX_AT_ONCE + 3];                                                          \
    compute_chain(chain, begin, size, (byte *)x);                                                  \
    return reduce_##KIND##_row(x, size);                                                           \
  }                                                                                                \
  EXPORT(chain_reduce_##KIND)                                                                      \
  void chain_reduce_##KIND(const int *record, TYPE *out, int pieces, byte *a, byte *b, byte *c,    \
                           byte *d, byte *e, byte *f, byte *g, byte *h, int part, int parts) {     \
    const int reduced = record[0], halvings = record[1];                                           \
    const Chain chain = start_chain(record + 2, a, b, c, d, e, f, g, h);                           \
    int piece, end;                                                                                \
    find_piece(pieces, 1, part, parts, &piece, &end);                                              \
    for (; piece < end; piece++) {                                                                 \
      int begin = (piece >> halvings) * reduced, size = reduced;                                   \
      for (int bit = halvings - 1; bit >= 0; bit--) {                                              \
        int half = HALF(size), is_second = piece >> bit & 1;                                       \
        begin += is_second ? half : 0;                                                             \
        size = is_second ? size - half : half;                                                     \
      }                                                                                            \
      VECTOR result = KIND##_of_chain(&chain, begin, size);                                        \
      if (halvings) store(out + 4 * piece, result);                                                \
      else out[piece] = reduce_##KIND##_lanes(result);                                             \
    }                                                                                              \
  }                                                                                                \
  EXPORT(reduce_vectors_##KIND)                                                                    \
  void reduce_vectors_##KIND(TYPE *x, TYPE *out, int outer, int halvings) {                        \
    for (int o = 0; o < outer; o++, x += 4 << halvings) {                                          \
      for (int left = halvings - 1; left >= 0; left--)                                             \
        for (int i = 0; i < 4 << left; i += 4)                                                     \
          store(x + i, COMBINE(load(x + 2 * i), load(x + 2 * i + 4)));                             \
      out[o] = reduce_##KIND##_lanes(load(x));                                                     \
    }                                                                                              \
  }

#define INT_MIN (-2147483647 - 1)
REDUCE(reduce_sum_float32, float, vf, SUM, 0.f)
REDUCE(reduce_sum_int32, int, vi, SUM, 0)
REDUCE(reduce_prod_float32, float, vf, PROD, 1.f)
REDUCE(reduce_prod_int32, int, vi, PROD, 1)
REDUCE(reduce_max_float32, float, vf, vmax, -VINF)
REDUCE(reduce_max_int32, int, vi, vmax, INT_MIN)
REDUCE(reduce_min_float32, float, vf, vmin, VINF)
REDUCE(reduce_min_int32, int, vi, vmin, 2147483647)
REDUCE_CHAIN(sum_float32, float, vf, SUM)
REDUCE_CHAIN(sum_int32, int, vi, SUM)
REDUCE_CHAIN(prod_float32, float, vf, PROD)
REDUCE_CHAIN(prod_int32, int, vi, PROD)
REDUCE_CHAIN(max_float32, float, vf, vmax)
REDUCE_CHAIN(max_int32, int, vi, vmax)
REDUCE_CHAIN(min_float32, float, vf, vmin)
REDUCE_CHAIN(min_int32, int, vi, vmin)

/* Bools: stop at the first element that decides. */
#define REDUCE_BOOL(NAME, DECISIVE)                                                                \
  EXPORT(NAME)                                                                                     \
  void NAME(const byte *x, byte *out, int outer, int reduced, int inner, int part, int parts) {    \
    int o, end;                                                                                    \
    find_piece(outer, 1, part, parts, &o, &end);                                                   \
    x += o * reduced * inner;                                                                      \
    out += o * inner;                                                                              \
    for (; o < end; o++, x += reduced * inner) {                                                   \
      for (int j = 0; j < inner; j++) {                                                            \
        byte result = !DECISIVE;                                                                   \
        for (int i = 0; i < reduced; i++) {                                                        \
          if ((x[i * inner + j] != 0) == DECISIVE) result = DECISIVE;                              \
          if (result == DECISIVE && i % 16 == 15) break; /* branches are hard to guess */          \
        }                                                                                          \
        *out++ = result;                                                                           \
      }                                                                                            \
    }                                                                                              \
  }
REDUCE_BOOL(reduce_any_bool, 1)
REDUCE_BOOL(reduce_all_bool, 0)

/* Index of the first extremum, as int32; the first NaN counts as one. BETTER(a, b) is a mask where
 * candidate a replaces b. Four columns at a time, or four interleaved parts of a dense row. */
#define GREATER(a, b) ((a) > (b))
#define LESS(a, b) ((a) < (b))
#define GREATER_OR_NAN(a, b) (((a) > (b)) | (((a) != (a)) & ((b) == (b))))
#define LESS_OR_NAN(a, b) (((a) < (b)) | (((a) != (a)) & ((b) == (b))))
#define SAME(a, b) ((a) == (b) || ((a) != (a) && (b) != (b)))

#define ARG_REDUCE(NAME, TYPE, VECTOR, BETTER)                                                     \
  static int NOINLINE NAME##_row(const TYPE *x, int size) {                                        \
    if (size < 12) { /* without branches, which are hard to guess */                               \
      TYPE best = x[0];                                                                            \
      int where = 0;                                                                               \
      for (int i = 1; i < size; i++) {                                                             \
        int better = BETTER(x[i], best);                                                           \
        best = better ? x[i] : best;                                                               \
        where = better ? i : where;                                                                \
      }                                                                                            \
      return where;                                                                                \
    }                                                                                              \
    VECTOR best = load(x);                                                                         \
    vi index = {0, 1, 2, 3}, where = index;                                                        \
    int i = 4;                                                                                     \
    for (; i + 4 <= size; i += 4) {                                                                \
      VECTOR candidate = load(x + i);                                                              \
      index = index + 4;                                                                           \
      vi better = BETTER(candidate, best);                                                         \
      best = vsel(better, candidate, best);                                                        \
      where = vsel(better, index, where);                                                          \
    }                                                                                              \
    TYPE value = best[0];                                                                          \
    int result = where[0];                                                                         \
    for (int lane = 1; lane < 4; lane++) {                                                         \
      if (BETTER(best[lane], value) || (SAME(best[lane], value) && where[lane] < result)) {        \
        value = best[lane];                                                                        \
        result = where[lane];                                                                      \
      }                                                                                            \
    }                                                                                              \
    for (; i < size; i++) {                                                                        \
      if (BETTER(x[i], value)) {                                                                   \
        value = x[i];                                                                              \
        result = i;                                                                                \
      }                                                                                            \
    }                                                                                              \
    return result;                                                                                 \
  }                                                                                                \
  static void NOINLINE NAME##_columns(const TYPE *x, int *out, int rows, int stride, int left) {   \
    VECTOR best = load(x);                                                                         \
    vi where = vseti(0);                                                                           \
    for (int row = 1; row < rows; row++) {                                                         \
      VECTOR candidate = load(x + row * stride);                                                   \
      vi better = BETTER(candidate, best);                                                         \
      best = vsel(better, candidate, best);                                                        \
      where = vsel(better, vseti(row), where);                                                     \
    }                                                                                              \
    store_up_to(out, where, left);                                                                 \
  }                                                                                                \
  EXPORT(NAME) void NAME(const TYPE *x, int *out, int outer, int reduced, int inner) {             \
    for (int o = 0; o < outer; o++, x += reduced * inner, out += inner) {                          \
      if (inner == 1) {                                                                            \
        *out = NAME##_row(x, reduced);                                                             \
      } else {                                                                                     \
        for (int j = 0; j < inner; j += 4)                                                         \
          NAME##_columns(x + j, out + j, reduced, inner, inner - j);                               \
      }                                                                                            \
    }                                                                                              \
  }

ARG_REDUCE(argmax_float32, float, vf, GREATER_OR_NAN)
ARG_REDUCE(argmax_int32, int, vi, GREATER)
ARG_REDUCE(argmin_float32, float, vf, LESS_OR_NAN)
ARG_REDUCE(argmin_int32, int, vi, LESS)
