/* Walking the outer axes of broadcast operands; the innermost is a run of the row's own loop. */
#include "elementwise.h"

void broadcast_two(run_of_two *run, const byte *x, const byte *y, byte *out, const int *parameters,
                   int item, int out_item) {
  int outer = parameters[0] - 1;
  const int *lengths = parameters + 1, *x_strides = lengths + outer + 1,
            *y_strides = x_strides + outer + 1;
  int size = lengths[outer], x_step = x_strides[outer], y_step = y_strides[outer];
  int index[MAX_RANK] = {0};
  for (;;) {
    run(x, y, out, size, x_step, y_step);
    out += size * out_item;
    int axis = outer - 1;
    for (; axis >= 0; axis--) {
      x += x_strides[axis] * item;
      y += y_strides[axis] * item;
      if (++index[axis] < lengths[axis]) break;
      x -= x_strides[axis] * lengths[axis] * item;
      y -= y_strides[axis] * lengths[axis] * item;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

void broadcast_three(run_of_three *run, const byte *x, const byte *y, const byte *z, byte *out,
                     const int *parameters, int x_item, int item) {
  int outer = parameters[0] - 1;
  const int *lengths = parameters + 1, *x_strides = lengths + outer + 1,
            *y_strides = x_strides + outer + 1, *z_strides = y_strides + outer + 1;
  int size = lengths[outer];
  int index[MAX_RANK] = {0};
  for (;;) {
    run(x, y, z, out, size, x_strides[outer], y_strides[outer], z_strides[outer]);
    out += size * item;
    int axis = outer - 1;
    for (; axis >= 0; axis--) {
      x += x_strides[axis] * x_item;
      y += y_strides[axis] * item;
      z += z_strides[axis] * item;
      if (++index[axis] < lengths[axis]) break;
      x -= x_strides[axis] * lengths[axis] * x_item;
      y -= y_strides[axis] * lengths[axis] * item;
      z -= z_strides[axis] * lengths[axis] * item;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}
