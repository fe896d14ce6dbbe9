/* Listing where a mask is true. */
#include "vector.h"

/* `out` has room for one more than are listed: each place is written, and kept where the mask is
 * true, without a branch whose outcome no processor could foresee. */
EXPORT(true_indices) void true_indices(const byte *mask, int *out, int size) {
  int count = 0;
  for (int i = 0; i < size; i++) {
    out[count] = i;
    count += mask[i];
  }
}
