"""A layers-model as it is passed on: configuration, weights, training, and what users noted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from webtensor.keras.budgets import Budget, reading
from webtensor.keras.models import Model
from webtensor.keras.registry import custom_object_scope, deserialize_keras_object
from webtensor.keras.saving.compile_configs import compile_as
from webtensor.keras.saving.files import check_configuration
from webtensor.keras.saving.keras2_configs import is_old, modernized
from webtensor.keras.saving.keras_format import MORE_ELEMENTS
from webtensor.keras.saving.layers_model.manifest import Weight, decoded, encoded
from webtensor.keras.saving.layers_model.topology import topology_of
from webtensor.keras.saving.layers_model.training import (
    GROUP,
    load_optimizer,
    optimizer_weights,
    training_config_of,
)
from webtensor.keras.saving.legacy_h5 import Row, assign_all

__all__ = ["Artifacts", "artifacts_of", "model_of"]

#: Weights that Keras 2 and TensorFlow.js call differently, by the kind of layer.
_RENAMED = {"DepthwiseConv2D": {"kernel": "depthwise_kernel"}}
#: What TensorFlow.js takes such files for.
_KERAS_VERSION = "tfjs-layers 4.22.0"


class Artifacts(NamedTuple):
    """What a layers-model consists of; ``groups`` are lists of weights with their bytes."""

    topology: Any
    groups: list[tuple[Any, Any]]
    training: Any = None
    metadata: Any = None


def artifacts_of(model: Any, include_optimizer: bool) -> Artifacts:
    """Return a model's parts.

    Raises:
        ValueError: TensorFlow.js has no such layer or argument.
    """
    if not model.built:
        raise ValueError(f"model {model.name!r} has no weights yet, as it is not built")
    topology = {
        **topology_of(model),
        "keras_version": _KERAS_VERSION,
        "backend": "tensor_flow.js",
    }
    names = dict(_named(model))
    by_identity = {id(variable): name for name, variable in names.items()}
    ordered = [*model.trainable_weights, *model.non_trainable_weights]
    for one in ordered:
        if id(one) not in by_identity:
            raise ValueError(f"TensorFlow.js has no weights of a model's own, such as {one.path!r}")
    weights = [Weight(by_identity[id(one)], one.value) for one in ordered]
    training = None
    if include_optimizer:
        if not model.compiled:
            raise ValueError("include_optimizer: the model is not compiled")
        training = training_config_of(model)
        if model.optimizer.built:
            named = [(by_identity[id(one)], one) for one in model.trainable_weights]
            weights += optimizer_weights(model.optimizer, named)
    specs, pieces = encoded(weights)
    metadata = getattr(model, "user_defined_metadata", None)
    return Artifacts(topology, [(specs, pieces)], training, metadata)


def _named(model: Any) -> Iterator[tuple[str, Any]]:
    """Weights by the names of TensorFlow.js: the layer's, and the weight's.

    Raises:
        ValueError: two layers have the same name.
    """
    taken: dict[str, int] = {}
    for layer in _leaves(model):
        for name, variable in _names_within(layer):
            if taken.setdefault(name, id(variable)) != id(variable):
                raise ValueError(f"two weights would be called {name!r}; rename one of the layers")
            yield name, variable


def _names_within(layer: Any) -> Iterator[tuple[str, Any]]:
    cells = getattr(getattr(layer, "cell", None), "cells", None)
    if cells is not None:
        for number, cell in enumerate(cells):
            for variable in cell.weights:
                yield f"{layer.name}/RNNCell_{number}/{variable.name}", variable
        return
    renamed = _RENAMED.get(type(layer).__name__, {})
    for variable in layer.weights:
        parts = variable.path.split("/")
        begin = parts.index(layer.name) if layer.name in parts else 0
        yield "/".join((*parts[begin:-1], renamed.get(parts[-1], parts[-1]))), variable


def _leaves(model: Any) -> Iterator[Any]:
    for layer in model.layers:
        if isinstance(layer, Model):
            yield from _leaves(layer)
        else:
            yield layer


# -- loading -----------------------------------------------------------------------------------


def model_of(
    parts: Artifacts,
    label: str,
    custom_objects: Mapping[str, Any] | None,
    strict: bool,
    compile: bool,
    budget: Budget,
) -> Any:
    """Return the model that parts make.

    Raises:
        ValueError: a part is broken or unknown, or does not fit another; with ``strict`` also where
            there are more weights than the model has.
    """
    where = f"{label}: modelTopology"
    held = parts.topology
    described = held.get("model_config", held) if isinstance(held, Mapping) else held
    weights = [one for specs, data in parts.groups for one in decoded(specs, data, label, budget)]
    elements = sum(one.value.size for one in weights)
    with (
        reading(where),
        custom_object_scope(custom_objects or {}),
        budget.making_model(elements + MORE_ELEMENTS),
    ):
        check_configuration(described)
        if is_old(str(held.get("keras_version", "2"))):
            described = modernized(described)
        model = deserialize_keras_object(described)
        if not isinstance(model, Model):
            raise ValueError(f"it describes no model, but {type(model).__name__}")
        if not model.built:
            raise ValueError("it does not say what shape the inputs have")
    names = _assign(model, weights, label, strict)
    training = parts.training or held.get("training_config")
    if compile and training:
        with (
            reading(f"{label}: trainingConfig"),
            budget.making_model(elements + MORE_ELEMENTS),
        ):
            compile_as(model, training)
            state = [one for one in weights if one.group == GROUP]
            if state:
                model.optimizer.build(model.trainable_variables)
                named = [(names[id(one)], one) for one in model.trainable_variables]
                load_optimizer(model.optimizer, state, named, label)
    if parts.metadata is not None:
        object.__setattr__(model, "user_defined_metadata", parts.metadata)
    return model


def _assign(model: Any, weights: list[Weight], label: str, strict: bool) -> dict[int, str]:
    """Give all variables their values; returns the names that they have in the file."""
    values = {one.name: one.value for one in weights if one.group != GROUP}
    if len(values) != sum(one.group != GROUP for one in weights):
        raise ValueError(f"{label}: two weights have the same name")
    names: dict[int, str] = {}
    usual = {id(variable): name for name, variable in _named(model)}
    rows = []
    for variable in model.weights:
        known = (usual.get(id(variable), ""), *_candidates(variable.path))
        name = next((one for one in known if one in values), None)
        if name is None:
            raise ValueError(f"{label} has no weight {(known[0] or variable.path)!r}")
        value = values.pop(name)
        names[id(variable)] = name
        if value.dtype is not variable.dtype:
            value = value.astype(variable.dtype)
        rows.append(Row(variable, value, label))
    if values and strict:
        raise ValueError(f"{label} has weights that the model has not: {sorted(values)[:5]}")
    assign_all(rows)
    return names


def _candidates(path: str) -> Iterator[str]:
    """Names that a weight may have in a file: without outer models, and without its inner cell."""
    parts = path.split("/")
    for begin in range(len(parts)):
        tail = parts[begin:]
        yield "/".join(tail)
        if len(tail) > 2:
            yield "/".join((*tail[:-2], tail[-1]))
