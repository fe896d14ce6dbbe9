// Python in a worker: runs the source that is posted, and posts the value of its last expression.
import { startPython } from "/shared/loader.js";

const python = startPython();

addEventListener("message", async ({ data }) => {
  try {
    const pyodide = await python;
    postMessage({ value: await pyodide.runPythonAsync(data) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
