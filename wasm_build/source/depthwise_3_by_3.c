/* Depthwise convolutions by filters of three rows and columns.
 *
 * Four channels of a few output pixels at a time: their sums stay in registers, and what their
 * columns have in common is read once. Channels follow one another, as they do in memory.
 */
#include "depthwise.h"

/* How many channels are computed in a turn: their weights stay in the first-level cache. */
#define MOST_CHANNELS 256
#define CACHE_LINE 16 /* elements */
#define TAPS 9
static const float zeros[MOST_CHANNELS + 4];

/* A line of output pixels. With dilation, columns that are `dilation_width` apart are separate
 * lines. */
typedef struct {
  const float *rows[3]; /* where the first column lies; rows outside the input are zeros … */
  int steps[3];         /* … that do not move on */
  int before, columns;  /* how many columns are missing before the first, and how many there are */
  int outputs, inner, inner_end; /* outputs, and those whose columns are all there */
  const float *weights; /* nine vectors for each four channels */
  const float *bias;
  float *out;
  int out_step, channels;
  vf low, high;
} Line;

/* Adds the products of a row's columns, and moves x behind them. */
#define ADD_ROW(I)                                                                                 \
  {                                                                                                \
    const float *x = r##I + c;                                                                     \
    vf taps[3], column;                                                                            \
    LOAD_AT(taps[0], weights, 48 * I);                                                             \
    LOAD_AT(taps[1], weights, 48 * I + 16);                                                        \
    LOAD_AT(taps[2], weights, 48 * I + 32);                                                        \
    _Pragma("unroll") for (int j = 0; j < (count - 1) * stride + 3; j++, x += t##I) {              \
      LOAD_AT(column, x, 0);                                                                       \
      _Pragma("unroll") for (int k = 0; k < count; k++) {                                          \
        int tap = j - k * stride;                                                                  \
        if (tap >= 0 && tap < 3) ADD_PRODUCT(sums[k], column, taps[tap]);                          \
      }                                                                                            \
    }                                                                                              \
  }

/* Computes `count` pixels at a time from output on while they end before `end`; all columns that
 * they read are there. Returns the first output that is left. */
INLINE int compute_pixels(const Line *line, int output, int end, int stride, int count) {
  int t0 = line->steps[0], t1 = line->steps[1], t2 = line->steps[2];
  int column = output * stride - line->before, out_step = line->out_step;
  const float *r0 = line->rows[0] + column * t0, *r1 = line->rows[1] + column * t1,
              *r2 = line->rows[2] + column * t2;
  float *out = line->out + output * out_step;
  vf low = line->low, high = line->high;
  for (; output + count <= end; output += count) {
    const float *weights = line->weights;
    for (int c = 0; c < line->channels; c += 4, weights += 4 * TAPS) {
      vf sums[5], bias = load(line->bias + c);
#pragma unroll
      for (int k = 0; k < count; k++) sums[k] = bias;
      ADD_ROW(0)
      ADD_ROW(1)
      ADD_ROW(2)
      float *to = out + c;
      int left = line->channels - c;
      if (left >= 4) {
#pragma unroll
        for (int k = 0; k < count; k++, to += out_step) store(to, vclamp(sums[k], low, high));
      } else {
#pragma unroll
        for (int k = 0; k < count; k++, to += out_step)
          store_part(to, vclamp(sums[k], low, high), left);
      }
    }
    r0 += count * stride * t0;
    r1 += count * stride * t1;
    r2 += count * stride * t2;
    out += count * out_step;
  }
  return output;
}

typedef int pixels_function(const Line *line, int output, int end);
static int NOINLINE by_five(const Line *line, int output, int end) {
  return compute_pixels(line, output, end, 1, 5);
}
static int NOINLINE by_two(const Line *line, int output, int end) {
  return compute_pixels(line, output, end, 1, 2);
}
static int NOINLINE by_three_of_stride_2(const Line *line, int output, int end) {
  return compute_pixels(line, output, end, 2, 3);
}

/* One pixel, of whose columns some may be missing. */
static void NOINLINE compute_pixel(const Line *line, int output, int stride) {
  int column = output * stride - line->before, first, end;
  valid_taps(column, line->columns, 3, 1, &first, &end);
  float *to = line->out + output * line->out_step;
  const float *weights = line->weights + 4 * first;
  for (int c = 0; c < line->channels; c += 8, weights += 8 * TAPS) {
    vf sum0 = load(line->bias + c), sum1 = load(line->bias + c + 4);
    const float *row_weights = weights;
    for (int i = 0; i < 3; i++, row_weights += 4 * 3) {
      const float *x = line->rows[i] + (column + first) * line->steps[i] + c, *w = row_weights;
      for (int j = first; j < end; j++, x += line->steps[i], w += 4) {
        sum0 = vmadd(load(x), load(w), sum0);
        sum1 = vmadd(load(x + 4), load(w + 4 * TAPS), sum1);
      }
    }
    store_up_to(to + c, vclamp(sum0, line->low, line->high), line->channels - c);
    if (c + 4 < line->channels)
      store_up_to(to + c + 4, vclamp(sum1, line->low, line->high), line->channels - c - 4);
  }
}

static void compute_line(const Line *line, int stride) {
  int output = 0, end = line->inner_end;
  for (; output < line->inner; output++) compute_pixel(line, output, stride);
  output = stride == 1 ? by_two(line, by_five(line, output, end), end)
                       : by_three_of_stride_2(line, output, end);
  for (; output < line->outputs; output++) compute_pixel(line, output, stride);
}

int is_3_by_3(const Window *w) {
  return w->filter_height == 3 && w->filter_width == 3 && multiplier_of(w) == 1 &&
         (w->stride_width == 1 || (w->stride_width == 2 && w->dilation_width == 1));
}

/* Pixels that are a multiple of 2 KiB apart share so few lines of the first-level cache that they
 * displace one another: some of their channels are copied side by side. Returns how many have room,
 * or 0 where pixels stay where they are. */
static int copied_channels(const Window *w) {
  int rows = reach_of_rows(w), pixels = rows * w->in_width;
  if (w->dilation_width * w->in_channels % 512 != 0 || rows > MOST_COPIED_ROWS || pixels == 0)
    return 0;
  return MOST_COPIED / pixels / CACHE_LINE * CACHE_LINE;
}

/* The line's part of the filter, a vector for each tap, tap by tap. */
static void pack_weights(const float *filter, int step, int channels, float *weights) {
  for (int c = 0; c < channels; c += 4)
    for (int tap = 0; tap < TAPS; tap++, weights += 4)
      store(weights, load(filter + tap * step + c));
}

/* The columns that every `dilation_width`-th output reads, from `phase` on. Returns the first. */
static int find_columns(Line *line, const Window *w, int phase) {
  int apart = w->dilation_width, start = phase - w->pad_left;
  line->before = start < 0 ? (apart - 1 - start) / apart : 0;
  start += line->before * apart;
  line->columns = start < w->in_width ? (w->in_width - start + apart - 1) / apart : 0;
  line->outputs = (w->out_width - phase + apart - 1) / apart;
  find_inner(line->before, w->stride_width, 3, line->columns, line->outputs, &line->inner,
             &line->inner_end);
  return start;
}

void depthwise_3_by_3(const float *x, const float *filter, float *out, const Window *w,
                      const Clipping *clipping, int first, int end) {
  float weights[(MOST_CHANNELS + 4) * TAPS];
  RowCopies copies;
  int channels = w->in_channels, apart = w->dilation_width, fitting = copied_channels(w);
  int most = fitting > 0 && fitting < MOST_CHANNELS ? fitting : MOST_CHANNELS;
  int groups = (channels + most - 1) / most;
  int at_once = ((channels + groups - 1) / groups + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  int step = fitting > 0 ? at_once : channels;
  copies.slots = reach_of_rows(w);
  copies.pixels = w->in_width;
  copies.channels = at_once;
  Line line = {.weights = weights,
               .bias = zeros,
               .out_step = apart * channels,
               .low = vset(clipping->low),
               .high = vset(clipping->high)};
  for (int group = 0; group < channels; group += at_once) {
    line.channels = channels - group < at_once ? channels - group : at_once;
    if (clipping->bias) line.bias = clipping->bias + group;
    pack_weights(filter + group, channels, line.channels, weights);
    if (fitting > 0) forget_rows(&copies);
    for (int phase = 0; phase < apart && phase < w->out_width; phase++) {
      int start = find_columns(&line, w, phase);
      for (int row = first; row < end; row++) {
        int image = row / w->out_height;
        int top = (row - image * w->out_height) * w->stride_height - w->pad_top;
        for (int i = 0; i < 3; i++) {
          int y = top + i * w->dilation_height;
          line.rows[i] = zeros;
          line.steps[i] = 0;
          if (!inside(y, w->in_height)) continue;
          const float *from =
              fitting > 0 ? copied_row(&copies, x, w, image, y, group, 0, w->in_width)
                          : x + (image * w->in_height + y) * w->in_width * channels + group;
          line.rows[i] = from + start * step;
          line.steps[i] = apart * step;
        }
        line.out = out + (row * w->out_width + phase) * channels + group;
        compute_line(&line, w->stride_width);
      }
    }
  }
}
