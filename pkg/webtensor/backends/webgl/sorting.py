"""Kernels that sort the last axis and search in what is sorted. NaN comes last in every order.

Rows are sorted in two stages. Blocks of up to 128 elements are sorted by counting: each element's
place is the number of those that come before it, and a second draw turns places into the order.
Then each further draw merges pairs of runs: an output finds by bisection how many of the elements
before it come from the first run (Green, McColl & Bader, *GPU merge path*, 2012). So a million
elements take 15 draws with some 20 bisections each, where a bitonic network takes 210.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import DType, float32, int32
from webtensor.shapes import Shape

__all__ = ["argsort_texture"]

_BLOCK = 128


def _before(dtype: DType, descending: bool) -> str:
    """GLSL function that tells whether ``a`` must come before ``b``."""
    test = "a > b" if descending else "a < b"
    if dtype is float32:
        return f"bool before(float a, float b) {{ return !is_nan(a) && (is_nan(b) || {test}); }}\n"
    return f"bool before(int a, int b) {{ return {test}; }}\n"


_RANK = """
int compute(int t) {
  int k = t % length_;
  int row = t - k;
  int start = k - k % block;
  int end = min(start + block, length_);
  VALUE own = getX(t);
  int rank = start;
  for (int m = start; m < end; m++) {
    VALUE other = getX(row + m);
    if (m < k ? !before(own, other) : before(other, own)) rank++;
  }
  return rank;
}
"""

_ORDER = """
int compute(int t) {
  int k = t % length_;
  int row = t - k;
  int start = k - k % block;
  int end = min(start + block, length_);
  for (int m = start; m < end; m++) if (getRanks(row + m) == k) return m;
  return 0;
}
"""

_MERGE = """
VALUE at(int row, int k) { return getX(row + getPlaces(row + k)); }

int compute(int t) {
  int k = t % length_;
  int row = t - k;
  int first = k - k % (2 * run);
  int second = min(first + run, length_);
  int first_size = second - first;
  int second_size = min(second + run, length_) - second;
  int d = k - first;
  int low = max(0, d - second_size);
  int high = min(d, first_size);
  while (low < high) {
    int middle = (low + high) >> 1;
    if (before(at(row, second + d - 1 - middle), at(row, first + middle))) high = middle;
    else low = middle + 1;
  }
  int other = d - low;
  bool from_first = low < first_size &&
    (other >= second_size || !before(at(row, second + other), at(row, first + low)));
  return getPlaces(row + (from_first ? first + low : second + other));
}
"""


def argsort_texture(
    backend: WebGLBackend, x: Texture, dtype: DType, descending: bool, outer: int, length: int
) -> Texture:
    """Places of the elements of each row of a texture, viewed as (outer, length), in order."""
    value = "float" if dtype is float32 else "int"
    size = outer * length

    def shader(name: str, inputs: Sequence[Input], code: str, *numbers: str) -> Shader:
        code = (_before(dtype, descending) + code).replace("VALUE", value)
        uniforms = [(number, "int") for number in ("length_", *numbers)]
        return Shader(name, inputs, int32, 1, uniforms, code)

    rank = backend.program(
        ("rank", dtype, descending),
        lambda: shader("rank", [Input("x", dtype, 1)], _RANK, "block"),
    )
    order = backend.program(
        "order",
        lambda: Shader(
            "order",
            [Input("ranks", int32, 1)],
            int32,
            1,
            [("length_", "int"), ("block", "int")],
            _ORDER,
        ),
    )
    block = min(length, _BLOCK)
    ranks = backend.draw(rank, [x], size, int32, length, block)
    try:
        places = backend.draw(order, [ranks], size, int32, length, block)
    finally:
        backend.release(ranks)
    run = block
    while run < length:
        merge = backend.program(
            ("merge", dtype, descending),
            lambda: shader(
                "merge", [Input("x", dtype, 1), Input("places", int32, 1)], _MERGE, "run"
            ),
        )
        try:
            merged = backend.draw(merge, [x, places], size, int32, length, run)
        finally:
            backend.release(places)
        places = merged
        run *= 2
    return places


@kernel("argsort")
def argsort(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    descending: bool,
    outer: int,
    length: int,
) -> Handle:
    """Places of the elements of each row in order; equal ones stay as they were."""
    (x,) = inputs
    return argsort_texture(backend, x.storage.handle, x.dtype, descending, outer, length)


_SEARCH = """
int compute(int t) {
  int row = (t / count) * length_;
  VALUE value = getValues(t);
  int low = 0;
  int high = length_;
  while (low < high) {
    int middle = (low + high) >> 1;
    VALUE other = getRows(row + middle);
    if (right == 1 ? !before(value, other) : before(other, value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
"""


@kernel("search_sorted")
def search_sorted(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    right: bool,
    outer: int,
    length: int,
    count: int,
) -> Handle:
    """Where each value would be inserted into its sorted row."""
    kind = inputs[0].dtype

    def shader() -> Shader:
        code = _before(kind, False) + _SEARCH
        code = code.replace("VALUE", "float" if kind is float32 else "int")
        sources = [Input("rows", kind, 1), Input("values", kind, 1)]
        uniforms = [(name, "int") for name in ("length_", "count", "right")]
        return Shader("search_sorted", sources, int32, 1, uniforms, code)

    size = outer * count
    key = ("search_sorted", kind)
    return backend.run(key, shader, inputs, size, int32, length, count, int(right))
