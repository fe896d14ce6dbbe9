"""Compiled programs: cached by key, compiled once, drawn by packing a record."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from struct import Struct
from typing import Any, NoReturn

from webtensor.backends.webgl.compiler import Shader
from webtensor.errors import BackendError
from webtensor.transfer import javascript_text

__all__ = ["LinkedProgram", "ProgramCache"]


class LinkedProgram:
    """A program's number on the device and the layout of its draw record."""

    __slots__ = ("id", "key", "name", "record", "source")

    def __init__(self, id: int, key: Hashable, name: str, source: str, record: Struct) -> None:
        self.id = id
        self.key = key
        self.name = name
        self.source = source
        self.record = record


class ProgramCache:
    """Programs by key. A key has everything that the shader's source depends on.

    A new program is *pending* until its link status is queried. The query blocks, so it is put off
    until a draw needs the program; programs requested before then are compiled in parallel.
    ``lost`` is called if the context turns out to be lost.
    """

    def __init__(
        self, device: Any, source_of: Callable[[Shader], str], lost: Callable[[], NoReturn]
    ) -> None:
        self._device = device
        self._source_of = source_of
        self._lost = lost
        self._programs: dict[Hashable, LinkedProgram] = {}
        self.pending: list[LinkedProgram] = []

    def __len__(self) -> int:
        return len(self._programs)

    def get(self, key: Hashable, make: Callable[[], Shader]) -> LinkedProgram:
        """Return the program for ``key``, which ``make`` describes the first time."""
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._compile(key, make())
            self.pending.append(program)
        return program

    def check(self) -> None:
        """Query the link status of the pending programs.

        Raises:
            BackendError: one was not; it is compiled again when it is next wanted.
        """
        while self.pending:
            program = self.pending.pop()
            failure = str(self._device.failure(program.id))
            if failure:
                del self._programs[program.key]
                raise BackendError(_explained(program, failure))

    def _compile(self, key: Hashable, shader: Shader) -> LinkedProgram:
        source = self._source_of(shader)
        id = self._device.compile(
            javascript_text(source),
            shader.targets,
            javascript_text(",".join(f"{source.name}:{source.lanes}" for source in shader.inputs)),
            javascript_text(",".join(f"{name}:{kind[0]}" for name, kind in shader.uniforms)),
        )
        if id < 0:
            self._lost()
        # program, targets, textures, uniforms, end mark
        words = (
            "i" * (1 + shader.targets + len(shader.inputs))
            + "".join(kind[0] for _, kind in shader.uniforms)
            + "i"
        )
        return LinkedProgram(id, key, shader.name, source, Struct(f"={words}"))


def _explained(program: LinkedProgram, failure: str) -> str:
    """Return an error that names the failure and the op; a shader's has its numbered source."""
    step, _, log = failure.partition("\n")
    log = log or "the browser does not say why, as when it is about to take the device away"
    message = f"webgl: {step} of {program.name} failed: {log}"
    if not step.startswith("compiling"):
        return message
    numbered = (f"{number:4} {line}" for number, line in enumerate(program.source.splitlines(), 1))
    return "\n".join((message, *numbered))
