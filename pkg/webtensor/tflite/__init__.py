"""TensorFlow Lite's models, of which ``load_tflite`` makes graph models.

``loading`` reads files, and ``lowering`` turns their subgraphs into nodes for ``webtensor.graph``.
``operators`` is the table of what an operator becomes; ``products``, ``compositions`` and
``recurrent_calls`` have those that become several nodes, with what ``calls`` has for that.
``constants`` makes tensors of weights. ``quantization``, ``recurrent``, ``detection``,
``landmarks``, ``states`` and ``lite_operations`` compute what TensorFlow's graphs do not have.
``model`` is what users see.
"""

from __future__ import annotations

from webtensor.tflite.loading import load_tflite, load_tflite_async
from webtensor.tflite.model import TFLiteModel

__all__ = ["TFLiteModel", "load_tflite", "load_tflite_async"]
