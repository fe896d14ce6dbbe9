"""Fixtures: each test starts on the NumPy backend, and must leave memory as it found it."""

import gc
from collections.abc import Iterator

import pytest

import webtensor as wt

COUNTS = ("num_tensors", "num_storages", "num_bytes")


def counts() -> dict[str, int]:
    """What is alive."""
    memory = wt.memory()
    return {name: memory[name] for name in COUNTS}


@pytest.fixture(autouse=True)
def default_backend() -> Iterator[None]:
    """Start on the NumPy backend."""
    wt.set_backend("numpy")
    yield
    wt.set_backend("numpy")


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
