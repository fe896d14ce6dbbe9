"""Fixtures: each test starts on the NumPy backend, and must leave memory as it found it.

Draws that name no seed, such as those of Keras's initializers, are the same in every run. Under
``pytest -p randomly`` tests run in a random order, and these draws follow the seed that it prints.
"""

import gc
import random
from collections.abc import Generator, Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from _pytest.runner import runtestprotocol

import webtensor as wt
from webtensor.backends.programs import Program
from webtensor.backends.wasm.programs import WasmProgram

#: Garbage is collected from all objects, frozen ones too, once in this number of test modules.
MODULES_PER_COLLECTION = 16
#: How many objects may be new before garbage is collected among them.
OBJECTS_PER_COLLECTION = 20_000
module_numbers = count()
#: The backends that compute in CPython.
BACKENDS = ("numpy", "wasm")
#: How much free memory of the WASM backend is filled before tests.
DIRTY_BYTES = 64 << 20
#: Setups and teardowns that take this many seconds are reported.
SLOW = 0.1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Find tests without looking for garbage: of millions of new objects nearly all stay.

    Going through them again and again took a third of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings of the library alone: tests have none.

    Searching them, and importing what other commands need, took a seventh of the collection.
    """
    return [collector for collector in (yield) if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test; report its setup and teardown only where they failed or were slow.

    Processes that run tests send each report to the one that started them, which prints no more
    than those. Three for each of forty thousand tests took a twentieth of the suite's time, and
    messages that a test begins took a hundredth.
    """
    if not hasattr(item.config, "workerinput"):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > SLOW:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


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


@pytest.fixture(scope="module", autouse=True)
def generators(request: pytest.FixtureRequest) -> list[tuple[np.random.Generator, Any]]:
    """The generators that a module's tests share, and their states before the first of them."""
    shared = vars(request.module).values()
    return [
        (generator, generator.bit_generator.state)
        for generator in shared
        if isinstance(generator, np.random.Generator)
    ]


@pytest.fixture(autouse=True)
def equal_draws(generators: list[tuple[np.random.Generator, Any]]) -> Iterator[None]:
    """Let a test draw the same numbers, whichever tests of its module ran before."""
    for generator, state in generators:
        generator.bit_generator.state = state
    yield
    for generator, state in generators:  # for fixtures of the module
        generator.bit_generator.state = state


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


@pytest.fixture(scope="session")
def dirty_memory() -> None:
    """Fill free memory of the WASM backend: a kernel must not count on zeros that it did not write.

    Memory is full of zeros when it comes from the system, and in use again only after a while.
    """
    wt.set_backend("wasm")
    wt.full((DIRTY_BYTES // 4,), float("nan")).dispose()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The backend that is in use; the test runs once for each of BACKENDS."""
    name: str = request.param
    if name == "wasm":
        request.getfixturevalue("dirty_memory")
    wt.set_backend(name)
    return name


@pytest.fixture
def backends(dirty_memory: None) -> Iterator[str]:
    """BACKENDS, to loop over in one test; each is in use during its round.

    This saves time where computing what is wanted takes longer than all backends do.
    """

    def each() -> Iterator[str]:
        for name in BACKENDS:
            wt.set_backend(name)
            yield name

    return each()


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """The programs that the WASM backend is given, as it compiles them."""
    wt.set_backend("wasm")
    seen: list[Program] = []
    start = WasmProgram.__init__

    def noted(self: WasmProgram, backend: Any, program: Program) -> None:
        start(self, backend, program)
        seen.append(self._program)

    monkeypatch.setattr(WasmProgram, "__init__", noted)
    return seen


@pytest.fixture
def no_leak() -> Iterator[None]:
    """The test must leave no more tensors, storages and bytes than it found."""
    before = counts()
    yield
    if counts() != before:
        gc.collect()  # what cycles held, such as those of a traceback
    assert all(count <= before[name] for name, count in counts().items()), (before, counts())
