"""Weights for the networks: files, layers-models of TensorFlow.js, and Keras's own for ImageNet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeGuard
from urllib.parse import urlsplit

from webtensor.engine.jspi import can_suspend
from webtensor.environment import IN_BROWSER
from webtensor.formats.files import PathLike, Source
from webtensor.keras.models import Model
from webtensor.keras.saving.layers_model.storage import (
    load_layers_model_weights,
    load_layers_model_weights_async,
)
from webtensor.keras.saving.weight_files import load_weights
from webtensor.keras.utils.downloads import get_file, get_file_async

__all__ = ["Download", "Weights", "check_weights", "load", "load_async"]

#: What the argument ``weights`` may be.
Weights: TypeAlias = Source | Mapping[str, Source] | list[PathLike] | tuple[PathLike, ...] | None
_CONTENTS = (bytes, bytearray, memoryview, Mapping, list, tuple)
_CHOICES = (
    "None, 'imagenet', the path of a file or folder, the address of a model.json, or the files of "
    "a layers-model"
)


class Download(NamedTuple):
    """A file on the web: its name in the cache, its address, and its hash."""

    name: str
    origin: str
    file_hash: str | None


def check_weights(title: str, weights: Weights) -> None:
    """Check the argument ``weights`` of a constructor.

    Raises:
        ValueError: it is none of what it may be, or there is no such file.
    """
    if weights is None or isinstance(weights, _CONTENTS) or hasattr(weights, "read"):
        return
    if not isinstance(weights, (str, os.PathLike)):
        raise ValueError(f"{title}: weights must be {_CHOICES}, but got {weights!r}")
    if _is_address(weights):
        if Path(urlsplit(str(weights)).path).suffix in (".h5", ".keras", ".npz"):
            raise ValueError(
                f"{title}: weights is the address of a file, {weights!r}, which must be fetched "
                "first, as with keras.utils.get_file; pass its path"
            )
    elif weights != "imagenet" and not Path(weights).exists():
        raise ValueError(
            f"{title}: weights must be {_CHOICES}, but there is no file {os.fspath(weights)!r}"
        )


def load(title: str, model: Model, weights: Weights, download: Callable[[], Download]) -> None:
    """Load the weights that the argument of a constructor stands for.

    Raises:
        OSError: they cannot be downloaded.
        RuntimeError: the browser cannot suspend Python.
        ValueError: they do not fit the model.
    """
    if weights is None:
        return
    if isinstance(weights, str) and weights == "imagenet":
        name, origin, file_hash = download()
        with _downloading(title, origin):
            weights = get_file(name, origin, cache_subdir="models", file_hash=file_hash)
    if IN_BROWSER and not can_suspend() and _is_address(weights):
        raise _waiting_error(title, weights)
    if isinstance(weights, (Mapping, list, tuple)) or (
        isinstance(weights, (str, os.PathLike)) and _is_layers_model(weights)
    ):
        load_layers_model_weights(model, weights)
    else:
        load_weights(model, weights)


async def load_async(
    title: str, model: Model, weights: Weights, download: Callable[[], Download]
) -> None:
    """Load weights as ``load`` does, in any browser.

    Raises:
        OSError: they cannot be downloaded.
        ValueError: they do not fit the model.
    """
    if isinstance(weights, str) and weights == "imagenet":
        name, origin, file_hash = download()
        with _downloading(title, origin):
            weights = await get_file_async(name, origin, cache_subdir="models", file_hash=file_hash)
    if _is_address(weights):
        await load_layers_model_weights_async(model, weights)
    else:
        load(title, model, weights, download)


@contextmanager
def _downloading(title: str, origin: str) -> Iterator[None]:
    """Say in errors of a download what can be done."""
    try:
        yield
    except RuntimeError as error:
        raise _waiting_error(title, "imagenet") from error
    except OSError as error:
        must = ", which must let pages of other origins fetch it (CORS)" if IN_BROWSER else ""
        raise OSError(
            f"{title}: the weights of ImageNet cannot be fetched from {origin}{must}: {error}. "
            "Pass weights=None, or the path of a file of weights, or a layers-model (model.json)"
        ) from error


def _waiting_error(title: str, weights: str) -> RuntimeError:
    return RuntimeError(
        f"{title}: this browser cannot wait for weights={weights!r} here; write: await "
        f"keras.applications.build_async(keras.applications.{title}, weights={weights!r})"
    )


def _is_address(weights: Weights) -> TypeGuard[str]:
    """Whether weights are an address: a URL, or in a page any ``model.json`` that is no file."""
    if not isinstance(weights, str) or Path(weights).exists():
        return False
    is_url = weights.startswith(("http://", "https://"))
    return is_url or (IN_BROWSER and ("://" in weights or weights.endswith(".json")))


def _is_layers_model(weights: PathLike) -> bool:
    """Whether this is the address, the folder or the ``model.json`` of a layers-model."""
    return _is_address(weights) or Path(weights).is_dir() or Path(weights).suffix == ".json"
