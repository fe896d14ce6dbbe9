"""The page that is taught by examples, used as a visitor uses it, with an imitated webcam."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, Playwright, expect

from tests_browser.browsers import launch_chromium
from tests_browser.page_watch import watched_page
from tests_browser.program_page import expect_no_tensors, stop
from tests_browser.test_accessibility import AXE, RUN_AXE
from tests_py.keras.saved_models import keras as real_keras
from web.build import SITE
from webtensor.vision import FeatureExtractor

HELD_OUT = ["Temple", "Flower", "Astronaut"] * 2
NODE = "tower_0/MobilenetV3/expanded_conv_12/depthwise/hard_swish/mul_1"
WEBCAM = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
#: Keeps all texts that elements have, however short.
NOTE_TEXTS = """(elements) => {
  window.texts = [];
  const observer = new MutationObserver((records) => {
    for (const { addedNodes } of records) texts.push(addedNodes[0].textContent);
  });
  for (const element of elements) observer.observe(element, { childList: true });
}"""
#: The levels of red, green and blue of the picture that is judged.
LEVELS = """(canvas) => [...canvas.getContext("2d").getImageData(0, 0, 224, 224).data]
  .filter((_, index) => index % 4 < 3)"""
FILES_AS_DRAGGED = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, bytes] of files) transfer.items.add(new File([new Uint8Array(bytes)], name));
  return transfer;
}"""
#: How high the classes are without their cards, and with them.
HEIGHT_WITHOUT_CARDS = """(classes) => {
  const empty = classes.cloneNode(false);
  classes.after(empty);
  const heights = [empty.offsetHeight, classes.offsetHeight];
  empty.remove();
  return heights;
}"""
#: Starts a training, and opens a head's file before its end.
TRAIN_AND_OPEN = """(content) => {
  document.getElementById("train").click();
  const input = document.getElementById("head-file");
  const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(content)], "earlier.keras"));
  input.files = transfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}"""


def picture(name: str) -> FilePayload:
    """One of the page's pictures, as a visitor's file."""
    content = (SITE / "teachable" / f"{name}.jpg").read_bytes()
    return {"name": f"{name}.jpg", "mimeType": "image/jpeg", "buffer": content}


class Visitor:
    """A visitor of the page."""

    def __init__(self, page: Page, url: str, backend: str) -> None:
        self.page = page
        self.status = page.locator("#status")
        self.notice = page.locator("#notice")
        self.cards = page.locator(".class-card")
        page.goto(f"{url}/teachable/?backend={backend}")
        expect(page.locator("#load-examples")).to_be_enabled()

    def load_examples(self) -> None:
        """Teach the page's own classes."""
        self.page.locator("#load-examples").click()
        self.wait_for_pictures(24)

    def wait_for_pictures(self, count: int) -> None:
        """Wait until `count` pictures are learned."""
        expect(self.status).to_contain_text(f"{count} pictures of")

    def train(self) -> None:
        """Train the head."""
        button = self.page.locator("#train")
        button.click()  # it is disabled at once
        expect(button).to_be_enabled()
        expect(self.status).to_contain_text("The head is trained.")

    def judge(self, held_out: int) -> None:
        """Choose a picture that is no example."""
        self.page.locator("#held-out button").nth(held_out).click()

    def expect_likeliest(self, classifier: str, name: str) -> None:
        """Wait until a classifier says that the picture is of a class."""
        output = self.page.locator(f"#{classifier}-name")
        expect(output).to_have_text(name)

    def values(self, classifier: str) -> dict[str, float]:
        """Return how sure a classifier is of each class."""
        rows = self.page.locator(f"#{classifier} li").evaluate_all(
            "(rows) => rows.map((row) => [row.children[0].textContent, row.children[1].value])"
        )
        return dict(rows)

    def names(self) -> list[str]:
        """Return the names of the classes."""
        return [field.input_value() for field in self.cards.locator(".name").all()]

    def clear(self) -> None:
        """Have two classes without pictures, and no picture to judge."""
        clear = self.cards.locator("[data-action=clear]:enabled")
        while clear.count():
            clear.first.click()
        while self.cards.count() > 2:
            self.cards.last.locator("[data-action=remove]").click()
        for number, field in enumerate(self.cards.locator(".name").all(), 1):
            field.fill(f"Class {number}")
            field.press("Tab")
        self.page.locator("#picture").evaluate("(place) => place.replaceChildren()")

    def start_anew(self) -> None:
        """Have nothing but the page's own classes and their pictures."""
        self.clear()
        self.load_examples()

    def drop(self, target: Locator, files: Mapping[str, bytes]) -> None:
        """Drop files on an element."""
        listed = [[name, list(content)] for name, content in files.items()]
        transfer = self.page.evaluate_handle(FILES_AS_DRAGGED, listed)
        target.dispatch_event("drop", {"dataTransfer": transfer})

    def card(self, name: str) -> Locator:
        """Return the card of a class."""
        return self.cards.nth(self.names().index(name))

    def save_head(self) -> bytes:
        """Return the file of the head."""
        with self.page.expect_download() as download:
            self.page.locator("#save").click()
        assert download.value.suggested_filename == "head.keras"
        return Path(download.value.path()).read_bytes()

    def run_again(self) -> None:
        """Run the page's own program from its beginning."""
        self.page.locator("#reset").click()
        stop(self.page)
        self.page.locator("#run").click()
        expect(self.page.locator("#load-examples")).to_be_enabled()


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A Chromium with an imitated webcam, which pages may use."""
    browser = launch_chromium(playwright, WEBCAM)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def visitor(browser: Browser, site_url: str) -> Iterator[Visitor]:
    """The page on WASM."""
    yield from visits(browser, site_url, "wasm")


@pytest.fixture(scope="module")
def webgl_visitor(browser: Browser, site_url: str) -> Iterator[Visitor]:
    """The page on WebGL."""
    yield from visits(browser, site_url, "webgl")


@pytest.fixture(
    scope="module",
    params=["visitor", pytest.param("webgl_visitor", marks=pytest.mark.pages_on_webgl)],
)
def learned(request: pytest.FixtureRequest) -> Visitor:
    """The page on each backend, which has learned its own classes."""
    visitor: Visitor = request.getfixturevalue(request.param)
    visitor.start_anew()
    return visitor


def visits(browser: Browser, url: str, backend: str) -> Iterator[Visitor]:
    """Visit the page, and fail for its errors."""
    with watched_page(browser, viewport={"width": 1280, "height": 800}) as page:
        yield Visitor(page, url, backend)


class TestBothClassifiers:
    """What both classifiers have learned, on each backend."""

    def test_training_shows_its_loss(self, learned: Visitor):
        learned.page.locator("#status, #loss").evaluate_all(NOTE_TEXTS)
        learned.train()
        texts = learned.page.evaluate("texts")
        assert "Epoch 40 of 40" in texts
        losses = [float(text.split()[1]) for text in texts if text.startswith("Loss")]
        assert len(losses) == 40
        assert losses[-1] < 0.1 < losses[0]

    def test_held_out_pictures_are_told_apart(self, learned: Visitor):
        learned.train()
        for index, name in enumerate(HELD_OUT):
            learned.judge(index)
            learned.expect_likeliest("nearest", name)
            learned.expect_likeliest("trained", name)

    def test_keras_says_the_same_of_the_picture(self, learned: Visitor, tmp_path: Path):
        learned.train()
        learned.judge(1)
        learned.expect_likeliest("trained", "Flower")
        levels = learned.page.locator("#picture canvas").evaluate(LEVELS)
        pixels = np.array(levels, "uint8").reshape(224, 224, 3)
        extractor = FeatureExtractor.load(
            SITE / "pretrained" / "mobilenet.json", node=NODE, value_range=(0, 255)
        )
        features = extractor.extract(pixels).numpy()[None]
        (tmp_path / "head.keras").write_bytes(learned.save_head())
        head = real_keras.saving.load_model(tmp_path / "head.keras")
        expected = dict(zip(HELD_OUT[:3], head.predict(features, verbose=0)[0], strict=True))
        assert learned.values("trained") == pytest.approx(expected, abs=1e-3)

    def test_the_end_of_the_program_frees_everything(self, learned: Visitor):
        expect_no_tensors(learned.page)
        expect(learned.page.locator("#train")).to_be_disabled()
        learned.run_again()
        learned.wait_for_pictures(24)


class TestClasses:
    """Classes and their pictures."""

    def test_they_are_renamed_added_and_removed(self, visitor: Visitor):
        visitor.start_anew()
        page = visitor.page
        visitor.judge(0)
        visitor.expect_likeliest("nearest", "Temple")
        field = visitor.card("Temple").locator(".name")
        field.fill("Pagoda")
        field.press("Tab")
        visitor.expect_likeliest("nearest", "Pagoda")
        field.fill("Flower")
        field.press("Tab")
        expect(field).to_have_value("Pagoda")

        for _ in range(3):
            page.locator("#add-class").click()
        expect(page.locator("#add-class")).to_be_disabled()
        expect(page.locator("#train")).to_be_disabled()
        names = ["Pagoda", "Flower", "Astronaut", "Class 1", "Class 2", "Class 3"]
        assert visitor.names() == names
        expect(visitor.status).to_have_text("Class 1 has no pictures yet.")
        for name in names[1:5]:
            page.get_by_label(f"Remove the class {name}", exact=True).click()
        assert visitor.names() == ["Pagoda", "Class 3"]
        expect(page.get_by_label("Remove the class Pagoda")).to_be_disabled()

    def test_removed_pictures_are_forgotten(self, visitor: Visitor):
        visitor.start_anew()
        visitor.judge(1)
        visitor.expect_likeliest("nearest", "Flower")
        flower = visitor.card("Flower")
        flower.locator(".thumbnails button").first.click()
        expect(flower.locator(".count")).to_have_text("7 pictures")
        visitor.wait_for_pictures(23)
        visitor.page.get_by_label("Clear the pictures of Flower").click()
        expect(flower.locator(".thumbnails button")).to_have_count(0)
        expect(visitor.status).to_have_text("Flower has no pictures yet.")
        expect(visitor.page.locator("#nearest-name")).not_to_have_text("Flower")
        assert visitor.values("nearest")["Flower"] == 0

    def test_the_head_is_told_of_other_classes(self, visitor: Visitor):
        visitor.start_anew()
        visitor.train()
        visitor.judge(2)
        visitor.page.get_by_label("Remove the class Temple").click()
        expect(visitor.status).to_contain_text("The head knows other classes: train it again.")
        expect(visitor.page.locator("#trained")).to_contain_text("Temple (removed)")
        visitor.train()
        visitor.judge(2)
        visitor.expect_likeliest("trained", "Astronaut")
        assert list(visitor.values("trained")) == ["Flower", "Astronaut"]

    def test_a_class_is_removed_before_the_training(self, visitor: Visitor):
        visitor.start_anew()
        remove = visitor.page.get_by_label("Remove the class Temple")
        remove.evaluate("(remove) => { document.getElementById('train').click(); remove.click(); }")
        expect(visitor.status).to_contain_text("The head is trained.")
        visitor.judge(2)
        visitor.expect_likeliest("trained", "Astronaut")
        assert list(visitor.values("trained")) == ["Flower", "Astronaut"]

    @pytest.mark.parametrize("width", [320, 640, 1280])
    def test_two_have_their_room_before_they_are_there(self, visitor: Visitor, width: int):
        visitor.clear()
        visitor.page.set_viewport_size({"width": width, "height": 800})
        empty, full = visitor.page.locator("#classes").evaluate(HEIGHT_WITHOUT_CARDS)
        visitor.page.set_viewport_size({"width": 1280, "height": 800})
        assert empty == full

    def test_files_are_chosen_and_dropped(self, visitor: Visitor):
        visitor.start_anew()
        flower, temple = visitor.card("Flower"), visitor.card("Temple")
        flower.locator("[type=file]").set_input_files([picture("flower-8"), picture("flower-9")])
        expect(flower.locator(".count")).to_have_text("10 pictures")
        visitor.drop(temple, {"temple.jpg": picture("temple-8")["buffer"]})
        expect(temple.locator(".count")).to_have_text("9 pictures")
        visitor.wait_for_pictures(27)
        visitor.drop(visitor.page.locator("#judged"), {"t.jpg": picture("temple-9")["buffer"]})
        visitor.expect_likeliest("nearest", "Temple")
        visitor.page.locator("#judged-file").set_input_files(picture("astronaut-9"))
        visitor.expect_likeliest("nearest", "Astronaut")

    def test_axe_finds_nothing_among_them(self, visitor: Visitor, site_url: str):
        visitor.start_anew()
        visitor.train()
        visitor.judge(0)
        visitor.expect_likeliest("trained", "Temple")
        visitor.page.add_script_tag(url=site_url + AXE)
        assert visitor.page.evaluate(RUN_AXE) == []

    def test_bad_files_are_named(self, visitor: Visitor):
        visitor.clear()
        card = visitor.card("Class 1")
        flower = picture("flower-8")["buffer"]
        visitor.drop(card, {"empty.png": b"", "good.jpg": flower})
        expect(visitor.notice).to_have_text("empty.png is empty: it has no bytes.")
        expect(card.locator(".count")).to_have_text("1 picture")
        visitor.drop(card, {"notes.txt": b"no picture"})
        sentence = "notes.txt is no picture that this browser can read."
        expect(visitor.notice).to_have_text(sentence)
        visitor.drop(visitor.page.locator("#judged"), {"half.jpg": flower[:99]})
        expect(visitor.notice).to_have_text("half.jpg is no picture that this browser can read.")
        visitor.page.locator("#head-file").set_input_files(
            {"name": "no.keras", "mimeType": "application/zip", "buffer": b"no archive"}
        )
        expect(visitor.notice).to_have_text("no.keras is no .keras file, or is damaged.")


def test_a_saved_head_is_opened_again(visitor: Visitor):
    visitor.start_anew()
    visitor.train()
    visitor.judge(2)
    visitor.expect_likeliest("trained", "Astronaut")
    before, content = visitor.values("trained"), visitor.save_head()
    visitor.run_again()
    expect(visitor.page.locator("#save")).to_be_disabled()
    file: FilePayload = {"name": "mine.keras", "mimeType": "application/zip", "buffer": content}
    visitor.page.locator("#head-file").set_input_files(file)
    visitor.judge(2)
    visitor.expect_likeliest("trained", "Astronaut")
    assert visitor.values("trained") == pytest.approx(before, abs=1e-5)


def test_a_head_is_opened_while_another_is_trained(visitor: Visitor):
    visitor.start_anew()
    visitor.train()
    content = visitor.save_head()
    visitor.page.get_by_label("Remove the class Temple").click()
    visitor.page.evaluate(TRAIN_AND_OPEN, list(content))
    expect(visitor.status).to_contain_text("The head is trained.")
    visitor.judge(2)
    visitor.expect_likeliest("trained", "Astronaut")
    assert list(visitor.values("trained")) == ["Flower", "Astronaut"]


class TestWebcam:
    """The webcam, which a browser imitates."""

    @pytest.mark.parametrize("means", ["pointer", "key"])
    def test_it_records_while_a_button_is_held(self, visitor: Visitor, means: str):
        visitor.clear()
        page = visitor.page
        page.locator("#webcam").click()
        expect(page.locator("#webcam")).to_have_text("Stop webcam")
        card = visitor.card("Class 1")
        button, thumbnails = card.get_by_label("Hold to record"), card.locator(".thumbnails button")
        if means == "pointer":
            button.hover()
            page.mouse.down()
        else:
            button.focus()
            page.keyboard.down(" ")
        expect(thumbnails.nth(10)).to_be_attached()
        page.mouse.up() if means == "pointer" else page.keyboard.up(" ")
        recorded = thumbnails.count()
        visitor.expect_likeliest("nearest", "Class 1")
        assert thumbnails.count() == recorded
        page.locator("#webcam").click()
        expect(page.locator("#webcam")).to_have_text("Start webcam")
        assert page.locator("#video").evaluate("(video) => video.srcObject === null")

    def test_it_starts_by_recording_and_ends_with_the_program(self, visitor: Visitor):
        visitor.clear()
        page = visitor.page
        visitor.card("Class 2").get_by_label("Hold to record").hover()
        page.mouse.down()
        expect(page.locator("#webcam")).to_have_text("Stop webcam")
        page.mouse.up()
        stream = page.locator("#video").evaluate_handle("(video) => video.srcObject")
        page.locator("#run").click()
        expect(page.locator("#run")).to_have_text("Run")
        assert not stream.evaluate("(stream) => stream.active")
        expect(page.locator("#webcam")).to_be_disabled()
        visitor.run_again()

    def test_it_says_that_it_was_taken_away(self, visitor: Visitor):
        visitor.clear()
        button = visitor.page.locator("#webcam")
        button.click()
        expect(button).to_have_text("Stop webcam")
        visitor.page.locator("#video").evaluate("(video) => video.srcObject.getTracks()[0].stop()")
        expect(visitor.notice).to_have_text("The webcam was taken away.")
        expect(button).to_have_text("Start webcam")

    def test_without_permission_it_says_so(self, visitor: Visitor):
        visitor.clear()
        visitor.page.evaluate(
            """() => {
              const { getUserMedia } = navigator.mediaDevices;
              navigator.mediaDevices.getUserMedia = () => {
                navigator.mediaDevices.getUserMedia = getUserMedia;
                return Promise.reject(new DOMException("denied", "NotAllowedError"));
              };
            }"""
        )
        visitor.page.locator("#webcam").click()
        expect(visitor.notice).to_have_text("The webcam was not allowed.")
        expect(visitor.page.locator("#webcam")).to_be_enabled()


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_firefox_learns_the_examples(firefox_page: Page, site_url: str, backend: str):
    visitor = Visitor(firefox_page, site_url, backend)
    visitor.load_examples()
    visitor.judge(1)
    visitor.expect_likeliest("nearest", "Flower")
    visitor.train()
    visitor.expect_likeliest("trained", "Flower")
