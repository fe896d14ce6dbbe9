"""Compare real graph models with TensorFlow.js in Chromium, and print a table.

Where a model's results differ from those of TensorFlow.js, both are compared with TensorFlow in
float64, to see which of them are further from what the model says.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests_browser.browsers import launch_chromium
from tests_browser.conftest import TENSORFLOW, TEST_FOLDERS
from tests_browser.graph_models.distances import distance, reference
from tests_browser.python_page import PlaywrightPythonPage
from web.build import ROOT, build_site
from web.serve import serve

FOLDER = ROOT / "dist" / "models"
MODELS = FOLDER / "node_modules" / "@vladmandic" / "human-models" / "models"
TOLERANCE = 1e-4
#: What may be said of a model, and whether that is as it should be.
VERDICTS = {
    "agrees with TensorFlow.js": True,
    "differs from TensorFlow.js, which is further from float64": True,
    "agrees with float64, where TensorFlow.js fails": True,
    "differs": False,
    "fails": False,
}
AGREES, CLOSER, ALONE, DIFFERS, FAILS = VERDICTS
#: What the shapes of some inputs leave open.
DIMENSIONS = {
    "rvm": {"src": [1, 128, 128, 3], **{f"r{number}i": [1, 1, 1, 1] for number in range(1, 5)}}
}
#: The photograph `skimage.data.astronaut()`: bytes of red, green and blue, and its shape.
PHOTO, PHOTO_SHAPE = "astronaut.rgb", (512, 512)

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
    parser.add_argument(
        "--tensorflow",
        type=Path,
        default=ROOT / ".tensorflow" / "bin" / "python",
        help="the Python that has TensorFlow",
    )
    options = parser.parse_args()
    files = [
        file
        for file in sorted(options.models.glob("*.json"))
        if not options.names or any(name in file.stem for name in options.names)
    ]
    site = build_site()
    with (
        serve(site, mounts={**TEST_FOLDERS, "/photo/": FOLDER, "/models/": options.models}) as url,
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
        page.page.evaluate("(given) => loadPhoto(...given)", [f"{url}/photo/{PHOTO}", *PHOTO_SHAPE])
        page.run(PYTHON)
        rows = [
            compared(page, file, url, backend, options)
            for backend in options.backend or ("wasm", "webgl")
            for file in files
        ]
    sys.exit(summary(rows))


def compared(
    page: PlaywrightPythonPage, file: Path, url: str, backend: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Compare one model, and print its row."""
    address, dimensions = f"{url}/models/{file.name}", DIMENSIONS.get(file.stem, {})
    arguments = [address, backend, dimensions, options.rounds, TOLERANCE]
    try:
        row: dict[str, Any] = page.page.evaluate("(given) => compareModel(...given)", arguments)
        row["distances"] = distances(row.pop("runs"), file, options.tensorflow)
    except Exception as error:
        row = {"error": str(error)}
    row.update(model=file.stem, backend=backend)
    row["verdict"] = verdict(row)
    print(line(row), flush=True)
    return row


def distances(runs: list[dict[str, Any]], file: Path, tensorflow: Path) -> dict[str, float]:
    """Return how far the results that differ are from float64, at most, on either side."""
    largest: dict[str, float] = {}
    for run in runs:
        expected = reference(tensorflow, file, run["inputs"], run["names"])
        for side in ("ours", "theirs"):
            if run[side] is not None:
                largest[side] = max(largest.get(side, 0.0), distance(run[side], expected))
    return largest


def verdict(row: dict[str, Any]) -> str:
    """Return which of ``VERDICTS`` holds."""
    if "error" in row:
        return FAILS
    ours, theirs = (row["distances"].get(side) for side in ("ours", "theirs"))
    if row["failure"]:
        return ALONE if ours <= TOLERANCE else DIFFERS
    if max(row["differences"]) <= TOLERANCE:
        return AGREES
    return CLOSER if ours <= theirs else DIFFERS


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    name = f"{row['model']:26} {row['backend']:6}"
    if "error" in row:
        return f"{name} {row['error']}"
    apart = " ".join("-" if value is None else f"{value:.0e}" for value in row["differences"])
    words = [f"{name} apart {apart}"]
    if row["later"]:
        phases = ("load", "first", "later")
        words += [f"{phase} ×{row[phase][1] / row[phase][0]:5.2f}" for phase in phases]
        words.append(f"({row['later'][0]:.1f} ms)")
    if row["distances"]:
        sides = ", ".join(f"{side} {value:.1e}" for side, value in row["distances"].items())
        words.append(f"from float64: {sides}; {row['verdict']}")
    if row["failure"]:
        words.append(f"({row['failure']:.80})")
    return "  ".join(words)


def summary(rows: list[dict[str, Any]]) -> int:
    """Print what all rows amount to, and return the exit status."""
    for backend in sorted({row["backend"] for row in rows}):
        own = [row for row in rows if row["backend"] == backend]
        print(f"{backend}: {len(own)} models")
        for text in VERDICTS:
            count = sum(row["verdict"] == text for row in own)
            if count:
                print(f"  {count}: {text}")
        for phase in ("load", "first", "later"):
            ratios = [row[phase][1] / row[phase][0] for row in own if row.get("later")]
            if ratios:
                print(
                    f"  {phase}: median ×{statistics.median(ratios):.2f}, least ×{min(ratios):.2f}"
                )
    return not all(VERDICTS[row["verdict"]] for row in rows)


if __name__ == "__main__":
    main()
