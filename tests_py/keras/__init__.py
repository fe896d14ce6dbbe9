"""The Layers API beside Keras itself, which computes with JAX."""

import os

os.environ["KERAS_BACKEND"] = "jax"
# What is compiled runs once: quick compilation is worth more than quick code.
os.environ["XLA_FLAGS"] = " ".join(
    ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]
)
