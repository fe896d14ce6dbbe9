"""The parts of a model in TensorFlow.js's web format, as plain data.

Handlers (``webtensor.io``) load them and save them; what the topology means, layers or a graph, is
for others to say. ``JSON_NAMES`` has the names that the parts have in ``model.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from webtensor.formats.budgets import Budget
from webtensor.formats.composite_buffers import CompositeArrayBuffer
from webtensor.formats.element_types import Buffer

if TYPE_CHECKING:
    from webtensor.formats.weights_manifest import WeightSpec

__all__ = [
    "JSON_NAMES",
    "ModelArtifacts",
    "ModelArtifactsInfo",
    "WeightData",
    "get_model_artifacts_info_for_json",
    "json_fields",
]

#: The bytes of all weights: one after another, or in pieces that may end within a weight.
WeightData: TypeAlias = Buffer | Sequence[Buffer]

#: The parts that ``model.json`` has beside the weights, by their names in it. TensorFlow.js always
#: writes the first four.
JSON_NAMES = {
    "model_topology": "modelTopology",
    "format": "format",
    "generated_by": "generatedBy",
    "converted_by": "convertedBy",
    "signature": "signature",
    "user_defined_metadata": "userDefinedMetadata",
    "model_initializer": "modelInitializer",
    "initializer_signature": "initializerSignature",
    "training_config": "trainingConfig",
}
_ALWAYS_WRITTEN = 4


@dataclass
class ModelArtifacts:
    """The parts of a model; None stands for what it does not have.

    Attributes:
        model_topology: the layers, or the graph, as values of JSON.
        format: ``"layers-model"`` or ``"graph-model"``.
        generated_by: the library that made the model.
        converted_by: the tool that converted the model.
        signature: the inputs and outputs of a graph.
        user_defined_metadata: what the author of the model added, as values of JSON.
        model_initializer: the graph that initializes tables and other resources.
        initializer_signature: the inputs and outputs of that graph.
        training_config: the arguments of ``compile`` and the optimizer's configuration.
        weight_specs: the name, the shape and the dtype of each weight, as in ``model.json``.
        weight_data: the bytes of the weights, in the same order.
        label: what errors call the model, such as its address.
        budget: limits what reading the model may still cost; None is that of its weights.
        parsed_specs: the list ``weight_specs``, and what its reader has made of it, if it has.

    Example:
        >>> import webtensor as wt
        >>> weight = {"name": "w", "shape": [1], "dtype": "float32"}
        >>> wt.io.ModelArtifacts(weight_specs=[weight], weight_data=bytes(4)).weight_size
        4
    """

    model_topology: Any = None
    format: str | None = None
    generated_by: str | None = None
    converted_by: str | None = None
    signature: Any = None
    user_defined_metadata: Any = None
    model_initializer: Any = None
    initializer_signature: Any = None
    training_config: Any = None
    weight_specs: list[dict[str, Any]] | None = None
    weight_data: WeightData | None = None
    label: str = field(default="the model", compare=False)
    budget: Budget | None = field(default=None, compare=False, repr=False)
    parsed_specs: tuple[object, Sequence[WeightSpec]] | None = field(
        default=None, compare=False, repr=False
    )

    @property
    def weight_size(self) -> int:
        """The number of bytes of the weights."""
        return CompositeArrayBuffer(self.weight_data or b"").byte_length

    @classmethod
    def from_json(
        cls,
        fields: Mapping[str, Any],
        weight_specs: list[dict[str, Any]] | None = None,
        weight_data: WeightData | None = None,
        *,
        label: str = "the model",
        budget: Budget | None = None,
    ) -> ModelArtifacts:
        """Return the artifacts whose parts have TensorFlow.js's names.

        Args:
            fields: the contents of ``model.json``, or TensorFlow.js's artifacts as a mapping.
            weight_specs: the list of weights, by default ``fields["weightSpecs"]``.
            weight_data: the bytes of the weights, by default ``fields["weightData"]``.
            label: what errors call the model.
            budget: limits what reading the model may still cost.
        """
        parts = {name: fields.get(json_name) for name, json_name in JSON_NAMES.items()}
        specs = fields.get("weightSpecs") if weight_specs is None else weight_specs
        data = fields.get("weightData") if weight_data is None else weight_data
        return cls(**parts, weight_specs=specs, weight_data=data, label=label, budget=budget)


@dataclass
class ModelArtifactsInfo:
    """When a model was saved, and the sizes of its parts in bytes."""

    date_saved: datetime
    model_topology_type: str = "JSON"
    model_topology_bytes: int = 0
    weight_specs_bytes: int = 0
    weight_data_bytes: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the values with TensorFlow.js's names; the date is one of ISO 8601."""
        date = self.date_saved.astimezone(UTC).isoformat(timespec="milliseconds")
        return {
            "dateSaved": date.replace("+00:00", "Z"),
            "modelTopologyType": self.model_topology_type,
            "modelTopologyBytes": self.model_topology_bytes,
            "weightSpecsBytes": self.weight_specs_bytes,
            "weightDataBytes": self.weight_data_bytes,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> ModelArtifactsInfo:
        """Return what a mapping of TensorFlow.js says; what it lacks is 0.

        Raises:
            ValueError: the date is none.
        """
        return cls(
            datetime.fromisoformat(str(fields.get("dateSaved"))),
            str(fields.get("modelTopologyType", "JSON")),
            int(fields.get("modelTopologyBytes") or 0),
            int(fields.get("weightSpecsBytes") or 0),
            int(fields.get("weightDataBytes") or 0),
        )


def json_fields(artifacts: ModelArtifacts) -> dict[str, Any]:
    """Return the parts with their names in ``model.json``, without the weights."""
    return {
        json_name: getattr(artifacts, name)
        for number, (name, json_name) in enumerate(JSON_NAMES.items())
        if number < _ALWAYS_WRITTEN or getattr(artifacts, name) is not None
    }


def get_model_artifacts_info_for_json(model_artifacts: ModelArtifacts) -> ModelArtifactsInfo:
    """Return the sizes of a model's parts, as JSON and as bytes, with the present time.

    Example:
        >>> import webtensor as wt
        >>> artifacts = wt.io.ModelArtifacts(model_topology={}, weight_data=bytes(4))
        >>> wt.io.get_model_artifacts_info_for_json(artifacts).weight_data_bytes
        4
    """
    return ModelArtifactsInfo(
        datetime.now(UTC),
        model_topology_bytes=_json_size(model_artifacts.model_topology),
        weight_specs_bytes=_json_size(model_artifacts.weight_specs),
        weight_data_bytes=model_artifacts.weight_size,
    )


def _json_size(value: object) -> int:
    """Return the number of bytes that a value takes in JSON without spaces; 0 for None."""
    if value is None:
        return 0
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
