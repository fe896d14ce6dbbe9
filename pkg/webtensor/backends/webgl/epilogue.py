"""Epilogues: a bias for each column, a residual and an activation, in the draw of a product."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from webtensor.backends.api import Elementwise
from webtensor.backends.fused_activations import epilogue_operands
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Value
from webtensor.dtypes import float32

__all__ = ["NO_EPILOGUE", "Epilogue", "epilogue_of"]

_FUNCTION = "float activated(float x, float y) { return EXPRESSION; }\n"
_LANES = {
    1: "activated(x, y)",
    4: ", ".join(f"activated(x.{lane}, y.{lane})" for lane in "xyzw"),
}


class Epilogue(NamedTuple):
    """A bias for each column, and a row of the elementwise table; without a bias, no epilogue.

    ``slopes`` are the row's second operand, one for each column; ``residual`` is added.
    """

    bias: Value | None = None
    row: Elementwise | None = None
    parameters: tuple[float, ...] = ()
    slopes: Value | None = None
    residual: Value | None = None

    @property
    def key(self) -> Hashable:
        """The part of a program's key that depends on the epilogue."""
        if self.bias is None:
            return None
        return self.row.name if self.row else "bias", self.residual is not None

    @property
    def textures(self) -> list[Value]:
        """The operands that a draw reads after the product's."""
        textures = self.bias, self.slopes, self.residual
        return [texture for texture in textures if texture is not None]

    def numbers(self, columns: int) -> tuple[float, ...]:
        """Return the uniforms after the product's; ``columns`` counts vectors of lanes."""
        return () if self.bias is None else (*self.parameters, columns)

    def added_to(self, shader: Shader) -> Shader:
        """Return a shader of four lanes or one that applies the epilogue to what it computes."""
        if self.bias is None:
            return shader
        names = self._names
        residual = " + getResidual(t)" if "residual" in names else ""
        slopes = "getSlopes(t % biasColumns)" if "slopes" in names else "V(0.0)"
        lines = [
            "V compute(int t) {",
            f"  V x = productAt(t) + getBias(t % biasColumns){residual};",
            f"  V y = {slopes};",
            f"  return V({_LANES[shader.lanes]});",
            "}\n",
        ]
        product = re.sub(r"\bV compute\(int", "V productAt(int", shader.code)
        shader = self._with_operands(shader)
        return shader._replace(
            uniforms=[*shader.uniforms, ("biasColumns", "int")],
            code=self._function + product + "\n".join(lines),
        )

    def added_to_tile(self, shader: Shader, column: str, offsets: Sequence[str]) -> Shader:
        """Return a shader of tiles that applies the epilogue to ``result0`` and so on at its end.

        ``column`` is the texel's column; ``offsets`` are those of the rows' texels in the result.
        """
        if self.bias is None:
            return shader
        names = self._names
        lines = [f"  vec4 bias = getBias({column});", "  vec4 x, y = vec4(0.0);"]
        if "slopes" in names:
            lines.append(f"  y = getSlopes({column});")
        for row, offset in enumerate(offsets):
            residual = f" + getResidual({offset})" if "residual" in names else ""
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


NO_EPILOGUE = Epilogue()


def epilogue_of(
    inputs: Sequence[Value], row: Elementwise | None = None, *parameters: float
) -> Epilogue:
    """Return the epilogue of a kernel: its operands are those after the product's two, if any."""
    if len(inputs) < 3:
        return NO_EPILOGUE
    bias, slopes, residual = epilogue_operands(inputs[2:], row)
    return Epilogue(bias, row, parameters, slopes, residual)
