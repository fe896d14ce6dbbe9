"""Random bits by Threefry-2x32 (Salmon et al., SC 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Shader
from webtensor.dtypes import DType, int32
from webtensor.shapes import Shape, prod

__all__: list[str] = []

_THREEFRY = """
const int ROTATIONS[8] = int[8](13, 15, 26, 6, 17, 29, 16, 24);

ivec2 threefry(uint counter) {
  uint keys[3];
  keys[0] = uint(key0);
  keys[1] = uint(key1);
  keys[2] = keys[0] ^ keys[1] ^ 0x1BD11BDAu;
  uint first = counter + keys[0];
  uint second = keys[1];
  for (int group = 0; group < 5; group++) {
    for (int turn = 0; turn < 4; turn++) {
      int by = ROTATIONS[(group & 1) * 4 + turn];
      first += second;
      second = ((second << by) | (second >> (32 - by))) ^ first;
    }
    first += keys[(group + 1) % 3];
    second += keys[(group + 2) % 3] + uint(group + 1);
  }
  return ivec2(int(first), int(second));
}

ivec4 compute(int t) {
  return ivec4(threefry(uint(t) * 2u), threefry(uint(t) * 2u + 1u));
}
"""


@kernel("random_bits")
def random_bits(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, *keys: int
) -> Handle:
    """Element ``i`` is word ``i & 1`` of the block whose counter is ``i >> 1``."""

    def shader() -> Shader:
        uniforms = [("key0", "int"), ("key1", "int")]
        return Shader("random_bits", [], int32, 4, uniforms, _THREEFRY)

    signed = [key - (1 << 32) if key >= 1 << 31 else key for key in keys]
    return backend.run("random_bits", shader, inputs, prod(shape), int32, *signed)
