#include "epilogue.h"

#include "vector_math.h"

const float no_residual[8] = {-0.f, -0.f, -0.f, -0.f, -0.f, -0.f, -0.f, -0.f};

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

void NOINLINE apply_epilogue(const Epilogue *epilogue, float *out, int rows, int stride, int column,
                             int columns) {
  const float *bias = epilogue->bias + column, *slopes = epilogue->slopes + column;
  const float alpha = epilogue->alpha;
  switch (epilogue->activation) { FOR_EACH_ACTIVATION(ACTIVATE_ROWS) }
}
