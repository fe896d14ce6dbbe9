"""The kernels of chains: one shader computes all elementwise calls of a chain."""

from __future__ import annotations

from functools import partial

from webtensor.backends.chains import Chain
from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.chain_code import ChainCode
from webtensor.backends.webgl.compiler import Shader
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.backends.webgl.reduction import reduced_value

__all__: list[str] = []


@kernel("chain")
def chain(draws: Draws, computed: Chain) -> Value:
    """Compute all links for the elements of a texel."""
    code = ChainCode(computed)
    dtype = draws.dtype

    def shader() -> Shader:
        function = code.function("compute", here=True)
        return Shader(code.title, code.inputs, dtype, code.lanes, code.uniforms, function)

    return draws.result(("chain", *code.key), shader, *code.numbers)


@kernel("chain_reduce")
def chain_reduce(
    draws: Draws, computed: Chain, kind: str, outer: int, reduced: int, inner: int
) -> Value:
    """Reduce elements as they are computed."""
    return reduced_value(
        draws, partial(ChainCode, computed), draws.dtype, kind, (outer, reduced, inner)
    )
