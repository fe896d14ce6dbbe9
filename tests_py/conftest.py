"""Fixtures: each test starts on the NumPy backend, and must leave memory as it found it.

Draws that name no seed, such as those of Keras's initializers, are the same in every run. Under
``pytest -p randomly`` tests run in a random order, and these draws follow the seed that it prints.
"""

import gc
import random
from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest

import webtensor as wt

#: Garbage is collected from all objects, frozen ones too, once in so many modules of tests.
MODULES_PER_COLLECTION = 8
#: How many objects may be new before garbage is collected among them.
OBJECTS_PER_COLLECTION = 20_000
module_numbers = count()


@pytest.fixture(scope="module", autouse=True)
def frozen_objects() -> None:
    """Freeze the objects that are alive when a module's tests begin, for quick collections.

    There are millions: imported modules, pytest's tests, JAX's caches. Each test that counts what
    is alive collects garbage, and going through all of them took a third of the suite's time.
    """
    if next(module_numbers) % MODULES_PER_COLLECTION == 0:
        gc.unfreeze()
    gc.collect()
    gc.freeze()


COUNTS = ("num_tensors", "num_storages", "num_bytes")


def counts() -> dict[str, int]:
    """What is alive."""
    memory = wt.memory()
    return {name: memory[name] for name in COUNTS}


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed of the global generators: 0, or that of pytest-randomly."""
    return int(pytestconfig.getoption("randomly_seed", 0))


@pytest.fixture(autouse=True)
def equal_start(seed: int) -> Iterator[None]:
    """Start each test with the same backend and the same seeds, and collect no garbage in it.

    Garbage is collected between tests alone: that of earlier ones would spoil what a test counts.
    """
    if gc.get_count()[0] > OBJECTS_PER_COLLECTION:
        gc.collect()
    gc.disable()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    wt.set_random_seed(seed)
    wt.set_backend("numpy")
    yield
    wt.set_backend("numpy")
    gc.enable()


@pytest.fixture(params=["numpy", "wasm"])
def backend(request: pytest.FixtureRequest) -> str:
    """The test runs on each backend that computes in CPython."""
    name: str = request.param
    wt.set_backend(name)
    return name


@pytest.fixture
def no_leak() -> Iterator[None]:
    """The test must leave no more tensors, storages and bytes than it found."""
    before = counts()
    yield
    if counts() != before:
        gc.collect()  # what cycles held, such as those of a traceback
    assert all(count <= before[name] for name, count in counts().items()), (before, counts())
