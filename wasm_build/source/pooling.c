/* Pooling over sliding windows, four channels at a time. Padding is never picked nor counted. */
#include "vector.h"
#include "window.h"

/* The part of a window inside the input. */
typedef struct {
  int row, column;   /* input position of its first element */
  int rows, columns; /* how many filter positions */
} Part;

INLINE Part part_at(const Window *w, int row, int column) {
  Part part;
  int first, end;
  int top = row * w->stride_height - w->pad_top, start = column * w->stride_width - w->pad_left;
  valid_taps(top, w->in_height, w->filter_height, w->dilation_height, &first, &end);
  part.row = top + first * w->dilation_height;
  part.rows = end - first;
  valid_taps(start, w->in_width, w->filter_width, w->dilation_width, &first, &end);
  part.column = start + first * w->dilation_width;
  part.columns = end - first;
  return part;
}

#define FOR_EACH_WINDOW                                                                            \
  for (int image = 0; image < w->batch; image++)                                                   \
    for (int row = 0; row < w->out_height; row++)                                                  \
      for (int column = 0; column < w->out_width; column++)

/* Threads share the lines of the result. */
#define FOR_EACH_WINDOW_OF_PART                                                                    \
  int first_line, end_line;                                                                        \
  find_piece(w->batch *w->out_height, 1, part, parts, &first_line, &end_line);                     \
  for (int line = first_line; line < end_line; line++)                                             \
    for (int image = line / w->out_height, row = line % w->out_height, column = 0;                 \
         column < w->out_width; column++)

/* The same, with windows that lie inside the input as a whole side by side in one run. */
#define FOR_EACH_RUN_OF_PART                                                                       \
  int first_line, end_line, inner, inner_end;                                                      \
  find_piece(w->batch *w->out_height, 1, part, parts, &first_line, &end_line);                     \
  find_inner(w->pad_left, w->stride_width, (w->filter_width - 1) * w->dilation_width + 1,          \
             w->in_width, w->out_width, &inner, &inner_end);                                       \
  for (int line = first_line; line < end_line; line++)                                             \
    for (int image = line / w->out_height, row = line % w->out_height, column = 0, run;            \
         run = column >= inner && column < inner_end ? inner_end - column : 1,                     \
         column < w->out_width; column += run)

/* Elements from a cell of the filter to the next one below it, and to the next one beside it. */
#define ROW_STEP (w->dilation_height * w->in_width * channels)
#define COLUMN_STEP (w->dilation_width * channels)

#define OFFSET_OF(PART)                                                                            \
  (((image * w->in_height + (PART).row) * w->in_width + (PART).column) * w->in_channels)

/* -- maximum --------------------------------------------------------------------------------- */

INLINE void take_maximum(vf *best, vi *nan, vf x) {
  *best = vgreater(*best, x);
  *nan = *nan | (x != x);
}

static void maximum(const float *x, float *out, Part part, int row_step, int column_step,
                    int channels) {
  int c = 0;
  for (; c + 16 <= channels; c += 16) {
    /* Whether there was NaN is seen apart, as the quickest maximum passes over it. */
    vf b0 = vset(-VINF), b1 = b0, b2 = b0, b3 = b0;
    vi n0 = vseti(0), n1 = n0, n2 = n0, n3 = n0;
    for (int i = 0; i < part.rows; i++) {
      const float *from = x + c + i * row_step;
      for (int j = 0; j < part.columns; j++, from += column_step) {
        vf x0, x1, x2, x3;
        LOAD_AT(x0, from, 0);
        LOAD_AT(x1, from, 16);
        LOAD_AT(x2, from, 32);
        LOAD_AT(x3, from, 48);
        take_maximum(&b0, &n0, x0);
        take_maximum(&b1, &n1, x1);
        take_maximum(&b2, &n2, x2);
        take_maximum(&b3, &n3, x3);
      }
    }
    store(out + c, vsel(n0, vset(VNAN), b0));
    store(out + c + 4, vsel(n1, vset(VNAN), b1));
    store(out + c + 8, vsel(n2, vset(VNAN), b2));
    store(out + c + 12, vsel(n3, vset(VNAN), b3));
  }
  for (; c < channels; c += 4) {
    vf best = vset(-VINF);
    vi nan = vseti(0);
    for (int i = 0; i < part.rows; i++) {
      const float *from = x + c + i * row_step;
      for (int j = 0; j < part.columns; j++, from += column_step)
        take_maximum(&best, &nan, load(from));
    }
    store_up_to(out + c, vsel(nan, vset(VNAN), best), channels - c);
  }
}

INLINE void maximum_of_four(const float *x, float *out, int row_step, int column_step,
                            int channels) {
  const float *below = x + row_step;
  for (int c = 0; c < channels; c += 4) {
    vf best = load(x + c); /* NaN stays the maximum */
    vi nan = vseti(0);
    take_maximum(&best, &nan, load(x + column_step + c));
    take_maximum(&best, &nan, load(below + c));
    take_maximum(&best, &nan, load(below + column_step + c));
    store_up_to(out + c, vsel(nan, vset(VNAN), best), channels - c);
  }
}

INLINE vf maximum_of_three(const float *x, int row_step) {
  vf best = load(x); /* NaN stays the maximum */
  vi nan = vseti(0);
  take_maximum(&best, &nan, load(x + row_step));
  take_maximum(&best, &nan, load(x + 2 * row_step));
  return vsel(nan, vset(VNAN), best);
}

/* Windows of 3x3 elements, each of which has its third column in common with the next one: its
 * maximum is kept where that of the next window will be. */
static void NOINLINE maxima_of_overlapping(const float *x, float *out, int run, int row_step,
                                           int channels) {
  for (int c = 0; c < channels; c += 4) store(out + c, maximum_of_three(x + c, row_step));
  for (; run > 0; run--, x += 2 * channels, out += channels) {
    const float *middle = x + channels, *right = middle + channels;
    UNROLLED(2) for (int c = 0; c < channels; c += 4) {
      vf best = load(out + c);
      vi nan = vseti(0);
      for (int i = 0; i < 3; i++) take_maximum(&best, &nan, load(middle + c + i * row_step));
      vf shared = maximum_of_three(right + c, row_step);
      take_maximum(&best, &nan, shared);
      store(out + c, vsel(nan, vset(VNAN), best));
      if (run > 1) store(out + channels + c, shared);
    }
  }
}

static void NOINLINE maxima_of_run(const float *x, float *out, Part part, int run, int step,
                                   int row_step, int column_step, int channels) {
  if (part.rows == 2 && part.columns == 2)
    for (; run > 0; run--, x += step, out += channels)
      maximum_of_four(x, out, row_step, column_step, channels);
  else if (part.rows == 3 && part.columns == 3 && column_step == channels &&
           step == 2 * channels && channels % 4 == 0)
    maxima_of_overlapping(x, out, run, row_step, channels);
  else
    for (; run > 0; run--, x += step, out += channels)
      maximum(x, out, part, row_step, column_step, channels);
}

EXPORT(max_pool)
void max_pool(const float *x, float *out, const Window *w, int part, int parts) {
  int channels = w->in_channels;
  FOR_EACH_RUN_OF_PART {
    Part window = part_at(w, row, column);
    maxima_of_run(x + OFFSET_OF(window), out + (line * w->out_width + column) * channels, window,
                  run, w->stride_width * channels, ROW_STEP, COLUMN_STEP, channels);
  }
}

/* Offsets, relative to the part's first element, of the first maximum for four channels;
 * NaN is the maximum. */
static vi NOINLINE argmax_of_window(const float *x, Part part, int row_step, int column_step) {
  vf best = load(x);
  vi where = vseti(0);
  for (int i = 0; i < part.rows; i++) {
    for (int j = 0; j < part.columns; j++) {
      int offset = i * row_step + j * column_step;
      vf candidate = load(x + offset);
      vi better = (candidate > best) | ((candidate != candidate) & (best == best));
      best = vsel(better, candidate, best);
      where = vsel(better, vseti(offset), where);
    }
  }
  return where;
}

EXPORT(max_pool_scatter)
void max_pool_scatter(const float *dy, const float *x, float *out, const Window *w) {
  int channels = w->in_channels;
  __builtin_memset(out, 0, w->batch * w->in_height * w->in_width * channels * sizeof(float));
  FOR_EACH_WINDOW {
    Part part = part_at(w, row, column);
    int offset = OFFSET_OF(part);
    if (part.rows > 0 && part.columns > 0) {
      for (int c = 0; c < channels; c += 4) {
        vi where = argmax_of_window(x + offset + c, part, ROW_STEP, COLUMN_STEP);
        for (int lane = 0; lane < 4 && c + lane < channels; lane++)
          out[offset + c + lane + where[lane]] += dy[c + lane];
      }
    }
    dy += channels;
  }
}

EXPORT(max_pool_pick)
void max_pool_pick(const float *values, const float *x, float *out, const Window *w) {
  int channels = w->in_channels;
  FOR_EACH_WINDOW {
    Part part = part_at(w, row, column);
    int offset = OFFSET_OF(part);
    for (int c = 0; c < channels; c += 4) {
      vi where = vseti(0);
      if (part.rows > 0 && part.columns > 0)
        where = argmax_of_window(x + offset + c, part, ROW_STEP, COLUMN_STEP);
      for (int lane = 0; lane < 4 && c + lane < channels; lane++)
        out[c + lane] = part.rows > 0 && part.columns > 0
                            ? values[offset + c + lane + where[lane]]
                            : 0;
    }
    out += channels;
  }
}

/* -- mean ------------------------------------------------------------------------------------ */

static void mean(const float *x, float *out, Part part, int row_step, int column_step,
                 int channels) {
  vf count = vset((float)(part.rows * part.columns));
  int c = 0;
  for (; c + 16 <= channels; c += 16) {
    vf s0 = vset(0), s1 = s0, s2 = s0, s3 = s0;
    for (int i = 0; i < part.rows; i++) {
      const float *from = x + c + i * row_step;
      for (int j = 0; j < part.columns; j++, from += column_step) {
        s0 = s0 + load(from);
        s1 = s1 + load(from + 4);
        s2 = s2 + load(from + 8);
        s3 = s3 + load(from + 12);
      }
    }
    store(out + c, s0 / count);
    store(out + c + 4, s1 / count);
    store(out + c + 8, s2 / count);
    store(out + c + 12, s3 / count);
  }
  for (; c < channels; c += 4) {
    vf sum = vset(0);
    for (int i = 0; i < part.rows; i++)
      for (int j = 0; j < part.columns; j++)
        sum = sum + load(x + c + i * row_step + j * column_step);
    store_up_to(out + c, sum / count, channels - c);
  }
}

static void NOINLINE mean_of_run(const float *x, float *out, Part part, int run, int step,
                                 int row_step, int column_step, int channels) {
  for (; run > 0; run--, x += step, out += channels)
    mean(x, out, part, row_step, column_step, channels);
}

EXPORT(avg_pool)
void avg_pool(const float *x, float *out, const Window *w, int part, int parts) {
  int channels = w->in_channels;
  FOR_EACH_RUN_OF_PART {
    Part window = part_at(w, row, column);
    mean_of_run(x + OFFSET_OF(window), out + (line * w->out_width + column) * channels, window, run,
                w->stride_width * channels, ROW_STEP, COLUMN_STEP, channels);
  }
}

static void NOINLINE spread_mean(const float *dy, float *out, Part part, int row_step,
                                 int column_step, int channels) {
  vf count = vset((float)(part.rows * part.columns));
  for (int c = 0; c < channels; c += 4) {
    vf share = load(dy + c) / count;
    for (int i = 0; i < part.rows; i++) {
      for (int j = 0; j < part.columns; j++) {
        float *to = out + c + i * row_step + j * column_step;
        store_up_to(to, load((const float *)to) + share, channels - c);
      }
    }
  }
}

EXPORT(avg_pool_gradient) void avg_pool_gradient(const float *dy, float *out, const Window *w) {
  int channels = w->in_channels;
  __builtin_memset(out, 0, w->batch * w->in_height * w->in_width * channels * sizeof(float));
  FOR_EACH_WINDOW {
    Part part = part_at(w, row, column);
    spread_mean(dy, out + OFFSET_OF(part), part, ROW_STEP, COLUMN_STEP, channels);
    dy += channels;
  }
}

/* -- dilation -------------------------------------------------------------------------------- */

static void NOINLINE maximum_sum(const float *x, const float *filter, float *out, Part part,
                                  int row_step, int column_step, int filter_row, int channels) {
  for (int c = 0; c < channels; c += 4) {
    vf best = vset(-VINF);
    for (int i = 0; i < part.rows; i++)
      for (int j = 0; j < part.columns; j++)
        best = vmax(best, load(x + c + i * row_step + j * column_step) +
                              load(filter + c + i * filter_row + j * channels));
    store_up_to(out + c, best, channels - c);
  }
}

EXPORT(dilation2d)
void dilation2d(const float *x, const float *filter, float *out, const Window *w, int part,
                int parts) {
  int channels = w->in_channels, filter_row = w->filter_width * channels;
  FOR_EACH_WINDOW_OF_PART {
    Part window = part_at(w, row, column);
    int first_row = (window.row - row * w->stride_height + w->pad_top) / w->dilation_height;
    int first = (window.column - column * w->stride_width + w->pad_left) / w->dilation_width;
    maximum_sum(x + OFFSET_OF(window), filter + first_row * filter_row + first * channels,
                 out + (line * w->out_width + column) * channels, window,
                 ROW_STEP, COLUMN_STEP, filter_row, channels);
  }
}
