"""The programs of `docs/examples` print in a page what they print in CPython."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests_browser.python_page import PythonPage

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

#: A part of what each program prints.
PRINTED = {
    "character_model": "this is the ",
    "csv_forecast": "of the day before 1.20",
    "gaussian_process": "the sine is within the band at 97%",
    "kmeans": "centre (4.0, 3.9)",
    "linear_programme": "profit 36.00",
    "logistic_regression": "accuracy 0.850",
    "pca": "error of two components: 0.019",
    "tsne": "group 5: 40 points",
}

RUN = """
from contextlib import redirect_stdout
from io import StringIO
import webtensor as wt

wt.set_backend(backend)
output = StringIO()
with redirect_stdout(output):
    exec(compile(source, "example.py", "exec"), {"__name__": "__main__"})
output.getvalue()
"""


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
@pytest.mark.parametrize("name", PRINTED)
def test_programs_print_their_results(chromium_python: PythonPage, name: str, backend: str):
    source = (EXAMPLES / f"{name}.py").read_text("utf-8")
    assert PRINTED[name] in chromium_python.run(RUN, source=source, backend=backend)


GROUPS = """
import webtensor as wt

wt.set_backend(backend)
names = {"__name__": "example"}
exec(compile(source, "example.py", "exec"), names)
centres = 3.0 * wt.random_normal((5, 20), seed=1)
x = wt.repeat(centres, 40, axis=0) + wt.random_normal((200, 20), seed=2)
positions = names["embed"](x, perplexity=20.0, steps=300)
distances = names["squared_distances"](positions) + 1e4 * wt.eye(200)
names.clear()
await wt.argmin(distances, axis=1).array()
"""


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
def test_tsne_keeps_groups_together(chromium_python: PythonPage, backend: str):
    source = (EXAMPLES / "tsne.py").read_text("utf-8")
    nearest = chromium_python.run(GROUPS, source=source, backend=backend)
    same_group = [point // 40 == index // 40 for index, point in enumerate(nearest)]
    assert sum(same_group) >= 198


def test_a_button_runs_a_program(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/docs/examples_numerical.html")
    chromium_page.get_by_role("button", name="Run").first.click()
    output = chromium_page.locator(".run-output").first
    expect(output).to_contain_text(PRINTED["kmeans"])
