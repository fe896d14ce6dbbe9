/* depthwise_conv2d and its transposes, directly, four channels at a time.
 *
 * Output channel c * multiplier + m convolves input channel c with filter (:, :, c, m). With a
 * multiplier of 1, the usual case, channels are lanes; otherwise one element at a time.
 */
#include "vector.h"
#include "window.h"

INLINE int multiplier_of(const Window *w) { return w->out_channels / w->in_channels; }

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

EXPORT(depthwise_conv2d)
void depthwise_conv2d(const float *x, const float *filter, float *out, const Window *w) {
  int channels = w->in_channels, multiplier = multiplier_of(w);
  int filter_row = w->filter_width * w->out_channels;
  int x_row = w->dilation_height * w->in_width * channels, x_column = w->dilation_width * channels;
  for (int image = 0; image < w->batch; image++) {
    for (int row = 0; row < w->out_height; row++) {
      int top = row * w->stride_height - w->pad_top, first_row, end_row;
      valid_taps(top, w->in_height, w->filter_height, w->dilation_height, &first_row, &end_row);
      for (int column = 0; column < w->out_width; column++, out += w->out_channels) {
        int start = column * w->stride_width - w->pad_left, first, end;
        valid_taps(start, w->in_width, w->filter_width, w->dilation_width, &first, &end);
        const float *from =
            x + ((top + first_row * w->dilation_height) * w->in_width + start +
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
    x += w->in_height * w->in_width * channels;
  }
}

/* -- transpose with respect to the input ----------------------------------------------------- */

/* Adds dy * weights, with the channels that belong to one input channel summed. */
static void NOINLINE add_weighted(const float *dy, const float *weights, float *out, int channels,
                                  int multiplier) {
  if (multiplier == 1) {
    for (int c = 0; c < channels; c += 4)
      store_up_to(out + c, vmadd(load(dy + c), load(weights + c), load((const float *)out + c)),
                  channels - c);
    return;
  }
  for (int c = 0, o = 0; c < channels; c++)
    for (int m = 0; m < multiplier; m++, o++) out[c] += dy[o] * weights[o];
}

EXPORT(depthwise_conv2d_input_gradient)
void depthwise_conv2d_input_gradient(const float *dy, const float *filter, float *out,
                                     const Window *w) {
  int channels = w->in_channels, multiplier = multiplier_of(w);
  for (int image = 0; image < w->batch; image++) {
    for (int row = 0; row < w->in_height; row++) {
      for (int column = 0; column < w->in_width; column++, out += channels) {
        for (int c = 0; c < channels; c++) out[c] = 0;
        for (int i = 0; i < w->filter_height; i++) {
          int y = output_reading(row, w->pad_top, i, w->dilation_height, w->stride_height,
                                 w->out_height);
          if (y < 0) continue;
          for (int j = 0; j < w->filter_width; j++) {
            int x = output_reading(column, w->pad_left, j, w->dilation_width, w->stride_width,
                                   w->out_width);
            if (x < 0) continue;
            add_weighted(dy + (y * w->out_width + x) * w->out_channels,
                         filter + (i * w->filter_width + j) * w->out_channels, out, channels,
                         multiplier);
          }
        }
      }
    }
    dy += w->out_height * w->out_width * w->out_channels;
  }
}

/* -- transpose with respect to the filter ---------------------------------------------------- */

/* Sum over one row of output pixels of x * dy, for four channels. */
static vf NOINLINE row_product(const float *x, const float *dy, int count, int x_step, int dy_step) {
  vf sum = vset(0);
  for (; count > 0; count--, x += x_step, dy += dy_step) sum = vmadd(load(x), load(dy), sum);
  return sum;
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
          for (int c = 0; c < channels; c += 4)
            store_up_to(out + c,
                        load((const float *)out + c) +
                            row_product(from + c, gradient + c, end - first, x_step, out_channels),
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
