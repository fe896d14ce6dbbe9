"""Dispatching descriptions: a kernel's draws for operands of fixed shapes, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from webtensor.backends.api import Operand, PreparedKernel
from webtensor.backends.webgl.draws import Description, Step
from webtensor.backends.webgl.textures import Texture
from webtensor.backends.webgl.tracing import traced

if TYPE_CHECKING:
    from webtensor.backends.webgl.backend import WebGLBackend

__all__ = ["dispatched"]

#: The textures of all values, by number; None for those that are not drawn yet, or no more needed.
_Textures = list[Texture | None]


def dispatched(backend: WebGLBackend, operands: int, description: Description) -> PreparedKernel:
    """Return a function that draws a kernel for a number of operands."""
    first, *others = description.steps
    if others or first.joined_size or len(first.outputs) > 1:
        return _several(backend, description)
    return _single(backend, first, first.inputs == tuple(range(operands)))


def _single(backend: WebGLBackend, step: Step, reads_all: bool) -> PreparedKernel:
    """Return a function that does one draw, which ``reads_all`` operands in order, as most do."""
    program = backend.programs.get(*step.program)
    textures, uniforms = backend.textures, step.uniforms
    layout = textures.layout(step.size, step.dtype)
    record, number, chosen = program.record, program.id, step.inputs

    def run(inputs: Sequence[Operand]) -> Texture:
        if not reads_all:
            inputs = [inputs[index] for index in chosen]
        if textures.may_be_short:
            backend.use([x.storage.handle for x in inputs])
        output = textures.take(layout)
        backend.push(record, number, output.id, *[x.storage.handle.id for x in inputs], *uniforms)
        if backend.trace is not None:
            read = [x.storage.handle for x in inputs]
            backend.trace.append(traced(program, read, [output], uniforms))
        return output

    return run


def _several(backend: WebGLBackend, description: Description) -> PreparedKernel:
    """Return a function that does several draws, and releases textures after their last use."""
    steps, result = description.steps, description.result
    written = [number for step in steps for number in step.outputs]
    last_use = {number: at for at, step in enumerate(steps) for number in step.outputs}
    last_use |= {number: at for at, step in enumerate(steps) for number in step.inputs}
    unneeded = [
        [number for number in written if last_use[number] == at and number != result]
        for at in range(len(steps))
    ]
    draws = [_drawing(backend, step) for step in steps]

    def run(inputs: Sequence[Operand]) -> Any:
        values: _Textures = [x.storage.handle for x in inputs]
        values += [None] * len(written)
        try:
            for draw, numbers in zip(draws, unneeded, strict=True):
                draw(values)
                for number in numbers:
                    _release(backend, values, number)
        except BaseException:
            for number in written:
                _release(backend, values, number)
            raise
        return values[result]

    return run


def _release(backend: WebGLBackend, values: _Textures, number: int) -> None:
    texture, values[number] = values[number], None
    if texture is not None:
        backend.release(texture)


def _drawing(backend: WebGLBackend, step: Step) -> Callable[[list[Any]], None]:
    """Return a function that does a draw, and puts its results among the values."""
    program = backend.programs.get(*step.program)

    def draw(values: list[Any]) -> None:
        textures = [values[number] for number in step.inputs]
        if step.joined_size:
            values[step.outputs[0]] = backend.draw_parts(
                program, step.targets, textures, step.size, step.joined_size, *step.uniforms
            )
            return
        drawn = backend.draw_several(
            program, step.targets, textures, step.size, step.dtype, *step.uniforms
        )
        for number, texture in zip(step.outputs, drawn, strict=True):
            values[number] = texture

    return draw
