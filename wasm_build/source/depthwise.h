/* What the ways to compute depthwise convolutions share. */
#ifndef WEBTENSOR_DEPTHWISE_H
#define WEBTENSOR_DEPTHWISE_H

#include "epilogue.h"
#include "vector.h"
#include "window.h"

INLINE int multiplier_of(const Window *w) { return w->out_channels / w->in_channels; }

INLINE int inside(int at, int length) { return (unsigned)at < (unsigned)length; }

/* Rows of input pixels, of which the channels that share a cache line, sixteen, are copied side by
 * side. Row y is in slot y % slots. */
#define CHANNELS_AT_ONCE 16
#define MOST_COPIED_ROWS 13
#define MOST_COPIED 16384
typedef struct {
  int slots, pixels; /* how many slots, and the pixels of each */
  int copied[MOST_COPIED_ROWS]; /* which row of all images is where; -1: none */
  float data[MOST_COPIED];
} RowCopies;

/* How many rows of the input an output row reaches over. */
INLINE int reach_of_rows(const Window *w) { return (w->filter_height - 1) * w->dilation_height + 1; }

/* Whether slots of so many pixels fit, with room for a row of `others`. */
INLINE int fits_copies(const Window *w, int pixels, int others) {
  return reach_of_rows(w) <= MOST_COPIED_ROWS && pixels <= MOST_COPIED && others <= MOST_COPIED &&
         (reach_of_rows(w) * pixels + others) * CHANNELS_AT_ONCE <= MOST_COPIED;
}

void copy_channels(const float *from, int from_step, float *to, int to_step, int count);

void forget_rows(RowCopies *copies);

/* Returns the copy of row y of an image, which is inside, from channel c of its first `count` pixels
 * on; the first is copied to pixel `before` of the slot. */
const float *copied_row(RowCopies *copies, const float *x, const Window *w, int image, int y, int c,
                        int before, int count);

int is_wide(const Window *w);

/* Lines first … end - 1 of a convolution that is_wide. */
void depthwise_wide(const float *x, const float *filter, float *out, const Window *w,
                    const Clipping *clipping, int first, int end);

#endif
