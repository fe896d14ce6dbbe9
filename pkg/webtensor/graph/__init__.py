"""Graph models: graphs of operations with their weights, from TensorFlow.js and others.

``nodes`` has the nodes of a graph, ``operations`` the table of what computes them, to which
``custom_operations`` are added, and ``ordering`` an order in which they can run. ``compilation``
makes a block of steps (``blocks``), which computes some tensors of a graph; ``frames`` makes loops
of old graphs blocks of their own, and ``specialization`` computes only once what follows from
shapes; ``execution`` keeps what they compile. ``resources`` are values that are no tensors, of
which ``hash_tables`` has operations. ``inputs`` checks the tensors that are fed, ``model`` is what
users see, ``loading`` where it comes from, and ``saving`` what is written, with the
``default_attributes`` that other sources of graphs leave out.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

__all__ = [
    "GraphModel",
    "GraphNode",
    "ModelTensor",
    "deregister_graph_op",
    "load_graph_model",
    "load_graph_model_async",
    "register_graph_op",
]

if TYPE_CHECKING:
    from webtensor.graph.custom_operations import (
        GraphNode,
        deregister_graph_op,
        register_graph_op,
    )
    from webtensor.graph.inputs import ModelTensor
    from webtensor.graph.loading import load_graph_model, load_graph_model_async
    from webtensor.graph.model import GraphModel
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents(
            """
            custom_operations: GraphNode deregister_graph_op register_graph_op
            inputs: ModelTensor
            loading: load_graph_model load_graph_model_async
            model: GraphModel
            """
        ),
    )
