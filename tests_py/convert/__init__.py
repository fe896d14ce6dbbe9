"""The converter: SavedModels in text, and TensorFlow.js in Node as an oracle."""
