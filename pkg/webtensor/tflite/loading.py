"""Loading models of TensorFlow Lite from bytes, files and addresses."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from webtensor.environment import IN_BROWSER
from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import Buffer
from webtensor.formats.tflite import read_tflite
from webtensor.io.handlers import without_awaiting
from webtensor.io.routers import has_scheme
from webtensor.io.web_models import fetch_files
from webtensor.tflite.model import TFLiteModel

__all__ = ["load_tflite", "load_tflite_async"]

_Source: TypeAlias = "str | PathLike[str] | Buffer"
_NAME = "model.tflite"


def load_tflite(source: _Source, *, signature: str | None = None) -> TFLiteModel:
    """Load a model of TensorFlow Lite.

    Args:
        source: the path of a ``.tflite`` file, its address, or its bytes. In a page, addresses need
            a browser that can suspend Python (JSPI); ``load_tflite_async`` does not.
        signature: the key of the signature to compute, for models that have several.

    Raises:
        ModelFormatError: it is no such model, or has operators that are unknown; all of them are
            named.
        OSError: the file cannot be read or fetched.
        ValueError: the model has no such signature.

    Example:
        >>> import webtensor as wt
        >>> wt.load_tflite(b"something else")
        Traceback (most recent call last):
        webtensor.errors.ModelFormatError: model.tflite is no file of the format TFL3
    """
    if _is_local(source):
        return _model_of(*_read(source), signature)
    address = fspath(source)  # type: ignore[arg-type]
    data = without_awaiting(lambda: _fetched(address), "load_tflite", "load_tflite_async")
    return _model_of(data, _file_name(address), signature)


async def load_tflite_async(source: _Source, *, signature: str | None = None) -> TFLiteModel:
    """Load a model of TensorFlow Lite as ``load_tflite`` does, without blocking the page.

    Args:
        source: as of ``load_tflite``; in a page, the address may be relative to it.
        signature: as of ``load_tflite``.

    Raises:
        ModelFormatError: as of ``load_tflite``.
        OSError: as of ``load_tflite``.
        ValueError: as of ``load_tflite``.

    Example:
        In a page::

            model = await wt.load_tflite_async("model/mobilenet.tflite")
            scores = await model.predict_async(image)
    """
    if _is_local(source):
        return _model_of(*_read(source), signature)
    address = fspath(source)  # type: ignore[arg-type]
    return _model_of(await _fetched(address), _file_name(address), signature)


def _is_local(source: _Source) -> bool:
    """Whether a source is bytes or a path, rather than an address."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return True
    return not has_scheme(source) and not (IN_BROWSER and not Path(source).exists())


def _read(source: _Source) -> tuple[Buffer, str]:
    """Return the bytes of a source that is no address, and what errors call it."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return source, _NAME
    path = Path(source)
    return path.read_bytes(), path.name


async def _fetched(address: str) -> Buffer:
    (data,) = await fetch_files([address])
    return data


def _file_name(address: str) -> str:
    return address.partition("?")[0].rpartition("/")[2] or _NAME


def _model_of(data: Buffer, where: str, signature: str | None) -> TFLiteModel:
    budget = Budget(where, len(data))
    model = read_tflite(data, where, budget)
    return TFLiteModel(model, where, signature=signature, budget=budget)
