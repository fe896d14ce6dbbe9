"""Kernel of the discrete Fourier transform: Stockham's self-sorting stages, one draw each.

After stages of radices whose product is ``l``, a row holds the transforms, of length ``l``, of the
``n / l`` interleaved parts of the input, one after the other. A stage of radix ``r`` joins ``r`` of
them. A fragment computes two complex numbers of the result, each a sum over ``r`` of the stage
before, so no stage needs its numbers reordered. Lengths with a prime factor above 13 become a
convolution (Bluestein), whose length is a power of two.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.dtypes import float32

__all__: list[str] = []

_PRIMES = (2, 3, 5, 7, 11, 13)
#: Small prime factors are multiplied up to this radix: each stage costs a draw, and reads all.
_LARGEST_JOINED = 8

_COMPLEX = """
vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
"""

# exp(turn 2 pi i k / length) for 0 <= k < length < 2**27; the octant is computed in integers.
_ROOT = """
vec2 root(int k, int length_) {
  int octant = (8 * k) / length_;
  int rest = 8 * k - octant * length_;
  if ((octant & 1) == 1) rest = length_ - rest;
  float angle = 0.78539816339744831 * (float(rest) / float(length_));
  float c = cos_polynomial(angle);
  float s = sin_polynomial(angle);
  bool swapped = ((octant + 1) & 2) != 0;
  float x = swapped ? s : c;
  float y = swapped ? c : s;
  return vec2(octant >= 2 && octant < 6 ? -x : x, (octant < 4 ? y : -y) * turn);
}
"""

# exp(turn pi i k k / n), with the square reduced modulo 2n.
_CHIRP = """
vec2 chirp(int k) {
  int modulus = 2 * n;
  int factor = k;
  int square = 0;
  for (int bits = k; bits != 0; bits >>= 1) {
    if ((bits & 1) == 1) square = (square + factor) % modulus;
    factor = (factor * 2) % modulus;
  }
  return root(square, 2 * n);
}
"""

_NUMBER = """
vec2 NAME(int i) { vec4 v = GETTER(i >> 1); return (i & 1) == 0 ? v.xy : v.zw; }
"""

_PAIR = """
vec4 compute(int t) { return vec4(number(2 * t), number(2 * t + 1)); }
"""

# Number (q, k) of the result joins numbers (q + j parts, k mod l) of the previous stage; the sum is
# computed as a polynomial in the root (Horner).
_STAGE = """
vec2 number(int i) {
  int row = i / n;
  int indexInRow = i - row * n;
  int q = indexInRow / next;
  int k = indexInRow - q * next;
  int l = next / RADIX;
  int stride = n / RADIX;
  vec2 w = root(k, next);
  int from = row * n + q * l + k % l;
  vec2 total = x(from + (RADIX - 1) * stride);
  for (int j = RADIX - 2; j >= 0; j--) total = times(total, w) + x(from + j * stride);
  return total;
}
"""

# x times the conjugate chirp, padded with zeros to rows of length m.
_SPREAD = """
vec2 number(int i) {
  int row = i / m;
  int j = i - row * m;
  return j < n ? times(x(row * n + j), chirp(j)) : vec2(0.0);
}
"""

# The chirp around the circle of length m, over m.
_CIRCLE = """
vec2 number(int i) {
  int j = min(i, m - i);
  return j < n ? chirp(j) / float(m) : vec2(0.0);
}
"""

_FILTER = """
vec2 number(int i) { return times(x(i), spectrum(i % m)); }
"""

# The first n of each row of m, times the conjugate chirp.
_GATHER = """
vec2 number(int i) {
  int row = i / n;
  int j = i - row * n;
  return times(x(row * m + j), chirp(j));
}
"""


def _shader(name: str, code: str, inputs: Sequence[str], uniforms: Sequence[str]) -> Shader:
    """A shader of complex numbers; ``number(i)`` in ``code`` is number ``i`` of the result."""
    readers = "".join(
        _NUMBER.replace("NAME", input_name).replace(
            "GETTER", f"get{input_name[0].upper()}{input_name[1:]}_"
        )
        for input_name in inputs
    )
    chirp = _CHIRP if "chirp(" in code else ""
    return Shader(
        name,
        [Input(f"{input_name}_", float32, 4) for input_name in inputs],
        float32,
        4,
        [*((uniform, "int") for uniform in uniforms), ("turn", "float")],
        _COMPLEX + _ROOT + readers + chirp + code + _PAIR,
    )


def _radices(length: int) -> list[int] | None:
    """The radices of the stages of a length, or None where a prime factor is too large."""
    factors = []
    for prime in _PRIMES:
        while length % prime == 0:
            factors.append(prime)
            length //= prime
    if length > 1:
        return None
    radices: list[int] = []
    for factor in factors:
        if radices and radices[-1] * factor <= _LARGEST_JOINED:
            radices[-1] *= factor
        else:
            radices.append(factor)
    return radices


def _stages(
    draws: Draws, x: Value, rows: int, length: int, radices: list[int], turn: float
) -> Value:
    """Transform rows of a length that has these radices."""
    joined = 1
    for radix in radices or [1]:
        joined *= radix
        program = Program(
            ("fft", radix),
            lambda radix=radix: _shader(  # type: ignore[misc]
                "fft", _STAGE.replace("RADIX", str(radix)), ["x"], ["n", "next"]
            ),
        )
        x = draws.draw(program, [x], 2 * rows * length, float32, length, joined, turn)
    return x


def _convolved(draws: Draws, x: Value, rows: int, length: int, turn: float) -> Value:
    """Bluestein: j k = (j j + k k - (k - j)**2) / 2 makes the transform a convolution."""
    padded_length = 1 << (2 * length - 2).bit_length()
    radices = _radices(padded_length)
    assert radices is not None

    def draw(name: str, code: str, inputs: dict[str, Value], size: int, angle: float) -> Value:
        program = Program(name, lambda: _shader(name, code, list(inputs), ["n", "m"]))
        return draws.draw(
            program, list(inputs.values()), 2 * size, float32, length, padded_length, angle
        )

    spread = draw("fft_spread", _SPREAD, {"x": x}, rows * padded_length, turn)
    circle = draw("fft_circle", _CIRCLE, {}, padded_length, -turn)
    spectrum = _stages(draws, circle, 1, padded_length, radices, -1.0)
    transformed = _stages(draws, spread, rows, padded_length, radices, -1.0)
    sources = {"x": transformed, "spectrum": spectrum}
    filtered = draw("fft_filter", _FILTER, sources, rows * padded_length, turn)
    back = _stages(draws, filtered, rows, padded_length, radices, 1.0)
    return draw("fft_gather", _GATHER, {"x": back}, rows * length, turn)


@kernel("fft")
def fft(draws: Draws, rows: int, length: int, inverse: bool) -> Value:
    """Transform rows of complex numbers, without a factor."""
    x = draws.inputs[0]
    turn = 1.0 if inverse else -1.0
    radices = _radices(length)
    if radices is None:
        return _convolved(draws, x, rows, length, turn)
    return _stages(draws, x, rows, length, radices, turn)
