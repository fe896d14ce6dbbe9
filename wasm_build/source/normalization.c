/* softmax and log_softmax(x, out, outer, length, part, parts), and other kernels along dense rows,
 * which threads share. */
#include "vector_math.h"

static vf NOINLINE row_maximum(const float *x, int size) {
  vf greatest = vset(-VINF), second = greatest, third = greatest, fourth = greatest;
  int i = 0;
  for (; i + 16 <= size; i += 16) {
    greatest = vmax(greatest, load(x + i));
    second = vmax(second, load(x + i + 4));
    third = vmax(third, load(x + i + 8));
    fourth = vmax(fourth, load(x + i + 12));
  }
  greatest = vmax(vmax(greatest, second), vmax(third, fourth));
  for (; i + 4 <= size; i += 4) greatest = vmax(greatest, load(x + i));
  if (i < size) greatest = vmax(greatest, vsel(first_lanes(size - i), load(x + i), greatest));
  return vset(__builtin_wasm_max_f32(__builtin_wasm_max_f32(greatest[0], greatest[1]),
                                     __builtin_wasm_max_f32(greatest[2], greatest[3])));
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
