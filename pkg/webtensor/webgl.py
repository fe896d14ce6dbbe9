"""The WebGL backend's own functions, ``wt.webgl``: what a call draws, and with which programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from webtensor.dtypes import DType
from webtensor.engine import Primitive, Tensor, find_backend, state, unavailable_reason
from webtensor.errors import BackendUnavailableError
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.backends.webgl.backend import WebGLBackend
    from webtensor.backends.webgl.tracing import Draw

__all__ = ["Explanation", "Operation", "explain"]


def _shown(shape: Shape, dtype: DType) -> str:
    return f"{dtype} {shape}"


@dataclass(frozen=True)
class Operation:
    """One operation and what it drew: nothing where elements are shared or computed elsewhere."""

    name: str
    inputs: tuple[tuple[Shape, DType], ...]
    output: tuple[Shape, DType]
    #: Name of the backend that the result lies on, or ``"host"``.
    device: str
    draws: tuple[Draw, ...]

    def __str__(self) -> str:
        inputs = ", ".join(_shown(*one) for one in self.inputs)
        lines = [f"{self.name}({inputs}) -> {_shown(*self.output)}"]
        lines += [f"  {draw}" for draw in self.draws]
        if not self.draws:
            lines[0] += f": no draw, on {self.device}"
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation:
    """What a call drew; shown as text, one line for each operation and each draw."""

    operations: tuple[Operation, ...]

    @property
    def draws(self) -> tuple[Draw, ...]:
        """All draws, in their order."""
        return tuple(draw for operation in self.operations for draw in operation.draws)

    @property
    def programs(self) -> dict[int, tuple[str, str]]:
        """Name and generated GLSL of every program that was drawn with, by the program's number."""
        return {draw.program: (draw.name, draw.glsl) for draw in self.draws}

    def glsl(self) -> str:
        """Return the sources of the programs, each once, under headings."""
        return "\n".join(
            f"// ---- program {number}, {name} ----\n{source}"
            for number, (name, source) in self.programs.items()
        )

    def __repr__(self) -> str:
        draws, programs = len(self.draws), len(self.programs)
        total = f"{draws} draws with {programs} programs"
        return "\n".join([*map(str, self.operations), total])


class _Explainer:
    """Observer that shares the draws out among the operations."""

    def __init__(self, trace: list[Draw]) -> None:
        self.trace = trace
        self.operations: list[Operation] = []

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        draws = tuple(self.trace)
        self.trace.clear()
        self.operations.append(
            Operation(
                name=primitive.name,
                inputs=tuple((operand.shape, operand.dtype) for operand in inputs),
                output=(output.shape, output.dtype),
                device=output.device,
                draws=draws,
            )
        )


def explain(function: Callable[..., Any], *args: Any) -> Explanation:
    """Call a function on the WebGL backend and tell what it drew.

    For each operation there are the shapes, and for each of its draws the program and the physical
    sizes and formats of the textures that it read and wrote; ``glsl()`` of what is returned is the
    source of the programs. What the function returns is dropped.

    Raises:
        BackendUnavailableError: the WebGL backend cannot start here.

    Example:
        >>> import webtensor as wt
        >>> def layer(x):
        ...     return wt.relu(wt.matmul(x, x))
        >>> if "webgl" in wt.available_backends():
        ...     print(wt.webgl.explain(layer, wt.ones((64, 64))))
    """
    found = find_backend("webgl")
    if found is None:
        raise BackendUnavailableError(unavailable_reason("webgl"))
    backend = cast("WebGLBackend", found)
    active = state.backend
    outer, backend.trace = backend.trace, []
    explainer = _Explainer(backend.trace)
    state.backend = backend
    state.observers += (explainer,)
    try:
        function(*args)
    finally:
        state.observers = tuple(one for one in state.observers if one is not explainer)
        state.backend = active
        backend.trace = outer
    return Explanation(tuple(explainer.operations))
