"""The backend under test, in each variant of its kernels."""

from collections.abc import Iterator

import pytest

from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.host import start_host
from webtensor.environment import env

VARIANTS = ("simd", "relaxed")


def start(variant: str) -> WasmBackend:
    """Start a backend of its own, beside the registered one."""
    env().set("WASM_RELAXED_SIMD", variant == "relaxed")
    try:
        return WasmBackend(start_host())
    finally:
        env().set("WASM_RELAXED_SIMD", True)


@pytest.fixture(scope="session")
def variants() -> Iterator[dict[str, WasmBackend]]:
    """Backends of all variants, to loop over where computing what is wanted takes long."""
    backends = {variant: start(variant) for variant in VARIANTS}
    assert all(backend.host.variant == variant for variant, backend in backends.items())
    yield backends
    for backend in backends.values():
        backend.close()


@pytest.fixture(params=VARIANTS)
def wasm(request: pytest.FixtureRequest, variants: dict[str, WasmBackend]) -> WasmBackend:
    """Run the test on each variant."""
    return variants[request.param]


@pytest.fixture
def fresh_wasm() -> Iterator[WasmBackend]:
    """A backend whose heap nobody used."""
    backend = start("simd")
    yield backend
    backend.close()
