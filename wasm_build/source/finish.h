/* What is done with a product before others read it: a bias added to each column, another tensor of
 * the result's shape added, an activation. */
#ifndef WEBTENSOR_FINISH_H
#define WEBTENSOR_FINISH_H

#include "vector_math.h"

/* In the order of `_ACTIVATIONS` in pkg/webtensor/backends/wasm/contraction.py. */
enum { LINEAR, RELU, RELU6, ELU, SIGMOID, LEAKY_RELU, PRELU };

typedef struct {
  const float *bias; /* 0 where nothing is to be done */
  int activation;
  float alpha;
  const float *slopes;   /* of PRELU, one for each column */
  const float *residual; /* 0, or what is added */
  const float *result;   /* where the result begins, as `residual` does */
} Finish;

/* The part of a finish that costs nothing where the product is still in registers: sums start from
 * the bias, and are limited to an interval as they are stored. */
typedef struct {
  const float *bias; /* 0 for zeros */
  float low, high;
} Early;

INLINE int finishes_early(const Finish *finish) {
  return finish->activation <= RELU6 && !finish->residual;
}

INLINE Early early_finish(const Finish *finish) {
  Early early = {0, -VINF, VINF};
  if (finish && finish->bias && finishes_early(finish)) {
    early.bias = finish->bias;
    if (finish->activation != LINEAR) early.low = 0;
    if (finish->activation == RELU6) early.high = 6;
  }
  return early;
}

/* Whether `finish_rows` has anything left to do. */
INLINE int finishes_late(const Finish *finish) {
  return finish && finish->bias && !finishes_early(finish);
}

#define FINISH_ROWS(ACTIVATED)                                                                     \
  for (; rows > 0; rows--, out += stride) {                                                        \
    const float *residual = finish->residual ? finish->residual + (out - finish->result) : 0;      \
    for (int c = 0; c < columns; c += 4) {                                                         \
      vf x = load((const float *)out + c) + load(bias + c);                                        \
      if (residual) x = x + load(residual + c);                                                    \
      store_up_to(out + c, ACTIVATED, columns - c);                                                \
    }                                                                                              \
  }                                                                                                \
  return;

/* Finishes rows of the result, `stride` apart, from a column on. */
static void NOINLINE finish_rows(const Finish *finish, float *out, int rows, int stride, int column,
                                 int columns) {
  const float *bias = finish->bias + column;
  switch (finish->activation) {
    case LINEAR: FINISH_ROWS(x)
    case RELU: FINISH_ROWS(vsel(x < 0, vset(0.f), x))
    case RELU6: FINISH_ROWS(vsel(x < 0, vset(0.f), vsel(x > 6, vset(6.f), x)))
    case ELU: FINISH_ROWS(vsel(x < 0, finish->alpha * vexpm1(x), x))
    case SIGMOID: FINISH_ROWS(1.f / (1.f + vexp(-x)))
    case LEAKY_RELU: FINISH_ROWS(vsel(x < 0, x * finish->alpha, x))
    case PRELU: FINISH_ROWS(vsel(x < 0, x * load(finish->slopes + column + c), x))
  }
}

#endif
