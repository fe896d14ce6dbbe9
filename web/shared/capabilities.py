"""What this browser offers to computations: WebGL, WebAssembly's extensions, threads."""

from typing import Any, NamedTuple

import js

from webtensor.backends.wasm.host_javascript import validates
from webtensor.backends.webgl.context import renderer


class Capability(NamedTuple):
    """One line of the table of capabilities."""

    name: str
    is_available: bool
    detail: str


def capabilities() -> list[Capability]:
    """Probe this browser."""
    webgl2, webgl1 = _context("webgl2"), _context("webgl")
    isolated = bool(js.crossOriginIsolated)
    processors = js.navigator.hardwareConcurrency
    return [
        Capability("WebGL 2", bool(webgl2), renderer(webgl2) if webgl2 else ""),
        Capability("WebGL 1", bool(webgl1), renderer(webgl1) if webgl1 else ""),
        _float_targets(webgl2, webgl1),
        Capability("WebAssembly SIMD", validates("simd"), "128-bit vectors"),
        Capability("WebAssembly relaxed SIMD", validates("relaxed"), "fused multiply-add"),
        Capability(
            "WebAssembly threads",
            isolated and hasattr(js, "SharedArrayBuffer"),
            f"WebAssembly computes on {min(processors, 16)} of {processors} processors"
            if isolated
            else "the page isn't cross-origin isolated: its host sends no COOP and COEP headers",
        ),
        Capability(
            "WebAssembly JSPI",
            hasattr(js.WebAssembly, "Suspending"),
            "a synchronous read needn't block the page",
        ),
        Capability("WebGPU", hasattr(js.navigator, "gpu"), "not used yet"),
    ]


def _context(kind: str) -> Any:
    return js.document.createElement("canvas").getContext(kind) or None


def _float_targets(webgl2: Any, webgl1: Any) -> Capability:
    """Say in which precision the graphics processor can write results."""
    name = "Float render targets"
    if webgl2 and webgl2.getExtension("EXT_color_buffer_float"):
        return Capability(name, True, "32 bits")
    if webgl2 and webgl2.getExtension("EXT_color_buffer_half_float"):
        return Capability(name, True, "16 bits")
    if webgl1 and webgl1.getExtension("OES_texture_float"):
        return Capability(name, bool(webgl1.getExtension("WEBGL_color_buffer_float")), "WebGL 1")
    return Capability(name, False, "")
