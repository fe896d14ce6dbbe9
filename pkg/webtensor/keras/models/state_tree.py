"""The state of a model as a tree of dictionaries, by the paths of its variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from webtensor.engine import TensorLike, Variable
from webtensor.keras.array_results import as_array

if TYPE_CHECKING:
    from webtensor.keras.models.model import Model

__all__ = ["StateTree", "set_state_tree", "state_tree_of"]

#: Values, or further trees, by the parts of their variables' paths.
StateTree: TypeAlias = dict[str, Any]

_FORMATS = ("backend_tensor", "numpy_array")


def _variables_by_kind(model: Model) -> dict[str, list[Variable]]:
    optimizer = model.optimizer
    return {
        "trainable_variables": model.trainable_variables,
        "non_trainable_variables": model.non_trainable_variables,
        "optimizer_variables": [] if optimizer is None else optimizer.variables,
        "metrics_variables": model.metrics_variables,
    }


def _path_of(variable: Variable) -> str:
    return getattr(variable, "path", variable.name)


def state_tree_of(model: Model, value_format: str) -> StateTree:
    """Return the values of all variables of a model.

    Raises:
        ValueError: two variables have the same path, or the format is unknown.
    """
    if value_format not in _FORMATS:
        raise ValueError(f"value_format must be one of {_FORMATS}, but is {value_format!r}")
    tree: StateTree = {}
    for kind, variables in _variables_by_kind(model).items():
        tree[kind] = {}
        for variable in variables:
            path = _path_of(variable)
            *folders, name = path.split("/")
            branch = tree[kind]
            for folder in folders:
                branch = branch.setdefault(folder, {})
            if name in branch:
                raise ValueError(f"get_state_tree: two variables have the path {path!r}")
            value = variable.value
            branch[name] = value if value_format == "backend_tensor" else as_array(value)
    return tree


def set_state_tree(model: Model, tree: Mapping[str, StateTree]) -> None:
    """Assign the values in a tree to variables of a model; other variables stay as they are.

    Raises:
        ValueError: the tree has an unknown kind of variables, or an unknown path.
    """
    variables_by_kind = _variables_by_kind(model)
    for kind, branch in tree.items():
        if kind not in variables_by_kind:
            raise ValueError(f"set_state_tree: {kind!r} is none of {sorted(variables_by_kind)}")
        variables = {_path_of(variable): variable for variable in variables_by_kind[kind]}
        for path, value in _leaves(branch):
            if path not in variables:
                raise ValueError(f"set_state_tree: there is no variable {path!r} in {kind}")
            variables[path].assign(value)


def _leaves(tree: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, TensorLike]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}/")
        else:
            yield prefix + name, value
