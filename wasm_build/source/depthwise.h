/* What the ways to compute depthwise convolutions share. */
#ifndef WEBTENSOR_DEPTHWISE_H
#define WEBTENSOR_DEPTHWISE_H

#include "epilogue.h"
#include "vector.h"
#include "window.h"

INLINE int multiplier_of(const Window *w) { return w->out_channels / w->in_channels; }

INLINE int inside(int at, int length) { return (unsigned)at < (unsigned)length; }

/* Computes lines first … end - 1 of a depthwise convolution; `out` is where the first begins. */
void depthwise_lines(const float *x, const float *filter, float *out, const Window *w,
                     const Epilogue *epilogue, int first, int end);

/* The same for one that is_by_pixels. */
int is_by_pixels(const Window *w);
void depthwise_by_pixels(const float *x, const float *filter, float *out, const Window *w,
                         const Clipping *clipping, int first, int end);

#endif
