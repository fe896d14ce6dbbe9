"""Exports what the benchmark page shares with `make bench`, and TensorFlow.js, at build time.

- `workloads.zip`: the Python modules that run workloads in a page, and make rows of their times.
- `peer/`: the JavaScript of TensorFlow.js's sides. Its `expressions.js` is made here, as the table
  of workloads has TensorFlow.js's side as text, which the site's policy forbids to evaluate.
- `tensorflow/`: TensorFlow.js as it comes from npm, with its WebAssembly backend, built for ES2017:
  other builds evaluate text, too.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / "tests_browser" / "bench"
JAVASCRIPT = ROOT / "tests_browser" / "pages" / "bench"
TENSORFLOW = ROOT / "node_modules" / "@tensorflow"

MODULES = [
    *(
        PYTHON / f"{name}.py"
        for name in (
            *("digits", "mnist", "models", "network", "page", "report", "sides", "training"),
            "workload",
        )
    ),
    *sorted((PYTHON / "workloads").glob("*.py")),
    ROOT / "web" / "digits" / "model.py",
    ROOT / "docs" / "examples" / "tsne.py",
]
SCRIPTS = [
    JAVASCRIPT / f"{name}.js"
    for name in (
        *("data", "digits", "layers", "mnist", "models", "peak", "tasks", "tensorflow"),
        *("tensorflow_threads", "tensorflow_worker", "training", "uniform"),
    )
]
LIBRARIES = [
    TENSORFLOW / "tfjs" / "dist" / "tf.es2017.min.js",
    TENSORFLOW / "tfjs-backend-wasm" / "dist" / "tf-backend-wasm.es2017.min.js",
    TENSORFLOW / "tfjs-backend-wasm" / "dist" / "tfjs-backend-wasm.wasm",
    TENSORFLOW / "tfjs-backend-wasm" / "dist" / "tfjs-backend-wasm-simd.wasm",
    TENSORFLOW / "tfjs-backend-wasm" / "dist" / "tfjs-backend-wasm-threaded-simd.wasm",
    TENSORFLOW / "tfjs-backend-wasm" / "wasm-out" / "tfjs-backend-wasm-threaded-simd.js",
]
#: A module of Node's that exports the script of a worker as a text between backticks.
WORKER = TENSORFLOW / "tfjs-backend-wasm" / "wasm-out" / "tfjs-backend-wasm-threaded-simd.worker.js"
SOURCES = [*MODULES, *SCRIPTS, *LIBRARIES, WORKER]

#: What the text of an expression may name, besides its inputs.
NAMES = ("tf", "data", "digits", "layers", "mnist", "models", "training")


def export(output_dir: Path) -> None:
    """Write the archive and both folders."""
    with ZipFile(output_dir / "workloads.zip", "w") as archive:
        for module in MODULES:
            name = module.relative_to(ROOT).as_posix()
            archive.writestr(ZipInfo(name), module.read_bytes(), ZIP_DEFLATED)
    for folder, files in {"peer": SCRIPTS, "tensorflow": LIBRARIES}.items():
        (output_dir / folder).mkdir()
        for file in files:
            shutil.copyfile(file, output_dir / folder / file.name)
    _, script, _ = WORKER.read_text("utf-8").split("`")
    (output_dir / "tensorflow" / WORKER.name).write_text(script, "utf-8")
    (output_dir / "peer" / "expressions.js").write_text("\n".join(expressions()), "utf-8")


def expressions() -> Iterator[str]:
    """Yield the lines of a module: a function of each workload's text, by its key."""
    from tests_browser.bench.workloads import WORKLOADS  # slow to import

    yield "// Made by web/bench/export_data.py of the rows in tests_browser/bench/workloads/."
    yield ""
    yield f"export default ({{ {', '.join(NAMES)} }}) => ({{"
    for workload in WORKLOADS:
        if workload.theirs:
            inputs = ", ".join(workload.inputs)
            key = json.dumps(workload.key, ensure_ascii=False)
            yield f"  {key}: ({inputs}) => ({workload.theirs}),"
    yield "});"
    yield ""
