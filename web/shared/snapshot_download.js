// Downloads what the site's build says, and its snapshot, from when this module is first imported. Pages
// load it on its own, before the loader (`web/templates/preloads.html`), as the snapshot takes longest.

import { fetchFile } from "./downloads.js";
import { fetchSnapshotFiles } from "./snapshot_files.js";

export const site = new URL("../", import.meta.url);

const WORKER = new URL("snapshot_worker.js", import.meta.url);

/** A promise of `build.json`. */
export const readingBuild = fetchFile(new URL("build.json", site)).then((response) =>
  response.json(),
);
readingBuild.catch(() => {}); // whoever starts Python gets the error

const obstacleInPage = findObstacleInPage();

/** Says why Python can't, or should not, start from a build's snapshot; null where it should. */
export function obstacleTo(build) {
  return obstacleInPage ?? obstacleInBuild(build);
}

function findObstacleInPage() {
  const start = new URLSearchParams(globalThis.location.search).get("start");
  if (start === "plain") return "the page's address says so";
  if (globalThis.crypto?.subtle === undefined) return "only pages by HTTPS can verify it";
  if (globalThis.DecompressionStream === undefined) return "this browser can't decompress it";
  return null;
}

function obstacleInBuild({ snapshot }) {
  if (snapshot === null) return "this build of the site has none";
  if (!snapshot.suspends && WebAssembly.Suspending !== undefined) {
    return "this browser can suspend Python, and the Node.js that made it could not";
  }
  return null;
}

// The download of the snapshot's memory and of the wheel.
class SnapshotDownload {
  #stop = new AbortController();
  #counts = new Map();
  #watchers = [];

  constructor() {
    const note = (href, count) => {
      this.#counts.set(href, count);
      for (const watcher of this.#watchers) watcher(href, count);
    };
    const fetchFiles = fetcher(note, this.#stop.signal);
    const files = readingBuild.then((build) => {
      const obstacle = obstacleInBuild(build);
      if (obstacle !== null) throw new Error(obstacle);
      const [heap, archive] = filesOf(build);
      return fetchFiles(heap, archive);
    });
    files.catch(() => this.stop());
    /** Promises of the bytes. */
    this.heap = files.then(({ heap }) => heap);
    this.archive = files.then(({ archive }) => archive);
    for (const promise of [this.heap, this.archive]) promise.catch(() => {}); // awaited later
  }

  /** Calls a function with each file's address and how many of its bytes are there, now and as more arrive. */
  watch(onBytes) {
    this.#watchers.push(onBytes);
    for (const [href, count] of this.#counts) onBytes(href, count);
  }

  /** Ends the download, and forgets what has come. */
  stop() {
    this.#stop.abort();
    this.heap = this.archive = null;
  }
}

// The snapshot's memory and the wheel, as `fetchSnapshotFiles` takes them.
function filesOf({ snapshot, wheel, sizes }) {
  const file = (path) => ({ href: new URL(path, site).href, size: sizes[path] });
  const unpackedSize = snapshot.pieces.reduce((sum, [, size]) => sum + size, 0);
  return [{ ...file(snapshot.heap), sha256: snapshot.sha256, unpackedSize }, file(wheel)];
}

// Returns a function that fetches both in a worker, which starts at once: the page's thread can start Python's
// runtime meanwhile. It does without where there is none, and in a worker, as Firefox may hang if workers
// start others.
function fetcher(onBytes, signal) {
  const worker = globalThis.document === undefined ? null : startWorker();
  if (worker === null) {
    return (heap, archive) => fetchSnapshotFiles(heap, archive, onBytes, signal);
  }
  signal.addEventListener("abort", () => worker.terminate(), { once: true });
  const answers = answersOf(worker, onBytes);
  return (heap, archive) => {
    worker.postMessage({ heap, archive });
    return answers;
  };
}

function startWorker() {
  try {
    return new Worker(WORKER, { type: "module" });
  } catch {
    return null; // extensions of browsers forbid workers so
  }
}

// Returns promises of the files that the worker sends.
function answersOf(worker, onBytes) {
  const settle = {};
  const promised = (name) => new Promise((...functions) => (settle[name] = functions));
  const answers = { heap: promised("heap"), archive: promised("archive") };
  for (const promise of Object.values(answers)) promise.catch(() => {}); // awaited later
  worker.onmessage = ({ data: { count, href, name, value, error } }) => {
    if (count !== undefined) return onBytes(href, count);
    const [resolve, reject] = settle[name];
    return error === undefined ? resolve(value) : reject(new Error(error));
  };
  worker.onerror = () => {
    for (const [, reject] of Object.values(settle)) reject(new Error(`${WORKER.pathname} failed`));
  };
  return answers;
}

/** The download; null in pages that start Python without. */
export const snapshotDownload = obstacleInPage === null ? new SnapshotDownload() : null;
