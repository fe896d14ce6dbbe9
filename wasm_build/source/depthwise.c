/* depthwise_conv2d and its transposes, directly, four channels at a time.
 *
 * Output channel c * multiplier + m convolves input channel c with filter (:, :, c, m). With a
 * multiplier of 1, the usual case, channels are lanes; otherwise one element at a time.
 */
#include "depthwise.h"

/* -- forward, 3 × 3 -------------------------------------------------------------------------- */

/* A line of output pixels, for four channels: the filter stays in registers while columns of three
 * input pixels pass by, each read once. */
typedef struct {
  const float *rows[3]; /* where the first column lies; rows outside the input are zeros … */
  int steps[3];         /* … that do not move on */
  int before, columns;  /* how many columns are missing before the first, and how many there are */
  const float *filter;
  int tap_step, row_step;
  vf bias;
  float *out;
  int outputs, out_step, channels;
  vf low, high;
} Line;

#define WEIGHT(I, J) w##I##J = load(line->filter + I * line->row_step + J * line->tap_step)
#define OPEN_LINE                                                                                  \
  const float *r0 = line->rows[0], *r1 = line->rows[1], *r2 = line->rows[2];                       \
  int t0 = line->steps[0], t1 = line->steps[1], t2 = line->steps[2];                               \
  vf WEIGHT(0, 0), WEIGHT(0, 1), WEIGHT(0, 2), WEIGHT(1, 0), WEIGHT(1, 1), WEIGHT(1, 2),           \
      WEIGHT(2, 0), WEIGHT(2, 1), WEIGHT(2, 2);                                                    \
  vf bias = line->bias, low = line->low, high = line->high;                                        \
  float *out = line->out;                                                                          \
  int out_step = line->out_step;

/* Adds a column's products to the outputs of which it is the first, the second and the last tap. */
#define ADD_ROW(I, FIRST, SECOND, LAST)                                                            \
  x = load(r##I);                                                                                  \
  r##I += t##I;                                                                                    \
  ADD_PRODUCT(LAST, x, w##I##2);                                                                   \
  ADD_PRODUCT(SECOND, x, w##I##1);                                                                 \
  ADD_PRODUCT(FIRST, x, w##I##0);
#define ADD_MIDDLE(I, SECOND)                                                                      \
  x = load(r##I);                                                                                  \
  r##I += t##I;                                                                                    \
  ADD_PRODUCT(SECOND, x, w##I##1);

#define ADD_COLUMN(FIRST, SECOND, LAST)                                                            \
  ADD_ROW(0, FIRST, SECOND, LAST) ADD_ROW(1, FIRST, SECOND, LAST) ADD_ROW(2, FIRST, SECOND, LAST)
#define ADD_MIDDLE_COLUMN(SECOND) ADD_MIDDLE(0, SECOND) ADD_MIDDLE(1, SECOND) ADD_MIDDLE(2, SECOND)

#define FINISH_PIXEL(X)                                                                            \
  store_up_to(out, vclamp(X, low, high), line->channels);                                          \
  out += out_step;
/* All four channels; the sum starts again. */
#define FINISH_WHOLE_PIXEL(X)                                                                      \
  store(out, vclamp(X, low, high));                                                                \
  out += out_step;                                                                                 \
  X = bias;

/* Where columns end that are all inside and whose outputs have four channels: those are computed
 * without asking, several in a turn, so that sums need not change registers. */
INLINE int end_of_whole(const Line *line, int end) {
  if (line->channels < 4) return 0;
  return end < line->columns ? end : line->columns;
}

static void NOINLINE line_of_stride_1(const Line *line) {
  OPEN_LINE
  vf x, last = bias, second = bias, first = bias;
  int column = -line->before, end = column + line->outputs + 2, filled = 0;
  int end_whole = end_of_whole(line, end);
  while (column < end) {
    if (filled > 1 && column >= 0) {
      for (; column + 3 <= end_whole; column += 3) {
        ADD_COLUMN(first, second, last)
        FINISH_WHOLE_PIXEL(last)
        ADD_COLUMN(last, first, second)
        FINISH_WHOLE_PIXEL(second)
        ADD_COLUMN(second, last, first)
        FINISH_WHOLE_PIXEL(first)
      }
      if (column == end) break;
    }
    if (inside(column++, line->columns)) { ADD_COLUMN(first, second, last) }
    if (++filled > 2) { FINISH_PIXEL(last) }
    last = second;
    second = first;
    first = bias;
  }
}

static void NOINLINE line_of_stride_2(const Line *line) {
  OPEN_LINE
  vf x, ignored = bias, sum = bias, next = bias;
  int column = -line->before, outputs = line->outputs;
  int end_whole = end_of_whole(line, column + 2 * outputs + 1);
  if (inside(column++, line->columns)) { ADD_COLUMN(sum, ignored, ignored) }
  while (outputs > 0) {
    for (; column >= 0 && column + 4 <= end_whole; column += 4, outputs -= 2) {
      ADD_MIDDLE_COLUMN(sum)
      ADD_COLUMN(next, ignored, sum)
      FINISH_WHOLE_PIXEL(sum)
      ADD_MIDDLE_COLUMN(next)
      ADD_COLUMN(sum, ignored, next)
      FINISH_WHOLE_PIXEL(next)
    }
    if (outputs-- == 0) break;
    if (inside(column++, line->columns)) { ADD_MIDDLE_COLUMN(sum) }
    if (inside(column++, line->columns)) { ADD_COLUMN(next, ignored, sum) }
    FINISH_PIXEL(sum)
    sum = next;
    next = bias;
  }
}

/* Whether the functions above serve. */
INLINE int is_3_by_3(const Window *w) {
  return w->filter_height == 3 && w->filter_width == 3 && multiplier_of(w) == 1 &&
         (w->stride_width == 1 || (w->stride_width == 2 && w->dilation_width == 1));
}

/* Pixels in a line, `step` apart, and how many channels of them are meant. */
typedef struct {
  float *first;
  int step, channels;
} Pixels;

/* One row of output pixels, from three rows of the input or those that there are. With dilation,
 * the columns that are `dilation_width` apart are separate lines. */
static void line_3_by_3(const float *const rows[3], int step, const float *filter, Pixels out,
                        const float *bias, const Clipping *clipping, const Window *w) {
  static const float none[4] = {0};
  int apart = w->dilation_width;
  Line line = {.tap_step = w->in_channels,
               .row_step = 3 * w->in_channels,
               .bias = vset(0),
               .out_step = apart * out.step,
               .low = vset(clipping->low),
               .high = vset(clipping->high)};
  for (int phase = 0; phase < apart && phase < w->out_width; phase++) {
    int start = phase - w->pad_left;
    line.before = start < 0 ? (apart - 1 - start) / apart : 0;
    start += line.before * apart;
    line.columns = start < w->in_width ? (w->in_width - start + apart - 1) / apart : 0;
    line.outputs = (w->out_width - phase + apart - 1) / apart;
    for (int c = 0; c < out.channels; c += 4) {
      for (int i = 0; i < 3; i++) {
        line.rows[i] = rows[i] ? rows[i] + start * step + c : none;
        line.steps[i] = rows[i] ? apart * step : 0;
      }
      line.filter = filter + c;
      if (bias) line.bias = load(bias + c);
      line.out = out.first + phase * out.step + c;
      line.channels = out.channels - c;
      if (w->stride_width == 1)
        line_of_stride_1(&line);
      else
        line_of_stride_2(&line);
    }
  }
}

static void directly_3_by_3(const float *x, const float *filter, float *out, const Window *w,
                            const Clipping *clipping, int first, int end) {
  int channels = w->in_channels, row_size = w->in_width * channels;
  for (int line = first; line < end; line++) {
    int image = line / w->out_height, row = line - image * w->out_height;
    const float *rows[3];
    for (int i = 0; i < 3; i++) {
      int y = row * w->stride_height - w->pad_top + i * w->dilation_height;
      rows[i] = inside(y, w->in_height) ? x + (image * w->in_height + y) * row_size : 0;
    }
    Pixels to = {out + line * w->out_width * channels, channels, channels};
    line_3_by_3(rows, channels, filter, to, clipping->bias, clipping, w);
  }
}

/* -- through copies -- */

/* Pixels that are a multiple of 512 bytes apart share so few lines of the first-level cache, 64 or
 * fewer, that they displace one another before their neighbouring channels are wanted. Rows of so
 * many channels, a cache line of each pixel, are therefore copied side by side,
 * and results back. */
INLINE int displaces_itself(const Window *w) {
  return w->in_channels % 128 == 0 &&
         (3 * w->in_width + w->out_width) * (w->in_channels / 128) > 64;
}

void NOINLINE copy_channels(const float *from, int from_step, float *to, int to_step, int count) {
  for (; count > 0; count--, from += from_step, to += to_step)
    for (int c = 0; c < CHANNELS_AT_ONCE; c += 4) store(to + c, load(from + c));
}

void forget_rows(RowCopies *copies) {
  for (int i = 0; i < copies->slots; i++) copies->copied[i] = -1;
}

const float *copied_row(RowCopies *copies, const float *x, const Window *w, int image, int y, int c,
                        int before, int count) {
  int number = image * w->in_height + y, slot = y % copies->slots;
  float *copy = copies->data + slot * copies->pixels * CHANNELS_AT_ONCE;
  if (copies->copied[slot] != number)
    copy_channels(x + number * w->in_width * w->in_channels + c, w->in_channels,
                  copy + before * CHANNELS_AT_ONCE, CHANNELS_AT_ONCE, count);
  copies->copied[slot] = number;
  return copy;
}

static void copying_3_by_3(const float *x, const float *filter, float *out, const Window *w,
                           const Clipping *clipping, int first, int end) {
  RowCopies copies;
  copies.slots = reach_of_rows(w);
  copies.pixels = w->in_width;
  float *results = copies.data + copies.slots * copies.pixels * CHANNELS_AT_ONCE;
  int channels = w->in_channels;
  for (int c = 0; c < channels; c += CHANNELS_AT_ONCE) {
    forget_rows(&copies);
    for (int line = first; line < end; line++) {
      int image = line / w->out_height, row = line - image * w->out_height;
      const float *rows[3];
      for (int i = 0; i < 3; i++) {
        int y = row * w->stride_height - w->pad_top + i * w->dilation_height;
        rows[i] = 0;
        if (inside(y, w->in_height)) rows[i] = copied_row(&copies, x, w, image, y, c, 0, w->in_width);
      }
      line_3_by_3(rows, CHANNELS_AT_ONCE, filter + c,
                  (Pixels){results, CHANNELS_AT_ONCE, CHANNELS_AT_ONCE},
                  clipping->bias ? clipping->bias + c : 0, clipping, w);
      copy_channels(results, CHANNELS_AT_ONCE, out + line * w->out_width * channels + c, channels,
                    w->out_width);
    }
  }
}

/* -- forward, all others --------------------------------------------------------------------- */

/* One output pixel: x and filter point at the first tap that reads inside the input. */
static void NOINLINE pixel(const float *x, const float *filter, float *out, int rows, int columns,
                           int x_row, int x_column, int filter_row, int channels) {
  int c = 0;
  for (; c + 8 <= channels; c += 8) {
    vf sum0 = vset(0), sum1 = sum0;
    for (int i = 0; i < rows; i++) {
      const float *from = x + c + i * x_row, *weights = filter + c + i * filter_row;
      for (int j = 0; j < columns; j++, from += x_column, weights += channels) {
        sum0 = vmadd(load(from), load(weights), sum0);
        sum1 = vmadd(load(from + 4), load(weights + 4), sum1);
      }
    }
    store(out + c, sum0);
    store(out + c + 4, sum1);
  }
  for (; c < channels; c += 4) {
    vf sum = vset(0);
    for (int i = 0; i < rows; i++) {
      const float *from = x + c + i * x_row, *weights = filter + c + i * filter_row;
      for (int j = 0; j < columns; j++, from += x_column, weights += channels)
        sum = vmadd(load(from), load(weights), sum);
    }
    store_up_to(out + c, sum, channels - c);
  }
}

static void NOINLINE pixel_multiplied(const float *x, const float *filter, float *out, int rows,
                                      int columns, int x_row, int x_column, int filter_row,
                                      int channels, int multiplier) {
  int out_channels = channels * multiplier;
  for (int o = 0; o < out_channels; o++) out[o] = 0;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      const float *from = x + i * x_row + j * x_column;
      const float *weights = filter + i * filter_row + j * out_channels;
      for (int c = 0, o = 0; c < channels; c++)
        for (int m = 0; m < multiplier; m++, o++) out[o] += from[c] * weights[o];
    }
  }
}

/* One row of output pixels; `top` is the input row of its first tap. */
static void NOINLINE depthwise_line(const float *x, const float *filter, float *out,
                                    const Window *w, int top) {
  int channels = w->in_channels, multiplier = multiplier_of(w);
  int filter_row = w->filter_width * w->out_channels;
  int x_row = w->dilation_height * w->in_width * channels, x_column = w->dilation_width * channels;
  int first_row, end_row;
  valid_taps(top, w->in_height, w->filter_height, w->dilation_height, &first_row, &end_row);
  for (int column = 0; column < w->out_width; column++, out += w->out_channels) {
    int start = column * w->stride_width - w->pad_left, first, end;
    valid_taps(start, w->in_width, w->filter_width, w->dilation_width, &first, &end);
    const float *from = x + ((top + first_row * w->dilation_height) * w->in_width + start +
                             first * w->dilation_width) * channels;
    const float *weights = filter + first_row * filter_row + first * w->out_channels;
    if (multiplier == 1)
      pixel(from, weights, out, end_row - first_row, end - first, x_row, x_column, filter_row,
            channels);
    else
      pixel_multiplied(from, weights, out, end_row - first_row, end - first, x_row, x_column,
                       filter_row, channels, multiplier);
  }
}

EXPORT(depthwise_conv2d)
void depthwise_conv2d(const float *x, const float *filter, float *out, const Window *w,
                      const float *bias, int activation, float alpha, const float *slopes,
                      const float *residual, int part, int parts) {
  Epilogue epilogue = {bias, activation, alpha, slopes, residual, out};
  int image_size = w->in_height * w->in_width * w->in_channels;
  int line_size = w->out_width * w->out_channels, first, end;
  find_piece(w->batch * w->out_height, 1, part, parts, &first, &end);
  if (is_3_by_3(w)) {
    Clipping clipping = clipping_of(&epilogue);
    if (displaces_itself(w) && fits_copies(w, w->in_width, w->out_width))
      copying_3_by_3(x, filter, out, w, &clipping, first, end);
    else
      directly_3_by_3(x, filter, out, w, &clipping, first, end);
    if (!needs_epilogue(&epilogue)) return;
  } else if (is_wide(w)) {
    Clipping clipping = clipping_of(&epilogue);
    depthwise_wide(x, filter, out, w, &clipping, first, end);
    if (!needs_epilogue(&epilogue)) return;
  } else {
    for (int line = first; line < end; line++) {
      int image = line / w->out_height, row = line - image * w->out_height;
      depthwise_line(x + image * image_size, filter, out + line * line_size, w,
                     row * w->stride_height - w->pad_top);
    }
  }
  if (bias)
    apply_epilogue(&epilogue, out + first * line_size, (end - first) * w->out_width,
                   w->out_channels, 0, w->out_channels);
}

/* -- transpose with respect to the input ----------------------------------------------------- */

/* The taps that reach one input pixel, at most SOME_TAPS at a time. */
#define SOME_TAPS 32
typedef struct {
  int count;
  const float *dy[SOME_TAPS], *weights[SOME_TAPS];
} Taps;

/* Adds up dy * weights over taps, with the channels that belong to one input channel summed. */
static void NOINLINE add_taps(const Taps *taps, float *out, int channels, int multiplier) {
  if (multiplier == 1) {
    for (int c = 0; c < channels; c += 8) {
      vf sum0 = load((const float *)out + c), sum1 = load((const float *)out + c + 4);
      for (int t = 0; t < taps->count; t++) {
        const float *dy = taps->dy[t] + c, *weights = taps->weights[t] + c;
        sum0 = vmadd(load(dy), load(weights), sum0);
        sum1 = vmadd(load(dy + 4), load(weights + 4), sum1);
      }
      store_up_to(out + c, sum0, channels - c);
      if (c + 4 < channels) store_up_to(out + c + 4, sum1, channels - c - 4);
    }
    return;
  }
  for (int t = 0; t < taps->count; t++)
    for (int c = 0, o = 0; c < channels; c++)
      for (int m = 0; m < multiplier; m++, o++) out[c] += taps->dy[t][o] * taps->weights[t][o];
}

EXPORT(depthwise_conv2d_input_gradient)
void depthwise_conv2d_input_gradient(const float *dy, const float *filter, float *out,
                                     const Window *w) {
  int channels = w->in_channels, multiplier = multiplier_of(w);
  Taps taps;
  __builtin_memset(out, 0, w->batch * w->in_height * w->in_width * channels * sizeof(float));
  for (int image = 0; image < w->batch; image++) {
    for (int row = 0; row < w->in_height; row++) {
      for (int column = 0; column < w->in_width; column++, out += channels) {
        taps.count = 0;
        for (int i = 0; i < w->filter_height; i++) {
          int y = output_reading(row, w->pad_top, i, w->dilation_height, w->stride_height,
                                 w->out_height);
          if (y < 0) continue;
          for (int j = 0; j < w->filter_width; j++) {
            int x = output_reading(column, w->pad_left, j, w->dilation_width, w->stride_width,
                                   w->out_width);
            if (x < 0) continue;
            taps.dy[taps.count] = dy + (y * w->out_width + x) * w->out_channels;
            taps.weights[taps.count] = filter + (i * w->filter_width + j) * w->out_channels;
            if (++taps.count == SOME_TAPS) {
              add_taps(&taps, out, channels, multiplier);
              taps.count = 0;
            }
          }
        }
        add_taps(&taps, out, channels, multiplier);
      }
    }
    dy += w->out_height * w->out_width * w->out_channels;
  }
}

/* -- transpose with respect to the filter ---------------------------------------------------- */

/* Adds the sum over one row of output pixels of x * dy to out, for four channels or sixteen: a
 * single sum would wait for its own last addition all the time. */
static void NOINLINE add_row_product(const float *x, const float *dy, float *out, int count,
                                     int x_step, int dy_step, int channels) {
  vf sum = vset(0);
  for (; count > 0; count--, x += x_step, dy += dy_step) sum = vmadd(load(x), load(dy), sum);
  store_up_to(out, load((const float *)out) + sum, channels);
}
static void NOINLINE add_row_product_16(const float *x, const float *dy, float *out, int count,
                                        int x_step, int dy_step) {
  vf s0 = vset(0), s1 = s0, s2 = s0, s3 = s0;
  for (; count > 0; count--, x += x_step, dy += dy_step) {
    s0 = vmadd(load(x), load(dy), s0);
    s1 = vmadd(load(x + 4), load(dy + 4), s1);
    s2 = vmadd(load(x + 8), load(dy + 8), s2);
    s3 = vmadd(load(x + 12), load(dy + 12), s3);
  }
  store(out, load((const float *)out) + s0);
  store(out + 4, load((const float *)out + 4) + s1);
  store(out + 8, load((const float *)out + 8) + s2);
  store(out + 12, load((const float *)out + 12) + s3);
}
static float NOINLINE row_product_single(const float *x, const float *dy, int count, int x_step,
                                         int dy_step) {
  float sum = 0;
  for (; count > 0; count--, x += x_step, dy += dy_step) sum += *x * *dy;
  return sum;
}

EXPORT(depthwise_conv2d_filter_gradient)
void depthwise_conv2d_filter_gradient(const float *x, const float *dy, float *out,
                                      const Window *w) {
  int channels = w->in_channels, multiplier = multiplier_of(w), out_channels = w->out_channels;
  int x_step = w->stride_width * channels;
  for (int i = 0; i < w->filter_height; i++) {
    for (int j = 0; j < w->filter_width; j++, out += out_channels) {
      for (int o = 0; o < out_channels; o++) out[o] = 0;
      /* Output columns that read inside the input at this tap: [first, end). */
      int offset = j * w->dilation_width - w->pad_left;
      int first, end;
      valid_taps(offset, w->in_width, w->out_width, w->stride_width, &first, &end);
      for (int line = 0; line < w->batch * w->out_height; line++) {
        int image = line / w->out_height;
        int y = (line % w->out_height) * w->stride_height - w->pad_top + i * w->dilation_height;
        if (y < 0 || y >= w->in_height) continue;
        const float *from = x + ((image * w->in_height + y) * w->in_width + offset +
                                 first * w->stride_width) * channels;
        const float *gradient = dy + (line * w->out_width + first) * out_channels;
        if (multiplier == 1) {
          int c = 0;
          for (; c + 16 <= channels; c += 16)
            add_row_product_16(from + c, gradient + c, out + c, end - first, x_step, channels);
          for (; c < channels; c += 4)
            add_row_product(from + c, gradient + c, out + c, end - first, x_step, channels,
                            channels - c);
        } else {
          for (int o = 0; o < out_channels; o++)
            out[o] += row_product_single(from + o / multiplier, gradient + o, end - first, x_step,
                                         out_channels);
        }
      }
    }
  }
}
