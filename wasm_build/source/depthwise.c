/* depthwise_conv2d and its transposes, directly, four channels at a time.
 *
 * Output channel c * multiplier + m convolves input channel c with filter (:, :, c, m). With a
 * multiplier of 1, the usual case, channels are lanes; others repeat the input's channels first,
 * and their transposes take one element at a time.
 */
#include "depthwise.h"

/* -- forward --------------------------------------------------------------------------------- */

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

/* One row of output pixels; `top` is the input row of its first tap. */
static void NOINLINE depthwise_line(const float *x, const float *filter, float *out,
                                    const Window *w, int top) {
  int channels = w->in_channels;
  int filter_row = w->filter_width * channels;
  int x_row = w->dilation_height * w->in_width * channels, x_column = w->dilation_width * channels;
  int first_row, end_row;
  valid_taps(top, w->in_height, w->filter_height, w->dilation_height, &first_row, &end_row);
  for (int column = 0; column < w->out_width; column++, out += channels) {
    int start = column * w->stride_width - w->pad_left, first, end;
    valid_taps(start, w->in_width, w->filter_width, w->dilation_width, &first, &end);
    const float *from = x + ((top + first_row * w->dilation_height) * w->in_width + start +
                             first * w->dilation_width) * channels;
    const float *weights = filter + first_row * filter_row + first * channels;
    pixel(from, weights, out, end_row - first_row, end - first, x_row, x_column, filter_row,
          channels);
  }
}

void depthwise_lines(const float *x, const float *filter, float *out, const Window *w,
                     const Epilogue *epilogue, int first, int end) {
  if (is_by_pixels(w)) {
    Clipping clipping = clipping_of(epilogue);
    depthwise_by_pixels(x, filter, out, w, &clipping, first, end);
    if (!needs_epilogue(epilogue)) return;
  } else {
    int image_size = w->in_height * w->in_width * w->in_channels;
    int line_size = w->out_width * w->out_channels;
    for (int line = first; line < end; line++) {
      int image = line / w->out_height, row = line - image * w->out_height;
      depthwise_line(x + image * image_size, filter, out + (line - first) * line_size, w,
                     row * w->stride_height - w->pad_top);
    }
  }
  if (epilogue->bias)
    apply_epilogue(epilogue, out, (end - first) * w->out_width, w->out_channels, 0,
                   w->out_channels);
}

EXPORT(depthwise_conv2d)
void depthwise_conv2d(const float *x, const float *filter, float *out, const Window *w,
                      const float *bias, int activation, float alpha, const float *slopes,
                      const float *residual, int part, int parts) {
  Epilogue epilogue = {bias, activation, alpha, slopes, residual, out};
  int first, end;
  find_piece(w->batch * w->out_height, 1, part, parts, &first, &end);
  depthwise_lines(x, filter, out + first * w->out_width * w->out_channels, w, &epilogue, first,
                  end);
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
