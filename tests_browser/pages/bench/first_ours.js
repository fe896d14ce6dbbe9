import { startPython } from "/shared/loader.js";
import { valuesOf } from "./uniform.js";

// What the loader has done when it says what comes next.
const STEPS = {
  "Starting Python": "runtime script loaded",
  "Loading webtensor": "Python started",
  Ready: "webtensor installed",
};

const steps = {};
const note = (name) => void (steps[name] = performance.now());
const onProgress = (_, text) => STEPS[text] && note(STEPS[text]);
const fetchText = (url) => fetch(url).then((response) => response.text());

globalThis.firstPrediction = (async () => {
  const [pyodide, model, source] = await Promise.all([
    startPython({ onProgress }),
    fetchText("/digits/model.py"),
    fetchText("first_ours.py"),
  ]);
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
