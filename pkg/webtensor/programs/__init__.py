"""Captured functions: what a function computes is recorded once, and then replayed.

``function`` has ``wt.function``, and ``capture`` one capture; ``recording`` records the primitives
that run, ``program`` replays them for other arguments, and ``numbers`` the numbers of Python among
their attributes. Backends compile recordings (``backends/programs``).
"""

from webtensor.programs.function import Function, function

__all__ = ["Function", "function"]
