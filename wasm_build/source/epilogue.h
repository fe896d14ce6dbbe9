/* The epilogue of a product: a bias added to each column, another tensor of the result's shape (the
 * residual) added, an activation applied, before the result is read again.
 *
 * The activations, their numbers and their expressions are generated from
 * pkg/webtensor/backends/fused_activations.py. */
#ifndef WEBTENSOR_EPILOGUE_H
#define WEBTENSOR_EPILOGUE_H

#include "activations.h"
#include "vector.h"

typedef struct {
  const float *bias; /* 0: there is no epilogue */
  int activation;
  float alpha;
  const float *slopes;   /* of PRELU: one for each column */
  const float *residual; /* 0: none is added */
  const float *result;   /* the start of the result; the residual has the same layout */
} Epilogue;

/* The epilogue of a result's columns from one on. */
INLINE Epilogue epilogue_from(const float *bias, int activation, float alpha, const float *slopes,
                              const float *residual, const float *result, int column) {
  return (Epilogue){bias ? bias + column : 0, activation, alpha, slopes + column, residual, result};
}

/* An epilogue that costs nothing where the product is still in registers: the bias is added to
 * sums, and are clipped to an interval when they are stored. */
typedef struct {
  const float *bias; /* 0 for zeros */
  float low, high;
} Clipping;

INLINE int only_clips(const Epilogue *epilogue) {
  int activation = epilogue->activation;
  return (activation == LINEAR || activation == RELU || activation == RELU6) &&
         !epilogue->residual;
}

/* The limits of an activation's results; those of others are infinite. */
INLINE void find_limits(int activation, float *low, float *high) {
  *low = activation == RELU || activation == RELU6 ? 0 : -VINF;
  *high = activation == RELU6 ? 6 : VINF;
}

INLINE Clipping clipping_of(const Epilogue *epilogue) {
  Clipping clipping = {0, -VINF, VINF};
  if (epilogue && epilogue->bias && only_clips(epilogue)) {
    clipping.bias = epilogue->bias;
    find_limits(epilogue->activation, &clipping.low, &clipping.high);
  }
  return clipping;
}

/* Whether `apply_epilogue` is needed after the clipping. */
INLINE int needs_epilogue(const Epilogue *epilogue) {
  return epilogue && epilogue->bias && !only_clips(epilogue);
}

/* A residual to add where there is none: x + -0 is x. */
extern const float no_residual[8];

/* Applies the epilogue to rows of the result, `stride` apart; `out` is the first row's element in
 * the column `column`. */
void apply_epilogue(const Epilogue *epilogue, float *out, int rows, int stride, int column,
                    int columns);

#endif
