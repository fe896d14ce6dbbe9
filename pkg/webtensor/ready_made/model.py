"""Models that wrap a graph model: loading it, and checking what was loaded."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, ClassVar, Self

from webtensor.engine import Tensor
from webtensor.graph import GraphModel, load_graph_model, load_graph_model_async
from webtensor.io.handlers import LoadOptions
from webtensor.io.routers import ModelSource

__all__ = ["ReadyMadeModel", "check_options", "listed"]


class ReadyMadeModel:
    """A graph model, with what its inputs and outputs mean.

    Args:
        model: the graph model.

    Raises:
        TypeError: ``model`` is no graph model.
    """

    #: What errors say that a graph model must have.
    _expected: ClassVar[str]

    def __init__(self, model: GraphModel) -> None:
        name = type(self).__name__
        if not isinstance(model, GraphModel):
            raise TypeError(
                f"{name}: model must be a GraphModel, but got {type(model).__name__}; "
                f"{name}.load loads one from its files"
            )
        #: The graph model.
        self.model = model

    @classmethod
    def load(
        cls, source: ModelSource, *, load_options: LoadOptions | None = None, **options: Any
    ) -> Self:
        """Load the graph model, and make a model of this class with it.

        Args:
            source: the path of ``model.json`` or of its folder, its address, the files' contents by
                their names, or a handler, as of ``wt.load_graph_model``.
            load_options: options of ``wt.load_graph_model``, such as ``{"on_progress": print}``.
            **options: arguments of this class.

        Raises:
            ModelFormatError, OSError: as of ``wt.load_graph_model``.
            TypeError: an option is unknown, or one without a default is missing.
            ValueError: it is another model.
        """
        check_options(cls, options)
        return cls(load_graph_model(source, **(load_options or {})), **options)

    @classmethod
    async def load_async(
        cls, source: ModelSource, *, load_options: LoadOptions | None = None, **options: Any
    ) -> Self:
        """Do what ``load`` does, without blocking the page."""
        check_options(cls, options)
        return cls(await load_graph_model_async(source, **(load_options or {})), **options)

    def dispose(self) -> None:
        """Give back the memory of the weights; the model cannot be used any more."""
        self.model.dispose()

    def _misfit(self, computed: Sequence[Tensor] = ()) -> ValueError:
        """Return the error for a graph model of another kind, whose outputs may be computed."""
        model = self.model
        shapes = [value.shape for value in computed or model.outputs]
        inputs = ", ".join(f"{value.name} {value.shape}" for value in model.inputs)
        outputs = ", ".join(
            f"{name} {shape}" for name, shape in zip(model.output_nodes, shapes, strict=True)
        )
        return ValueError(
            f"{type(self).__name__}: expected a graph model with {self._expected}, but this one "
            f"has inputs {inputs} and outputs {outputs}"
        )


def check_options(model_class: type, options: dict[str, Any]) -> None:
    """Check the arguments of a class of models but the first, before that is loaded.

    Raises:
        TypeError: an option is unknown, or one without a default is missing.
    """
    try:
        signature(model_class).bind(None, **options)
    except TypeError as error:
        raise TypeError(f"{model_class.__name__}: {error}") from None


def listed(outputs: Tensor | list[Tensor]) -> list[Tensor]:
    """Return what a graph model computed as a list."""
    return [outputs] if isinstance(outputs, Tensor) else outputs
