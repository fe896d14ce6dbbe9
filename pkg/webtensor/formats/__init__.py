"""Formats of model files: bytes to plain data and back. No tensors are computed here.

``budgets`` and ``limits`` bound what reading an untrusted file may cost. ``files`` has archives,
folders and the writing of files, ``paths`` the names of files in files, ``element_types`` the
arrays, ``quantization`` those stored in fewer bytes, ``checksums`` how broken ones are noticed.

``model_artifacts``, ``model_json``, ``weights_manifest`` and ``composite_buffers`` are
TensorFlow.js's web format. ``protobuf`` reads and writes protocol buffers by tables of their
messages, also in JSON (``protobuf_json``): ``tensorflow_messages`` for ``graph_def``,
``graph_writing`` and ``saved_model``, ``onnx_messages`` for ``onnx``. ``checkpoint`` has
TensorFlow's variables, in ``sorted_tables`` that may be compressed (``snappy``, ``varints``,
``crc32c``). ``flatbuffers`` reads the tables of ``tflite`` (``tflite_tables``), and
``safetensors`` needs neither.
"""
