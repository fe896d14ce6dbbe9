"""The Layers API: the classes and functions of Keras 3, under the same names.

A script of Keras needs another import only: ``from webtensor import keras`` in place of
``import keras``. Each namespace of Keras is a module here, which is imported on first use:

- ``layers``, ``models`` (with ``Sequential``, ``Model``, ``Input``), ``saving``;
- ``activations``, ``initializers``, ``regularizers``, ``constraints``;
- ``losses``, ``metrics``, ``optimizers``, ``callbacks``;
- ``ops``, ``random``, ``utils``, ``config``;
- ``datasets``, ``preprocessing``, ``legacy``.

Other modules are shared by these. Layers have ``variables`` and ``names``; called with symbolic
tensors (``symbols``), they make ``nodes`` of functional models, whose shapes come from
``shape_inference``. ``arguments`` and ``class_documentation`` derive configurations and docstrings
from the signatures of classes; ``registry`` turns objects into configurations and back; ``budgets``
limit what reading a file may cost.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The namespaces of Keras, and the modules of the names in Keras's front page.
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
_MODULES = {
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

__all__ = ["__version__", "version", *_NAMESPACES, *_MODULES]  # noqa: PLE0604


def version() -> str:
    """Return the version of Keras whose names, defaults and formulas these are."""
    return __version__


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return import_module(f"{__name__}.{name}")
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
