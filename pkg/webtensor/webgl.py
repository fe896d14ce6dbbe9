"""The WebGL backend's own functions, ``wt.webgl``.

``explain`` lists a call's draws and their programs; ``set_context`` gives the backend a
context of the page's; ``force_half_float`` has it compute as on devices without 32-bit floats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from webtensor.backends.webgl.flags import FORCE_HALF
from webtensor.dtypes import DType
from webtensor.engine import Primitive, Tensor, state
from webtensor.engine.backend_registry import start_backend, started_backends
from webtensor.engine.state import observing
from webtensor.environment import IN_BROWSER, env
from webtensor.errors import BackendUnavailableError
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.backends.webgl.backend import WebGLBackend
    from webtensor.backends.webgl.tracing import Draw

__all__ = ["Explanation", "Operation", "explain", "force_half_float", "set_context"]


def _shown(shape: Shape, dtype: DType) -> str:
    return f"{dtype} {shape}"


@dataclass(frozen=True)
class Operation:
    """One operation and its draws: none if elements are shared or computed elsewhere."""

    name: str
    inputs: tuple[tuple[Shape, DType], ...]
    output: tuple[Shape, DType]
    #: Name of the backend that has the result, or ``"host"``.
    device: str
    draws: tuple[Draw, ...]

    def __str__(self) -> str:
        inputs = ", ".join(_shown(*operand) for operand in self.inputs)
        lines = [f"{self.name}({inputs}) -> {_shown(*self.output)}"]
        lines += [f"  {draw}" for draw in self.draws]
        if not self.draws:
            lines[0] += f": no draw, on {self.device}"
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation:
    """The draws of a call; shown as text, one line for each operation and each draw."""

    operations: tuple[Operation, ...]

    @property
    def draws(self) -> tuple[Draw, ...]:
        """All draws, in their order."""
        return tuple(draw for operation in self.operations for draw in operation.draws)

    @property
    def programs(self) -> dict[int, tuple[str, str]]:
        """Name and generated GLSL of every program that was drawn with, by the program's number."""
        return {draw.program: (draw.name, draw.glsl) for draw in self.draws if draw.program}

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
    """Observer that assigns the draws to the operations."""

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
                device=output._location(),
                draws=draws,
            )
        )


def explain(function: Callable[..., Any], *args: Any) -> Explanation:
    """Call a function on the WebGL backend and return its draws.

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
    backend = cast("WebGLBackend", start_backend("webgl"))
    active = state.backend
    outer, backend.trace = backend.trace, []
    explainer = _Explainer(backend.trace)
    state.backend = backend
    try:
        with observing(explainer):
            function(*args)
    finally:
        state.backend = active
        backend.trace = outer
    return Explanation(tuple(explainer.operations))


def _require_not_started(name: str) -> None:
    if any(started.name == "webgl" for started in started_backends()):
        raise RuntimeError(
            f"{name}: the webgl backend has started; call this before it computes anything"
        )


def force_half_float() -> None:
    """Let the WebGL backend keep float32 elements as 16-bit floats, before it starts.

    That takes half the memory, and shows how a model fares on devices that have no more: elements
    have 11 significant bits, and none is greater than 65504. It is what the flag
    ``WEBGL_FORCE_F16_TEXTURES`` does.

    Raises:
        RuntimeError: the WebGL backend has started.

    Example:
        >>> import webtensor as wt
        >>> wt.webgl.force_half_float()
        >>> wt.env().get_bool("WEBGL_FORCE_F16_TEXTURES")
        True
    """
    _require_not_started("force_half_float")
    env().set(FORCE_HALF, True)


def set_context(gl: Any) -> None:
    """Let the WebGL backend compute on a WebGL 2 context of the page's, before it starts.

    The page goes on drawing with the context: its state, such as what is bound and enabled, is what
    it was after each call. It must only not be in the midst of a transform feedback, and its canvas
    is never drawn on, so that ``browser.draw`` passes through host memory. When the browser takes
    the context away, the backend is back as soon as the context is, which it is only where the page
    calls ``preventDefault`` on the event ``webglcontextlost``. ``None`` takes the context back.

    Raises:
        BackendUnavailableError: not in a browser, the context is lost, or lacks float32 targets.
        RuntimeError: the WebGL backend has started.
        TypeError: ``gl`` is no WebGL 2 context.

    Example:
        >>> import webtensor as wt
        >>> if wt.env().get_bool("IS_BROWSER"):
        ...     import js
        ...     canvas = js.document.getElementById("scene")
        ...     wt.webgl.set_context(canvas.getContext("webgl2"))
    """
    if not IN_BROWSER:
        raise BackendUnavailableError("a WebGL context needs a browser, and this is not one")
    if gl is not None and str(gl) != "[object WebGL2RenderingContext]":
        raise TypeError(f"set_context: gl must be a WebGL2RenderingContext, but got {gl}")
    _require_not_started("set_context")
    from webtensor.backends.webgl import context

    context.set_context(gl)
