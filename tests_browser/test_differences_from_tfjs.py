"""The table of deliberate differences in the docs holds, on both sides."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.test_ops import BACKENDS

PAGE = Path(__file__).parents[1] / "docs" / "differences_from_tfjs.md"
ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| (.+?) \| `([^`]+)` \| (.+?) \| .+ \|$", re.MULTILINE)

#: Rows as (TensorFlow.js's call, what it gives, webtensor's call, what it gives).
ROWS: list[tuple[str, str, str, str]] = ROW.findall(PAGE.read_text())

THEIRS = """async () => {
  await tf.setBackend("cpu");
  const results = [];
  for (const call of [%s]) {
    try {
      const result = await call();
      results.push([result?.arraySync ? result.arraySync() : result]);
    } catch (error) {
      results.push([]);
    }
  }
  return results;
}"""

OURS = """
import webtensor as wt

scope = {"wt": wt, "nan": float("nan"), "inf": float("inf")}
wt.set_backend(backend)


def shown(value):
    if isinstance(value, (list, tuple)):
        return [shown(part) for part in value]
    if isinstance(value, wt.DType):
        return str(value)
    return repr(value) if isinstance(value, complex) else value


def result_of(call):
    try:
        result = eval(call, scope)
    except (TypeError, ValueError):
        return []
    return [shown(result.tolist() if isinstance(result, wt.Tensor) else result)]


[result_of(call) for call in calls]
"""


def rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def written(result: list[Any]) -> str:
    """How the table shows a result, which is a list without it where the call raised."""
    return f"`{rounded(result[0])!r}`".replace("'(", "(").replace(")'", ")") if result else "raises"


def test_every_line_of_the_table_is_a_row():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert len(ROWS) == len(lines) - 1
    assert all(theirs != ours for _, theirs, _, ours in ROWS)


def test_what_tensorflow_js_gives(tensorflow_page: PlaywrightPythonPage):
    calls = ",\n".join(f"() => {call}" for call, *_ in ROWS)
    results = tensorflow_page.page.evaluate(THEIRS % calls)
    value = [written(result) for result in results]
    assert dict(zip((row[0] for row in ROWS), value, strict=True)) == {r[0]: r[1] for r in ROWS}


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_webtensor_gives(tensorflow_page: PlaywrightPythonPage, backend: str):
    results = tensorflow_page.run(OURS, calls=[row[2] for row in ROWS], backend=backend)
    value = [written(result) for result in results]
    assert dict(zip((row[2] for row in ROWS), value, strict=True)) == {r[2]: r[3] for r in ROWS}
