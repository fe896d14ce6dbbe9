"""The Layers API: what Keras 3 has, under its names, so that a script changes only its imports.

``from webtensor import keras`` stands where ``import keras`` stood. Each namespace of Keras is a
module here, which is imported when it is first used:

- ``layers``, ``models`` (with ``Sequential``, ``Model``, ``Input``), ``saving``;
- ``activations``, ``initializers``, ``regularizers``, ``constraints``;
- ``losses``, ``metrics``, ``optimizers``, ``callbacks``;
- ``ops``, ``random``, ``utils``, ``config``.

Below them, ``registry`` turns objects into configurations and back, ``names`` gives them names,
``variables`` and ``symbols`` are what layers are made of.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The namespaces, and where the names of Keras's front page live.
_NAMESPACES = (
    "activations",
    "backend",
    "callbacks",
    "config",
    "constraints",
    "dtype_policies",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "ops",
    "optimizers",
    "random",
    "regularizers",
    "saving",
    "tree",
    "utils",
)
_HOMES = {
    "DTypePolicy": "dtype_policies",
    "Function": "models",
    "Initializer": "initializers",
    "Input": "layers",
    "InputSpec": "layers",
    "KerasTensor": "symbols",
    "Layer": "layers",
    "Loss": "losses",
    "Metric": "metrics",
    "Model": "models",
    "Operation": "symbols",
    "Optimizer": "optimizers",
    "Regularizer": "regularizers",
    "Sequential": "models",
    "Variable": "variables",
    "name_scope": "names",
}

__all__ = [*_NAMESPACES, *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
