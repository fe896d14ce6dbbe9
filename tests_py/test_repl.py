"""The REPL's Python: sessions, completion, rendering, plots and the examples, outside a page."""

import asyncio
import base64
import builtins
import io
import json
import pydoc
import re
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import pytest

import webtensor as wt
from web.repl.completion import complete, signature
from web.repl.files import list_files
from web.repl.main import (
    Interpreter,
    make_sleep_interruptible,
    read_from_page,
    report_task_error,
)
from web.repl.markup import parse
from web.repl.pictures import picture
from web.repl.plots import plot
from web.repl.rendering import content_of
from web.repl.session import (
    HINTS,
    KERAS_HINT,
    NOTEBOOK_HINT,
    OTHER_LIBRARY_HINT,
    PACKAGES_HINT,
    PROGRAM,
    STANDARD_LIBRARY_HINT,
    Failure,
    Session,
)
from web.repl.streams import LONGEST_HELP, ConsoleInput, ConsoleOutput, write_help
from web.serve import site_headers

WEB = Path(__file__).resolve().parent.parent / "web"
EXAMPLES = sorted((WEB / "repl" / "examples").glob("*.py"))

NOTED = """error = ValueError('first')
error.add_note('second')
raise error
"""


class Visitor:
    """Somebody at a session, who sees what it shows."""

    def __init__(self) -> None:
        """Start a session."""
        self.shown: list[Any] = []
        self.session = Session({"__name__": "__main__"}, self.shown.append)

    def run(self, source: str, filename: str = PROGRAM) -> Failure | None:
        return asyncio.run(self.session.run(source, filename))

    def failure(self, source: str, filename: str = PROGRAM) -> Failure:
        failure = self.run(source, filename)
        assert failure is not None
        return failure


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()


# -- sessions --------------------------------------------------------------------------------------


def test_value_of_the_last_expression_is_shown(visitor: Visitor):
    assert visitor.run("x = 20\nx + 1\nx + 2") is None
    assert visitor.shown == [22]
    visitor.run("_ * 2")
    assert visitor.shown == [22, 44]


def test_none_is_not_shown(visitor: Visitor):
    assert visitor.run("None") is None
    assert visitor.run("") is None
    assert visitor.shown == []


def test_await_at_top_level(visitor: Visitor):
    visitor.run("import asyncio\nawait asyncio.sleep(0)\nawait asyncio.sleep(0, 'done')")
    assert visitor.shown == ["done"]


def test_names_live_on_after_a_failure(visitor: Visitor):
    visitor.failure("x = 3\n1 / 0")
    visitor.run("x")
    assert visitor.shown == [3]


def test_failure_names_the_line_of_the_program(visitor: Visitor):
    failure = visitor.failure("def divide(x):\n    return 1 / x\n\ndivide(0)\n")
    assert failure.line == 2
    assert failure.summary == "ZeroDivisionError: division by zero"
    assert failure.text.startswith("Traceback")
    assert "return 1 / x" in failure.text
    assert "session.py" not in failure.text


def test_failure_inside_the_library_leads_to_the_line_that_called_it(visitor: Visitor):
    failure = visitor.failure("import webtensor as wt\nwt.ones((2, 3)) @ wt.ones((2, 3))")
    assert failure.line == 2
    assert "contraction.py" not in failure.text
    assert failure.full_text is not None
    assert "contraction.py" in failure.full_text
    assert visitor.failure("1 / 0").full_text is None


def test_console_entry_that_calls_the_program_names_its_line(visitor: Visitor):
    visitor.run("def fail():\n    raise KeyError('x')")
    assert visitor.failure("fail()", "<console 1>").line == 2
    assert visitor.failure("1 / 0", "<console 2>").line is None


def test_functions_of_an_earlier_program_show_their_own_lines(visitor: Visitor):
    visitor.run("def fail():\n    raise KeyError('x')")
    failure = visitor.failure("x = 1\ny = 2\nfail()")
    assert failure.line == 3
    assert 'File "<program>", line 2, in fail\n    raise KeyError(' in failure.text
    assert 'File "<program 2>", line 3, in <module>\n    fail()' in failure.text
    assert visitor.failure("fail()", "<console 1>").line is None


def test_program_that_runs_again_keeps_its_name(visitor: Visitor):
    texts = {visitor.failure("1 / 0").text for _ in range(2)}
    assert [text.count('"<program>"') for text in texts] == [1]


def test_syntax_error_names_its_line(visitor: Visitor):
    failure = visitor.failure("x = 1\ny = = 2\n")
    assert failure.line == 2
    assert failure.summary == "SyntaxError: invalid syntax"
    assert "session.py" not in failure.text


def test_frames_of_the_page_are_hidden(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    def refuse() -> str | None:
        raise OSError("no page")

    monkeypatch.setattr(sys, "stdin", ConsoleInput(refuse))
    failure = visitor.failure("input()")
    assert "streams.py" not in failure.text
    assert failure.line == 1


def test_causes_are_told(visitor: Visitor):
    failure = visitor.failure(
        "try:\n    int('x')\nexcept ValueError as e:\n    raise OSError('y') from e"
    )
    assert "ValueError" in failure.text
    assert failure.line == 4


def test_end_of_a_program_is_told_if_it_is_a_failure(visitor: Visitor):
    assert visitor.failure("raise SystemExit(3)").summary == "SystemExit: 3"
    assert visitor.failure("raise SystemExit('no')").summary == "SystemExit: no"
    assert visitor.run("raise SystemExit") is None
    assert visitor.run("raise SystemExit(0)") is None


@pytest.mark.parametrize("source", ["raise ValueError('first\\nsecond')", NOTED])
def test_summary_says_first_what_happened(visitor: Visitor, source: str):
    assert visitor.failure(source).summary == "ValueError: first"


@pytest.mark.parametrize(
    "source",
    ["import a_package_that_is_nowhere", "x = 1\n%pip install numpy", "!pip3 install numpy"],
)
def test_missing_package_is_explained(visitor: Visitor, source: str):
    assert PACKAGES_HINT in visitor.failure(source).text
    assert PACKAGES_HINT not in visitor.failure("pipeline install").text


def test_what_stands_in_for_other_libraries_is_told(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
):
    for name in ("keras", "keras.layers", "torch"):  # other tests import some
        monkeypatch.setitem(sys.modules, name, None)
    assert KERAS_HINT in visitor.failure("from keras.layers import Dense").text
    assert OTHER_LIBRARY_HINT in visitor.failure("import torch").text


def test_what_pages_lack_is_told(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tkinter", None)
    assert STANDARD_LIBRARY_HINT in visitor.failure("import tkinter").text
    for words, hint in HINTS.items():
        assert hint in visitor.failure(f'raise RuntimeError("{words}")').text


@pytest.mark.parametrize(
    "source",
    ["%matplotlib inline", "x = 1\n%%timeit", "!ls", "wt.tensor?", "x = 1\nprint??\n", "?wt"],
)
def test_commands_of_notebooks_are_explained(visitor: Visitor, source: str):
    assert NOTEBOOK_HINT in visitor.failure(source).text


@pytest.mark.parametrize("source", ["x = 1 ? 2 : 3", "(\n% 2)", "if !x: pass", "print(1"])
def test_other_syntax_errors_are_not_taken_for_them(visitor: Visitor, source: str):
    assert NOTEBOOK_HINT not in visitor.failure(source).text


def test_interrupt_ends_an_await(visitor: Visitor):
    async def run() -> Failure | None:
        source = "started = True\nimport asyncio\nawait asyncio.Event().wait()"
        run = asyncio.create_task(visitor.session.run(source, PROGRAM))
        while "started" not in visitor.session.namespace:
            await asyncio.sleep(0)
        visitor.session.interrupt()
        return await run

    failure = asyncio.run(run())
    assert failure is not None
    assert (failure.summary, failure.line) == ("KeyboardInterrupt", 3)


def test_cancellation_that_nobody_asked_for_is_shown(visitor: Visitor):
    assert visitor.failure("import asyncio\nraise asyncio.CancelledError").line == 2


@pytest.mark.parametrize(
    "source, is_complete",
    [
        ("x = 1", True),
        ("for x in range(3):", False),
        ("for x in range(3):\n    print(x)", False),
        ("for x in range(3):\n    print(x)\n", True),
        ("for x in range(3):\n    print(x)\n    ", True),
        ("wt.ones((2,", False),
        ("await x", True),
        ("x = = 1", True),
        ("'''text", False),
        ("x = 1\ny = 2", True),
        ("x = 1\nfor y in range(x):", False),
        ("x = 1\nfor y in range(x):\n    print(y)", True),
    ],
)
def test_entries_that_are_complete(visitor: Visitor, source: str, is_complete: bool):
    assert visitor.session.is_complete(source) is is_complete


# -- streams ---------------------------------------------------------------------------------------


def test_output_passes_on_lines():
    sent: list[str] = []
    stream = ConsoleOutput(sent.append)
    print("a", 1, file=stream)
    print("no end", end="", file=stream)
    assert sent == ["a 1\n"]
    stream.flush()
    assert sent == ["a 1\n", "no end"]
    with pytest.raises(TypeError, match="must be str, not bytes"):
        stream.write(b"x")  # type: ignore[arg-type]
    for piece in (b"\xc3", b"\xa9\n"):
        stream.buffer.write(piece)
    assert sent[2:] == ["é\n"]


def test_help_has_the_beginning_of_a_long_description(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pydoc, "pager", write_help)
    pydoc.help(wt.Tensor)
    written = capsys.readouterr().out
    assert "An immutable, multi-dimensional array" in written
    assert written.endswith(
        "\n\nThe rest is left out; ask for a part of it, as in help(x.name).\n\n"
    )
    assert len(written) < LONGEST_HELP + 100
    pydoc.help(wt.zeros)
    assert "left out" not in capsys.readouterr().out


def test_input_is_not_closed_by_exit():
    stream = ConsoleInput(lambda: "line")
    stream.close()
    assert not stream.closed
    assert stream.readline() == "line\n"


def test_input_reads_lines(monkeypatch: pytest.MonkeyPatch):
    lines = iter(["first", "second", "third", None, None])
    monkeypatch.setattr(sys, "stdin", ConsoleInput(lambda: next(lines)))
    assert input() == "first"
    assert sys.stdin.buffer.readline() == b"second\n"
    assert sys.stdin.read() == "third\n"
    with pytest.raises(EOFError):
        input()


# -- what values look like -------------------------------------------------------------------------


def test_text_is_the_representation():
    assert content_of([1, "x"]) == {"kind": "text", "text": "[1, 'x']"}


def test_long_text_is_cut():
    text = content_of("x" * 200_000)["text"]
    assert len(text) < 101_000
    assert text.endswith("… (200,002 characters in all)")


def test_markup_of_objects():
    table = SimpleNamespaceWithMarkup()
    assert content_of(table) == {
        "kind": "markup",
        "nodes": [["b", {"class": "x"}, ["1 < 2"]]],
    }
    assert content_of(SimpleNamespaceWithMarkup)["kind"] == "text", "the class is no table"


class SimpleNamespaceWithMarkup(SimpleNamespace):
    """An object with markup."""

    def _repr_html_(self) -> str:
        return '<b class="x">1 &lt; 2</b>'


@pytest.mark.parametrize("markup", [None, 5])
def test_object_that_has_no_markup_this_time(markup: Any):
    class Figure:
        def _repr_html_(self) -> Any:
            return markup

        def _repr_png_(self) -> bytes:
            return b"png"

    url = content_of(Figure())["url"]
    assert url == "data:image/png;base64," + base64.b64encode(b"png").decode()


@pytest.mark.parametrize(
    "markup, nodes",
    [
        ("a<br>b", ["a", ["br", {}, []], "b"]),
        ("<p>a</p>b", [["p", {}, ["a"]], "b"]),
        ("<table><tr><td>a</table>b", [["table", {}, [["tr", {}, [["td", {}, ["a"]]]]]], "b"]),
        ("a</b>c", ["a", "c"]),
        ('<svg viewbox="0 0 1 1"><clippath/></svg>', "svg"),
        ("<script>a < b</script>", [["script", {}, ["a < b"]]]),
        ('<i hidden title="&quot;">x</i>', [["i", {"hidden": "", "title": '"'}, ["x"]]]),
    ],
)
def test_markup_becomes_a_tree(markup: str, nodes: Any):
    if nodes == "svg":
        nodes = [["svg", {"viewBox": "0 0 1 1"}, [["clipPath", {}, []]]]]
    assert parse(markup) == nodes


def test_plot_of_one_series():
    markup = plot([1.0, 2.0, float("nan"), 4.0, 5.0], title="A & B")._repr_html_()
    assert "A &amp; B: line chart; 5 points, first 1, last 5" in markup
    assert [len(points.split()) for points in re.findall(r'points="([^"]*)"', markup)] == [2, 2]


def test_plot_of_named_series_and_tensors():
    markup = plot({"loss": wt.tensor([3.0, 1.0]), "accuracy": [0, 1]})._repr_html_()
    assert markup.count("<polyline") == 2
    assert "accuracy: 2 points, first 0, last 1" in markup
    assert plot([0, 1], wt.tensor([5, 5]), dots=True)._repr_html_().count("<circle") == 2
    chart = plot(wt.tensor([0.5, 2.5]), {"loss": [3, 1]}, x_label="seconds")
    assert {"0.5", "2.5", "seconds"} <= set(re.findall(r">([^<]+)</text>", chart._repr_html_()))
    assert "no values" in repr(plot([]))


def test_plot_names_what_is_wrong():
    with pytest.raises(ValueError, match="x has 2 numbers, but y has 1"):
        plot([1, 2], [3])
    with pytest.raises(TypeError, match="got 3 values"):
        plot([1], [2], [3])


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 1), (4, 6, 3), (4, 6, 4)])
def test_pictures_are_images(shape: tuple[int, ...]):
    values = wt.linspace(0, 1, wt.ones(shape).size)
    image = picture(wt.reshape(values, shape))._repr_png_()
    assert struct.unpack(">II", image[16:24]) == (6, 4)
    size, kind = struct.unpack(">I4s", image[33:41])
    assert kind == b"IDAT"
    rows = zlib.decompress(image[41 : 41 + size])
    assert (rows[1], rows[-1]) == (0, 255)
    assert len(rows) == 4 * (1 + 6 * values.size // 24)


def test_picture_names_what_is_wrong():
    with pytest.raises(ValueError, match=r"got \(2, 2, 2\)"):
        picture(wt.ones((2, 2, 2)))


def test_figures_of_matplotlib_are_shown(monkeypatch: pytest.MonkeyPatch, visitor: Visitor):
    monkeypatch.setattr(builtins, "display", visitor.shown.append, raising=False)
    plt.switch_backend("module://web.repl.matplotlib_backend")
    figure = "import matplotlib.pyplot as plt\nlines = plt.plot([1, 2])\nplt.show()\n"
    assert visitor.run(f"{figure}{figure}") is None
    first, second = visitor.shown
    assert content_of(first)["url"].startswith("data:image/png;base64,")
    assert first.image == second.image


# -- completion ------------------------------------------------------------------------------------

NAMESPACE = {"wt": wt, "weights": [1.0], "records": {"a b": ["x"]}}


def labels(before: str) -> list[str]:
    return [option["label"] for option in complete(before, NAMESPACE)["options"]]


def test_names_are_completed():
    options = {option["label"]: option["type"] for option in complete("we", NAMESPACE)["options"]}
    assert options["weights"] == "variable"
    assert options["wt"] == "namespace"
    assert options["while"] == "keyword"
    assert options["print"] == "function"
    assert "__name__" not in options


def test_members_are_completed():
    assert complete("y = wt.ma", NAMESPACE)["prefix"] == "ma"
    assert {"matmul", "maximum"} <= set(labels("y = wt.ma"))
    assert "append" in labels("weights.")
    assert "sort" in labels("x = [wt.ones(3), weights.s")
    assert "__len__" not in labels("weights.")
    assert "__len__" in labels("weights.__l")


def test_public_names_of_the_library_are_completed():
    assert "normal" in labels("wt.keras.random.")
    assert not {"Sequence", "annotations"} & {*labels("wt.keras.random.")}
    assert {"TYPE_CHECKING", "contents"}.isdisjoint(labels("from webtensor.keras import "))
    assert "error_completion" not in labels("from webtensor import e")
    assert "dense" not in labels("from webtensor.keras.layers import d")


def test_names_of_a_program_that_did_not_run_are_completed():
    program = "from webtensor import keras\nimport math as m\n\ndef helper(): ...\nrate = 0.1\n"
    assert {"helper", "rate", "keras", "m"} <= set(labels(program + "x = "))
    assert "Dense" in labels(program + "keras.layers.")
    assert "sqrt" in labels(program + "m.s")


def test_modules_are_completed():
    assert "webtensor" in labels("import web")
    assert "keras" in labels("from webtensor import k")
    assert "layers" in labels("import webtensor.keras.l")
    assert "Adam" in labels("from webtensor.keras.optimizers import SGD, A")


def test_keywords_of_a_call_are_completed():
    assert "keepdims=" in labels("wt.sum(x, ")
    assert "keepdims=" not in labels("wt.sum(x, axis=")


@pytest.mark.parametrize(
    "before",
    [
        *("1.", "nothing.", "wt.nothing.", "f().", "f().s", "wt..", "x[0].", "x[0].s"),
        *("weights[1].", "weights['a'].", "weights[f()].", "print(1)."),
    ],
)
def test_nothing_is_known_of_unknown_values(before: str):
    assert labels(before) == []


@pytest.mark.parametrize(
    "before, member",
    [
        ("'text'.up", "upper"),
        ("x = f'{weights}'.sp", "split"),
        ("[1, 2].", "append"),
        (r"'\d'.", "upper"),
        ("1 + " * 2000 + "weights[0].", "hex"),
        ("print(records['a b'][0].", "lower"),
        ("wt.ones((2, 3)).", "shape"),
        ("wt.ones((2, 3))[0].sum().", "shape"),
        ("y = wt.nn.relu(x).", "shape"),
        ("wt.keras.layers.Dense(2).", "get_weights"),
    ],
)
def test_members_of_literals_items_and_calls_are_completed(before: str, member: str):
    assert member in labels(before)


def test_completion_calls_nothing(visitor: Visitor):
    visitor.run("""
from functools import cached_property
calls = []
class Trap:
    @property
    def value(self):
        calls.append("value")
        return ""
    @cached_property
    def text(self) -> str:
        calls.append("text")
        return ""
    def __getattr__(self, name):
        calls.append(name)
        return ""
trap = Trap()
""")
    namespace = visitor.session.namespace
    members = {
        before: {option["label"] for option in complete(before, namespace)["options"]}
        for before in ("trap.", "trap.value.", "trap.nothing.", "trap.text.")
    }
    assert members["trap."] == {"text", "value"}
    assert members["trap.value."] == members["trap.nothing."] == set()
    assert "upper" in members["trap.text."]
    assert namespace["calls"] == []


@pytest.mark.parametrize(
    "before, active",
    [
        ("wt.sum(", 0),
        ("wt.sum(x, ", 1),
        ("wt.sum(f(1, 2), (3, 4)", 1),
        ("wt.sum(x, keepdims=", 2),
        ("x = [wt.sum('(,', ", 1),
        ("wt.sum(\n    x,  # comment, with (\n    ", 1),
    ],
)
def test_signature_of_a_call(before: str, active: int):
    call = signature(before, NAMESPACE)
    assert call is not None
    assert (call["name"], call["active"]) == ("sum", active)
    assert call["parameters"][:3] == ["x", "axis=None", "keepdims=False"]
    assert call["summary"]


@pytest.mark.parametrize("before", ["wt.sum(x)", "(1, ", "unknown(", "x[", "if (", "weights(", "'"])
def test_no_signature(before: str):
    assert signature(before, NAMESPACE) is None


def test_signature_counts_keywords_and_rests():
    namespace = {"f": lambda a, *rest, key=1, **more: None}
    actives = {
        before: (signature(before, namespace) or {})["active"]
        for before in ("f(1, 2, 3", "f(key=", "f(other=")
    }
    assert actives == {"f(1, 2, 3": 1, "f(key=": 2, "f(other=": 3}


# -- the interpreter of the page -------------------------------------------------------------------


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Interpreter]:
    """An interpreter whose messages are in its `sent`."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    backend = wt.get_backend()
    sent: list[dict[str, Any]] = []
    interpreter = Interpreter(sent.append, tmp_path)
    interpreter.sent = sent  # type: ignore[attr-defined]
    yield interpreter
    wt.set_backend(backend)


def ask(interpreter: Interpreter, request: str, *values: Any) -> Any:
    answer = json.loads(asyncio.run(interpreter.answer(request, json.dumps(values))))
    return answer.get("value", answer)


def test_requests_are_answered(interpreter: Interpreter):
    answer = ask(interpreter, "run", "wt.ones(2)", PROGRAM)
    assert answer["failure"] is None
    assert answer["seconds"] >= 0
    (message,) = interpreter.sent  # type: ignore[attr-defined]
    assert message["content"]["kind"] in ("text", "markup")
    assert ask(interpreter, "run", "1 / 0", PROGRAM)["failure"]["line"] == 1
    assert ask(interpreter, "isComplete", "x = [") is False
    assert ask(interpreter, "complete", "wt.ma")["prefix"] == "ma"
    assert ask(interpreter, "signature", "wt.sum(")["active"] == 0


def test_backends_are_described_and_switched(interpreter: Interpreter):
    backends = {row["name"]: row for row in ask(interpreter, "setBackend", "numpy")["backends"]}
    assert backends["numpy"]["isActive"]
    assert backends["webgl"]["reason"]
    assert ask(interpreter, "describe")["webtensor"] == wt.__version__


def test_errors_are_answers(interpreter: Interpreter):
    assert "is not registered" in ask(interpreter, "setBackend", "abacus")["error"]


def test_files_are_listed_and_deleted(interpreter: Interpreter, tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.csv").write_text("1,2")
    (tmp_path / ".hidden").touch()
    listed = {"files": [{"name": "data/x.csv", "size": 3}], "others": 0}
    assert ask(interpreter, "listFiles") == listed
    ask(interpreter, "removeFile", "data/x.csv")
    assert list_files(tmp_path) == {"files": [], "others": 0}


@pytest.mark.parametrize("answer, text", [('{"text": "line"}', "line"), ('{"text": null}', None)])
def test_line_that_the_page_answers(answer: str, text: str | None):
    assert read_from_page(lambda: answer, can_block=True) == text


def test_input_can_be_interrupted():
    with pytest.raises(KeyboardInterrupt):
        read_from_page(lambda: '{"isInterrupted": true}', can_block=True)


def test_input_that_cannot_wait_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyodide", ModuleType("pyodide"))
    foreign: Any = ModuleType("pyodide.ffi")
    foreign.can_run_sync, foreign.run_sync = lambda: False, None
    monkeypatch.setitem(sys.modules, "pyodide.ffi", foreign)
    with pytest.raises(OSError, match="shared memory"):
        read_from_page(lambda: "", can_block=False)


def test_sleep_can_be_interrupted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(time, "sleep", time.sleep)
    make_sleep_interruptible(lambda seconds: seconds > 1)
    time.sleep(0.01)
    with pytest.raises(KeyboardInterrupt):
        time.sleep(2)
    with pytest.raises(ValueError, match="non-negative"):
        time.sleep(-1)


def test_errors_of_tasks_are_written(capsys: pytest.CaptureFixture[str]):
    async def run() -> None:
        loop = asyncio.get_running_loop()
        report_task_error(loop, {"message": "lost", "exception": ValueError("unseen")})
        report_task_error(loop, {"message": "lost"})

    asyncio.run(run())
    error = capsys.readouterr().err
    assert "ValueError: unseen" in error
    assert error.endswith("lost\n")


# -- examples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    names = {"display": visitor.shown.append, "plot": plot, "picture": picture}
    for name, value in names.items():
        monkeypatch.setattr(builtins, name, value, raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("<\n>\n=\n"))
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    assert visitor.run(path.read_text("utf-8")) is None
    assert printed.getvalue() or visitor.shown
    assert all(content_of(value) for value in visitor.shown)


def test_page_offers_every_example():
    page = (WEB / "repl" / "index.html").read_text("utf-8")
    choices = re.search(r'<select id="examples".*?>(.*?)</select>', page, re.DOTALL)
    assert choices is not None
    offered = re.findall(r'<option value="(\w+)">', choices[1])
    assert sorted(offered) == [path.stem for path in EXAMPLES]


def test_only_this_page_may_fetch_packages():
    policy = "Content-Security-Policy"
    assert "connect-src 'self' https:" in site_headers("/repl/worker.js")[policy]
    assert "https:" not in site_headers("/digits/")[policy]


def test_worker_loads_every_module():
    worker = (WEB / "repl" / "worker.js").read_text("utf-8")
    modules = re.search(r"const MODULES = \[(.*?)\]", worker, re.DOTALL)
    assert modules is not None
    loaded = re.findall(r'"(\w+)"', modules[1])
    assert loaded == sorted(path.stem for path in (WEB / "repl").glob("*.py"))
