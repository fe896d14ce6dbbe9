/* Chains: elementwise kernels one after the other, on blocks that stay in the first-level cache.
 *
 * chain(record, out, size, a, b, c, d, e, f, part, parts)
 *
 * The record is the number of links, then the links. A link has a code for each operand and for its
 * result: an index times four, plus a kind. A kind is an array of elements of four bytes, an array of
 * elements of one byte, a scalar, or a block on the stack. The last link writes to `out`.
 */
#include "elementwise.h"

#define BLOCK 2048
#define MOST_BLOCKS 24 /* as MOST_LINKS in backends/chains.py */

enum { FOUR_BYTES, ONE_BYTE, ONE_ELEMENT, ON_STACK };
enum { PARAMETERS_0, PARAMETERS_1, PARAMETERS_2, PARAMETERS_3, CAST, OF_TWO, OF_THREE };

typedef struct Link {
  int function; /* in link_functions */
  int form;     /* one of the above: how it is called */
  int operands[3], result;
  float parameters[3];
} Link;

typedef struct Operand {
  byte *address;
  int step; /* 1, or 0 for a scalar */
} Operand;

typedef void of_one_0(const void *x, void *out, int size, int part, int parts);
typedef void of_one_1(const void *x, void *out, int size, float p, int part, int parts);
typedef void of_one_2(const void *x, void *out, int size, float p, float q, int part, int parts);
typedef void of_one_3(const void *x, void *out, int size, float p, float q, float r, int part, int parts);
typedef void cast(const void *x, void *out, int size);

INLINE void run_link(const Link *link, const Operand *operands, byte *out, int size) {
  link_function *function = link_functions[link->function];
  const float *p = link->parameters;
  Operand x = operands[0], y = operands[1], z = operands[2];
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

EXPORT(chain)
void chain(const int *record, byte *out, int size, byte *a, byte *b, byte *c, byte *d, byte *e, byte *f,
           int part, int parts) {
  _Alignas(16) byte blocks[MOST_BLOCKS][BLOCK * sizeof(float)];
  byte *const inputs[] = {a, b, c, d, e, f};
  const int count = record[0];
  const Link *links = (const Link *)(record + 1);
  int first, end;
  find_piece(size, 16, part, parts, &first, &end);
  for (int begin = first; begin < end; begin += BLOCK) {
    int length = end - begin < BLOCK ? end - begin : BLOCK;
    for (const Link *link = links; link < links + count; link++) {
      Operand operands[4]; /* and the result */
      for (int i = 0; i < 4; i++) {
        int code = i < 3 ? link->operands[i] : link->result, index = code >> 2, kind = code & 3;
        byte *start = kind == ON_STACK ? blocks[index] : i < 3 ? inputs[index] : out;
        int item = kind == FOUR_BYTES ? 4 : kind == ONE_BYTE;
        operands[i] = (Operand){start + (intptr_t)begin * item, kind != ONE_ELEMENT};
      }
      run_link(link, operands, operands[3].address, length);
    }
  }
}
