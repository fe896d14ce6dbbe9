"""Models as one HDF5 file, as Keras 2 wrote them and Keras 3 still does (.h5).

The configuration is an attribute, ``model_config``; the weights are in ``model_weights``, a group
per layer, in the order that its attribute ``weight_names`` says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple
from warnings import warn

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.keras import layers
from webtensor.keras.budgets import Budget, parse_json, reading
from webtensor.keras.masks import carried_masks_left_out
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.saving.compile_configs import compile_as, training_config
from webtensor.keras.saving.element_types import Elements, elements_of, tensor_of
from webtensor.keras.saving.files import check_configuration
from webtensor.keras.saving.hdf5 import Group, pieces
from webtensor.keras.saving.keras2_configs import is_old, modernized
from webtensor.keras.saving.keras_format import KERAS_VERSION, MORE_ELEMENTS, size_of
from webtensor.keras.saving.variable_store import OTHER_NAMES

__all__ = ["assign_all", "load_legacy_model", "load_legacy_weights", "write_legacy_model"]

_TOP_LEVEL = "top_level_model_weights"
#: Lists of names longer than this are parted, as an attribute has a largest size.
_LONGEST_ATTRIBUTE = 64_512
_BYTES_PER_TEXT = 16


class Row(NamedTuple):
    """A variable, its new value, and whose it is."""

    variable: Any
    value: Tensor
    owner: str


# -- loading -----------------------------------------------------------------------------------


def load_legacy_model(tree: Group, label: str, compile: bool, budget: Budget) -> Any:
    """Return the model in a file.

    Raises:
        ValueError: a part is missing, broken or unknown, or does not fit another.
    """
    config = tree.attributes.get("model_config")
    if not isinstance(config, str):
        raise ModelFormatError(f"{label} has no model_config: it holds weights, and no model")
    weights = tree.group("model_weights")
    if weights is None:
        raise ModelFormatError(f"{label} has no group model_weights")
    where = f"{label}: model_config"
    described = parse_json(config, where, budget)
    version = str(tree.attributes.get("keras_version", "2"))
    with reading(where), budget.making_model(size_of(weights) + MORE_ELEMENTS):
        check_configuration(described)
        if is_old(version):
            described = modernized(described)
        known = {theirs: getattr(layers, ours) for ours, theirs in OTHER_NAMES.items()}
        model = deserialize_keras_object(described, known)
        if not hasattr(model, "load_weights"):
            raise ValueError(f"it describes no model, but {type(model).__name__}")
    load_legacy_weights(model, weights, label)
    training = tree.attributes.get("training_config")
    if compile and isinstance(training, str):
        where = f"{label}: training_config"
        with reading(where), budget.making_model(size_of(tree) + MORE_ELEMENTS):
            compile_as(model, parse_json(training, where, budget))
        _load_optimizer(model, tree.group("optimizer_weights"), label)
    return model


def _load_optimizer(model: Any, group: Group | None, label: str) -> None:
    """Give the optimizer its state where that fits; older optimizers had other variables."""
    if group is None:
        return
    model.optimizer.build(model.trainable_variables)
    values = [value for _, value in _values(group, f"{label}: optimizer_weights")]
    variables = model.optimizer.variables
    if [one.shape for one in values] == [one.shape for one in variables]:
        assign_all(
            [
                Row(one, _cast(value, one.dtype), "the optimizer")
                for one, value in zip(variables, values, strict=True)
            ]
        )
    else:
        warn(
            f"{label}: the optimizer's state is of another kind of optimizer, so it begins anew",
            stacklevel=4,
        )


def load_legacy_weights(
    model: Any,
    group: Group,
    label: str,
    by_name: bool = False,
    skip_mismatch: bool = False,
) -> None:
    """Give a model's layers the weights in a file: in their order, or ``by_name``.

    Raises:
        ValueError: they do not fit; none was changed.
    """
    pairs = _by_name(model, group, label) if by_name else _in_order(model, group, label)
    rows: list[Row] = []
    finished = []
    for name, layer, variables, inner in pairs:
        try:
            rows += _rows(name, variables, inner, f"{label}: {name!r}")
            finished.append(layer)
        except ValueError as error:
            if not skip_mismatch:
                raise
            warn(f"{error}; skipped", stacklevel=3)
    assign_all(rows)
    for layer in finished:
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()


def assign_all(rows: Iterable[Row]) -> None:
    """Give variables their values, after all were checked.

    Raises:
        ValueError: a shape differs; nothing was changed.
    """
    rows = list(rows)
    for variable, value, owner in rows:
        if value.shape != variable.shape:
            raise ValueError(
                f"{owner}: weight {variable.name!r} has shape {variable.shape}, but the file's has "
                f"{value.shape}"
            )
    for variable, value, _ in rows:
        variable.assign(value)


def _cast(value: Tensor, dtype: Any) -> Tensor:
    return value if value.dtype is dtype else value.astype(dtype)


def _rows(name: str, variables: list[Any], group: Group, where: str) -> list[Row]:
    values = [value for _, value in _values(group, where)]
    if len(values) != len(variables):
        raise ValueError(
            f"{where}: layer {name!r} has {len(variables)} weights, but the file has {len(values)}"
        )
    rows = [
        Row(one, _cast(value, one.dtype), where)
        for one, value in zip(variables, values, strict=True)
    ]
    for variable, value, _ in rows:
        if value.shape != variable.shape:
            raise ValueError(
                f"{where}: weight {variable.name!r} has shape {variable.shape}, but the file's has "
                f"{value.shape}"
            )
    return rows


def _values(group: Group, where: str) -> Iterator[tuple[str, Tensor]]:
    for name in _names(group, "weight_names"):
        found = group.find(name)
        if not isinstance(found, Elements):
            raise ValueError(f"{where} has no array {name!r}")
        yield name, tensor_of(found, f"{where}: {name!r}")


def _names(group: Group, attribute: str) -> list[str]:
    """A list of names, which may be parted."""
    parts = [attribute] if attribute in group.attributes else []
    if not parts:
        while (part := f"{attribute}{len(parts)}") in group.attributes:
            parts.append(part)
    return [str(name) for part in parts for name in group.attributes[part] or ()]


_Pairs = Iterator[tuple[str, Any, list[Any], Group]]


def _in_order(model: Any, group: Group, label: str) -> _Pairs:
    own = [one for one in model.layers if one.weights]
    groups = [(name, _layer_group(group, name, label)) for name in _names(group, "layer_names")]
    held = [(name, one) for name, one in groups if _names(one, "weight_names")]
    if len(own) != len(held):
        raise ValueError(
            f"{label} has weights of {len(held)} layers, but model {model.name!r} has {len(own)}"
        )
    for layer, (_, inner) in zip(own, held, strict=True):
        yield layer.name, layer, _weights(layer), inner
    yield from _top_level(model, group)


def _by_name(model: Any, group: Group, label: str) -> _Pairs:
    known = {one.name: one for one in model.layers}
    for name in _names(group, "layer_names"):
        if name in known:
            layer = known[name]
            yield name, layer, _weights(layer), _layer_group(group, name, label)
    yield from _top_level(model, group)


def _top_level(model: Any, group: Group) -> _Pairs:
    inner = group.group(_TOP_LEVEL)
    if inner is not None:
        yield model.name, None, _own_weights(model), inner


def _layer_group(group: Group, name: str, label: str) -> Group:
    found = group.group(name)
    if found is None:
        raise ValueError(f"{label} has no group {name!r}")
    return found


def _weights(layer: Any) -> list[Any]:
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def _own_weights(model: Any) -> list[Any]:
    return [*model._trainable_variables, *model._non_trainable_variables]


# -- saving ------------------------------------------------------------------------------------


def write_legacy_model(file: IO[bytes], model: Any, include_optimizer: bool) -> None:
    """Write a model as Keras 3 writes such files."""
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
    _put_names(weights, "layer_names", [one.name for one in model.layers])
    for layer in model.layers:
        _put_weights(weights.make(layer.name), _weights(layer))
    _put_weights(weights.make(_TOP_LEVEL), _own_weights(model))
    if include_optimizer and model.compiled and model.optimizer is not None:
        tree.attributes["training_config"] = json.dumps(training_config(model))
        _put_weights(tree.make("optimizer_weights"), model.optimizer.variables)
    file.writelines(pieces(tree))


def _put_weights(group: Group, variables: list[Any]) -> None:
    names = [str(getattr(one, "path", one.name)) for one in variables]
    _put_names(group, "weight_names", names)
    for name, variable in zip(names, variables, strict=True):
        group.put(name, elements_of(variable.value))


def _put_names(group: Group, attribute: str, names: list[str]) -> None:
    most = _LONGEST_ATTRIBUTE // _BYTES_PER_TEXT
    if len(names) <= most:
        group.attributes[attribute] = names
        return
    for number, begin in enumerate(range(0, len(names), most)):
        group.attributes[f"{attribute}{number}"] = names[begin : begin + most]
