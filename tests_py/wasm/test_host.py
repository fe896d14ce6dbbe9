"""Starting the backend: variants, and what is said when it cannot start."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wasm_build.build import GENERATED, KERNELS
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
    with pytest.raises(BackendUnavailableError, match=r"kernels-\w+\.\w+ is missing"):
        create_backend()


@pytest.mark.parametrize("content", [b"", b"\0asm", b"<!doctype html>", b"\0asm\1\0\0\0"])
@pytest.mark.parametrize("name", ["kernels-relaxed.patch", "kernels-simd.wasm"])
def test_broken_kernels(elsewhere: Path, content: bytes, name: str) -> None:
    for path in KERNELS.iterdir():
        (elsewhere / path.name).write_bytes(content if path.name == name else path.read_bytes())
    with pytest.raises(
        BackendUnavailableError, match=r"kernels-relaxed\.\w+ (failed to load|is cut)"
    ):
        create_backend()


@pytest.mark.parametrize("kind", ["kernels", "rows"])
def test_patches_make_the_modules_that_were_compiled(kind: str) -> None:
    compiled = GENERATED / f"{kind}-relaxed.wasm"
    assert host.module_bytes(kind, "relaxed") == compiled.read_bytes()


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
