/* The geometry of a sliding window over (batch, height, width, channels), as passed from Python:
 * the numbers of geometry.Window, in order. Output row i reads input rows
 * i * stride_height - pad_top + k * dilation_height; columns likewise. */
#ifndef WEBTENSOR_WINDOW_H
#define WEBTENSOR_WINDOW_H

typedef struct {
  int batch, in_height, in_width, in_channels;
  int out_height, out_width, out_channels;
  int filter_height, filter_width;
  int stride_height, stride_width;
  int dilation_height, dilation_width;
  int pad_top, pad_left;
} Window;

/* The window of one of several groups of channels, which have filters of their own. */
static inline Window window_of_group(const Window *w, int groups) {
  Window group = *w;
  group.in_channels /= groups;
  group.out_channels /= groups;
  return group;
}

static inline int images_size(const Window *w) {
  return w->batch * w->in_height * w->in_width * w->in_channels;
}

/* Filter positions that read inside the input: [first, end) such that
 * 0 <= start + k * dilation < length. */
static inline void valid_taps(int start, int length, int taps, int dilation, int *first, int *end) {
  int before = start < 0 ? -start : 0, last = length > start ? length - start : 0;
  if (dilation > 1) { /* dividing takes long */
    before = (before + dilation - 1) / dilation;
    last = (last + dilation - 1) / dilation;
  }
  *first = before;
  *end = last < taps ? last : taps;
  if (*end < *first) *end = *first;
}

/* Output positions whose taps, which span `reach` input positions, are all inside the input:
 * [first, end). */
static inline void find_inner(int pad, int stride, int reach, int length, int outputs, int *first,
                              int *end) {
  int from = (pad + stride - 1) / stride, last = length + pad - reach;
  *first = from < outputs ? from : outputs;
  *end = last < 0 ? 0 : last / stride + 1;
  if (*end > outputs) *end = outputs;
  if (*end < *first) *end = *first;
}

/* The output position that reads input position `at` at filter position k, or -1. */
static inline int output_reading(int at, int pad, int k, int dilation, int stride, int outputs) {
  int distance = at + pad - k * dilation;
  if (distance < 0) return -1;
  int position = stride == 1 ? distance : distance / stride;
  return position < outputs && position * stride == distance ? position : -1;
}

#endif
