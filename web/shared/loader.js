// Starts Python in a page: Pyodide and webtensor's wheel, both from this site, no other host.
//
//   import { startPython, runPage } from "../shared/loader.js";
//
// `startPython` returns the Pyodide object with `webtensor` ready to import. `runPage` does that and
// runs a page's Python file. Errors of either, then and later, are written into the page; progress
// is shown in its element `#loading` while that exists.

import { Downloads, fetchBytes, fetchFile } from "./downloads.js";
import { keepForNextVisit } from "./next_visit.js";
import { renew, restoring } from "./snapshot.js";
import { obstacleTo, readingBuild, site, snapshotDownload } from "./snapshot_download.js";

// Where Python finds its library, and webtensor (`web/site_build/start_files.mjs`).
const LIBRARY = "/lib/python314.zip";
const ARCHIVE = "/lib/webtensor.zip";

// How long the snapshot's download may stand still once the runtime is compiled: about as long as
// Python takes to start without it, which would also download more than the snapshot still lacks.
const PATIENCE_MS = 3000;

// What becomes of the bar while files are loaded; the rest is for what Python does.
const DOWNLOADS_SHARE = 0.9;

/**
 * Starts Python with webtensor ready to import, from a snapshot of its memory where that can be had,
 * and not with `?start=plain` in the page's address.
 * @param {{onProgress?: (fraction: number, text: string) => void}} options
 */
export async function startPython({ onProgress = () => {} } = {}) {
  if (typeof WebAssembly !== "object") {
    throw new Error("This browser, or its security settings, lack WebAssembly, which Python needs.");
  }
  onProgress(0, "Loading Python");
  const build = await readingBuild;
  const javascript = import(new URL(build.javascript, site).href);
  javascript.catch(() => {}); // awaited below
  const obstacle = obstacleTo(build);
  const pyodide =
    (obstacle === null ? await restored(build, onProgress) : sayPlain(obstacle, "debug")) ??
    (await booted(build, onProgress));
  pyodide.registerJsModule("webtensor_javascript", await javascript);
  pyodide.runPython(REPORT_TASK_ERRORS);
  mark("webtensor ready");
  onProgress(1, "Ready");
  return pyodide;
}

function sayPlain(reason, level = "warn") {
  console[level](`Python starts without the snapshot: ${reason}`);
  return null;
}

// Restores the snapshot; resolves to null, with the reason in the console, when that fails.
async function restored(build, onProgress) {
  const { snapshot, wheel } = build;
  const files = countedDownloads(build, [wheel, snapshot.heap], onProgress);
  const { heap, archive } = snapshotDownload;
  snapshotDownload.watch((href, count) => files.note(href, count));
  const options = restoring(snapshot, indexURL(build), () => inTime(heap));
  try {
    const pyodide = await loadPyodide(build, archive, options);
    renew(pyodide);
    mark("memory restored");
    return pyodide;
  } catch (error) {
    return sayPlain(error.message);
  } finally {
    snapshotDownload.stop();
    files.close();
  }
}

// Awaits the snapshot's memory for as long as that can be quicker than to start without.
function inTime(heap) {
  mark("runtime compiled");
  return new Promise((resolve, reject) => {
    const late = new Error(`nothing of it came for ${PATIENCE_MS / 1000} s`);
    let timer;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(reject, PATIENCE_MS, late);
    };
    wait();
    snapshotDownload.watch(wait);
    heap.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function booted(build, onProgress) {
  const { compiled, sizes } = build;
  const files = countedDownloads(build, [compiled], onProgress);
  const url = new URL(compiled, site);
  const archive = fetchBytes(url, sizes[compiled], (count) => files.note(url.href, count));
  archive.catch(() => {}); // awaited later
  try {
    const pyodide = await loadPyodide(build, archive);
    pyodide.runPython(`import sys; sys.path.append("${ARCHIVE}")`);
    mark("Python booted");
    return pyodide;
  } finally {
    files.close();
  }
}

// Loads Pyodide, with the archive of webtensor's modules in its file system.
async function loadPyodide(build, archive, options = {}) {
  try {
    const script = await import(`${indexURL(build)}pyodide.mjs`);
    const loading = script.loadPyodide({ indexURL: indexURL(build), ...options });
    const pyodide = await Promise.race([loading, failedCompilation()]);
    pyodide.FS.writeFile(ARCHIVE, await archive, { canOwn: true });
    if (!pyodide.FS.analyzePath(LIBRARY).exists) throw new Error("Python lacks its library");
    return pyodide;
  } catch (error) {
    await findFiles(build); // Pyodide's errors do not say which file is missing
    throw error;
  }
}

// Throws a sentence that names one of Pyodide's files if it cannot be had.
function findFiles({ pyodide, sizes }) {
  const paths = Object.keys(sizes).filter((path) => path.startsWith(pyodide));
  return Promise.all(paths.map((path) => fetchFile(new URL(path, site), { method: "HEAD" })));
}

// Rejects when the browser cannot compile Python's runtime: Pyodide then waits for ever.
function failedCompilation() {
  const compile = WebAssembly.instantiateStreaming;
  return new Promise((_, reject) => {
    WebAssembly.instantiateStreaming = (...values) => {
      WebAssembly.instantiateStreaming = compile;
      const compiling = compile.apply(WebAssembly, values);
      compiling.catch((error) =>
        reject(new Error(`This browser could not compile Python's runtime: ${error.message}`)),
      );
      return compiling;
    };
  });
}

const indexURL = ({ pyodide }) => new URL(pyodide, site).href;

// Counts Pyodide's files, and others given by their paths, for the bar.
function countedDownloads({ pyodide, sizes }, others, onProgress) {
  const paths = Object.keys(sizes).filter(
    (path) => path.startsWith(pyodide) || others.includes(path),
  );
  const files = Object.fromEntries(paths.map((path) => [new URL(path, site).href, sizes[path]]));
  return new Downloads(files, (loaded, total) => {
    const progress = `Loading Python: ${megabytes(loaded)} of ${megabytes(total)} MB`;
    onProgress(DOWNLOADS_SHARE * (loaded / total), loaded < total ? progress : "Starting Python");
  });
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
const mark = (step) => performance.mark(`webtensor: ${step}`);

/**
 * Boots Python and runs a page's Python file; resolves when the file's last line has run.
 * @param {string} path the Python file, relative to the page, for example "main.py"
 * @param {{modules?: string[], libraries?: object,
 *   onProgress?: (fraction: number, text: string) => void}} options
 *   `modules`: further Python files, relative to the page, which `path` may import by their names;
 *   `libraries`: JavaScript modules that it may import, by their names.
 * @returns the Pyodide object, or undefined when something failed and the page shows it.
 */
export async function runPage(
  path,
  { modules = [], libraries = {}, onProgress = showProgress } = {},
) {
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
    for (const [name, library] of Object.entries(libraries)) pyodide.registerJsModule(name, library);
    await pyodide.runPythonAsync(source, { filename: path });
    document.getElementById("loading")?.remove();
    keepForNextVisit();
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
function showError(error) {
  const text = (error?.message ?? String(error)).trim() || "unknown error";
  console.error(text);
  document.getElementById("loading")?.remove();
  const box = document.createElement("section");
  box.className = "error";
  box.setAttribute("role", "alert");
  const title = document.createElement("strong");
  const lines = text.split("\n");
  title.textContent = `Something went wrong: ${lines.at(-1)}`;
  box.append(title);
  if (lines.length > 1) {
    const details = document.createElement("pre");
    details.textContent = text;
    details.tabIndex = 0; // keys scroll it
    box.append(details);
  }
  (document.querySelector("main") ?? document.body).prepend(box);
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
