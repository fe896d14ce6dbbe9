"""Small data sets for examples, downloaded from where Keras downloads them; they need NumPy.

Each is a module with ``load_data``, which returns ``(x_train, y_train), (x_test, y_test)``.
``sources`` has their addresses and reads their files, ``safe_pickle`` reads pickled arrays without
executing code, and ``word_indices`` selects words of texts.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

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


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
