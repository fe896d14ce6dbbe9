"""Fixtures of the tests beside Keras."""

import keras
import pytest


@pytest.fixture(autouse=True)
def seeded_keras(seeded_generators: None, seed: int) -> None:
    """Seed the generator of Keras's initializers and dropout."""
    keras.utils.set_random_seed(seed % 2**32)
