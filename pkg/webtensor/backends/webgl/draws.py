"""Draws that a kernel describes: programs, the textures that they read and write, and uniforms.

A kernel is a function of ``Draws`` and of the primitive's attributes. It draws nothing: it adds
draws to a list, and returns the value of the last one, which is its result. Values are operands and
results of draws, by number; ``dispatch`` gives them textures, and takes these back after the last
draw that reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from webtensor.backends.signatures import Signature
from webtensor.backends.webgl.compiler import Shader
from webtensor.dtypes import DType, float32
from webtensor.shapes import Shape

__all__ = ["Capabilities", "Description", "Draws", "Program", "Step", "Value"]


class Capabilities(NamedTuple):
    """What kernels may depend on besides their operands: what the device can do.

    Attributes:
        most_targets: how many textures a draw can write.
        can_copy: whether textures can be copied into others.
        is_half: whether floats have 16 bits.
        is_emulated: whether the processor draws in place of a GPU.
    """

    most_targets: int
    can_copy: bool
    is_half: bool
    is_emulated: bool


class Value(NamedTuple):
    """An operand, or the result of a draw; only operands have a shape."""

    number: int
    size: int
    dtype: DType
    shape: Shape = ()


class Program(NamedTuple):
    """A program by its key, which has all that its shader depends on; ``make`` returns that."""

    key: Hashable
    make: Callable[[], Shader]


class Step(NamedTuple):
    """A draw.

    Attributes:
        program: what is drawn.
        inputs: the numbers of the values that it reads.
        outputs: the numbers of those that it writes.
        targets: how many textures it writes: one for each output, or several that are then joined
            to one output.
        size: the number of elements of each target.
        dtype: that of the outputs.
        uniforms: numbers for the program.
        joined_size: the number of elements of the output of which the targets are parts, or 0.
    """

    program: Program
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    targets: int
    size: int
    dtype: DType
    uniforms: tuple[float, ...]
    joined_size: int = 0


class Description(NamedTuple):
    """The draws of a kernel, and the number of the value that is its result."""

    steps: tuple[Step, ...]
    result: int


class Draws:
    """The draws of a kernel.

    Args:
        of: the signature of the call.
        capabilities: those of the device.

    Attributes:
        inputs: the operands.
        shape: that of the result.
        dtype: that of the result.
        size: the number of its elements.
        capabilities: those of the device.
    """

    def __init__(self, of: Signature, capabilities: Capabilities) -> None:
        self.inputs = [Value(n, x.size, x.dtype, x.shape) for n, x in enumerate(of.inputs)]
        self.shape = of.shape
        self.dtype = of.dtype
        self.size = of.size
        self.capabilities = capabilities
        self._steps: list[Step] = []
        self._count = len(self.inputs)

    def draw(
        self, program: Program, inputs: Sequence[Value], size: int, dtype: DType, *uniforms: float
    ) -> Value:
        """Draw a value of ``size`` elements."""
        return self.draw_several(program, 1, inputs, size, dtype, *uniforms)[0]

    def draw_several(
        self,
        program: Program,
        count: int,
        inputs: Sequence[Value],
        size: int,
        dtype: DType,
        *uniforms: float,
    ) -> list[Value]:
        """Draw ``count`` values of ``size`` elements each at once."""
        outputs = [self._value(size, dtype) for _ in range(count)]
        read, written = _numbers(inputs), _numbers(outputs)
        self._steps.append(Step(program, read, written, count, size, dtype, uniforms))
        return outputs

    def draw_parts(
        self,
        program: Program,
        count: int,
        inputs: Sequence[Value],
        part: int,
        size: int,
        *uniforms: float,
    ) -> Value:
        """Draw ``count`` parts of ``part`` float32 elements, and join them to one value.

        The value has ``size`` elements: those of the parts, one after the other. ``part`` is a
        multiple of four; elements past ``size`` are left out.
        """
        output = self._value(size, float32)
        read, written = _numbers(inputs), _numbers([output])
        self._steps.append(Step(program, read, written, count, part, float32, uniforms, size))
        return output

    def run(
        self,
        key: Hashable,
        make: Callable[[], Shader],
        inputs: Sequence[Value],
        size: int,
        dtype: DType,
        *uniforms: float,
    ) -> Value:
        """Draw by the program for ``key``, which ``make`` describes."""
        return self.draw(Program(key, make), inputs, size, dtype, *uniforms)

    def result(self, key: Hashable, make: Callable[[], Shader], *uniforms: float) -> Value:
        """Draw the result from all operands by the program for ``key``."""
        return self.run(key, make, self.inputs, self.size, self.dtype, *uniforms)

    def description(self, result: Value) -> Description:
        """Return the draws, of which one made the result."""
        return Description(tuple(self._steps), result.number)

    def _value(self, size: int, dtype: DType) -> Value:
        self._count += 1
        return Value(self._count - 1, size, dtype)


def _numbers(values: Sequence[Value]) -> tuple[int, ...]:
    return tuple([value.number for value in values])
