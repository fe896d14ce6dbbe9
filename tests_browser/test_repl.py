"""The REPL, used as a visitor does: most of it in one page of Chromium, a sample in Firefox."""

import base64
import re
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests_browser.page_watch import PageWatch
from tests_browser.test_accessibility import AXE, RUN_AXE
from tests_browser.test_models_page import drop, payloads
from web.serve import serve, site_headers

SHARED = "greeting = 'hello'\nprint(greeting, 'from a link')\n"
ON_A_MAC = "Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' })"

TASK = """import asyncio
async def later():
    await asyncio.sleep(0)
    print('later')
    raise ValueError('unseen')
task = asyncio.ensure_future(later())
"""

SLOWLY_DESCRIBED = """import time, traceback
class Slow(traceback.TracebackException):
    def format(self, **options):
        began = time.perf_counter()
        while time.perf_counter() - began < 1:
            pass
        yield from super().format(**options)
from webtensor_repl import session
kept, session.TracebackException = session.TracebackException, Slow
print('begun')
while True: pass
"""

#: It goes on whatever is raised.
DEAF = """print('begun')
while True:
    try:
        while True: pass
    except BaseException:
        pass
"""

ENDLESS_OUTPUT = """import sys
number = 0
while True:
    number += 1
    print(number)
    print(number, file=sys.stderr)
"""

ENDLESS_LINES = """import time
from itertools import count
for number in count():
    print(number)
    time.sleep(0.01)
"""
#: Waits until one has scrolled up to this, and for fifty more lines; returns how many came.
LINES_AFTER_SCROLLING = """async (log, maximum) => {
  const lines = () => log.innerText.split("\\n").length;
  const until = async (condition) => {
    while (!condition()) await new Promise(requestAnimationFrame);
  };
  await until(() => log.scrollTop < maximum);
  const before = lines();
  await until(() => lines() >= before + 50);
  return lines() - before;
}"""

#: The runtime has no room for what `repr` calls of itself.
CRASHING = """nested = []
for _ in range(100_000):
    nested = [nested]
print('begun')
repr(nested)
"""

TABLE = """class Table:
    def _repr_html_(self):
        return '''<style>i { color: rgb(1, 2, 3) }</style>
            <table onclick="attack()"><tr><td style="color: rgb(4, 5, 6)">cell</td></tr></table>
            <i>slanted</i><script>attack()</script><iframe src="/"></iframe>
            <a href="javascript:attack()">link</a>
            <svg viewBox="0 0 1 1"><image href="data:image/gif;base64,R0lGODlhAQABAAAAACw="/></svg>
            <svg><image href="https://example.com/x.png"/></svg>'''
Table()
"""


#: What Python's own console shows, copied.
SESSION_OF_PYTHON = """>>> letters = "ab"
>>> letters
'ab'
>>> for letter in letters:
...     print(letter)
...
a
b
"""

COLOURED = r"""import sys
sys.stdout.write('\x1b[3')
sys.stdout.flush()
print('1mred\x1b[0m and \x1b]8;;https://example.com\x07linked\x1b]8;;\x07')
raise ValueError('\x1b[1mbold\x1b[0m')
"""

#: Something shown, and thousands of blocks of text, which come faster than the page takes them.
MANY_BLOCKS = """import sys
display(wt.zeros((2, 2)))
for number in range(3000):
    print(number)
    print(number, file=sys.stderr)
"""


def fragment(program: str) -> str:
    """Return the end of a link to a program, as web/repl/share.js has it."""
    compressor = zlib.compressobj(wbits=-15)
    data = compressor.compress(program.encode()) + compressor.flush()
    return f"#code={base64.urlsafe_b64encode(data).decode().rstrip('=')}"


class Repl:
    """The page, and what a visitor does on it."""

    def __init__(self, page: Page) -> None:
        """Use a page that shows the REPL."""
        self.page = page
        self.transcript = page.locator("#transcript")
        self.entry = page.locator("#transcript .entry").last
        self.status = page.locator("#status")
        self.program = page.locator("#editor .cm-content")
        self.prompt = page.locator("#prompt .cm-content")

    def wait_until(self, phase: str) -> None:
        """Wait until the page is ready, running or reading input."""
        main = self.page.locator("main")
        expect(main).to_have_attribute("data-phase", phase)

    def open(self, program: str) -> None:
        """Open a program by its link; its first line must not be in the one before."""
        self.page.evaluate("(hash) => { location.hash = hash; }", fragment(program))
        expect(self.program).to_contain_text(program.splitlines()[0])

    def start(self, program: str) -> None:
        """Open a program and run it."""
        self.open(program)
        self.page.get_by_role("button", name="Run", exact=True).click()

    def run(self, program: str) -> None:
        """Open a program, run it and wait for its end."""
        self.start(program)
        expect(self.transcript).to_contain_text("Program,")
        self.wait_until("ready")

    def enter(self, source: str) -> None:
        """Run a console entry and wait for its end."""
        self.prompt.press("Control+a")
        self.page.keyboard.insert_text(source)
        self.prompt.press("Escape")
        self.prompt.press("Enter")
        expect(self.prompt).not_to_contain_text(source)
        self.wait_until("ready")

    def erase(self) -> None:
        """Empty the prompt."""
        self.prompt.press("Control+a")
        self.prompt.press("Delete")

    def clear(self) -> None:
        """Clear the console."""
        self.page.get_by_role("button", name="Clear").click()

    def button(self, name: str) -> Locator:
        """Return a button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)


def open_repl(page: Page, site_url: str, link: str = "") -> Repl:
    """Open the REPL and wait for Python."""
    page.goto(f"{site_url}/repl/{link}")
    repl = Repl(page)
    repl.wait_until("ready")
    return repl


@pytest.fixture(scope="module")
def watched_repl(chromium: Browser, site_url: str) -> Iterator[tuple[Repl, PageWatch]]:
    """The REPL in Chromium, opened once by a link with a program."""
    with closing(chromium.new_context()) as context:
        page = context.new_page()
        watch = PageWatch(page)
        yield open_repl(page, site_url, fragment(SHARED)), watch


@pytest.fixture
def repl(watched_repl: tuple[Repl, PageWatch]) -> Iterator[Repl]:
    """The REPL; what the policy forbids and other errors in the page fail the test."""
    repl, watch = watched_repl
    yield repl
    assert watch.take_errors() == []
    repl.clear()


# -- links and examples ----------------------------------------------------------------------------


def test_program_of_a_link_is_shown_and_not_run(repl: Repl):
    expect(repl.program).to_contain_text("greeting = 'hello'")
    expect(repl.page.locator("#notice")).to_contain_text("Read it before you run it")
    expect(repl.transcript).to_be_empty()
    repl.button("Run").click()
    expect(repl.transcript).to_contain_text("hello from a link")


def test_program_is_shared_by_its_link(repl: Repl):
    repl.open("shared = 'é😀'\n")
    repl.button("Share").click()
    link = repl.page.get_by_label("Link to this program")
    expect(link).to_have_value(re.compile(r"/repl/#code=[\w-]+$"))
    repl.open("another = 1\n")
    repl.page.evaluate("(link) => { location.hash = new URL(link).hash; }", link.input_value())
    expect(repl.program).to_have_text("shared = 'é😀'")


def test_link_that_is_damaged_is_refused(repl: Repl):
    repl.page.evaluate("() => { location.hash = '#code=abc'; }")
    expect(repl.page.locator("#notice")).to_contain_text("The program in this link is damaged")
    for name in ("nothing", ""):
        repl.page.evaluate("(name) => { location.hash = `#example=${name}`; }", name)
        notice = repl.page.locator("#notice")
        expect(notice).to_contain_text(f"There is no example “{name}” here")


def test_link_to_a_program_without_end_is_refused(repl: Repl):
    notice = repl.page.locator("#notice")
    hash_of = "(hash) => { location.hash = hash; }"
    repl.page.evaluate(hash_of, fragment("#" * 50_000_000))
    expect(notice).to_contain_text("too long to be opened")
    repl.page.evaluate(hash_of, "#")
    expect(notice).to_be_hidden()


def test_example_is_opened_and_run_by_the_keyboard(repl: Repl):
    repl.page.get_by_label("Open an example").select_option("Gradients")
    expect(repl.program).to_contain_text("A damped wave")
    expect(repl.program).to_be_focused()
    repl.page.keyboard.press("Control+Enter")
    expect(repl.page.get_by_role("img", name="A damped wave")).to_be_visible()
    expect(repl.status).to_contain_text("Finished")


# -- the console -----------------------------------------------------------------------------------


def test_console_shows_values_and_remembers_entries(repl: Repl):
    repl.enter("wt.sum(wt.ones((4, 5))).item()")
    expect(repl.entry).to_contain_text("20.0")
    repl.enter("_ + 1")
    expect(repl.entry).to_contain_text("21.0")
    repl.prompt.press("ArrowUp")
    repl.prompt.press("ArrowUp")
    expect(repl.prompt).to_have_text("wt.sum(wt.ones((4, 5))).item()")
    repl.prompt.press("ArrowDown")
    expect(repl.prompt).to_have_text("_ + 1")
    repl.prompt.press("ArrowDown")
    stored = "JSON.parse(localStorage['webtensor.repl.history'])"
    assert repl.page.evaluate(stored)[-2:] == ["wt.sum(wt.ones((4, 5))).item()", "_ + 1"]
    repl.page.evaluate("""localStorage['webtensor.repl.history'] = '["of another tab"]'""")
    repl.enter("_ + 2")
    assert repl.page.evaluate(stored) == ["of another tab", "_ + 2"]


PASTE = """(element, text) => {
  const event = new ClipboardEvent("paste", { clipboardData: new DataTransfer(), bubbles: true });
  event.clipboardData.setData("text/plain", text);
  element.dispatchEvent(event);
}"""


def test_entry_of_several_lines(repl: Repl):
    repl.prompt.press_sequentially("for number in range(2):")
    repl.prompt.press("Enter")
    expect(repl.prompt.locator(".cm-line")).to_have_count(2)
    repl.prompt.press_sequentially("print(number + 40)")
    repl.prompt.press("Escape")
    repl.prompt.press("Enter")
    expect(repl.prompt.locator(".cm-line")).to_have_count(3)
    repl.prompt.press("Enter")
    expect(repl.entry).to_contain_text("40\n41")


def test_output_stays_in_sight_above_a_long_entry(repl: Repl):
    repl.enter("print(*range(100), sep='\\n')")
    repl.prompt.click()
    repl.page.keyboard.insert_text("if True:\n" + "    pass\n" * 5)
    distance = "(log) => log.scrollHeight - log.clientHeight - log.scrollTop"
    repl.page.wait_for_function(f"({distance})(document.getElementById('transcript')) < 2")
    assert repl.transcript.evaluate(distance) < 2
    repl.erase()


def test_entry_waits_for_a_program_that_was_started_meanwhile(repl: Repl):
    repl.open("import asyncio\nawait asyncio.sleep(0.3)\nprint('program')\n")
    repl.prompt.press_sequentially("'entry'")
    repl.prompt.press("Escape")
    # In one task, so that Python has not told whether the entry is complete.
    repl.prompt.evaluate("""(prompt) => {
      prompt.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      document.getElementById("run").click();
    }""")
    expect(repl.transcript).to_contain_text("Program, 3 lines")
    expect(repl.entry).to_contain_text("program")
    repl.wait_until("ready")
    expect(repl.transcript.locator(".entry")).to_have_count(1)
    expect(repl.prompt).to_have_text("'entry'")
    repl.erase()


def test_entry_is_indented_as_python_wants_it(repl: Repl):
    repl.prompt.press_sequentially("for number in range(2):  # twice")
    repl.prompt.press("Enter")
    lines = repl.prompt.locator(".cm-line")
    expect(lines).to_have_count(2)
    assert lines.last.evaluate("(line) => line.textContent") == "    "
    repl.erase()


def test_prompts_and_output_are_left_out_of_what_is_pasted(repl: Repl):
    repl.prompt.focus()  # at the first key, the cursor could still be where the focus has set it
    repl.prompt.evaluate(PASTE, SESSION_OF_PYTHON)
    repl.prompt.press("Enter")
    source = 'letters = "ab"\nletters\nfor letter in letters:\n    print(letter)'
    expect(repl.entry.locator(".source")).to_have_text(source)
    expect(repl.entry.locator(".stdout")).to_have_text("a\nb\n")
    repl.wait_until("ready")


def test_indented_code_runs_as_what_it_was_copied_from(repl: Repl):
    repl.enter("    for number in range(2):\n        print(number + 60)\n")
    expect(repl.entry.locator(".stdout")).to_have_text("60\n61\n")
    repl.run("    print('all')\n    1 / 0\n")
    expect(repl.page.locator("#editor .error-line")).to_have_text("    1 / 0")


def test_code_beside_arabic_text_keeps_its_order(repl: Repl):
    repl.open("greetings = 'مرحبا ' * 200\n")
    expect(repl.program.locator(".cm-iso")).to_have_text("'مرحبا '")


def test_names_are_completed(repl: Repl):
    repl.prompt.press_sequentially("wt.broadcast_t")
    option = repl.page.get_by_role("option", name="broadcast_to")
    expect(option).to_have_attribute("aria-selected", "true")
    while repl.prompt.inner_text() != "wt.broadcast_to":
        repl.prompt.press("Tab")  # completions that have only just appeared take no keys
    repl.erase()


def test_signature_is_shown(repl: Repl):
    repl.prompt.press_sequentially("wt.sum(1, ")
    tooltip = repl.page.locator("#prompt .signature")
    expect(tooltip).to_contain_text("sum(x, axis=None, keepdims=False")
    expect(tooltip.locator("b")).to_have_text("axis=None")
    repl.prompt.press("Escape")
    expect(tooltip).to_have_count(0)
    repl.erase()


def test_editor_is_left_by_the_keyboard(repl: Repl):
    repl.program.focus()
    repl.page.keyboard.press("Tab")
    expect(repl.program).to_be_focused()
    repl.page.keyboard.press("Escape")
    repl.page.keyboard.press("Tab")
    expect(repl.button("Run")).to_be_focused()


def test_edited_program_outlives_its_link(repl: Repl):
    repl.open("# typed over\nword = 'string'\n")
    repl.program.press("Control+a")
    repl.page.keyboard.type("(1")
    expect(repl.program).to_have_text("(1)")
    repl.open("opened = 1\n")
    repl.program.press("Control+Home")
    repl.page.keyboard.insert_text("# mine ")
    expect(repl.page).to_have_url(re.compile("/repl/$"))
    stored = repl.page.evaluate("JSON.parse(localStorage['webtensor.repl.program'])")
    assert stored == "# mine opened = 1\n"


# -- runs ------------------------------------------------------------------------------------------


def test_error_is_marked_at_its_line(repl: Repl):
    repl.run("def invert(x):\n    return 1 / x\n\ninvert(0)\n")
    marked = repl.page.locator("#editor .error-line")
    expect(marked).to_have_text("    return 1 / x")
    expect(marked).to_have_attribute("data-error", "ZeroDivisionError: division by zero")
    expect(repl.transcript).to_contain_text(
        re.compile(r'File "<program( \d+)?>", line 4, in <module>')
    )
    repl.button("Go to line 2").click()
    repl.page.keyboard.press("End")
    repl.page.keyboard.type("0")
    expect(repl.program).to_contain_text("return 1 / x0")
    expect(marked).to_have_count(0)


def test_marked_error_can_be_read(repl: Repl, site_url: str):
    repl.run("import nothing_of_that_name\n")
    repl.page.add_script_tag(url=site_url + AXE)
    for scheme in ("light", "dark"):
        repl.page.emulate_media(color_scheme=scheme)
        assert repl.page.evaluate(RUN_AXE) == []


@pytest.mark.parametrize(
    "endless",
    [
        "while True: pass",
        "import asyncio; await asyncio.Event().wait()",
        "input('? ')",
        "import time; time.sleep(10_000)",
    ],
)
def test_run_is_stopped_and_variables_are_kept(repl: Repl, endless: str):
    repl.start(f"kept = 7\nprint('begun')\n{endless}\n")
    expect(repl.transcript).to_contain_text("begun")
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")
    expect(repl.transcript).to_contain_text("KeyboardInterrupt")
    repl.enter("kept * 6")
    expect(repl.entry).to_contain_text("42")


def test_double_click_stops_and_does_not_restart(repl: Repl):
    repl.start("kept = 8\nprint('begun')\nwhile True: pass\n")
    expect(repl.transcript).to_contain_text("begun")
    repl.button("Stop").dblclick()
    expect(repl.status).to_have_text("Stopped")
    repl.enter("kept * 6")
    expect(repl.entry).to_contain_text("48")


def test_run_is_stopped_from_the_console(repl: Repl):
    repl.start("print('begun')\nwhile True: pass\n")
    expect(repl.transcript).to_contain_text("begun")
    repl.prompt.press("Control+c")
    expect(repl.status).to_have_text("Stopped")
    repl.start("input('Name? ')\n")
    repl.page.get_by_label("Name?").press("Control+c")
    expect(repl.status).to_have_text("Stopped")


def test_stopped_run_leaves_no_offer_of_a_restart(repl: Repl):
    repl.page.evaluate(COUNT_OFFERS)
    repl.start("print('begun')\nwhile True: pass\n")
    expect(repl.transcript).to_contain_text("begun")
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")
    assert repl.page.evaluate("countOffers()") == 0


def test_run_that_does_not_listen_is_ended_by_a_restart(repl: Repl):
    repl.start(DEAF)
    expect(repl.transcript).to_contain_text("begun")
    repl.button("Stop").click()
    repl.page.locator("#stop", has_text="Restart").click()
    expect(repl.transcript).to_contain_text("variables and files are gone")
    repl.wait_until("ready")


#: Counts timers of a second, after which Python may be restarted.
COUNT_OFFERS = """() => {
  const { setTimeout, clearTimeout } = window;
  const offers = new Set();
  window.setTimeout = (work, milliseconds) => {
    const timer = setTimeout(work, milliseconds);
    if (milliseconds === 1000) offers.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => {
    offers.delete(timer);
    clearTimeout(timer);
  };
  window.countOffers = () => {
    Object.assign(window, { setTimeout, clearTimeout });
    return offers.size;
  };
}"""


def test_stopped_run_is_described_though_that_takes_a_while(repl: Repl):
    repl.start(SLOWLY_DESCRIBED)
    expect(repl.transcript).to_contain_text("begun")
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")
    expect(repl.transcript).to_contain_text("KeyboardInterrupt")
    repl.enter("session.TracebackException = kept")


#: Frames come late: what asks for one meanwhile gets it in the end, as in a page that was hidden.
HOLD_FRAMES = """() => {
  const { requestAnimationFrame } = window;
  const held = [];
  window.requestAnimationFrame = (callback) => held.push(callback);
  window.releaseFrames = () => {
    window.requestAnimationFrame = requestAnimationFrame;
    held.forEach((callback) => requestAnimationFrame(callback));
  };
}"""


def test_output_is_complete_when_the_run_has_ended(repl: Repl):
    repl.page.evaluate(HOLD_FRAMES)
    try:
        repl.run("print('written in no frame')\n")
        assert "written in no frame" in repl.entry.inner_text().splitlines()
    finally:
        repl.page.evaluate("releaseFrames()")


def test_output_does_not_carry_a_reader_away(repl: Repl):
    repl.start(ENDLESS_LINES)
    expect(repl.transcript).to_contain_text("99")
    repl.transcript.hover()
    repl.page.mouse.wheel(0, -100_000)
    # Lines that come while the wheel still turns move where it stops by their height.
    assert repl.transcript.evaluate(LINES_AFTER_SCROLLING, 500) >= 50
    assert repl.transcript.evaluate("(log) => log.scrollTop") < 500
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")
    repl.enter("'the newest'")
    expect(repl.entry).to_be_in_viewport()


def test_endless_output_is_stopped(repl: Repl):
    repl.start(ENDLESS_OUTPUT)
    expect(repl.transcript).to_contain_text(re.compile(r"\d{4}"))
    repl.clear()
    expect(repl.transcript).to_contain_text("first lines are left out")
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")
    assert repl.entry.evaluate("(entry) => entry.childElementCount") <= 1000


def test_much_output_is_shown_in_its_order(repl: Repl):
    repl.run("for number in range(20_000):\n    print(number)\ndisplay('shown')\nprint('end')\n")
    lines = repl.entry.inner_text().split()
    assert lines[-3:] == ["19999", "'shown'", "end"]
    numbers = [int(line) for line in lines[-1000:-2]]
    assert numbers == [*range(20_000 - len(numbers), 20_000)]


def test_what_is_shown_outlasts_a_flood_of_text(repl: Repl):
    repl.run(MANY_BLOCKS)
    expect(repl.entry.locator(".result")).to_be_visible()
    expect(repl.entry.locator(".note")).to_contain_text("first lines are left out")
    assert repl.entry.inner_text().split()[-2:] == ["2999", "2999"]


def test_codes_for_terminals_are_left_out(repl: Repl):
    repl.run(COLOURED)
    expect(repl.entry.locator(".stdout")).to_have_text("red and linked\n")
    expect(repl.entry.locator(".failure")).to_contain_text("ValueError: bold")


def test_program_may_replace_its_output(repl: Repl):
    repl.enter("import sys; sys.stdout = None")
    repl.enter("sys.stdout = sys.__stdout__; print('restored')")
    expect(repl.entry.locator(".stdout")).to_have_text("restored\n")


def test_program_may_exit(repl: Repl):
    repl.run("print('before')\nexit()\n")
    expect(repl.status).to_contain_text("Finished")
    repl.enter("help(len)")
    expect(repl.entry).to_contain_text("Return the number of items in a container.")


def test_help_has_the_beginning_of_a_long_description(repl: Repl):
    repl.enter("help(wt.Tensor)")
    expect(repl.entry).to_contain_text("An immutable, multi-dimensional array")
    expect(repl.entry).to_contain_text("The rest is left out")


def test_event_loop_that_runs_already_is_explained(repl: Repl):
    repl.run("import asyncio\nasyncio.run(asyncio.sleep(0))\n")
    expect(repl.transcript).to_contain_text("write `await main()` in place of")
    for loop in ("asyncio.get_event_loop()", "asyncio.new_event_loop()"):
        repl.enter(f"{loop}.run_until_complete(asyncio.sleep(0))")
        expect(repl.entry).to_contain_text("write `await main()` in place of")


def test_program_reads_lines(repl: Repl):
    repl.start("name = input('Name? ')\nprint(f'Hello {name}, {len(name)}')\n")
    repl.wait_until("input")
    field = repl.page.get_by_label("Name?")
    expect(field).to_be_focused()
    field.fill("Zoë")
    field.press("Enter")
    expect(repl.transcript).to_contain_text("Hello Zoë, 3")
    repl.wait_until("ready")


def test_line_is_read_after_the_console_was_cleared(repl: Repl):
    repl.start("print('read', input('Name? '))\n")
    repl.wait_until("input")
    repl.clear()
    field = repl.page.get_by_label("Name?")
    field.fill("Ada")
    field.press("Enter")
    expect(repl.transcript).to_contain_text("read Ada")
    repl.wait_until("ready")


def test_debugger_is_stopped(repl: Repl):
    repl.start("kept = 5\nbreakpoint()\n")
    repl.wait_until("input")
    repl.transcript.get_by_role("textbox").fill("w")
    repl.transcript.get_by_role("textbox").press("Enter")
    expect(repl.transcript).to_contain_text(re.compile(r"\(Pdb\) w\s*>? <program"))
    repl.button("Stop").click()
    repl.wait_until("ready")
    expect(repl.entry.get_by_role("textbox")).to_have_count(0)
    repl.enter("kept + 1")
    expect(repl.entry).to_contain_text("6")


def test_selected_lines_run_alone(repl: Repl):
    repl.open("first = 1\nsecond = 2\nprint('both')\n")
    repl.program.press("Control+Home")
    repl.program.press("Shift+End")
    repl.program.press("Control+Enter")
    expect(repl.entry).to_contain_text("first = 1")
    repl.wait_until("ready")
    repl.enter("first")
    expect(repl.transcript).not_to_contain_text("both")


def test_task_goes_on_after_its_run(repl: Repl):
    repl.run(TASK)
    expect(repl.transcript).to_contain_text("later")
    repl.enter("del task")
    expect(repl.transcript).to_contain_text("ValueError: unseen")


def test_progress_bars_rewrite_their_line(repl: Repl):
    repl.run("import sys\nfor i in range(3):\n    sys.stdout.write(f'\\rstep {i}')\nprint()\n")
    expect(repl.entry.locator(".stdout")).to_have_text("step 2\n")


# -- results ---------------------------------------------------------------------------------------


def test_markup_of_objects_is_built_without_scripts(repl: Repl):
    repl.run(TABLE)
    result = repl.entry.locator(".result")
    expect(result.locator("td")).to_have_css("color", "rgb(4, 5, 6)")
    expect(result.locator("i")).to_have_css("color", "rgb(1, 2, 3)")
    assert result.locator("table").get_attribute("onclick") is None
    assert result.locator("a").get_attribute("href") is None
    expect(result.locator("script, iframe")).to_have_count(0)
    links = "(images) => images.map((image) => (image.getAttribute('href') ?? '').slice(0, 5))"
    assert result.locator("image").evaluate_all(links) == ["data:", ""]


def test_pictures_are_shown(repl: Repl):
    repl.run("picture(wt.zeros((30, 50, 3)))\n")
    size = "(image) => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
    assert repl.entry.locator("img").evaluate(size) == [50, 30]


# -- files, packages, backends ---------------------------------------------------------------------


def test_files_are_uploaded_read_and_downloaded(repl: Repl, tmp_path: Path):
    helper = tmp_path / "helper.py"
    helper.write_text("def double(x):\n    return 2 * x\n")
    repl.page.get_by_label("Upload").set_input_files([helper])
    files = repl.page.locator("#files")
    expect(files).to_contain_text("helper.py")
    repl.run(
        "import helper\nfrom pathlib import Path\n"
        "Path('out').mkdir(exist_ok=True)\nPath('out/result.txt').write_text(str(helper.double(21)))\n"
    )
    expect(files).to_contain_text("out/result.txt")
    with repl.page.expect_download() as download:
        repl.button("Download out/result.txt").click()
    assert download.value.suggested_filename == "result.txt"
    assert Path(download.value.path()).read_text() == "42"
    repl.button("Open helper.py").click()
    expect(repl.program).to_contain_text("def double")
    repl.button("Delete helper.py").click()
    expect(files).not_to_contain_text("helper.py")


def test_files_are_dropped_anywhere(repl: Repl, tmp_path: Path):
    file, folder = tmp_path / "dropped.txt", tmp_path / "folder"
    file.write_text("42")
    folder.mkdir()
    drop(repl.page, file)
    expect(repl.page.locator("#files")).to_contain_text("dropped.txt")
    drop(repl.page, folder, file)
    status = repl.page.locator("#files-status")
    expect(status).to_have_text(re.compile(r"^Uploaded dropped\.txt\. folder cannot be read"))


def test_many_files_are_counted(repl: Repl):
    names = [f"{number}.many" for number in range(510)]
    repl.page.get_by_label("Upload").set_input_files(payloads(dict.fromkeys(names, b"")))
    expect(repl.page.locator("#files-status")).to_have_text("Uploaded 510 files")
    expect(repl.page.locator("#files li").last).to_have_text(re.compile(r"^and \d+ more$"))
    repl.run("from pathlib import Path\nfor file in Path().glob('*.many'): file.unlink()\n")


def test_file_that_a_program_deleted_is_missed(repl: Repl):
    repl.enter("open('fleeting.txt', 'w').close()")
    button = repl.button("Download fleeting.txt")
    expect(button).to_be_visible()
    repl.start("import os\nos.remove('fleeting.txt')\nprint('removed')\nwhile True: pass\n")
    expect(repl.transcript).to_contain_text("removed")
    button.dispatch_event("click")
    repl.button("Stop").click()
    expect(repl.page.locator("#files-status")).to_contain_text("fleeting.txt")
    expect(button).to_have_count(0)


def test_files_stay_where_they_are_when_a_program_moves(repl: Repl):
    repl.run("import os\nhome = os.getcwd()\nos.chdir('/tmp')\nos.chdir('/')\n")
    repl.page.get_by_label("Upload").set_input_files(payloads({"kept.txt": b"42"}))
    expect(repl.page.locator("#files")).to_contain_text("kept.txt")
    with repl.page.expect_download() as download:
        repl.button("Download kept.txt").click()
    assert Path(download.value.path()).read_text() == "42"
    repl.enter("os.chdir(home)")


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
def test_backends_compute_in_the_worker(repl: Repl, backend: str):
    repl.page.get_by_label("Compute on").select_option(backend)
    expect(repl.status).to_have_text(f"Computing on {backend}")
    repl.enter("x = wt.ones((600, 600)); wt.get_backend(), wt.sum(x @ x).item()")
    expect(repl.entry).to_contain_text(f"('{backend}', 216000000.0)")
    if backend == "wasm" and repl.page.evaluate("navigator.hardwareConcurrency") > 1:
        expect(repl.page.locator("#versions")).to_contain_text("threads")


def test_packages_that_cannot_be_fetched(repl: Repl, watched_repl: tuple[Repl, PageWatch]):
    repl.page.context.set_offline(True)
    repl.page.get_by_label("Names").fill("numpy")
    repl.button("Add").click()
    status = repl.page.locator("#packages-status")
    expect(status).to_contain_text("could not be reached: is this device online")
    repl.page.context.set_offline(False)
    watched_repl[1].take_errors()  # the browser tells of the failed request


#: Presses two buttons before Python can start anew, and keeps what the page says meanwhile.
RESTART_AND_RUN = """() => {
  const status = document.getElementById("status");
  const options = { childList: true, characterData: true, subtree: true };
  window.said = [];
  new MutationObserver(() => window.said.push(status.textContent)).observe(status, options);
  for (const name of ["Restart", "Run"]) {
    [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === name).click();
  }
}"""


def test_restart_begins_anew(repl: Repl):
    repl.enter("gone = 1")
    repl.open("print('begun before Python')\n")
    repl.page.evaluate(RESTART_AND_RUN)
    expect(repl.transcript).to_contain_text("variables and files are gone")
    expect(repl.transcript).to_contain_text("begun before Python")
    assert "Runs when Python has started" in repl.page.evaluate("() => window.said")
    repl.wait_until("ready")
    repl.enter("gone")
    expect(repl.entry).to_contain_text("NameError")
    repl.enter("[name for name in dir() if not name.startswith('_')]")
    expect(repl.entry).to_contain_text("['wt']")


def test_crash_is_told_and_leads_to_a_restart(repl: Repl, watched_repl: tuple[Repl, PageWatch]):
    repl.start(CRASHING)
    expect(repl.transcript).to_contain_text("Python crashed: Maximum call stack size exceeded")
    repl.wait_until("ready")
    repl.enter("6 * 7")
    expect(repl.entry).to_contain_text("42")
    watched_repl[1].take_errors()  # Pyodide tells of the crash, too


def test_restart_ends_an_upload_that_waits(repl: Repl):
    repl.start("while True: pass\n")
    repl.wait_until("running")
    repl.page.get_by_label("Upload").set_input_files(payloads({"late.txt": b"42"}))
    repl.button("Restart").click()
    repl.wait_until("loading")
    repl.wait_until("ready")
    expect(repl.page.locator("#files-status")).to_be_empty()


# -- lesser hosts and browsers ---------------------------------------------------------------------


def test_host_without_isolation(chromium_page: Page, plain_site_url: str):
    repl = open_repl(chromium_page, plain_site_url)
    repl.start("print(input('Name? ').upper())\n")
    repl.wait_until("input")
    chromium_page.get_by_label("Name?").fill("ada")
    chromium_page.keyboard.press("Enter")
    expect(repl.transcript).to_contain_text("ADA")
    repl.wait_until("ready")
    repl.start("while True: pass\n")
    repl.wait_until("running")
    repl.button("Stop").click()
    expect(repl.transcript).to_contain_text("Stopping a run alone needs shared memory")
    repl.wait_until("loading")


def test_each_tab_keeps_its_program(chromium: Browser, site_url: str):
    with chromium.new_context() as context:
        tabs = [context.new_page(), context.new_page(), context.new_page()]
        for number, tab in enumerate(tabs[:2]):
            tab.goto(f"{site_url}/repl/")
            Repl(tab).program.press("Control+Home")
            tab.keyboard.type(f"# tab {number} ")
            expect(Repl(tab).program).to_contain_text(f"# tab {number}")
        tabs[0].reload()
        expect(Repl(tabs[0]).program).to_contain_text(re.compile("^# tab 0"))
        tabs[2].goto(f"{site_url}/repl/")
        expect(Repl(tabs[2]).program).to_contain_text(re.compile("^# tab 1"))


def test_browser_that_stores_nothing(chromium_page: Page, site_url: str):
    chromium_page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } })"
    )
    chromium_page.goto(f"{site_url}/repl/")
    repl = Repl(chromium_page)
    expect(repl.program).to_contain_text("Tensors: arrays of numbers")
    repl.program.press("Control+Home")
    chromium_page.keyboard.type("# edited ")
    expect(repl.program).to_contain_text("# edited")
    expect(chromium_page.locator("#no-storage")).to_be_visible()


def test_keys_on_a_mac(chromium_page: Page, site_url: str):
    chromium_page.add_init_script(ON_A_MAC)
    repl = open_repl(chromium_page, site_url)
    for key in ("Control+Enter", "Meta+Enter"):
        repl.clear()
        repl.program.press(key)
        expect(repl.transcript).to_contain_text("Program,")
        repl.wait_until("ready")


def test_browser_without_workers(chromium_page: Page, site_url: str):
    chromium_page.add_init_script("delete window.Worker")
    chromium_page.goto(f"{site_url}/repl/")
    repl = Repl(chromium_page)
    repl.wait_until("failed")
    expect(repl.transcript).to_contain_text("Python runs in a Web Worker, which this browser")
    chromium_page.goto(f"{site_url}/linear/")  # which needs none
    expect(chromium_page.locator("#loading")).to_have_count(0)
    expect(chromium_page.get_by_role("alert")).to_have_count(0)


def test_policy_that_forbids_workers(chromium: Browser, site: Path):
    policy = site_headers("/repl/")["Content-Security-Policy"]
    forbidding = policy.replace("worker-src 'self'", "worker-src 'none'")
    with (
        serve(site, headers={"Content-Security-Policy": forbidding}) as url,
        closing(chromium.new_page()) as page,
    ):
        page.goto(f"{url}/repl/")
        repl = Repl(page)
        repl.wait_until("failed")
        expect(repl.transcript).to_contain_text("this site's policy did not start")
        expect(repl.button("Run")).to_be_disabled()


def test_firefox(firefox_page: Page, site_url: str):
    repl = open_repl(firefox_page, site_url)
    repl.run("kept = 7\nprint(wt.sum(wt.ones((3, 3))).item())\n1 / 0\n")
    expect(repl.transcript).to_contain_text("9.0")
    expect(firefox_page.locator("#editor .error-line")).to_have_text("1 / 0")
    repl.start("input('? ')\n")
    repl.wait_until("input")
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")
    repl.start("while True: pass\n")
    repl.wait_until("running")
    repl.button("Stop").click()
    expect(repl.status).to_have_text("Stopped")
    repl.enter("kept * 6")
    expect(repl.entry).to_contain_text("42")
    repl.prompt.press_sequentially("wt.broadcast_t")
    expect(firefox_page.get_by_role("option", name="broadcast_to")).to_be_visible()
