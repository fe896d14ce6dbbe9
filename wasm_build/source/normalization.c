/* softmax and log_softmax(x, out, outer, length, part, parts), and other kernels along dense rows,
 * which threads share. */
#include "vector_math.h"

/* The maximum of a row. NaN is left out: what becomes of it is NaN all the same. */
static vf NOINLINE row_maximum(const float *x, int size) {
  vf maximum = vset(-VINF), second = maximum, third = maximum, fourth = maximum;
  int i = 0;
  for (; i + 16 <= size; i += 16) {
    maximum = vgreater(maximum, load(x + i));
    second = vgreater(second, load(x + i + 4));
    third = vgreater(third, load(x + i + 8));
    fourth = vgreater(fourth, load(x + i + 12));
  }
  maximum = vgreater(vgreater(maximum, second), vgreater(third, fourth));
  for (; i + 4 <= size; i += 4) maximum = vgreater(maximum, load(x + i));
  if (i < size) maximum = vgreater(maximum, vsel(first_lanes(size - i), load(x + i), maximum));
  return vset(__builtin_wasm_max_f32(__builtin_wasm_max_f32(maximum[0], maximum[1]),
                                     __builtin_wasm_max_f32(maximum[2], maximum[3])));
}

/* Stores exp(x - shift) and returns the sum. */
static float NOINLINE row_exponentials(const float *x, float *out, int size, vf shift) {
  vf sum = vset(0.f), second = sum;
  int i = 0;
  for (; i + 8 <= size; i += 8) {
    vf e = vexp_of_negative(load(x + i) - shift), f = vexp_of_negative(load(x + i + 4) - shift);
    store(out + i, e);
    store(out + i + 4, f);
    sum = sum + e;
    second = second + f;
  }
  sum = sum + second;
  for (; i < size; i += 4) {
    vf e = vexp_of_negative(load(x + i) - shift);
    store_up_to(out + i, e, size - i);
    sum = sum + vsel(first_lanes(size - i), e, vset(0.f));
  }
  return lanes_sum(sum);
}

EXPORT(softmax)
void softmax(const float *x, float *out, int outer, int length, int part, int parts) {
  int o, end;
  find_piece(outer, 1, part, parts, &o, &end);
  x += o * length;
  out += o * length;
  for (; o < end; o++, x += length, out += length) {
    vf factor = vset(1.f / row_exponentials(x, out, length, row_maximum(x, length)));
    for (int i = 0; i < length; i += 4)
      store_up_to(out + i, load((const float *)out + i) * factor, length - i);
  }
}

EXPORT(log_softmax)
void log_softmax(const float *x, float *out, int outer, int length, int part, int parts) {
  int o, end;
  find_piece(outer, 1, part, parts, &o, &end);
  x += o * length;
  out += o * length;
  for (; o < end; o++, x += length, out += length) {
    vf shift = row_maximum(x, length);
    vf logarithm = vlog(vset(row_exponentials(x, out, length, shift)));
    for (int i = 0; i < length; i += 4)
      store_up_to(out + i, load(x + i) - shift - logarithm, length - i);
  }
}

/* Each element of a dense row added to up to `radius` neighbours on either side. */
static void NOINLINE window_sum_row(const float *x, float *out, int length, int radius) {
  for (int i = 0; i < length; i += 4) {
    vf sum = vset(0.f);
    if (i >= radius && i + 4 + radius <= length) {
      for (int k = -radius; k <= radius; k++) sum = sum + load(x + i + k);
    } else {
      for (int lane = 0; lane < 4 && i + lane < length; lane++) {
        int first = i + lane - radius, last = i + lane + radius;
        if (first < 0) first = 0;
        if (last >= length) last = length - 1;
        float total = 0;
        for (int k = first; k <= last; k++) total += x[k];
        sum[lane] = total;
      }
    }
    store_up_to(out + i, sum, length - i);
  }
}

EXPORT(window_sum)
void window_sum(const float *x, float *out, int outer, int length, int radius, int part,
                int parts) {
  int o, end;
  find_piece(outer, 1, part, parts, &o, &end);
  for (; o < end; o++) window_sum_row(x + o * length, out + o * length, length, radius);
}

/* (x - mean) * factor + offset along dense rows of channels. */
static void NOINLINE normalize_row(const float *x, const float *mean, const float *factor,
                                   const float *offset, float *out, int channels) {
  for (int c = 0; c < channels; c += 4)
    store_up_to(out + c, (load(x + c) - load(mean + c)) * load(factor + c) + load(offset + c),
                channels - c);
}

EXPORT(normalize)
void normalize(const float *x, const float *mean, const float *factor, const float *offset,
               float *out, int outer, int channels, int part, int parts) {
  int o, end;
  find_piece(outer, 1, part, parts, &o, &end);
  for (; o < end; o++)
    normalize_row(x + o * channels, mean, factor, offset, out + o * channels, channels);
}

/* -- moments ---------------------------------------------------------------------------------- */

/* Means and sums of squared deviations of blocks that the cache holds are joined by Chan, Golub and
 * LeVeque's formula (Updating formulae and a pairwise algorithm for computing sample variances,
 * 1979): memory is read once, and no large numbers cancel. */

#define BLOCK_LENGTH 2048
#define BLOCK_LINES 32

static float NOINLINE row_sum(const float *x, int size) {
  vf s0 = vset(0), s1 = s0;
  int i = 0;
  for (; i + 8 <= size; i += 8) {
    s0 = s0 + load(x + i);
    s1 = s1 + load(x + i + 4);
  }
  for (; i < size; i += 4) s0 = s0 + vsel(first_lanes(size - i), load(x + i), vset(0));
  return lanes_sum(s0 + s1);
}

static float NOINLINE row_deviation(const float *x, int size, vf mean) {
  vf s0 = vset(0), s1 = s0;
  int i = 0;
  for (; i + 8 <= size; i += 8) {
    vf d0 = load(x + i) - mean, d1 = load(x + i + 4) - mean;
    s0 = vmadd(d0, d0, s0);
    s1 = vmadd(d1, d1, s1);
  }
  for (; i < size; i += 4) {
    vf d = load(x + i) - mean;
    s0 = s0 + vsel(first_lanes(size - i), d * d, vset(0));
  }
  return lanes_sum(s0 + s1);
}

static void row_moments(const float *x, float *mean, float *variance, int size) {
  double joined = 0, deviation = 0;
  for (int i = 0; i < size; i += BLOCK_LENGTH) {
    int count = size - i < BLOCK_LENGTH ? size - i : BLOCK_LENGTH;
    float own = row_sum(x + i, count) / count;
    double apart = own - joined, share = (double)count / (i + count);
    deviation += row_deviation(x + i, count, vset(own)) + apart * apart * i * share;
    joined += apart * share;
  }
  *mean = (float)joined;
  *variance = (float)(deviation / size);
}

/* The same of four columns, `lines` elements each, `step` apart. */
static void NOINLINE column_moments(const float *x, float *mean, float *variance, int lines,
                                    int step, int columns) {
  vf joined = vset(0), deviation = joined;
  for (int i = 0; i < lines; i += BLOCK_LINES) {
    int count = lines - i < BLOCK_LINES ? lines - i : BLOCK_LINES;
    const float *from = x + i * step;
    vf sum = vset(0), own_deviation = sum;
    for (int line = 0; line < count; line++) sum = sum + load(from + line * step);
    vf own = sum / vset((float)count);
    for (int line = 0; line < count; line++) {
      vf d = load(from + line * step) - own;
      own_deviation = vmadd(d, d, own_deviation);
    }
    vf apart = own - joined, share = vset((float)count / (float)(i + count));
    deviation = deviation + own_deviation + apart * apart * vset((float)i) * share;
    joined = vmadd(apart, share, joined);
  }
  store_up_to(mean, joined, columns);
  store_up_to(variance, deviation / vset((float)lines), columns);
}

/* moments(x, out, outer, reduced, inner, part, parts): means, then variances, (outer, inner). */
EXPORT(moments)
void moments(const float *x, float *out, int outer, int reduced, int inner, int part, int parts) {
  int first = 0, end = outer, first_column = 0, end_column = inner;
  if (outer > 1)
    find_piece(outer, 1, part, parts, &first, &end);
  else
    find_piece(inner, 16, part, parts, &first_column, &end_column);
  for (int o = first; o < end; o++) {
    const float *from = x + o * reduced * inner;
    float *mean = out + o * inner, *variance = mean + outer * inner;
    if (inner == 1)
      row_moments(from, mean, variance, reduced);
    else
      for (int c = first_column; c < end_column; c += 4)
        column_moments(from + c, mean + c, variance + c, reduced, inner, end_column - c);
  }
}
