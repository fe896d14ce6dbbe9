"""Compiles the WebAssembly kernels into the package.

The C sources in ``source/`` and the kernels generated from the tables make one module, and the rows
of the elementwise table, as functions of vectors, another one. Both are compiled by the C compiler
inside the PyPI package ``ziglang`` in two variants; the backend picks one when it starts. The
package has the second one as a patch of the first.
Nothing happens when neither sources, tables nor flags changed.

Run ``python -m wasm_build.build`` to compile by hand. With C files as arguments, and ``--output``,
it compiles those instead, with the same flags: kernels of your own for ``wt.wasm.load_module``.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KERNELS = ROOT / "pkg" / "webtensor" / "backends" / "wasm" / "kernels"
GENERATED = HERE / "generated"

#: Memory the module starts with; it must hold the stack and static data, and grows on demand, up to
#: one page less than addresses reach, so that every size is an integer of 32 bits.
INITIAL_BYTES = 16 << 20
MAXIMUM_BYTES = (4 << 30) - (1 << 16)
#: The packed blocks of matrix products are on the stack. As in ``backends/wasm/threads.py``.
STACK_BYTES = 2 << 20

FLAGS = [
    "-target", "wasm32-freestanding", "-std=c11", "-O2", "-fno-slp-vectorize", "-fwrapv",
    "-ffp-contract=off", "-Wall", "-Werror", "-msimd128", "-mbulk-memory", "-nostdlib",
    # Loop strength reduction makes sums of addresses, into which constant offsets disappear: loads
    # could not have them as immediates, and took an instruction more.
    "-mllvm", "-disable-lsr",
    # Only loops marked UNROLLED are unrolled: it makes the others larger, and some of them slower.
    "-mllvm", "-unroll-runtime=false",
    "-Wl,--no-entry", "-Wl,--import-memory", f"-Wl,--initial-memory={INITIAL_BYTES}",
    f"-Wl,--max-memory={MAXIMUM_BYTES}", f"-Wl,-z,stack-size={STACK_BYTES}",
    "-Wl,--export=__stack_pointer", "-Wl,--export-table", "-Wl,--growable-table", "-Wl,-s",
]  # fmt: skip

#: Flags by variant.
VARIANTS = {
    "simd": [],
    "relaxed": ["-mrelaxed-simd"],
}


#: The only source of the module of rows.
ROWS_SOURCE = GENERATED / "rows.c"


def generate() -> list[Path]:
    """Write the sources of the tables' kernels, where they changed, and return their paths."""
    sys.path.insert(0, str(ROOT / "pkg"))
    try:
        from wasm_build.activations_source import activations_source
        from wasm_build.blocks_source import blocks_source
        from wasm_build.elementwise_source import elementwise_source, rows_source
        from webtensor.backends.fused_activations import FUSED_ACTIVATIONS
        from webtensor.ops import (  # noqa: F401  (they fill the tables)
            activations,
            binary,
            cells,
            optimizer_updates,
            quantization,
            special_functions,
            ternary,
            trigonometry,
            unary,
        )
        from webtensor.ops.blocks import BLOCK_ROWS
        from webtensor.ops.elementwise import ROWS

        texts = {
            "activations.h": activations_source(FUSED_ACTIVATIONS, ROWS),
            "blocks.c": blocks_source(BLOCK_ROWS.values()),
            "elementwise.c": elementwise_source(ROWS.values()),
            "rows.c": rows_source(ROWS.values()),
        }
    finally:
        sys.path.remove(str(ROOT / "pkg"))
    for name, text in texts.items():
        path = GENERATED / name
        if not path.exists() or path.read_text() != text:
            GENERATED.mkdir(exist_ok=True)
            path.write_text(text)
    return [GENERATED / name for name in texts]


def compile_module(sources: list[Path], flags: list[str], output: Path) -> None:
    """Compile and link ``sources`` into one module."""
    partial = output.with_name(f".{output.name}.{os.getpid()}")
    headers = [f"-I{HERE / 'source'}", f"-I{GENERATED}"]
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, *flags, *headers]
    # The compiler's scratch files stay out of the current folder.
    environment = {**os.environ, "ZIG_LOCAL_CACHE_DIR": str(GENERATED / "zig-cache")}
    result = subprocess.run(
        [*command, "-o", str(partial), *map(str, sources)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        partial.unlink(missing_ok=True)
        raise RuntimeError(
            f"compiling {output.name} failed with status {result.returncode}:\n"
            f"{result.stdout}{result.stderr}"
        )
    partial.replace(output)


def build(output_dir: Path = KERNELS) -> list[Path]:
    """Compile every variant whose sources changed, and return the paths of all.

    Raises:
        RuntimeError: the compiler refused the sources, or is missing.
    """
    generated = generate()
    files = [
        *sorted((HERE / "source").glob("*.c")),
        *sorted((HERE / "source").glob("*.h")),
        *generated,
    ]
    sources = [file for file in files if file.suffix == ".c" and file != ROWS_SOURCE]
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\n{file.read_text()}\n".encode())
    output_dir.mkdir(parents=True, exist_ok=True)
    outputs: list[Path] = []
    for kind, own_sources in (("kernels", sources), ("rows", [ROWS_SOURCE])):
        for variant, flags in VARIANTS.items():
            compile_changed(digest, own_sources, flags, GENERATED / f"{kind}-{variant}.wasm")
        simd, relaxed = (GENERATED / f"{kind}-{variant}.wasm" for variant in VARIANTS)
        outputs += write_changed(simd, relaxed, output_dir)
    for path in output_dir.iterdir():  # such as those of former versions
        if path not in outputs:
            path.unlink()
    return outputs


def write_changed(module: Path, other: Path, output_dir: Path) -> tuple[Path, Path]:
    """Write a module, and the patch that makes the other one of it, unless they are there."""
    from wasm_build.patches import patch_of
    from webtensor.backends.wasm.host import patched

    base, wanted = module.read_bytes(), other.read_bytes()
    output, patch = output_dir / module.name, output_dir / other.with_suffix(".patch").name
    if not output.exists() or output.read_bytes() != base:
        patch.unlink(missing_ok=True)
        write_whole(output, base)
    if not patch.exists() or patched(base, patch.read_bytes()) != wanted:
        write_whole(patch, patch_of(base, wanted))
    return output, patch


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody sees a part of it, even if this process ends meanwhile."""
    partial = GENERATED / f".{path.name}.{os.getpid()}"
    partial.write_bytes(content)
    partial.replace(path)


def compile_changed(
    digest: "hashlib._Hash", sources: list[Path], flags: list[str], output: Path
) -> None:
    """Compile a module, unless it is there and neither files nor flags changed."""
    stamp = output.with_suffix(".stamp")
    state = digest.copy()
    state.update(json.dumps([FLAGS, flags]).encode())
    current = state.hexdigest()
    if not (output.exists() and stamp.exists() and stamp.read_text() == current):
        compile_module(sources, flags, output)
        stamp.write_text(current)


if __name__ == "__main__":
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path, help="C files of your own")
    parser.add_argument("--output", type=Path, help="the module to make of them")
    options = parser.parse_args()
    if bool(options.sources) != bool(options.output):
        parser.error("C files of your own and --output go together")
    if options.sources:
        compile_module(options.sources, VARIANTS["simd"], options.output)
        sys.exit()
    for path in build():
        print(f"{path.relative_to(ROOT)}, {path.stat().st_size:,} bytes")
