"""ONNX models: graphs of ONNX's operators, which ``load_onnx`` makes models of.

``loading`` reads files, ``lowering`` turns their graphs into the nodes that ``webtensor.graph``
compiles, and ``operations`` has the table of operators. ``control_flow`` runs subgraphs,
``folding`` computes constants and makes normalization a part of convolutions, and ``layouts`` moves
the channels of images last; ``optimization`` has the order of these. ``translation`` gives nodes
that can be fused the names by which ``webtensor.graph`` fuses them. ``stored_constants`` makes
tensors of initializers. ``model`` is what users see.
"""

from __future__ import annotations

from webtensor.onnx.loading import load_onnx, load_onnx_async
from webtensor.onnx.model import OnnxModel

__all__ = ["OnnxModel", "load_onnx", "load_onnx_async"]
