"""Keras models whose variables are in safetensors, with the model's configuration beside them.

``config.json`` is what ``model.to_json()`` writes, and what a ``.keras`` archive has under this
name. The tensors have the variables' paths as names, as of
``save_file({v.path: v.numpy() for v in model.variables}, "model.safetensors")``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from webtensor import keras
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Elements
from webtensor.formats.files import label_of, path_beside
from webtensor.formats.safetensors import read_safetensors
from webtensor.io.stored_tensors import tensor_of
from webtensor.keras.layers import Layer
from webtensor.keras.models import Model

__all__ = ["is_safetensors_model", "read_safetensors_model"]

_CONFIG, _WEIGHTS = "config.json", "model.safetensors"
_SUFFIX = ".safetensors"


def _weights_of(path: Path) -> Path:
    return path / _WEIGHTS if path.is_dir() else path


def is_safetensors_model(path: Path) -> bool:
    """Whether this is a file of safetensors or a folder with one, with a configuration."""
    file = _weights_of(path)
    return file.suffix == _SUFFIX and file.is_file() and file.with_name(_CONFIG).is_file()


def read_safetensors_model(path: Path) -> Model:
    """Return the model of a configuration, with the values of its variables.

    Args:
        path: the file of safetensors, or the folder with ``model.safetensors``.

    Raises:
        ModelFormatError: a file is broken or missing, or a variable has no value or one of another
            shape.
    """
    file = _weights_of(path)
    label = label_of(file)
    data = file.read_bytes()
    config = path_beside(file, _CONFIG).read_text("utf-8")
    budget = Budget(label, len(data) + len(config))
    tensors = read_safetensors(data, label, budget).tensors
    with reading(f"{label}: {_CONFIG}"):
        model = keras.models.model_from_json(config)
    if not isinstance(model, Model):
        raise ModelFormatError(f"{label}: {_CONFIG} describes no model")
    with reading(label):
        _assign(model, tensors, label)
    return model


def _assign(model: Model, tensors: Mapping[str, Elements], label: str) -> None:
    layers = dict(_layers(model, ()))
    remaining = dict(tensors)
    for variable in model.weights:
        # Paths begin with the names of some layers around: that depends on when they were built.
        names = [*layers.get(id(variable), ()), variable.name]
        paths = ["/".join(names[start:]) for start in range(len(names) - 1)]
        name = next((path for path in [*paths, variable.path] if path in remaining), None)
        if name is None:
            raise ModelFormatError(f"{label} has no tensor {variable.path!r:.200}")
        elements = remaining.pop(name)
        if elements.shape != variable.shape:
            raise ModelFormatError(
                f"{label}: tensor {name!r:.200} has shape {elements.shape}, but the variable "
                f"{variable.shape}"
            )
        variable.assign(tensor_of(elements, f"{label}: tensor {name!r:.200}"))


def _layers(layer: Layer, around: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the identities of variables and the names of the layers around, the innermost last."""
    names = (*around, layer.name)
    yield from ((id(variable), names) for variable in layer.weights)
    for inner in layer._flatten_layers(include_self=False, recursive=False):
        yield from _layers(inner, names)
