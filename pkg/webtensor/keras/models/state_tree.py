"""The state of a model as a tree of dictionaries, by the paths of its variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webtensor.keras.utils.labels import as_array

__all__ = ["state_tree_of", "take_state_tree"]

_FORMATS = ("backend_tensor", "numpy_array")


def _kinds(model: Any) -> dict[str, list[Any]]:
    """The variables of a model, by what they are of."""
    optimizer = model.optimizer
    return {
        "trainable_variables": model.trainable_variables,
        "non_trainable_variables": model.non_trainable_variables,
        "optimizer_variables": [] if optimizer is None else list(optimizer.variables),
        "metrics_variables": model.metrics_variables,
    }


def state_tree_of(model: Any, value_format: str) -> dict[str, Any]:
    """Return the values of all variables of a model.

    Raises:
        ValueError: two have the same path, or the format is unknown.
    """
    if value_format not in _FORMATS:
        raise ValueError(f"value_format must be one of {_FORMATS}, but is {value_format!r}")
    found: dict[str, Any] = {}
    for kind, variables in _kinds(model).items():
        found[kind] = {}
        for one in variables:
            *folders, name = one.path.split("/")
            place = found[kind]
            for folder in folders:
                place = place.setdefault(folder, {})
            if name in place:
                raise ValueError(f"get_state_tree: two variables have the path {one.path!r}")
            place[name] = one.value if value_format == "backend_tensor" else as_array(one.value)
    return found


def take_state_tree(model: Any, tree: Mapping[str, Any]) -> None:
    """Give the variables of a model the values in a tree; others stay as they are.

    Raises:
        ValueError: the tree names a kind or a path that there is not.
    """
    kinds = _kinds(model)
    for kind, part in tree.items():
        if kind not in kinds:
            raise ValueError(f"set_state_tree: {kind!r} is none of {sorted(kinds)}")
        known = {one.path: one for one in kinds[kind]}
        for path, value in _leaves(part):
            if path not in known:
                raise ValueError(f"set_state_tree: there is no variable {path!r} in {kind}")
            known[path].assign(value)


def _leaves(tree: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    for name, one in tree.items():
        if isinstance(one, Mapping):
            yield from _leaves(one, f"{start}{name}/")
        else:
            yield start + name, one
