"""Checks that a user's module can live in the library's memory."""

from __future__ import annotations

from webtensor.backends.wasm.binary import DATA, HEADER, MEMORY_IMPORT, START, sections

__all__ = ["check_user_module"]


def check_user_module(module: bytes) -> None:
    """Check that a module can live in the library's memory beside the library's kernels.

    Raises:
        ValueError: it is no module, has static data, which would overwrite the library's
            memory, or does not import its memory as the library's kernels do.
    """
    if not module.startswith(HEADER):
        raise ValueError("these bytes are no WebAssembly module")
    for identifier, _, _ in sections(module):
        if identifier in (START, DATA):
            raise ValueError(
                "the module has static data or variables, which would overwrite the library's "
                "memory; keep constants in the code and pass everything else as arguments"
            )
    if MEMORY_IMPORT not in module:
        raise ValueError(
            "the module must import its memory as env.memory, with a maximum (wasm-ld's "
            "--import-memory and --max-memory)"
        )
