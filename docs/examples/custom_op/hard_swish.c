/* hard_swish(x) = x * min(max(x + 3, 0), 6) / 6, four elements at a time.
 *
 * Tensors are dense arrays that own their memory up to the next multiple of 16 bytes, so whole
 * vectors may be loaded and stored at their ends. */
#include <wasm_simd128.h>

__attribute__((export_name("hard_swish")))
void hard_swish(const float *x, float *out, int size) {
  const v128_t three = wasm_f32x4_splat(3), six = wasm_f32x4_splat(6), zero = wasm_f32x4_splat(0);
  for (int i = 0; i < size; i += 4) {
    v128_t value = wasm_v128_load(x + i);
    v128_t gate = wasm_f32x4_min(wasm_f32x4_max(wasm_f32x4_add(value, three), zero), six);
    wasm_v128_store(out + i, wasm_f32x4_div(wasm_f32x4_mul(value, gate), six));
  }
}
