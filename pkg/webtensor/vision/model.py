"""What the ready-made models for images share: checking what was loaded, and computing.

A model prepares the image, executes a graph model, and reduces its outputs to one tensor, all on
the device. That tensor is read once, and decoded in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ready_made.model import ReadyMadeModel, listed

__all__ = ["Reduction", "Step", "Steps", "VisionModel", "finish", "finish_async"]

#: From the outputs of the graph model to the tensor that is read.
Reduction: TypeAlias = Callable[[Sequence[Tensor]], Tensor]


class VisionModel(ReadyMadeModel):
    """A graph model for images, with what its outputs mean.

    Args:
        model: the graph model.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: its inputs or outputs are not those of this kind of model.
    """

    def __init__(self, model: GraphModel) -> None:
        super().__init__(model)
        shapes = [value.shape for value in model.inputs]
        if len(shapes) != 1 or shapes[0] is None or len(shapes[0]) != 4:
            raise self._misfit()
        self._input_shape: tuple[int | None, ...] = shapes[0]

    def _square_side(self) -> int:
        """Return the side of the square that the model sees, in pixels; refuse other models."""
        _, height, width, channels = self._input_shape
        if not height or height != width or channels != 3:
            raise self._misfit()
        return height

    def _execute(self, inputs: Tensor, reduce: Reduction) -> Any:
        """Return the elements of the reduced outputs, as nested lists."""
        return reduce(listed(self.model.execute(inputs, self._output_names()))).tolist()

    async def _execute_async(self, inputs: Tensor, reduce: Reduction) -> Any:
        """Do what ``_execute`` does, without blocking the page."""
        outputs = await self.model.execute_async(inputs, self._output_names())
        return await reduce(listed(outputs)).array()

    def _output_names(self) -> list[str]:
        """Return the names of the tensors that the reduction takes."""
        return self.model.output_nodes


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
