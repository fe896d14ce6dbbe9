/* Images of (batch, height, width, channels): resizing, projective sampling, boxes in them. */
#include "vector.h"

INLINE int clamped(int index, int length) {
  return index < 0 ? 0 : index >= length ? length - 1 : index;
}

/* Elements of four bytes each, few of them: the channels of a pixel. */
INLINE void copy_pixel(int *to, const int *from, int channels) {
  for (int c = 0; c < channels; c += 4) store_up_to(to + c, load(from + c), channels - c);
}

/* -- resizing -------------------------------------------------------------------------------- */

/* The fields of geometry.Resize, in order. */
typedef struct {
  int batch, in_height, in_width, channels;
  int out_height, out_width;
  int row_step, row_offset, row_divisor;
  int column_step, column_offset, column_divisor;
} Resize;

/* Walks along the indices (i * step + offset) / divisor, rounded down, without dividing. */
typedef struct {
  int low, rest; /* the coordinate is low + rest / divisor */
  int whole_step, rest_step, divisor;
} Walk;

INLINE Walk walk(int step, int offset, int divisor) {
  Walk w = {offset / divisor, offset % divisor, step / divisor, step % divisor, divisor};
  if (w.rest < 0) w.low--, w.rest += divisor;
  return w;
}
INLINE void advance(Walk *w) {
  w->low += w->whole_step;
  w->rest += w->rest_step;
  if (w->rest >= w->divisor) w->low++, w->rest -= w->divisor;
}
INLINE float fraction_of(const Walk *w) { return (float)w->rest / (float)w->divisor; }

#define ROWS walk(r->row_step, r->row_offset, r->row_divisor)
#define COLUMNS walk(r->column_step, r->column_offset, r->column_divisor)

/* With a fraction of 0, the second pixel does not count, even if it is infinite or NaN. */
INLINE vf blend(vf first, vf second, float fraction) {
  return fraction == 0 ? first : first + (second - first) * vset(fraction);
}

/* What a column of the result reads of a row, worked out once for all rows. */
typedef struct {
  int left, right; /* offsets of the first channels */
  float across;
} Tap;
#define MAX_TAPS 1024
static Tap taps[MAX_TAPS];

/* One pixel after the other. Where there are few channels, all four lanes are stored as long as
 * they stay within the row: the pixels after it are stored later. */
INLINE void store_pixel(float *out, int c, vf x, int channels, int is_wide) {
  if (is_wide)
    store(out + c, x);
  else
    store_up_to(out + c, x, channels - c);
}

static void NOINLINE resized_row(const float *row, float *out, int columns, int channels) {
  int wide = channels < 4 ? columns - 4 / channels : 0;
  for (int column = 0; column < columns; column++, out += channels) {
    const float *left = row + taps[column].left, *right = row + taps[column].right;
    float across = taps[column].across;
    for (int c = 0; c < channels; c += 4)
      store_pixel(out, c, blend(load(left + c), load(right + c), across), channels, column < wide);
  }
}

static void NOINLINE resized_rows(const float *upper, const float *lower, float *out, float down,
                                  int columns, int channels) {
  int wide = channels < 4 ? columns - 4 / channels : 0;
  for (int column = 0; column < columns; column++, out += channels) {
    int left = taps[column].left, right = taps[column].right;
    float across = taps[column].across;
    for (int c = 0; c < channels; c += 4) {
      vf above = blend(load(upper + left + c), load(upper + right + c), across);
      vf below = blend(load(lower + left + c), load(lower + right + c), across);
      store_pixel(out, c, blend(above, below, down), channels, column < wide);
    }
  }
}

/* Two rows blended into one, where that is less work than blending each pixel of both. */
#define LONGEST_BLENDED 8192
static float blended[LONGEST_BLENDED + 4]; /* loads may reach beyond the last channel */
static void NOINLINE blend_rows(const float *upper, const float *lower, float down, int size) {
  for (int i = 0; i < size; i += 4)
    store(blended + i, blend(load(upper + i), load(lower + i), down));
}

EXPORT(resize_bilinear) void resize_bilinear(const float *x, float *out, const Resize *r) {
  int channels = r->channels, line = r->in_width * channels;
  int blends_rows = line <= LONGEST_BLENDED && r->in_width <= 2 * r->out_width;
  Walk column = COLUMNS;
  for (int begin = 0; begin < r->out_width; begin += MAX_TAPS) {
    int count = r->out_width - begin;
    if (count > MAX_TAPS) count = MAX_TAPS;
    for (int i = 0; i < count; i++, advance(&column)) {
      taps[i].left = clamped(column.low, r->in_width) * channels;
      taps[i].right = clamped(column.low + 1, r->in_width) * channels;
      taps[i].across = fraction_of(&column);
    }
    for (int image = 0; image < r->batch; image++) {
      const float *from = x + image * r->in_height * line;
      Walk row = ROWS;
      for (int i = 0; i < r->out_height; i++, advance(&row)) {
        float *to = out + ((image * r->out_height + i) * r->out_width + begin) * channels;
        const float *upper = from + clamped(row.low, r->in_height) * line;
        const float *lower = from + clamped(row.low + 1, r->in_height) * line;
        float down = fraction_of(&row);
        if (down == 0) {
          resized_row(upper, to, count, channels);
        } else if (blends_rows) {
          blend_rows(upper, lower, down, line);
          resized_row(blended, to, count, channels);
        } else {
          resized_rows(upper, lower, to, down, count, channels);
        }
      }
    }
  }
}

INLINE void add_weighted(float *to, vf x, float weight, int count) {
  store_up_to(to, load((const float *)to) + x * vset(weight), count);
}

static void NOINLINE spread_row(const float *dy, float *upper, float *lower, float down,
                                const Resize *r) {
  int channels = r->channels;
  Walk w = COLUMNS;
  for (int column = 0; column < r->out_width; column++, advance(&w), dy += channels) {
    int left = clamped(w.low, r->in_width) * channels;
    int right = clamped(w.low + 1, r->in_width) * channels;
    float across = fraction_of(&w);
    for (int c = 0; c < channels; c += 4) {
      vf above = load(dy + c) * vset(1 - down), below = load(dy + c) * vset(down);
      /* The pixels may be the same, so that each is stored before the next is loaded. */
      add_weighted(upper + left + c, above, 1 - across, channels - c);
      add_weighted(upper + right + c, above, across, channels - c);
      add_weighted(lower + left + c, below, 1 - across, channels - c);
      add_weighted(lower + right + c, below, across, channels - c);
    }
  }
}

EXPORT(resize_bilinear_gradient)
void resize_bilinear_gradient(const float *dy, float *out, const Resize *r) {
  int line = r->in_width * r->channels;
  __builtin_memset(out, 0, r->batch * r->in_height * line * sizeof(float));
  for (int image = 0; image < r->batch; image++, out += r->in_height * line) {
    Walk w = ROWS;
    for (int row = 0; row < r->out_height; row++, advance(&w)) {
      spread_row(dy, out + clamped(w.low, r->in_height) * line,
                 out + clamped(w.low + 1, r->in_height) * line, fraction_of(&w), r);
      dy += r->out_width * r->channels;
    }
  }
}

EXPORT(resize_nearest) void resize_nearest(const int *x, int *out, const Resize *r) {
  int channels = r->channels, line = r->in_width * channels;
  for (int image = 0; image < r->batch; image++, x += r->in_height * line) {
    Walk rows = ROWS;
    for (int row = 0; row < r->out_height; row++, advance(&rows)) {
      const int *from = x + clamped(rows.low, r->in_height) * line;
      Walk columns = COLUMNS;
      for (int column = 0; column < r->out_width; column++, advance(&columns), out += channels)
        copy_pixel(out, from + clamped(columns.low, r->in_width) * channels, channels);
    }
  }
}

EXPORT(resize_nearest_gradient)
void resize_nearest_gradient(const float *dy, float *out, const Resize *r) {
  int channels = r->channels, line = r->in_width * channels;
  __builtin_memset(out, 0, r->batch * r->in_height * line * sizeof(float));
  for (int image = 0; image < r->batch; image++, out += r->in_height * line) {
    Walk rows = ROWS;
    for (int row = 0; row < r->out_height; row++, advance(&rows)) {
      float *line_to = out + clamped(rows.low, r->in_height) * line;
      Walk columns = COLUMNS;
      for (int column = 0; column < r->out_width; column++, advance(&columns), dy += channels) {
        float *to = line_to + clamped(columns.low, r->in_width) * channels;
        for (int c = 0; c < channels; c += 4) add_weighted(to + c, load(dy + c), 1, channels - c);
      }
    }
  }
}

/* -- projective sampling --------------------------------------------------------------------- */

/* The fields of geometry.Sampling, in order. */
typedef struct {
  int batch, in_height, in_width, channels;
  int samples, out_height, out_width;
  int bilinear, fill_mode;
} Sampling;

enum { CONSTANT, REFLECT, WRAP, NEAREST, CROP };

/* Whether anything of an image of `length` may be read at x. */
INLINE int is_inside(float x, int length, int mode) {
  if (mode == CONSTANT) return x > -2 && x < length + 1;
  if (mode == CROP) {
    /* Coordinates that rounding moved just outside the image are moved to its edge. */
    float slack = 1e-6f * (float)length;
    return x >= -slack && x <= (float)(length - 1) + slack;
  }
  return __builtin_fabsf(x) < VINF;
}

/* Where in the image a coordinate outside it is read. */
static float mapped(float x, int length, int mode) {
  float last = (float)(length - 1), whole = (float)length;
  if (mode == REFLECT && length > 1) {
    float period = 2 * whole;
    if (x < 0) {
      x = __builtin_truncf(-x / period) * period + x;
      x = x < -whole ? x + period : -x - 1;
    } else if (x > last) {
      x = x - __builtin_truncf(x / period) * period;
      if (x >= whole) x = period - x - 1;
    }
  }
  if (mode == WRAP && length > 1) {
    if (x < 0)
      x = x + (__builtin_truncf(-x / last) + 1) * whole;
    else if (x > last)
      x = x - __builtin_truncf(x / last) * whole;
  }
  return x < 0 ? 0 : x > last ? last : x;
}

INLINE float rounded(float x) {
  float low = __builtin_floorf(x);
  return x - low >= 0.5f ? low + 1 : low;
}

/* Four channels of a pixel, or of the constant outside the image. */
INLINE vf pixel_at(const float *image, int row, int column, int c, float fill, const Sampling *s) {
  if ((unsigned)row >= (unsigned)s->in_height || (unsigned)column >= (unsigned)s->in_width)
    return vset(fill);
  return load(image + (row * s->in_width + column) * s->channels + c);
}

INLINE vf weighted(vf first, vf second, float weight) {
  return weight == 0 ? first : first * vset(1 - weight) + second * vset(weight);
}

INLINE void sample_pixel(const float *image, float *out, float down, float across, float fill,
                         const Sampling *s) {
  int channels = s->channels;
  if (!s->bilinear) {
    int row = (int)rounded(down), column = (int)rounded(across);
    for (int c = 0; c < channels; c += 4)
      store_up_to(out + c, pixel_at(image, row, column, c, fill, s), channels - c);
    return;
  }
  float top = __builtin_floorf(down), left = __builtin_floorf(across);
  float lower = down - top, right = across - left;
  int row = (int)top, column = (int)left;
  for (int c = 0; c < channels; c += 4) {
    vf above = weighted(pixel_at(image, row, column, c, fill, s),
                        pixel_at(image, row, column + 1, c, fill, s), right);
    vf below = weighted(pixel_at(image, row + 1, column, c, fill, s),
                        pixel_at(image, row + 1, column + 1, c, fill, s), right);
    store_up_to(out + c, weighted(above, below, lower), channels - c);
  }
}

/* Output pixel (x, y) of sampling n shows image indices[n] at ((t0 x + t1 y + t2) / p,
 * (t3 x + t4 y + t5) / p), where p = t6 x + t7 y + 1 and t is row n of transforms. */
EXPORT(sample)
void sample(const float *x, const float *transforms, const int *indices, float *out, float fill,
            const Sampling *s) {
  int channels = s->channels;
  for (int n = 0; n < s->samples; n++, transforms += 8) {
    const float *t = transforms;
    int has_image = (unsigned)indices[n] < (unsigned)s->batch;
    const float *image = x + (has_image ? indices[n] : 0) * s->in_height * s->in_width * channels;
    for (int row = 0; row < s->out_height; row++) {
      float y = (float)row;
      for (int column = 0; column < s->out_width; column++, out += channels) {
        float z = (float)column;
        float projection = t[6] * z + t[7] * y + 1;
        float across = t[0] * z + t[1] * y + t[2], down = t[3] * z + t[4] * y + t[5];
        if (projection != 1) { /* that of affine transforms is */
          across /= projection;
          down /= projection;
        }
        if (has_image && projection != 0 && is_inside(across, s->in_width, s->fill_mode) &&
            is_inside(down, s->in_height, s->fill_mode)) {
          if (s->fill_mode != CONSTANT) {
            down = mapped(down, s->in_height, s->fill_mode);
            across = mapped(across, s->in_width, s->fill_mode);
          }
          sample_pixel(image, out, down, across, fill, s);
        } else {
          for (int c = 0; c < channels; c += 4) store_up_to(out + c, vset(fill), channels - c);
        }
      }
    }
  }
}

/* -- boxes that overlap ---------------------------------------------------------------------- */

typedef struct {
  double top, left, bottom, right, area;
} Box;

static Box box_at(const float *boxes, int index) {
  const float *corners = boxes + 4 * index;
  int flipped = corners[0] > corners[2], mirrored = corners[1] > corners[3];
  Box box = {corners[flipped ? 2 : 0], corners[mirrored ? 3 : 1], corners[flipped ? 0 : 2],
             corners[mirrored ? 1 : 3], 0};
  box.area = (box.bottom - box.top) * (box.right - box.left);
  return box;
}

INLINE double minimum(double a, double b) { return a < b ? a : b; }
INLINE double maximum(double a, double b) { return a > b ? a : b; }

/* Intersection over union, in double precision as on the host; 0 for boxes without area. */
static double overlap(const Box *a, const Box *b) {
  double height = minimum(a->bottom, b->bottom) - maximum(a->top, b->top);
  double width = minimum(a->right, b->right) - maximum(a->left, b->left);
  if (height <= 0 || width <= 0 || a->area <= 0 || b->area <= 0) return 0;
  double shared = height * width;
  return shared / (a->area + b->area - shared);
}

INLINE int comes_before(const float *scores, int a, int b) {
  return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

/* Restore the order of a heap whose best element comes first, below `slot`. */
static void sift(int *heap, int size, int slot, const float *scores) {
  int element = heap[slot];
  for (;;) {
    int child = 2 * slot + 1;
    if (child >= size) break;
    if (child + 1 < size && comes_before(scores, heap[child + 1], heap[child])) child++;
    if (!comes_before(scores, heap[child], element)) break;
    heap[slot] = heap[child];
    slot = child;
  }
  heap[slot] = element;
}

/* Stores how many boxes are chosen, then their numbers, the best first; `waiting` has room for
 * `count` ints. */
EXPORT(non_max_suppression)
void non_max_suppression(const float *boxes, const float *scores, int *out, int *waiting, int count,
                         int most, double iou_threshold, double score_threshold) {
  int size = 0, chosen = 0;
  for (int i = 0; i < count; i++)
    if (scores[i] > score_threshold) waiting[size++] = i;
  for (int slot = size / 2 - 1; slot >= 0; slot--) sift(waiting, size, slot, scores);
  while (size > 0 && chosen < most) {
    int index = waiting[0], is_chosen = 1;
    waiting[0] = waiting[--size];
    if (size > 0) sift(waiting, size, 0, scores);
    Box box = box_at(boxes, index);
    for (int i = chosen; i > 0 && is_chosen; i--) {
      Box other = box_at(boxes, out[i]);
      is_chosen = !(overlap(&box, &other) >= iou_threshold);
    }
    if (is_chosen) out[++chosen] = index;
  }
  out[0] = chosen;
}
