"""Pages that compare ONNX models with onnxruntime-web."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from playwright.sync_api import Page

from tests_browser.python_page import PlaywrightPythonPage

__all__ = ["Comparison", "compared", "comparison_page"]

_OURS = Path(__file__).with_name("page_model.py")


class Comparison(TypedDict):
    """What became of a model; pairs are milliseconds of ours and theirs.

    ``later`` are medians of predictions after the first, and ``fastest`` the shortest of these.
    ``differences`` are those of the first and a later prediction, in parts of the largest magnitude
    of each output.
    """

    differences: list[float]
    load: tuple[float, float]
    first: tuple[float, float]
    later: tuple[float, float] | None
    fastest: tuple[float, float] | None


def comparison_page(page: Page, url: str) -> PlaywrightPythonPage:
    """Return a page with both libraries."""
    python = PlaywrightPythonPage("chromium", url, page)
    page.add_script_tag(url=f"{url}/tests/onnx_models.js", type="module")
    page.wait_for_function("() => globalThis.compareOnnxModel !== undefined")
    python.run(_OURS.read_text("utf-8"))
    return python


def compared(
    page: PlaywrightPythonPage,
    url: str,
    shapes: Mapping[str, Sequence[int]],
    backend: str,
    *,
    threads: int = 1,
    rounds: int = 0,
) -> Comparison:
    """Compare a model.

    Args:
        page: a page for this number of threads.
        url: the address of the model.
        shapes: the shapes of its inputs by their names.
        backend: the backend that computes our side; theirs is WebAssembly.
        threads: the number of threads of both sides.
        rounds: how many predictions are timed, of both in turn.
    """
    result: Comparison = page.page.evaluate(
        "(given) => compareOnnxModel(...given)", [url, backend, dict(shapes), threads, rounds]
    )
    return result
