"""The signatures of the array API standard, and whether our functions take their calls."""

from __future__ import annotations

import inspect
from functools import reduce
from pathlib import Path
from typing import Any

__all__ = ["FUNCTIONS", "METHODS", "fault_of"]

#: The functions of the standard's version 2024.12 and its extensions, a signature in each line.
FUNCTIONS = Path(__file__).with_name("functions.txt").read_text().splitlines()

METHODS = (
    "__array_namespace__(self, /, *, api_version=None)",
    "__dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None)",
    "__dlpack_device__(self, /)",
    "to_device(self, device, /, *, stream=None)",
    "__getitem__(self, key, /)",
    *(f"__{name}__(self, /)" for name in ("abs", "bool", "complex", "float", "index", "int")),
    *(f"__{name}__(self, /)" for name in ("invert", "neg", "pos")),
    *(
        f"__{prefix}{name}__(self, other, /)"
        for name in (
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
            *("and", "or", "xor", "lshift", "rshift"),
        )
        for prefix in ("", "r")
    ),
    *(f"__{name}__(self, other, /)" for name in ("eq", "ne", "lt", "le", "gt", "ge")),
)

#: Defaults that the standard leaves to us: whether to copy.
OWN_DEFAULTS = {("from_dlpack", "copy")}


def fault_of(line: str, owner: Any) -> str | None:
    """Say what call of a signature ours does not take, or which default differs."""
    name = line.split("(")[0]
    theirs = _signature(line)
    ours = inspect.signature(reduce(getattr, name.split("."), owner))
    positional, keywords = [], {}
    for parameter in theirs.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += [0, 0]
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(0)
        else:
            keywords[parameter.name] = 0
    empty = inspect.Parameter.empty
    required = {key: 0 for key in keywords if theirs.parameters[key].default is empty}
    for names in (keywords, required):
        try:
            ours.bind(*positional, **names)
        except TypeError as error:
            return f"{name}: {error}"
    for key in keywords:
        if key not in ours.parameters:
            return f"{name}: {key} is not named"
        own, default = ours.parameters[key].default, theirs.parameters[key].default
        # Where the standard has None for the dtype, ours may name it.
        same = own == default or (key == "dtype" and default is None)
        if not (default is empty or same or (name, key) in OWN_DEFAULTS):
            return f"{name}: {key} is {own} unless it is given, not {default}"
    return None


def _signature(text: str) -> inspect.Signature:
    scope: dict[str, Any] = {}
    exec(f"def function{text[text.index('(') :]}: pass", scope)
    return inspect.signature(scope["function"])
