"""What WebAssembly can do here, as flags of ``wt.env()``.

If they are set before the backend starts, they select what it uses. Outside browsers WebAssembly is
wasmtime's, which has SIMD, also relaxed, but no threads.
"""

from __future__ import annotations

from webtensor.environment import BOOLEAN, IN_BROWSER, env

__all__: list[str] = []


def _validates(feature: str) -> bool:
    if not IN_BROWSER:
        return True
    from webtensor.backends.wasm.host_javascript import validates

    return validates(feature)


def _has_threads() -> bool:
    if not IN_BROWSER:
        return False
    from webtensor.backends.wasm.host_javascript import memory_can_be_shared

    return memory_can_be_shared()


#: Without it the backend does not start.
env().register_flag("WASM_HAS_SIMD_SUPPORT", lambda: _validates("simd"), type=BOOLEAN)
#: Fused multiply-add, among others.
env().register_flag("WASM_RELAXED_SIMD", lambda: _validates("relaxed"), type=BOOLEAN)
env().register_flag("WASM_HAS_MULTITHREAD_SUPPORT", _has_threads, type=BOOLEAN)
#: Whether Winograd's minimal filtering may compute 3×3 convolutions; see ``winograd.py``.
env().register_flag("WASM_WINOGRAD", lambda: True, type=BOOLEAN)
