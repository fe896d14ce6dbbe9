import { runPage } from "./shared/loader.js";
import { showSpeed } from "./shared/speed.js";
import * as terminal from "./shared/terminal.js";

const element = (id) => document.getElementById(id);
const source = element("source");
const example = source.value;

// Before Python is there, the program can be read and edited; Run waits for it in `data-wanted`.
const showPlain = () => (element("colours").textContent = source.value);
source.addEventListener("input", showPlain);
source.addEventListener("scroll", () => {
  const { parentElement: colours } = element("colours");
  colours.scrollLeft = source.scrollLeft;
  colours.scrollTop = source.scrollTop;
});
source.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    element("run").dispatchEvent(new Event("rerun"));
  }
});
const wantRun = () => {
  element("run").dataset.wanted = "";
  element("run-state").textContent = "Runs as soon as Python is there";
};
const RUNS = ["click", "rerun"];
RUNS.forEach((event) => element("run").addEventListener(event, wantRun));
element("reset").addEventListener("click", () => {
  source.value = example;
  source.dispatchEvent(new Event("input"));
});
source.value = example; // browsers may keep what a reload had
showPlain();

element("copy").addEventListener("click", async () => {
  const state = element("copy-state");
  try {
    await navigator.clipboard.writeText(element("own-page").textContent);
    state.textContent = "Copied";
  } catch {
    state.textContent = "The browser forbids it: select the text"; // pages without https have no clipboard
  }
});

const speed = fetch("benchmarks.json").then((response) => response.json());
speed.then(showSpeed);

const pyodide = await runPage("index.py", {
  modules: [
    ...["capabilities", "charts", "evaluation", "highlight", "page", "program"].map((name) => `shared/${name}.py`),
    "plot.py",
  ],
  libraries: { terminal },
});
RUNS.forEach((event) => element("run").removeEventListener(event, wantRun));
if (pyodide === undefined) {
  element("run").disabled = true;
  element("run-state").textContent = "Python could not start here";
}
