"""What the ready-made models share: loading, checking what was loaded, and computing.

A model prepares the image, executes a graph model, and reduces its outputs to one tensor, all on
the device. That tensor is read once, and decoded in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

from webtensor.engine import Tensor
from webtensor.graph import GraphModel, load_graph_model, load_graph_model_async
from webtensor.io.handlers import LoadOptions
from webtensor.io.routers import ModelSource

__all__ = ["Reduction", "Step", "Steps", "VisionModel", "finish", "finish_async"]

#: From the outputs of the graph model to the tensor that is read.
Reduction: TypeAlias = Callable[[Sequence[Tensor]], Tensor]


class VisionModel:
    """A graph model for images, with what its outputs mean.

    Args:
        model: the graph model.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: its inputs or outputs are not those of this kind of model.
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
        shapes = [value.shape for value in model.inputs]
        if len(shapes) != 1 or shapes[0] is None or len(shapes[0]) != 4:
            raise self._misfit()
        self._input_shape: tuple[int | None, ...] = shapes[0]

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
        cls._check(options)
        return cls(load_graph_model(source, **(load_options or {})), **options)

    @classmethod
    async def load_async(
        cls, source: ModelSource, *, load_options: LoadOptions | None = None, **options: Any
    ) -> Self:
        """Do what ``load`` does, without blocking the page."""
        cls._check(options)
        return cls(await load_graph_model_async(source, **(load_options or {})), **options)

    @classmethod
    def _check(cls, options: dict[str, Any]) -> None:
        """Raise TypeError for options that are unknown or missing, before anything is loaded."""
        try:
            signature(cls).bind(None, **options)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}: {error}") from None

    def dispose(self) -> None:
        """Give back the memory of the weights; the model cannot be used any more."""
        self.model.dispose()

    def _square_side(self) -> int:
        """Return the side of the square that the model sees, in pixels; refuse other models."""
        _, height, width, channels = self._input_shape
        if not height or height != width or channels != 3:
            raise self._misfit()
        return height

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

    def _execute(self, inputs: Tensor, reduce: Reduction) -> Any:
        """Return the elements of the reduced outputs, as nested lists."""
        return reduce(_listed(self.model.execute(inputs, self._output_names()))).tolist()

    async def _execute_async(self, inputs: Tensor, reduce: Reduction) -> Any:
        """Do what ``_execute`` does, without blocking the page."""
        outputs = await self.model.execute_async(inputs, self._output_names())
        return await reduce(_listed(outputs)).array()

    def _output_names(self) -> list[str]:
        """Return the names of the tensors that the reduction takes."""
        return self.model.output_nodes


def _listed(outputs: Tensor | list[Tensor]) -> list[Tensor]:
    return [outputs] if isinstance(outputs, Tensor) else outputs


class Step(NamedTuple):
    """An execution of one of the graph models that find something together.

    Attributes:
        model: the model.
        inputs: what its graph model sees.
        reduce: from its outputs to the tensor that is read.
    """

    model: VisionModel
    inputs: Tensor
    reduce: Reduction


Result = TypeVar("Result")

#: Yields steps, and is sent the elements of what each computes, as nested lists.
Steps: TypeAlias = Generator[Step, Any, Result]


def finish(steps: Steps[Result]) -> Result:
    """Execute the steps, and return the result."""
    elements = None
    while True:
        try:
            step = steps.send(elements)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        elements = step.model._execute(step.inputs, step.reduce)


async def finish_async(steps: Steps[Result]) -> Result:
    """Do what ``finish`` does, without blocking the page."""
    elements = None
    while True:
        try:
            step = steps.send(elements)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        elements = await step.model._execute_async(step.inputs, step.reduce)
