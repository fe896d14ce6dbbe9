"""Kernels that sort the last axis and search sorted rows. NaN is last in every order.

Rows are sorted in two stages. Blocks of up to 32 elements are sorted by counting: each element's
rank is the number of elements that precede it, and a second draw turns ranks into the order. Then
further draws merge pairs of runs: an output finds by bisection how many of the elements before it
come from the first run (Green, McColl & Bader, *GPU merge path*, 2012). So a million elements take
17 merges with some 20 bisections each, where a bitonic network takes 210 draws. The k largest
elements of a long row lie in those k of its blocks that have the largest elements. Those of a short
row are found by repeatedly keeping the k largest of each block, or, if k is large, by sorting.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.dtypes import DType, float32, int32

__all__ = ["argsort_texture"]

_BLOCK = 32

#: For a larger k than this, `topk` sorts the rows.
_MAX_SELECTED = 32


def _value(dtype: DType) -> str:
    return "float" if dtype is float32 else "int"


def _before(dtype: DType, descending: bool) -> str:
    """Return the GLSL function that tests whether ``a`` precedes ``b``."""
    test = "a > b" if descending else "a < b"
    if dtype is float32:
        test = f"nan_or_{'less' if descending else 'greater'}(b, a)"
    return f"bool before({_value(dtype)} a, {_value(dtype)} b) {{ return {test}; }}\n"


# Element k's rank within its block.
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

# The element of the block that has rank k.
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

# Values are those of x in the current order.
_MERGE = """
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
    if (before(getValues(row + second + d - 1 - middle), getValues(row + first + middle)))
      high = middle;
    else
      low = middle + 1;
  }
  int other = d - low;
  bool from_first = low < first_size && (other >= second_size ||
    !before(getValues(row + second + other), getValues(row + first + low)));
  return getIndices(row + (from_first ? first + low : second + other));
}
"""

_VALUES = """
VALUE compute(int t) { return getX(t - t % length_ + getIndices(t)); }
"""


#: Name and texture of a shader's input.
_Source = tuple[str, Value]


def _draw(
    draws: Draws,
    name: str,
    code: str,
    order: tuple[DType, bool],
    sources: Sequence[_Source],
    size: int,
    output: DType = int32,
    **numbers: int,
) -> Value:
    """Draw with code that may call ``before``, for an order (dtype, descending)."""

    def shader() -> Shader:
        full = (_before(*order) + code).replace("VALUE", _value(order[0]))
        inputs = [Input(source, texture.dtype, 1) for source, texture in sources]
        return Shader(name, inputs, output, 1, [(number, "int") for number in numbers], full)

    program = Program((name, *order), shader)
    textures = [texture for _, texture in sources]
    return draws.draw(program, textures, size, output, *numbers.values())


def argsort_texture(draws: Draws, x: Value, descending: bool, outer: int, length: int) -> Value:
    """Indices of the elements of each row of a texture, viewed as (outer, length), in order."""
    size = outer * length
    order = x.dtype, descending
    run = min(length, _BLOCK)
    ranks = _draw(draws, "rank", _RANK, order, [("x", x)], size, length_=length, block=run)
    sources = [("ranks", ranks)]
    order_texture = _draw(draws, "order", _ORDER, order, sources, size, length_=length, block=run)
    while run < length:
        order_source = ("indices", order_texture)
        sources = [("x", x), order_source]
        values = _draw(
            draws, "ordered values", _VALUES, order, sources, size, x.dtype, length_=length
        )
        sources = [("values", values), order_source]
        order_texture = _draw(draws, "merge", _MERGE, order, sources, size, length_=length, run=run)
        run *= 2
    return order_texture


@kernel("argsort")
def argsort(draws: Draws, descending: bool, outer: int, length: int) -> Value:
    """Indices of the elements of each row in order; equal ones stay as they were."""
    (x,) = draws.inputs
    return argsort_texture(draws, x, descending, outer, length)


# -- the largest elements -------------------------------------------------------------------------

# Candidates are indices in rows of x, in ascending order within blocks, or -1 for none.
_CANDIDATE_RANK = """
int compute(int t) {
  int c = t % candidates;
  int row = t / candidates;
  int own_index = CANDIDATE(row, c);
  if (own_index < 0) return 1 << 30;
  int start = c - c % block;
  int end = min(start + block, candidates);
  VALUE own = getX(row * length_ + own_index);
  int rank = 0;
  for (int m = start; m < end; m++) {
    int index = CANDIDATE(row, m);
    if (index < 0) continue;
    VALUE other = getX(row * length_ + index);
    if (m < c ? !before(own, other) : before(other, own)) rank++;
  }
  return rank;
}
"""

# Output (block, r) is the candidate of the block that has rank r.
_SELECT = """
int compute(int t) {
  int r = split(t, k);
  int blocks = (candidates + block - 1) / block;
  int start = (t % blocks) * block;
  int row = t / blocks;
  int end = min(start + block, candidates);
  for (int m = start; m < end; m++)
    if (getRanks(row * candidates + m) == r) return CANDIDATE(row, m);
  return -1;
}
"""


def _select(draws: Draws, x: Value, outer: int, length: int, k: int) -> Value:
    """Return the indices of the k largest of each row, by rounds that keep those of each block."""
    order = x.dtype, True
    # At least twice k, so that each round leaves at most half.
    block = max(16, 1 << (2 * k - 1).bit_length())
    previous: Value | None = None
    candidates = length
    while True:
        blocks = -(-candidates // block)
        previous_sources: list[_Source] = []
        candidate, suffix = "(c)", "first"
        if previous is not None:
            previous_sources = [("indices", previous)]
            candidate, suffix = "getIndices((row) * candidates + (c))", "further"
        macro = f"#define CANDIDATE(row, c) {candidate}\n"
        ranks = _draw(
            draws,
            f"candidate rank {suffix}",
            macro + _CANDIDATE_RANK,
            order,
            [("x", x), *previous_sources],
            outer * candidates,
            candidates=candidates,
            block=block,
            length_=length,
        )
        previous = _draw(
            draws,
            f"select {suffix}",
            macro + _SELECT,
            order,
            [("ranks", ranks), *previous_sources],
            outer * blocks * k,
            candidates=candidates,
            block=block,
            k=k,
        )
        if blocks == 1:
            return previous
        candidates = blocks * k


_CUT = """
int compute(int t) { return getIndices((t / k) * length_ + t % k); }
"""

# The first in order of each block of a row.
_LEADERS = """
VALUE compute(int t) {
  int b = split(t, blocks);
  int start = t * length_ + b * block;
  int end = min(start + block, (t + 1) * length_);
  VALUE best = getX(start);
  for (int at = start + 1; at < end; at++) {
    VALUE other = getX(at);
    best = before(other, best) ? other : best;
  }
  return best;
}
"""

# The elements of chosen blocks; the last in order where a block ends behind the row.
_ELEMENTS = """
VALUE compute(int t) {
  int c = split(t, k * block);
  int index = getBlocks(t * k + c / block) * block + c % block;
  VALUE own = getX(t * length_ + min(index, length_ - 1));
  return index < length_ ? own : LAST;
}
"""
_LAST = {float32: "nan()", int32: "(-2147483647 - 1)"}

_INDICES_IN_ROWS = """
int compute(int t) {
  int c = getChosen(t);
  return getBlocks((t / k) * k + c / block) * block + c % block;
}
"""

#: The minimum number of elements, and of those of a row for each of its k largest, at which more
#: draws pay off.
_WORTH_BLOCKS = 1 << 15
_MANY_FOR_EACH = 32


@kernel("topk")
def topk(draws: Draws, outer: int, length: int, k: int) -> Value:
    """Return the indices of the k largest elements of each row, in descending order."""
    (x,) = draws.inputs
    return _largest(draws, x, outer, length, k)


def _largest(draws: Draws, x: Value, outer: int, length: int, k: int) -> Value:
    """Return the indices of the k largest elements of each row of (outer, length)."""
    if outer * length >= _WORTH_BLOCKS and length >= _MANY_FOR_EACH * k:
        return _largest_by_blocks(draws, x, outer, length, k)
    if k <= _MAX_SELECTED:
        return _select(draws, x, outer, length, k)
    sources = [("indices", argsort_texture(draws, x, True, outer, length))]
    return _draw(draws, "cut", _CUT, (x.dtype, True), sources, outer * k, length_=length, k=k)


def _largest_by_blocks(draws: Draws, x: Value, outer: int, length: int, k: int) -> Value:
    """Return what ``_largest`` does, from the k blocks of each row whose largest elements are.

    No other block has one of the k largest, as k of them are before its own largest. The blocks are
    read in the order of the row, so that of equal elements the first is taken.
    """
    order = x.dtype, True
    block = 1 << ((length // k).bit_length() >> 1)  # about as many leaders as elements are chosen
    blocks = -(-length // block)
    source = ("x", x)
    sizes = {"length_": length, "block": block}
    leaders = _draw(
        draws, "leaders", _LEADERS, order, [source], outer * blocks, x.dtype, blocks=blocks, **sizes
    )
    chosen = _largest(draws, leaders, outer, blocks, k)
    ascending = argsort_texture(draws, chosen, False, outer, k)
    row_order = [("x", chosen), ("indices", ascending)]
    block_order = _draw(
        draws, "ordered values", _VALUES, (int32, False), row_order, outer * k, int32, length_=k
    )
    elements = _draw(
        draws,
        "elements of blocks",
        _ELEMENTS.replace("LAST", _LAST[x.dtype]),
        order,
        [source, ("blocks", block_order)],
        outer * k * block,
        x.dtype,
        k=k,
        **sizes,
    )
    sources = [("chosen", _largest(draws, elements, outer, k * block, k)), ("blocks", block_order)]
    name = "indices in rows"
    return _draw(draws, name, _INDICES_IN_ROWS, order, sources, outer * k, k=k, block=block)


# -- searching ------------------------------------------------------------------------------------

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
def search_sorted(draws: Draws, right: bool, outer: int, length: int, count: int) -> Value:
    """Return the index at which each value would be inserted into its sorted row."""
    rows, values = draws.inputs
    return _draw(
        draws,
        "search_sorted",
        _SEARCH,
        (rows.dtype, False),
        [("rows", rows), ("values", values)],
        outer * count,
        length_=length,
        count=count,
        right=int(right),
    )
