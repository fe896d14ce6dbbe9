// Python in a worker: learns on each OffscreenCanvas that the page sends, and posts what it reports.
import { startPython } from "../shared/loader.js";

const onProgress = (fraction, text) => postMessage({ kind: "loading", fraction, text });
const python = startPython({ onProgress });

addEventListener("message", async ({ data: { backend, canvas } }) => {
  try {
    const [pyodide, source] = await Promise.all([
      python,
      fetch(new URL("spirals.py", import.meta.url)).then((response) => response.text()),
    ]);
    pyodide.FS.writeFile("spirals.py", source);
    const report = (epoch, accuracy, seconds) =>
      postMessage({ kind: "learnt", epoch, accuracy, seconds });
    await pyodide.pyimport("spirals").learn(backend, canvas, report);
    postMessage({ kind: "done" });
  } catch (error) {
    postMessage({ kind: "failed", error: String(error) });
  }
});
