/* matmul and conv2d with its transposes: operands of gemm, packed straight from where they lie.
 *
 * A convolution is the product of the patches of x, one row per output pixel and one column per
 * (filter row, filter column, input channel), with the filter as a matrix. Patches are never
 * written out as a whole: packing a block of them reads x.
 */
#include "gemm.h"
#include "window.h"

/* -- matmul ---------------------------------------------------------------------------------- */

/* The fields of geometry.MatmulSizes, in order. */
typedef struct {
  int batch, m, k, n, transpose_a, transpose_b, a_batched, b_batched;
} MatmulSizes;

/* A product with a single row or column reads its matrix once, so packing would double the work.
 * out (n) = x (k) M (k, n), row by row: eight at a time, so that out is seldom read and written. */
static void NOINLINE row_times_matrix(const float *x, const float *matrix, float *out, int k,
                                      int n) {
  __builtin_memset(out, 0, n * sizeof(float));
  for (int i = 0; i < k; i += 8) {
    vf factors[8];
    const float *rows[8];
    for (int j = 0; j < 8; j++) {
      int inside = i + j < k;
      factors[j] = vset(inside ? x[i + j] : 0);
      rows[j] = inside ? matrix + (i + j) * n : 0;
    }
    if (i + 8 > k) { /* the last, partial group: one row at a time */
      for (int j = 0; rows[j]; j++)
        for (int c = 0; c < n; c += 4)
          store_up_to(out + c, vmadd(factors[j], load(rows[j] + c), load((const float *)out + c)),
                      n - c);
      return;
    }
    for (int c = 0; c < n; c += 4) {
      vf even = vmadd(factors[0], load(rows[0] + c), load((const float *)out + c));
      vf odd = factors[1] * load(rows[1] + c);
      even = vmadd(factors[2], load(rows[2] + c), even);
      odd = vmadd(factors[3], load(rows[3] + c), odd);
      even = vmadd(factors[4], load(rows[4] + c), even);
      odd = vmadd(factors[5], load(rows[5] + c), odd);
      even = vmadd(factors[6], load(rows[6] + c), even);
      odd = vmadd(factors[7], load(rows[7] + c), odd);
      store_up_to(out + c, even + odd, n - c);
    }
  }
}

/* out (n) = M (n, k) x (k): dot products. */
static void NOINLINE matrix_times_column(const float *matrix, const float *x, float *out, int k,
                                         int n) {
  for (int row = 0; row < n; row++, matrix += k) {
    vf s0 = vset(0), s1 = s0, s2 = s0, s3 = s0;
    int i = 0;
    for (; i + 16 <= k; i += 16) {
      s0 = vmadd(load(matrix + i), load(x + i), s0);
      s1 = vmadd(load(matrix + i + 4), load(x + i + 4), s1);
      s2 = vmadd(load(matrix + i + 8), load(x + i + 8), s2);
      s3 = vmadd(load(matrix + i + 12), load(x + i + 12), s3);
    }
    for (; i < k; i += 4)
      s0 = s0 + vsel(first_lanes(k - i), load(matrix + i) * load(x + i), vset(0));
    out[row] = lanes_sum((s0 + s1) + (s2 + s3));
  }
}

EXPORT(matmul_float32)
void matmul_float32(const float *a, const float *b, float *out, const MatmulSizes *sizes,
                    const float *bias, int activation, float alpha, int part, int parts) {
  Finish finish = {bias, activation, alpha};
  int m = sizes->m, k = sizes->k, n = sizes->n, first = 0, end = sizes->batch;
  if (end >= parts) { /* whole products for each part */
    find_piece(sizes->batch, 1, part, parts, &first, &end);
    parts = 0;
  }
  if (sizes->a_batched) a += first * m * k;
  if (sizes->b_batched) b += first * k * n;
  out += first * m * n;
  for (int i = first; i < end; i++) {
    if (m == 1) {
      if (sizes->transpose_b)
        matrix_times_column(b, a, out, k, n);
      else
        row_times_matrix(a, b, out, k, n);
    } else if (n == 1) {
      if (sizes->transpose_a)
        row_times_matrix(b, a, out, k, m);
      else
        matrix_times_column(a, b, out, k, m);
    } else {
      Matrix left = {a, sizes->transpose_a ? 1 : k, sizes->transpose_a ? m : 1};
      Matrix right = {b, sizes->transpose_b ? 1 : n, sizes->transpose_b ? k : 1};
      gemm(m, n, k, (Left){pack_matrix_a, &left, 0}, (Right){pack_matrix_b, &right}, out, &finish,
           part, parts);
    }
    if (bias && (m == 1 || n == 1)) finish_rows(&finish, out, m, n, 0, n);
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
INLINE int inside(int at, int length) { return (unsigned)at < (unsigned)length; }

/* A panel's pixels: image, row and column of each; the image is -1 beyond the last pixel. */
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

/* With few channels, a filter row's stretch of x is packed at once; up to so many floats. */
#define SHORT_STRETCH 64

/* Where the stretch that begins at column x lies, or its copy with zeros where it overhangs x. */
INLINE const float *stretch_at(const Images *images, int image, int y, int x, float *buffer) {
  const Window *w = images->window;
  int channels = w->in_channels;
  if (image < 0 || !inside(y, w->in_height)) return zeros;
  const float *line = images->data + (image * w->in_height + y) * w->in_width * channels;
  if (x >= 0 && x + w->filter_width <= w->in_width) return line + x * channels;
  int begin = x < 0 ? -x : 0, end = smaller(w->filter_width, w->in_width - x);
  for (int i = 0; i < w->filter_width * channels; i++) buffer[i] = 0;
  for (int i = begin * channels; i < end * channels; i++) buffer[i] = line[x * channels + i];
  return buffer;
}

/* Rows are output pixels; columns are (filter row, filter column, input channel). */
static void pack_patches(const void *source, float *panels, int first, int count, int k_first,
                         int k_count) {
  const Images *images = source;
  const Window *w = images->window;
  int channels = w->in_channels, stretch = channels * w->filter_width;
  int stretches = w->dilation_width == 1 && stretch <= SHORT_STRETCH;
  int unit = stretches ? stretch : channels;
  float buffers[TILE_ROWS][SHORT_STRETCH + 4];
  for (int i = 0; i < count; i += TILE_ROWS) {
    Pixels at;
    find_pixels(&at, first + i, count - i, w->out_height, w->out_width);
    for (int p = 0; p < TILE_ROWS; p++) {
      at.row[p] = at.row[p] * w->stride_height - w->pad_top;
      at.column[p] = at.column[p] * w->stride_width - w->pad_left;
    }
    /* Segments of x: a whole stretch, or the channels at one tap. */
    int segment = k_first / unit, offset = k_first - segment * unit;
    for (int left = k_count; left > 0;) {
      int size = smaller(unit - offset, left);
      const float *rows[TILE_ROWS];
      if (stretches) {
        for (int p = 0; p < TILE_ROWS; p++)
          rows[p] = offset + stretch_at(images, at.image[p],
                                        at.row[p] + segment * w->dilation_height, at.column[p],
                                        buffers[p]);
      } else {
        int down = segment / w->filter_width * w->dilation_height;
        int right = segment % w->filter_width * w->dilation_width;
        for (int p = 0; p < TILE_ROWS; p++) {
          int y = at.row[p] + down, x = at.column[p] + right;
          rows[p] = at.image[p] >= 0 && inside(y, w->in_height) && inside(x, w->in_width)
                        ? images->data + offset +
                              ((at.image[p] * w->in_height + y) * w->in_width + x) * channels
                        : zeros;
        }
      }
      interleave_rows(rows, size, panels);
      panels += size * TILE_ROWS;
      left -= size;
      offset = 0;
      segment++;
    }
  }
}

EXPORT(conv2d)
void conv2d(const float *x, const float *filter, float *out, const Window *w, const float *bias,
            int activation, float alpha, int part, int parts) {
  Finish finish = {bias, activation, alpha};
  int pixels = w->batch * w->out_height * w->out_width;
  int depth = w->filter_height * w->filter_width * w->in_channels;
  Images images = {x, w};
  Matrix filters = {filter, w->out_channels, 1};
  gemm(pixels, w->out_channels, depth, (Left){pack_patches, &images, 0},
       (Right){pack_matrix_b, &filters}, out, &finish, part, parts);
}

/* -- conv2d_input_gradient ------------------------------------------------------------------- */

/* With strides, input pixels fall into phases: those whose row and column leave the same remainders
 * are reached by the same taps, and by no others. Each phase is a product of its own. Along an
 * axis, a phase is every `stride`-th position from `start`, and every `step`-th tap from
 * `first`. */
typedef struct {
  int start, count; /* positions */
  int first, step, taps;
} PhaseAxis;

typedef struct {
  Images gradients, filters;
  PhaseAxis vertical, horizontal;
} Phase;

static PhaseAxis find_phase(int start, int length, int pad, int stride, int dilation, int taps) {
  PhaseAxis axis = {start, (length - start + stride - 1) / stride, 0, 1, 0};
  while (axis.first < taps && (start + pad - axis.first * dilation) % stride) axis.first++;
  while (axis.step * dilation % stride) axis.step++;
  if (axis.first < taps) axis.taps = (taps - axis.first + axis.step - 1) / axis.step;
  return axis;
}

static void place_phase(const void *source, int *offsets, int first, int count) {
  const Phase *phase = source;
  const Window *w = phase->gradients.window;
  for (int i = 0; i < count; i++) {
    int line = (first + i) / phase->horizontal.count;
    int image = line / phase->vertical.count;
    int row = phase->vertical.start + line % phase->vertical.count * w->stride_height;
    int column = phase->horizontal.start +
                 (first + i - line * phase->horizontal.count) * w->stride_width;
    offsets[i] = ((image * w->in_height + row) * w->in_width + column) * w->in_channels;
  }
}

/* Rows are the phase's pixels; columns are (tap, output channel): the elements of dy that the pixel
 * contributed to. */
static void pack_contributions(const void *source, float *panels, int first, int count, int k_first,
                               int k_count) {
  const Phase *phase = source;
  const Window *w = phase->gradients.window;
  int channels = w->out_channels;
  for (int i = 0; i < count; i += TILE_ROWS) {
    Pixels at;
    find_pixels(&at, first + i, count - i, phase->vertical.count, phase->horizontal.count);
    for (int p = 0; p < TILE_ROWS; p++) {
      at.row[p] = phase->vertical.start + at.row[p] * w->stride_height;
      at.column[p] = phase->horizontal.start + at.column[p] * w->stride_width;
    }
    int tap = k_first / channels, channel = k_first - tap * channels;
    for (int left = k_count; left > 0;) {
      int size = smaller(channels - channel, left);
      int down = phase->vertical.first + tap / phase->horizontal.taps * phase->vertical.step;
      int right = phase->horizontal.first + tap % phase->horizontal.taps * phase->horizontal.step;
      const float *rows[TILE_ROWS];
      for (int p = 0; p < TILE_ROWS; p++) {
        int y = output_reading(at.row[p], w->pad_top, down, w->dilation_height, w->stride_height,
                               w->out_height);
        int x = output_reading(at.column[p], w->pad_left, right, w->dilation_width,
                               w->stride_width, w->out_width);
        rows[p] = at.image[p] >= 0 && y >= 0 && x >= 0
                      ? phase->gradients.data + channel +
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

/* Rows are (tap of the phase, output channel); columns are input channels. */
static void pack_transposed_filter(const void *source, float *panels, int first, int count,
                                   int k_first, int k_count) {
  const Phase *phase = source;
  const Window *w = phase->filters.window;
  for (int j = 0; j < count; j += TILE_COLUMNS) {
    int tap = k_first / w->out_channels, channel = k_first - tap * w->out_channels;
    for (int left = k_count; left > 0;) {
      int size = smaller(w->out_channels - channel, left);
      int down = phase->vertical.first + tap / phase->horizontal.taps * phase->vertical.step;
      int right = phase->horizontal.first + tap % phase->horizontal.taps * phase->horizontal.step;
      const float *from = phase->filters.data + channel +
                          ((down * w->filter_width + right) * w->in_channels + first + j) *
                              w->out_channels;
      const float *columns[TILE_COLUMNS];
      for (int c = 0; c < TILE_COLUMNS; c++)
        columns[c] = j + c < count ? from + c * w->out_channels : zeros;
      interleave_columns(columns, size, panels);
      panels += size * TILE_COLUMNS;
      left -= size;
      channel = 0;
      tap++;
    }
  }
}

EXPORT(conv2d_input_gradient)
void conv2d_input_gradient(const float *dy, const float *filter, float *out, const Window *w,
                           int part, int parts) {
  Phase phase = {{dy, w}, {filter, w}, {0}, {0}};
  /* A phase that no tap reaches stays zero; parts are only asked for where there is one phase. */
  if (parts < 2)
    __builtin_memset(out, 0,
                     w->batch * w->in_height * w->in_width * w->in_channels * sizeof(float));
  for (int top = 0; top < smaller(w->stride_height, w->in_height); top++) {
    phase.vertical = find_phase(top, w->in_height, w->pad_top, w->stride_height,
                                w->dilation_height, w->filter_height);
    for (int start = 0; start < smaller(w->stride_width, w->in_width); start++) {
      phase.horizontal = find_phase(start, w->in_width, w->pad_left, w->stride_width,
                                    w->dilation_width, w->filter_width);
      int depth = phase.vertical.taps * phase.horizontal.taps * w->out_channels;
      if (!depth) continue;
      int pixels = w->batch * phase.vertical.count * phase.horizontal.count;
      gemm(pixels, w->in_channels, depth, (Left){pack_contributions, &phase, place_phase},
           (Right){pack_transposed_filter, &phase}, out, 0, part, parts);
    }
  }
}

/* -- conv2d_filter_gradient ------------------------------------------------------------------ */

/* The patches transposed: rows are (filter row, filter column, input channel), columns pixels. They
 * are packed line by line of output pixels, so that bounds are found once a line. */
static void pack_transposed_patches(const void *source, float *panels, int first, int count,
                                    int k_first, int k_count) {
  const Images *images = source;
  const Window *w = images->window;
  int channels = w->in_channels, step = w->stride_width * channels;
  for (int i = 0; i < count; i += TILE_ROWS) {
    int rows = smaller(count - i, TILE_ROWS);
    for (int k = k_first; k < k_first + k_count;) {
      int line = k / w->out_width, column = k - line * w->out_width;
      int pixels = smaller(w->out_width - column, k_first + k_count - k);
      int image = line / w->out_height;
      int top = line % w->out_height * w->stride_height - w->pad_top;
      for (int r = 0; r < TILE_ROWS;) {
        int tap = (first + i + r) / channels, channel = first + i + r - tap * channels;
        /* Rows that share the tap lie side by side. */
        int group = r < rows ? smaller(rows - r, channels - channel) : TILE_ROWS - r;
        int y = top + tap / w->filter_width * w->dilation_height;
        int x = column * w->stride_width - w->pad_left +
                tap % w->filter_width * w->dilation_width;
        int begin = 0, end = 0;
        if (r < rows && inside(y, w->in_height))
          valid_taps(x, w->in_width, pixels, w->stride_width, &begin, &end);
        float *to = panels + r;
        for (int p = 0; p < pixels; p++)
          if (p < begin || p >= end)
            for (int g = 0; g < group; g++) to[p * TILE_ROWS + g] = 0;
        const float *from = images->data + channel +
                            ((image * w->in_height + y) * w->in_width + x) * channels;
        if (group == TILE_ROWS) {
          for (int p = begin; p < end; p++) {
            const float *six = from + p * step;
            wasm_v128_store(to + p * TILE_ROWS, wasm_v128_load(six));
            wasm_v128_store64_lane(to + p * TILE_ROWS + 4, wasm_v128_load64_zero(six + 4), 0);
          }
        } else {
          for (int g = 0; g < group; g++)
            for (int p = begin; p < end; p++) to[p * TILE_ROWS + g] = from[p * step + g];
        }
        r += group;
      }
      panels += pixels * TILE_ROWS;
      k += pixels;
    }
  }
}

EXPORT(conv2d_filter_gradient)
void conv2d_filter_gradient(const float *x, const float *dy, float *out, const Window *w, int part,
                            int parts) {
  int pixels = w->batch * w->out_height * w->out_width;
  int depth = w->filter_height * w->filter_width * w->in_channels;
  Images images = {x, w};
  Matrix gradients = {dy, w->out_channels, 1};
  gemm(depth, w->out_channels, pixels, (Left){pack_transposed_patches, &images, 0},
       (Right){pack_matrix_b, &gradients}, out, 0, part, parts);
}
