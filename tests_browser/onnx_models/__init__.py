"""ONNX models compared with onnxruntime-web in a page of Chromium.

``page_model`` is our side of a comparison, and ``pages/onnx_models.js`` theirs; ``comparison``
opens pages. ``python -m tests_browser.onnx_models`` measures whole networks.
"""
