"""The WebGL backend: the GPU through the page's own WebGL context.

A tensor's memory layout: its elements, in row-major order, fill the texels of one 2-D texture, four
to a texel (RGBA), row by row, whatever the tensor's shape. So a reshape costs nothing, an
elementwise operation on equal shapes reads the texel that it writes, and upload and read-back move
bytes as they are. The texture's width is a power of two, for large tensors about a quarter of the
square root of the number of texels, so that texel ``t`` lies at column ``t & (width - 1)`` and row
``t >> shift``. A float32 tensor is an RGBA32F texture, int32 is RGBA32I (all 32 bits are exact) and
bool is RGBA8UI. Lanes beyond the last element have arbitrary values. Devices with fewer
formats are handled by ``precision_modes``. Tensors larger than the largest texture are left to
another backend (``docs/design/webgl.md``).

``context`` opens the context and examines its device; ``flags`` has its capabilities and settings;
``device.js`` executes draws that ``queue`` packed, and ``sharing.js`` keeps it from disturbing a
page that draws with the context, too; ``textures`` allocates and recycles; ``compiler`` turns
kernels' logical code into GLSL, with the functions of ``glsl``; ``programs`` compiles and caches
it; ``pixels`` converts between images and tensors. For WebGL 1 there are ``webgl1_backend``,
``webgl1.js`` and ``webgl1_compiler``, which translates kernels' code by ``glsl_es_100`` and adds
the functions of ``webgl1_functions``. The other modules are kernel families.
"""

from __future__ import annotations

from webtensor.backends.api import Backend, Priority
from webtensor.environment import IN_BROWSER
from webtensor.errors import BackendUnavailableError

__all__ = ["create_backend", "priority"]

_PRIORITY = 3
#: Below that of the wasm backend.
_PRIORITY_IN_SOFTWARE = 1


def create_backend() -> Backend:
    """Start the backend on a new context, or on the one that the page gave.

    Raises:
        BackendUnavailableError: not in a browser, WebGL is off, or float render targets lack.
    """
    if not IN_BROWSER:
        raise BackendUnavailableError("the webgl backend needs a browser, and this is not one")
    from webtensor.backends.webgl.context import create_context, is_context_given

    gl, mode = create_context()
    if mode.version == 1:
        from webtensor.backends.webgl.webgl1_backend import WebGL1Backend

        return WebGL1Backend(gl, mode)
    from webtensor.backends.webgl.backend import WebGLBackend

    return WebGLBackend(gl, mode, is_shared=is_context_given())


def priority() -> Priority:
    """Return the backend's priority: below WebAssembly's if the processor draws."""
    if IN_BROWSER:
        from webtensor.backends.webgl.context import slow_reason

        reason = slow_reason()
        if reason is not None:
            return Priority(_PRIORITY_IN_SOFTWARE, reason)
    return Priority(_PRIORITY)
