#include "gemm.h"

const float zeros[MAX_ZEROS + 4] = {0};

/* -- tiles ----------------------------------------------------------------------------------- */

/* How a tile is computed: tiles one below the other, `tiles` of them, each of all the rows that the
 * function is for. Row i of the first reads a[i * a_stride …], `depth` elements of which k at a
 * time lie together, with `skip` others between. `bias` is added to all rows, and so is what `out`
 * has if `accumulates`. Strips of rows may add a `residual`, too, whose rows lie `residual_stride`
 * apart; negative sums are then multiplied by `slopes`. */
typedef struct {
  int tiles, depth, k, skip, a_stride, stride, accumulates, residual_stride;
  const float *a, *b, *bias, *residual, *slopes;
  float *out, low, high;
} Strip;

#define EACH_OF_1(DO, ...) DO(0, __VA_ARGS__)
#define EACH_OF_2(DO, ...) EACH_OF_1(DO, __VA_ARGS__) DO(1, __VA_ARGS__)
#define EACH_OF_3(DO, ...) EACH_OF_2(DO, __VA_ARGS__) DO(2, __VA_ARGS__)
#define EACH_OF_4(DO, ...) EACH_OF_3(DO, __VA_ARGS__) DO(3, __VA_ARGS__)
#define EACH_OF_5(DO, ...) EACH_OF_4(DO, __VA_ARGS__) DO(4, __VA_ARGS__)
#define EACH_OF_6(DO, ...) EACH_OF_5(DO, __VA_ARGS__) DO(5, __VA_ARGS__)

#define MULTIPLY_ROW(ROW, FROM, OFFSET)                                                            \
  SPLAT_AT(x, FROM, OFFSET);                                                                       \
  ADD_PRODUCT(c##ROW##0, x, b0);                                                                   \
  ADD_PRODUCT(c##ROW##1, x, b1);

#define START_ROW(ROW, ...) vf c##ROW##0 = vset(0), c##ROW##1 = c##ROW##0;

/* Rounding errors grow with the number of terms that are added one after another, and with the
 * largest of the sums on the way: CHAIN terms are a sum of their own, which is added to the result,
 * and a bias is added last. The chains begin at the same terms however the product is cut into
 * blocks, so that its elements do not depend on that. */
#define ADD_ROW(ROW, ...)                                                                          \
  c##ROW##0 = c##ROW##0 + load((const float *)sums);                                               \
  c##ROW##1 = c##ROW##1 + load((const float *)sums + 4);                                           \
  sums += stride;

#define END_CHAIN_OF_ROW(ROW, ...)                                                                 \
  store(sums, c##ROW##0);                                                                          \
  store(sums + 4, c##ROW##1);                                                                      \
  c##ROW##0 = c##ROW##1 = vset(0);                                                                 \
  sums += stride;

#define STORE_ROW(ROW, ...)                                                                        \
  store(out, vclamp(c##ROW##0 + bias0, low, high));                                                \
  store(out + 4, vclamp(c##ROW##1 + bias1, low, high));                                            \
  out += stride;

#define SLOPED(X, SLOPES) vsel((X) < 0, (X) * SLOPES, (X))

#define FINISH_ROW(ROW, ...)                                                                       \
  c##ROW##0 = c##ROW##0 + bias0 + load(residual);                                                  \
  c##ROW##1 = c##ROW##1 + bias1 + load(residual + 4);                                              \
  store(out, vclamp(SLOPED(c##ROW##0, slopes0), low, high));                                       \
  store(out + 4, vclamp(SLOPED(c##ROW##1, slopes1), low, high));                                   \
  out += stride;                                                                                   \
  residual += residual_stride;

/* -- tiles that read rows of A -- */

#define ROW_POINTER(ROW, ...) const float *a##ROW = a + ROW * a_stride;
#define ROW_STEP(ROW, OFFSET) MULTIPLY_ROW(ROW, a##ROW, OFFSET)
#define ADVANCE_ROW(ROW, COUNT) a##ROW += COUNT;

#define ROWS_STEP(EACH_OF, A, B0, B1)                                                              \
  LOAD_AT(b0, b, B0);                                                                              \
  LOAD_AT(b1, b, B1);                                                                              \
  EACH_OF(ROW_STEP, A)

/* A function for each number of rows, never inlined: engines optimize functions that are called
 * often, and do not replace one that is running. */
#define DEFINE_ROWS_STRIP(ROWS)                                                                    \
  static void NOINLINE rows_strip_##ROWS(const Strip *strip) {                                     \
    int a_stride = strip->a_stride, stride = strip->stride, skip = strip->skip;                    \
    int residual_stride = strip->residual_stride;                                                  \
    const float *a = strip->a, *residual = strip->residual;                                        \
    float *out = strip->out, *sums;                                                                \
    for (int tiles = strip->tiles; tiles > 0; tiles--, a += ROWS * a_stride) {                     \
      const float *b = strip->b;                                                                   \
      int together = strip->k, chain = CHAIN, accumulates = strip->accumulates;                    \
      EACH_OF_##ROWS(ROW_POINTER, )                                                                \
      EACH_OF_##ROWS(START_ROW, )                                                                  \
      vf x, b0, b1;                                                                                \
      for (int depth = strip->depth;;) {                                                           \
        int k = smaller(depth, smaller(together, chain));                                          \
        depth -= k;                                                                                \
        together -= k;                                                                             \
        chain -= k;                                                                                \
        for (; k >= 4; k -= 4) {                                                                   \
          ROWS_STEP(EACH_OF_##ROWS, 0, 0, 16)                                                      \
          ROWS_STEP(EACH_OF_##ROWS, 4, 32, 48)                                                     \
          ROWS_STEP(EACH_OF_##ROWS, 8, 64, 80)                                                     \
          ROWS_STEP(EACH_OF_##ROWS, 12, 96, 112)                                                   \
          EACH_OF_##ROWS(ADVANCE_ROW, 4)                                                           \
          b += 4 * TILE_COLUMNS;                                                                   \
        }                                                                                          \
        for (; k > 0; k--) {                                                                       \
          ROWS_STEP(EACH_OF_##ROWS, 0, 0, 16)                                                      \
          EACH_OF_##ROWS(ADVANCE_ROW, 1)                                                           \
          b += TILE_COLUMNS;                                                                       \
        }                                                                                          \
        if (depth == 0) break;                                                                     \
        if (together == 0) {                                                                       \
          EACH_OF_##ROWS(ADVANCE_ROW, skip)                                                        \
          together = strip->k;                                                                     \
        }                                                                                          \
        if (chain == 0) {                                                                          \
          sums = out;                                                                              \
          if (accumulates) { EACH_OF_##ROWS(ADD_ROW, ) }                                           \
          sums = out;                                                                              \
          EACH_OF_##ROWS(END_CHAIN_OF_ROW, )                                                       \
          accumulates = 1;                                                                         \
          chain = CHAIN;                                                                           \
        }                                                                                          \
      }                                                                                            \
      sums = out;                                                                                  \
      if (accumulates) { EACH_OF_##ROWS(ADD_ROW, ) }                                               \
      vf low = vset(strip->low), high = vset(strip->high);                                         \
      vf bias0 = load(strip->bias), bias1 = load(strip->bias + 4);                                 \
      if (residual) {                                                                              \
        vf slopes0 = load(strip->slopes), slopes1 = load(strip->slopes + 4);                       \
        EACH_OF_##ROWS(FINISH_ROW, )                                                               \
      } else {                                                                                     \
        EACH_OF_##ROWS(STORE_ROW, )                                                                \
      }                                                                                            \
    }                                                                                              \
  }

DEFINE_ROWS_STRIP(1)
DEFINE_ROWS_STRIP(2)
DEFINE_ROWS_STRIP(3)
DEFINE_ROWS_STRIP(4)
DEFINE_ROWS_STRIP(5)
DEFINE_ROWS_STRIP(6)

/* How many rows fit into 16 vector registers: one more is needed for a product before it is added,
 * and one is the engine's. */
#ifdef __wasm_relaxed_simd__
#define TALLEST 6
#else
#define TALLEST 5
#endif

static void rows_strip(const Strip *strip, int height) {
  switch (height) {
    case 1: rows_strip_1(strip); return;
    case 2: rows_strip_2(strip); return;
    case 3: rows_strip_3(strip); return;
    case 4: rows_strip_4(strip); return;
    case 5: rows_strip_5(strip); return;
    case 6: rows_strip_6(strip); return;
  }
}

/* -- tiles that read panels of A -- */

#define PANEL_STEP(A0, A1, A2, A3, A4, A5, B0, B1)                                                 \
  LOAD_AT(b0, b, B0);                                                                              \
  LOAD_AT(b1, b, B1);                                                                              \
  MULTIPLY_ROW(0, a, A0) MULTIPLY_ROW(1, a, A1) MULTIPLY_ROW(2, a, A2)                             \
  MULTIPLY_ROW(3, a, A3) MULTIPLY_ROW(4, a, A4) MULTIPLY_ROW(5, a, A5)

static void NOINLINE panels_strip(const Strip *strip) {
  int stride = strip->stride;
  const float *a = strip->a;
  float *out = strip->out, *sums;
  for (int tiles = strip->tiles; tiles > 0; tiles--) {
    const float *b = strip->b;
    EACH_OF_6(START_ROW, )
    vf x, b0, b1;
    int k = strip->depth;
    for (; k >= 4; k -= 4, a += 4 * TILE_ROWS, b += 4 * TILE_COLUMNS) {
      PANEL_STEP(0, 4, 8, 12, 16, 20, 0, 16)
      PANEL_STEP(24, 28, 32, 36, 40, 44, 32, 48)
      PANEL_STEP(48, 52, 56, 60, 64, 68, 64, 80)
      PANEL_STEP(72, 76, 80, 84, 88, 92, 96, 112)
    }
    for (; k > 0; k--, a += TILE_ROWS, b += TILE_COLUMNS) {
      PANEL_STEP(0, 4, 8, 12, 16, 20, 0, 16)
    }
    sums = out;
    if (strip->accumulates) { EACH_OF_6(ADD_ROW, ) }
    vf low = vset(strip->low), high = vset(strip->high);
    vf bias0 = load(strip->bias), bias1 = load(strip->bias + 4);
    EACH_OF_6(STORE_ROW, )
  }
}

/* -- narrow panels --------------------------------------------------------------------------- */

/* The columns of a panel with few of them, one after the other: rows of A, in place or packed, are
 * multiplied with these as dot products, because most of a tile would be computed for nothing. */
#define NARROW 4
#define DOT_ROWS 3
/* The minimum rows and depth: taking the columns out, and adding up lanes, take their time, too. */
#define DOT_MIN_ROWS 16
#define DOT_MIN_DEPTH 32

typedef struct {
  int count;
  int size;  /* from one column to the next */
  float data[NARROW * BLOCK_DEPTH_IN_PLACE];
} Columns;

/* Takes columns out of a panel, with zeros up to whole vectors. */
static void NOINLINE take_columns(const float *panel, int count, int depth, Columns *to) {
  to->count = count;
  to->size = (depth + 3) & -4;
  for (int column = 0; column < count; column++) {
    float *data = to->data + column * to->size;
    for (int k = 0; k < depth; k++) data[k] = panel[k * TILE_COLUMNS + column];
    for (int k = depth; k < to->size; k++) data[k] = 0;
  }
}

/* The sums of the lanes of each of four vectors. */
INLINE vf sums_of_lanes(const vf x[NARROW]) {
  v128_t a = (v128_t)x[0], b = (v128_t)x[1], c = (v128_t)x[2], d = (v128_t)x[3];
  vf ab = (vf)wasm_i32x4_shuffle(a, b, 0, 4, 1, 5) + (vf)wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
  vf cd = (vf)wasm_i32x4_shuffle(c, d, 0, 4, 1, 5) + (vf)wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
  return (vf)wasm_i64x2_shuffle((v128_t)ab, (v128_t)cd, 0, 2) +
         (vf)wasm_i64x2_shuffle((v128_t)ab, (v128_t)cd, 1, 3);
}

/* Adds `terms` products, up to four, of each row with each column. */
INLINE void add_products(const float *const rows[DOT_ROWS], const Columns *columns, int count,
                         int k, int terms, vf sums[DOT_ROWS][NARROW]) {
  vf column[NARROW];
  for (int i = 0; i < count; i++) column[i] = load(columns->data + i * columns->size + k);
  for (int row = 0; row < DOT_ROWS; row++) {
    vf x = load(rows[row] + k);
    if (terms < 4) x = vsel(first_lanes(terms), x, vset(0));
    for (int i = 0; i < count; i++) sums[row][i] = vmadd(x, column[i], sums[row][i]);
  }
}

/* Adds the products of rows with all columns to `sums`, a vector for each row. Chains of terms are
 * sums of their own (see ADD_ROW), here in four lanes. */
INLINE void add_dot_products(const float *const rows[DOT_ROWS], const Columns *columns, int count,
                             int depth, vf sums[DOT_ROWS]) {
  for (int first = 0, end; first < depth; first = end) {
    vf lanes[DOT_ROWS][NARROW];
    for (int row = 0; row < DOT_ROWS; row++)
      for (int i = 0; i < NARROW; i++) lanes[row][i] = vset(0);
    int k = first;
    end = smaller(depth, first + 2 * CHAIN);
    for (; k + 4 <= end; k += 4) add_products(rows, columns, count, k, 4, lanes);
    if (k < end) add_products(rows, columns, count, k, end - k, lanes);
    for (int row = 0; row < DOT_ROWS; row++) sums[row] = sums[row] + sums_of_lanes(lanes[row]);
  }
}

#define DEFINE_DOT_PRODUCTS(COUNT)                                                                 \
  static void NOINLINE add_dot_products_##COUNT(const float *const rows[DOT_ROWS],                 \
                                                const Columns *columns, int depth,                 \
                                                vf sums[DOT_ROWS]) {                               \
    add_dot_products(rows, columns, COUNT, depth, sums);                                           \
  }

DEFINE_DOT_PRODUCTS(2)
DEFINE_DOT_PRODUCTS(3)
DEFINE_DOT_PRODUCTS(4)

/* -- the loops around them ------------------------------------------------------------------- */

/* A block of the result: rows that share columns of B. */
typedef struct {
  int rows, depth;
  const float *a;
  int a_stride; /* 0: panels */
  int segments, skip;
  int accumulates, ends;
  const int *offsets; /* where rows begin in the result, or 0 where they are `stride` apart */
  int stride;
  const Epilogue *epilogue;
  Clipping clipping;
  const Columns *narrow; /* the columns of the last panel; 0: panels are multiplied as tiles */
} Block;

/* A panel of B, and where the block's first row has its columns in the result. */
typedef struct {
  const float *b;
  float *out;
  int column, columns;
} Panel;

INLINE void compute(const Strip *strip, int height) {
  if (strip->a_stride)
    rows_strip(strip, height);
  else
    panels_strip(strip);
}

/* Where a row of the block has the panel's columns in the result. */
INLINE float *row_of(const Block *block, const Panel *panel, int row) {
  return panel->out + (block->offsets ? block->offsets[row] : row * block->stride);
}

/* What is done to the panel's columns of the result: nothing before the last terms are added. */
INLINE Clipping clipping_at(const Block *block, const Panel *panel) {
  Clipping clipping = {zeros, -VINF, VINF};
  if (block->ends) {
    clipping.low = block->clipping.low;
    clipping.high = block->clipping.high;
    if (block->clipping.bias) clipping.bias = block->clipping.bias + panel->column;
  }
  return clipping;
}

/* Tiles that overhang the result, or whose rows are scattered, go through a buffer. */
#define BUFFERED_TILES 8

static void NOINLINE buffered_tiles(const Block *block, const Panel *panel, Strip strip, int row,
                                    int height) {
  float buffer[BUFFERED_TILES * TILE_ROWS * TILE_COLUMNS];
  vf low = vset(strip.low), high = vset(strip.high);
  int rows = smaller(strip.tiles * height, block->rows - row), columns = panel->columns;
  strip.out = buffer;
  strip.stride = TILE_COLUMNS;
  strip.low = -VINF;
  strip.high = VINF;
  float *tile_row = buffer;
  if (block->accumulates) { /* sums go on from there, as those of whole tiles do */
    for (int i = row; i < row + rows; i++, tile_row += TILE_COLUMNS) {
      const float *sums = row_of(block, panel, i);
      for (int c = 0; c < columns; c += 4) store(tile_row + c, load(sums + c));
    }
  }
  compute(&strip, height);
  tile_row = buffer;
  for (int i = row; i < row + rows; i++, tile_row += TILE_COLUMNS) {
    float *to = row_of(block, panel, i);
    for (int c = 0; c < columns; c += 4)
      store_up_to(to + c, vclamp(load((const float *)tile_row + c), low, high), columns - c);
    if (block->ends && needs_epilogue(block->epilogue))
      apply_epilogue(block->epilogue, to, 1, 0, panel->column, columns);
  }
}

/* Lets a strip apply an epilogue, if it reads rows and the activation has slopes or limits alone;
 * returns whether it does. `alphas` has room for two vectors. */
static int fuse_epilogue(Strip *strip, const Epilogue *epilogue, int column, float *alphas) {
  int activation = epilogue->activation;
  if (!strip->a_stride || activation == ELU || activation == SIGMOID) return 0;
  for (int c = 0; c < TILE_COLUMNS; c++) alphas[c] = activation == LEAKY_RELU ? epilogue->alpha : 1;
  strip->slopes = activation == PRELU ? epilogue->slopes + column : alphas;
  find_limits(activation, &strip->low, &strip->high);
  strip->bias = epilogue->bias + column;
  strip->residual = no_residual;
  if (epilogue->residual) {
    strip->residual = epilogue->residual + (strip->out - epilogue->result);
    strip->residual_stride = strip->stride;
  }
  return 1;
}

/* Computes tiles of equal height from a row of the block on. */
static void multiply_tiles(const Block *block, const Panel *panel, int row, int tiles, int height) {
  int a_step = block->a_stride ? block->a_stride : block->depth; /* from a row to the next */
  Clipping clipping = clipping_at(block, panel);
  Strip strip = {.tiles = tiles,
                 .depth = block->depth,
                 .k = block->depth / block->segments,
                 .skip = block->skip,
                 .a_stride = block->a_stride,
                 .stride = block->stride,
                 .accumulates = block->accumulates,
                 .bias = clipping.bias,
                 .a = block->a + row * a_step,
                 .b = panel->b,
                 .out = panel->out + row * block->stride,
                 .low = clipping.low,
                 .high = clipping.high};
  if (panel->columns == TILE_COLUMNS && !block->offsets && row + tiles * height <= block->rows) {
    float alphas[TILE_COLUMNS];
    int needs_pass = block->ends && needs_epilogue(block->epilogue) &&
                     !fuse_epilogue(&strip, block->epilogue, panel->column, alphas);
    compute(&strip, height);
    if (needs_pass)
      apply_epilogue(block->epilogue, strip.out, tiles * height, block->stride, panel->column,
                     panel->columns);
    return;
  }
  for (; tiles > 0; tiles -= strip.tiles) {
    strip.tiles = smaller(tiles, BUFFERED_TILES);
    buffered_tiles(block, panel, strip, row, height);
    row += strip.tiles * height;
    strip.a += strip.tiles * height * a_step;
  }
}

static void NOINLINE multiply_narrow(const Block *block, const Panel *panel) {
  const Columns *columns = block->narrow;
  Clipping clipping = clipping_at(block, panel);
  vf low = vset(clipping.low), high = vset(clipping.high), bias = load(clipping.bias);
  for (int first = 0; first < block->rows; first += DOT_ROWS) {
    int count = smaller(block->rows - first, DOT_ROWS);
    const float *rows[DOT_ROWS];
    float *to[DOT_ROWS];
    vf sums[DOT_ROWS];
#pragma clang loop unroll(disable)
    for (int i = 0; i < DOT_ROWS; i++) { /* the last row stands in for those beyond */
      int row = first + smaller(i, count - 1);
      rows[i] = block->a + row * block->a_stride;
      to[i] = row_of(block, panel, row);
      sums[i] = block->accumulates ? load((const float *)to[i]) : vset(0);
    }
    switch (columns->count) {
      case 1: /* as two, the other of which is not stored */
      case 2: add_dot_products_2(rows, columns, block->depth, sums); break;
      case 3: add_dot_products_3(rows, columns, block->depth, sums); break;
      case 4: add_dot_products_4(rows, columns, block->depth, sums); break;
    }
    for (int i = 0; i < count; i++) {
      store_up_to(to[i], vclamp(sums[i] + bias, low, high), columns->count);
      if (block->ends && needs_epilogue(block->epilogue))
        apply_epilogue(block->epilogue, to[i], 1, 0, panel->column, columns->count);
    }
  }
}

static void NOINLINE multiply_panel(const Block *block, const Panel *panel) {
  if (block->narrow && panel->columns <= NARROW) {
    multiply_narrow(block, panel);
  } else if (block->a_stride) { /* rows are spread evenly over tiles */
    int tiles = (block->rows + TALLEST - 1) / TALLEST, height = block->rows / tiles;
    int taller = block->rows - tiles * height;
    if (taller) multiply_tiles(block, panel, 0, taller, height + 1);
    multiply_tiles(block, panel, taller * (height + 1), tiles - taller, height);
  } else {
    int tiles = block->rows / TILE_ROWS;
    if (tiles) multiply_tiles(block, panel, 0, tiles, TILE_ROWS);
    if (tiles * TILE_ROWS < block->rows)
      multiply_tiles(block, panel, tiles * TILE_ROWS, 1, TILE_ROWS);
  }
}

void gemm(int m, int n, int k, Left a, Right b, float *out, const Epilogue *epilogue, int part,
          int parts) {
  /* On the stack, because each thread has its own; packed rows are written in whole vectors. */
  float packed_a[BLOCK_A + TILE_ROWS * BLOCK_DEPTH + 4] __attribute__((aligned(64)));
  float packed_b[BLOCK_COLUMNS * BLOCK_DEPTH] __attribute__((aligned(64)));
  int offsets[BLOCK_ROWS + TILE_ROWS];
  int first_row = 0, end_row = m, first_column = 0, end_column = n;
  /* Threads that share columns all pack A, if it is packed; those that share rows all pack B. */
  if (n > m && (!b.packed || m < 2 * TILE_ROWS * parts))
    find_piece(n, TILE_COLUMNS, part, parts, &first_column, &end_column);
  else
    find_piece(m, TILE_ROWS, part, parts, &first_row, &end_row);
  int stride = a.result_stride ? a.result_stride : n;
  Block block = {.stride = stride, .epilogue = epilogue, .clipping = clipping_of(epilogue)};
  block.segments = a.segments ? a.segments : 1;
  block.skip = a.skip;
  if (a.place) block.offsets = offsets;
  Columns narrow;
  int has_dots = a.form != PACKED_PANELS && block.segments == 1 && m >= DOT_MIN_ROWS &&
                 k >= DOT_MIN_DEPTH;
  int widest = b.packed ? n : BLOCK_COLUMNS;
  int deepest = b.packed && a.form == ROWS_IN_PLACE ? BLOCK_DEPTH_IN_PLACE : BLOCK_DEPTH;
  for (int column = first_column; column < end_column; column += widest) {
    int columns = smaller(end_column - column, widest);
    for (int k_first = 0; k_first < k; k_first += deepest) {
      int depth = block.depth = smaller(k - k_first, deepest);
      block.accumulates = k_first > 0;
      block.ends = k_first + depth == k;
      if (!b.packed) b.pack(b.source, packed_b, column, columns, k_first, depth);
      const float *panels = b.packed ? b.packed + column * k + k_first * TILE_COLUMNS : packed_b;
      int panel_depth = b.packed ? k : depth, last = (columns - 1) / TILE_COLUMNS * TILE_COLUMNS;
      block.narrow = 0;
      if (has_dots && columns - last <= NARROW) {
        take_columns(panels + last * panel_depth, columns - last, depth, &narrow);
        block.narrow = &narrow;
      }
      int most_rows = smaller(BLOCK_A / depth / TILE_ROWS * TILE_ROWS, BLOCK_ROWS);
      for (int row = first_row; row < end_row; row += block.rows) {
        block.rows = end_row - row;
        /* The last block takes a few rows more rather than leave them to one of their own. */
        if (block.rows > most_rows + TILE_ROWS) block.rows = most_rows;
        if (a.form == ROWS_IN_PLACE) {
          block.a = (const float *)a.source + row * a.stride + k_first;
          block.a_stride = a.stride;
        } else {
          a.pack(a.source, packed_a, row, block.rows, k_first, depth);
          block.a = packed_a;
          block.a_stride = a.form == PACKED_ROWS ? depth : 0;
        }
        if (a.place) a.place(a.source, offsets, row, block.rows);
        float *corner = out + column + (a.place ? 0 : row * stride);
        for (int j = 0; j < columns; j += TILE_COLUMNS) {
          Panel panel = {panels + j * panel_depth, corner + j, column + j,
                         smaller(columns - j, TILE_COLUMNS)};
          multiply_panel(&block, &panel);
        }
      }
    }
  }
}

void multiply_block(const BlockProduct *product, const float *a, const float *panels, float *out) {
  int depth = product->depth;
  Block block = {.rows = product->rows,
                 .depth = depth,
                 .a = a,
                 .a_stride = product->form == PACKED_ROWS ? depth : 0,
                 .segments = 1,
                 .accumulates = product->accumulates,
                 .ends = 1,
                 .stride = product->stride,
                 .clipping = {0, -VINF, VINF}};
  for (int j = 0; j < product->columns; j += TILE_COLUMNS) {
    Panel panel = {panels + j * depth, out + j, j, TILE_COLUMNS};
    multiply_panel(&block, &panel);
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

void pack_panels_a(const void *source, float *panels, int first, int count, int k_first,
                   int k_count) {
  const Matrix *a = source;
  for (int i = 0; i < count; i += TILE_ROWS, panels += k_count * TILE_ROWS) {
    const float *from = a->data + (first + i) * a->row_stride + k_first * a->column_stride;
    int rows = smaller(count - i, TILE_ROWS);
    if (rows == TILE_ROWS && a->row_stride == 1) {
      for (int k = 0; k < k_count; k++, from += a->column_stride) {
        float *to = panels + k * TILE_ROWS;
        wasm_v128_store(to, wasm_v128_load(from));
        wasm_v128_store64_lane(to + 4, wasm_v128_load64_zero(from + 4), 0);
      }
    } else {
      for (int k = 0; k < k_count; k++, from += a->column_stride)
        for (int row = 0; row < TILE_ROWS; row++)
          panels[k * TILE_ROWS + row] = row < rows ? from[row * a->row_stride] : 0;
    }
  }
}

void pack_panels_b(const void *source, float *panels, int first, int count, int k_first,
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

/* Packs the whole of a matrix, for products that are computed more than once: groups of (k, n) side
 * by side. */
EXPORT(pack_weights)
void pack_weights(const float *data, float *panels, int k, int n, int row_stride, int column_stride,
                  int groups) {
  for (int group = 0; group < groups; group++) {
    Matrix matrix = {data + group * n * column_stride, row_stride, column_stride};
    for (int column = 0; column < n; column += TILE_COLUMNS) {
      for (int k_first = 0; k_first < k; k_first += BLOCK_DEPTH) {
        int depth = smaller(k - k_first, BLOCK_DEPTH);
        pack_panels_b(&matrix, panels, column, smaller(n - column, TILE_COLUMNS), k_first, depth);
        panels += depth * TILE_COLUMNS;
      }
    }
  }
}
