"""A newcomer's path: from the README's command to a model that real Keras opens."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.digits_page import DigitsPage
from tests_browser.page_watch import PageWatch
from tests_browser.test_repl import Repl, open_repl
from tests_py.keras.saved_models import keras
from web.build import ROOT

README = (ROOT / "README.md").read_text("utf-8")

TRAIN_AND_KEEP = """import webtensor as wt
from webtensor import keras

keras.utils.set_random_seed(3)
x = wt.random_normal((64, 3), seed=1)
y = wt.sum(x, 1, keepdims=True)
model = keras.Sequential([
    keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)
])
model.compile(keras.optimizers.Adam(0.02), "mse")
history = await model.fit_async(x, y, epochs=5, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
await keras.saving.save_layers_model_async(model, "indexeddb://newcomer")
print("kept")
"""
OPEN_AND_EXPORT = """# A later visit
import webtensor as wt
from webtensor import keras

model = await keras.saving.load_layers_model_async("indexeddb://newcomer")
model.save("newcomer.keras")
prediction = model(wt.tensor([[1.0, -2.0, 0.5]]))
print("predicts", (await prediction.array())[0][0])
"""


@pytest.fixture(scope="module")
def demo_url() -> Iterator[str]:
    """The address that `make demo` prints, as long as it runs."""
    assert "make demo" in README
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    demo = subprocess.Popen(
        ["make", "demo", f"PORT={port}"],
        cwd=ROOT,
        env={**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": "", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert demo.stdout is not None
    try:
        lines = iter(demo.stdout.readline, "")
        announced = next(line for line in lines if "webtensor's pages are at" in line)
        address = re.search(r"http://localhost:\d+(?=/)", announced)
        assert address is not None
        yield address[0]
    finally:
        os.killpg(demo.pid, signal.SIGTERM)
        demo.communicate(timeout=30)


@pytest.fixture(scope="module")
def watched_page(chromium: Browser) -> Iterator[tuple[Page, PageWatch]]:
    """One page of a visitor, whose storage lasts from one test to the next."""
    with closing(chromium.new_context()) as context:
        page = context.new_page()
        yield page, PageWatch(page)


@pytest.fixture
def page(watched_page: tuple[Page, PageWatch]) -> Iterator[Page]:
    """The page; errors in it fail the test."""
    page, watch = watched_page
    yield page
    assert watch.take_errors() == []


def test_the_example_at_home_is_edited_and_run(page: Page, demo_url: str):
    page.goto(demo_url)
    source = page.locator("#source")
    source.fill(f"{source.input_value()}\nprint('edited')")
    page.locator("#run").click()
    expect(page.locator("#output")).to_have_text(re.compile(r"loss \d.*edited\s*$", re.DOTALL))


def test_an_example_of_the_repl_is_changed_run_stopped_and_shared(page: Page, demo_url: str):
    page.goto(demo_url)
    page.get_by_role("link", name="REPL", exact=True).first.click()
    repl = Repl(page)
    repl.wait_until("ready")
    page.get_by_label("Open an example").select_option("Tensors")
    expect(repl.program).to_contain_text("Tensors: arrays of numbers")
    repl.program.press("Control+End")
    page.keyboard.insert_text("\nprint('changed')\n")
    repl.button("Run").click()
    expect(repl.transcript).to_contain_text("changed")
    repl.wait_until("ready")

    repl.program.press("Control+End")
    page.keyboard.insert_text("while True: pass\n")
    repl.button("Run").click()
    repl.wait_until("running")
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")

    repl.button("Share").click()
    link = page.get_by_label("Link to this program")
    expect(link).to_have_value(re.compile(r"/repl/#code=[\w-]+$"))
    page.goto(link.input_value())
    expect(repl.program).to_contain_text("changed")


def test_digits_are_learnt(page: Page, demo_url: str):
    digits = DigitsPage(page, demo_url, "?epochs=2")
    digits.train()
    assert digits.facts["accuracy"] > 0.85


def test_a_model_is_kept_exported_and_opened_in_keras(page: Page, demo_url: str, tmp_path: Path):
    repl = open_repl(page, demo_url)
    repl.run(TRAIN_AND_KEEP)
    expect(repl.transcript).to_contain_text("kept")
    page.reload()
    repl.wait_until("ready")
    repl.run(OPEN_AND_EXPORT)
    predicted = re.search(r"predicts (\S+)", repl.transcript.inner_text())
    assert predicted is not None
    with page.expect_download() as download:
        repl.button("Download newcomer.keras").click()
    download.value.save_as(tmp_path / "newcomer.keras")

    theirs = keras.saving.load_model(tmp_path / "newcomer.keras")
    answer = theirs.predict(np.array([[1.0, -2.0, 0.5]], "float32"), verbose=0)
    np.testing.assert_allclose(float(predicted[1]), answer[0, 0], rtol=1e-5)
