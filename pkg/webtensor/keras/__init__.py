"""The Layers API: what Keras 3 has, under its names, so that a script changes only its imports.

``from webtensor import keras`` stands where ``import keras`` stood. Each namespace of Keras is a
module here, which is imported when it is first used:

- ``layers``, ``models`` (with ``Sequential``, ``Model``, ``Input``), ``saving``;
- ``activations``, ``initializers``, ``regularizers``, ``constraints``;
- ``losses``, ``metrics``, ``optimizers``, ``callbacks``;
- ``ops``, ``random``, ``utils``, ``config``;
- ``datasets``, ``preprocessing``, ``legacy``.

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
    "datasets",
    "dtype_policies",
    "initializers",
    "layers",
    "legacy",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "ops",
    "optimizers",
    "preprocessing",
    "random",
    "regularizers",
    "saving",
    "tree",
    "utils",
)
_HOMES = {
    "DTypePolicy": "dtype_policies",
    "FloatDTypePolicy": "dtype_policies",
    "Function": "models",
    "Initializer": "initializers",
    "Input": "layers",
    "InputSpec": "layers",
    "KerasTensor": "symbols",
    "Layer": "layers",
    "Loss": "losses",
    "Metric": "metrics",
    "Model": "models",
    "Operation": "nodes",
    "Optimizer": "optimizers",
    "Regularizer": "regularizers",
    "Sequential": "models",
    "StatelessScope": "stateless_scopes",
    "Variable": "variables",
    "name_scope": "names",
}

#: The version of Keras whose names, defaults and formulas these are.
__version__ = "3.15.1"

__all__ = ["__version__", "version", *_NAMESPACES, *_HOMES]  # noqa: PLE0604


def version() -> str:
    """Return the version of Keras whose names, defaults and formulas these are."""
    return __version__


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
