"""The page of models: joins what opens a model, fills its inputs, shows its outputs and times it.

The address may choose: `?model=edges`, `?backend=wasm`. The phase is in `<main data-phase>`:
loading, busy or ready.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from html import escape
from time import perf_counter
from traceback import format_exception
from typing import Any

import js
from filling import filled
from input_forms import filling_of, input_row
from opening import OPENERS, OpenModel, is_model_file, open_file, open_web_model
from outputs_panel import OutputsPanel
from page import element, on, query, run_in_background, write
from pyodide.ffi import JsException, to_js
from shipped import SHIPPED, ShippedModel
from specifications import LONGEST_NAME, Specification
from timing import measure
from views import read

import webtensor as wt

BACKENDS = {"webgl": "WebGL", "wasm": "WebAssembly"}
FIRST_MODEL = "digits"
#: Pictures of fewer pixels are shown with their pixels.
SMALL = 48
#: How much of a model's description is shown.
MAX_LINES, LONGEST_MESSAGE = 12, 500
#: What is enabled when nothing is going on, and when a model is open, too.
CONTROLS = ("backends", "files", "folder", "picture-file")
MODEL_CONTROLS = ("run", "measure")

Opener = Callable[[], Awaitable[OpenModel]]


class ModelsPage:
    """The page's state; its methods handle the visitor's actions."""

    def __init__(self) -> None:
        """Wire the controls to a page without a model."""
        self.main = js.document.querySelector("main")
        self.model: OpenModel | None = None
        self.outputs = OutputsPanel()
        self.task: asyncio.Task[None] | None = None
        self.picture_url = ""
        write("endings", " or ".join((", ".join([*OPENERS][:-1]), [*OPENERS][-1])))
        element("shipped").innerHTML = "".join(
            f'<button type="button" value="{key}" disabled>{escape(shipped.title)}</button>'
            for key, shipped in SHIPPED.items()
        )
        self.wire()

    def wire(self) -> None:
        """Call methods when the visitor acts."""
        drop = element("drop")
        on(js.document, "dragover", lambda event: drop.classList.add("over"))
        on(js.document, "dragleave", lambda event: drop.classList.remove("over"))
        on(js.document, "drop", self.take_drop)
        for name in ("files", "folder"):
            on(element(name), "change", self.take_chosen)
        on(element("picture-file"), "change", self.take_chosen)
        on(element("shipped"), "click", self.take_shipped)
        on(element("stop"), "click", lambda event: self.task and self.task.cancel())
        on(element("backends"), "change", lambda event: self.begin(self.use(event.target.value)))
        on(element("run"), "click", lambda event: self.begin(self.run()))
        on(element("measure"), "click", lambda event: self.begin(self.measure()))

    # -- what is going on ----------------------------------------------------------------------

    async def open(self) -> None:
        """Choose a backend, and open the first model."""
        for name in BACKENDS:
            js.document.querySelector(f"[name=backend][value={name}]").disabled = (
                wt.unavailable_reason(name) is not None
            )
        available = [name for name in wt.available_backends() if name in BACKENDS]
        if not available:
            raise RuntimeError("Neither WebGL nor WebAssembly SIMD is available in this browser.")
        requested = query("backend")
        backend = requested if requested in available else wt.get_backend()
        if "webgl" in available and wt.priority_reason("webgl") is not None:
            write("backend-note", "This browser emulates WebGL; WebAssembly is quicker.")
        key = query("model") or ""
        shipped = SHIPPED.get(key, SHIPPED[FIRST_MODEL])

        async def first() -> None:
            await self.use(backend)
            await self.open_shipped(shipped)

        await self.begin(first())

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something that Stop can end, and whose failures the page shows."""
        self.enter("busy")
        if not element("notice").hidden:  # what failed before is over
            write("state", "")
        notify("")
        self.task = run_in_background(self.guarded(work))
        return self.task

    async def guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something, and say in a sentence why it failed."""
        try:
            await work
        except asyncio.CancelledError:
            write("state", "Stopped.")
        except MemoryError as error:
            fail(f"There is not enough memory in this page. {error}")
        except wt.ContextLostError:
            fail("The browser took the graphics context away. Open the model again.")
        except JsException as error:
            fail(error.message)
        except Exception as error:  # a visitor's model may raise anything
            if not isinstance(error, (ValueError, OSError, wt.BackendError)):
                js.console.warn("".join(format_exception(error)))
            fail(str(error) or type(error).__name__)
        finally:
            self.enter("ready")

    def enter(self, phase: str) -> None:
        """Enter a phase, and enable what makes sense in it."""
        is_ready = phase == "ready"
        for name in CONTROLS:
            element(name).disabled = not is_ready
        for button in element("shipped").children:
            button.disabled = not is_ready
        for name in MODEL_CONTROLS:
            element(name).disabled = not is_ready or self.model is None
        element("with-peer").disabled = (
            not is_ready or self.model is None or self.model.artifacts is None
        )
        element("stop").disabled = is_ready
        self.show_memory()
        self.main.dataset.phase = phase

    @property
    def is_busy(self) -> bool:
        """Whether something is going on."""
        return str(self.main.dataset.phase) != "ready"

    # -- opening -------------------------------------------------------------------------------

    def take_drop(self, event: Any) -> None:
        """Open what was dropped: a folder, files, or a picture."""
        element("drop").classList.remove("over")
        if self.is_busy:
            notify("Wait for what is going on, or stop it, before you drop another file.")
            return
        items, files = event.dataTransfer.items, event.dataTransfer.files
        if not files.length:
            fail("What was dropped is no file.")
            return
        entry = items[0].webkitGetAsEntry() if items.length == 1 else None
        if entry and entry.isDirectory:
            self.open_web(wt.io.browser_files(items, on_progress=show_progress), files[0].name)
        else:
            self.take_files(list(files), items)

    def take_chosen(self, event: Any) -> None:
        """Open the files that were chosen."""
        chosen = list(event.target.files)
        event.target.value = ""  # the same file may be chosen again
        if chosen:
            self.take_files(chosen, chosen)

    def take_files(self, files: Sequence[Any], entries: Iterable[Any]) -> None:
        """Open files, which browsers list as entries, too: a model, or a picture."""
        blobs = {str(file.name): file for file in files}
        models = [name for name in blobs if is_model_file(name)]
        if len(models) == 1:
            name = models[0]
            self.begin(self.open_model(name, partial(open_file, name, blobs[name], blobs)))
        elif models:
            fail(f"These are {len(models)} models; open one of them: {', '.join(models)}.")
        elif len(files) == 1:
            self.take_file(files[0])
        else:
            folder = str(files[0].webkitRelativePath).partition("/")[0]
            handler = wt.io.browser_files(entries, on_progress=show_progress)
            self.open_web(handler, folder or files[0].name)

    def take_file(self, file: Any) -> None:
        """Open a picture, or a model of TensorFlow.js that has no other files."""
        name = str(file.name)
        if str(file.type).startswith("image/"):
            self.begin(self.use_picture(str(js.URL.createObjectURL(file)), name))
        elif name.lower().endswith(".json"):
            self.open_web(wt.io.browser_files([file], on_progress=show_progress), name)
        else:
            fail(
                f"{name} is of no kind that this page opens: models of TensorFlow.js (folders with "
                f"model.json), files that end in {', '.join(OPENERS)}, and pictures."
            )

    def take_shipped(self, event: Any) -> None:
        """Open a model of the site, by the button that was pressed."""
        if event.target.value:
            self.begin(self.open_shipped(SHIPPED[str(event.target.value)]))

    def open_web(self, handler: wt.io.IOHandler, name: str) -> None:
        """Open a model of TensorFlow.js from its files."""
        self.begin(self.open_model(name, partial(open_web_model, handler.load_async)))

    async def open_shipped(self, shipped: ShippedModel) -> None:
        """Open a model of the site, and run it on its picture."""
        name = shipped.address.rpartition("/")[2]
        await self.use_picture(shipped.picture)

        async def fetched() -> OpenModel:
            response = await js.fetch(shipped.address)
            if not response.ok:
                raise OSError(f"{shipped.address} could not be loaded: {response.status}")
            return await open_file(name, await response.blob(), {})

        handler = partial(wt.io.load_artifacts_async, shipped.address, on_progress=show_progress)
        opener = fetched if is_model_file(name) else partial(open_web_model, handler)
        await self.open_model(shipped.title, opener, shipped)
        await self.run()

    async def open_model(
        self, name: str, opener: Opener, shipped: ShippedModel | None = None
    ) -> None:
        """Close the model that is open, and open another."""
        self.close()
        write("state", f"Opening {name}")
        show_progress(0.0)
        await wt.next_frame()
        began = perf_counter()
        self.model = await opener()
        milliseconds = (perf_counter() - began) * 1000
        show_progress(1.0)
        write("state", f"{name} is open, after {milliseconds:.0f} ms.")
        self.show_contents(name, "" if shipped is None else shipped.about)
        element("inputs").innerHTML = "".join(
            input_row(spec, shipped) for spec in self.model.inputs
        )
        can_compare = self.model.artifacts is not None
        write(
            "peer-note",
            "It is loaded when it is first needed."
            if can_compare
            else f"It does not read {self.model.format}.",
        )
        element("with-peer").checked = False

    def close(self) -> None:
        """Give back the memory of the model that is open, and forget what it computed."""
        if self.model is not None:
            self.model.close()
        self.model = None
        self.outputs.clear()
        for name in ("operations", "inputs"):
            element(name).innerHTML = ""
        element("facts").innerHTML = '<tr><td class="muted">No model is open.</td></tr>'
        element("times").hidden = True

    async def use_picture(self, url: str, name: str = "the picture") -> None:
        """Fill inputs with another picture from now on."""
        image = js.Image.new()
        image.src = url
        try:
            await image.decode()
        except JsException:
            js.URL.revokeObjectURL(url)
            raise ValueError(f"{name} is no picture that this browser can read.") from None
        shown = element("picture")
        shown.src = url
        await shown.decode()
        shown.className = "" if image.naturalWidth < SMALL else "large"
        js.URL.revokeObjectURL(self.picture_url)  # without effect on addresses of the site
        self.picture_url = url

    async def use(self, backend: str) -> None:
        """Compute on another backend from now on."""
        js.document.querySelector(f"[name=backend][value={backend}]").checked = True
        wt.set_backend(backend)
        await wt.ready()

    # -- what is in the model ------------------------------------------------------------------

    def show_contents(self, name: str, about: str) -> None:
        """Describe the model."""
        model = self.model
        assert model is not None
        operations, weights = model.contents
        count = sum(operations.values())
        facts: dict[str, Iterable[str]] = {
            "Model": [name, *([about] if about else [])],
            "Format": [model.format],
            "Inputs": described(model.inputs),
            "Outputs": described(model.outputs) or ["known once it has run"],
            "Operations": [f"{count:,}, of {len(operations):,} kinds"],
            "Weights": [f"{model.contents.parameters:,} numbers in {len(weights):,} tensors"],
            "Size": [f"{model.size:,} bytes"],
            "In memory": [""],
        }
        element("facts").innerHTML = "".join(
            f'<tr><th scope="row">{title}</th><td>'
            + "".join(f"<span>{escape(line)}</span>" for line in lines)
            + "</td></tr>"
            for title, lines in facts.items()
        )
        ordered = sorted(operations.items(), key=lambda item: (-item[1], item[0]))
        element("operations").innerHTML = "".join(
            f'<tr><th scope="row">{escape(op[:LONGEST_NAME])}</th><td>{count:,}</td></tr>'
            for op, count in ordered
        )

    def show_memory(self) -> None:
        """Say what tensors there are."""
        memory = wt.memory()
        count, size = memory["num_tensors"], memory["num_bytes"]
        on_gpu = memory["num_bytes_in_gpu"]
        self.main.dataset.tensors, self.main.dataset.bytesOnGpu = str(count), str(on_gpu)
        row = js.document.querySelector("#facts tr:last-child td span")
        if row:
            gpu = f", {on_gpu:,} bytes on the graphics processor" if on_gpu else ""
            tensors = "1 tensor" if count == 1 else f"{count:,} tensors"
            row.textContent = f"{tensors} of {size:,} bytes{gpu}"

    # -- running -------------------------------------------------------------------------------

    def inputs(self) -> list[wt.Tensor]:
        """Return the inputs as the visitor fills them.

        Raises:
            ValueError: a shape does not fit, or something is no number.
        """
        assert self.model is not None
        rows = element("inputs").children
        return [
            filled(spec, filling_of(row, spec), element("picture"))
            for row, spec in zip(rows, self.model.inputs, strict=True)
        ]

    async def run(self) -> None:
        """Compute the outputs once, and show them."""
        model = self.model
        assert model is not None
        backend = wt.get_backend()
        write("result-state", f"Computing on {BACKENDS[backend]}")
        await wt.next_frame()
        try:
            inputs = self.inputs()
            began = perf_counter()
            tensors = await model.run(inputs)
            names = [spec.name for spec in model.outputs]
            names += [f"output {index}" for index in range(len(names), len(tensors))]
            outputs = [
                await read(name, tensor) for name, tensor in zip(names, tensors, strict=True)
            ]
        except BaseException:
            write("result-state", "Nothing is computed.")
            raise
        milliseconds = (perf_counter() - began) * 1000
        self.outputs.show(outputs, f"{milliseconds:.1f} ms on {BACKENDS[backend]}")

    # -- timing --------------------------------------------------------------------------------

    async def measure(self) -> None:
        """Time the model on each backend that is available, and return to the chosen one."""
        model = self.model
        assert model is not None
        chosen = wt.get_backend()
        with_peer = bool(element("with-peer").checked)
        table = element("times")
        body = table.querySelector("tbody")
        body.innerHTML = ""
        table.hidden = False
        rows: list[dict[str, Any]] = []
        try:
            inputs = self.inputs()
            for name in (name for name in wt.available_backends() if name in BACKENDS):
                write("state", f"Measuring on {BACKENDS[name]}")
                await wt.next_frame()
                rows.append(await self.timed_row(model, inputs, name, with_peer))
                body.replaceChildren(*drawn_rows(rows))
            write("state", "Measured.")
        finally:
            await self.use(chosen)

    async def timed_row(
        self, model: OpenModel, inputs: list[wt.Tensor], backend: str, with_peer: bool
    ) -> dict[str, Any]:
        """Return a row of the table of times, as `speed.js` takes it."""
        row: dict[str, Any] = {"title": BACKENDS[backend]}
        details = []
        try:
            times = await measure(model, inputs, backend, with_peer=with_peer)
        except JsException as error:
            details.append(f"TensorFlow.js failed: {error.message[:300]}")
            times = await measure(model, inputs, backend, with_peer=False)
        details.insert(0, f"the first one took {times.first:.1f} ms")
        row["ours_ms"] = times.ours
        if times.theirs is not None:
            row |= {"theirs_ms": times.theirs, "ratio": times.theirs / times.ours}
            difference = f"differ by {times.difference:.1g} of their largest value"
            details.append(f"outputs {difference if times.difference else 'are equal'}")
        row["details"] = " · ".join(details)
        return row


def drawn_rows(rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Draw the rows of the table of times, with bars on one scale, as backends do the same work."""
    longest = max(max(row["ours_ms"], row.get("theirs_ms", 0.0)) for row in rows)
    return [
        js.speedRow(to_js(row | {"longest_ms": longest}, dict_converter=js.Object.fromEntries))
        for row in rows
    ]


# -- descriptions --------------------------------------------------------------------------------


def described(specs: Sequence[Specification]) -> list[str]:
    """Describe inputs or outputs in a line each, the first ones of many."""
    lines = [f"{spec.short_name}: {spec.kind}" for spec in specs[:MAX_LINES]]
    rest = len(specs) - len(lines)
    return [*lines, f"… and {rest:,} more"] if rest else lines


# -- messages ----------------------------------------------------------------------------------


def show_progress(fraction: float) -> None:
    """Show how much of a model is read."""
    element("progress").value = fraction


def notify(message: str) -> None:
    """Show a message above the model, or hide the last one when there is none."""
    write("notice", message)
    element("notice").hidden = not message


def fail(message: str) -> None:
    """Say why something failed."""
    notify(message[:LONGEST_MESSAGE])
    write("state", "That did not work.")


await ModelsPage().open()
