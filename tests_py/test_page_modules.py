"""The pages' Python that needs no browser: the digits' network and its data, charts, listings.

Pages' modules import each other by their bare names, so each test sees their folder on `sys.path`.
"""

import asyncio
import runpy
import sys
from collections.abc import Callable, Iterator
from html import unescape
from importlib import import_module
from pathlib import Path
from re import sub
from types import ModuleType
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

import webtensor as wt

WEB = Path(__file__).resolve().parent.parent / "web"


PageModules = Callable[[str], ModuleType]


@pytest.fixture
def page_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageModules]:
    """Import a page's module by its name; it is forgotten after the test."""
    for folder in ("shared", "digits", "linear"):
        monkeypatch.syspath_prepend(WEB / folder)
    yield import_module
    for name, module in list(sys.modules.items()):
        if WEB in Path(getattr(module, "__file__", None) or "/").parents and "." not in name:
            del sys.modules[name]


@pytest.fixture
def exported(page_module: PageModules, tmp_path: Path) -> Path:
    """The folder of the exported digits."""
    page_module("export_data").export(tmp_path)
    return tmp_path


def test_split_keeps_every_digit_once(page_module: PageModules, exported: Path):
    data = page_module("data")
    pairs = data.unpack(1797, (exported / "digits.bin").read_bytes())
    training, test = data.split(pairs)
    assert (len(training), len(test)) == (1437, 360)
    assert test.images.shape == (360, 8, 8, 1)
    pixels, labels = training.pixels + test.pixels, training.labels + test.labels
    assert sorted(zip(pixels, labels, strict=True)) == sorted(pairs)
    assert data.split(pairs)[1].labels == test.labels, "the split is fixed"


def test_digits_are_those_of_scikit_learn(page_module: PageModules, exported: Path):
    from sklearn.datasets import load_digits

    pairs = page_module("data").unpack(1797, (exported / "digits.bin").read_bytes())
    expected = load_digits()
    assert [label for _, label in pairs] == expected.target.tolist()
    assert list(pairs[1000][0]) == expected.data[1000].tolist()


def test_incomplete_data_is_refused(page_module: PageModules, exported: Path):
    with pytest.raises(ValueError, match="wanted 1798 digits"):
        page_module("data").unpack(1798, (exported / "digits.bin").read_bytes())


def test_network_reaches_97_percent(page_module: PageModules, exported: Path):
    data, training = page_module("data"), page_module("training")
    pairs = data.unpack(1797, (exported / "digits.bin").read_bytes())
    training_digits, test_digits = data.split(pairs)
    network = page_module("model").digits_network()
    steps: list[Any] = []

    async def run() -> tuple[list[int], list[int]]:
        done = training.train(network, training_digits, training.EPOCHS, steps.append)
        return [epoch async for epoch in done], await training.predict(network, test_digits.images)

    with threadpool_limits(1):  # for matrices this small, threads only wait for each other
        epochs, predictions = asyncio.run(run())
    right = sum(map(int.__eq__, predictions, test_digits.labels))
    assert right / len(test_digits) >= 0.97
    assert [step.number for step in steps] == list(range(1, 23 * 12 + 1))
    assert epochs == list(range(1, 13))
    assert steps[0].loss > 2 > 0.1 > steps[-1].loss


def test_training_holds_no_more_memory_with_every_step(page_module: PageModules, exported: Path):
    data, training = page_module("data"), page_module("training")
    digits, _ = data.split(data.unpack(1797, (exported / "digits.bin").read_bytes()))
    network = page_module("model").digits_network()
    counts = []

    async def run() -> None:
        async for _ in training.train(
            network, digits, 1, lambda _: counts.append(wt.memory()["num_tensors"])
        ):
            pass

    with threadpool_limits(1):
        asyncio.run(run())
    assert len(set(counts[1:-1])) == 1


def test_training_ends_where_the_page_says_so(page_module: PageModules, exported: Path):
    data, training = page_module("data"), page_module("training")
    digits, _ = data.split(data.unpack(1797, (exported / "digits.bin").read_bytes()))
    steps = []

    def report(step) -> bool:
        steps.append(step.number)
        return step.number == 30

    async def run() -> list[int]:
        network = page_module("model").digits_network()
        return [epoch async for epoch in training.train(network, digits, 12, report)]

    assert asyncio.run(run()) == [1]
    assert steps == list(range(1, 31))


def test_reported_losses_are_those_of_single_steps(page_module: PageModules):
    training = page_module("training")
    steps: list[Any] = []
    reports = training.StepReports(steps.append, digits=150, steps=6)
    losses, sizes = [2.0, 1.0, 0.5], [64, 64, 22]
    for _ in range(2):  # epochs
        reports.on_epoch_begin(0)
        for batch in range(3):
            seen = sizes[: batch + 1]
            mean = sum(map(float.__mul__, losses, map(float, seen))) / sum(seen)
            reports.on_train_batch_end(batch, {"loss": mean})
    assert [step.loss for step in steps] == pytest.approx([*losses, *losses])
    assert [(step.number, step.of) for step in steps] == [(number, 6) for number in range(1, 7)]


def test_chart_places_its_points(page_module: PageModules):
    charts = page_module("charts")
    x, y = charts.Axis(0, 2, [0, 2], name="epoch"), charts.Axis(0, 100, [0, 100], unit=" %")
    points = [(0, 0.0), (1, 150.0), (2, 100.0)]
    chart = charts.chart("Accuracy & loss", [charts.Series(points, "second")], x, y)
    first, last = f"{charts.LEFT:.1f},{charts.BOTTOM:.1f}", f"{charts.RIGHT:.1f},{charts.TOP:.1f}"
    beyond = f"{(charts.LEFT + charts.RIGHT) / 2:.1f},{charts.TOP:.1f}"
    assert f'<polyline class="second" points="{first} {beyond} {last}"/>' in chart
    assert 'aria-label="Accuracy &amp; loss" data-points="3"' in chart
    assert ">epoch 0</text>" in chart
    assert ">100 %</text>" in chart
    assert 'data-points="0"' in charts.chart("Loss", [charts.Series([])], x, y)


@pytest.mark.parametrize(
    "values, marks",
    [
        ([0.0, 10.0], [0, 2, 4, 6, 8, 10]),
        ([-3.0, 2.9], [-3, -2, -1, 0, 1, 2, 3]),
        ([0.013, 0.041], [0.01, 0.02, 0.03, 0.04, 0.05]),
        ([float("nan"), float("inf"), 1.0], [1.0, 1.1]),
        ([], [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ],
)
def test_axis_covers_its_values_with_round_marks(
    page_module: PageModules, values: list[float], marks: list[float]
):
    axis = page_module("charts").Axis.covering(values)
    assert axis.marks == pytest.approx(marks)
    assert (axis.low, axis.high) == pytest.approx((marks[0], marks[-1]))


def test_running_mean_begins_at_the_first_value(page_module: PageModules):
    running_mean = page_module("charts").running_mean
    assert running_mean([(0, 2.0)]) == [(0, 2.0)]
    assert running_mean([(0, 1.0), (1, 1.0)]) == [(0, 1.0), (1, 1.0)]


def test_linear_model_runs_outside_a_browser(capsys: pytest.CaptureFixture[str]):
    namespace = runpy.run_path(str(WEB / "linear" / "linear.py"))
    assert namespace["prediction"].item() == pytest.approx(9, abs=0.01)
    assert "x = 5   prediction 8.99" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["linear/linear.py", "digits/main.py", "build.py"])
def test_highlighting_keeps_the_text(page_module: PageModules, path: str):
    source = (WEB / path).read_text()
    html = page_module("highlight").highlight(source)
    assert unescape(sub("</?span[^>]*>", "", html)) == source
    assert '<span class="keyword">import</span>' in html


@pytest.mark.parametrize(
    "source", ["f(1, (2", 'x = """begun', "  if x:\n y = 1\n  z", "a = 'b\nc = 1", "", "\n\n"]
)
def test_highlighting_keeps_what_is_not_yet_python(page_module: PageModules, source: str):
    html = page_module("highlight").highlight(source)
    assert unescape(sub("</?span[^>]*>", "", html)) == source
