"""Saving layers-models in, and loading them from, all places that ``webtensor.io`` has."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeGuard, Unpack

from webtensor import io
from webtensor.engine.jspi import can_suspend
from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.io.folders import files_of_model
from webtensor.io.handlers import LoadOptions, SaveResult, is_handler
from webtensor.io.management import copy_model_async, move_model_async, remove_model_async
from webtensor.io.routers import ModelSource, ModelTarget, has_scheme
from webtensor.io.weights import QuantizationPatterns
from webtensor.keras.models import Model
from webtensor.keras.saving.checks import require_model
from webtensor.keras.saving.layers_model.artifacts import (
    artifacts_of,
    load_weights_of,
    model_of,
)
from webtensor.keras.types import CustomObjects

__all__ = [
    "copy_model_async",
    "is_address",
    "is_saved_by_handler",
    "layers_model_files",
    "list_models_async",
    "load_layers_model",
    "load_layers_model_async",
    "load_layers_model_weights",
    "load_layers_model_weights_async",
    "move_model_async",
    "remove_model_async",
    "save_by_handler",
    "save_layers_model",
    "save_layers_model_async",
]


#: What the addresses of models begin with that only pages have.
_BROWSER_SCHEMES = ("indexeddb://", "localstorage://", "downloads://")


# -- saving ------------------------------------------------------------------------------------


def layers_model_files(
    model: Model,
    include_optimizer: bool = False,
    quantization: QuantizationPatterns | None = None,
    trainable_only: bool = False,
) -> dict[str, bytes]:
    """Return the files of a layers-model by their names: ``model.json``, and weights.

    Args:
        model: a built model.
        include_optimizer: whether the optimizer and its variables are included.
        quantization: as of ``save_layers_model``.
        trainable_only: as of ``save_layers_model``.

    Raises:
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> sorted(keras.saving.layers_model_files(model))
        ['group1-shard1of1.bin', 'model.json']
    """
    require_model("layers_model_files", model, "model")
    return files_of_model(artifacts_of(model, include_optimizer, quantization, trainable_only))


def save_layers_model(
    model: Model,
    path: ModelTarget,
    include_optimizer: bool = False,
    quantization: QuantizationPatterns | None = None,
    trainable_only: bool = False,
) -> None:
    """Save a model for TensorFlow.js: ``model.json`` and files of weights, in a folder.

    The attribute ``model.user_defined_metadata``, if there is one, is saved, too.

    Args:
        model: a built model.
        path: the folder, or the path of ``model.json`` in it; an address or a handler, as of
            ``webtensor.io.save_artifacts``.
        include_optimizer: whether the optimizer and its variables are saved.
        quantization: which weights are stored in fewer bytes: for "float16", "uint8" or "uint16" a
            pattern of names such as ``"*/kernel"``, a list of patterns, or True for those that
            match none.
        trainable_only: whether weights that are not trained are left out; ``strict=False`` loads
            such a file.

    Raises:
        OSError: the place cannot be reached, or has no room.
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.
    """
    require_model("save_layers_model", model, "model, path")
    io.save_artifacts(artifacts_of(model, include_optimizer, quantization, trainable_only), path)


async def save_layers_model_async(
    model: Model,
    path: ModelTarget,
    include_optimizer: bool = False,
    quantization: QuantizationPatterns | None = None,
    trainable_only: bool = False,
) -> None:
    """Save a model for TensorFlow.js in the browser, as ``indexeddb://name``, or in a folder.

    TensorFlow.js can load it from there, and ``load_layers_model_async`` the models that
    TensorFlow.js saved.

    Args:
        model: a built model.
        path: as of ``save_layers_model``.
        include_optimizer: whether the optimizer and its variables are saved.
        quantization: as of ``save_layers_model``.
        trainable_only: as of ``save_layers_model``.

    Raises:
        OSError: the browser does not store, or has no room.
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.
    """
    require_model("save_layers_model_async", model, "model, path")
    await io.save_artifacts_async(
        artifacts_of(model, include_optimizer, quantization, trainable_only), path
    )


def is_saved_by_handler(target: object) -> TypeGuard[str | io.IOHandler]:
    """Whether a handler saves models at a target: it is an address, or a handler."""
    return has_scheme(target) or is_handler(target)


def save_by_handler(
    model: Model, target: str | io.IOHandler, include_optimizer: bool = False
) -> SaveResult:
    """Save a model as ``save_layers_model`` does; errors say how to do it in a page.

    Raises:
        ValueError: this is no page, or the browser cannot suspend Python (JSPI).
    """
    is_stored_by_browser = isinstance(target, str) and target.startswith(_BROWSER_SCHEMES)
    if is_stored_by_browser and not can_suspend():
        why = "this browser cannot suspend Python (JSPI)" if IN_BROWSER else "this is no browser"
        raise ValueError(
            f"save_model: {target!r} cannot be written here, as {why}; in a page, save the model "
            f"with: await keras.saving.save_layers_model_async(model, {target!r})"
        )
    return io.save_artifacts(artifacts_of(model, include_optimizer), target)


async def list_models_async() -> dict[str, dict[str, Any]]:
    """Return what is known of each model that the browser keeps, by its address.

    That is, as in TensorFlow.js, ``dateSaved``, an ISO 8601 date, and the sizes
    ``modelTopologyBytes``, ``weightSpecsBytes`` and ``weightDataBytes``.

    Example:
        In a page::

            await keras.saving.save_layers_model_async(model, "indexeddb://digits")
            list(await keras.saving.list_models_async())  # ["indexeddb://digits"]
    """
    listed = await io.list_models_async()
    return {address: information.to_json() for address, information in listed.items()}


# -- loading -----------------------------------------------------------------------------------


def load_layers_model(
    source: ModelSource,
    custom_objects: CustomObjects | None = None,
    strict: bool = True,
    compile: bool = True,
    **options: Unpack[LoadOptions],
) -> Model:
    """Load a layers-model of TensorFlow.js, or one that its converter made.

    The metadata in the file becomes the attribute ``model.user_defined_metadata``. A model without
    a ``weightsManifest`` has the values that its initializers give.

    Args:
        source: the path of ``model.json`` or of its folder, a list of paths, a mapping of the
            files' names to their bytes, the address of ``model.json``, a handler of
            ``webtensor.io``, or what one loads. In a page, addresses need a browser that can
            suspend Python (JSPI); ``load_layers_model_async`` does not.
        custom_objects: classes and functions by the names that the file has for them.
        strict: whether weights that the model does not have, and missing ones, are an error; else
            the former are left out, and the latter keep their initial values.
        compile: whether the model is compiled as the file describes.
        **options: those of ``webtensor.io.load_artifacts``, such as ``on_progress``, a function
            that is called with the fraction of the weights that were read, from 0 to 1.

    Raises:
        FileNotFoundError: there is no such file.
        ModelFormatError: a part is broken or unknown, or does not fit another; with ``strict`` also
            where there are more or fewer weights than the model has.
        OSError: a server cannot be reached, or has no such file.
        ValueError: it is an address, and the browser cannot suspend Python.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> files = keras.saving.layers_model_files(model)
        >>> keras.saving.load_layers_model(files).output_shape
        (None, 1)
    """
    if is_address(source) and IN_BROWSER and not can_suspend():
        raise ValueError(
            f"load_layers_model: there is no file {source!r} here; load a model from the web "
            f"with: await keras.saving.load_layers_model_async({source!r})"
        )
    artifacts = io.load_artifacts(source, **options)
    return _model_of(artifacts, custom_objects, strict, compile)


async def load_layers_model_async(
    source: ModelSource,
    custom_objects: CustomObjects | None = None,
    strict: bool = True,
    compile: bool = True,
    **options: Unpack[LoadOptions],
) -> Model:
    """Load a layers-model as ``load_layers_model`` does, without blocking the page.

    In a page ``source`` may be an address that is relative to it, ``indexeddb://name``, or
    ``localstorage://name``. Cancelling the task that awaits this aborts downloads.

    Raises:
        OSError: the server cannot be reached, or has no such file.
        ValueError: see ``load_layers_model``.
    """
    artifacts = await io.load_artifacts_async(source, **options)
    return _model_of(artifacts, custom_objects, strict, compile)


def load_layers_model_weights(model: Model, source: ModelSource) -> None:
    """Load the weights of a layers-model into a model whose layers have the same names.

    Its topology is not read, and weights that the model does not have are left out.

    Raises:
        ModelFormatError: a file is broken, or a weight is missing or has another shape.
        OSError: a server cannot be reached, or has no such file.
        ValueError: ``source`` is an address, and the browser cannot suspend Python.
    """
    _load_weights(model, io.load_artifacts(source))


async def load_layers_model_weights_async(model: Model, source: ModelSource) -> None:
    """Load weights as ``load_layers_model_weights`` does, without blocking the page."""
    _load_weights(model, await io.load_artifacts_async(source))


def _load_weights(model: Model, artifacts: ModelArtifacts) -> None:
    budget = _checked_budget(artifacts)
    if artifacts.weight_specs is None:
        raise ModelFormatError(f"{artifacts.label} has no weightsManifest")
    with reading(artifacts.label):
        load_weights_of(artifacts, model, budget)


def _model_of(
    artifacts: ModelArtifacts, custom_objects: CustomObjects | None, strict: bool, compile: bool
) -> Model:
    budget = _checked_budget(artifacts)
    with reading(artifacts.label):
        return model_of(artifacts, custom_objects, strict, compile, budget)


def _checked_budget(artifacts: ModelArtifacts) -> Budget:
    """Return the budget of a layers-model.

    Raises:
        ModelFormatError: it is no layers-model.
    """
    label = artifacts.label
    if artifacts.model_topology is None:
        raise ModelFormatError(f"{label} describes no layers-model")
    if str(artifacts.format).endswith("graph-model"):
        raise ModelFormatError(
            f"{label} is a {artifacts.format!r}, which is no layers-model: it has no layers"
        )
    return artifacts.budget or Budget(label, artifacts.weight_size)


def is_address(source: object) -> bool:
    """Whether this is the address of a model, rather than the path of a file."""
    if not isinstance(source, str):
        return False
    return has_scheme(source) or (IN_BROWSER and not Path(source).exists())
