"""Models: ``function`` is the graph, ``functional`` and ``sequential`` the kinds of models.

``model`` is what they share, and ``training`` how they learn, by ``train_steps`` and what
``compiling`` settles; ``subgraphs`` puts models together from their configurations, ``cloning``
from other models, and ``summary`` describes them.
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
