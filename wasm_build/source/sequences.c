/* Numbers in equal steps, and ones on a diagonal.
 *
 * sequence_<dtype>(out, size, start, step, last): element i is start + i * step, and the last one
 * last; computed in double precision, so that every int32 is exact.
 *
 * ragged_sequence_<dtype>(starts, deltas, splits, out, rows): element i of row r, which begins at
 * element splits[r], is starts[r] + i * deltas[r].
 *
 * eye_<dtype>(out, rows, columns, k): ones at (r, r + k), else zeros.
 */
#include "vector.h"

INLINE void store_four(float *out, vd low, vd high) {
  v128_t first = wasm_f32x4_demote_f64x2_zero((v128_t)low);
  v128_t second = wasm_f32x4_demote_f64x2_zero((v128_t)high);
  wasm_v128_store(out, wasm_i64x2_shuffle(first, second, 0, 2));
}

INLINE void store_four_integers(int *out, vd low, vd high) {
  v128_t first = wasm_i32x4_trunc_sat_f64x2_zero((v128_t)low);
  v128_t second = wasm_i32x4_trunc_sat_f64x2_zero((v128_t)high);
  wasm_v128_store(out, wasm_i64x2_shuffle(first, second, 0, 2));
}

#define SEQUENCE(DTYPE, TYPE, STORE)                                                               \
  EXPORT(sequence_##DTYPE)                                                                         \
  void sequence_##DTYPE(TYPE *out, int size, double start, double step, double last) {             \
    vd low = {0, 1}, high = {2, 3};                                                                \
    for (int i = 0; i < size; i += 4, low += 4, high += 4)                                         \
      STORE(out + i, start + low * step, start + high * step);                                     \
    out[size - 1] = (TYPE)last;                                                                    \
  }                                                                                                \
  EXPORT(ragged_sequence_##DTYPE)                                                                  \
  void ragged_sequence_##DTYPE(const TYPE *starts, const TYPE *deltas, const int *splits,          \
                               TYPE *out, int rows) {                                              \
    for (int r = 0; r < rows; r++) {                                                               \
      double start = starts[r], delta = deltas[r];                                                 \
      int count = splits[r + 1] - splits[r];                                                       \
      for (int i = 0; i < count; i++) *out++ = (TYPE)(start + i * delta);                          \
    }                                                                                              \
  }

SEQUENCE(float32, float, store_four)
SEQUENCE(int32, int, store_four_integers)

#define EYE(DTYPE, TYPE)                                                                           \
  EXPORT(eye_##DTYPE) void eye_##DTYPE(TYPE *out, int rows, int columns, int k) {                  \
    __builtin_memset(out, 0, (uint32_t)rows * columns * sizeof(TYPE));                             \
    for (int r = k < 0 ? -k : 0; r < rows && r + k < columns; r++)                                 \
      out[(uint32_t)r * columns + r + k] = 1;                                                      \
  }

EYE(float32, float)
EYE(int32, int)
EYE(bool, byte)
