"""Loading models of TensorFlow Lite from bytes, files and addresses."""

from __future__ import annotations

from functools import partial

from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import Buffer
from webtensor.formats.tflite import read_tflite
from webtensor.io.handlers import without_awaiting
from webtensor.io.single_files import Source, fetched, read_local, resolved
from webtensor.tflite.model import TFLiteModel

__all__ = ["load_tflite", "load_tflite_async"]

_NAME = "model.tflite"


def load_tflite(source: Source, *, signature: str | None = None) -> TFLiteModel:
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
    source = resolved(source)
    if isinstance(source, str):
        fetching = partial(fetched, source, _NAME)
        file = without_awaiting(fetching, "load_tflite", "load_tflite_async")
    else:
        file = read_local(source, _NAME)
    return _model_of(*file, signature)


async def load_tflite_async(source: Source, *, signature: str | None = None) -> TFLiteModel:
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
    source = resolved(source)
    if isinstance(source, str):
        return _model_of(*await fetched(source, _NAME), signature)
    return load_tflite(source, signature=signature)


def _model_of(data: Buffer, where: str, signature: str | None) -> TFLiteModel:
    budget = Budget(where, len(data))
    model = read_tflite(data, where, budget)
    return TFLiteModel(model, where, signature=signature, budget=budget)
