"""What a call of a layer is part of: the outermost layer, and whether it trains."""

from __future__ import annotations

__all__ = ["CallContext", "calls"]


class CallContext:
    """The outermost call under way."""

    __slots__ = ("entry", "training")

    def __init__(self) -> None:
        self.entry: object = None
        self.training: bool | None = None


#: The only one: calls of layers nest, they never run side by side.
calls = CallContext()
