"""The kernel of chains: one shader computes all elementwise calls of a chain."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.chains import Link
from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Shader, Uniform, vector_type
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.backends.webgl.elementwise import (
    by_lane,
    element_expression,
    element_function,
    operand_reads,
    reading_plan,
)
from webtensor.dtypes import DType

__all__: list[str] = []


@kernel("chain")
def chain(draws: Draws, links: Sequence[Link], *parameters: float) -> Value:
    """Compute all links for the elements of a texel."""
    shapes = tuple(x.shape if x.size < draws.size else draws.shape for x in draws.inputs)
    modes, rank, uniforms = reading_plan(draws.shape, shapes)
    dtypes = tuple(operand.dtype for operand in draws.inputs)
    names = tuple((link.name, *link[1:]) for link in links)
    return draws.result(
        ("chain", names, dtypes, modes, rank),
        lambda: _shader(links, dtypes, modes, rank),
        *parameters,
        *uniforms,
    )


def _shader(
    links: Sequence[Link], dtypes: Sequence[DType], modes: Sequence[int], rank: int
) -> Shader:
    """Describe the shader; operands are read in the modes of ``reading_plan``.

    The operands, and then the results of the links, are the variables ``a0``, ``a1`` and so on. The
    parameter ``p`` of link 3 is the uniform ``p_3``.
    """
    sources = [f"operand{index}" for index in range(len(dtypes))]
    inputs, offsets, lines, are_vectors, lanes = operand_reads(sources, dtypes, modes, rank)
    functions: list[str] = []
    uniforms: list[Uniform] = []
    for number, link in enumerate(links):
        name = f"link{number}"
        expression = element_expression(link.row, link.dtypes, link.dtype)
        functions.append(
            element_function(name, expression, link.dtypes, link.dtype, link.parameters)
        )
        parameters = [f"{parameter}_{number}" for parameter in link.parameters]
        uniforms += [(parameter, "float") for parameter in parameters]
        operands = [f"a{index}" for index in link.inputs]
        link_vectors = [are_vectors[index] for index in link.inputs]
        result = by_lane(name, operands, link_vectors, link.dtype, lanes, parameters)
        lines.append(f"  {vector_type(link.dtype, lanes)} a{len(inputs) + number} = {result};")
        are_vectors.append(lanes == 4)
    last = len(inputs) + len(links) - 1
    code = "\n".join([*functions, "V compute(int t) {", *lines, f"  return a{last};", "}"])
    title = " ".join(link.name for link in links)
    uniforms += offsets
    return Shader(f"chain of {title}", inputs, links[-1].dtype, lanes, uniforms, code)
