"""Tests of the ready-made models, on images and weights with known answers.

`tests_browser/ready_made` compares real weights with TensorFlow.js's own packages.
"""

import tests_py.keras  # it chooses Keras's backend
