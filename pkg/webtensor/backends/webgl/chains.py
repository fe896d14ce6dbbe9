"""The kernel of chains: one shader computes all elementwise calls of a chain."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.chains import Link
from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader, vector_type
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.backends.webgl.elementwise import by_lane, element_expression, element_function
from webtensor.dtypes import DType

__all__: list[str] = []


@kernel("chain")
def chain(draws: Draws, links: Sequence[Link], *parameters: float) -> Value:
    """Compute all links for the elements of a texel."""
    whole = tuple(operand.size == draws.size for operand in draws.inputs)
    dtypes = tuple(operand.dtype for operand in draws.inputs)
    names = tuple((link.name, *link[1:]) for link in links)
    return draws.result(
        ("chain", names, dtypes, whole), lambda: _shader(links, dtypes, whole), *parameters
    )


def _shader(links: Sequence[Link], dtypes: Sequence[DType], whole: Sequence[bool]) -> Shader:
    """Describe the shader; operands that are not ``whole`` are scalars.

    The operands, and then the results of the links, are the variables ``a0``, ``a1`` and so on. The
    parameter ``p`` of link 3 is the uniform ``p_3``.
    """
    inputs = [
        Input(f"operand{index}", dtype, 4 if is_whole else 1)
        for index, (dtype, is_whole) in enumerate(zip(dtypes, whole, strict=True))
    ]
    functions: list[str] = []
    lines: list[str] = []
    uniforms: list[tuple[str, str]] = []
    for index, (source, is_whole) in enumerate(zip(inputs, whole, strict=True)):
        read = f"getOperand{index}" + ("Here()" if is_whole else "(0)")
        lines.append(f"  {vector_type(source.dtype, source.lanes)} a{index} = {read};")
    for number, link in enumerate(links):
        name = f"link{number}"
        expression = element_expression(link.row, link.dtypes, link.dtype)
        functions.append(
            element_function(name, expression, link.dtypes, link.dtype, link.parameters)
        )
        parameters = [f"{parameter}_{number}" for parameter in link.parameters]
        uniforms += [(parameter, "float") for parameter in parameters]
        operands = [f"a{index}" for index in link.inputs]
        are_vectors = [index >= len(whole) or whole[index] for index in link.inputs]
        result = by_lane(name, operands, are_vectors, link.dtype, parameters)
        lines.append(f"  {vector_type(link.dtype, 4)} a{len(inputs) + number} = {result};")
    last = len(inputs) + len(links) - 1
    code = "\n".join([*functions, "V compute(int t) {", *lines, f"  return a{last};", "}"])
    title = " ".join(link.name for link in links)
    return Shader(f"chain of {title}", inputs, links[-1].dtype, 4, uniforms, code)
