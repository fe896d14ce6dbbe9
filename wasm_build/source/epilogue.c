#include "epilogue.h"

#include "vector_math.h"

const float nothing[8] = {-0.f, -0.f, -0.f, -0.f, -0.f, -0.f, -0.f, -0.f};

#define ACTIVATE(AT, BIAS, SLOPES, EXPRESSION)                                                     \
  {                                                                                                \
    vf x = load((const float *)out + AT) + BIAS + load(added + AT), y = SLOPES;                    \
    (void)y;                                                                                       \
    store(out + AT, EXPRESSION);                                                                   \
  }

/* One activation's loops: of two vectors a row, whose bias and slopes stay in registers, and of any
 * number of columns. An expression without `y` leaves the slopes unread. */
#define ACTIVATE_ROWS(ACTIVATION, EXPRESSION)                                                      \
  case ACTIVATION:                                                                                 \
    if (columns == 8) {                                                                            \
      vf bias0 = load(bias), bias1 = load(bias + 4);                                               \
      vf slopes0 = load(slopes), slopes1 = load(slopes + 4);                                       \
      for (; rows > 0; rows--, out += stride, added += step) {                                     \
        ACTIVATE(0, bias0, slopes0, EXPRESSION)                                                    \
        ACTIVATE(4, bias1, slopes1, EXPRESSION)                                                    \
      }                                                                                            \
      return;                                                                                      \
    }                                                                                              \
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

void NOINLINE apply_epilogue(const Epilogue *epilogue, float *out, int rows, int stride, int column,
                             int columns) {
  const float *bias = epilogue->bias + column, *slopes = epilogue->slopes + column;
  const float alpha = epilogue->alpha, *added = nothing;
  int step = 0;
  if (epilogue->residual) {
    added = epilogue->residual + (out - epilogue->result);
    step = stride;
  }
  switch (epilogue->activation) { FOR_EACH_ACTIVATION(ACTIVATE_ROWS) }
}
