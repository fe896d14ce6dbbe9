/* What kernels of chains share.
 *
 * The elements are seen as rows along which each operand has stride 1 or 0. A record is, as ints:
 * the number of the function that computes the chain, how many operands there are, the bytes of an
 * element of the result, the columns of a row, how many axes the rows have, the sizes of these
 * axes, outermost first; for each operand the bytes of an element, its stride along a row, and
 * those along the axes of rows, in elements; then, as floats, the parameters of the table's rows.
 */
#ifndef WEBTENSOR_CHAIN_H
#define WEBTENSOR_CHAIN_H

#include "vector.h"

#define MAX_RANK 60
#define MAX_OPERANDS 8 /* as in backends/chains.py */

/* Computes elements from these addresses on, in whole vectors: up to three more than `size`. */
typedef void chain_function(byte *out, int size, const int *parameters, const byte *a,
                            const byte *b, const byte *c, const byte *d, const byte *e,
                            const byte *f, const byte *g, const byte *h);

typedef struct Rows {
  chain_function *compute; /* a number in the table, as all addresses of functions are */
  int operands, out_item, columns, axes;
  int rest[];
} Rows;

typedef struct Chain {
  const Rows *rows;
  const byte *inputs[MAX_OPERANDS];
} Chain;

INLINE Chain start_chain(const int *record, const byte *a, const byte *b, const byte *c,
                         const byte *d, const byte *e, const byte *f, const byte *g,
                         const byte *h) {
  return (Chain){(const Rows *)record, {a, b, c, d, e, f, g, h}};
}

/* Compute elements from `begin` on. `out` has room for three more. */
void compute_chain(const Chain *chain, int begin, int size, byte *out);

#endif
