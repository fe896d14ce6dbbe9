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

from typing import NamedTuple

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


class _Order(NamedTuple):
    """An order of values of a dtype."""

    dtype: DType
    descending: bool

    def code(self) -> str:
        """Return the GLSL function that tests whether ``a`` precedes ``b``."""
        value = _value(self.dtype)
        test = "a > b" if self.descending else "a < b"
        if self.dtype is float32:
            test = f"nan_or_{'less' if self.descending else 'greater'}(b, a)"
        return f"bool before({value} a, {value} b) {{ return {test}; }}\n"


class _Code(NamedTuple):
    """A shader that may call ``before``; its results are indices, unless they are values."""

    name: str
    glsl: str
    gives_values: bool = False


# Element k's rank within its block.
_RANK = _Code(
    "rank",
    """
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
""",
)

# The element of the block that has rank k.
_ORDER = _Code(
    "order",
    """
int compute(int t) {
  int k = t % length_;
  int row = t - k;
  int start = k - k % block;
  int end = min(start + block, length_);
  for (int m = start; m < end; m++) if (getRanks(row + m) == k) return m;
  return 0;
}
""",
)

# Values are those of x in the current order.
_MERGE = _Code(
    "merge",
    """
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
""",
)

_VALUES = _Code(
    "ordered values",
    """
VALUE compute(int t) { return getX(t - t % length_ + getIndices(t)); }
""",
    gives_values=True,
)


def _draw(
    draws: Draws,
    code: _Code,
    order: _Order,
    operands: dict[str, Value],
    size: int,
    **numbers: int,
) -> Value:
    """Draw a shader, which reads operands and numbers by the names in its code."""
    output = order.dtype if code.gives_values else int32

    def shader() -> Shader:
        full = (order.code() + code.glsl).replace("VALUE", _value(order.dtype))
        inputs = [Input(name, operand.dtype, 1) for name, operand in operands.items()]
        return Shader(code.name, inputs, output, 1, [(number, "int") for number in numbers], full)

    program = Program((code.name, *order), shader)
    return draws.draw(program, [*operands.values()], size, output, *numbers.values())


def argsort_texture(draws: Draws, x: Value, descending: bool, outer: int, length: int) -> Value:
    """Indices of the elements of each row of a texture, viewed as (outer, length), in order."""
    size = outer * length
    order = _Order(x.dtype, descending)
    run = min(length, _BLOCK)
    ranks = _draw(draws, _RANK, order, {"x": x}, size, length_=length, block=run)
    indices = _draw(draws, _ORDER, order, {"ranks": ranks}, size, length_=length, block=run)
    while run < length:
        values = _draw(draws, _VALUES, order, {"x": x, "indices": indices}, size, length_=length)
        operands = {"values": values, "indices": indices}
        indices = _draw(draws, _MERGE, order, operands, size, length_=length, run=run)
        run *= 2
    return indices


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
    order = _Order(x.dtype, True)
    # At least twice k, so that each round leaves at most half.
    block = max(16, 1 << (2 * k - 1).bit_length())
    previous: Value | None = None
    candidates = length
    while True:
        blocks = -(-candidates // block)
        previous_operands: dict[str, Value] = {}
        candidate, suffix = "(c)", "first"
        if previous is not None:
            previous_operands = {"indices": previous}
            candidate, suffix = "getIndices((row) * candidates + (c))", "further"
        macro = f"#define CANDIDATE(row, c) {candidate}\n"
        ranks = _draw(
            draws,
            _Code(f"candidate rank {suffix}", macro + _CANDIDATE_RANK),
            order,
            {"x": x, **previous_operands},
            outer * candidates,
            candidates=candidates,
            block=block,
            length_=length,
        )
        previous = _draw(
            draws,
            _Code(f"select {suffix}", macro + _SELECT),
            order,
            {"ranks": ranks, **previous_operands},
            outer * blocks * k,
            candidates=candidates,
            block=block,
            k=k,
        )
        if blocks == 1:
            return previous
        candidates = blocks * k


_CUT = _Code(
    "cut",
    """
int compute(int t) { return getIndices((t / k) * length_ + t % k); }
""",
)

# The first in order of each block of a row.
_LEADERS = _Code(
    "leaders",
    """
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
""",
    gives_values=True,
)

# The elements of chosen blocks; the last in order where a block ends behind the row.
_ELEMENTS = _Code(
    "elements of blocks",
    """
VALUE compute(int t) {
  int c = split(t, k * block);
  int index = getBlocks(t * k + c / block) * block + c % block;
  VALUE own = getX(t * length_ + min(index, length_ - 1));
  return index < length_ ? own : LAST;
}
""",
    gives_values=True,
)
_LAST = {float32: "nan()", int32: "(-2147483647 - 1)"}

_INDICES_IN_ROWS = _Code(
    "indices in rows",
    """
int compute(int t) {
  int c = getChosen(t);
  return getBlocks((t / k) * k + c / block) * block + c % block;
}
""",
)

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
    indices = argsort_texture(draws, x, True, outer, length)
    order = _Order(x.dtype, True)
    return _draw(draws, _CUT, order, {"indices": indices}, outer * k, length_=length, k=k)


def _largest_by_blocks(draws: Draws, x: Value, outer: int, length: int, k: int) -> Value:
    """Return what ``_largest`` does, from the k blocks of each row whose largest elements are.

    No other block has one of the k largest, as k of them are before its own largest. The blocks are
    read in the order of the row, so that of equal elements the first is taken.
    """
    order = _Order(x.dtype, True)
    block = 1 << ((length // k).bit_length() >> 1)  # about as many leaders as elements are chosen
    blocks = -(-length // block)
    sizes = {"length_": length, "block": block}
    leaders = _draw(draws, _LEADERS, order, {"x": x}, outer * blocks, blocks=blocks, **sizes)
    chosen = _largest(draws, leaders, outer, blocks, k)
    ascending = argsort_texture(draws, chosen, False, outer, k)
    row_order = {"x": chosen, "indices": ascending}
    block_order = _draw(draws, _VALUES, _Order(int32, False), row_order, outer * k, length_=k)
    code = _ELEMENTS._replace(glsl=_ELEMENTS.glsl.replace("LAST", _LAST[x.dtype]))
    operands = {"x": x, "blocks": block_order}
    elements = _draw(draws, code, order, operands, outer * k * block, k=k, **sizes)
    operands = {"chosen": _largest(draws, elements, outer, k * block, k), "blocks": block_order}
    return _draw(draws, _INDICES_IN_ROWS, order, operands, outer * k, k=k, block=block)


# -- searching ------------------------------------------------------------------------------------

_SEARCH = _Code(
    "search_sorted",
    """
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
""",
)


@kernel("search_sorted")
def search_sorted(draws: Draws, right: bool, outer: int, length: int, count: int) -> Value:
    """Return the index at which each value would be inserted into its sorted row."""
    rows, values = draws.inputs
    return _draw(
        draws,
        _SEARCH,
        _Order(rows.dtype, False),
        {"rows": rows, "values": values},
        outer * count,
        length_=length,
        count=count,
        right=int(right),
    )
