"""What is done with a product in the draw that writes it.

A bias is added to each column, then a tensor of the result's shape, and an activation is applied.
"""

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
float finished(float x, float y) { return EXPRESSION; }
V compute(int t) {
  V x = unfinished(t) + getBias(t % biasColumns)RESIDUAL;
  V y = SLOPES;
  return V(LANES);
}
"""
_LANES = {
    1: "finished(x, y)",
    4: ", ".join(f"finished(x.{lane}, y.{lane})" for lane in "xyzw"),
}


class Finish(NamedTuple):
    """A bias for each column, and a row of the elementwise table; or nothing at all.

    ``slopes`` are the row's second operand, one for each column; ``residual`` is added.
    """

    bias: Texture | None = None
    row: Elementwise | None = None
    parameters: tuple[float, ...] = ()
    slopes: Texture | None = None
    residual: Texture | None = None

    @property
    def key(self) -> Hashable:
        """What a program's key needs to know."""
        if self.bias is None:
            return None
        return self.row.name if self.row else "bias", self.residual is not None

    @property
    def textures(self) -> list[Texture]:
        """What a draw reads besides."""
        return [one for one in (self.bias, self.slopes, self.residual) if one is not None]

    def numbers(self, columns: int) -> tuple[float, ...]:
        """The uniforms besides; ``columns`` are those of the result, in its lanes."""
        return () if self.bias is None else (columns, *self.parameters)

    def added_to(self, shader: Shader) -> Shader:
        """A shader of four lanes or one, with the finish after what it computes."""
        if self.bias is None:
            return shader
        code = re.sub(r"\bV compute\(int", "V unfinished(int", shader.code)
        code += _CODE.replace("EXPRESSION", self.row.glsl if self.row else "x")
        names = [name for name in ("bias", "slopes", "residual") if getattr(self, name) is not None]
        code = code.replace("RESIDUAL", " + getResidual(t)" if "residual" in names else "")
        code = code.replace(
            "SLOPES", "getSlopes(t % biasColumns)" if "slopes" in names else "V(0.0)"
        )
        parameters = self.row.parameters if self.row else ()
        return shader._replace(
            inputs=[*shader.inputs, *(Input(name, float32, shader.lanes) for name in names)],
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
    """The finish of a kernel, whose operands after the first two are for it, if there are any:
    the bias, the row's second operand if it takes two, and what is added.
    """
    if len(inputs) < 3:
        return UNFINISHED
    bias, *others = [operand.storage.handle for operand in inputs[2:]]
    slopes = others.pop(0) if row is not None and row.arity == 2 else None
    return Finish(bias, row, parameters, slopes, others[0] if others else None)
