// Starts Python in a page: Pyodide and webtensor's wheel, both from this site, no other host.
//
//   import { startPython, runPage } from "../shared/loader.js";
//
// `startPython` returns the Pyodide object with `webtensor` ready to import. `runPage` does that and
// runs a page's Python file. Errors of either, then and later, are written into the page; progress
// is shown in its element `#loading` while that exists.

const site = new URL("../", import.meta.url);

/**
 * Boots Pyodide and installs webtensor's wheel.
 * @param {{onProgress?: (fraction: number, text: string) => void}} options
 */
export async function startPython({ onProgress = () => {} } = {}) {
  if (typeof WebAssembly !== "object") {
    throw new Error("This browser, or its security settings, lack WebAssembly, which Python needs.");
  }
  onProgress(0, "Loading Python");
  const build = await fetchFile(new URL("build.json", site)).then((response) => response.json());
  const indexURL = new URL(build.pyodide, site).href;
  const javascript = import(new URL(build.javascript, site).href);
  javascript.catch(() => {}); // awaited below
  const { loadPyodide } = await import(indexURL + "pyodide.mjs");
  onProgress(0.1, "Starting Python");
  const pyodide = await loadPyodide({ indexURL });
  onProgress(0.8, "Loading webtensor");
  pyodide.registerJsModule("webtensor_javascript", await javascript);
  await installWheel(pyodide, new URL(build.wheel, site).href);
  pyodide.runPython(REPORT_TASK_ERRORS);
  onProgress(1, "Ready");
  return pyodide;
}

/**
 * Boots Python and runs a page's Python file; resolves when the file's last line has run.
 * @param {string} path the Python file, relative to the page, for example "main.py"
 * @param {{modules?: string[], onProgress?: (fraction: number, text: string) => void}} options
 *   `modules`: further Python files, relative to the page, which `path` may import by their names.
 * @returns the Pyodide object, or undefined when something failed and the page shows it.
 */
export async function runPage(path, { modules = [], onProgress = showProgress } = {}) {
  addEventListener("error", (event) => showError(event.error ?? event.message));
  addEventListener("unhandledrejection", (event) => showError(event.reason));
  try {
    const sources = Promise.all(
      [path, ...modules].map((name) =>
        fetchFile(new URL(name, document.baseURI)).then((response) => response.text()),
      ),
    );
    const [pyodide, [source, ...moduleSources]] = await Promise.all([
      startPython({ onProgress }),
      sources,
    ]);
    modules.forEach((name, index) =>
      pyodide.FS.writeFile(name.split("/").pop(), moduleSources[index]),
    );
    await pyodide.runPythonAsync(source, { filename: path });
    document.getElementById("loading")?.remove();
    return pyodide;
  } catch (error) {
    showError(error);
    return undefined;
  }
}

/** Shows in the page's element `#loading`, where it has one, how far loading has come. */
function showProgress(fraction, text) {
  const loading = document.getElementById("loading");
  if (loading !== null) {
    loading.querySelector("progress").value = fraction;
    loading.querySelector("[role=status]").textContent = text;
  }
}

/** Writes an error into the page, where the visitor sees it, and into the console. */
export function showError(error) {
  const text = error?.message ?? String(error);
  console.error(text);
  document.getElementById("loading")?.remove();
  const box = document.createElement("section");
  box.className = "error";
  box.setAttribute("role", "alert");
  const title = document.createElement("strong");
  title.textContent = "Something went wrong: " + (text.trim().split("\n").pop() || "unknown error");
  const details = document.createElement("pre");
  details.textContent = text;
  box.append(title, details);
  (document.querySelector("main") ?? document.body).prepend(box);
}

async function fetchFile(url) {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`${url.pathname} could not be loaded: ${response.status} ${response.statusText}`);
  }
  return response;
}

// A wheel by URL: its content is this site's own, so there is no lock-file entry to check it against.
async function installWheel(pyodide, url) {
  await pyodide.loadPackage(url, { checkIntegrity: false, messageCallback: () => {} });
  if (pyodide.runPython("import importlib.util; importlib.util.find_spec('webtensor') is None")) {
    throw new Error(`${url} could not be installed`);
  }
}

// An exception in an asyncio task nobody awaits would otherwise go unseen. Raising it as a page
// error makes it visible: `runPage` shows it, and tests fail on it.
const REPORT_TASK_ERRORS = `
import asyncio
import traceback

from js import reportError, Error


def _report_task_error(loop, context):
    error = context.get("exception")
    text = "".join(traceback.format_exception(error)) if error else context["message"]
    reportError(Error.new(text))


asyncio.get_event_loop().set_exception_handler(_report_task_error)
del _report_task_error
`;
