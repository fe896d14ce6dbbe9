"""The backend under test, in each variant of its kernels."""

from collections.abc import Iterator

import pytest

from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.host import start_host
from webtensor.environment import env


def start(variant: str) -> WasmBackend:
    """Start a backend of its own, beside the registered one."""
    env().set("WASM_RELAXED_SIMD", variant == "relaxed")
    try:
        return WasmBackend(start_host())
    finally:
        env().set("WASM_RELAXED_SIMD", True)


@pytest.fixture(scope="session", params=["simd", "relaxed"])
def wasm(request: pytest.FixtureRequest) -> Iterator[WasmBackend]:
    """Run the test on each variant."""
    backend = start(request.param)
    assert backend.host.variant == request.param
    yield backend
    backend.close()


@pytest.fixture
def fresh_wasm() -> Iterator[WasmBackend]:
    """A backend whose heap nobody used."""
    backend = start("simd")
    yield backend
    backend.close()
