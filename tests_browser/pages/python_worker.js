// Python in a worker: runs the source that is posted, and posts the value of its last expression.
// Objects that come with the source are Python's `js.given`.
import { startPython } from "/shared/loader.js";

const python = startPython();

addEventListener("message", async ({ data }) => {
  try {
    const { source, given } = typeof data === "string" ? { source: data } : data;
    globalThis.given = given;
    const pyodide = await python;
    postMessage({ value: await pyodide.runPythonAsync(source) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
