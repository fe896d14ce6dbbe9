/* Depthwise convolutions by filters of three, five and seven columns.
 *
 * Four channels of a few output pixels at a time: their sums stay in registers, and what their
 * columns have in common is read once. Channels follow one another, as they do in memory.
 */
#include "depthwise.h"

#define CACHE_LINE 16 /* elements */
/* The most channels and weights in a turn: they stay in the first-level cache, with the rows of the
 * input. */
#define MAX_CHANNELS 256
#define MAX_WEIGHTS 4096
#define MAX_ROWS 13
#define MAX_COLUMNS 7
#define MAX_SUMS 7
#define MAX_COPIED 16384

/* A line of output pixels. With dilation, columns that are `dilation_width` apart are separate
 * lines. */
typedef struct {
  const float *rows[MAX_ROWS]; /* where the first column lies, of rows inside the input */
  int count, step; /* how many rows there are; the distance of columns */
  int before, columns; /* how many columns are missing before the first, and how many there are */
  int outputs, inner, inner_end; /* outputs, and those whose columns are all there */
  const float *weights; /* of the first row: a vector for each tap, channels outermost */
  int taps, most; /* of the pixels that are computed at a time */
  const float *bias;
  float *out;
  int out_step, channels;
  vf low, high;
} Line;

/* Adds the products of a row of the input and of the filter to the sums of `count` pixels. */
INLINE void add_row(vf *sums, const float *x, int step, const float *weights, int width, int stride,
                    int count) {
  vf taps[MAX_COLUMNS], column;
#pragma unroll
  for (int tap = 0; tap < width; tap++) LOAD_AT(taps[tap], weights, 16 * tap);
#pragma unroll
  for (int i = 0; i < (count - 1) * stride + width; i++, x += step) {
    LOAD_AT(column, x, 0);
#pragma unroll
    for (int pixel = 0; pixel < count; pixel++) {
      int tap = i - pixel * stride;
      if (tap >= 0 && tap < width) ADD_PRODUCT(sums[pixel], column, taps[tap]);
    }
  }
}

/* Computes `count` pixels at a time from output on while they end before `end`; all columns that
 * they read are there. Returns the first output that is left. */
INLINE int compute_pixels(const Line *line, int output, int end, int rows, int width, int stride,
                          int count) {
  int step = line->step, out_step = line->out_step;
  int offset = (output * stride - line->before) * step;
  float *out = line->out + output * out_step;
  vf low = line->low, high = line->high;
  int channels = line->channels, taps = line->taps;
  for (; output + count <= end; output += count) {
    const float *weights = line->weights;
    for (int c = 0; c < channels; c += 4, weights += 4 * taps) {
      vf sums[MAX_SUMS], bias = load(line->bias + c);
#pragma unroll
      for (int pixel = 0; pixel < count; pixel++) sums[pixel] = bias;
#define ADD_ROW(I)                                                                                 \
  add_row(sums, line->rows[I] + offset + c, step, weights + 4 * width * (I), width, stride, count);
      if (__builtin_constant_p(rows)) { /* three */
        ADD_ROW(0)
        ADD_ROW(1)
        ADD_ROW(2)
      } else {
        for (int row = 0; row < rows; row++) ADD_ROW(row)
      }
      float *to = out + c;
      int left = channels - c;
      if (left >= 4) {
#pragma unroll
        for (int pixel = 0; pixel < count; pixel++, to += out_step)
          store(to, vclamp(sums[pixel], low, high));
      } else {
#pragma unroll
        for (int pixel = 0; pixel < count; pixel++, to += out_step)
          store_part(to, vclamp(sums[pixel], low, high), left);
      }
    }
    offset += count * stride * step;
    out += count * out_step;
  }
  return output;
}

/* One pixel, of whose columns some may be missing. */
static void NOINLINE compute_pixel(const Line *line, int output, int width, int stride) {
  int column = output * stride - line->before, first, end;
  valid_taps(column, line->columns, width, 1, &first, &end);
  int offset = (column + first) * line->step;
  float *to = line->out + output * line->out_step;
  const float *weights = line->weights + 4 * first;
  for (int c = 0; c < line->channels; c += 8, weights += 8 * line->taps) {
    vf sum0 = load(line->bias + c), sum1 = load(line->bias + c + 4);
    const float *from = weights;
    for (int row = 0; row < line->count; row++, from += 4 * width) {
      const float *x = line->rows[row] + offset + c, *w = from;
      for (int j = first; j < end; j++, x += line->step, w += 4) {
        sum0 = vmadd(load(x), load(w), sum0);
        sum1 = vmadd(load(x + 4), load(w + 4 * line->taps), sum1);
      }
    }
    store_up_to(to + c, vclamp(sum0, line->low, line->high), line->channels - c);
    if (c + 4 < line->channels)
      store_up_to(to + c + 4, vclamp(sum1, line->low, line->high), line->channels - c - 4);
  }
}

/* Columns of filters and strides, and how many pixels are computed at a time: first as many as
 * registers have room for, then two. Two with stride 2 are rare, and not worth a loop for three
 * rows. */
#define FOR_EACH_KIND(DO)                                                                          \
  DO(3, 1, 5) DO(3, 1, 2) DO(3, 2, 3) DO(3, 2, 2) DO(5, 1, 7) DO(5, 1, 2) DO(5, 2, 7)              \
  DO(7, 1, 7) DO(7, 1, 2)
#define DEFINE(WIDTH, STRIDE, COUNT)                                                               \
  static int NOINLINE pixels_##WIDTH##_##STRIDE##_##COUNT(const Line *line, int output, int end) { \
    if (WIDTH == 3 && COUNT > STRIDE && line->count == 3)                                          \
      return compute_pixels(line, output, end, 3, WIDTH, STRIDE, COUNT);                           \
    return compute_pixels(line, output, end, line->count, WIDTH, STRIDE, COUNT);                   \
  }
#define NAME(WIDTH, STRIDE, COUNT) {WIDTH, STRIDE, COUNT, pixels_##WIDTH##_##STRIDE##_##COUNT},
FOR_EACH_KIND(DEFINE)
static const struct Kind {
  int width, stride, count;
  int (*compute)(const Line *line, int output, int end);
} kinds[] = {FOR_EACH_KIND(NAME)};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static int has_kind(int width, int stride) {
  for (int i = 0; i < KINDS; i++)
    if (kinds[i].width == width && kinds[i].stride == stride) return 1;
  return 0;
}

static void compute_line(const Line *line, int width, int stride) {
  int output = 0;
  for (; output < line->inner; output++) compute_pixel(line, output, width, stride);
  for (int i = 0; i < KINDS; i++)
    if (kinds[i].width == width && kinds[i].stride == stride && kinds[i].count <= line->most)
      output = kinds[i].compute(line, output, line->inner_end);
  for (; output < line->outputs; output++) compute_pixel(line, output, width, stride);
}

int is_by_pixels(const Window *w) {
  return multiplier_of(w) == 1 && has_kind(w->filter_width, w->stride_width) &&
         w->filter_height <= MAX_ROWS && (w->stride_width == 1 || w->dilation_width == 1);
}

/* Rows of input pixels with zeros around them, some channels side by side. Row y is in slot
 * y % slots. */
typedef struct {
  int slots, pixels, channels; /* how many slots, the pixels of each, and the channels of these */
  int before, count;           /* which of the pixels are copied */
  int copied[MAX_ROWS];       /* which row of all images is where; -1: none */
  float data[MAX_COPIED];
} RowCopies;

static void clear_rows(RowCopies *copies) {
  int channels = copies->channels, end = copies->before + copies->count;
  for (int slot = 0; slot < copies->slots; slot++) {
    float *copy = copies->data + slot * copies->pixels * channels;
    copies->copied[slot] = -1;
    __builtin_memset(copy, 0, copies->before * channels * sizeof(float));
    __builtin_memset(copy + end * channels, 0, (copies->pixels - end) * channels * sizeof(float));
  }
}

/* Returns the copy of row y of an image, which is inside, from channel c on. */
static const float *copied_row(RowCopies *copies, const float *x, const Window *w, int image, int y,
                               int c) {
  int number = image * w->in_height + y, slot = y % copies->slots, channels = copies->channels;
  float *copy = copies->data + slot * copies->pixels * channels;
  if (copies->copied[slot] != number) {
    int present = smaller(channels, w->in_channels - c);
    const float *from = x + number * w->in_width * w->in_channels + c;
    float *to = copy + copies->before * channels;
    for (int i = 0; i < copies->count; i++, from += w->in_channels, to += channels)
      for (int k = 0; k < present; k += 4) store(to + k, load(from + k));
  }
  copies->copied[slot] = number;
  return copy;
}

/* Returns the number of channels that fit the copies of rows, or 0 where rows are not copied.
 *
 * Rows are copied for filters of more than three columns, as these often reach outside the input,
 * and where pixels are a multiple of 2 KiB apart, as they share so few lines of the first-level
 * cache that they displace one another. With stride 2, copying would take longer than computing two
 * pixels at a time, whose fifteen lines fit unless they are a multiple of 4 KiB apart. */
static int find_copies(const Window *w, RowCopies *copies) {
  int reach = (w->filter_width - 1) * w->dilation_width + 1;
  copies->slots = (w->filter_height - 1) * w->dilation_height + 1;
  copies->pixels = (w->out_width - 1) * w->stride_width + reach;
  copies->before = w->pad_left;
  copies->count = smaller(w->in_width, copies->pixels - w->pad_left);
  int apart = w->dilation_width * w->in_channels;
  if (w->filter_width == 3 && apart % (512 * w->stride_width) != 0) return 0;
  if (copies->slots > MAX_ROWS || !inside(w->pad_left, copies->pixels)) return 0;
  return MAX_COPIED / copies->slots / copies->pixels / CACHE_LINE * CACHE_LINE;
}

/* The weights of some channels, four channels after another, a vector for each tap. */
static void pack_weights(const float *filter, int step, int taps, int channels, float *weights) {
  for (int c = 0; c < channels; c += 4)
    for (int tap = 0; tap < taps; tap++, weights += 4)
      store(weights, load(filter + tap * step + c));
}

/* The columns that every `apart`-th output reads, from `phase` on, of a line with `pad` missing
 * before the first. Returns the first. */
static int find_columns(Line *line, const Window *w, int phase, int pad, int width) {
  int apart = w->dilation_width, start = phase - pad;
  line->before = start < 0 ? (apart - 1 - start) / apart : 0;
  start += line->before * apart;
  line->columns = start < width ? (width - start + apart - 1) / apart : 0;
  line->outputs = (w->out_width - phase + apart - 1) / apart;
  find_inner(line->before, w->stride_width, w->filter_width, line->columns, line->outputs,
             &line->inner, &line->inner_end);
  return start;
}

void depthwise_by_pixels(const float *x, const float *filter, float *out, const Window *w,
                         const Clipping *clipping, int first, int end) {
  static const float zeros[MAX_CHANNELS + 4];
  float weights[MAX_WEIGHTS + 4 * MAX_ROWS * MAX_COLUMNS];
  RowCopies copies;
  int channels = w->in_channels, apart = w->dilation_width, fitting = find_copies(w, &copies);
  int taps = w->filter_height * w->filter_width, is_copied = fitting > 0;
  int most = smaller(MAX_CHANNELS, MAX_WEIGHTS / taps / CACHE_LINE * CACHE_LINE);
  if (is_copied) most = smaller(most, fitting);
  int turns = (channels + most - 1) / most;
  int at_once = ((channels + turns - 1) / turns + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  int step = is_copied ? at_once : channels;
  Line line = {.step = apart * step,
               .taps = taps,
               .most = is_copied || channels % 512 ? MAX_SUMS : 2,
               .bias = zeros,
               .out_step = apart * channels,
               .low = vset(clipping->low),
               .high = vset(clipping->high)};
  copies.channels = at_once;
  for (int c = 0; c < channels; c += at_once) {
    line.channels = smaller(channels - c, at_once);
    if (clipping->bias) line.bias = clipping->bias + c;
    pack_weights(filter + c, channels, taps, line.channels, weights);
    if (is_copied) clear_rows(&copies);
    for (int phase = 0; phase < apart && phase < w->out_width; phase++) {
      int start = is_copied ? find_columns(&line, w, phase, 0, copies.pixels)
                            : find_columns(&line, w, phase, w->pad_left, w->in_width);
      for (int row = first; row < end; row++) {
        int image = row / w->out_height, first_row = 0;
        int top = (row - image * w->out_height) * w->stride_height - w->pad_top;
        line.count = 0;
        for (int i = 0; i < w->filter_height; i++) {
          int y = top + i * w->dilation_height;
          if (!inside(y, w->in_height)) continue;
          if (line.count == 0) first_row = i;
          line.rows[line.count++] =
              (is_copied ? copied_row(&copies, x, w, image, y, c)
                         : x + (image * w->in_height + y) * w->in_width * channels + c) +
              start * step;
        }
        line.weights = weights + first_row * 4 * w->filter_width;
        line.out = out + ((row - first) * w->out_width + phase) * channels + c;
        compute_line(&line, w->filter_width, w->stride_width);
      }
    }
  }
}
