"""What is done with a product in the draw that writes it: a bias added, an activation applied."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from webtensor.backends.api import Elementwise, Operand
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import float32

__all__ = ["UNFINISHED", "Finish", "finish_of"]

_CODE = """
float finished(float x) { return EXPRESSION; }
V compute(int t) {
  V x = unfinished(t) + getBias(t % biasColumns);
  return V(LANES);
}
"""
_LANES = {1: "finished(x)", 4: "finished(x.x), finished(x.y), finished(x.z), finished(x.w)"}


class Finish(NamedTuple):
    """A bias for each column, and a row of the elementwise table; or nothing at all."""

    bias: Texture | None = None
    row: Elementwise | None = None
    parameters: tuple[float, ...] = ()

    @property
    def key(self) -> Hashable:
        """What a program's key needs to know."""
        return None if self.bias is None else self.row.name if self.row else "bias"

    @property
    def textures(self) -> list[Texture]:
        """What a draw reads besides."""
        return [] if self.bias is None else [self.bias]

    def numbers(self, columns: int) -> tuple[float, ...]:
        """The uniforms besides; ``columns`` are those of the result, in its lanes."""
        return () if self.bias is None else (columns, *self.parameters)

    def added_to(self, shader: Shader) -> Shader:
        """A shader of four lanes or one, with the finish after what it computes."""
        if self.bias is None:
            return shader
        code = re.sub(r"\bV compute\(int", "V unfinished(int", shader.code)
        code += _CODE.replace("EXPRESSION", self.row.glsl if self.row else "x")
        parameters = self.row.parameters if self.row else ()
        return shader._replace(
            inputs=[*shader.inputs, Input("bias", float32, shader.lanes)],
            uniforms=[
                *shader.uniforms,
                ("biasColumns", "int"),
                *((p, "float") for p in parameters),
            ],
            code=code.replace("LANES", _LANES[shader.lanes]),
        )


UNFINISHED = Finish()


def finish_of(
    inputs: Sequence[Operand], row: Elementwise | None = None, *parameters: float
) -> Finish:
    """The finish of a kernel whose third operand, if any, is the bias."""
    return Finish(inputs[2].storage.handle, row, parameters) if len(inputs) > 2 else UNFINISHED
