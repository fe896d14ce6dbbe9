"""Converting models of TensorFlow, Keras and ONNX to formats that pages load, and back.

``conversion`` has the function, ``command`` the command ``webtensor convert``, which shows its
``progress`` and a ``report``. ``input_formats`` and ``output_formats`` are tables of what is read
and written. Graphs come from ``saved_models``, ``graph_models`` and ``tflite_models`` as
``graphs.GraphSource``; ``safetensors_models`` has Keras models.

Models without a graph of TensorFlow's operations run under a recorder (``recording``):
``traced_models`` has those of Keras, of ONNX, and quantized ones. ``tracing`` runs them with inputs
of some ``trace_sizes``, and checks the graph that ``trace_merging`` makes of the runs, in which
``sizes`` may vary. The tables of ``elementwise_nodes``, ``primitive_nodes`` and ``window_nodes``
say what each primitive of the engine becomes; their rows are functions (``node_rules``) that add
nodes by ``node_building``. ``loop_nodes`` adds those of loops that are one step. ``input_shapes``
are those that a user fixes.

``freezing`` takes what the outputs need of a graph, by ``copying`` its nodes: with attributes that
have a default, with others for those that graph models lack (``rewriting``), with ``control_flow``
that TensorFlow.js can run, and with the files that fill tables (``table_files``). ``folding`` makes
it smaller, as far as ``constant_sizes`` allow, and ``graph_model_writing`` writes it.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

__all__ = ["ConversionReport", "convert_model"]

if TYPE_CHECKING:
    from webtensor.convert.conversion import convert_model
    from webtensor.convert.report import ConversionReport
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents(
            """
            conversion: convert_model
            report: ConversionReport
            """
        ),
    )
