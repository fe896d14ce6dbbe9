/* Putting slices at their indices. */
#include "vector.h"

/* x and out are (length, inner bytes), updates is (count, inner bytes). */
EXPORT(scatter_set) void scatter_set(const byte *x, const int *indices, const byte *updates,
                                     byte *out, int length, int inner, int count) {
  __builtin_memcpy(out, x, length * inner);
  for (int i = 0; i < count; i++, updates += inner) {
    int index = indices[i];
    if (index < 0) index += length;
    if ((unsigned)index >= (unsigned)length) continue;
    byte *to = out + index * inner;
    /* memory.copy costs tens of nanoseconds, too much for one element or two. */
    if (inner == 4)
      __builtin_memcpy(to, updates, 4);
    else if (inner == 8)
      __builtin_memcpy(to, updates, 8);
    else if (inner == 1)
      *to = *updates;
    else
      __builtin_memcpy(to, updates, inner);
  }
}
