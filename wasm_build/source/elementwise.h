/* Loops around the expressions of the elementwise table; the generated file only fills them in.
 *
 * A row becomes `lanes`, a function of vectors, and from it:
 *   unary:   row(x, out, size, parameters…, part, parts)
 *   binary:  row(x, y, out, size, part, parts) for operands of one shape,
 *            row_broadcast(x, y, out, parameters, part, parts) for broadcasting
 *   ternary: row_broadcast(x, y, z, out, parameters, part, parts)
 *
 * Parameters of a broadcast, as ints: rank, sizes[rank], then the strides of each operand in
 * elements, strides[rank] each, outermost axis first. Axes are collapsed as far as possible and
 * rank >= 1. Along the innermost axis every operand has stride 1 or 0.
 */
#ifndef WEBTENSOR_ELEMENTWISE_H
#define WEBTENSOR_ELEMENTWISE_H

#include "vector_math.h"

#define MAX_RANK 60

typedef void run_of_two(const void *x, const void *y, void *out, int size, int x_step, int y_step);
typedef void run_of_three(const void *x, const void *y, const void *z, void *out, int size,
                          int x_step, int y_step, int z_step);

void broadcast_two(run_of_two *run, const byte *x, const byte *y, byte *out, const int *parameters,
                   int item, int out_item, int part, int parts);
void broadcast_three(run_of_three *run, const byte *x, const byte *y, const byte *z, byte *out,
                     const int *parameters, int x_item, int item, int part, int parts);

#define UNARY(NAME, IN, OUT, LANES, DECLARED, GIVEN)                                               \
  EXPORT(NAME) void NAME(const IN *x, OUT *out, int size DECLARED, int part, int parts) {          \
    int i, end;                                                                                    \
    find_piece(size, 16, part, parts, &i, &end);                                                   \
    for (; i < end; i += 4) store(out + i, LANES(load(x + i) GIVEN));                              \
  }

/* A run along the innermost axis; steps are 0 or 1. */
#define RUN(NAME, IN, OUT, LANES)                                                                  \
  static void NAME##_run(const void *x_start, const void *y_start, void *out_start, int size,      \
                         int x_step, int y_step) {                                                 \
    const IN *x = x_start, *y = y_start;                                                           \
    OUT *out = out_start;                                                                          \
    int i = 0, whole = size & ~3;                                                                  \
    if (x_step & y_step) {                                                                         \
      for (; i < whole; i += 4) store(out + i, LANES(load(x + i), load(y + i)));                   \
      if (i < size) store_part(out + i, LANES(load(x + i), load(y + i)), size - i);                \
    } else if (x_step) {                                                                           \
      __typeof__(load(y)) every = load_splat(y);                                                   \
      UNROLLED(2) for (; i < whole; i += 4) store(out + i, LANES(load(x + i), every));             \
      if (i < size) store_part(out + i, LANES(load(x + i), every), size - i);                      \
    } else {                                                                                       \
      __typeof__(load(x)) every = load_splat(x);                                                   \
      UNROLLED(2) for (; i < whole; i += 4) store(out + i, LANES(every, load(y + i)));             \
      if (i < size) store_part(out + i, LANES(every, load(y + i)), size - i);                      \
    }                                                                                              \
  }
/* The same for `lanes` that take so long that a loop may choose the operands in each turn. */
#define LONG_RUN(NAME, IN, OUT, LANES)                                                             \
  static void NAME##_run(const void *x_start, const void *y_start, void *out_start, int size,      \
                         int x_step, int y_step) {                                                 \
    const IN *x = x_start, *y = y_start;                                                           \
    OUT *out = out_start;                                                                          \
    const __typeof__(load(x)) every_x = load_splat(x), every_y = load_splat(y);                    \
    for (int i = 0; i < size; i += 4) {                                                            \
      store_up_to(out + i,                                                                         \
                  LANES(x_step ? load(x + i) : every_x, y_step ? load(y + i) : every_y),           \
                  size - i);                                                                       \
    }                                                                                              \
  }

#define BINARY(NAME, IN, OUT)                                                                      \
  EXPORT(NAME)                                                                                     \
  void NAME(const IN *x, const IN *y, OUT *out, int size, int part, int parts) {                   \
    int i, end;                                                                                    \
    find_piece(size, 16, part, parts, &i, &end);                                                   \
    NAME##_run(x + i, y + i, out + i, end - i, 1, 1);                                              \
  }                                                                                                \
  EXPORT(NAME##_broadcast)                                                                         \
  void NAME##_broadcast(const byte *x, const byte *y, byte *out, const int *parameters, int part,  \
                        int parts) {                                                               \
    broadcast_two(NAME##_run, x, y, out, parameters, sizeof(IN), sizeof(OUT), part, parts);        \
  }

#define TERNARY(NAME, X, IN, LANES)                                                                \
  static void NAME##_run(const void *x_start, const void *y_start, const void *z_start,            \
                         void *out_start, int size, int x_step, int y_step, int z_step) {          \
    const X *x = x_start;                                                                          \
    const IN *y = y_start, *z = z_start;                                                           \
    IN *out = out_start;                                                                           \
    const __typeof__(load(x)) every_x = load_splat(x);                                             \
    const __typeof__(load(y)) every_y = load_splat(y), every_z = load_splat(z);                    \
    for (int i = 0; i < size; i += 4) {                                                            \
      store_up_to(out + i,                                                                         \
                  LANES(x_step ? load(x + i) : every_x, y_step ? load(y + i) : every_y,            \
                        z_step ? load(z + i) : every_z),                                           \
                  size - i);                                                                       \
    }                                                                                              \
  }                                                                                                \
  EXPORT(NAME##_broadcast)                                                                         \
  void NAME##_broadcast(const byte *x, const byte *y, const byte *z, byte *out,                    \
                        const int *parameters, int part, int parts) {                              \
    broadcast_three(NAME##_run, x, y, z, out, parameters, sizeof(X), sizeof(IN), part, parts);     \
  }

#endif
