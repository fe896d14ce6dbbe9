/* What the ways to compute depthwise convolutions share. */
#ifndef WEBTENSOR_DEPTHWISE_H
#define WEBTENSOR_DEPTHWISE_H

#include "epilogue.h"
#include "vector.h"
#include "window.h"

INLINE int multiplier_of(const Window *w) { return w->out_channels / w->in_channels; }

INLINE int inside(int at, int length) { return (unsigned)at < (unsigned)length; }

/* Rows of input pixels, of which some channels are copied side by side. Row y is in slot y % slots. */
#define MOST_COPIED_ROWS 13
#define MOST_COPIED 16384
typedef struct {
  int slots, pixels, channels; /* how many slots, the pixels of each, and the channels of these */
  int copied[MOST_COPIED_ROWS]; /* which row of all images is where; -1: none */
  float data[MOST_COPIED];
} RowCopies;

/* How many rows of the input an output row reaches over. */
INLINE int reach_of_rows(const Window *w) { return (w->filter_height - 1) * w->dilation_height + 1; }

INLINE void copy_channels(const float *from, int from_step, float *to, int channels, int count) {
  for (; count > 0; count--, from += from_step, to += channels)
    for (int c = 0; c < channels; c += 4) store(to + c, load(from + c));
}

INLINE void forget_rows(RowCopies *copies) {
  for (int i = 0; i < copies->slots; i++) copies->copied[i] = -1;
}

/* Returns the copy of row y of an image, which is inside, from channel c of its first `count` pixels
 * on; the first is copied to pixel `before` of the slot. */
INLINE const float *copied_row(RowCopies *copies, const float *x, const Window *w, int image, int y,
                               int c, int before, int count) {
  int number = image * w->in_height + y, slot = y % copies->slots;
  float *copy = copies->data + slot * copies->pixels * copies->channels;
  if (copies->copied[slot] != number)
    copy_channels(x + number * w->in_width * w->in_channels + c, w->in_channels,
                  copy + before * copies->channels, copies->channels, count);
  copies->copied[slot] = number;
  return copy;
}

/* Lines first … end - 1 of a convolution. */
typedef void depthwise_function(const float *x, const float *filter, float *out, const Window *w,
                                const Clipping *clipping, int first, int end);

/* Filters of three rows and columns. */
int is_3_by_3(const Window *w);
depthwise_function depthwise_3_by_3;

/* Filters of five and seven columns. */
int is_wide(const Window *w);
depthwise_function depthwise_wide;

#endif
