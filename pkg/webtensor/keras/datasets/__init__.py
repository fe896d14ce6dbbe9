"""Data sets to try things on, fetched from where Keras fetches them; they need NumPy.

Each is a module with ``load_data``, which returns ``(x_train, y_train), (x_test, y_test)``.
``sources`` says where they are and reads them, ``safe_pickle`` reads those that are pickled,
without executing anything, and ``word_indices`` is what texts share.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = [
    "boston_housing",
    "california_housing",
    "cifar10",
    "cifar100",
    "fashion_mnist",
    "imdb",
    "mnist",
    "reuters",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
