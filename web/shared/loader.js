// Starts Python in a page: Pyodide and webtensor's wheel, both from this site, no other host.
//
//   import { startPython, runPage } from "../shared/loader.js";
//
// `startPython` returns the Pyodide object with `webtensor` ready to import. `runPage` does that and
// runs a page's Python file. Errors of either, then and later, are written into the page; progress
// is shown in its element `#loading` while that exists.

import { Downloads, fetchFile } from "./downloads.js";
import { renew, restoring, snapshotObstacle, verifiedHeap } from "./snapshot.js";

const site = new URL("../", import.meta.url);

// Where Python finds webtensor: the snapshot knows it there (`web/site_build/start_files.mjs`).
const ARCHIVE = "/lib/webtensor.zip";

// How long the snapshot may take after everything else has come: about as long as starting without.
const PATIENCE_MS = 3000;

// What becomes of the bar while files are loaded; the rest is for what Python does.
const DOWNLOADS_SHARE = 0.8;

const reading = fetchFile(new URL("build.json", site)).then((response) => response.json());
reading.catch(() => {}); // whoever starts Python gets the error

/**
 * Starts Python with webtensor ready to import, from a snapshot of its memory where that is possible,
 * unless the page's address has `?start=plain`.
 * @param {{onProgress?: (fraction: number, text: string) => void}} options
 */
export async function startPython({ onProgress = () => {} } = {}) {
  if (typeof WebAssembly !== "object") {
    throw new Error("This browser, or its security settings, lack WebAssembly, which Python needs.");
  }
  onProgress(0, "Loading Python");
  const build = await reading;
  const snapshot = chosenSnapshot(build);
  const javascript = import(new URL(build.javascript, site).href);
  javascript.catch(() => {}); // awaited below
  const downloads = new Downloads(filesToLoad(build, snapshot), (loaded, total) =>
    onProgress(
      (DOWNLOADS_SHARE * loaded) / total,
      `Loading Python: ${megabytes(loaded)} of ${megabytes(total)} MB`,
    ),
  );
  const start = { build, downloads, indexURL: new URL(build.pyodide, site).href };
  try {
    const pyodide = (snapshot && (await restored(start, snapshot))) ?? (await booted(start));
    mark("Python started");
    pyodide.registerJsModule("webtensor_javascript", await javascript);
    pyodide.runPython(REPORT_TASK_ERRORS);
    mark("webtensor ready");
    onProgress(1, "Ready");
    return pyodide;
  } finally {
    downloads.close();
  }
}

// The snapshot to start from; null, with the reason in the console, where Python starts without.
function chosenSnapshot({ snapshot }) {
  const isPlain = new URLSearchParams(globalThis.location.search).get("start") === "plain";
  const reason = isPlain
    ? "the address says so"
    : snapshot === null
      ? "this build of the site has none"
      : snapshotObstacle();
  if (reason !== null) console.info(`Python starts without the snapshot: ${reason}`);
  return reason === null ? snapshot : null;
}

// The files that a start loads: their sizes by URL.
function filesToLoad({ pyodide, wheel, compiled, sizes }, snapshot) {
  const own = snapshot === null ? [compiled] : [wheel, snapshot.heap];
  const paths = Object.keys(sizes).filter((path) => path.startsWith(pyodide) || own.includes(path));
  return Object.fromEntries(paths.map((path) => [new URL(path, site).href, sizes[path]]));
}

// Loads Pyodide, with an archive of webtensor's modules in its file system.
async function loadPyodide({ downloads, indexURL }, path, options = {}) {
  const archive = downloads.bytes(new URL(path, site));
  archive.catch(() => {}); // awaited below
  const pyodide = await import(`${indexURL}pyodide.mjs`);
  const fsInit = async (FS) => FS.writeFile(ARCHIVE, await archive, { canOwn: true });
  return pyodide.loadPyodide({ indexURL, fsInit, ...options });
}

// Restores the snapshot; resolves to null, with the reason in the console, when that fails.
async function restored(start, snapshot) {
  const giveUp = new AbortController();
  const download = start.downloads.bytes(new URL(snapshot.heap, site), giveUp.signal);
  const heap = verifiedHeap(snapshot, download);
  heap.catch(() => {}); // awaited when the runtime is there
  const options = restoring(snapshot, start.indexURL, () => inTime(heap, giveUp));
  try {
    const pyodide = await loadPyodide(start, start.build.wheel, options);
    renew(pyodide);
    return pyodide;
  } catch (error) {
    console.warn(`Python starts without the snapshot: ${error.message}`);
    return null;
  }
}

// Awaits the snapshot for as long as that can be quicker than to start without.
function inTime(heap, giveUp) {
  mark("runtime compiled");
  const seconds = PATIENCE_MS / 1000;
  const timer = setTimeout(
    () => giveUp.abort(new Error(`it had not come ${seconds} s after the runtime`)),
    PATIENCE_MS,
  );
  return heap.finally(() => clearTimeout(timer));
}

async function booted(start) {
  const pyodide = await loadPyodide(start, start.build.compiled);
  pyodide.runPython(`import sys; sys.path.append("${ARCHIVE}")`);
  return pyodide;
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
const mark = (step) => performance.mark(`webtensor: ${step}`);

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
    keepForNextVisit();
    return pyodide;
  } catch (error) {
    showError(error);
    return undefined;
  }
}

// Lets the service worker keep what this page has loaded: the next visit needs no network.
async function keepForNextVisit() {
  if (!("serviceWorker" in navigator)) return; // in pages that are not served by HTTPS
  try {
    await navigator.serviceWorker.register(new URL("service_worker.js", site));
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
    active.postMessage([document.baseURI, ...loaded]);
  } catch (error) {
    console.info(`The next visit will need the network: ${error.message}`);
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
