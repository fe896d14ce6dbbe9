"""The WebGL context and what it can do, as flags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webtensor.environment import env
from webtensor.errors import BackendUnavailableError

__all__ = ["create_context", "is_context_given", "set_context"]

_CONTEXT_OPTIONS = {
    "alpha": True,  # images that are shown may be transparent
    "antialias": False,
    "depth": False,
    "desynchronized": False,
    "failIfMajorPerformanceCaveat": False,
    "powerPreference": "high-performance",
    "premultipliedAlpha": False,
    "preserveDrawingBuffer": False,
    "stencil": False,
}


def _canvases() -> Iterator[Any]:
    """Canvases of our own to ask for a context; WebKitGTK's OffscreenCanvas has none."""
    import js

    if hasattr(js, "OffscreenCanvas"):
        yield js.OffscreenCanvas.new(1, 1)
    if hasattr(js, "document"):
        yield js.document.createElement("canvas")


class _Given:
    """The context to use instead of one of our own."""

    context: Any = None


def set_context(gl: Any) -> None:
    """Use a context of the page's from now on, or, given None, one of our own."""
    if gl is not None:
        _check(gl)
    _Given.context = gl


def is_context_given() -> bool:
    """Whether the context is the page's."""
    return _Given.context is not None


def _check(gl: Any) -> None:
    """Refuse a context that cannot compute."""
    if gl.isContextLost():
        raise BackendUnavailableError("the browser has taken the graphics device away for now")
    if not gl.getExtension("EXT_color_buffer_float"):
        raise BackendUnavailableError(
            "this device's WebGL 2 cannot render to float32 textures (EXT_color_buffer_float)"
        )


def create_context() -> Any:
    """Make a WebGL 2 context that can render to float32 textures, or take the one that was given.

    Raises:
        BackendUnavailableError: WebGL 2 or ``EXT_color_buffer_float`` is lacking.
    """
    import js
    from pyodide.ffi import to_js

    options = to_js(_CONTEXT_OPTIONS, dict_converter=js.Object.fromEntries)
    contexts = (canvas.getContext("webgl2", options) for canvas in _canvases())
    # JavaScript's null isn't None in Pyodide
    gl = _Given.context or next(filter(None, contexts), None)
    if gl is None:
        raise BackendUnavailableError(
            "WebGL 2 is not available: this browser lacks it, or it is switched off (hardware "
            "acceleration disabled, or the graphics driver blocked)"
        )
    _check(gl)
    limit = int(gl.getParameter(gl.MAX_TEXTURE_SIZE))
    flags = env()
    flags.register_flag("WEBGL_VERSION", lambda: 2)
    flags.register_flag("WEBGL_RENDER_FLOAT32_CAPABLE", lambda: True)
    flags.register_flag("WEBGL_MAX_TEXTURE_SIZE", lambda: limit)
    # Bytes of freed textures kept for reuse before they are deleted.
    flags.register_flag("WEBGL_RECYCLED_BYTES_LIMIT", lambda: 256 * 2**20)
    return gl
