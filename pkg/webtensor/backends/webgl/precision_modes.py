"""What a device's WebGL can do: its version, and the precision of what it renders to."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FULL", "Mode"]


class Mode(NamedTuple):
    """How the backend computes on a device."""

    #: Version of WebGL.
    version: int = 2
    #: Whether the elements of float32 tensors are stored as 16-bit floats.
    is_half: bool = False


FULL = Mode()
