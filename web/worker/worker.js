// Python in a worker: learns on each OffscreenCanvas that the page sends, and posts what it reports.
import { serve } from "../shared/python_worker.js";

const report = (epoch, accuracy, seconds) =>
  postMessage({ kind: "learnt", epoch, accuracy, seconds });

serve([new URL("spirals.py", import.meta.url)], (pyodide, { backend, canvas }) =>
  pyodide.pyimport("spirals").learn(backend, canvas, report),
);
