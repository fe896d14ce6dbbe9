"""What a device's WebGL can do: its version, and the precision of what it renders to."""

from __future__ import annotations

from typing import NamedTuple

from webtensor.environment import env

__all__ = ["FORCE_HALF", "FULL", "Mode"]

#: The flag that asks for textures of 16-bit floats.
FORCE_HALF = "WEBGL_FORCE_F16_TEXTURES"
env().register_flag(FORCE_HALF, lambda: False)


class Mode(NamedTuple):
    """How the backend computes on a device."""

    #: Version of WebGL.
    version: int = 2
    #: Whether the elements of float32 tensors are kept as 16-bit floats.
    is_half: bool = False


FULL = Mode()
