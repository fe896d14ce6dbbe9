"""What a call of a layer is part of: the outermost layer, and whether it trains."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

__all__ = ["call_context"]

#: The outermost layer of the call under way, and whether it trains; None where there is none. It is
#: this task's: where a layer waits for a value, another task may call layers, too.
call_context: ContextVar[tuple[Any, bool | None]] = ContextVar("call_context", default=(None, None))
