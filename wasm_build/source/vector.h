/* Vectors of four 32-bit lanes, as the elementwise table's C column sees them.
 *
 * Memory layout: a tensor is a dense row-major array of float, int or byte (bool: 0 or 1, one byte
 * each) that starts on a multiple of 16 bytes and owns its memory up to the next multiple of 16.
 * Loading or storing a whole vector at the end of a tensor is therefore safe. Loading past that end
 * is safe too (the allocator keeps a margin at the end of memory) and gives lanes whose values must
 * not matter.
 *
 * Calling convention: every exported kernel takes addresses first (inputs, then the output), then
 * sizes, then parameters; addresses and sizes are i32, numbers are f32. Kernels never allocate.
 *
 * Masks are vi lanes of all ones or all zeros, as comparisons of vectors give them.
 */
#ifndef WEBTENSOR_VECTOR_H
#define WEBTENSOR_VECTOR_H

#include <stdint.h>
#include <wasm_simd128.h>

typedef uint8_t byte;
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef double vd __attribute__((vector_size(16)));

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))
#define OVERLOAD static inline __attribute__((always_inline, overloadable))
#define NOINLINE __attribute__((noinline))
#define PRAGMA(text) _Pragma(#text)
/* Before a loop that is faster when unrolled; the compiler leaves the others alone (build.py). */
#define UNROLLED(TURNS) PRAGMA(clang loop unroll_count(TURNS))

#define VINF __builtin_inff()
#define VNAN __builtin_nanf("")

INLINE int smaller(int a, int b) { return a < b ? a : b; }

/* -- sharing work ---------------------------------------------------------------------------- */

/* Kernels that threads share take a part and the number of parts as their last arguments. Both are
 * zero where one thread does everything: hosts fill missing arguments with zeros. This finds the
 * piece [begin, end) of `total` that is the part's, in whole units save for the last. */
INLINE void find_piece(int total, int unit, int part, int parts, int *begin, int *end) {
  *begin = 0;
  *end = total;
  if (parts < 2) return;
  int units = (total + unit - 1) / unit;
  *begin = (int)((int64_t)units * part / parts) * unit;
  int behind = (int)((int64_t)units * (part + 1) / parts) * unit;
  if (behind < total) *end = behind;
}

/* -- making vectors -------------------------------------------------------------------------- */

/* V8 makes a constant vector in three instructions wherever the code has it; one that isn't zero is
 * hidden from the compiler, which then makes it before a loop, for the loop to keep. */
#define HIDE_CONSTANT(VECTOR, X) \
  if (__builtin_constant_p(X) && (X) != 0) __asm__("" : "+r"(VECTOR))
INLINE vf vset(float x) {
  vf lanes = {x, x, x, x};
  HIDE_CONSTANT(lanes, x);
  return lanes;
}
INLINE vi vseti(int x) {
  vi lanes = {x, x, x, x};
  HIDE_CONSTANT(lanes, x);
  return lanes;
}
INLINE vd vsetd(double x) {
  vd lanes = {x, x};
  HIDE_CONSTANT(lanes, x);
  return lanes;
}

/* -- choosing -------------------------------------------------------------------------------- */

/* Lanes of a where the mask is set, else of b. Masks are whole lanes, so that the relaxed form,
 * one blend instruction on x86, chooses the same. */
INLINE vi select_lanes(vi mask, vi a, vi b) {
#ifdef __wasm_relaxed_simd__
  return (vi)wasm_i32x4_relaxed_laneselect((v128_t)a, (v128_t)b, (v128_t)mask);
#else
  return (vi)wasm_v128_bitselect((v128_t)a, (v128_t)b, (v128_t)mask);
#endif
}
OVERLOAD vf vsel(vi mask, vf a, vf b) { return (vf)select_lanes(mask, (vi)a, (vi)b); }
OVERLOAD vi vsel(vi mask, vi a, vi b) { return select_lanes(mask, a, b); }

INLINE int vany(vi mask) { return wasm_v128_any_true((v128_t)mask); }

/* -- arithmetic ------------------------------------------------------------------------------ */

OVERLOAD vf vabs(vf x) { return (vf)wasm_f32x4_abs((v128_t)x); }
OVERLOAD vi vabs(vi x) { return (vi)wasm_i32x4_abs((v128_t)x); }

/* NaN where either is NaN. WebAssembly's own min and max also order zeros, for twice as many
 * instructions on x86. */
OVERLOAD vf vmin(vf x, vf y) { return vsel((x < y) | (x != x), x, y); }
OVERLOAD vf vmax(vf x, vf y) { return vsel((x > y) | (x != x), x, y); }
OVERLOAD vi vmin(vi x, vi y) { return (vi)wasm_i32x4_min((v128_t)x, (v128_t)y); }
OVERLOAD vi vmax(vi x, vi y) { return (vi)wasm_i32x4_max((v128_t)x, (v128_t)y); }

/* The greater one, or x where either is NaN: one instruction. */
INLINE vf vgreater(vf x, vf y) { return (vf)wasm_f32x4_pmax((v128_t)x, (v128_t)y); }

/* x limited to an interval; NaN stays. */
OVERLOAD vf vclamp(vf x, vf low, vf high) {
  return (vf)wasm_f32x4_pmax(wasm_f32x4_pmin((v128_t)x, (v128_t)high), (v128_t)low);
}
OVERLOAD vf vclamp(vf x, float low, float high) { return vclamp(x, vset(low), vset(high)); }

/* x, or 0 where it is subnormal; NaN stays. */
INLINE vf vnormal(vf x) {
  return (vf)wasm_v128_andnot((v128_t)x, (v128_t)(vabs(x) < vset(0x1p-126f)));
}

INLINE vf vfloor(vf x) { return (vf)wasm_f32x4_floor((v128_t)x); }
INLINE vf vceil(vf x) { return (vf)wasm_f32x4_ceil((v128_t)x); }
INLINE vf vtrunc(vf x) { return (vf)wasm_f32x4_trunc((v128_t)x); }
INLINE vf vround(vf x) { return (vf)wasm_f32x4_nearest((v128_t)x); } /* halves to even */
INLINE vf vsqrt(vf x) { return (vf)wasm_f32x4_sqrt((v128_t)x); }

/* x * y + z, rounded once or twice: never rely on which. */
INLINE vf vmadd(vf x, vf y, vf z) {
#ifdef __wasm_relaxed_simd__
  return (vf)wasm_f32x4_relaxed_madd((v128_t)x, (v128_t)y, (v128_t)z);
#else
  return x * y + z;
#endif
}
/* z - x * y, as above. */
INLINE vf vnmadd(vf x, vf y, vf z) {
#ifdef __wasm_relaxed_simd__
  return (vf)wasm_f32x4_relaxed_nmadd((v128_t)x, (v128_t)y, (v128_t)z);
#else
  return z - x * y;
#endif
}
INLINE vd vmaddd(vd x, vd y, vd z) {
#ifdef __wasm_relaxed_simd__
  return (vd)wasm_f64x2_relaxed_madd((v128_t)x, (v128_t)y, (v128_t)z);
#else
  return x * y + z;
#endif
}

/* -- pinned instructions --------------------------------------------------------------------- */

/* For inner loops: they stay where they are written, with constant offsets in bytes. Left to
 * itself, LLVM hoists the broadcasts of a whole step and moves additions down to where their sums
 * are next added to, which with 12 sums overflows the 16 vector registers of x86, and splits
 * addresses into extra instructions: the loop then runs at half its speed. */
#define LOAD_AT(TO, FROM, BYTES)                                                                   \
  __asm__ volatile("local.get %1\nv128.load %2:p2align=2\nlocal.set %0"                            \
                   : "=r"(TO)                                                                      \
                   : "r"(FROM), "i"(BYTES))
#define SPLAT_AT(TO, FROM, BYTES)                                                                  \
  __asm__ volatile("local.get %1\nv128.load32_splat %2:p2align=2\nlocal.set %0"                    \
                   : "=r"(TO)                                                                      \
                   : "r"(FROM), "i"(BYTES))

/* SUM += X * Y. */
#ifdef __wasm_relaxed_simd__
#define ADD_PRODUCT(SUM, X, Y)                                                                     \
  __asm__ volatile("local.get %1\nlocal.get %2\nlocal.get %0\nf32x4.relaxed_madd\nlocal.set %0"    \
                   : "+r"(SUM)                                                                     \
                   : "r"(X), "r"(Y))
#else
#define ADD_PRODUCT(SUM, X, Y)                                                                     \
  __asm__ volatile("local.get %0\nlocal.get %1\nlocal.get %2\nf32x4.mul\nf32x4.add\nlocal.set %0"  \
                   : "+r"(SUM)                                                                     \
                   : "r"(X), "r"(Y))
#endif

/* -- conversion ------------------------------------------------------------------------------ */

INLINE vf vtofloat(vi x) { return __builtin_convertvector(x, vf); }
/* Truncates; saturates; NaN gives 0. */
INLINE vi vtoint(vf x) { return (vi)wasm_i32x4_trunc_sat_f32x4((v128_t)x); }

INLINE vd vlow(vf x) { return (vd)wasm_f64x2_promote_low_f32x4((v128_t)x); }
INLINE vd vhigh(vf x) {
  return (vd)wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle((v128_t)x, (v128_t)x, 2, 3, 2, 3));
}
INLINE vf vjoin(vd low, vd high) {
  return (vf)wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero((v128_t)low),
                                wasm_f32x4_demote_f64x2_zero((v128_t)high), 0, 1, 4, 5);
}

/* -- memory ---------------------------------------------------------------------------------- */

OVERLOAD vf load(const float *from) { return (vf)wasm_v128_load(from); }
OVERLOAD vi load(const int *from) { return (vi)wasm_v128_load(from); }
/* Four bools, as a mask. */
OVERLOAD vi load(const byte *from) {
  v128_t lanes = wasm_v128_load32_zero(from);
  return (vi)wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(lanes)) != 0;
}

OVERLOAD vf load_splat(const float *from) { return (vf)wasm_v128_load32_splat(from); }
OVERLOAD vi load_splat(const int *from) { return (vi)wasm_v128_load32_splat(from); }
OVERLOAD vi load_splat(const byte *from) { return vseti(*from ? -1 : 0); }

OVERLOAD void store(float *to, vf x) { wasm_v128_store(to, (v128_t)x); }
OVERLOAD void store(int *to, vi x) { wasm_v128_store(to, (v128_t)x); }
INLINE v128_t narrow_mask(vi mask) {
  v128_t halves = wasm_i16x8_narrow_i32x4((v128_t)mask, (v128_t)mask);
  return wasm_v128_and(wasm_i8x16_narrow_i16x8(halves, halves), wasm_i8x16_const_splat(1));
}
OVERLOAD void store(byte *to, vi mask) { wasm_v128_store32_lane(to, narrow_mask(mask), 0); }

/* Store the first count (1 to 3) lanes. */
INLINE void store_lanes(void *to, v128_t x, int count) {
  if (count & 2) {
    wasm_v128_store64_lane(to, x, 0);
    if (count & 1) wasm_v128_store32_lane((float *)to + 2, x, 2);
  } else {
    wasm_v128_store32_lane(to, x, 0);
  }
}
OVERLOAD void store_part(float *to, vf x, int count) { store_lanes(to, (v128_t)x, count); }
OVERLOAD void store_part(int *to, vi x, int count) { store_lanes(to, (v128_t)x, count); }
OVERLOAD void store_part(byte *to, vi mask, int count) {
  v128_t bytes = narrow_mask(mask);
  wasm_v128_store8_lane(to, bytes, 0);
  if (count > 1) wasm_v128_store8_lane(to + 1, bytes, 1);
  if (count > 2) wasm_v128_store8_lane(to + 2, bytes, 2);
}
OVERLOAD void store_up_to(float *to, vf x, int count) {
  if (count >= 4) store(to, x); else store_part(to, x, count);
}
OVERLOAD void store_up_to(int *to, vi x, int count) {
  if (count >= 4) store(to, x); else store_part(to, x, count);
}

/* Mask of the first count lanes. */
INLINE vi first_lanes(int count) { return (vi){0, 1, 2, 3} < vseti(count); }

/* -- across lanes ---------------------------------------------------------------------------- */

OVERLOAD float lanes_sum(vf x) { return (x[0] + x[1]) + (x[2] + x[3]); }
OVERLOAD int lanes_sum(vi x) { return (int)((unsigned)x[0] + x[1] + x[2] + x[3]); }

#endif
