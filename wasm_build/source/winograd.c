/* Convolutions with filters of 3 x 3 and stride 1, by Winograd's minimal filtering F(2 x 2, 3 x 3)
 * (Lavin and Gray, Fast algorithms for convolutional neural networks, 2016).
 *
 * The output is cut into tiles of 2 x 2 pixels, each of which reads 4 x 4 of the input. Input tiles
 * and filters are transformed to 16 numbers per channel; a product of matrices for each of the 16
 * positions, channels with channels, gives the transformed output. So a tile takes 16 products for
 * each pair of channels, instead of 36.
 */
#include "gemm.h"
#include "window.h"

#define POSITIONS 16

/* The transformed input and output of a block of tiles, in floats, fit the second-level cache. With
 * many channels the input is larger: the products of a block then take longer than reading the
 * filter anew for it. */
#define BLOCK_INPUT (64 << 10)
#define MANY_CHANNELS 256
#define BLOCK_OF_MANY (240 << 10)
#define BLOCK_TILES 96
#define BLOCK_OUTPUT (32 << 10)
/* Keeps the planes of positions from displacing one another from the first-level cache. */
#define PLANE_GAP 16

/* -- transforms ------------------------------------------------------------------------------ */

/* Each is applied along both axes. */

INLINE void transform_input(vf a, vf b, vf c, vf d, vf to[4]) {
  to[0] = a - c;
  to[1] = b + c;
  to[2] = c - b;
  to[3] = b - d;
}

INLINE void transform_filter(vf a, vf b, vf c, vf to[4]) {
  vf outer = (a + c) * vset(0.5f), inner = b * vset(0.5f);
  to[0] = a;
  to[1] = outer + inner;
  to[2] = outer - inner;
  to[3] = c;
}

INLINE void transform_gradient(vf a, vf b, vf to[4]) {
  to[0] = a;
  to[1] = a + b;
  to[2] = a - b;
  to[3] = -b;
}

INLINE void transform_filter_back(vf a, vf b, vf c, vf d, vf to[3]) {
  vf even = (b + c) * vset(0.5f);
  to[0] = a + even;
  to[1] = (b - c) * vset(0.5f);
  to[2] = even + d;
}

/* -- filters --------------------------------------------------------------------------------- */

/* A transformed filter: for each group and position, panels of a matrix (channels, columns). */
typedef struct {
  const float *panels; /* `own`, or those of the packed filter */
  float own[] __attribute__((aligned(16)));
} TransformedFilter;

/* A filter (3, 3, channels, columns), or, if reversed, the rotation by 180 degrees of one that is
 * stored as (3, 3, columns, channels). Rows of what is stored are `row` apart, as those of several
 * groups lie side by side. */
typedef struct {
  const float *data;
  int channels, columns, reversed, row;
} Filter;

/* Loads the taps of a channel at a position of the filter, for four columns. */
INLINE vf load_taps(const Filter *filter, int row, int across, int channel, int column) {
  if (!filter->reversed)
    return load(filter->data + ((row * 3 + across) * filter->channels + channel) * filter->row +
                column);
  const float *from =
      filter->data + ((2 - row) * 3 + 2 - across) * filter->columns * filter->row + channel;
  int last = filter->columns - 1;
  return (vf){from[column * filter->row], from[smaller(column + 1, last) * filter->row],
              from[smaller(column + 2, last) * filter->row],
              from[smaller(column + 3, last) * filter->row]};
}

/* Writes four columns of all positions' panels; those beyond the last column are zeros. */
INLINE void transform_columns(const Filter *filter, int column, float *panels, int plane) {
  vi mask = first_lanes(filter->columns - column);
  for (int channel = 0; channel < filter->channels; channel++) {
    vf half[3][4], whole[4];
    for (int j = 0; j < 3; j++)
      transform_filter(load_taps(filter, 0, j, channel, column),
                       load_taps(filter, 1, j, channel, column),
                       load_taps(filter, 2, j, channel, column), half[j]);
    for (int i = 0; i < 4; i++) {
      transform_filter(half[0][i], half[1][i], half[2][i], whole);
      for (int j = 0; j < 4; j++)
        store(panels + (4 * i + j) * plane + channel * TILE_COLUMNS, vsel(mask, whole[j], vset(0)));
    }
  }
}

/* Transforms the filters of groups, each of `channels` and `columns`, unless they are packed. */
EXPORT(winograd_filter)
void winograd_filter(const float *data, TransformedFilter *transformed,
                     const TransformedFilter *packed, int channels, int columns, int groups,
                     int reversed) {
  transformed->panels = packed ? packed->own : transformed->own;
  if (packed) return;
  int width = reversed ? channels : columns, plane = padded_columns(columns) * channels;
  for (int group = 0; group < groups; group++) {
    Filter filter = {data + group * width, channels, columns, reversed, groups * width};
    float *own = transformed->own + group * POSITIONS * plane;
    for (int column = 0; column < padded_columns(columns); column += 4) {
      int in_panel = column % TILE_COLUMNS;
      float *panels = own + (column - in_panel) * channels + in_panel;
      transform_columns(&filter, column, panels, plane);
    }
  }
}

/* -- tiles ----------------------------------------------------------------------------------- */

/* A tile: its image, and the first of its output pixels. */
typedef struct {
  int image, row, column;
} Tile;

INLINE int tiles_across(const Window *w) { return (w->out_width + 1) / 2; }
INLINE int tiles_down(const Window *w) { return (w->out_height + 1) / 2; }
INLINE int count_tiles(const Window *w) { return w->batch * tiles_down(w) * tiles_across(w); }

INLINE Tile find_tile(const Window *w, int number) {
  int across = tiles_across(w), down = tiles_down(w);
  int line = number / across, image = line / down;
  return (Tile){image, 2 * (line - image * down), 2 * (number - line * across)};
}

/* The output pixels of a tile: the first, and whether there is a second row and a second column. */
typedef struct {
  int pixel, two_down, two_across;
} Outputs;

INLINE Outputs find_outputs(const Window *w, int number) {
  Tile tile = find_tile(w, number);
  int pixel = (tile.image * w->out_height + tile.row) * w->out_width + tile.column;
  return (Outputs){pixel, tile.row + 1 < w->out_height, tile.column + 1 < w->out_width};
}

/* The pixels of the input that a tile reads; zeros where they are outside. */
typedef struct {
  const float *at[4][4];
} Pixels;

INLINE Pixels find_pixels(const float *x, const Window *w, int number) {
  Tile tile = find_tile(w, number);
  Pixels pixels;
  for (int i = 0; i < 4; i++) {
    int y = tile.row - w->pad_top + i;
    for (int j = 0; j < 4; j++) {
      int at = tile.column - w->pad_left + j;
      int is_inside = (unsigned)y < (unsigned)w->in_height && (unsigned)at < (unsigned)w->in_width;
      int pixel = (tile.image * w->in_height + y) * w->in_width + at;
      pixels.at[i][j] = is_inside ? x + pixel * w->in_channels : zeros;
    }
  }
  return pixels;
}

/* Transforms four channels of a tile. */
INLINE void transform_pixels(const Pixels *pixels, int channel, vf to[4][4]) {
  vf half[4][4];
  for (int j = 0; j < 4; j++)
    transform_input(load(pixels->at[0][j] + channel), load(pixels->at[1][j] + channel),
                    load(pixels->at[2][j] + channel), load(pixels->at[3][j] + channel), half[j]);
  for (int i = 0; i < 4; i++)
    transform_input(half[0][i], half[1][i], half[2][i], half[3][i], to[i]);
}

/* Writes the transformed input of tiles from `first` on as (position, tile, channel). */
static void NOINLINE transform_tiles(const float *x, const Window *w, int first, int count,
                                     float *to, int plane) {
  for (int t = first; t < first + count; t++, to += w->in_channels) {
    Pixels pixels = find_pixels(x, w, t);
    for (int c = 0; c < w->in_channels; c += 4) {
      vf whole[4][4];
      transform_pixels(&pixels, c, whole);
      for (int i = 0; i < POSITIONS; i++) store(to + i * plane + c, whole[i / 4][i % 4]);
    }
  }
}

static void NOINLINE store_last(float *to, vf x, int count) { store_part(to, x, count); }

/* As `store_up_to`, with less code. */
INLINE void store_columns(float *to, vf x, int count) {
  if (count >= 4) store(to, x);
  else store_last(to, x, count);
}

/* Computes columns of the output from the products (position, tile, column) of tiles from `first`
 * on, whose rows are `stride` apart. Pixels of the output are `all` columns apart. */
static void NOINLINE transform_output(const float *sums, int plane, int stride, const Window *w,
                                      int first, int count, float *out, int all,
                                      const Epilogue *epilogue, int column, int columns) {
  Clipping clipping = clipping_of(epilogue);
  const float *bias = clipping.bias ? clipping.bias + column : zeros;
  for (int t = first; t < first + count; t++, sums += stride) {
    Outputs outputs = find_outputs(w, t);
    int two_down = outputs.two_down, two_across = outputs.two_across;
    float *to = out + outputs.pixel * all + column, *below = to + w->out_width * all;
    for (int c = 0; c < columns; c += 4) {
      vf upper[4], lower[4];
      for (int j = 0; j < 4; j++) {
        const float *from = sums + j * plane + c;
        vf a = load(from), b = load(from + 4 * plane), d = load(from + 8 * plane);
        upper[j] = a + b + d;
        lower[j] = b - d - load(from + 12 * plane);
      }
      vf added = load(bias + c);
      int rest = columns - c;
#define FINISHED(X) vclamp((X) + added, clipping.low, clipping.high)
      store_columns(to + c, FINISHED(upper[0] + upper[1] + upper[2]), rest);
      if (two_across) store_columns(to + all + c, FINISHED(upper[1] - upper[2] - upper[3]), rest);
      if (!two_down) continue;
      store_columns(below + c, FINISHED(lower[0] + lower[1] + lower[2]), rest);
      if (two_across)
        store_columns(below + all + c, FINISHED(lower[1] - lower[2] - lower[3]), rest);
#undef FINISHED
    }
    if (needs_epilogue(epilogue)) {
      apply_epilogue(epilogue, to, 1 + two_across, all, column, columns);
      if (two_down) apply_epilogue(epilogue, below, 1 + two_across, all, column, columns);
    }
  }
}

/* -- the convolution ------------------------------------------------------------------------- */

/* Convolves one group, whose filter has these panels. */
static void convolve(const float *x, const float *panels, float *out, const Window *w, int all,
                     const Epilogue *epilogue, int part, int parts) {
  float input[BLOCK_OF_MANY + POSITIONS * (PLANE_GAP + 4)] __attribute__((aligned(64)));
  float output[BLOCK_OUTPUT + POSITIONS * PLANE_GAP] __attribute__((aligned(64)));
  int channels = w->in_channels, columns = padded_columns(w->out_channels), first, end;
  find_piece(count_tiles(w), TILE_ROWS, part, parts, &first, &end);
  int block = channels > MANY_CHANNELS ? BLOCK_OF_MANY : BLOCK_INPUT;
  int block_tiles = smaller(block / POSITIONS / channels / TILE_ROWS * TILE_ROWS, BLOCK_TILES);
  int block_columns = BLOCK_OUTPUT / POSITIONS / block_tiles / TILE_COLUMNS * TILE_COLUMNS;
  for (int tile = first; tile < end; tile += block_tiles) {
    int count = smaller(end - tile, block_tiles), plane = count * channels + PLANE_GAP;
    transform_tiles(x, w, tile, count, input, plane);
    for (int column = 0; column < columns; column += block_columns) {
      int wide = smaller(columns - column, block_columns), out_plane = count * wide + PLANE_GAP;
      BlockProduct product = {count, wide, channels, PACKED_ROWS, wide, 0};
      for (int position = 0; position < POSITIONS; position++)
        multiply_block(&product, input + position * plane,
                       panels + (position * columns + column) * channels,
                       output + position * out_plane);
      transform_output(output, out_plane, wide, w, tile, count, out, all, epilogue, column,
                       smaller(wide, w->out_channels - column));
    }
  }
}

/* x is (groups, batch, height, width, channels of one). */
EXPORT(winograd_conv2d)
void winograd_conv2d(const float *x, const TransformedFilter *filter, float *out, const Window *w,
                     int groups, const float *bias, int activation, float alpha,
                     const float *slopes, const float *residual, int part, int parts) {
  Window one = window_of_group(w, groups);
  int plane = padded_columns(one.out_channels) * one.in_channels;
  for (int group = 0; group < groups; group++) {
    Epilogue epilogue =
        epilogue_from(bias, activation, alpha, slopes, residual, out, group * one.out_channels);
    convolve(x + group * images_size(&one), filter->panels + group * POSITIONS * plane,
             out + group * one.out_channels, &one, w->out_channels, &epilogue, part, parts);
  }
}

/* -- the filter's gradient -------------------------------------------------------------------- */

/* Each step is the transpose of one above. For each position, the gradient of the transformed
 * filter is the transposed input times the output's gradient, both transformed, summed over all
 * tiles. */

/* Writes the transformed input as panels of channels: (position, panel, tile, channel in it). */
static void NOINLINE pack_transformed_tiles(const float *x, const Window *w, int first, int count,
                                            float *to, int plane) {
  for (int t = 0; t < count; t++, to += TILE_ROWS) {
    Pixels pixels = find_pixels(x, w, first + t);
    float *panel = to;
    for (int c = 0; c < w->in_channels; c += TILE_ROWS, panel += count * TILE_ROWS) {
#pragma clang loop unroll(disable) /* it is large */
      for (int row = 0; row < TILE_ROWS; row += 4) {
        vf whole[4][4];
        transform_pixels(&pixels, c + row, whole);
        for (int i = 0; i < POSITIONS; i++) {
          float *at = panel + i * plane + row;
          if (row == 0) store(at, whole[i / 4][i % 4]);
          else store_part(at, whole[i / 4][i % 4], TILE_ROWS - 4);
        }
      }
    }
  }
}

/* Writes columns of the output's gradient, transformed tile by tile, as panels. */
static void NOINLINE pack_transformed_gradients(const float *dy, const Window *w, int first,
                                                int count, int column, int columns, float *to,
                                                int plane) {
  int all = w->out_channels;
  for (int t = 0; t < count; t++) {
    Outputs outputs = find_outputs(w, first + t);
    int two_down = outputs.two_down, two_across = outputs.two_across;
    const float *from = dy + outputs.pixel * all, *below = from + w->out_width * all;
    for (int c = 0; c < columns; c += 4) {
      vi mask = first_lanes(all - column - c);
      vf none = vset(0), half[2][4], whole[4];
      int at = column + c;
      vf a = vsel(mask, load(from + at), none);
      vf b = two_across ? vsel(mask, load(from + all + at), none) : none;
      vf d = two_down ? vsel(mask, load(below + at), none) : none;
      vf e = two_down && two_across ? vsel(mask, load(below + all + at), none) : none;
      transform_gradient(a, d, half[0]);
      transform_gradient(b, e, half[1]);
      int in_panel = c % TILE_COLUMNS;
      float *panel = to + (c - in_panel) * count + t * TILE_COLUMNS + in_panel;
      for (int i = 0; i < 4; i++) {
        transform_gradient(half[0][i], half[1][i], whole);
        for (int j = 0; j < 4; j++) store(panel + (4 * i + j) * plane, whole[j]);
      }
    }
  }
}

/* Writes columns of the filter's gradient. */
static void NOINLINE transform_columns_back(const float *sums, int plane, int stride,
                                            const Window *w, int first, int end, float *out) {
  int channels = w->in_channels, columns = w->out_channels;
  for (int k = 0; k < channels; k++, sums += stride) {
    for (int c = first; c < end; c += 4) {
      vf half[4][3], whole[3];
      for (int j = 0; j < 4; j++) {
        const float *from = sums + j * plane + c;
        transform_filter_back(load(from), load(from + 4 * plane), load(from + 8 * plane),
                           load(from + 12 * plane), half[j]);
      }
      for (int i = 0; i < 3; i++) {
        transform_filter_back(half[0][i], half[1][i], half[2][i], half[3][i], whole);
        for (int j = 0; j < 3; j++)
          store_columns(out + ((i * 3 + j) * channels + k) * columns + c, whole[j], end - c);
      }
    }
  }
}

/* `sums` is scratch memory for the gradient of the transformed filter. Threads share columns. */
EXPORT(winograd_filter_gradient)
void winograd_filter_gradient(const float *x, const float *dy, float *out, float *sums,
                              const Window *w, int part, int parts) {
  float input[BLOCK_INPUT + POSITIONS * PLANE_GAP] __attribute__((aligned(64)));
  float output[BLOCK_OUTPUT + POSITIONS * PLANE_GAP] __attribute__((aligned(64)));
  int channels = w->in_channels, stride = padded_columns(w->out_channels), first, end;
  int panels = (channels + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS, tiles = count_tiles(w);
  find_piece(w->out_channels, TILE_COLUMNS, part, parts, &first, &end);
  int block_tiles = smaller(BLOCK_INPUT / POSITIONS / panels, BLOCK_TILES);
  int block_columns = BLOCK_OUTPUT / POSITIONS / block_tiles / TILE_COLUMNS * TILE_COLUMNS;
  for (int tile = 0; tile < tiles && first < end; tile += block_tiles) {
    int count = smaller(tiles - tile, block_tiles), plane = count * panels + PLANE_GAP;
    pack_transformed_tiles(x, w, tile, count, input, plane);
    for (int column = first; column < end; column += block_columns) {
      int wide = smaller(padded_columns(end - column), block_columns);
      int out_plane = count * wide + PLANE_GAP;
      pack_transformed_gradients(dy, w, tile, count, column, wide, output, out_plane);
      BlockProduct product = {channels, wide, count, PACKED_PANELS, stride, tile > 0};
      for (int position = 0; position < POSITIONS; position++)
        multiply_block(&product, input + position * plane, output + position * out_plane,
                       sums + position * channels * stride + column);
    }
  }
  transform_columns_back(sums, channels * stride, stride, w, first, end, out);
}
