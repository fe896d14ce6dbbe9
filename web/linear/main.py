"""The linear page: shows the source of `linear.py`, and runs that same file beside it."""

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

from charts import Axis, Series, chart
from highlight import highlight
from page import element, on, use_requested_backend, write

import webtensor as wt

SOURCE = Path("linear.py")
INPUTS = Axis(0, 6, range(7))
OUTPUTS = Axis(-1, 11, range(-1, 12, 2))
ASKED = 5.0  # the input that the program predicts for


def run(event: Any = None) -> None:
    """Run the file and show what it prints."""
    printed = StringIO()
    began = perf_counter()
    names: dict[str, Any] = {"__name__": "__main__"}
    with redirect_stdout(printed):
        exec(compile(SOURCE.read_text(), SOURCE.name, "exec"), names)
    milliseconds = (perf_counter() - began) * 1000
    write("output", printed.getvalue())
    write("made-on", f"Computed on {wt.get_backend()} in {milliseconds:.0f} ms.")
    element("plot").innerHTML = fitted_line(names["x"], names["y"], names["predict"])
    element("again").disabled = False


def fitted_line(x: wt.Tensor, y: wt.Tensor, predict: Callable[[wt.Tensor], wt.Tensor]) -> str:
    """Draw the points, the line that was fitted to them, and what it predicts."""

    def predicted(*inputs: float) -> list[tuple[float, float]]:
        outputs = predict(wt.reshape(wt.tensor(inputs), (-1, 1)))
        return list(zip(inputs, wt.reshape(outputs, (-1,)).tolist(), strict=True))

    points = [(row[0], value[0]) for row, value in zip(x.tolist(), y.tolist(), strict=True)]
    prediction = predicted(ASKED)
    drawing: str = chart(
        "The four points, the line that was fitted to them, and its prediction for"
        f" {ASKED:g}: {prediction[0][1]:.2f}",
        [
            Series(predicted(INPUTS.low, INPUTS.high), "line"),
            Series(points, "dots"),
            Series(prediction, "second dots"),
        ],
        INPUTS,
        OUTPUTS,
    )
    return drawing


use_requested_backend()
element("source").innerHTML = highlight(SOURCE.read_text())
on(element("again"), "click", run)
run()
