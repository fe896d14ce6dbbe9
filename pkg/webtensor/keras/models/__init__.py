"""Models: functional, sequential, and subclasses of ``Model``.

``function`` has the graph of operations that a functional model runs, and ``inference`` optimizes
it for ``predict``. ``training`` has ``compile``, ``fit`` and the like: ``compiling`` makes their
losses and metrics, ``batches`` reads data, ``train_steps`` and ``awaitables`` are parts of their
loops. ``subgraphs`` connects the layers of a configuration, ``cloning`` copies models, and
``summary``, ``dot`` and ``svg`` describe them.
"""

from typing import Any

from webtensor.keras.models.cloning import clone_model, model_from_json
from webtensor.keras.models.function import Function
from webtensor.keras.models.functional import Functional
from webtensor.keras.models.model import Model
from webtensor.keras.models.sequential import Sequential

__all__ = [
    "Function",
    "Functional",
    "Model",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_json",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name in ("load_model", "save_model"):
        from webtensor.keras import saving

        return getattr(saving, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
