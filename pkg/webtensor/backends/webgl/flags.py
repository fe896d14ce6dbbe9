"""What WebGL can do here, and how the backend uses it, as flags of ``wt.env()``.

If they are set before the backend starts, they select what it uses. Without WebGL, the flags of a
device's capabilities are 0 or false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from webtensor.environment import BOOLEAN, IN_BROWSER, FlagValue, env, integer, one_of
from webtensor.errors import BackendUnavailableError

if TYPE_CHECKING:
    from webtensor.backends.webgl.context import Device

__all__ = [
    "ALLOW_SOFTWARE",
    "DELETE_THRESHOLD",
    "FORCE_HALF",
    "MAX_TEXTURE_SIZE",
    "RECYCLED_LIMIT",
    "RENDER_FLOAT32_CAPABLE",
    "RENDER_FLOAT32_ENABLED",
    "VERSION",
]

#: The version of WebGL.
VERSION = "WEBGL_VERSION"
#: Whether the device can render to 32-bit floats, and whether the backend does.
RENDER_FLOAT32_CAPABLE = "WEBGL_RENDER_FLOAT32_CAPABLE"
RENDER_FLOAT32_ENABLED = "WEBGL_RENDER_FLOAT32_ENABLED"
#: Requests textures of 16-bit floats.
FORCE_HALF = "WEBGL_FORCE_F16_TEXTURES"
#: The maximum width and height of textures; the device's own maximum also applies.
MAX_TEXTURE_SIZE = "WEBGL_MAX_TEXTURE_SIZE"
#: Bytes of freed textures that are kept for reuse before they are deleted.
RECYCLED_LIMIT = "WEBGL_RECYCLED_BYTES_LIMIT"
#: Bytes that textures in use may take before others are paged out; -1 for any number.
DELETE_THRESHOLD = "WEBGL_DELETE_TEXTURE_THRESHOLD"
#: Gives the backend its priority even if the processor draws for it.
ALLOW_SOFTWARE = "WEBGL_ALLOW_SOFTWARE"

_MAX_BYTES = 600 * 2**20
_BYTES_PER_PIXEL = 600


def _of_device(get: Callable[[Device], FlagValue], otherwise: FlagValue) -> Callable[[], FlagValue]:
    """Evaluate a flag by what the device says."""

    def evaluate() -> FlagValue:
        if not IN_BROWSER:
            return otherwise
        from webtensor.backends.webgl.context import device

        try:
            return get(device())
        except BackendUnavailableError:
            return otherwise

    return evaluate


def _is_float32_wanted() -> bool:
    return not env().get_bool(FORCE_HALF) and env().get_bool(RENDER_FLOAT32_CAPABLE)


def _estimated_threshold() -> int:
    """Estimate from the screen how many bytes the GPU has room for; 600 MiB at most.

    As in TensorFlow.js, the estimate is 600 bytes for each pixel. A worker has no screen.
    """
    if not IN_BROWSER:
        return _MAX_BYTES
    import js

    screen = getattr(js, "screen", None)
    if screen is None:
        return _MAX_BYTES
    pixels = screen.width * screen.height * js.devicePixelRatio**2
    return min(int(pixels * _BYTES_PER_PIXEL), _MAX_BYTES)


_register = env().register_flag
_register(VERSION, _of_device(lambda device: device.version, 0), type=one_of(1, 2))
_register(
    RENDER_FLOAT32_CAPABLE,
    _of_device(lambda device: device.renders_float32, False),
    type=BOOLEAN,
)
_register(RENDER_FLOAT32_ENABLED, _is_float32_wanted, type=BOOLEAN)
_register(FORCE_HALF, lambda: False, type=BOOLEAN)
_register(
    MAX_TEXTURE_SIZE,
    _of_device(lambda device: device.largest_texture, 0),
    type=integer(minimum=1),
)
_register(RECYCLED_LIMIT, lambda: 256 * 2**20, type=integer(minimum=0))
_register(DELETE_THRESHOLD, _estimated_threshold, type=integer(minimum=-1))
_register(ALLOW_SOFTWARE, lambda: False, type=BOOLEAN)
