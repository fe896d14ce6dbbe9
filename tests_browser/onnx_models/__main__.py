"""Compare five networks with onnxruntime-web on WebAssembly, and print a table."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Literal

from onnx import ModelProto
from playwright.sync_api import sync_playwright

from tests_browser.browsers import launch_chromium
from tests_browser.conftest import TEST_FOLDERS
from tests_browser.onnx_models.comparison import Comparison, compared, comparison_page
from tests_py.onnx.networks import encoder, light, mobilenet
from web.build import ROOT, build_site
from web.serve import serve

FOLDER = ROOT / "dist" / "onnx"
IMAGE = (1, 3, 224, 224)
#: What makes a model, and the shape of its input.
NETWORKS: dict[str, tuple[Callable[[], ModelProto], tuple[int, ...]]] = {
    "squeezenet": (partial(light, "squeezenet"), IMAGE),
    "densenet121": (partial(light, "densenet121"), IMAGE),
    "resnet50": (partial(light, "resnet50"), IMAGE),
    "mobilenet": (partial(mobilenet, 224), IMAGE),
    "encoder": (partial(encoder, 4, 256, 4), (1, 128, 256)),
}


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="names of networks; all by default")
    parser.add_argument("--threads", type=int, action="append", help="1 and 2 by default")
    parser.add_argument("--backend", default="wasm", choices=("wasm", "webgl"))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    names = options.names or [*NETWORKS]
    FOLDER.mkdir(parents=True, exist_ok=True)
    inputs = {}
    for name in names:
        make, shape = NETWORKS[name]
        proto = make()
        weights = {tensor.name for tensor in proto.graph.initializer}
        (x,) = (value.name for value in proto.graph.input if value.name not in weights)
        inputs[name] = {x: shape}
        (FOLDER / f"{name}.onnx").write_bytes(proto.SerializeToString())
    with (
        serve(build_site(), mounts={**TEST_FOLDERS, "/onnx/": FOLDER}) as url,
        sync_playwright() as driver,
        closing(launch_chromium(driver)) as browser,
    ):
        for threads in options.threads or (1, 2):
            page = comparison_page(browser.new_page(), url)
            rows = []
            for name in names:
                row = compared(
                    page,
                    f"{url}/onnx/{name}.onnx",
                    inputs[name],
                    options.backend,
                    threads=threads,
                    rounds=options.rounds,
                )
                rows.append(row)
                print(line(name, threads, row), flush=True)
            page.page.close()
            later, fastest = median_ratio(rows, "later"), median_ratio(rows, "fastest")
            print(f"threads {threads}: median later ×{later:.2f}, fastest ×{fastest:.2f}")


def median_ratio(rows: list[Comparison], phase: Literal["later", "fastest"]) -> float:
    """Return the median over networks."""
    return statistics.median(ratio(row[phase]) for row in rows)


def ratio(pair: tuple[float, float] | None) -> float:
    """Return how many times as fast as theirs ours is."""
    ours, theirs = pair or (1.0, 1.0)
    return theirs / ours


def line(name: str, threads: int, row: Comparison) -> str:
    """Return a row of the table."""
    apart = " ".join(f"{value:.0e}" for value in row["differences"])
    ours, theirs = row["later"] or (0.0, 0.0)
    return (
        f"{name:12} threads {threads}  apart {apart}  load ×{ratio(row['load']):.2f}  "
        f"first ×{ratio(row['first']):.2f}  later ×{ratio(row['later']):.2f} "
        f"({ours:.1f} ms, theirs {theirs:.1f} ms)  fastest ×{ratio(row['fastest']):.2f}"
    )


if __name__ == "__main__":
    main()
