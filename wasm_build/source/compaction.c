/* Listing the indices of a mask's true elements. */
#include "vector.h"

/* Every index is written, and overwritten by the next unless the mask is true there: that avoids a
 * branch that no processor could predict. `out` therefore has room for one more than are listed. */
EXPORT(true_indices) void true_indices(const byte *mask, int *out, int size) {
  int count = 0;
  for (int i = 0; i < size; i++) {
    out[count] = i;
    count += mask[i];
  }
}
