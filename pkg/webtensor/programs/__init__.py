"""Captured functions: what a function computes is recorded once, and then replayed.

``function`` has ``wt.function``; ``recording`` records the primitives that run; ``program`` replays
them for other arguments. Backends compile recordings (``backends/programs``).
"""

from webtensor.programs.function import Function, function

__all__ = ["Function", "function"]
