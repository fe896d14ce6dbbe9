import { startPython } from "/shared/loader.js";
import { keepForNextVisit } from "/shared/next_visit.js";
import { valuesOf } from "./uniform.js";

globalThis.keepForNextVisit = keepForNextVisit; // the runner calls it between two visits

const LOADER = "webtensor: "; // what the names of the loader's marks begin with

const steps = {};
const note = (name) => void (steps[name] = performance.now());
const fetchText = (url) => fetch(url).then((response) => response.text());

globalThis.firstPrediction = (async () => {
  const [pyodide, model, source] = await Promise.all([
    startPython(),
    fetchText("/digits/model.py"),
    fetchText("/tests/bench/first_ours.py"),
  ]);
  for (const { name, startTime } of performance.getEntriesByType("mark")) {
    if (name.startsWith(LOADER)) steps[name.slice(LOADER.length)] = startTime;
  }
  pyodide.FS.writeFile("model.py", model);
  pyodide.FS.writeFile("first_ours.py", source);
  const backend = new URLSearchParams(location.search).get("backend");
  const { predict } = pyodide.pyimport("first_ours");
  note("modules imported");
  const inputs = globalThis.inputs; // set by the runner
  const values = await predict(backend, inputs, valuesOf(inputs));
  note("predicted");
  return { ms: steps.predicted, steps, values: [...values] };
})();
