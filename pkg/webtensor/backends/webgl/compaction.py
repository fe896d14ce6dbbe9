"""Kernels that list the indices of a mask's true elements.

A cumulative sum counts the true elements up to each index; the index of the n-th is found in the
counts by bisection.
"""

from __future__ import annotations

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.backends.webgl.scan import cumsum_texture
from webtensor.dtypes import bool_, int32

__all__: list[str] = []

_COUNTED = """
ivec4 compute(int t) { return ivec4(getMask(t)); }
"""

_NTH = """
int compute(int n) {
  int low = 0;
  int high = size;
  while (low < high) {
    int middle = (low + high) >> 1;
    if (getCounts(middle) <= n) low = middle + 1;
    else high = middle;
  }
  return low;
}
"""


@kernel("true_indices")
def true_indices(draws: Draws) -> Value:
    """List the indices of the true elements; the result has as many elements."""
    (mask,) = draws.inputs
    size = mask.size

    def counted() -> Shader:
        return Shader("counted", [Input("mask", bool_, 4)], int32, 4, [], _COUNTED)

    def nth() -> Shader:
        inputs = [Input("counts", int32, 1)]
        return Shader("true_indices", inputs, int32, 1, [("size", "int")], _NTH)

    flags = draws.run("counted", counted, draws.inputs, size, int32)
    counts = cumsum_texture(draws, flags, (1, size, 1))
    return draws.draw(Program("true_indices", nth), [counts], draws.shape[0], int32, size)
