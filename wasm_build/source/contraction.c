/* matmul and conv2d with its transposes: operands of gemm, packed directly from memory.
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
 * out (n) += x (k) M (k, n), row by row: eight at a time, so that out is seldom read and
 * written. */
static void NOINLINE add_row_times_matrix(const float *x, const float *matrix, float *out, int k,
                                          int n, int stride) {
  for (int i = 0; i < k; i += 8) {
    vf factors[8];
    const float *rows[8];
    for (int j = 0; j < 8; j++) {
      int inside = i + j < k;
      factors[j] = vset(inside ? x[i + j] : 0);
      rows[j] = inside ? matrix + (i + j) * stride : 0;
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

/* A part of a product with a single row or column. */
static void multiply_vector(const MatmulSizes *sizes, const float *a, const float *b, float *out,
                            const Epilogue *epilogue, int part, int parts) {
  int is_row = sizes->m == 1, size = is_row ? sizes->n : sizes->m, k = sizes->k, first, end;
  const float *vector = is_row ? a : b, *matrix = is_row ? b : a;
  find_piece(size, 16, part, parts, &first, &end);
  out += first;
  if (is_row ? sizes->transpose_b : !sizes->transpose_a) {
    matrix_times_column(matrix + first * k, vector, out, k, end - first);
  } else {
    __builtin_memset(out, 0, (end - first) * sizeof(float));
    add_row_times_matrix(vector, matrix + first, out, k, end - first, size);
  }
  if (!epilogue->bias) return;
  if (is_row)
    apply_epilogue(epilogue, out, 1, 0, first, end - first);
  else
    apply_epilogue(epilogue, out, end - first, 1, 0, 1);
}

EXPORT(matmul_float32)
void matmul_float32(const float *a, const float *b, float *out, const MatmulSizes *sizes,
                    const float *packed_b, const float *bias, int activation, float alpha,
                    const float *slopes, const float *residual, int part, int parts) {
  Epilogue epilogue = {bias, activation, alpha, slopes, residual, out};
  int m = sizes->m, k = sizes->k, n = sizes->n, first = 0, end = sizes->batch;
  if (end >= parts) { /* whole products for each part */
    find_piece(sizes->batch, 1, part, parts, &first, &end);
    parts = 0;
  }
  if (sizes->a_batched) a += first * m * k;
  if (sizes->b_batched) b += first * k * n;
  out += first * m * n;
  for (int i = first; i < end; i++) {
    if (m == 1 || n == 1) {
      multiply_vector(sizes, a, b, out, &epilogue, part, parts);
    } else {
      Matrix left = {a, 1, m};
      Matrix right = {b, sizes->transpose_b ? 1 : n, sizes->transpose_b ? k : 1};
      Left rows = {.form = ROWS_IN_PLACE, .source = a, .stride = k};
      Left columns = {.form = PACKED_PANELS, .source = &left, .pack = pack_panels_a};
      gemm(m, n, k, sizes->transpose_a ? columns : rows, (Right){packed_b, pack_panels_b, &right},
           out, &epilogue, part, parts);
    }
    if (sizes->a_batched) a += m * k;
    if (sizes->b_batched) b += k * n;
    out += m * n;
  }
}

EXPORT(matmul_int32)
void matmul_int32(const int *a, const int *b, int *out, const MatmulSizes *sizes) {
  int m = sizes->m, k = sizes->k, n = sizes->n;
  int a_row = sizes->transpose_a ? 1 : k, a_column = sizes->transpose_a ? m : 1;
  for (int i = 0; i < sizes->batch; i++) {
    for (int row = 0; row < m; row++, out += n) {
      const int *left = a + row * a_row;
      /* The inner loops are over adjacent elements of b, of which vectors hold four. */
      if (sizes->transpose_b) {
        for (int column = 0; column < n; column++) {
          int sum = 0;
          for (int j = 0; j < k; j++) sum += left[j * a_column] * b[column * k + j];
          out[column] = sum;
        }
      } else {
        __builtin_memset(out, 0, n * sizeof(int));
        for (int j = 0; j < k; j++) {
          int factor = left[j * a_column];
          for (int column = 0; column < n; column++) out[column] += factor * b[j * n + column];
        }
      }
    }
    if (sizes->a_batched) a += m * k;
    if (sizes->b_batched) b += k * n;
  }
}

/* -- conv2d ---------------------------------------------------------------------------------- */

/* Images, or filters, and how far pixels are apart: by the channels of all groups. */
typedef struct {
  const float *data;
  const Window *window;
  int pixel;
} Images;

INLINE int inside(int at, int length) { return (unsigned)at < (unsigned)length; }

/* Where an output pixel is, and of which image. */
typedef struct {
  int image, row, column;
} Pixel;

INLINE Pixel find_pixel(int number, int height, int width) {
  int line = number / width, image = line / height;
  return (Pixel){image, line - image * height, number - line * width};
}

/* Copies whole vectors: up to 12 bytes too many, which whoever packs writes next. */
INLINE void copy(float *to, const float *from, int count) {
  for (int i = 0; i < count; i += 4) store(to + i, load(from + i));
}
INLINE void clear(float *to, int count) {
  for (int i = 0; i < count; i += 4) store(to + i, vset(0));
}

/* Rows are output pixels; columns are (filter row, filter column, input channel). No channels of
 * other groups lie between. */
static void NOINLINE pack_patches(const void *source, float *to, int first, int count, int k_first,
                                  int k_count) {
  const Images *images = source;
  const Window *w = images->window;
  int channels = w->in_channels;
  /* What is copied at once: a filter row, whose taps lie side by side, or one tap. */
  int taps = w->dilation_width == 1 ? w->filter_width : 1;
  int unit = taps * channels, units = w->filter_width / taps, k_end = k_first + k_count;
  int first_unit = k_first / unit;
  for (int pixel = first; pixel < first + count; pixel++) {
    Pixel at = find_pixel(pixel, w->out_height, w->out_width);
    int top = at.row * w->stride_height - w->pad_top;
    int start = at.column * w->stride_width - w->pad_left;
    const float *image = images->data + at.image * w->in_height * w->in_width * channels;
    int filter_row = first_unit / units, tap = first_unit - filter_row * units;
    for (int k = first_unit * unit; k < k_end; k += unit) {
      int y = top + filter_row * w->dilation_height, x = start + tap * w->dilation_width;
      /* Of the unit's floats, those from begin to end are wanted; those before `left` and from
       * `right` on lie outside the image. */
      int begin = k < k_first ? k_first - k : 0, end = smaller(unit, k_end - k);
      int left = 0, right = 0;
      if (inside(y, w->in_height)) {
        left = x < 0 ? -x * channels : 0;
        right = smaller(taps, w->in_width - x) * channels;
      }
      if (left < begin) left = begin;
      if (right > end) right = end;
      if (left < right) {
        clear(to, left - begin);
        copy(to + left - begin, image + (y * w->in_width + x) * channels + left, right - left);
        clear(to + right - begin, end - right);
      } else {
        clear(to, end - begin);
      }
      to += end - begin;
      if (++tap == units) {
        tap = 0;
        filter_row++;
      }
    }
  }
}

/* A convolution being computed. */
typedef struct {
  const Images *images;
  const float *filter, *packed;
  float *out;
  const Epilogue *epilogue;
  int depth;
  int columns; /* of the filter and of the result, those of other groups included */
} Convolution;

/* Multiplies patches from one output pixel on. */
static void NOINLINE multiply_patches(const Convolution *conv, Left patches, int first, int count,
                                      int part, int parts) {
  Matrix filters = {conv->filter, conv->columns, 1};
  patches.result_stride = conv->columns;
  gemm(count, conv->images->window->out_channels, conv->depth, patches,
       (Right){conv->packed, pack_panels_b, &filters}, conv->out + first * conv->columns,
       conv->epilogue, part, parts);
}

/* Patches of consecutive pixels, packed from where the first is. */
typedef struct {
  const Images *images;
  int first;
} Stretch;

static void pack_stretch(const void *source, float *to, int first, int count, int k_first,
                         int k_count) {
  const Stretch *stretch = source;
  pack_patches(stretch->images, to, stretch->first + first, count, k_first, k_count);
}

static void NOINLINE multiply_packed(const Convolution *conv, int first, int count, int part,
                                     int parts) {
  Stretch stretch = {conv->images, first};
  Left patches = {.form = PACKED_ROWS, .source = &stretch, .pack = pack_stretch};
  if (count > 0) multiply_patches(conv, patches, first, count, part, parts);
}

/* Whether patches are pixels of x in place. */
INLINE int reads_pixels(const Window *w) {
  return w->filter_height * w->filter_width == 1 && w->stride_height * w->stride_width == 1 &&
         w->pad_top + w->pad_left == 0 && w->out_height == w->in_height &&
         w->out_width == w->in_width;
}

/* The lines of the input that a line of the result is computed from, with zeros around them. */
#define PADDED_LINES 4096

/* Copies them: as many as the filter has rows, of `size` floats each. */
static void pad_lines(const Images *images, int image, int row, int size, float *to) {
  const Window *w = images->window;
  int before = smaller(w->pad_left * w->in_channels, size), row_size = w->in_width * w->in_channels;
  int count = smaller(row_size, size - before);
  for (int i = 0; i < w->filter_height; i++, to += size) {
    int y = row * w->stride_height - w->pad_top + i;
    if (inside(y, w->in_height)) {
      clear(to, before);
      copy(to + before, images->data + (image * w->in_height + y) * row_size, count);
      clear(to + before + count, size - before - count);
    } else {
      clear(to, size);
    }
  }
}

/* Patches of few channels are read in place, filter row by filter row, line by line of the
 * result; where they overhang the input, from a padded copy of the line, or packed. */
static void multiply_lines(const Convolution *conv, int part, int parts) {
  const Window *w = conv->images->window;
  int row_size = w->in_width * w->in_channels, width = w->out_width;
  int row_part = w->filter_width * w->in_channels;
  int padded_size = ((width - 1) * w->stride_width + w->filter_width) * w->in_channels;
  int fits = w->filter_height * padded_size <= PADDED_LINES;
  float padded[PADDED_LINES + 4];
  int top, bottom, left, right, first, end;
  find_inner(w->pad_top, w->stride_height, w->filter_height, w->in_height, w->out_height, &top,
             &bottom);
  find_inner(w->pad_left, w->stride_width, w->filter_width, w->in_width, width, &left, &right);
  find_piece(w->batch * w->out_height, 1, part, parts, &first, &end);
  for (int line = first; line < end; line++) {
    int image = line / w->out_height, row = line - image * w->out_height;
    int inner = row >= top && row < bottom && left < right;
    if (fits && !(inner && left == 0 && right == width)) {
      pad_lines(conv->images, image, row, padded_size, padded);
      Left patches = {.form = ROWS_IN_PLACE,
                      .source = padded,
                      .stride = w->stride_width * w->in_channels,
                      .segments = w->filter_height,
                      .skip = padded_size - row_part};
      multiply_patches(conv, patches, line * width, width, 0, 0);
      continue;
    }
    int begin = inner ? left : width, behind = inner ? right : width;
    multiply_packed(conv, line * width, begin, 0, 0);
    if (inner) {
      int y = image * w->in_height + row * w->stride_height - w->pad_top;
      int x = left * w->stride_width - w->pad_left;
      Left patches = {.form = ROWS_IN_PLACE,
                      .source = conv->images->data + y * row_size + x * w->in_channels,
                      .stride = w->stride_width * w->in_channels,
                      .segments = w->filter_height,
                      .skip = row_size - row_part};
      multiply_patches(conv, patches, line * width + left, right - left, 0, 0);
    }
    multiply_packed(conv, line * width + behind, width - behind, 0, 0);
  }
}

/* A single patch is multiplied by the unpacked filter, which is read only once. */
static void multiply_patch(const Convolution *conv, int part, int parts) {
  float patch[BLOCK_DEPTH + 4];
  int first, end;
  find_piece(conv->images->window->out_channels, 4, part, parts, &first, &end);
  __builtin_memset(conv->out + first, 0, (end - first) * sizeof(float));
  for (int k = 0; k < conv->depth; k += BLOCK_DEPTH) {
    int depth = smaller(conv->depth - k, BLOCK_DEPTH);
    pack_patches(conv->images, patch, 0, 1, k, depth);
    add_row_times_matrix(patch, conv->filter + k * conv->columns + first, conv->out + first, depth,
                         end - first, conv->columns);
  }
  if (conv->epilogue->bias)
    apply_epilogue(conv->epilogue, conv->out + first, 1, 0, first, end - first);
}

static void convolve(Convolution *conv, int part, int parts) {
  const Window *w = conv->images->window;
  int pixels = w->batch * w->out_height * w->out_width;
  int is_small = conv->depth * padded_columns(w->out_channels) <= BLOCK_DEPTH * TILE_COLUMNS;
  if (pixels == 1) {
    multiply_patch(conv, part, parts);
  } else if (reads_pixels(w)) {
    Left rows = {
        .form = ROWS_IN_PLACE, .source = conv->images->data, .stride = conv->images->pixel};
    multiply_patches(conv, rows, 0, pixels, part, parts);
  } else if ((conv->packed || is_small) && conv->depth <= BLOCK_DEPTH &&
             w->dilation_height * w->dilation_width == 1) {
    float small[BLOCK_DEPTH * TILE_COLUMNS];
    if (!conv->packed) { /* once for all lines */
      Matrix filters = {conv->filter, conv->columns, 1};
      pack_panels_b(&filters, small, 0, w->out_channels, 0, conv->depth);
      conv->packed = small;
    }
    multiply_lines(conv, part, parts);
  } else {
    multiply_packed(conv, 0, pixels, part, parts);
  }
}

/* x is (groups, batch, height, width, channels of a group), or, where pixels are read in place,
 * (batch, height, width, channels). */
EXPORT(conv2d)
void conv2d(const float *x, const float *filter, float *out, const Window *w, int groups,
            const float *packed, const float *bias, int activation, float alpha,
            const float *slopes, const float *residual, int part, int parts) {
  Window one = window_of_group(w, groups);
  int in_place = reads_pixels(w), depth = w->filter_height * w->filter_width * one.in_channels;
  int next = in_place ? one.in_channels : images_size(&one), columns = one.out_channels;
  int panels = padded_columns(columns) * depth;
  for (int group = 0; group < groups; group++) {
    Images images = {x + group * next, &one, in_place ? w->in_channels : one.in_channels};
    Epilogue epilogue =
        epilogue_from(bias, activation, alpha, slopes, residual, out, group * columns);
    Convolution conv = {&images, filter + group * columns, packed ? packed + group * panels : 0,
                        out + group * columns, &epilogue, depth, w->out_channels};
    convolve(&conv, part, parts);
  }
}

/* -- conv2d_input_gradient ------------------------------------------------------------------- */

/* With strides, input pixels fall into phases: those whose row and column leave the same remainders
 * are reached by the same taps, and by no others. Each phase is a separate product. Along an
 * axis, a phase is every `stride`-th position from `start`, and every `step`-th tap from
 * `first`. */
typedef struct {
  int start, count; /* positions */
  int first, step, taps;
} PhaseAxis;

typedef struct {
  Images gradients, filters;
  int pixel; /* of the result */
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
    offsets[i] = ((image * w->in_height + row) * w->in_width + column) * phase->pixel;
  }
}

/* Rows are the phase's pixels; columns are (tap, output channel): the elements of dy that the pixel
 * contributed to. */
static void NOINLINE pack_contributions(const void *source, float *to, int first, int count,
                                        int k_first, int k_count) {
  const Phase *phase = source;
  const Window *w = phase->gradients.window;
  int channels = w->out_channels;
  for (int pixel = first; pixel < first + count; pixel++) {
    Pixel at = find_pixel(pixel, phase->vertical.count, phase->horizontal.count);
    int row = phase->vertical.start + at.row * w->stride_height;
    int column = phase->horizontal.start + at.column * w->stride_width;
    int tap = k_first / channels, channel = k_first - tap * channels;
    for (int left = k_count; left > 0;) {
      int size = smaller(channels - channel, left);
      int down = phase->vertical.first + tap / phase->horizontal.taps * phase->vertical.step;
      int right = phase->horizontal.first + tap % phase->horizontal.taps * phase->horizontal.step;
      int y = output_reading(row, w->pad_top, down, w->dilation_height, w->stride_height,
                             w->out_height);
      int x = output_reading(column, w->pad_left, right, w->dilation_width, w->stride_width,
                             w->out_width);
      if (y >= 0 && x >= 0)
        copy(to, phase->gradients.data + channel +
                     ((at.image * w->out_height + y) * w->out_width + x) * phase->gradients.pixel,
             size);
      else
        clear(to, size);
      to += size;
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
                              phase->filters.pixel;
      const float *columns[TILE_COLUMNS];
      for (int c = 0; c < TILE_COLUMNS; c++)
        columns[c] = j + c < count ? from + c * phase->filters.pixel : zeros;
      interleave_columns(columns, size, panels);
      panels += size * TILE_COLUMNS;
      left -= size;
      channel = 0;
      tap++;
    }
  }
}

/* Computes phase after phase. One that no tap reaches stays zero; there are several parts only
 * where there is one phase. */
static void propagate(Phase phase, float *out, int part, int parts) {
  const Window *w = phase.gradients.window;
  int one_phase = w->stride_height * w->stride_width == 1; /* whose rows follow one another */
  for (int top = 0; top < smaller(w->stride_height, w->in_height); top++) {
    phase.vertical = find_phase(top, w->in_height, w->pad_top, w->stride_height,
                                w->dilation_height, w->filter_height);
    for (int start = 0; start < smaller(w->stride_width, w->in_width); start++) {
      phase.horizontal = find_phase(start, w->in_width, w->pad_left, w->stride_width,
                                    w->dilation_width, w->filter_width);
      int depth = phase.vertical.taps * phase.horizontal.taps * w->out_channels;
      if (!depth) continue;
      int pixels = w->batch * phase.vertical.count * phase.horizontal.count;
      Left contributions = {.form = PACKED_ROWS,
                            .source = &phase,
                            .pack = pack_contributions,
                            .place = one_phase ? 0 : place_phase,
                            .result_stride = phase.pixel};
      gemm(pixels, w->in_channels, depth, contributions, (Right){0, pack_transposed_filter, &phase},
           out, 0, part, parts);
    }
  }
}

EXPORT(conv2d_input_gradient)
void conv2d_input_gradient(const float *dy, const float *filter, float *out, const Window *w,
                           int groups, int part, int parts) {
  Window one = window_of_group(w, groups);
  if (parts < 2) __builtin_memset(out, 0, images_size(w) * sizeof(float));
  for (int channel = 0; channel < w->out_channels; channel += one.out_channels) {
    Phase phase = {.gradients = {dy + channel, &one, w->out_channels},
                   .filters = {filter + channel, &one, w->out_channels},
                   .pixel = w->in_channels};
    propagate(phase, out, part, parts);
    out += one.in_channels;
  }
}

/* -- conv2d_filter_gradient ------------------------------------------------------------------ */

/* Rows of a panel of transposed patches, from `row` on, that share a tap, so that their elements lie
 * side by side in the input. Rows that fill up the last panel are 0: their channel is -1. */
typedef struct {
  int row, rows, channel, y, x;
} TapRows;

/* Writes the groups of the panel whose first row is `first`, with `rows` rows of patches; returns
 * how many groups there are. */
static int find_tap_rows(const Window *w, int first, int rows, TapRows groups[TILE_ROWS]) {
  int count = 0;
  for (int row = 0; row < rows; count++) {
    int tap = (first + row) / w->in_channels, channel = first + row - tap * w->in_channels;
    groups[count] = (TapRows){row, smaller(rows - row, w->in_channels - channel), channel,
                              tap / w->filter_width * w->dilation_height - w->pad_top,
                              tap % w->filter_width * w->dilation_width - w->pad_left};
    row += groups[count].rows;
  }
  if (rows < TILE_ROWS) groups[count++] = (TapRows){rows, TILE_ROWS - rows, -1, 0, 0};
  return count;
}

/* The patches transposed: rows are (filter row, filter column, input channel), columns pixels. They
 * are packed line by line of output pixels, so that bounds are found once a line. */
static void pack_transposed_patches(const void *source, float *panels, int first, int count,
                                    int k_first, int k_count) {
  const Images *images = source;
  const Window *w = images->window;
  int step = w->stride_width * images->pixel;
  for (int i = 0; i < count; i += TILE_ROWS) {
    TapRows groups[TILE_ROWS];
    int group_count = find_tap_rows(w, first + i, smaller(count - i, TILE_ROWS), groups);
    for (int k = k_first; k < k_first + k_count;) {
      int line = k / w->out_width, column = k - line * w->out_width;
      int pixels = smaller(w->out_width - column, k_first + k_count - k);
      int image = line / w->out_height;
      int top = line % w->out_height * w->stride_height, left = column * w->stride_width;
      for (int group = 0; group < group_count; group++) {
        TapRows part = groups[group];
        int y = top + part.y, x = left + part.x, begin = 0, end = 0;
        const float *from = 0;
        if (part.channel >= 0 && inside(y, w->in_height)) {
          valid_taps(x, w->in_width, pixels, w->stride_width, &begin, &end);
          from = images->data + part.channel +
                 ((image * w->in_height + y) * w->in_width + x) * images->pixel;
        }
        float *to = panels + part.row;
        for (int g = 0; g < part.rows; g++) {
          for (int p = 0; p < begin; p++) to[p * TILE_ROWS + g] = 0;
          for (int p = end; p < pixels; p++) to[p * TILE_ROWS + g] = 0;
        }
        if (part.rows == TILE_ROWS) {
          for (int p = begin; p < end; p++) {
            const float *six = from + p * step;
            wasm_v128_store(to + p * TILE_ROWS, wasm_v128_load(six));
            wasm_v128_store64_lane(to + p * TILE_ROWS + 4, wasm_v128_load64_zero(six + 4), 0);
          }
        } else {
          for (int g = 0; g < part.rows; g++)
            for (int p = begin; p < end; p++) to[p * TILE_ROWS + g] = from[p * step + g];
        }
      }
      panels += pixels * TILE_ROWS;
      k += pixels;
    }
  }
}

EXPORT(conv2d_filter_gradient)
void conv2d_filter_gradient(const float *x, const float *dy, float *out, const Window *w,
                            int groups, int part, int parts) {
  Window one = window_of_group(w, groups);
  int pixels = w->batch * w->out_height * w->out_width;
  int depth = w->filter_height * w->filter_width * one.in_channels;
  for (int group = 0; group < groups; group++) {
    Images images = {x + group * one.in_channels, &one, w->in_channels};
    Matrix gradients = {dy + group * one.out_channels, w->out_channels, 1};
    Left patches = {.form = PACKED_PANELS,
                    .source = &images,
                    .pack = pack_transposed_patches,
                    .result_stride = w->out_channels};
    gemm(depth, one.out_channels, pixels, patches, (Right){0, pack_panels_b, &gradients},
         out + group * one.out_channels, 0, part, parts);
  }
}
