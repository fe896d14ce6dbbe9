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

_FUNCTION = "float finished(float x, float y) { return EXPRESSION; }\n"
_CODE = """
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
        return () if self.bias is None else (*self.parameters, columns)

    def added_to(self, shader: Shader) -> Shader:
        """A shader of four lanes or one, with the finish after what it computes."""
        if self.bias is None:
            return shader
        names = self._names
        code = self._function + re.sub(r"\bV compute\(int", "V unfinished(int", shader.code) + _CODE
        code = code.replace("RESIDUAL", " + getResidual(t)" if "residual" in names else "")
        code = code.replace(
            "SLOPES", "getSlopes(t % biasColumns)" if "slopes" in names else "V(0.0)"
        )
        shader = self._with_operands(shader)
        return shader._replace(
            uniforms=[*shader.uniforms, ("biasColumns", "int")],
            code=code.replace("LANES", _LANES[shader.lanes]),
        )

    def added_to_tile(self, shader: Shader, column: str, places: Sequence[str]) -> Shader:
        """A shader that sets ``result0`` and so on at the end, with the finish after that.

        ``column`` is the texel's place in a row, ``places`` are those in the result.
        """
        if self.bias is None:
            return shader
        names = self._names
        lines = [f"  vec4 bias = getBias({column});", "  vec4 x, y = vec4(0.0);"]
        if "slopes" in names:
            lines.append(f"  y = getSlopes({column});")
        for row, place in enumerate(places):
            residual = f" + getResidual({place})" if "residual" in names else ""
            lines.append(f"  x = result{row} + bias{residual};")
            lines.append(f"  result{row} = vec4({_LANES[4]});")
        body, _, _ = shader.code.rpartition("}")
        code = "\n".join([self._function + body, *lines, "}"])
        return self._with_operands(shader)._replace(code=code)

    @property
    def _names(self) -> list[str]:
        return [name for name in ("bias", "slopes", "residual") if getattr(self, name) is not None]

    @property
    def _function(self) -> str:
        return _FUNCTION.replace("EXPRESSION", self.row.glsl if self.row else "x")

    def _with_operands(self, shader: Shader) -> Shader:
        parameters = self.row.parameters if self.row else ()
        operands = [Input(name, float32, shader.lanes) for name in self._names]
        return shader._replace(
            inputs=[*shader.inputs, *operands],
            uniforms=[*shader.uniforms, *((name, "float") for name in parameters)],
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
