"""Models as one HDF5 file, as Keras 2 wrote them and Keras 3 still does (.h5).

The configuration is the attribute ``model_config``. The weights are in the group ``model_weights``,
which has a group for each layer, whose attribute ``weight_names`` has their order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, NamedTuple
from warnings import warn

from webtensor.dtypes import DType
from webtensor.engine import Tensor, Variable
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json, reading
from webtensor.formats.element_types import Elements
from webtensor.io.stored_tensors import elements_of, tensor_of
from webtensor.keras import layers
from webtensor.keras.layers import Layer
from webtensor.keras.model_budgets import making_model
from webtensor.keras.models import Model
from webtensor.keras.models.carried_masks import carried_masks_left_out
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.saving.checks import check_configuration
from webtensor.keras.saving.compile_configs import assign_optimizer, compile_as, training_config
from webtensor.keras.saving.hdf5 import Group, pieces
from webtensor.keras.saving.keras2_configs import is_old, modernized
from webtensor.keras.saving.keras_format import KERAS_VERSION, MORE_ELEMENTS, size_of
from webtensor.keras.saving.variable_store import OTHER_NAMES
from webtensor.ops import permute_dims, reshape, sum

__all__ = [
    "LEGACY_ENDINGS",
    "Assignment",
    "assign_all",
    "load_legacy_model",
    "load_legacy_weights",
    "write_legacy_model",
]

LEGACY_ENDINGS = (".h5", ".hdf5")
_TOP_LEVEL = "top_level_model_weights"
#: The size of an attribute is limited, so a longer list of names becomes several attributes.
_MAX_ATTRIBUTE_BYTES = 64_512
_BYTES_PER_NAME = 16


class Assignment(NamedTuple):
    """A variable, its new value, and what errors call the owner of the variable."""

    variable: Variable
    value: Tensor
    owner: str


class _LayerWeights(NamedTuple):
    """A layer, or None for the model's own weights; its variables, and their group in the file."""

    name: str
    layer: Layer | None
    variables: list[Variable]
    group: Group


# -- loading -----------------------------------------------------------------------------------


def load_legacy_model(tree: Group, label: str, compile: bool, budget: Budget) -> Model:
    """Return the model in a file.

    Raises:
        ValueError: a part is missing, broken or unknown, or does not fit another.
    """
    text = tree.attributes.get("model_config")
    if not isinstance(text, str):
        raise ModelFormatError(f"{label} has no model_config: it holds weights, and no model")
    weights = tree.group("model_weights")
    if weights is None:
        raise ModelFormatError(f"{label} has no group model_weights")
    where = f"{label}: model_config"
    config = parse_json(text, where, budget)
    version = str(tree.attributes.get("keras_version", "2"))
    with reading(where), making_model(budget, size_of(weights) + MORE_ELEMENTS):
        check_configuration(config)
        if is_old(version):
            config = modernized(config)
        renamed_layers = {
            keras_name: getattr(layers, name) for name, keras_name in OTHER_NAMES.items()
        }
        model: Model = deserialize_keras_object(config, renamed_layers)
        if not hasattr(model, "load_weights"):
            raise ValueError(f"it describes no model, but {type(model).__name__}")
    load_legacy_weights(model, weights, label)
    training = tree.attributes.get("training_config")
    if compile and isinstance(training, str):
        where = f"{label}: training_config"
        with reading(where), making_model(budget, size_of(tree) + MORE_ELEMENTS):
            compile_as(model, parse_json(training, where, budget), is_old(version))
        _load_optimizer(model, tree.group("optimizer_weights"), label)
    return model


def _load_optimizer(model: Model, group: Group | None, label: str) -> None:
    if group is not None:
        values = _values(group, f"{label}: optimizer_weights")
        is_keras2 = any(name.startswith("iteration") for name in _names(group, "weight_names"))
        assign_optimizer(model, values, label, is_keras2)


def load_legacy_weights(
    model: Model,
    group: Group,
    label: str,
    by_name: bool = False,
    skip_mismatch: bool = False,
) -> None:
    """Assign the weights in a file to those of a model.

    Args:
        model: whose layers' weights are assigned to.
        group: has a group of weights for each layer.
        label: what errors call the file.
        by_name: whether layers are found by their names, not by their order.
        skip_mismatch: whether a layer that does not fit stays as it was, with a warning.

    Raises:
        ValueError: the weights do not fit; none was changed.
    """
    layer_weights = _by_name(model, group, label) if by_name else _in_order(model, group, label)
    assignments: list[Assignment] = []
    loaded_layers = []
    for name, layer, variables, weights_group in layer_weights:
        try:
            assignments += _checked_assignments(name, variables, weights_group, label)
            loaded_layers.append(layer)
        except ValueError as error:
            if not skip_mismatch:
                raise
            warn(f"{error}; skipped", stacklevel=3)
    assign_all(assignments)
    for layer in loaded_layers:
        if layer is not None and hasattr(layer, "finalize_state"):
            layer.finalize_state()


def assign_all(assignments: Iterable[Assignment]) -> None:
    """Assign values to variables, after all shapes were checked.

    Raises:
        ValueError: a shape differs; nothing was changed.
    """
    assignments = list(assignments)
    _check_shapes(assignments)
    for variable, value, _ in assignments:
        variable.assign(value)


def _check_shapes(assignments: Iterable[Assignment]) -> None:
    for variable, value, owner in assignments:
        if value.shape != variable.shape:
            raise ValueError(
                f"{owner}: weight {variable.name!r} has shape {variable.shape}, but the file's has "
                f"{value.shape}"
            )


def _assignments(
    variables: Iterable[Variable], values: Iterable[Tensor], owner: str
) -> list[Assignment]:
    return [
        Assignment(variable, _cast(value, variable.dtype), owner)
        for variable, value in zip(variables, values, strict=True)
    ]


def _cast(value: Tensor, dtype: DType) -> Tensor:
    return value if value.dtype is dtype else value.astype(dtype)


def _checked_assignments(
    layer_name: str, variables: Sequence[Variable], group: Group, label: str
) -> list[Assignment]:
    where = f"{label}: {layer_name!r}"
    values = _without_cudnn(variables, _values(group, where))
    if len(values) != len(variables):
        raise ValueError(
            f"{where}: layer {layer_name!r} has {len(variables)} weights, but the file has "
            f"{len(values)}"
        )
    assignments = _assignments(variables, values, where)
    _check_shapes(assignments)
    return assignments


def _without_cudnn(variables: Sequence[Variable], values: list[Tensor]) -> list[Tensor]:
    """Return weights in whose place the weights of CuDNNLSTM and CuDNNGRU are converted.

    Their matrices are transposed, gate by gate, and they have two biases, one after the other, of
    which an LSTM has the sum.
    """
    for index, (variable, bias) in enumerate(zip(variables, values, strict=False)):
        kernels = values[max(index - 2, 0) : index]
        size = variable.shape[-1] if variable.shape else 0
        if bias.shape != (2 * size,) or [kernel.shape[-1:] for kernel in kernels] != [(size,)] * 2:
            continue
        kernel, recurrent_kernel = kernels
        units = recurrent_kernel.shape[0]
        input_size, count = kernel.shape[0], size // units
        gates = permute_dims(reshape(kernel, (input_size, count, units)), (1, 0, 2))
        gates = permute_dims(reshape(gates, (count, units, input_size)), (2, 0, 1))
        values[index - 2] = reshape(gates, (input_size, size))
        gates = permute_dims(reshape(recurrent_kernel, (units, count, units)), (2, 1, 0))
        values[index - 1] = reshape(gates, (units, size))
        biases = reshape(bias, (2, size))
        values[index] = sum(biases, 0) if len(variable.shape) == 1 else biases
    return values


def _values(group: Group, where: str) -> list[Tensor]:
    """Return the arrays that the attribute ``weight_names`` of a group lists."""
    values = []
    for name in _names(group, "weight_names"):
        elements = group.find(name)
        if not isinstance(elements, Elements):
            raise ValueError(f"{where} has no array {name!r}")
        values.append(tensor_of(elements, f"{where}: {name!r}"))
    return values


def _names(group: Group, attribute: str) -> list[str]:
    """Return a list of names that is an attribute of a group, or several attributes."""
    parts = [attribute] if attribute in group.attributes else []
    if not parts:
        while (part := f"{attribute}{len(parts)}") in group.attributes:
            parts.append(part)
    names: list[str] = []
    for part in parts:
        value = group.attributes[part] or ()
        if isinstance(value, int):
            raise ValueError(f"{part} must be a list of names, but is {value}")
        names += map(str, value)
    return names


def _in_order(model: Model, group: Group, label: str) -> Iterator[_LayerWeights]:
    layers_with_weights = [layer for layer in model.layers if layer.weights]
    summaries = _load_summaries(model, group, label)
    names = [name for name in _names(group, "layer_names") if name not in summaries]
    layer_groups = [_layer_group(group, name, label) for name in names]
    groups_with_weights = [inner for inner in layer_groups if _names(inner, "weight_names")]
    if len(layers_with_weights) != len(groups_with_weights):
        raise ValueError(
            f"{label} has weights of {len(groups_with_weights)} layers, but model "
            f"{model.name!r} has {len(layers_with_weights)}"
        )
    for layer, inner in zip(layers_with_weights, groups_with_weights, strict=True):
        yield _LayerWeights(layer.name, layer, _weights(layer), inner)
    yield from _top_level(model, group)


def _load_summaries(model: Model, group: Group, label: str) -> list[str]:
    """Load what Keras 2's Discretization saw in ``adapt``, and return the names of these layers."""
    names = []
    for layer in model.layers:
        if isinstance(layer, layers.Discretization) and layer.num_bins is not None:
            inner = group.group(layer.name)
            values = [] if inner is None else _values(inner, f"{label}: {layer.name!r}")
            if values:
                layer.load_own_variables({"0": values[0]})
                names.append(layer.name)
    return names


def _by_name(model: Model, group: Group, label: str) -> Iterator[_LayerWeights]:
    layer_by_name = {layer.name: layer for layer in model.layers}
    for name in _names(group, "layer_names"):
        if name in layer_by_name:
            layer = layer_by_name[name]
            yield _LayerWeights(name, layer, _weights(layer), _layer_group(group, name, label))
    yield from _top_level(model, group)


def _top_level(model: Model, group: Group) -> Iterator[_LayerWeights]:
    """Yield the weights that are the model's own, not those of a layer."""
    inner = group.group(_TOP_LEVEL)
    if inner is not None:
        yield _LayerWeights(model.name, None, _own_weights(model), inner)


def _layer_group(group: Group, name: str, label: str) -> Group:
    layer_group = group.group(name)
    if layer_group is None:
        raise ValueError(f"{label} has no group {name!r}")
    return layer_group


def _weights(layer: Layer) -> list[Variable]:
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def _own_weights(model: Model) -> list[Variable]:
    return [*model._trainable_variables, *model._non_trainable_variables]


# -- saving ------------------------------------------------------------------------------------


def write_legacy_model(file: IO[bytes], model: Model, include_optimizer: bool) -> None:
    """Write a model, with its optimizer's variables where it has any, as Keras 3 does."""
    tree = Group()
    with carried_masks_left_out():
        config = {"class_name": type(model).__name__, "config": model.get_config()}
    tree.attributes |= {
        "keras_version": KERAS_VERSION,
        "backend": "webtensor",
        "model_config": json.dumps(config),
    }
    weights = tree.make("model_weights")
    weights.attributes |= {"keras_version": KERAS_VERSION, "backend": "webtensor"}
    _put_names(weights, "layer_names", [layer.name for layer in model.layers])
    for layer in model.layers:
        _put_weights(weights.make(layer.name), _weights(layer))
    _put_weights(weights.make(_TOP_LEVEL), _own_weights(model))
    if include_optimizer and model.compiled and model.optimizer is not None:
        tree.attributes["training_config"] = json.dumps(training_config(model))
        _put_weights(tree.make("optimizer_weights"), model.optimizer.variables)
    file.writelines(pieces(tree))


def _put_weights(group: Group, variables: Sequence[Variable]) -> None:
    named: dict[str, Variable] = {}
    for variable in variables:
        name = str(getattr(variable, "path", variable.name))
        while name in named:  # in a loaded layer, both directions have the same paths
            name += "_"
        named[name] = variable
    _put_names(group, "weight_names", [*named])
    for name, variable in named.items():
        group.put(name, elements_of(variable.value))


def _put_names(group: Group, attribute: str, names: list[str]) -> None:
    count = _MAX_ATTRIBUTE_BYTES // _BYTES_PER_NAME
    if len(names) <= count:
        group.attributes[attribute] = names
        return
    for number, start in enumerate(range(0, len(names), count)):
        group.attributes[f"{attribute}{number}"] = names[start : start + count]
