"""Fixtures of the tests beside Keras."""

from collections.abc import Iterator

import jax
import keras
import pytest


@pytest.fixture(autouse=True)
def seeded_keras(equal_start: None, seed: int) -> None:
    """Seed the generator of Keras's initializers and dropout."""
    keras.utils.set_random_seed(seed % 2**32)


@pytest.fixture(autouse=True, scope="module")
def compiled_functions_end_with_their_module() -> Iterator[None]:
    """Free what jax compiled for Keras, which would grow to gigabytes over the suite."""
    yield
    jax.clear_caches()
