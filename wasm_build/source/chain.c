/* Chains: elementwise kernels one after the other, on blocks that stay in the first-level cache.
 *
 * chain(record, out, size, a, b, c, d, e, f, part, parts)
 *
 * The result is seen as rows along whose elements each operand has stride 1 or 0. A block is a piece
 * of a row. The record is, as ints: how many operands there are, the bytes of an element of `out`, the
 * columns of a row, how many axes the rows have, the sizes of these axes, outermost first; for each
 * operand the bytes of an element, its stride along a row, and those along the axes of rows, in
 * elements; then the number of links, and the links. A link has the numbers of its operands and of its
 * result: those of the chain's operands, and then those of blocks on the stack. The last link writes to
 * `out`.
 */
#include "elementwise.h"

#define BLOCK 1024
#define MOST_BLOCKS 24 /* as MOST_LINKS in backends/chains.py */
#define MOST_OPERANDS 6

enum { PARAMETERS_0, PARAMETERS_1, PARAMETERS_2, PARAMETERS_3, CAST, OF_TWO, OF_THREE };

typedef struct Link {
  int function; /* in link_functions */
  int form;     /* one of the above: how it is called */
  int operands[3], result;
  float parameters[3];
} Link;

typedef struct Rows {
  int operands, out_item, columns, axes;
  int rest[]; /* of the record, up to the number of links */
} Rows;

typedef struct Value {
  byte *address;
  int step; /* 1, or 0 where one element is met by a whole row */
} Value;

typedef void of_one_0(const void *x, void *out, int size, int part, int parts);
typedef void of_one_1(const void *x, void *out, int size, float p, int part, int parts);
typedef void of_one_2(const void *x, void *out, int size, float p, float q, int part, int parts);
typedef void of_one_3(const void *x, void *out, int size, float p, float q, float r, int part, int parts);
typedef void cast(const void *x, void *out, int size);

INLINE void run_link(const Link *link, const Value *values, byte *out, int size) {
  link_function *function = link_functions[link->function];
  const float *p = link->parameters;
  Value x = values[link->operands[0]], y = values[link->operands[1]], z = values[link->operands[2]];
  switch (link->form) {
    case PARAMETERS_0: ((of_one_0 *)function)(x.address, out, size, 0, 0); break;
    case PARAMETERS_1: ((of_one_1 *)function)(x.address, out, size, p[0], 0, 0); break;
    case PARAMETERS_2: ((of_one_2 *)function)(x.address, out, size, p[0], p[1], 0, 0); break;
    case PARAMETERS_3: ((of_one_3 *)function)(x.address, out, size, p[0], p[1], p[2], 0, 0); break;
    case CAST: ((cast *)function)(x.address, out, size); break;
    case OF_TWO:
      ((run_of_two *)function)(x.address, y.address, out, size, x.step, y.step);
      break;
    case OF_THREE:
      ((run_of_three *)function)(x.address, y.address, z.address, out, size, x.step, y.step, z.step);
  }
}

/* Find where the operands have the elements from a column of a row on. */
static const int *place_operands(const Rows *rows, byte *const *inputs, int row, int column,
                                 Value *values) {
  const int axes = rows->axes, *sizes = rows->rest, *source = sizes + axes;
  int index[MAX_RANK];
  for (int axis = axes - 1; axis >= 0; axis--) {
    index[axis] = row % sizes[axis];
    row /= sizes[axis];
  }
  for (int i = 0; i < rows->operands; i++, source += 2 + axes) {
    int item = source[0], step = source[1], offset = column * step;
    for (int axis = 0; axis < axes; axis++) offset += index[axis] * source[2 + axis];
    values[i] = (Value){inputs[i] + (intptr_t)offset * item, step};
  }
  return source;
}

INLINE int smallest(int a, int b, int c) {
  int of_two = a < b ? a : b;
  return of_two < c ? of_two : c;
}

/* Unary kernels and casts write whole vectors, and so beyond a piece of a row, where another thread
 * may write. */
INLINE int overhangs(const Link *link, int length) { return link->form <= CAST && length & 3; }

EXPORT(chain)
void chain(const Rows *rows, byte *out, int size, byte *a, byte *b, byte *c, byte *d, byte *e, byte *f,
           int part, int parts) {
  _Alignas(16) byte blocks[MOST_BLOCKS + 1][BLOCK * sizeof(float)];
  byte *const inputs[] = {a, b, c, d, e, f}, *last = blocks[MOST_BLOCKS];
  Value values[MOST_OPERANDS + MOST_BLOCKS];
  for (int i = 0; i < MOST_BLOCKS; i++) values[rows->operands + i] = (Value){blocks[i], 1};
  int begin, end, length;
  find_piece(size, 16, part, parts, &begin, &end);
  for (; begin < end; begin += length) {
    int row = begin / rows->columns, column = begin - row * rows->columns;
    length = smallest(end - begin, rows->columns - column, BLOCK);
    const int *record = place_operands(rows, inputs, row, column, values);
    const Link *link = (const Link *)(record + 1), *final = link + record[0] - 1;
    for (; link < final; link++) run_link(link, values, values[link->result].address, length);
    byte *to = out + (intptr_t)begin * rows->out_item;
    run_link(final, values, overhangs(final, length) ? last : to, length);
    if (overhangs(final, length)) __builtin_memcpy(to, last, length * rows->out_item);
  }
}
