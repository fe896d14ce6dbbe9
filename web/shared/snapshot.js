// Python's memory as it was after importing webtensor, restored instead of booting Python anew.
//
// The site's build makes the snapshot (`web/site_build/`). It uses options of Pyodide that are not
// documented, so the pinned Pyodide's only; whatever goes wrong, the caller starts Python without.

import { fetchSnapshotFiles } from "./snapshot_files.js";

const WORKER = new URL("snapshot_worker.js", import.meta.url);

/** Says why this browser can't verify or unpack snapshots; null where it can. */
export function snapshotObstacle() {
  if (globalThis.crypto?.subtle === undefined) return "only pages by HTTPS can verify it";
  if (globalThis.DecompressionStream === undefined) return "this browser can't decompress it";
  return null;
}

/** Starts the worker for `fetchSnapshot`. Returns null in a worker: Firefox may hang if one starts another. */
export function startWorker() {
  return globalThis.document === undefined ? null : new Worker(WORKER, { type: "module" });
}

/**
 * Fetches the snapshot's memory and the wheel, in the worker if there is one: the page's thread can start
 * Python's runtime meanwhile. Returns promises of both, and the URLs that the worker fetches.
 * @param {{snapshot: object, wheel: string, sizes: object}} build
 * @param {(href: string, count: number) => void} onBytes is called as bytes of a file arrive.
 * @param {AbortSignal} signal stops the downloads
 */
export function fetchSnapshot(worker, { snapshot, wheel, sizes }, site, onBytes, signal) {
  const { sha256, pieces } = snapshot;
  const unpackedSize = pieces.reduce((sum, [, size]) => sum + size, 0);
  const file = (path) => ({ href: new URL(path, site).href, size: sizes[path] });
  const heap = { ...file(snapshot.heap), sha256, unpackedSize };
  const archive = file(wheel);
  if (worker === null) return { ...fetchSnapshotFiles(heap, archive, onBytes, signal), urls: [] };
  signal.addEventListener("abort", () => worker.terminate());
  worker.postMessage({ heap, archive });
  return { ...answersOf(worker, onBytes), urls: [WORKER.href, heap.href, archive.href] };
}

// Returns promises of the files that the worker sends.
function answersOf(worker, onBytes) {
  const settle = {};
  const promised = (name) => new Promise((...functions) => (settle[name] = functions));
  const answers = { heap: promised("heap"), archive: promised("archive") };
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

/**
 * Returns Pyodide's options for a start from a snapshot.
 * @param {{prologue: string, memory: number, pieces: number[][]}} snapshot
 * @param {() => Promise<Uint8Array>} awaitHeap called when the runtime is compiled
 */
export function restoring(snapshot, indexURL, awaitHeap) {
  const script = import(`${indexURL}pyodide.asm.mjs`); // beside pyodide.mjs, not after it
  script.catch(() => {}); // awaited below
  return {
    _loadSnapshot: Uint8Array.from(atob(snapshot.prologue), (letter) => letter.charCodeAt(0)),
    // Pyodide by itself would wait for the memory before it compiles the runtime.
    createPyodideModule: async (settings) => {
      const { default: createModule } = await script;
      const module = await createModule(settings);
      const content = await awaitHeap();
      growMemory(module, snapshot.memory);
      const word = trampolineWord(module);
      const trampoline = module.HEAPU32[word];
      writePieces(module.HEAPU8, snapshot.pieces, content);
      module.HEAPU32[word] = trampoline;
      return module;
    },
  };
}

/** Renews what a snapshot has of the machine that made it (`web/site_build/webtensor_snapshot.py`). */
export function renew(pyodide) {
  const { HEAPU32, ___tzname, __tzset_js, _daylight, _timezone } = pyodide._module;
  const [standard, summer] = HEAPU32.subarray(___tzname / 4);
  __tzset_js(_timezone, _daylight, standard, summer);
  const python = pyodide.pyimport("webtensor_snapshot");
  python.renew();
  python.destroy();
}

// Makes the runtime's memory at least as large as a snapshot's. Memory only grows for an allocation; what
// the allocator notes of it is then overwritten.
function growMemory(module, size) {
  if (module.HEAPU8.length >= size) return;
  if (module._malloc(size - module._emscripten_stack_get_base()) === 0) {
    throw new Error("the browser gives Python too little memory");
  }
}

// Where Python notes how it calls functions through pointers: what the runtime chose for this browser when
// it was compiled, not what the build's Node can do.
function trampolineWord({ HEAPU32, __PyRuntime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET }) {
  return (__PyRuntime + HEAPU32[__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4]) / 4;
}

// A snapshot has what differs from the memory of a runtime that has not started Python.
function writePieces(memory, pieces, content) {
  let start = 0;
  for (const [offset, size] of pieces) {
    memory.set(content.subarray(start, start + size), offset);
    start += size;
  }
}
