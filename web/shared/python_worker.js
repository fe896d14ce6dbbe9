// Python in a worker: what the scripts of pages' workers share. The page's side is python_worker.py.
import { fetchFile } from "./downloads.js";
import { startPython } from "./loader.js";

/**
 * Answers the page's messages, one after another, by Python that it starts at once. It posts
 * {kind: "loading", fraction, text} until Python is there, and for each message, after what `answer`
 * posts, {kind: "done"} or {kind: "failed", error}.
 * @param {URL[]} modules Python files, which may be imported by their names
 * @param {(pyodide: object, message: any) => Promise} answer
 */
export function serve(modules, answer) {
  const python = start(modules);
  python.catch(() => {}); // every message reports it
  addEventListener("message", async ({ data }) => {
    try {
      await answer(await python, data);
      postMessage({ kind: "done" });
    } catch (error) {
      postMessage({ kind: "failed", error: String(error) });
    }
  });
}

async function start(modules) {
  const onProgress = (fraction, text) => postMessage({ kind: "loading", fraction, text });
  const sources = Promise.all(
    modules.map((url) => fetchFile(url).then((response) => response.text())),
  );
  sources.catch(() => {}); // awaited below
  const pyodide = await startPython({ onProgress });
  for (const [index, source] of (await sources).entries()) {
    pyodide.FS.writeFile(modules[index].pathname.split("/").pop(), source);
  }
  return pyodide;
}
