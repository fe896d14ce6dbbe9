"""Formats of model files: bytes to plain data and back. No tensors are computed here.

``budgets`` and ``limits`` bound what reading an untrusted file may cost. ``files`` has archives,
folders and the writing of files, ``paths`` the names of files in files, ``element_types`` the
arrays. ``model_json`` and ``weights_manifest`` are TensorFlow.js's web format. ``protobuf`` reads
and writes protocol buffers by tables of their messages: ``tensorflow_messages`` for
``graph_def``, TensorFlow's graphs, and ``onnx_messages`` for ``onnx``.
"""
