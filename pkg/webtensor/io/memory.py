"""Models in memory: handlers of artifacts and of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webtensor.formats.model_artifacts import ModelArtifacts, WeightData
from webtensor.io.handlers import CustomHandler, IOHandler

__all__ = ["from_memory", "from_memory_sync", "with_save_handler", "with_save_handler_sync"]


class _MemoryHandler(IOHandler):
    label = "the model in memory"

    def __init__(self, artifacts: ModelArtifacts) -> None:
        self._artifacts = artifacts

    def load(self) -> ModelArtifacts:
        return self._artifacts


class _Saver:
    label = "the save handler"

    def __init__(self, save: Callable[[ModelArtifacts], Any]) -> None:
        self.save = save


def from_memory(
    model_artifacts: ModelArtifacts | Mapping[str, Any],
    weight_specs: list[dict[str, Any]] | None = None,
    weight_data: WeightData | None = None,
    training_config: Any = None,
) -> IOHandler:
    """Return a handler that loads a model from memory.

    Args:
        model_artifacts: the model, as artifacts or as a mapping with TensorFlow.js's names
            (``modelTopology`` …); or its topology, if other arguments are given.
        weight_specs: the name, the shape and the dtype of each weight.
        weight_data: the bytes of the weights, in the same order.
        training_config: the arguments of ``compile``, with TensorFlow.js's names.

    Example:
        >>> import webtensor as wt
        >>> handler = wt.io.from_memory({"modelTopology": {}, "format": "layers-model"})
        >>> handler.load().format
        'layers-model'
    """
    if isinstance(model_artifacts, ModelArtifacts):
        return _MemoryHandler(model_artifacts)
    is_whole = {"modelTopology", "weightSpecs"} & {*model_artifacts} and weight_specs is None
    if is_whole:
        artifacts = ModelArtifacts.from_json(model_artifacts, label=_MemoryHandler.label)
    else:
        artifacts = ModelArtifacts(
            model_artifacts,
            weight_specs=weight_specs,
            weight_data=weight_data,
            training_config=training_config,
            label=_MemoryHandler.label,
        )
    return _MemoryHandler(artifacts)


def with_save_handler(save_handler: Callable[[ModelArtifacts], Any]) -> IOHandler:
    """Return a handler that hands models to a function, which may be a coroutine function.

    Args:
        save_handler: called with the artifacts; what it returns, if it is a ``SaveResult``, is that
            of ``save``.

    Example:
        >>> import webtensor as wt
        >>> saved = []
        >>> handler = wt.io.with_save_handler(saved.append)
        >>> result = handler.save(wt.io.ModelArtifacts(format="layers-model"))
        >>> saved[0].format
        'layers-model'
    """
    return CustomHandler(_Saver(save_handler))


#: Handlers load and save with and without awaiting, so TensorFlow.js's two names stand for one.
from_memory_sync = from_memory
with_save_handler_sync = with_save_handler
