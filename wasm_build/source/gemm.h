/* Matrix multiplication by packed panels and register tiles (Goto & van de Geijn, Anatomy of
 * high-performance matrix multiplication, 2008).
 *
 * out (m, n) = A (m, k) B (k, n). Neither operand need exist as a matrix: a pack function writes
 * any block of it. B is packed as panels of TILE_COLUMNS columns: (k, column) at
 * [k * TILE_COLUMNS + column]; what lies beyond the last column is packed as zeros. A is best read
 * row by row, in place or from packed rows; where neighbours in memory are neighbours in a
 * column it is packed as panels of TILE_ROWS rows: (row, k) at [k * TILE_ROWS + row].
 */
#ifndef WEBTENSOR_GEMM_H
#define WEBTENSOR_GEMM_H

#include "epilogue.h"
#include "vector.h"

#define TILE_ROWS 6
#define TILE_COLUMNS 8

/* Cache blocks: a block of A (96 KB) stays in the second-level cache while a panel of B (8 KB)
 * stays in the first. Shallow products take more rows at once. Where A is read in place and B is
 * packed, panels may be as deep as 32 KB: they are read straight on, and results written once. */
#define BLOCK_A (96 * 256)
#define BLOCK_ROWS 384
#define BLOCK_DEPTH 256
#define BLOCK_DEPTH_IN_PLACE 1024
#define BLOCK_COLUMNS 1024

/* How many products are added one after another before their sum is added to the result. */
#define CHAIN 128

/* The columns of whole panels. */
INLINE int padded_columns(int columns) {
  return (columns + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
}

/* Writes rows (of A) or columns (of B) first … first + count - 1 and k_first … of the operand. */
typedef void pack_function(const void *source, float *to, int first, int count, int k_first,
                           int k_count);

/* Writes where rows first … first + count - 1 of the result begin, as offsets from `out`. */
typedef void place_function(const void *source, int *offsets, int first, int count);

/* A, and where its rows are in the result: at offsets that `place` writes, or if it is 0,
 * `result_stride` apart, which is n if that is 0, too. */
typedef enum { ROWS_IN_PLACE, PACKED_ROWS, PACKED_PANELS } LeftForm;
typedef struct {
  LeftForm form;
  const void *source; /* of ROWS_IN_PLACE: the first row */
  int stride;         /* of ROWS_IN_PLACE: from one row to the next */
  int segments, skip; /* of ROWS_IN_PLACE: equal parts of a row, if they lie apart, and their gap */
  pack_function *pack;
  place_function *place;
  int result_stride;
} Left;

/* B: panels of the whole of it, or what packs them. Rows in segments need the whole, and no more
 * than BLOCK_DEPTH of it. */
typedef struct {
  const float *packed;
  pack_function *pack;
  const void *source;
} Right;

/* Computes one part of the result: rows of it, or columns where it has few rows. */
void gemm(int m, int n, int k, Left a, Right b, float *out, const Epilogue *epilogue, int part,
          int parts);

/* A product of packed operands that fit the cache: `form` is that of A, and all panels of B are
 * whole. The result's rows are `stride` apart; the product is added to them if `accumulates`. */
typedef struct {
  int rows, columns, depth;
  LeftForm form; /* not ROWS_IN_PLACE */
  int stride, accumulates;
} BlockProduct;

void multiply_block(const BlockProduct *product, const float *a, const float *panels, float *out);

/* Element (row, column) is data[row * row_stride + column * column_stride]. */
typedef struct {
  const float *data;
  int row_stride, column_stride;
} Matrix;

pack_function pack_panels_a, pack_panels_b;

/* Zeros to point at in place of rows that lie outside an operand. */
#define MAX_ZEROS 1024
extern const float zeros[MAX_ZEROS + 4];

/* to[k * TILE_COLUMNS + i] = columns[i][k]. */
void interleave_columns(const float *const columns[TILE_COLUMNS], int size, float *to);

#endif
