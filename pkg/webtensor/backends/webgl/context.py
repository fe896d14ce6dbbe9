"""The WebGL context and what it can do, as flags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webtensor.backends.webgl.modes import FORCE_HALF, Mode
from webtensor.environment import env
from webtensor.errors import BackendUnavailableError

__all__ = ["create_context", "is_context_given", "set_context"]

_HALF_TARGETS = "EXT_color_buffer_half_float"

#: Flags: the version of WebGL, whether the device renders to 32-bit floats, and whether it is to.
_VERSION = "WEBGL_VERSION"
_CAPABLE = "WEBGL_RENDER_FLOAT32_CAPABLE"
_ENABLED = "WEBGL_RENDER_FLOAT32_ENABLED"

#: By version, the extensions that targets of 32-bit floats need, and those of 16-bit ones; either
#: of two sets may do.
_EXTENSIONS: dict[int, tuple[list[tuple[str, ...]], list[tuple[str, ...]]]] = {
    2: ([("EXT_color_buffer_float",)], [("EXT_color_buffer_float",), (_HALF_TARGETS,)]),
    1: (
        [("OES_texture_float", "WEBGL_color_buffer_float")],
        [("OES_texture_half_float", _HALF_TARGETS)],
    ),
}

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


def _check(gl: Any, version: int = 2) -> Mode:
    """Say how a context computes, or refuse one that cannot."""
    if gl.isContextLost():
        raise BackendUnavailableError("the browser has taken the graphics device away for now")
    has_float, has_half = (
        any(all(map(gl.getExtension, names)) for names in choices)
        for choices in _EXTENSIONS[version]
    )
    if not has_half and not has_float:
        raise BackendUnavailableError(
            f"this device's WebGL {version} can render neither to float32 textures "
            f"({_EXTENSIONS[version][0][0][-1]}) nor to 16-bit ones (EXT_color_buffer_half_float)"
        )
    flags = env()
    flags.register_flag(_CAPABLE, lambda: has_float)
    flags.register_flag(
        _ENABLED, lambda: not flags.get_bool(FORCE_HALF) and flags.get_bool(_CAPABLE)
    )
    return Mode(version, has_half and not (has_float and flags.get_bool(_ENABLED)))


def _open(version: int) -> Any:
    """A context of our own, or None."""
    import js
    from pyodide.ffi import to_js

    options = to_js(_CONTEXT_OPTIONS, dict_converter=js.Object.fromEntries)
    name = "webgl2" if version == 2 else "webgl"
    contexts = (canvas.getContext(name, options) for canvas in _canvases())
    return next(filter(None, contexts), None)  # JavaScript's null isn't None in Pyodide


def create_context() -> tuple[Any, Mode]:
    """Make a context that can render to floats, or take the one that was given.

    That is one of WebGL 2, else of WebGL 1, or of what the flag ``WEBGL_VERSION`` says. Where a
    context was lost, the next is one of the same version.

    Raises:
        BackendUnavailableError: WebGL is lacking, or targets of floats of any precision are.
    """
    flags = env()
    flags.register_flag(_VERSION, lambda: 2)
    known = flags.flags[_VERSION]
    gl, version = _Given.context, 2
    versions = (2, 1) if known is None else (int(known),)
    for candidate in versions:
        if gl is None:
            gl, version = _open(candidate), candidate
    if gl is None:
        wanted = " or ".join(f"WebGL {one}" for one in sorted(versions))
        raise BackendUnavailableError(
            f"{wanted} is not available: this browser lacks it, or it is switched off "
            "(hardware acceleration disabled, or the graphics driver blocked)"
        )
    flags.set(_VERSION, version)
    mode = _check(gl, version)
    limit = int(gl.getParameter(gl.MAX_TEXTURE_SIZE))
    flags.register_flag("WEBGL_MAX_TEXTURE_SIZE", lambda: limit)
    # Bytes of freed textures kept for reuse before they are deleted.
    flags.register_flag("WEBGL_RECYCLED_BYTES_LIMIT", lambda: 256 * 2**20)
    return gl, mode
