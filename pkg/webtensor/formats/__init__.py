"""Formats of model files: bytes to plain data and back. No tensors are computed here.

``budgets`` and ``limits`` bound what reading an untrusted file may cost. ``files`` has archives,
folders and the writing of files, ``paths`` the names of files in files, ``element_types`` the
arrays in files, ``composite_buffers`` buffers in pieces, and ``checksums`` what shows that bytes
were changed.

TensorFlow.js's web format is in ``model_json`` (which files there are), ``model_artifacts`` (the
parts of a model), ``weights_manifest`` (where each weight is in the bytes) and ``quantization``
(numbers in fewer bytes).

``protobuf`` reads and writes protocol buffers by tables of their messages, also in JSON
(``protobuf_json``): ``tensorflow_messages`` for ``graph_def``, ``graph_writing`` and
``saved_model``, ``onnx_messages`` for ``onnx``. ``checkpoint`` has TensorFlow's variables, in
``sorted_tables`` that may be compressed (``snappy``, ``varints``, ``crc32c``). ``flatbuffers``
reads the tables of ``tflite`` (``tflite_tables``), and ``safetensors`` needs neither.
``sentencepiece`` has vocabularies of pieces of text, and ``pillow_images`` checks images in files.
"""
