"""TFLiteModel: a graph model with what TensorFlow Lite keeps between predictions."""

from __future__ import annotations

from webtensor.formats import tflite as format_
from webtensor.formats.budgets import Budget, reading
from webtensor.graph.model import GraphModel
from webtensor.graph.nodes import Reference
from webtensor.graph.operations import Row
from webtensor.tflite import detection, landmarks, lite_operations, quantization
from webtensor.tflite.lowering import lowered, signature_of
from webtensor.tflite.recurrent import recurrent_rows
from webtensor.tflite.states import States, state_rows

__all__ = ["TFLiteModel", "rows_of"]

_ROWS: dict[str, Row] = {
    **detection.ROWS,
    **lite_operations.ROWS,
    **landmarks.ROWS,
    **quantization.ROWS,
}


def rows_of(states: States) -> dict[str, Row]:
    """Return the rows of operations that other graph models do not have."""
    return {**_ROWS, **recurrent_rows(states), **state_rows(states)}


class TFLiteModel(GraphModel):
    """A model of TensorFlow Lite, which ``load_tflite`` loads.

    Inputs and outputs that are quantized are the integers of the file, as tensors of dtype int32;
    tensors inside, which ``execute`` computes by their names in the file, are the numbers that
    their integers stand for.
    Recurrent operators and variables keep their values from one prediction to the next;
    ``reset_states`` forgets them. ``metadata`` has the bytes that the file has beside the model, by
    their names.

    Args:
        model: the model.
        label: what errors call it.
        signature: the key of the signature to compute; the first one of the main subgraph by
            default.
        budget: limits what constants may cost.

    Raises:
        ModelFormatError: the model has operators that are unknown, or is malformed.
        ValueError: it has no such signature.
    """

    def __init__(
        self,
        model: format_.Model,
        label: str,
        *,
        signature: str | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._states = States()
        self._format = model
        budget = budget or Budget(label)
        chosen = signature_of(model, signature, label)
        with reading(label):
            lowering = lowered(model, chosen, label, budget)
            self._initializer, self._names = lowering.initializer, lowering.names
            super().__init__(
                lowering.graph,
                lowering.weights,
                label,
                signature=lowering.signature,
                initializer=lowering.initializer,
                metadata=dict(model.metadata),
                budget=budget,
                rows=rows_of(self._states),
            )

    @property
    def signatures(self) -> list[str]:
        """The keys of the model's signatures, of which ``load_tflite`` takes one."""
        return [signature.key for signature in self._format.signatures]

    def _reference(self, name: str, side: str) -> Reference:
        """Return the tensor of this name in the signature, in the file or in the graph."""
        is_described = name in getattr(self.model_signature, side, {})
        return super()._reference(name if is_described else self._names.get(name, name), side)

    def reset_states(self) -> None:
        """Set the states of recurrent operators to zeros, and variables to their first values."""
        self._states.clear()
        if self._initializer is not None:
            self._initialize(self._initializer, None)

    def dispose(self) -> None:
        """Give back the memory of weights and states; the model cannot be used any more."""
        super().dispose()
        self._states.dispose()
