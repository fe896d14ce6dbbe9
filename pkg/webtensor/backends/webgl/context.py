"""The WebGL context, and what its device can do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from webtensor.backends.webgl.flags import ALLOW_SOFTWARE, RENDER_FLOAT32_ENABLED, VERSION
from webtensor.backends.webgl.precision_modes import Mode
from webtensor.environment import env
from webtensor.errors import BackendUnavailableError

__all__ = [
    "Device",
    "create_context",
    "device",
    "is_context_given",
    "is_emulated",
    "reads_too_early",
    "renderer",
    "set_context",
    "slow_reason",
]

_HALF_TARGETS = "EXT_color_buffer_half_float"

#: By version, the extensions that targets of 32-bit floats need, and those of 16-bit ones: all of
#: one of two sets.
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
    "powerPreference": "high-performance",
    "premultipliedAlpha": False,
    "preserveDrawingBuffer": False,
    "stencil": False,
}

#: Words in the names of renderers that compute on the processor.
_SOFTWARE: Final = (
    "basic render",  # Microsoft's
    "gdi generic",
    "lavapipe",
    "llvmpipe",
    "softpipe",
    "software",
    "swiftshader",
    "swr (",  # Mesa's OpenSWR
)


class Device:
    """A WebGL context and its capabilities."""

    version: int
    renders_float32: bool
    #: The maximum size of textures.
    largest_texture: int

    def __init__(self, gl: Any, version: int, *, is_slow: bool = False) -> None:
        """Examine a context, which the browser may have called slow.

        Raises:
            BackendUnavailableError: the context is lost, or has no targets of floats.
        """
        if gl.isContextLost():
            raise BackendUnavailableError("the browser has taken the graphics device away for now")
        self.gl = gl
        self.version = version
        self._is_slow = is_slow
        self.renders_float32, self._renders_float16 = (
            any(all(map(gl.getExtension, names)) for names in choices)
            for choices in _EXTENSIONS[version]
        )
        if not self.renders_float32 and not self._renders_float16:
            raise BackendUnavailableError(
                f"this device's WebGL {version} can render neither to float32 textures "
                f"({_EXTENSIONS[version][0][0][-1]}) nor to 16-bit ones "
                "(EXT_color_buffer_half_float)"
            )
        self.largest_texture = int(gl.getParameter(gl.MAX_TEXTURE_SIZE))

    @property
    def mode(self) -> Mode:
        """The precision mode in which the backend computes on the device."""
        is_full = self.renders_float32 and env().get_bool(RENDER_FLOAT32_ENABLED)
        return Mode(self.version, self._renders_float16 and not is_full)

    @cached_property
    def slowness(self) -> str | None:
        """Why the device is slow, if it is."""
        name = renderer(self.gl)
        if _is_software(name):
            return f"the processor draws in place of a graphics processor ({name})"
        return f"the browser says that WebGL is slow here ({name})" if self._is_slow else None


class _Contexts:
    """The page's context, and the last one that was opened here."""

    of_page: Any = None
    own: Device | None = None
    #: The last one is a backend's.
    is_taken: bool = False


def set_context(gl: Any) -> None:
    """Use a context of the page's from now on, or, with None, one of our own."""
    if gl is not None:
        Device(gl, version=2)
    _Contexts.of_page = gl


def is_context_given() -> bool:
    """Whether the context is the page's."""
    return _Contexts.of_page is not None


def device() -> Device:
    """Return the device, on the context that the backend has, or will have.

    Raises:
        BackendUnavailableError: WebGL is lacking, or targets of floats of any precision are.
    """
    if _Contexts.of_page is not None:
        return Device(_Contexts.of_page, version=2)
    if _Contexts.own is None or _Contexts.own.gl.isContextLost():
        _Contexts.own, _Contexts.is_taken = _open_any(), False
    return _Contexts.own


def create_context() -> tuple[Any, Mode]:
    """Return a context for a backend, a new one or the page's, and its precision mode.

    Raises:
        BackendUnavailableError: WebGL is lacking, or targets of floats of any precision are.
    """
    if _Contexts.is_taken:
        _Contexts.own = None
    chosen = device()
    _Contexts.is_taken = not is_context_given()
    env().set(VERSION, chosen.version)
    return chosen.gl, chosen.mode


def slow_reason() -> str | None:
    """Return the reason why WebAssembly is preferred here, or None."""
    if is_context_given() or env().get_bool(ALLOW_SOFTWARE):
        return None
    try:
        slowness = device().slowness
    except BackendUnavailableError:
        return None
    if slowness is None:
        return None
    return (
        f"{slowness}, so that WebAssembly is quicker; "
        f'wt.set_backend("webgl") or the flag {ALLOW_SOFTWARE} choose WebGL all the same'
    )


def renderer(gl: Any) -> str:
    """Return the name of a context's renderer, if the browser reveals it."""
    name = str(gl.getParameter(gl.RENDERER))
    masked = name in ("WebKit WebGL", "Mozilla")
    extension = gl.getExtension("WEBGL_debug_renderer_info") if masked else None
    return str(gl.getParameter(extension.UNMASKED_RENDERER_WEBGL)) if extension else name


def is_emulated(gl: Any) -> bool:
    """Whether the processor draws in place of a graphics processor."""
    return _is_software(renderer(gl))


def _is_software(renderer_name: str) -> bool:
    return any(word in renderer_name.lower() for word in _SOFTWARE)


def reads_too_early(gl: Any) -> bool:
    """Whether a read may return the elements from before the last draw on the texture.

    Mesa's llvmpipe (seen in 22.3) sometimes does that on a busy machine, unless ``gl.finish`` is
    called before. WebKitGTK calls every renderer "Apple GPU".
    """
    from js import navigator

    name = renderer(gl).lower()
    return "llvmpipe" in name or ("apple" in name and "Linux" in navigator.userAgent)


def _canvases() -> Iterator[Any]:
    """Yield canvases of our own to open a context on; WebKitGTK's OffscreenCanvas has none."""
    import js

    if hasattr(js, "OffscreenCanvas"):
        yield js.OffscreenCanvas.new(1, 1)
    if hasattr(js, "document"):
        yield js.document.createElement("canvas")


def _open_any() -> Device:
    """Open a context of the version that the flag requests, else of WebGL 2, else of WebGL 1.

    After a first context the flag has its version, so the successor of a lost context has the same
    version.
    """
    requested = env().flags[VERSION]
    versions = (requested,) if requested else (2, 1)
    for version in versions:
        for is_slow in (False, True):
            gl = _open(version, is_slow)
            if gl is not None:
                return Device(gl, version, is_slow=is_slow)
    names = " or ".join(f"WebGL {version}" for version in sorted(versions))
    raise BackendUnavailableError(
        f"{names} is not available: this browser lacks it, or it is switched off "
        "(hardware acceleration disabled, or the graphics driver blocked)"
    )


def _open(version: int, may_be_slow: bool) -> Any:
    """Return a context of our own, or None."""
    import js
    from pyodide.ffi import to_js

    options = {**_CONTEXT_OPTIONS, "failIfMajorPerformanceCaveat": not may_be_slow}
    attributes = to_js(options, dict_converter=js.Object.fromEntries)
    name = "webgl2" if version == 2 else "webgl"
    contexts = (canvas.getContext(name, attributes) for canvas in _canvases())
    return next(filter(None, contexts), None)  # JavaScript's null isn't None in Pyodide
