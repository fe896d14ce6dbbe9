/* Walking the outer axes of broadcast operands; the innermost is a run of the row's own loop.
 * Threads share the outermost axis. */
#include "elementwise.h"

/* Elements in one step of the outermost axis. */
INLINE int step_size(const int *sizes, int rank) {
  int size = 1;
  for (int axis = 1; axis < rank; axis++) size *= sizes[axis];
  return size;
}

/* The longest row that is repeated, and how many elements its repetitions may have. */
#define SHORT 32
#define REPEATED 256

/* Rows of a matrix that all meet the same few elements: many at a time, with those repeated. */
static void NOINLINE run_repeated(run_of_two *run, const byte *x, const byte *y, byte *out,
                                  int rows, int size, int is_x_repeated, int item, int out_item) {
  _Alignas(16) byte repeated[REPEATED * sizeof(float)];
  const byte *few = is_x_repeated ? x : y;
  int at_once = REPEATED / size < rows ? REPEATED / size : rows, period = size * item;
  for (int i = 0; i < at_once * period; i++)
    repeated[i] = i < period ? few[i] : repeated[i - period];
  for (; rows > 0; rows -= at_once) {
    int count = (rows < at_once ? rows : at_once) * size;
    run(is_x_repeated ? repeated : x, is_x_repeated ? y : repeated, out, count, 1, 1);
    if (is_x_repeated) y += count * item; else x += count * item;
    out += count * out_item;
  }
}

void broadcast_two(run_of_two *run, const byte *x, const byte *y, byte *out, const int *parameters,
                   int item, int out_item, int part, int parts) {
  int rank = parameters[0], outer = rank - 1, first, end;
  const int *sizes = parameters + 1, *x_strides = sizes + rank, *y_strides = x_strides + rank;
  int size = sizes[outer], x_step = x_strides[outer], y_step = y_strides[outer];
  int index[MAX_RANK] = {0};
  find_piece(sizes[0], outer ? 1 : 16, part, parts, &first, &end);
  if (first >= end) return;
  x += first * x_strides[0] * item;
  y += first * y_strides[0] * item;
  out += first * step_size(sizes, rank) * out_item;
  if (rank == 2 && size <= SHORT && x_step == 1 && y_step == 1 &&
      x_strides[0] + y_strides[0] == size && x_strides[0] * y_strides[0] == 0) {
    run_repeated(run, x, y, out, end - first, size, x_strides[0] == 0, item, out_item);
    return;
  }
  if (!outer) size = end - first;
  index[0] = first;
  for (;;) {
    run(x, y, out, size, x_step, y_step);
    out += size * out_item;
    int axis = outer - 1;
    for (; axis >= 0; axis--) {
      x += x_strides[axis] * item;
      y += y_strides[axis] * item;
      if (++index[axis] < (axis ? sizes[axis] : end)) break;
      x -= x_strides[axis] * sizes[axis] * item;
      y -= y_strides[axis] * sizes[axis] * item;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

void broadcast_three(run_of_three *run, const byte *x, const byte *y, const byte *z, byte *out,
                     const int *parameters, int x_item, int item, int part, int parts) {
  int rank = parameters[0], outer = rank - 1, first, end;
  const int *sizes = parameters + 1, *x_strides = sizes + rank, *y_strides = x_strides + rank,
            *z_strides = y_strides + rank;
  int size = sizes[outer];
  int index[MAX_RANK] = {0};
  find_piece(sizes[0], outer ? 1 : 16, part, parts, &first, &end);
  if (first >= end) return;
  x += first * x_strides[0] * x_item;
  y += first * y_strides[0] * item;
  z += first * z_strides[0] * item;
  out += first * step_size(sizes, rank) * item;
  if (!outer) size = end - first;
  index[0] = first;
  for (;;) {
    run(x, y, z, out, size, x_strides[outer], y_strides[outer], z_strides[outer]);
    out += size * item;
    int axis = outer - 1;
    for (; axis >= 0; axis--) {
      x += x_strides[axis] * x_item;
      y += y_strides[axis] * item;
      z += z_strides[axis] * item;
      if (++index[axis] < (axis ? sizes[axis] : end)) break;
      x -= x_strides[axis] * sizes[axis] * x_item;
      y -= y_strides[axis] * sizes[axis] * item;
      z -= z_strides[axis] * sizes[axis] * item;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}
