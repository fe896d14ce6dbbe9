/* matmul and conv2d with its transposes: operands of gemm, packed straight from where they lie.
 *
 * A convolution is the product of the patches of x, one row per output pixel and one column per
 * (filter row, filter column, input channel), with the filter as a matrix. Patches are never written
 * out as a whole: packing a block of them reads x.
 */
#include "gemm.h"
#include "window.h"

/* -- matmul ---------------------------------------------------------------------------------- */

/* The fields of geometry.MatmulSizes, in order. */
typedef struct {
  int batch, m, k, n, transpose_a, transpose_b, a_batched, b_batched;
} MatmulSizes;

EXPORT(matmul_float32)
void matmul_float32(const float *a, const float *b, float *out, const MatmulSizes *sizes) {
  int m = sizes->m, k = sizes->k, n = sizes->n;
  for (int i = 0; i < sizes->batch; i++) {
    Matrix left = {a, sizes->transpose_a ? 1 : k, sizes->transpose_a ? m : 1};
    Matrix right = {b, sizes->transpose_b ? 1 : n, sizes->transpose_b ? k : 1};
    gemm(m, n, k, pack_matrix_a, &left, pack_matrix_b, &right, out);
    if (sizes->a_batched) a += m * k;
    if (sizes->b_batched) b += k * n;
    out += m * n;
  }
}

EXPORT(matmul_int32)
void matmul_int32(const int *a, const int *b, int *out, const MatmulSizes *sizes) {
  int m = sizes->m, k = sizes->k, n = sizes->n;
  int a_row = sizes->transpose_a ? 1 : k, a_column = sizes->transpose_a ? m : 1;
  int b_row = sizes->transpose_b ? 1 : n, b_column = sizes->transpose_b ? k : 1;
  for (int i = 0; i < sizes->batch; i++) {
    for (int row = 0; row < m; row++) {
      for (int column = 0; column < n; column++) {
        int sum = 0;
        for (int j = 0; j < k; j++)
          sum += a[row * a_row + j * a_column] * b[j * b_row + column * b_column];
        *out++ = sum;
      }
    }
    if (sizes->a_batched) a += m * k;
    if (sizes->b_batched) b += k * n;
  }
}

/* -- conv2d ---------------------------------------------------------------------------------- */

typedef struct {
  const float *data;
  const Window *window;
} Images;

INLINE int smaller(int a, int b) { return a < b ? a : b; }

/* A panel's pixels: image, row and column of each. */
typedef struct {
  int image[TILE_ROWS], row[TILE_ROWS], column[TILE_ROWS];
} Pixels;

INLINE void find_pixels(Pixels *pixels, int first, int count, int height, int width) {
  for (int i = 0; i < TILE_ROWS; i++) {
    int pixel = first + i, line = pixel / width;
    pixels->image[i] = i < count ? line / height : -1;
    pixels->row[i] = line % height;
    pixels->column[i] = pixel - line * width;
  }
}

/* Rows are output pixels; columns are (filter row, filter column, input channel). */
static void pack_patches(const void *source, float *panels, int first, int count, int k_first,
                         int k_count) {
  const Images *images = source;
  const Window *w = images->window;
  int channels = w->in_channels;
  for (int i = 0; i < count; i += TILE_ROWS) {
    Pixels at;
    find_pixels(&at, first + i, count - i, w->out_height, w->out_width);
    for (int p = 0; p < TILE_ROWS; p++) {
      at.row[p] = at.row[p] * w->stride_height - w->pad_top;
      at.column[p] = at.column[p] * w->stride_width - w->pad_left;
    }
    int tap = k_first / channels, channel = k_first - tap * channels;
    for (int left = k_count; left > 0;) {
      int size = smaller(channels - channel, left);
      int down = tap / w->filter_width * w->dilation_height;
      int right = tap % w->filter_width * w->dilation_width;
      const float *rows[TILE_ROWS];
      for (int p = 0; p < TILE_ROWS; p++) {
        int y = at.row[p] + down, x = at.column[p] + right;
        int inside = at.image[p] >= 0 && (unsigned)y < (unsigned)w->in_height &&
                     (unsigned)x < (unsigned)w->in_width;
        rows[p] = inside ? images->data + channel +
                               ((at.image[p] * w->in_height + y) * w->in_width + x) * channels
                         : zeros;
      }
      interleave_rows(rows, size, panels);
      panels += size * TILE_ROWS;
      left -= size;
      channel = 0;
      tap++;
    }
  }
}

EXPORT(conv2d)
void conv2d(const float *x, const float *filter, float *out, const Window *w) {
  int pixels = w->batch * w->out_height * w->out_width;
  int depth = w->filter_height * w->filter_width * w->in_channels;
  Images images = {x, w};
  Matrix filters = {filter, w->out_channels, 1};
  gemm(pixels, w->out_channels, depth, pack_patches, &images, pack_matrix_b, &filters, out);
}

/* Rows are input pixels; columns are (filter row, filter column, output channel): the elements of
 * dy that the pixel contributed to. */
static void pack_contributions(const void *source, float *panels, int first, int count, int k_first,
                               int k_count) {
  const Images *images = source;
  const Window *w = images->window;
  int channels = w->out_channels;
  for (int i = 0; i < count; i += TILE_ROWS) {
    Pixels at;
    find_pixels(&at, first + i, count - i, w->in_height, w->in_width);
    int tap = k_first / channels, channel = k_first - tap * channels;
    for (int left = k_count; left > 0;) {
      int size = smaller(channels - channel, left);
      int down = tap / w->filter_width, right = tap % w->filter_width;
      const float *rows[TILE_ROWS];
      for (int p = 0; p < TILE_ROWS; p++) {
        int y = output_reading(at.row[p], w->pad_top, down, w->dilation_height, w->stride_height,
                               w->out_height);
        int x = output_reading(at.column[p], w->pad_left, right, w->dilation_width,
                               w->stride_width, w->out_width);
        rows[p] = at.image[p] >= 0 && y >= 0 && x >= 0
                      ? images->data + channel +
                            ((at.image[p] * w->out_height + y) * w->out_width + x) * channels
                      : zeros;
      }
      interleave_rows(rows, size, panels);
      panels += size * TILE_ROWS;
      left -= size;
      channel = 0;
      tap++;
    }
  }
}

/* Rows are (filter row, filter column, output channel); columns are input channels. */
static void pack_transposed_filter(const void *source, float *panels, int first, int count,
                                   int k_first, int k_count) {
  const Images *filters = source;
  int in_channels = filters->window->in_channels, out_channels = filters->window->out_channels;
  for (int j = 0; j < count; j += TILE_COLUMNS) {
    int tap = k_first / out_channels, channel = k_first - tap * out_channels;
    for (int left = k_count; left > 0;) {
      int size = smaller(out_channels - channel, left);
      const float *columns[TILE_COLUMNS];
      for (int c = 0; c < TILE_COLUMNS; c++)
        columns[c] = j + c < count
                         ? filters->data + (tap * in_channels + first + j + c) * out_channels + channel
                         : zeros;
      interleave_columns(columns, size, panels);
      panels += size * TILE_COLUMNS;
      left -= size;
      channel = 0;
      tap++;
    }
  }
}

EXPORT(conv2d_input_gradient)
void conv2d_input_gradient(const float *dy, const float *filter, float *out, const Window *w) {
  int pixels = w->batch * w->in_height * w->in_width;
  int depth = w->filter_height * w->filter_width * w->out_channels;
  Images gradients = {dy, w}, filters = {filter, w};
  gemm(pixels, w->in_channels, depth, pack_contributions, &gradients, pack_transposed_filter,
       &filters, out);
}

/* The patches transposed: rows are (filter row, filter column, input channel), columns pixels. */
static void pack_transposed_patches(const void *source, float *panels, int first, int count,
                                    int k_first, int k_count) {
  const Images *images = source;
  const Window *w = images->window;
  int channels = w->in_channels;
  for (int i = 0; i < count; i += TILE_ROWS) {
    int rows = smaller(count - i, TILE_ROWS);
    int down[TILE_ROWS], right[TILE_ROWS], channel[TILE_ROWS];
    for (int r = 0; r < rows; r++) {
      int tap = (first + i + r) / channels;
      channel[r] = first + i + r - tap * channels;
      down[r] = tap / w->filter_width * w->dilation_height;
      right[r] = tap % w->filter_width * w->dilation_width;
    }
    int one_tap = rows == TILE_ROWS && channel[0] + TILE_ROWS <= channels;
    int line = k_first / w->out_width;
    int image = line / w->out_height, row = line % w->out_height;
    int column = k_first - line * w->out_width;
    for (int k = 0; k < k_count; k++, panels += TILE_ROWS) {
      int top = row * w->stride_height - w->pad_top, start = column * w->stride_width - w->pad_left;
      if (one_tap) {
        int y = top + down[0], x = start + right[0];
        if ((unsigned)y < (unsigned)w->in_height && (unsigned)x < (unsigned)w->in_width) {
          const float *from = images->data + channel[0] +
                              ((image * w->in_height + y) * w->in_width + x) * channels;
          wasm_v128_store(panels, wasm_v128_load(from));
          wasm_v128_store64_lane(panels + 4, wasm_v128_load64_zero(from + 4), 0);
        } else {
          wasm_v128_store(panels, wasm_f32x4_const_splat(0));
          wasm_v128_store64_lane(panels + 4, wasm_f32x4_const_splat(0), 0);
        }
      } else {
        for (int r = 0; r < TILE_ROWS; r++) {
          float value = 0;
          if (r < rows) {
            int y = top + down[r], x = start + right[r];
            if ((unsigned)y < (unsigned)w->in_height && (unsigned)x < (unsigned)w->in_width)
              value = images->data[channel[r] +
                                   ((image * w->in_height + y) * w->in_width + x) * channels];
          }
          panels[r] = value;
        }
      }
      if (++column == w->out_width) {
        column = 0;
        if (++row == w->out_height) {
          row = 0;
          image++;
        }
      }
    }
  }
}

EXPORT(conv2d_filter_gradient)
void conv2d_filter_gradient(const float *x, const float *dy, float *out, const Window *w) {
  int pixels = w->batch * w->out_height * w->out_width;
  int depth = w->filter_height * w->filter_width * w->in_channels;
  Images images = {x, w};
  Matrix gradients = {dy, w->out_channels, 1};
  gemm(depth, w->out_channels, pixels, pack_transposed_patches, &images, pack_matrix_b, &gradients,
       out);
}
