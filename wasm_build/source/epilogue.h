/* The epilogue of a product: a bias added to each column, another tensor of the result's shape (the
 * residual) added, an activation applied, before the result is read again.
 *
 * The activations, their numbers and their expressions are generated from
 * pkg/webtensor/backends/fused_activations.py. */
#ifndef WEBTENSOR_EPILOGUE_H
#define WEBTENSOR_EPILOGUE_H

#include "activations.h"
#include "vector_math.h"

typedef struct {
  const float *bias; /* 0: there is no epilogue */
  int activation;
  float alpha;
  const float *slopes;   /* of PRELU: one for each column */
  const float *residual; /* 0: none is added */
  const float *result;   /* the start of the result; the residual has the same layout */
} Epilogue;

/* An epilogue that costs nothing where the product is still in registers: the bias is added to sums,
 * and are clipped to an interval when they are stored. */
typedef struct {
  const float *bias; /* 0 for zeros */
  float low, high;
} Clipping;

INLINE int only_clips(const Epilogue *epilogue) {
  int activation = epilogue->activation;
  return (activation == LINEAR || activation == RELU || activation == RELU6) &&
         !epilogue->residual;
}

INLINE Clipping clipping_of(const Epilogue *epilogue) {
  Clipping clipping = {0, -VINF, VINF};
  if (epilogue && epilogue->bias && only_clips(epilogue)) {
    clipping.bias = epilogue->bias;
    if (epilogue->activation != LINEAR) clipping.low = 0;
    if (epilogue->activation == RELU6) clipping.high = 6;
  }
  return clipping;
}

/* Whether `apply_epilogue` is needed after the clipping. */
INLINE int needs_epilogue(const Epilogue *epilogue) {
  return epilogue && epilogue->bias && !only_clips(epilogue);
}

/* One activation's loop. An expression without `y` leaves the slopes unread. */
#define ACTIVATE_ROWS(ACTIVATION, EXPRESSION)                                                      \
  case ACTIVATION:                                                                                 \
    for (; rows > 0; rows--, out += stride) {                                                      \
      const float *residual =                                                                      \
          epilogue->residual ? epilogue->residual + (out - epilogue->result) : 0;                  \
      for (int c = 0; c < columns; c += 4) {                                                       \
        vf x = load((const float *)out + c) + load(bias + c), y = load(slopes + c);                \
        if (residual) x = x + load(residual + c);                                                  \
        (void)y;                                                                                   \
        store_up_to(out + c, EXPRESSION, columns - c);                                             \
      }                                                                                            \
    }                                                                                              \
    return;

/* Applies the epilogue to rows of the result, `stride` apart; `out` is the first row's element in
 * the column `column`. */
static void NOINLINE apply_epilogue(const Epilogue *epilogue, float *out, int rows, int stride,
                                    int column, int columns) {
  const float *bias = epilogue->bias + column, *slopes = epilogue->slopes + column;
  const float alpha = epilogue->alpha;
  switch (epilogue->activation) { FOR_EACH_ACTIVATION(ACTIVATE_ROWS) }
}

#endif
