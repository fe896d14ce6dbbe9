"""Formats of model files: bytes to plain data and back. No tensors are computed here.

``budgets`` and ``limits`` bound what reading an untrusted file may cost, ``files`` has archives,
folders and the writing of files, ``element_types`` the arrays in files. ``model_json`` and
``weights_manifest`` are TensorFlow.js's web format.
"""
