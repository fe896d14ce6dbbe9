"""ONNX models beside the package of ONNX's authors."""
