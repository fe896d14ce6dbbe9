"""The kernel of chains: one shader computes elementwise calls that follow each other."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.chains import Link
from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader, vector_type
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.backends.webgl.elementwise import element_expression, element_function
from webtensor.dtypes import DType

__all__: list[str] = []

_LANES = "xyzw"


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
    """Describe the shader; operands that are not whole have one element for all.

    Values are ``a0``, ``a1`` …: the operands and then the results of the links, as vectors save for
    the operands of one element. The parameter ``p`` of link 3 is the uniform ``p_3``.
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
        given = [f"{parameter}_{number}" for parameter in link.parameters]
        uniforms += [(parameter, "float") for parameter in given]
        calls = []
        for lane in _LANES:
            values = [
                f"a{index}" if index < len(whole) and not whole[index] else f"a{index}.{lane}"
                for index in link.inputs
            ]
            calls.append(f"{name}({', '.join([*values, *given])})")
        vector = vector_type(link.dtype, 4)
        lines.append(f"  {vector} a{len(inputs) + number} = {vector}({', '.join(calls)});")
    last = len(inputs) + len(links) - 1
    code = "\n".join([*functions, "V compute(int t) {", *lines, f"  return a{last};", "}"])
    title = " ".join(link.name for link in links)
    return Shader(f"chain of {title}", inputs, links[-1].dtype, 4, uniforms, code)
