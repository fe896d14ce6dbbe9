"""The code of a shader that computes a chain."""

from __future__ import annotations

from webtensor.backends.chains import Chain
from webtensor.backends.webgl.compiler import Uniform, vector_type
from webtensor.backends.webgl.elementwise import (
    by_lane,
    element_expression,
    element_function,
    operand_reads,
    reading_plan,
)

__all__ = ["ChainCode"]


class ChainCode:
    """How a shader computes elements of a chain, with the inputs and uniforms that it needs.

    The operands, and then the results of the links, are the variables ``a0``, ``a1`` and so on. The
    parameter ``p`` of link 3 is the uniform ``p_3``.

    Args:
        chain: what is computed.
        by_element: whether single elements are wanted, rather than texels where these can be had.

    Attributes:
        title: the names of the links.
        key: what the code depends on.
        inputs: the textures that are read.
        uniforms: the uniforms of the code.
        numbers: their values.
        lanes: how many elements are computed at once.
    """

    def __init__(self, chain: Chain, by_element: bool = False) -> None:
        links, parameters, of = chain
        self._links = links
        shapes = tuple(x.shape if x.size < of.size else of.shape for x in of.inputs)
        dtypes = tuple(operand.dtype for operand in of.inputs)
        modes, rank, walk = reading_plan(of.shape, shapes, by_element)
        names = tuple((link.name, *link[1:]) for link in links)
        self.title = f"chain of {' '.join(link.name for link in links)}"
        self.key = (names, dtypes, modes, rank)
        sources = [f"operand{index}" for index in range(len(dtypes))]
        self._reads = operand_reads(sources, dtypes, modes, rank)
        self.inputs, self.lanes = self._reads.inputs, self._reads.lanes
        self.uniforms: list[Uniform] = [
            (f"{parameter}_{number}", "float")
            for number, link in enumerate(links)
            for parameter in link.parameters
        ]
        self.uniforms += self._reads.uniforms
        self.numbers = (*parameters, *walk)

    def function(self, name: str, here: bool = False) -> str:
        """Return a function of an index, and what it calls.

        ``here`` says that the index is always that of the result's own texel or element.
        """
        functions: list[str] = []
        lines = [f"{vector_type(self._links[-1].dtype, self.lanes)} {name}(int t) {{"]
        lines += self._reads.lines("Here()" if here else "(t)")
        are_vectors = [*self._reads.are_vectors]
        for number, link in enumerate(self._links):
            called = f"link{number}"
            expression = element_expression(link.row, link.dtypes, link.dtype)
            functions.append(
                element_function(called, expression, link.dtypes, link.dtype, link.parameters)
            )
            result = by_lane(
                called,
                [f"a{index}" for index in link.inputs],
                [are_vectors[index] for index in link.inputs],
                link.dtype,
                self.lanes,
                [f"{parameter}_{number}" for parameter in link.parameters],
            )
            value = f"a{len(are_vectors)}"
            lines.append(f"  {vector_type(link.dtype, self.lanes)} {value} = {result};")
            are_vectors.append(self.lanes == 4)
        return "\n".join([*functions, *lines, f"  return a{len(are_vectors) - 1};", "}"])
