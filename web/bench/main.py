"""The benchmark page: the visitor chooses workloads, and sees both libraries do them in turns.

The phase is in `<main data-phase>`: loading, ready or measuring.
"""

import json
from html import escape
from typing import Any

import js
from page import element, on, write
from pyodide.ffi import to_js
from pyodide.http import pyfetch

import webtensor as wt
from webtensor.backends.webgl.context import renderer

if not wt.available_backends():
    raise RuntimeError("Neither WebGL nor WebAssembly SIMD is available in this browser.")
archive = await pyfetch("workloads.zip")
archive.raise_for_status()
await archive.unpack_archive(format="zip")
wt.set_backend(wt.available_backends()[-1])  # models are asked for their weights as rows are listed
await wt.ready()

from measurements import SAMPLE, TARGETS, Job, Measurements, jobs, obstacle, offered, title_of

CHOICES = ("start", "targets", "effort", "choose-sample", "choose-all", "choose-none")


class BenchmarkPage:
    """The page's state; its methods handle the visitor's actions."""

    def __init__(self) -> None:
        """Describe the device, list the workloads, and wire the controls."""
        self.main = js.document.querySelector("main")
        self.stop_requested = False
        self.export_url = ""
        self.renderer = gpu()
        self.workloads = {
            workload.key: workload for family in offered().values() for workload in family
        }
        self.show_device()
        element("families").innerHTML = "".join(
            family_choices(title, [workload.key for workload in family])
            for title, family in offered().items()
        )
        on(element("families"), "change", self.show_choice)
        on(element("targets"), "change", self.show_choice)
        on(element("choose-sample"), "click", lambda event: self.choose(SAMPLE))
        on(element("choose-all"), "click", lambda event: self.choose(self.workloads))
        on(element("choose-none"), "click", lambda event: self.choose(()))
        on(element("start"), "click", lambda event: self.measure())
        on(element("stop"), "click", lambda event: self.stop())
        self.enter("ready")
        self.choose(SAMPLE)

    # -- the choice ----------------------------------------------------------------------------

    def show_device(self) -> None:
        """Say what computes here, and offer the targets on which something can be measured."""
        facts = {"Graphics processor": self.renderer, "Browser": js.navigator.userAgent}
        facts["Processors"] = js.navigator.hardwareConcurrency
        for name, target in TARGETS.items():
            reason = obstacle(target)
            facts[target.title] = reason or wt.priority_reason(target.backend) or "available"
            box = js.document.querySelector(f"#targets [value={name}]")
            box.checked = reason is None
            box.disabled = reason is not None
        element("device").innerHTML = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td>{escape(str(fact))}</td></tr>'
            for name, fact in facts.items()
        )

    def choose(self, keys: Any) -> None:
        """Choose workloads by their keys."""
        chosen = set(keys)
        for box in js.document.querySelectorAll("#families [value]"):
            box.checked = box.value in chosen
        self.show_choice()

    def chosen_jobs(self) -> list[Job]:
        """Return the rows that are chosen now."""
        boxes = js.document.querySelectorAll("#families [value]:checked")
        targets = js.document.querySelectorAll("#targets :checked:enabled")
        workloads = [self.workloads[box.value] for box in boxes]
        return list(jobs(workloads, [box.value for box in targets]))

    def show_choice(self, event: Any = None) -> None:
        """Say how much is chosen."""
        for family in js.document.querySelectorAll("#families details"):
            boxes = family.querySelectorAll("[value]").length
            count = family.querySelectorAll(":checked").length
            family.querySelector("summary span").textContent = f"{count} of {boxes}"
        write("state", f"{len(self.chosen_jobs())} rows are chosen.")

    # -- the run -------------------------------------------------------------------------------

    async def measure(self) -> None:
        """Measure the chosen rows, one after the other, until the last or Stop."""
        chosen = self.chosen_jobs()
        if not chosen:
            write("state", "Choose workloads below, and what they compute on, to have rows to run.")
            return
        self.stop_requested = False
        self.enter("measuring")
        element("failures").innerHTML = ""
        element("results").querySelector("tbody").innerHTML = ""
        effort = js.document.querySelector("[name=effort]:checked").value
        measurements = Measurements(self.renderer, effort)
        for number, job in enumerate(chosen):
            names = job.names
            title = f"{names.workload} {names.sizes}, {title_of(names.backend, names.threads)}"
            write("state", f"Row {number + 1} of {len(chosen)}: {title}")
            await wt.next_frame()
            try:
                show_row(await measurements.measure(job))
            except Exception as error:  # of either library
                measurements.fail(job, error)
                item = js.document.createElement("li")
                item.textContent = f"{title} failed: {str(error).strip().splitlines()[-1]}"
                element("failures").append(item)
            element("progress").value = (number + 1) / len(chosen)
            self.show_results(measurements)
            if self.stop_requested:
                break
        stopped = "Stopped after" if self.stop_requested else "Done:"
        write("state", f"{stopped} {len(measurements.rows)} rows.")
        self.enter("ready")

    def stop(self) -> None:
        """End the run after the row that is being measured."""
        self.stop_requested = True
        element("stop").disabled = True

    def show_results(self, measurements: Measurements) -> None:
        """Sum the rows up, and offer them as a file and as an issue."""
        write("summary", " ".join(measurements.summaries()))
        text = json.dumps(measurements.report(), indent=1, ensure_ascii=False)
        if self.export_url:
            js.URL.revokeObjectURL(self.export_url)
        options = to_js({"type": "application/json"})
        self.export_url = str(js.URL.createObjectURL(js.Blob.new(to_js([text]), options)))
        element("export").href = self.export_url
        element("issue").href = measurements.issue(self.main.dataset.repository)
        element("results").hidden = element("share").hidden = False

    def enter(self, phase: str) -> None:
        """Enter a phase, and enable what makes sense in it."""
        self.main.dataset.phase = phase
        for name in CHOICES:
            element(name).disabled = phase != "ready"
        element("stop").disabled = phase != "measuring"


def gpu() -> str:
    """Return the name of the graphics processor, as far as the browser tells it."""
    context = js.document.createElement("canvas").getContext("webgl2")
    return renderer(context) if context else "none"


def family_choices(title: str, keys: list[str]) -> str:
    """Return the workloads of a family, each with a box to choose it by."""
    boxes = "".join(
        f'<label><input type="checkbox" value="{escape(key)}" /> {escape(key.removesuffix(" 1"))}'
        "</label>"
        for key in keys
    )
    return f"<details><summary>{escape(title)} <span></span></summary>{boxes}</details>"


def show_row(row: Any) -> None:
    """Add a row to the chart."""
    peer = "" if row["peer"]["backend"] == row["backend"] else f", theirs {row['peer']['backend']}"
    drawn = {
        "title": row["workload"],
        "details": f"{row['sizes']} · {title_of(row['backend'], row['threads'])}{peer}",
        "ours_ms": row["ours_ms"]["median"],
        "theirs_ms": row["theirs_ms"]["median"],
        "ratio": row["ratio"]["median"],
    }
    if row["agree"] > row["tolerance"]:
        drawn["details"] += f" · results differ by {row['agree']:.0e}"
    element("results").querySelector("tbody").append(js.speedRow(to_js(drawn)))


BenchmarkPage()
