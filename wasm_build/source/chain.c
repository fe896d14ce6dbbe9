/* Chains: elementwise calls that one function computes in registers. These functions are generated
 * when a program is compiled (backends/wasm/chain_functions.py), and added to the function table.
 *
 * chain(record, out, size, a, b, c, d, e, f, g, h, part, parts)
 * chain_multiply(record, out, m, a, b, c, d, e, f, g, h, part, parts) multiplies the elements as a
 * matrix; two ints precede its record (chain.h).
 */
#include "chain.h"

static void NOINLINE compute_in_row(const Chain *chain, int begin, int size, byte *out) {
  const Rows *rows = chain->rows;
  const int axes = rows->axes, *sizes = rows->rest, *operand = sizes + axes;
  const byte *x[MAX_OPERANDS];
  int row = begin / rows->columns, column = begin - row * rows->columns, index[MAX_RANK];
  for (int axis = axes - 1; axis >= 0; axis--) {
    index[axis] = row % sizes[axis];
    row /= sizes[axis];
  }
  for (int i = 0; i < rows->operands; i++, operand += 2 + axes) {
    int item = operand[0], offset = column * operand[1];
    for (int axis = 0; axis < axes; axis++) offset += index[axis] * operand[2 + axis];
    x[i] = chain->inputs[i] + (intptr_t)offset * item;
  }
  rows->compute(out, size, operand, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
}

/* How many of the elements from `begin` on are in one row. */
INLINE int size_in_row(const Chain *chain, int begin, int size) {
  int columns = chain->rows->columns, left = columns - begin % columns;
  return size < left ? size : left;
}

void compute_chain(const Chain *chain, int begin, int size, byte *out) {
  while (size > 0) {
    int length = size_in_row(chain, begin, size);
    compute_in_row(chain, begin, length, out);
    begin += length;
    size -= length;
    out += length * chain->rows->out_item;
  }
}

EXPORT(chain)
void chain(const int *record, byte *out, int size, byte *a, byte *b, byte *c, byte *d, byte *e,
           byte *f, byte *g, byte *h, int part, int parts) {
  const Chain chain = start_chain(record, a, b, c, d, e, f, g, h);
  const int item = chain.rows->out_item;
  int begin, end;
  find_piece(size, 16, part, parts, &begin, &end);
  while (begin < end) {
    int length = size_in_row(&chain, begin, end - begin), whole = length & ~3;
    byte *to = out + (intptr_t)begin * item;
    if (whole) compute_in_row(&chain, begin, whole, to);
    if (length > whole) { /* a whole vector would reach into what another thread may write */
      _Alignas(16) byte last[16];
      compute_in_row(&chain, begin + whole, length - whole, last);
      __builtin_memcpy(to + whole * item, last, (length - whole) * item);
    }
    begin += length;
  }
}

/* -- products with few columns --------------------------------------------------------------- */

#define MAX_COLUMNS 4
/* Elements that are multiplied at a time stay in the first-level cache. */
#define BLOCK 1024

/* totals[c] += the sum of x * column c, lane by lane. Sums of blocks are added up, so that rounding
 * errors do not grow with all terms. */
INLINE void add_products(const float *x, const float *const *columns, int size, vf *totals,
                         int count) {
  vf even[MAX_COLUMNS], odd[MAX_COLUMNS];
  for (int c = 0; c < count; c++) even[c] = odd[c] = vset(0);
  int i = 0;
  for (; i + 8 <= size; i += 8) {
    for (int c = 0; c < count; c++) even[c] = vmadd(load(x + i), load(columns[c] + i), even[c]);
    for (int c = 0; c < count; c++)
      odd[c] = vmadd(load(x + i + 4), load(columns[c] + i + 4), odd[c]);
  }
  for (; i < size; i += 4) {
    for (int c = 0; c < count; c++) {
      vf sum = vmadd(load(x + i), load(columns[c] + i), even[c]);
      even[c] = vsel(first_lanes(size - i), sum, even[c]);
    }
  }
  for (int c = 0; c < count; c++) totals[c] += even[c] + odd[c];
}

/* The chain computes m rows of `depth` elements; the last operand has `count` columns of that
 * length, one after the other. The record begins with the count and the depth. */
EXPORT(chain_multiply)
void chain_multiply(const int *record, float *out, int m, byte *a, byte *b, byte *c, byte *d,
                    byte *e, byte *f, byte *g, byte *h, int part, int parts) {
  const int count = record[0], depth = record[1];
  const Chain chain = start_chain(record + 2, a, b, c, d, e, f, g, h);
  const float *right = (const float *)chain.inputs[chain.rows->operands];
  _Alignas(16) float x[BLOCK + 3];
  int row, last;
  find_piece(m, 1, part, parts, &row, &last);
  for (; row < last; row++) {
    vf totals[MAX_COLUMNS] = {0};
    for (int k = 0; k < depth; k += BLOCK) {
      const int size = depth - k < BLOCK ? depth - k : BLOCK;
      compute_chain(&chain, row * depth + k, size, (byte *)x);
      const float *columns[MAX_COLUMNS];
      for (int i = 0; i < count; i++) columns[i] = right + i * depth + k;
      switch (count) {
        case 1: add_products(x, columns, size, totals, 1); break;
        case 2: add_products(x, columns, size, totals, 2); break;
        case 3: add_products(x, columns, size, totals, 3); break;
        default: add_products(x, columns, size, totals, MAX_COLUMNS);
      }
    }
    for (int i = 0; i < count; i++) out[row * count + i] = lanes_sum(totals[i]);
  }
}
