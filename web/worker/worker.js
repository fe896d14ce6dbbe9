// Python in a worker: learns on the OffscreenCanvas that the page sends, and posts what it reports.
import { startPython } from "../shared/loader.js";

const python = startPython();

addEventListener("message", async ({ data: { backend, canvas } }) => {
  try {
    const [pyodide, source] = await Promise.all([
      python,
      fetch(new URL("spirals.py", import.meta.url)).then((response) => response.text()),
    ]);
    pyodide.FS.writeFile("spirals.py", source);
    const report = (epoch, accuracy, seconds) => postMessage({ epoch, accuracy, seconds });
    await pyodide.pyimport("spirals").learn(backend, canvas, report);
    postMessage({ done: true });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
