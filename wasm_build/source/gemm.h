/* Matrix multiplication by packed panels and register tiles (Goto & van de Geijn, Anatomy of
 * high-performance matrix multiplication, 2008).
 *
 * out (m, n) = A (m, k) B (k, n). Neither operand need exist as a matrix: a pack function writes
 * any block of it as panels. A panel of A is TILE_ROWS rows, k-major: element (row, k) at
 * [k * TILE_ROWS + row]; a panel of B is TILE_COLUMNS columns: (k, column) at
 * [k * TILE_COLUMNS + column]. What lies beyond the last row or column is packed as zeros.
 */
#ifndef WEBTENSOR_GEMM_H
#define WEBTENSOR_GEMM_H

#include "finish.h"
#include "vector.h"

#define TILE_ROWS 6
#define TILE_COLUMNS 8

/* Cache blocks: a block of A (96 × 256 floats) stays in the second-level cache while a panel of B
 * (8 KB) stays in the first. */
#define BLOCK_ROWS 96
#define BLOCK_DEPTH 256
#define BLOCK_COLUMNS 1024

/* Writes rows (of A) or columns (of B) first … first + count - 1 and k_first … of the operand. */
typedef void pack_function(const void *source, float *panels, int first, int count, int k_first,
                           int k_count);

/* Writes where rows first … first + count - 1 of the result begin, as offsets from `out`. */
typedef void place_function(const void *source, int *offsets, int first, int count);

/* A and where its rows go in the result: one after another where `place` is 0. */
typedef struct {
  pack_function *pack;
  const void *source;
  place_function *place;
} Left;

typedef struct {
  pack_function *pack;
  const void *source;
} Right;

/* Computes one part of the result: rows of it, or columns where it is wider than high. */
void gemm(int m, int n, int k, Left a, Right b, float *out, const Finish *finish, int part,
          int parts);

/* Element (row, column) is data[row * row_stride + column * column_stride]. */
typedef struct {
  const float *data;
  int row_stride, column_stride;
} Matrix;

pack_function pack_matrix_a, pack_matrix_b;

/* Zeros to point at in place of rows that lie outside an operand. */
extern const float zeros[BLOCK_DEPTH + 4];

/* to[k * TILE_ROWS + i] = rows[i][k] and likewise for columns. */
void interleave_rows(const float *const rows[TILE_ROWS], int size, float *to);
void interleave_columns(const float *const columns[TILE_COLUMNS], int size, float *to);

#endif
