"""Ready-made models beside TensorFlow.js's own packages: a part of `make test-models`."""
