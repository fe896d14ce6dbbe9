"""Starting the backend: variants, and what is said when it cannot start."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from webtensor.backends.wasm import create_backend, host
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.environment import env
from webtensor.errors import BackendUnavailableError, KernelNotFoundError


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A package folder of the test's own, from which the kernels are read."""
    monkeypatch.setattr(host, "get_data", lambda package, path: (tmp_path / path).read_bytes())
    (tmp_path / "kernels").mkdir()
    host.module_bytes.cache_clear()
    yield tmp_path / "kernels"
    host.module_bytes.cache_clear()


def test_missing_kernels(elsewhere: Path) -> None:
    with pytest.raises(BackendUnavailableError, match=r"kernels-\w+\.wasm is missing"):
        create_backend()


@pytest.mark.parametrize("content", [b"", b"\0asm", b"<!doctype html>", b"\0asm\1\0\0\0"])
def test_broken_kernels(elsewhere: Path, content: bytes) -> None:
    (elsewhere / "kernels-relaxed.wasm").write_bytes(content)
    with pytest.raises(BackendUnavailableError, match=r"kernels-relaxed\.wasm failed to load"):
        create_backend()


def test_wasmtime_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    monkeypatch.delitem(sys.modules, "webtensor.backends.wasm.host_wasmtime", raising=False)
    with pytest.raises(BackendUnavailableError, match="needs the package wasmtime"):
        create_backend()


@pytest.mark.parametrize("flag, variant", [(True, "relaxed"), (False, "simd")])
def test_flag_chooses_the_variant(flag: bool, variant: str) -> None:
    env().set("WASM_RELAXED_SIMD", flag)
    try:
        started = host.start_host()
        assert started.variant == variant
        started.close()
    finally:
        env().set("WASM_RELAXED_SIMD", True)


def test_unknown_export(wasm: WasmBackend) -> None:
    with pytest.raises(KernelNotFoundError, match="no kernel frobnicate_float32"):
        wasm.functions["frobnicate", "float32"]
