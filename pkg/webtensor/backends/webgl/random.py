"""Random bits by Threefry-2x32 (Salmon et al., SC 2011)."""

from __future__ import annotations

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Shader
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.dtypes import int32

__all__: list[str] = []

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _threefry() -> str:
    """Code of two blocks, written out: shifts by constants are quicker than by variables."""
    lines = [
        "ivec4 compute(int t) {",
        "  uint keys0 = uint(key0);",
        "  uint keys1 = uint(key1);",
        "  uint keys2 = keys0 ^ keys1 ^ 0x1BD11BDAu;",
        "  uvec2 first = uvec2(t * 2, t * 2 + 1) + keys0;",
        "  uvec2 second = uvec2(keys1);",
    ]
    for group in range(5):
        for by in _ROTATIONS[group & 1]:
            lines += [
                "  first += second;",
                f"  second = ((second << {by}) | (second >> {32 - by})) ^ first;",
            ]
        lines += [
            f"  first += keys{(group + 1) % 3};",
            f"  second += keys{(group + 2) % 3} + {group + 1}u;",
        ]
    lines += ["  return ivec4(uvec4(first.x, second.x, first.y, second.y));", "}"]
    return "\n".join(lines)


@kernel("random_bits")
def random_bits(draws: Draws, *keys: int) -> Value:
    """Element ``i`` is word ``i & 1`` of the block whose counter is ``i >> 1``."""

    def shader() -> Shader:
        uniforms = [("key0", "int"), ("key1", "int")]
        return Shader("random_bits", [], int32, 4, uniforms, _threefry())

    signed = [key - (1 << 32) if key >= 1 << 31 else key for key in keys]
    return draws.result("random_bits", shader, *signed)
