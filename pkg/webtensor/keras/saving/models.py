"""Saving and loading models, in the format that a file's name or contents say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json, reading
from webtensor.formats.files import (
    Archive,
    Folder,
    PathLike,
    Source,
    Target,
    label_of,
    read_bytes,
    write_file,
    write_folder,
    write_members,
)
from webtensor.io.handlers import IOHandler
from webtensor.io.routers import get_load_handlers
from webtensor.io.web_models import is_http_scheme
from webtensor.keras.models import Model
from webtensor.keras.registry import custom_object_scope, deserialize_keras_object
from webtensor.keras.saving.checks import refuse_arguments, require_model
from webtensor.keras.saving.hdf5 import SIGNATURE, read_hdf5
from webtensor.keras.saving.keras2_configs import modernized
from webtensor.keras.saving.keras_format import CONFIG, load_archive, members_of
from webtensor.keras.saving.layers_model.storage import (
    is_address,
    is_saved_by_handler,
    load_layers_model,
    save_by_handler,
)
from webtensor.keras.saving.legacy_h5 import LEGACY_ENDINGS, load_legacy_model, write_legacy_model
from webtensor.keras.types import CustomObjects

if TYPE_CHECKING:
    from webtensor.keras.feature_space import FeatureSpace

__all__ = ["load_model", "model_from_json", "save_model"]


def save_model(
    model: Model | FeatureSpace,
    filepath: Target | IOHandler,
    overwrite: bool = True,
    zipped: bool | None = None,
    **kwargs: Any,
) -> None:
    """Save a model: as an archive of Keras 3 (.keras), or as one HDF5 file (.h5), an older format.

    Addresses and handlers of ``webtensor.io`` get the model in the format of TensorFlow.js:
    ``indexeddb://name`` and ``localstorage://name`` are kept by the browser, if it can suspend
    Python (JSPI). Elsewhere ``await save_layers_model_async(model, "indexeddb://name")`` does that.

    Args:
        model: a model, which should be built.
        filepath: a path that ends in ``.keras`` or ``.h5``, or a binary file object for an archive.
            A file appears at the path only when it is complete. Or an address, or a handler.
        overwrite: whether an existing file is replaced.
        zipped: False writes the members of an archive as files in a folder, whose path is
            ``filepath``.
        **kwargs: ``include_optimizer``, whether the optimizer is saved, too: by default True in an
            HDF5 file, and False at an address; an archive always has it. ``save_format``, which
            Keras 2 knew, is ignored, with a warning.

    Raises:
        FileExistsError: the file exists, and ``overwrite`` is False.
        ValueError: the name has another ending, or a part of the model has no configuration.
    """
    include_optimizer = kwargs.pop("include_optimizer", not is_saved_by_handler(filepath))
    if kwargs.pop("save_format", None):
        warn("save_model: save_format is ignored; filepath says the format", stacklevel=2)
    refuse_arguments("save_model", kwargs)
    require_model("save_model", model, "model, filepath")
    if isinstance(filepath, IOHandler) or is_saved_by_handler(filepath):
        if not isinstance(model, Model):
            raise ValueError(f"save_model: only models are saved to {filepath!r}")
        save_by_handler(model, filepath, include_optimizer)
        return
    name = "" if hasattr(filepath, "write") else os.fspath(filepath)
    if zipped is False and (not name or name.endswith((".keras", *LEGACY_ENDINGS))):
        raise ValueError(
            "save_model: with zipped=False, filepath must be a folder, whose name does not end in "
            f"'.keras' or '.h5', but got {filepath!r}"
        )
    if not model.built:
        warn("save_model: the model is not built yet, so it may have no weights", stacklevel=2)
    if not isinstance(filepath, (str, os.PathLike)):
        write_members(filepath, members_of(model))
    elif zipped is False:
        if Path(name).exists() and not overwrite:
            raise FileExistsError(f"{name} exists already; pass overwrite=True to replace it")
        write_folder(name, members_of(model))
    elif name.endswith(".keras"):
        write_file(name, lambda file: write_members(file, members_of(model)), overwrite=overwrite)
    elif name.endswith(LEGACY_ENDINGS) and isinstance(model, Model):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        write_file(
            name,
            lambda file: write_legacy_model(file, model, include_optimizer),
            overwrite=overwrite,
        )
    else:
        raise ValueError(
            f"save_model: filepath must end in '.keras', or in '.h5' for the older format, but got "
            f"{name!r}"
        )


def load_model(
    filepath: Source | IOHandler,
    custom_objects: CustomObjects | None = None,
    compile: bool = True,
    safe_mode: bool = True,
) -> Model:
    """Load a model from a file or a folder.

    The formats are archives of Keras 3 (.keras), HDF5 files of Keras 2 and 3 (.h5), and
    layers-models of TensorFlow.js (``model.json`` with its weights beside it).

    Nothing in a file is executed: a ``Lambda`` layer is refused, and so are classes that are not
    Keras's, not registered, and not in ``custom_objects``.

    Args:
        filepath: a path, bytes, a binary file object, the address of a ``model.json``, or a handler
            of ``webtensor.io``. In a page, addresses need a browser that can suspend Python (JSPI).
        custom_objects: classes and functions by the names that the file has for them.
        compile: whether the model is compiled as the file describes.
        safe_mode: without effect, as code in a file is always refused.

    Raises:
        FileNotFoundError: there is no such HDF5 file.
        ModelFormatError: a part of the file is broken, unknown, or larger than what the file holds.
        ValueError: there is no such file of another format.
    """
    if isinstance(filepath, IOHandler):
        return load_layers_model(filepath, custom_objects, compile=compile)
    label = label_of(filepath)
    path = None
    if isinstance(filepath, (str, os.PathLike)):
        path = Path(filepath)
        if _is_layers_model(filepath, path):
            return load_layers_model(filepath, custom_objects, compile=compile)
    if path is not None and not path.exists() and path.suffix not in LEGACY_ENDINGS:
        raise ValueError(f"load_model: there is no file {label!r}{_advice(label)}")
    with reading(label), custom_object_scope(custom_objects or {}):
        if path is not None and path.is_dir():
            return load_archive(Folder(path), custom_objects, compile)
        if path is not None and path.suffix == ".keras":
            with path.open("rb") as file, Archive(file, label) as archive:
                return load_archive(archive, custom_objects, compile)
    data = read_bytes(filepath)
    with reading(label), custom_object_scope(custom_objects or {}):
        if data[:8] == SIGNATURE:
            budget = Budget(label, len(data))
            return load_legacy_model(read_hdf5(data, label, budget), label, compile, budget)
        if data[:2] == b"PK":
            with Archive(BytesIO(data), label) as archive:
                return load_archive(archive, custom_objects, compile)
        raise ModelFormatError(
            f"load_model: {label} is neither an archive of Keras 3 nor an HDF5 file"
            + ("; for model.json, pass its path" if data[:1] == b"{" else "")
        )


def model_from_json(json_string: str, custom_objects: CustomObjects | None = None) -> Any:
    """Return the model of a JSON text that ``to_json`` returned, without its weights.

    Models of Keras 2 and of TensorFlow.js are read, too, also from the text of a ``model.json``.

    Raises:
        ModelFormatError: the text is not JSON, or has an unknown class in it.
        ValueError: it does not describe a model.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.models.model_from_json(model.to_json()).output_shape
        (None, 2)
    """
    config = parse_json(json_string, "model_from_json: this is no JSON")
    with reading("model_from_json"):
        version = "2"
        for name in ("modelTopology", "model_config", ""):
            if isinstance(config, Mapping):
                version = str(config.get("keras_version", version))
                config = config.get(name, config)
        if isinstance(config, Mapping) and "class_name" in config and "module" not in config:
            config = modernized(config, version)
        model = deserialize_keras_object(config, custom_objects)
    if not isinstance(model, Model):
        raise ValueError(f"model_from_json: the configuration describes no model, but {model!r}")
    return model


def _is_layers_model(filepath: PathLike, path: Path) -> bool:
    """Whether this is a layers-model's folder, its ``model.json``, or its address in a page."""
    if path.suffix == ".json" and path.exists():
        return True
    if path.is_dir():
        return (path / "model.json").exists() and not (path / CONFIG).exists()
    if not is_address(filepath):
        return False
    address = str(filepath)
    return ".json" in path.name or (
        not is_http_scheme(address) and bool(get_load_handlers(address))
    )


def _advice(label: str) -> str:
    """Return how to load a file from the web, as the end of an error."""
    if "://" not in label:
        return ""
    fetch = "pyodide.http.pyfetch" if IN_BROWSER else "keras.utils.get_file"
    return f"; files on the web must be fetched first, as with {fetch}"
