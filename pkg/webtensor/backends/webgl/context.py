"""The WebGL context and what it can do, as flags."""

from __future__ import annotations

from typing import Any

from webtensor.environment import env
from webtensor.errors import BackendUnavailableError

__all__ = ["create_context"]

_CONTEXT_OPTIONS = {
    "alpha": False,
    "antialias": False,
    "depth": False,
    "desynchronized": False,
    "failIfMajorPerformanceCaveat": False,
    "powerPreference": "high-performance",
    "premultipliedAlpha": False,
    "preserveDrawingBuffer": False,
    "stencil": False,
}


def _new_canvas() -> Any:
    """Return a canvas of our own, on a page or in a worker."""
    import js

    if hasattr(js, "OffscreenCanvas"):
        return js.OffscreenCanvas.new(1, 1)
    return js.document.createElement("canvas")


def create_context() -> Any:
    """Make a WebGL 2 context that can render to float32 textures.

    Raises:
        BackendUnavailableError: WebGL 2 or ``EXT_color_buffer_float`` is lacking.
    """
    import js
    from pyodide.ffi import to_js

    options = to_js(_CONTEXT_OPTIONS, dict_converter=js.Object.fromEntries)
    gl = _new_canvas().getContext("webgl2", options)
    if not gl:  # JavaScript's null isn't None in Pyodide
        raise BackendUnavailableError(
            "WebGL 2 is not available: this browser lacks it, or it is switched off (hardware "
            "acceleration disabled, or the graphics driver blocked)"
        )
    if not gl.getExtension("EXT_color_buffer_float"):
        raise BackendUnavailableError(
            "this device's WebGL 2 cannot render to float32 textures (EXT_color_buffer_float)"
        )
    limit = int(gl.getParameter(gl.MAX_TEXTURE_SIZE))
    flags = env()
    flags.register_flag("WEBGL_VERSION", lambda: 2)
    flags.register_flag("WEBGL_RENDER_FLOAT32_CAPABLE", lambda: True)
    flags.register_flag("WEBGL_MAX_TEXTURE_SIZE", lambda: limit)
    # Bytes of freed textures kept for reuse before they are deleted.
    flags.register_flag("WEBGL_RECYCLED_BYTES_LIMIT", lambda: 256 * 2**20)
    return gl
