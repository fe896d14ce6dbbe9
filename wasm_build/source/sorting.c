/* Sorting rows and searching in sorted ones.
 *
 * Elements are compared as unsigned keys of 32 bits in the same order; NaN is the largest key, -0
 * and 0 have one. Long rows are sorted by four counting passes over bytes of the keys (least
 * significant first, which keeps equal keys in their order), short ones by insertion.
 */
#include "vector.h"

#define SHORT_ROW 48

INLINE uint32_t float_key(float x) {
  union { float f; uint32_t u; } bits = {x};
  uint32_t u = bits.u;
  if ((u & 0x7fffffff) > 0x7f800000) return ~0u;
  if (u == 0x80000000) u = 0;
  return u & 0x80000000 ? ~u : u | 0x80000000;
}
INLINE uint32_t int_key(int x) { return (uint32_t)x ^ 0x80000000; }

/* The reverse order, except that NaN stays last. */
INLINE uint32_t descending_float_key(float x) {
  uint32_t key = float_key(x);
  return key == ~0u ? key : ~key;
}
INLINE uint32_t descending_int_key(int x) { return ~int_key(x); }

/* -- sorting --------------------------------------------------------------------------------- */

static void NOINLINE insertion_sort(uint32_t *keys, int *order, int size) {
  for (int i = 0; i < size; i++) {
    uint32_t key = keys[i];
    int j = i;
    for (; j > 0 && keys[j - 1] > key; j--) {
      keys[j] = keys[j - 1];
      order[j] = order[j - 1];
    }
    keys[j] = key;
    order[j] = i;
  }
}

/* Sorts keys and writes their order to `order`; the other two are scratch of the same size. */
static void NOINLINE radix_sort(uint32_t *keys, int *order, uint32_t *other_keys,
                                int *other_order, int size) {
  uint32_t counts[4][256] = {{0}};
  for (int i = 0; i < size; i++) {
    uint32_t key = keys[i];
    for (int digit = 0; digit < 4; digit++) counts[digit][key >> 8 * digit & 255]++;
    order[i] = i;
  }
  int *result = order;
  for (int digit = 0; digit < 4; digit++) {
    uint32_t *starts = counts[digit];
    int shift = 8 * digit;
    /* All keys share this byte: nothing to move. */
    if (starts[keys[0] >> shift & 255] == (uint32_t)size) continue;
    for (uint32_t value = 0, start = 0; value < 256; value++) {
      uint32_t count = starts[value];
      starts[value] = start;
      start += count;
    }
    for (int i = 0; i < size; i++) {
      uint32_t to = starts[keys[i] >> shift & 255]++;
      other_keys[to] = keys[i];
      other_order[to] = order[i];
    }
    uint32_t *swapped_keys = keys;
    int *swapped_order = order;
    keys = other_keys;
    order = other_order;
    other_keys = swapped_keys;
    other_order = swapped_order;
  }
  if (order != result) __builtin_memcpy(result, order, size * sizeof(int));
}

/* The indices of the elements of each row in order; scratch holds 3 * length words. */
#define ARGSORT(NAME, TYPE, KEY, DESCENDING_KEY)                                                   \
  EXPORT(NAME) void NAME(const TYPE *x, int *out, uint32_t *scratch, int outer, int length,        \
                         int descending) {                                                         \
    for (int o = 0; o < outer; o++, x += length, out += length) {                                  \
      if (descending)                                                                              \
        for (int i = 0; i < length; i++) scratch[i] = DESCENDING_KEY(x[i]);                        \
      else                                                                                         \
        for (int i = 0; i < length; i++) scratch[i] = KEY(x[i]);                                   \
      if (length <= SHORT_ROW)                                                                     \
        insertion_sort(scratch, out, length);                                                      \
      else                                                                                         \
        radix_sort(scratch, out, scratch + length, (int *)scratch + 2 * length, length);           \
    }                                                                                              \
  }

ARGSORT(argsort_float32, float, float_key, descending_float_key)
ARGSORT(argsort_int32, int, int_key, descending_int_key)

/* -- selecting ------------------------------------------------------------------------------- */

/* Sifts `item` down a heap of `size` from the top; the largest is on top. */
INLINE void sift(uint64_t *heap, int size, int at, uint64_t item) {
  for (int child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && heap[child + 1] > heap[child]) child++;
    if (heap[child] <= item) break;
    heap[at] = heap[child];
  }
  heap[at] = item;
}

/* The indices of the k largest elements of each row, in descending order, of equal ones the first.
 * A heap in scratch has the k best so far, the worst on top, as (descending key, index). */
#define TOPK(NAME, TYPE, DESCENDING_KEY)                                                           \
  EXPORT(NAME) void NAME(const TYPE *x, int *out, uint64_t *heap, int outer, int length, int k) {  \
    for (int o = 0; o < outer; o++, x += length, out += k) {                                       \
      for (int i = 0; i < k; i++) heap[i] = (uint64_t)DESCENDING_KEY(x[i]) << 32 | (uint32_t)i;    \
      for (int i = k / 2 - 1; i >= 0; i--) sift(heap, k, i, heap[i]);                              \
      for (int i = k; i < length; i++) {                                                           \
        uint32_t key = DESCENDING_KEY(x[i]);                                                       \
        if (key < heap[0] >> 32) sift(heap, k, 0, (uint64_t)key << 32 | (uint32_t)i);              \
      }                                                                                            \
      for (int left = k - 1; left >= 0; left--) {                                                  \
        out[left] = (int)heap[0];                                                                  \
        sift(heap, left, 0, heap[left]);                                                           \
      }                                                                                            \
    }                                                                                              \
  }

TOPK(topk_float32, float, descending_float_key)
TOPK(topk_int32, int, descending_int_key)

/* -- searching ------------------------------------------------------------------------------- */

/* How many of the first `size` elements, which are sorted, are less than a value, or not greater.
 * Without a branch in the loop, whose outcomes no processor could foresee. */
#define COUNT(NAME, TYPE, COMPARED)                                                                \
  INLINE int NAME(const TYPE *row, int size, TYPE value) {                                         \
    const TYPE *base = row;                                                                        \
    while (size > 1) {                                                                             \
      int half = size >> 1;                                                                        \
      base += base[half - 1] COMPARED value ? half : 0;                                            \
      size -= half;                                                                                \
    }                                                                                              \
    return (int)(base - row) + (size == 1 && *base COMPARED value);                                \
  }
COUNT(count_less_float32, float, <)
COUNT(count_less_int32, int, <)
COUNT(count_not_greater_float32, float, <=)
COUNT(count_not_greater_int32, int, <=)

INLINE int is_nan_float32(float x) { return x != x; }
INLINE int is_nan_int32(int x) { return 0; }

/* How many elements of its sorted row come before each value, or, on the right side, not after. NaN
 * comes after all others. */
#define SEARCH_SORTED(NAME, TYPE, DTYPE)                                                           \
  EXPORT(NAME) void NAME(const TYPE *rows, const TYPE *values, int *out, int outer, int length,    \
                         int count, int right) {                                                   \
    for (int o = 0; o < outer; o++, rows += length) {                                              \
      int numbers = length;                                                                        \
      while (numbers > 0 && is_nan_##DTYPE(rows[numbers - 1])) numbers--;                          \
      for (int i = 0; i < count; i++, out++) {                                                     \
        TYPE value = *values++;                                                                    \
        if (is_nan_##DTYPE(value))                                                                 \
          *out = right ? length : numbers;                                                         \
        else if (right)                                                                            \
          *out = count_not_greater_##DTYPE(rows, numbers, value);                                  \
        else                                                                                       \
          *out = count_less_##DTYPE(rows, numbers, value);                                         \
      }                                                                                            \
    }                                                                                              \
  }

SEARCH_SORTED(search_sorted_float32, float, float32)
SEARCH_SORTED(search_sorted_int32, int, int32)
