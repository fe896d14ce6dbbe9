"""Classifiers that are a graph model or a model of Keras, and what their features are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, Self, TypeAlias

from webtensor import io
from webtensor.engine import Tensor
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph import GraphModel, load_graph_model
from webtensor.io.handlers import LoadOptions
from webtensor.io.routers import ModelSource
from webtensor.keras.layers import Layer
from webtensor.keras.models import Model
from webtensor.keras.saving import load_layers_model, load_model
from webtensor.ops import mean, squeeze
from webtensor.ready_made.files import read_file_async
from webtensor.ready_made.model import check_options, listed
from webtensor.ready_made.transfer import TransferClassifier

__all__ = ["AnyModel", "Classifier"]

AnyModel: TypeAlias = GraphModel | Model

_KERAS_FILES = (".keras", ".h5", ".hdf5")


class Classifier(ABC):
    """A model with one input of rank 4, and a probability for each class.

    Args:
        model: a graph model, or a model of Keras's layers.
        features: the name of the node or of the layer whose activation ``embed`` returns.

    Raises:
        TypeError: ``model`` is something else.
        ValueError: it has other inputs or outputs, or no such node or layer.
    """

    #: What errors say that a model must have.
    _expected: ClassVar[str]
    #: The argument with the names of the classes.
    _names_argument: ClassVar[str]
    #: Nodes of graph models that are the features, by default.
    _feature_nodes: ClassVar[Sequence[str]] = ()

    def __init__(self, model: AnyModel, features: str | None) -> None:
        self._name = type(self).__name__
        if not isinstance(model, (GraphModel, Model)):
            raise TypeError(
                f"{self._name}: model must be a GraphModel or a Model of Keras, but got "
                f"{type(model).__name__}; {self._name}.load loads one from its files"
            )
        #: The graph model, or the model of Keras.
        self.model = model
        inputs = [value.shape for value in self._inputs()]
        if len(inputs) != 1 or len(self._outputs()) != 1 or len(inputs[0] or ()) != 4:
            raise self._misfit()
        self._input_shape: tuple[int | None, ...] = tuple(inputs[0])
        self._features = self._checked_features(features)
        #: Parts of a model of Keras, from its input to the output and to the features.
        self._parts: dict[str | None, Model] = {}

    @classmethod
    def load(
        cls, source: ModelSource, *, load_options: LoadOptions | None = None, **options: Any
    ) -> Self:
        """Load the graph model or the layers-model, and make a model of this class with it.

        Args:
            source: the path of ``model.json`` or of its folder, its address, the files' contents by
                their names, or a handler, as of ``wt.load_graph_model``; or the path of a
                ``.keras`` or ``.h5`` file.
            load_options: options of ``wt.load_graph_model``, such as ``{"on_progress": print}``.
            **options: arguments of this class.

        Raises:
            ModelFormatError, OSError: as of ``wt.load_graph_model``.
            TypeError: an option is unknown, or one without a default is missing.
            ValueError: it is another model.
        """
        check_options(cls, options)
        if _is_keras_file(source):
            return cls(load_model(str(source), compile=False), **options)
        return cls(_model_of(io.load_artifacts(source, **(load_options or {}))), **options)

    @classmethod
    async def load_async(
        cls, source: ModelSource, *, load_options: LoadOptions | None = None, **options: Any
    ) -> Self:
        """Do what ``load`` does, without blocking the page."""
        check_options(cls, options)
        names = options.get(cls._names_argument)
        if isinstance(names, str):
            options[cls._names_argument] = await read_file_async(names)
        if _is_keras_file(source):
            return cls(load_model(await read_file_async(str(source)), compile=False), **options)
        artifacts = await io.load_artifacts_async(source, **(load_options or {}))
        return cls(_model_of(artifacts), **options)

    def dispose(self) -> None:
        """Give back the memory of a graph model's weights; the model cannot be used any more.

        A model of Keras gives its memory back with the last reference to it.
        """
        if isinstance(self.model, GraphModel):
            self.model.dispose()

    def create_transfer(self, class_names: Sequence[str], **options: Any) -> TransferClassifier:
        """Return a classifier of other classes, which learns them from the features of examples.

        Args:
            class_names: the classes, at least two.
            **options: those of ``wt.vision.TransferClassifier``, such as ``learning_rate``.

        Raises:
            ValueError: as of ``wt.vision.TransferClassifier``; this model has no features.
        """
        self._require_features("create_transfer")
        return TransferClassifier(_Embeddings(self), class_names, **options)

    @abstractmethod
    def embed(self, example: Any) -> Tensor:
        """Return the features of an example, on the device."""

    @abstractmethod
    async def embed_async(self, example: Any) -> Tensor:
        """Return what ``embed`` does, without blocking the page."""

    # -- computing -----------------------------------------------------------------------------

    def _probabilities(self, batch: Tensor) -> Tensor:
        """Return the output for one example, (classes,)."""
        return squeeze(self._computed(batch, None), 0)

    async def _probabilities_async(self, batch: Tensor) -> Tensor:
        """Return what ``_probabilities`` does, without blocking the page."""
        return squeeze(await self._computed_async(batch, None), 0)

    def _embedding(self, function: str, batch: Tensor) -> Tensor:
        """Return the features of one example, (size,)."""
        return _pooled(self._computed(batch, self._require_features(function)))

    async def _embedding_async(self, function: str, batch: Tensor) -> Tensor:
        """Return what ``_embedding`` does, without blocking the page."""
        return _pooled(await self._computed_async(batch, self._require_features(function)))

    def _computed(self, batch: Tensor, name: str | None) -> Tensor:
        """Return the activation of a node or a layer; None is the output."""
        if isinstance(self.model, GraphModel):
            (activation,) = listed(self.model.execute(batch, name))
        else:
            activation = self._part(self.model, name)(batch)
        return activation

    async def _computed_async(self, batch: Tensor, name: str | None) -> Tensor:
        """Return what ``_computed`` does, without blocking the page."""
        if not isinstance(self.model, GraphModel):
            return self._computed(batch, name)
        (activation,) = listed(await self.model.execute_async(batch, name))
        return activation

    def _inputs(self) -> list[Any]:
        """Return the inputs, with names and shapes; none of a model that is not built."""
        return list(getattr(self.model, "inputs", ()))

    def _outputs(self) -> list[Any]:
        """Return the outputs as ``_inputs`` returns the inputs."""
        return list(getattr(self.model, "outputs", ()))

    def _part(self, model: Model, name: str | None) -> Model:
        """Return the part of a model of Keras that computes a layer."""
        if name not in self._parts:
            output = self._outputs()[0] if name is None else model.get_layer(name).output
            self._parts[name] = Model(self._inputs()[0], output)
        return self._parts[name]

    # -- checking ------------------------------------------------------------------------------

    def _checked_features(self, features: str | None) -> str | None:
        """Return the name of the node or layer of the features; None if there is none."""
        if isinstance(self.model, GraphModel):
            kind, names = "node", self.model.node_names
            defaults = [name for name in self._feature_nodes if name in names]
        else:
            kind, names = "layer", [layer.name for layer in self.model.layers]
            defaults = [
                layer.name for layer in self.model.layers[-2::-1] if self._is_feature_layer(layer)
            ]
        if features is None:
            return defaults[0] if defaults else None
        if features.partition(":")[0] not in names:
            close = get_close_matches(features, names, 1)
            raise ValueError(
                f"{self._name}: there is no {kind} {features!r}"
                + (f"; did you mean {close[0]!r}?" if close else "")
            )
        return features

    @classmethod
    @abstractmethod
    def _is_feature_layer(cls, layer: Layer) -> bool:
        """Whether a layer computes features; the last such layer does by default."""

    def _require_features(self, function: str) -> str:
        if self._features is None:
            raise ValueError(
                f"{function}: pass the name of the node or layer with the features to "
                f"{self._name} as features"
            )
        return self._features

    def _misfit(self) -> ValueError:
        shapes = [
            ", ".join(f"{value.name} {value.shape}" for value in side)
            for side in (self._inputs(), self._outputs())
        ]
        return ValueError(
            f"{self._name}: expected a model with {self._expected}, but this one has inputs "
            f"{shapes[0]} and outputs {shapes[1]}"
        )

    def _check_class_count(self, counts: Sequence[int]) -> int | None:
        """Return the number of classes that the model has; None if it does not say.

        Raises:
            ValueError: it says another number than these.
        """
        shape = self._outputs()[0].shape
        if shape is None:
            return None
        if len(shape) != 2 or (shape[1] is not None and counts and shape[1] not in counts):
            hint = f"; {self._names_argument} has {counts[0]}" if counts else ""
            raise ValueError(f"{self._misfit()}{hint}")
        count: int | None = shape[1]
        return count


class _Embeddings:
    """The features of a classifier, as what classifiers on top of it learn from."""

    def __init__(self, model: Classifier) -> None:
        self._model = model

    def extract(self, example: Any) -> Tensor:
        return self._model.embed(example)

    async def extract_async(self, example: Any) -> Tensor:
        return await self._model.embed_async(example)


def _pooled(activation: Tensor) -> Tensor:
    """Return the features (size,): the mean over height and width of maps."""
    is_map = len(activation.shape) == 4
    return squeeze(mean(activation, (1, 2)) if is_map else activation, 0)


def _is_keras_file(source: ModelSource) -> bool:
    is_path = isinstance(source, str) or hasattr(source, "__fspath__")
    return is_path and str(source).lower().endswith(_KERAS_FILES)


def _model_of(artifacts: ModelArtifacts) -> AnyModel:
    topology = artifacts.model_topology
    is_graph = artifacts.format == "graph-model" or (
        artifacts.format is None and isinstance(topology, dict) and "node" in topology
    )
    handler = io.from_memory(artifacts)
    return load_graph_model(handler) if is_graph else load_layers_model(handler, compile=False)
