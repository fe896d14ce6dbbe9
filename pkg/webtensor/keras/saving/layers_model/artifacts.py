"""The parts of a layers-model: its topology, weights, training configuration and metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webtensor import ops
from webtensor.engine import Variable
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.io.stored_tensors import elements_of
from webtensor.io.weights import QuantizationPatterns, Weight, check_patterns, encoded, weights_of
from webtensor.keras.layers import Bidirectional, Layer, TimeDistributed
from webtensor.keras.model_budgets import making_model
from webtensor.keras.models import Model
from webtensor.keras.registry import custom_object_scope, deserialize_keras_object
from webtensor.keras.saving.checks import check_configuration
from webtensor.keras.saving.compile_configs import compile_as
from webtensor.keras.saving.hdf5 import Group
from webtensor.keras.saving.keras2_configs import is_old, modernized
from webtensor.keras.saving.keras_format import MORE_ELEMENTS
from webtensor.keras.saving.layers_model.topology import topology_of
from webtensor.keras.saving.layers_model.training import (
    GROUP,
    load_optimizer,
    optimizer_weights,
    training_config_of,
)
from webtensor.keras.saving.legacy_h5 import Assignment, assign_all
from webtensor.keras.saving.variable_store import load_state
from webtensor.keras.types import CustomObjects

__all__ = ["artifacts_of", "load_weights_of", "model_of"]

_FORMAT = "layers-model"

#: Weights that have another name in Keras 2 and TensorFlow.js, by the class of the layer.
_RENAMED = {"DepthwiseConv2D": {"kernel": "depthwise_kernel"}}
#: How far elements of weights may be from satisfying their constraint.
_CONSTRAINT_TOLERANCE = 1e-4
#: The largest number of elements of weights that a file without weights may describe.
_INITIAL_ELEMENTS = 1 << 22
#: The version that TensorFlow.js writes into such files.
_KERAS_VERSION = "tfjs-layers 4.22.0"


def artifacts_of(
    model: Model,
    include_optimizer: bool,
    quantization: QuantizationPatterns | None = None,
    trainable_only: bool = False,
) -> ModelArtifacts:
    """Return the parts of a model.

    Raises:
        ValueError: TensorFlow.js has no such layer or argument, or a pattern matches no weight.
    """
    if not model.built:
        raise ValueError(f"model {model.name!r} has no weights yet, as it is not built")
    topology = topology_of(model)
    names = _unique_names(model)
    weights = list(_weights(model, names, trainable_only))
    training = None
    if include_optimizer:
        if not model.compiled:
            raise ValueError("include_optimizer: the model is not compiled")
        training = training_config_of(model)
        if model.optimizer.built:
            trainable = [(names[id(variable)], variable) for variable in model.trainable_weights]
            weights += optimizer_weights(model.optimizer, trainable)
    check_patterns(weights, quantization)
    specs, pieces = encoded(weights, quantization)
    return ModelArtifacts(
        {**topology, "keras_version": _KERAS_VERSION, "backend": "tensor_flow.js"},
        format=_FORMAT,
        generated_by="webtensor",
        user_defined_metadata=getattr(model, "user_defined_metadata", None),
        training_config=training,
        weight_specs=specs,
        weight_data=pieces,
        label=f"model {model.name!r}",
    )


def _weights(model: Model, names: Mapping[int, str], trainable_only: bool) -> Iterator[Weight]:
    """Yield the weights of a model that are saved, the trainable ones first.

    Raises:
        ValueError: a weight has no name, or does not satisfy its constraint.
    """
    others = () if trainable_only else model.non_trainable_weights
    for variable in (*model.trainable_weights, *others):
        if id(variable) not in names:
            raise ValueError(
                f"TensorFlow.js has no weights of a model's own, such as {variable.path!r}"
            )
        _check_constraint(variable)
        yield Weight(names[id(variable)], variable.value)


def _unique_names(model: Model) -> dict[int, str]:
    """Return the names of weights in TensorFlow.js by the ``id`` of their variables.

    Raises:
        ValueError: a weight has two names.
    """
    names: dict[int, str] = {}
    for name, variable in _named_weights(model):
        if id(variable) in names:
            raise ValueError(
                f"the layer of {name!r} is in two models, and TensorFlow.js would make two layers "
                "of it"
            )
        names[id(variable)] = name
    return names


def _check_constraint(variable: Variable) -> None:
    """Refuse a weight that its constraint changes, as TensorFlow.js does when it loads a model."""
    constraint = getattr(variable, "constraint", None)
    if constraint is None:
        return
    value = variable.value
    difference = float(ops.max(ops.abs(constraint(value) - value)))
    if difference > _CONSTRAINT_TOLERANCE:
        raise ValueError(
            f"weight {variable.path!r} does not satisfy its constraint, which TensorFlow.js "
            "applies when it loads a model: train the model, or assign variable.constraint(value)"
        )


def _named_weights(model: Model) -> Iterator[tuple[str, Variable]]:
    """Yield weights with their names in TensorFlow.js: the layer's, and the weight's.

    Raises:
        ValueError: two layers have the same name.
    """
    identities: dict[str, int] = {}
    for name, variable in _weights_of(model, ""):
        if identities.setdefault(name, id(variable)) != id(variable):
            raise ValueError(f"two weights would be called {name!r}; rename one of the layers")
        yield name, variable


def _weights_of(layer: Layer, name: str) -> Iterator[tuple[str, Variable]]:
    """Yield the weights of a layer that is called ``name``; layers in models have their own names.

    TensorFlow.js calls a wrapped layer as its wrapper.
    """
    if isinstance(layer, Model):
        for inner in layer.layers:
            yield from _weights_of(inner, inner.name)
    elif isinstance(layer, TimeDistributed):
        yield from _weights_of(layer.layer, name)
    elif isinstance(layer, Bidirectional):
        inner_name = layer.forward_layer.name.removeprefix("forward_")
        yield from _weights_of(layer.forward_layer, f"{name}/forward_{inner_name}")
        yield from _weights_of(layer.backward_layer, f"{name}/backward_{inner_name}")
    elif (cells := getattr(getattr(layer, "cell", None), "cells", None)) is not None:
        for number, cell in enumerate(cells):
            for variable in cell.weights:
                yield f"{name}/RNNCell_{number}/{variable.name}", variable
    else:
        renamed = _RENAMED.get(type(layer).__name__, {})
        for variable in layer.weights:
            parts = variable.path.split("/")
            start = parts.index(layer.name) + 1 if layer.name in parts else 0
            weight_name = renamed.get(parts[-1], parts[-1])
            yield "/".join((name, *parts[start:-1], weight_name)), variable


# -- loading -----------------------------------------------------------------------------------


def model_of(
    artifacts: ModelArtifacts,
    custom_objects: CustomObjects | None,
    strict: bool,
    compile: bool,
    budget: Budget,
) -> Model:
    """Return the model that its parts make.

    Args:
        artifacts: the parts, among them the topology; weights that it lacks are initial ones.
        custom_objects: classes and functions by the names that the topology has for them.
        strict: whether weights that the model does not have, and missing ones, are an error.
        compile: whether the model is compiled as the file describes.
        budget: limits what reading the file may cost.

    Raises:
        ValueError: a part is broken or unknown, or does not fit another.
    """
    label, topology = artifacts.label, artifacts.model_topology
    where = f"{label}: modelTopology"
    has_weights = artifacts.weight_specs is not None
    weights = weights_of(artifacts, budget) if has_weights else []
    elements = sum(weight.value.size for weight in weights) if has_weights else _INITIAL_ELEMENTS
    with (
        reading(where),
        custom_object_scope(custom_objects or {}),
        making_model(budget, elements + MORE_ELEMENTS),
    ):
        model = _described_model(topology)
    names: dict[int, str] = {}
    tree = _archived_weights(weights)
    if tree is None and has_weights:
        names = _assign(model, weights, label, refuses_more=strict, refuses_missing=strict)
    elif tree is not None:
        load_state(model, tree, label)
    training = artifacts.training_config or topology.get("training_config")
    if compile and training:
        with (
            reading(f"{label}: trainingConfig"),
            making_model(budget, elements + MORE_ELEMENTS),
        ):
            compile_as(model, training, is_old(_version(topology)))
            state = [weight for weight in weights if weight.group == GROUP]
            if state:
                variables = model.trainable_variables
                model.optimizer.build(variables)
                trainable = [(names[id(variable)], variable) for variable in variables]
                load_optimizer(model.optimizer, state, trainable, label)
    if artifacts.user_defined_metadata is not None:
        object.__setattr__(model, "user_defined_metadata", artifacts.user_defined_metadata)
    return model


def _version(topology: Mapping[str, Any]) -> str:
    return str(topology.get("keras_version", "2"))


def _described_model(topology: Any) -> Model:
    """Return the model of a topology, with initial weights.

    Raises:
        ValueError: the topology is broken, or describes something else.
    """
    config = topology.get("model_config", topology) if isinstance(topology, Mapping) else topology
    check_configuration(config)
    if not isinstance(topology, Mapping):
        raise ValueError(f"it must be a mapping, but is {topology!r:.200}")
    version = _version(topology)
    if is_old(version):
        config = modernized(config, version)
    elif isinstance(config, Mapping):
        config = {**config, "compile_config": None}
    model = deserialize_keras_object(config)
    if not isinstance(model, Model):
        raise ValueError(f"it describes no model, but {type(model).__name__}")
    if not model.built:
        raise ValueError("it does not say what shape the inputs have")
    return model


def _archived_weights(weights: Iterable[Weight]) -> Group | None:
    """Return weights that have the names of those in a ``.keras`` file as a tree, else None.

    TensorFlow.js's converter keeps these names, such as ``layers/dense/vars/0``.
    """
    tree = Group()
    for weight in weights:
        path, _, number = f"/{weight.name}".rpartition("/vars/")
        if not number.isdecimal():
            return None
        # Keras 2.13 called the list of layers otherwise.
        path = path.replace("_layer_checkpoint_dependencies", "layers")
        tree.put(f"{path}/vars/{number}"[1:], elements_of(weight.value))
    return tree if tree.members else None


def load_weights_of(artifacts: ModelArtifacts, model: Model, budget: Budget) -> None:
    """Assign the weights in a model's parts to those of another model with the same names.

    Names that layers got by themselves, such as ``conv2d_7``, count from any number: where weights
    are missing under their own names, they are matched in the order of these numbers.

    Raises:
        ValueError: a weight of the model is missing, or has another shape.
    """
    weights = [weight for weight in weights_of(artifacts, budget) if weight.group != GROUP]
    renumbered = _renumbered(weight.name for weight in weights)
    names = [name for name, _ in _named_weights(model)]
    if not {*names} <= {*renumbered}:
        own_names = {number: name for name, number in _renumbered(names).items()}
        weights = [
            weight._replace(name=own_names.get(renumbered[weight.name], weight.name))
            for weight in weights
        ]
    _assign(model, weights, artifacts.label, refuses_more=False, refuses_missing=True)
    for layer in model._flatten_layers():
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()


def _renumbered(names: Iterable[str]) -> dict[str, str]:
    """Return for each weight its name with numbers of layers that count from 0, without gaps."""
    parted = {name: name.rpartition("/") for name in names}
    layers: dict[str, list[tuple[int, str]]] = {}
    for layer in dict.fromkeys(layer for layer, _, _ in parted.values()):
        prefix, _, number = layer.rpartition("_")
        prefix, number = (prefix, number) if prefix and number.isdecimal() else (layer, "0")
        layers.setdefault(prefix, []).append((int(number), layer))
    ranked = {
        layer: f"{prefix} {rank}"
        for prefix, members in layers.items()
        for rank, (_, layer) in enumerate(sorted(members))
    }
    return {name: f"{ranked[layer]}/{weight}" for name, (layer, _, weight) in parted.items()}


def _assign(
    model: Model, weights: list[Weight], label: str, refuses_more: bool, refuses_missing: bool
) -> dict[int, str]:
    """Assign weights to variables, and return the variables' names in the file by their ``id``.

    Raises:
        ValueError: a weight has another shape than its variable; there are more weights than
            variables, or fewer, and that is refused.
    """
    model_weights = [weight for weight in weights if weight.group != GROUP]
    values = {weight.name: weight.value for weight in model_weights}
    if len(values) != len(model_weights):
        raise ValueError(f"{label}: two weights have the same name")
    names: dict[int, str] = {}
    usual_names = {id(variable): name for name, variable in _named_weights(model)}
    names_by_alias = _names_by_alias(values)
    assignments = []
    for variable in model.weights:
        usual_name = usual_names.get(id(variable), variable.path)
        candidates = (*_candidate_names(usual_name), *_candidate_names(variable.path))
        name = next((candidate for candidate in candidates if candidate in values), "")
        if not name:
            aliases = (path.replace("/", "_") for path in candidates if "/" in path)
            name = next(filter(None, map(names_by_alias.get, aliases)), usual_name)
        names[id(variable)] = name
        value = values.pop(name, None)
        if value is None:
            if refuses_missing:
                raise ValueError(f"{label} has no weight {name!r}")
            continue
        if value.dtype is not variable.dtype:
            value = value.astype(variable.dtype)
        assignments.append(Assignment(variable, value, label))
    if values and refuses_more:
        raise ValueError(f"{label} has weights that the model has not: {sorted(values)[:5]}")
    assign_all(assignments)
    return names


def _names_by_alias(names: Iterable[str]) -> dict[str, str]:
    """Return the names of weights in a file by what they may be called here, without slashes.

    Names of layers may have slashes in Keras 2, and TensorFlow numbers cells: the weights of the
    second LSTM are called ``lstm_1/lstm_cell_1/kernel``. An alias of several names stands for none.
    """
    names_by_alias: dict[str, str] = {}
    for name in names:
        parts = name.split("/")
        for alias in {"_".join(parts), "_".join((*parts[:-2], parts[-1]))}:
            names_by_alias[alias] = "" if alias in names_by_alias else name
    return names_by_alias


def _candidate_names(path: str) -> Iterator[str]:
    """Yield names that a weight may have in a file: without outer models, and without its cell."""
    parts = path.split("/")
    for start in range(len(parts)):
        tail = parts[start:]
        yield "/".join(tail)
        if len(tail) > 2:
            yield "/".join((*tail[:-2], tail[-1]))
