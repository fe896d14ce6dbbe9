"""Formats of model files: bytes to plain data and back; no tensors are computed here.

There is a module each for TensorFlow's graphs (``graph_def``, ``graph_writing``), SavedModels
(``saved_model``) and checkpoints (``checkpoint``), for ONNX (``onnx``), for TensorFlow Lite
(``tflite``) and for safetensors (``safetensors``). ``protobuf`` and ``flatbuffers`` read by the
tables of ``tensorflow_messages``, ``onnx_messages`` and ``tflite_tables``.
"""
