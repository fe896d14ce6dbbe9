"""The context of a layer's call: the outermost layer that was called, and whether it trains."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from webtensor.keras.layers.layer import Layer

__all__ = ["call_context"]

_Context: TypeAlias = "tuple[Layer | None, bool | None]"

#: The outermost layer of the current call, and the value of ``training``; None outside of calls.
#: Each task has its own: while a layer waits for a value, another task may call layers.
call_context: ContextVar[_Context] = ContextVar("call_context", default=(None, None))
