"""Models of TensorFlow Lite."""
