"""Compare real graph models with TensorFlow.js in Chromium, and print a table."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests_browser.browsers import launch_chromium
from tests_browser.conftest import TENSORFLOW, TEST_FOLDERS
from tests_browser.python_page import PlaywrightPythonPage
from web.build import ROOT, build_site
from web.serve import serve

MODELS = ROOT / "dist" / "models" / "node_modules" / "@vladmandic" / "human-models" / "models"
TOLERANCE = 1e-4
#: What the shapes of some inputs leave open.
DIMENSIONS = {
    "rvm": {"src": [1, 128, 128, 3], **{f"r{number}i": [1, 1, 1, 1] for number in range(1, 5)}}
}
#: The number of rows and columns of the photograph.
PHOTO_SIDE = 512

PYTHON = """
import js
import webtensor as wt
from pyodide.ffi import create_proxy, to_js

class Loaded:
    def __init__(self, model):
        self.model = model

    async def run(self, inputs, outputs):
        tensors = {
            row["name"]: wt.tensor(row["values"], shape=tuple(row["shape"]), dtype=row["dtype"])
            for row in inputs
        }
        results = await self.model.execute_async(tensors, list(outputs))
        return [
            {"shape": list(result.shape), "data": to_js(await result.data())} for result in results
        ]

    def dispose(self):
        self.model.dispose()

async def load(url, backend):
    wt.set_backend(backend)
    return Loaded(await wt.load_graph_model_async(url))

js.loadOurModel = create_proxy(load)
"""


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of models' names; all by default")
    parser.add_argument("--backend", choices=("wasm", "webgl"), action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", type=Path, default=MODELS)
    options = parser.parse_args()
    files = [
        file
        for file in sorted(options.models.glob("*.json"))
        if not options.names or any(name in file.stem for name in options.names)
    ]
    site = build_site()
    with (
        serve(site, mounts={**TEST_FOLDERS, "/models/": options.models}) as url,
        sync_playwright() as driver,
        closing(launch_chromium(driver)) as browser,
    ):
        page = PlaywrightPythonPage("chromium", url, browser.new_page())
        page.page.add_script_tag(url=url + TENSORFLOW)
        page.page.add_script_tag(
            url=f"{url}/node_modules/@tensorflow/tfjs-backend-wasm/dist/tf-backend-wasm.min.js"
        )
        page.evaluate(
            f"tf.wasm.setWasmPaths('{url}/node_modules/@tensorflow/tfjs-backend-wasm/dist/')"
        )
        page.page.add_script_tag(url=f"{url}/tests/graph_models.js", type="module")
        page.run(PYTHON)
        rows = [
            compared(page, file, url, backend, options.rounds)
            for backend in options.backend or ("wasm", "webgl")
            for file in files
        ]
    sys.exit(summary(rows))


def compared(
    page: PlaywrightPythonPage, file: Path, url: str, backend: str, rounds: int
) -> dict[str, Any]:
    """Compare one model, and print its row."""
    arguments = [f"{url}/models/{file.name}", backend, DIMENSIONS.get(file.stem, {}), rounds]
    try:
        row: dict[str, Any] = page.page.evaluate("(given) => compareModel(...given)", arguments)
    except Exception as error:
        row = {"error": str(error)}
    row.update(model=file.stem, backend=backend)
    print(line(row), flush=True)
    return row


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    name = f"{row['model']:26} {row['backend']:6}"
    if "error" in row:
        return f"{name} {row['error']}"
    apart = " ".join(f"{value:.0e}" for value in row["differences"])
    phases = "  ".join(
        f"{phase} ×{row[phase][1] / row[phase][0]:5.2f}" for phase in ("load", "first", "later")
    )
    return f"{name} apart {apart}  {phases}  ({row['later'][0]:.1f} ms)"


def summary(rows: list[dict[str, Any]]) -> int:
    """Print what all rows amount to, and return the exit status."""
    failed = [row for row in rows if "error" in row or not max(row["differences"]) <= TOLERANCE]
    for backend in sorted({row["backend"] for row in rows}):
        timed = [row for row in rows if row["backend"] == backend and "later" in row]
        agreeing = [row for row in timed if row not in failed]
        print(
            f"{backend}: {len(agreeing)} of {sum(row['backend'] == backend for row in rows)} agree"
        )
        for phase in ("load", "first", "later"):
            ratios = [row[phase][1] / row[phase][0] for row in timed]
            if ratios:
                print(
                    f"  {phase}: median ×{statistics.median(ratios):.2f}, least ×{min(ratios):.2f}"
                )
    return bool(failed)


if __name__ == "__main__":
    main()
