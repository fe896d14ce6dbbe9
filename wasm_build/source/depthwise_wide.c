/* Depthwise convolutions by filters of five and seven columns, four channels of some outputs side by
 * side at a time.
 *
 * The sums of these outputs stay in registers, and so do the weights of a row of the filter, while
 * the columns of the input that the outputs reach over pass by, each read once. Inputs and filter
 * are copied, sixteen channels side by side, so that loads have constant offsets, and inputs with
 * zeros around them, so that no column is a special case.
 */
#include "depthwise.h"

/* Sums of the products of `count` rows of the input, from `offset` on, and of the filter. */
typedef struct {
  const float *const *rows;
  const float *weights;
  int count, offset;
} Tile;
typedef void tile_function(const Tile *tile, vf *sums);

#define CHANNELS_AT_ONCE 16 /* they share a cache line */
#define MOST_OUTPUTS 8
#define PIXEL_BYTES (CHANNELS_AT_ONCE * sizeof(float))

INLINE void compute_tile(const Tile *tile, vf *to, int width, int stride, int outputs) {
  vf sums[MOST_OUTPUTS], weights[7], column;
#pragma unroll
  for (int output = 0; output < outputs; output++) sums[output] = vset(0);
  const float *from = tile->weights;
  for (int row = 0; row < tile->count; row++, from += width * CHANNELS_AT_ONCE) {
    const float *x = tile->rows[row] + tile->offset;
#pragma unroll
    for (int tap = 0; tap < width; tap++) LOAD_AT(weights[tap], from, tap * PIXEL_BYTES);
#pragma unroll
    for (int i = 0; i < (outputs - 1) * stride + width; i++) {
      LOAD_AT(column, x, i * PIXEL_BYTES);
#pragma unroll
      for (int output = 0; output < outputs; output++) {
        int tap = i - output * stride;
        if (tap >= 0 && tap < width) ADD_PRODUCT(sums[output], column, weights[tap]);
      }
    }
  }
#pragma unroll
  for (int output = 0; output < outputs; output++) to[output] = sums[output];
}

static void NOINLINE tile_of_5(const Tile *tile, vf *sums) { compute_tile(tile, sums, 5, 1, 8); }
static void NOINLINE tile_of_5_by_2(const Tile *tile, vf *sums) {
  compute_tile(tile, sums, 5, 2, 8);
}
static void NOINLINE tile_of_7(const Tile *tile, vf *sums) { compute_tile(tile, sums, 7, 1, 7); }

/* As many outputs as sixteen registers have room for, beside the weights. */
static const struct Kind { int width, stride, outputs; tile_function *compute; } kinds[] = {
    {5, 1, 8, tile_of_5}, {5, 2, 8, tile_of_5_by_2}, {7, 1, 7, tile_of_7}};

/* The kind of tiles for a window's width and stride, or 0. */
static const struct Kind *kind_of(const Window *w) {
  for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
    if (kinds[i].width == w->filter_width && kinds[i].stride == w->stride_width) return kinds + i;
  return 0;
}

/* The pixels that whole tiles of a line reach over. */
INLINE int reach_of_line(const Window *w, int outputs) {
  int whole = (w->out_width + outputs - 1) / outputs * outputs;
  return (whole - 1) * w->stride_width + w->filter_width;
}

/* Whether slots of so many pixels fit, with room for `others`. */
INLINE int fits_copies(const Window *w, int pixels, int others) {
  return reach_of_rows(w) <= MOST_COPIED_ROWS && pixels <= MOST_COPIED && others <= MOST_COPIED &&
         (reach_of_rows(w) * pixels + others) * CHANNELS_AT_ONCE <= MOST_COPIED;
}

int is_wide(const Window *w) {
  const struct Kind *kind = kind_of(w);
  return kind && w->dilation_width == 1 && multiplier_of(w) == 1 &&
         inside(w->pad_left, w->filter_width) &&
         fits_copies(w, reach_of_line(w, kind->outputs), w->filter_height * w->filter_width);
}

void depthwise_wide(const float *x, const float *filter, float *out, const Window *w,
                    const Clipping *clipping, int first, int end) {
  const struct Kind *kind = kind_of(w);
  int outputs = kind->outputs;
  RowCopies copies;
  copies.slots = reach_of_rows(w);
  copies.pixels = reach_of_line(w, outputs);
  copies.channels = CHANNELS_AT_ONCE;
  __builtin_memset(copies.data, 0, copies.slots * copies.pixels * PIXEL_BYTES);
  float *weights = copies.data + copies.slots * copies.pixels * CHANNELS_AT_ONCE;
  int channels = w->in_channels, width = w->filter_width;
  int count = w->in_width;
  if (count > copies.pixels - w->pad_left) count = copies.pixels - w->pad_left;
  vf low = vset(clipping->low), high = vset(clipping->high), bias = vset(0);
  for (int group = 0; group < channels; group += CHANNELS_AT_ONCE) {
    copy_channels(filter + group, channels, weights, CHANNELS_AT_ONCE, w->filter_height * width);
    forget_rows(&copies);
    for (int line = first; line < end; line++) {
      int image = line / w->out_height, first_row = 0;
      int top = (line - image * w->out_height) * w->stride_height - w->pad_top;
      const float *rows[MOST_COPIED_ROWS];
      Tile tile = {.rows = rows};
      for (int i = 0; i < w->filter_height; i++) {
        int y = top + i * w->dilation_height;
        if (!inside(y, w->in_height)) continue;
        if (tile.count == 0) first_row = i;
        rows[tile.count++] = copied_row(&copies, x, w, image, y, group, w->pad_left, count);
      }
      float *to = out + line * w->out_width * channels;
      for (int c = group; c < channels && c < group + CHANNELS_AT_ONCE; c += 4) {
        if (clipping->bias) bias = load(clipping->bias + c);
        tile.weights = weights + first_row * width * CHANNELS_AT_ONCE + c - group;
        for (int column = 0; column < w->out_width; column += outputs) {
          vf sums[MOST_OUTPUTS];
          tile.offset = column * w->stride_width * CHANNELS_AT_ONCE + c - group;
          kind->compute(&tile, sums);
          for (int i = 0; i < outputs && column + i < w->out_width; i++)
            store_up_to(to + (column + i) * channels + c, vclamp(sums[i] + bias, low, high),
                        channels - c);
        }
      }
    }
  }
}
