#include "gemm.h"

const float zeros[BLOCK_DEPTH + 4] = {0};

/* -- the tile -------------------------------------------------------------------------------- */

/* Loads pinned where they stand, with constant offsets. Left to itself, LLVM hoists the broadcasts
 * of a whole step, which with 12 accumulators overflows the 16 vector registers of x86, and splits
 * addresses into extra instructions: the loop then runs at half its speed. */
#define LOAD_AT(TO, FROM, OFFSET)                                                                  \
  __asm__ volatile("local.get %1\nv128.load " #OFFSET ":p2align=2\nlocal.set %0"                   \
                   : "=r"(TO)                                                                      \
                   : "r"(FROM))
#define SPLAT_AT(TO, FROM, OFFSET)                                                                 \
  __asm__ volatile("local.get %1\nv128.load32_splat " #OFFSET ":p2align=2\nlocal.set %0"           \
                   : "=r"(TO)                                                                      \
                   : "r"(FROM))

#define ROW_STEP(ROW, A_OFFSET)                                                                    \
  SPLAT_AT(x, a, A_OFFSET);                                                                        \
  c##ROW##0 = vmadd(x, b0, c##ROW##0);                                                             \
  c##ROW##1 = vmadd(x, b1, c##ROW##1);

#define STEP(A0, A1, A2, A3, A4, A5, B0, B1)                                                       \
  LOAD_AT(b0, b, B0);                                                                              \
  LOAD_AT(b1, b, B1);                                                                              \
  ROW_STEP(0, A0) ROW_STEP(1, A1) ROW_STEP(2, A2) ROW_STEP(3, A3) ROW_STEP(4, A4) ROW_STEP(5, A5)

#define STORE_ROW(ROW)                                                                             \
  if (accumulate) {                                                                                \
    c##ROW##0 = c##ROW##0 + load((const float *)out);                                              \
    c##ROW##1 = c##ROW##1 + load((const float *)out + 4);                                          \
  }                                                                                                \
  store(out, c##ROW##0);                                                                           \
  store(out + 4, c##ROW##1);                                                                       \
  out += stride;

/* A function of its own, never inlined: engines optimize functions that are called often, and do
 * not replace one that is running. */
static void NOINLINE tile(int k, const float *a, const float *b, float *out, int stride,
                          int accumulate) {
  vf c00 = vset(0), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00;
  vf c30 = c00, c31 = c00, c40 = c00, c41 = c00, c50 = c00, c51 = c00;
  vf x, b0, b1;
  for (; k >= 4; k -= 4, a += 4 * TILE_ROWS, b += 4 * TILE_COLUMNS) {
    STEP(0, 4, 8, 12, 16, 20, 0, 16)
    STEP(24, 28, 32, 36, 40, 44, 32, 48)
    STEP(48, 52, 56, 60, 64, 68, 64, 80)
    STEP(72, 76, 80, 84, 88, 92, 96, 112)
  }
  for (; k > 0; k--, a += TILE_ROWS, b += TILE_COLUMNS) {
    STEP(0, 4, 8, 12, 16, 20, 0, 16)
  }
  STORE_ROW(0) STORE_ROW(1) STORE_ROW(2) STORE_ROW(3) STORE_ROW(4) STORE_ROW(5)
}

/* A tile that overhangs the result, or whose rows are scattered, goes through a buffer. */
static void NOINLINE edge_tile(int k, const float *a, const float *b, float *out,
                               const int *offsets, int accumulate, int rows, int columns) {
  float buffer[TILE_ROWS * TILE_COLUMNS];
  tile(k, a, b, buffer, TILE_COLUMNS, 0);
  for (int row = 0; row < rows; row++) {
    for (int column = 0; column < columns; column += 4) {
      float *to = out + offsets[row] + column;
      vf x = load((const float *)buffer + row * TILE_COLUMNS + column);
      if (accumulate) x = x + load((const float *)to);
      store_up_to(to, x, columns - column);
    }
  }
}

/* -- the loops around it --------------------------------------------------------------------- */

INLINE int smaller(int a, int b) { return a < b ? a : b; }

/* The distance between the rows of a whole tile, or 0 where they are not equally far apart. */
INLINE int common_stride(const int *offsets) {
  int stride = offsets[1] - offsets[0];
  for (int row = 2; row < TILE_ROWS; row++)
    if (offsets[row] - offsets[row - 1] != stride) return 0;
  return stride;
}

void gemm(int m, int n, int k, Left a, Right b, float *out, const Finish *finish, int part,
          int parts) {
  /* On the stack, because each thread has its own. */
  float packed_a[BLOCK_ROWS * BLOCK_DEPTH] __attribute__((aligned(64)));
  float packed_b[BLOCK_COLUMNS * BLOCK_DEPTH] __attribute__((aligned(64)));
  int offsets[BLOCK_ROWS];
  int first_row = 0, end_row = m, first_column = 0, end_column = n;
  if (n > m)
    find_piece(n, TILE_COLUMNS, part, parts, &first_column, &end_column);
  else
    find_piece(m, TILE_ROWS, part, parts, &first_row, &end_row);
  for (int column = first_column; column < end_column; column += BLOCK_COLUMNS) {
    int columns = smaller(end_column - column, BLOCK_COLUMNS);
    for (int k_first = 0; k_first < k; k_first += BLOCK_DEPTH) {
      int depth = smaller(k - k_first, BLOCK_DEPTH);
      int finishes = finish && finish->bias && k_first + depth == k;
      b.pack(b.source, packed_b, column, columns, k_first, depth);
      for (int row = first_row; row < end_row; row += BLOCK_ROWS) {
        int rows = smaller(end_row - row, BLOCK_ROWS);
        a.pack(a.source, packed_a, row, rows, k_first, depth);
        if (a.place)
          a.place(a.source, offsets, row, rows);
        else
          for (int i = 0; i < rows; i++) offsets[i] = (row + i) * n;
        for (int j = 0; j < columns; j += TILE_COLUMNS) {
          const float *panel_b = packed_b + j * depth;
          for (int i = 0; i < rows; i += TILE_ROWS) {
            const float *panel_a = packed_a + i * depth;
            int whole = rows - i >= TILE_ROWS && columns - j >= TILE_COLUMNS;
            int stride = whole ? common_stride(offsets + i) : 0;
            if (stride) {
              float *to = out + offsets[i] + column + j;
              tile(depth, panel_a, panel_b, to, stride, k_first > 0);
              if (finishes) finish_rows(finish, to, TILE_ROWS, stride, column + j, TILE_COLUMNS);
            } else {
              int height = smaller(rows - i, TILE_ROWS), width = smaller(columns - j, TILE_COLUMNS);
              float *to = out + column + j;
              edge_tile(depth, panel_a, panel_b, to, offsets + i, k_first > 0, height, width);
              for (int row = 0; finishes && row < height; row++)
                finish_rows(finish, to + offsets[i + row], 1, 0, column + j, width);
            }
          }
        }
      }
    }
  }
}

/* -- packing --------------------------------------------------------------------------------- */

#define TRANSPOSE(R0, R1, R2, R3, T0, T1, T2, T3)                                                  \
  {                                                                                                \
    v128_t low01 = wasm_i32x4_shuffle(R0, R1, 0, 4, 1, 5);                                         \
    v128_t low23 = wasm_i32x4_shuffle(R2, R3, 0, 4, 1, 5);                                         \
    v128_t high01 = wasm_i32x4_shuffle(R0, R1, 2, 6, 3, 7);                                        \
    v128_t high23 = wasm_i32x4_shuffle(R2, R3, 2, 6, 3, 7);                                        \
    T0 = wasm_i64x2_shuffle(low01, low23, 0, 2);                                                   \
    T1 = wasm_i64x2_shuffle(low01, low23, 1, 3);                                                   \
    T2 = wasm_i64x2_shuffle(high01, high23, 0, 2);                                                 \
    T3 = wasm_i64x2_shuffle(high01, high23, 1, 3);                                                 \
  }

void NOINLINE interleave_rows(const float *const rows[TILE_ROWS], int size, float *to) {
  const float *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3], *r4 = rows[4],
              *r5 = rows[5];
  int k = 0;
  for (; k + 4 <= size; k += 4, to += 4 * TILE_ROWS) {
    v128_t t0, t1, t2, t3;
    TRANSPOSE(wasm_v128_load(r0 + k), wasm_v128_load(r1 + k), wasm_v128_load(r2 + k),
              wasm_v128_load(r3 + k), t0, t1, t2, t3)
    v128_t x4 = wasm_v128_load(r4 + k), x5 = wasm_v128_load(r5 + k);
    v128_t low = wasm_i32x4_shuffle(x4, x5, 0, 4, 1, 5);
    v128_t high = wasm_i32x4_shuffle(x4, x5, 2, 6, 3, 7);
    wasm_v128_store(to, t0);
    wasm_v128_store64_lane(to + 4, low, 0);
    wasm_v128_store(to + 6, t1);
    wasm_v128_store64_lane(to + 10, low, 1);
    wasm_v128_store(to + 12, t2);
    wasm_v128_store64_lane(to + 16, high, 0);
    wasm_v128_store(to + 18, t3);
    wasm_v128_store64_lane(to + 22, high, 1);
  }
  for (; k < size; k++, to += TILE_ROWS) {
    to[0] = r0[k];
    to[1] = r1[k];
    to[2] = r2[k];
    to[3] = r3[k];
    to[4] = r4[k];
    to[5] = r5[k];
  }
}

void NOINLINE interleave_columns(const float *const columns[TILE_COLUMNS], int size, float *to) {
  for (int half = 0; half < 2; half++) {
    const float *c0 = columns[4 * half], *c1 = columns[4 * half + 1], *c2 = columns[4 * half + 2],
                *c3 = columns[4 * half + 3];
    float *out = to + 4 * half;
    int k = 0;
    for (; k + 4 <= size; k += 4, out += 4 * TILE_COLUMNS) {
      v128_t t0, t1, t2, t3;
      TRANSPOSE(wasm_v128_load(c0 + k), wasm_v128_load(c1 + k), wasm_v128_load(c2 + k),
                wasm_v128_load(c3 + k), t0, t1, t2, t3)
      wasm_v128_store(out, t0);
      wasm_v128_store(out + TILE_COLUMNS, t1);
      wasm_v128_store(out + 2 * TILE_COLUMNS, t2);
      wasm_v128_store(out + 3 * TILE_COLUMNS, t3);
    }
    for (; k < size; k++, out += TILE_COLUMNS) {
      out[0] = c0[k];
      out[1] = c1[k];
      out[2] = c2[k];
      out[3] = c3[k];
    }
  }
}

void pack_matrix_a(const void *source, float *panels, int first, int count, int k_first,
                   int k_count) {
  const Matrix *a = source;
  for (int i = 0; i < count; i += TILE_ROWS, panels += k_count * TILE_ROWS) {
    const float *from = a->data + (first + i) * a->row_stride + k_first * a->column_stride;
    int rows = smaller(count - i, TILE_ROWS);
    if (a->column_stride == 1) {
      const float *pointers[TILE_ROWS];
      for (int row = 0; row < TILE_ROWS; row++)
        pointers[row] = row < rows ? from + row * a->row_stride : zeros;
      interleave_rows(pointers, k_count, panels);
    } else if (rows == TILE_ROWS) { /* transposed: rows are side by side */
      for (int k = 0; k < k_count; k++, from += a->column_stride) {
        float *to = panels + k * TILE_ROWS;
        wasm_v128_store(to, wasm_v128_load(from));
        wasm_v128_store64_lane(to + 4, wasm_v128_load64_zero(from + 4), 0);
      }
    } else {
      for (int k = 0; k < k_count; k++, from += a->column_stride)
        for (int row = 0; row < TILE_ROWS; row++)
          panels[k * TILE_ROWS + row] = row < rows ? from[row] : 0;
    }
  }
}

void pack_matrix_b(const void *source, float *panels, int first, int count, int k_first,
                   int k_count) {
  const Matrix *b = source;
  for (int j = 0; j < count; j += TILE_COLUMNS, panels += k_count * TILE_COLUMNS) {
    const float *from = b->data + k_first * b->row_stride + (first + j) * b->column_stride;
    int columns = smaller(count - j, TILE_COLUMNS);
    if (b->column_stride != 1) { /* transposed */
      const float *pointers[TILE_COLUMNS];
      for (int column = 0; column < TILE_COLUMNS; column++)
        pointers[column] = column < columns ? from + column * b->column_stride : zeros;
      interleave_columns(pointers, k_count, panels);
    } else if (columns == TILE_COLUMNS) {
      for (int k = 0; k < k_count; k++, from += b->row_stride) {
        wasm_v128_store(panels + k * TILE_COLUMNS, wasm_v128_load(from));
        wasm_v128_store(panels + k * TILE_COLUMNS + 4, wasm_v128_load(from + 4));
      }
    } else {
      for (int k = 0; k < k_count; k++, from += b->row_stride)
        for (int column = 0; column < TILE_COLUMNS; column++)
          panels[k * TILE_COLUMNS + column] = column < columns ? from[column] : 0;
    }
  }
}
