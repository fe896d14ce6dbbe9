"""Fixtures of the tests beside Keras, and what makes Keras with JAX quicker in all of them."""

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import jax
import keras
import pytest
from jax._src.interpreters import mlir
from jax._src.lru_cache import LRUCache

from tests_py.keras.quick_draws import draw_by_numpy

# JAX makes a new context of MLIR for each program that it compiles, which takes 5 ms, a tenth of
# the time of these tests. Its programs can share one.
make_context = mlir.make_ir_context = cache(mlir.make_ir_context)


def put(self: Any, key: str, value: bytes) -> None:
    """Store a compiled program at once: other processes never see a part of it."""
    path = self.path / f"{key}-cache"
    if not path.exists():
        part = self.path / f"{key}-{os.getpid()}"
        part.write_bytes(value)
        part.replace(path)


# All processes share a folder, so that a program is compiled once.
LRUCache.put = put  # type: ignore[method-assign]
draw_by_numpy()


@pytest.fixture(autouse=True)
def seeded_keras(equal_start: None, seed: int) -> None:
    """Seed the generator of Keras's initializers and dropout."""
    keras.utils.set_random_seed(seed % 2**32)


@pytest.fixture(autouse=True, scope="module")
def compiled_functions_end_with_their_module() -> Iterator[None]:
    """Free what jax compiled for Keras, which would grow to gigabytes over the suite."""
    yield
    jax.clear_caches()
    make_context.cache_clear()
