/* A depthwise convolution followed by a pointwise one: some lines of the first are computed, and
 * multiplied by the filter of the second while the cache has them. */
#include "depthwise.h"
#include "gemm.h"

/* The elements of the lines that are computed at a time, or of a single longer one, and of the
 * pointwise filter; `separable.py` has the maxima, too. */
#define LINES (16 * 1024)
#define MAX_LINE (32 * 1024)
#define MAX_FILTER (16 * 1024)

/* The pointwise filter has the depthwise one's output channels, and `columns` of its own. */
EXPORT(separable_conv2d)
void separable_conv2d(const float *x, const float *depthwise, const float *depthwise_bias,
                      int depthwise_activation, const float *pointwise, float *out, const Window *w,
                      int columns, const float *bias, int activation, float alpha,
                      const float *slopes, const float *residual, int part, int parts) {
  float lines[MAX_LINE + 4] __attribute__((aligned(64)));
  float panels[MAX_FILTER] __attribute__((aligned(64)));
  int depth = w->out_channels, width = w->out_width, first, end;
  Matrix filter = {pointwise, columns, 1};
  Epilogue middle = {depthwise_bias, depthwise_activation};
  Epilogue epilogue = {bias, activation, alpha, slopes, residual, out};
  Left rows = {.form = ROWS_IN_PLACE, .source = lines, .stride = depth};
  pack_panels_b(&filter, panels, 0, columns, 0, depth);
  find_piece(w->batch * w->out_height, 1, part, parts, &first, &end);
  int count = LINES / (width * depth);
  if (count < 1) count = 1;
  for (; first < end; first += count) {
    if (count > end - first) count = end - first;
    depthwise_lines(x, depthwise, lines, w, &middle, first, first + count);
    gemm(count * width, columns, depth, rows, (Right){.packed = panels},
         out + first * width * columns, &epilogue, 0, 1);
  }
}
