// Makes what pages start Python from: `start_files.py` says what, and runs this in Node.
//   node start_files.mjs PYODIDE_FOLDER WHEEL OUTPUT_FOLDER

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [pyodideFolder, wheel, output] = process.argv.slice(2);
const moduleOf = (name) => import(pathToFileURL(path.join(pyodideFolder, name)));
const { loadPyodide } = await moduleOf("pyodide.mjs");
const { default: createModule } = await moduleOf("pyodide.asm.mjs");

// Where Python finds the archive, here and in pages: `web/shared/loader.js` puts it there.
const ARCHIVE = "/lib/webtensor.zip";
// The size of memory that Pyodide starts with.
const HEAP_BYTES = 30 << 20;
const BLOCK = 4096;
const FOLDER = "/home/pyodide"; // Python's current one

// Python would otherwise be told paths of this machine.
const OPTIONS = { _sysExecutable: "./this.program" };

// Modules of Pyodide that bind this at import look it up again in the page.
globalThis.XMLHttpRequest ??= function () {};

async function importFile(pyodide, name) {
  const source = await readFile(new URL(name, import.meta.url));
  pyodide.FS.writeFile(`${FOLDER}/${name}`, new Uint8Array(source));
  return pyodide.pyimport(path.basename(name, ".py"));
}

// A copy of the wheel in which each module is compiled, too.
async function compiledWheel(files) {
  const pyodide = await loadPyodide(OPTIONS);
  pyodide.FS.writeFile("/tmp/wheel.zip", files);
  const { compile_modules } = await importFile(pyodide, "compile_modules.py");
  compile_modules("/tmp/wheel.zip", ARCHIVE);
  return pyodide.FS.readFile(ARCHIVE);
}

// The memory of a runtime that has not started Python.
function pristineMemory() {
  return new Promise((resolve, reject) => {
    const createPyodideModule = async (settings) => {
      const module = await createModule({ ...settings, noInitialRun: true });
      resolve(module.HEAPU8.slice());
      return new Promise(() => {}); // Python is not to start
    };
    loadPyodide({ ...OPTIONS, createPyodideModule }).catch(reject);
  });
}

// The stack's part that is not in use has what functions left there.
function clearDeadStack(module) {
  module.HEAPU8.fill(0, module._emscripten_stack_get_end(), module.stackSave());
}

// Pyodide's snapshot of a Python that has imported what `webtensor_snapshot.py` says. Modules come from the
// compiled wheel, which leaves less behind in memory; the pages' Python reads the wheel itself.
async function snapshot(wheelFiles, compiledFiles) {
  const pyodide = await loadPyodide({ ...OPTIONS, _makeSnapshot: true });
  pyodide.FS.writeFile(ARCHIVE, compiledFiles);
  const python = await importFile(pyodide, "webtensor_snapshot.py");
  python.import_modules(ARCHIVE);
  pyodide.FS.writeFile(ARCHIVE, wheelFiles);
  python.tidy();
  python.destroy(); // JavaScript's objects are not in a snapshot
  const module = pyodide._module;
  if (module.HEAPU8.length !== HEAP_BYTES) {
    // Pyodide restores memories of the size that it starts with.
    throw new Error(`The snapshot needs ${module.HEAPU8.length} bytes: let webtensor_snapshot.py import less.`);
  }
  clearDeadStack(module);
  return pyodide.makeMemorySnapshot();
}

// The pieces of a memory that differ from another, as [offset, size].
function differences(memory, other) {
  const pieces = [];
  for (let offset = 0; offset < memory.length; offset += BLOCK) {
    const block = memory.subarray(offset, offset + BLOCK);
    if (Buffer.compare(block, other.subarray(offset, offset + BLOCK)) === 0) continue;
    const last = pieces.at(-1);
    if (last !== undefined && last[0] + last[1] === offset) last[1] += block.length;
    else pieces.push([offset, block.length]);
  }
  return pieces;
}

const wheelFiles = new Uint8Array(await readFile(wheel));
const compiledFiles = await compiledWheel(wheelFiles);
const made = await snapshot(wheelFiles, compiledFiles);
// Pyodide puts a prologue before the memory; its second word says where the memory begins.
const start = new Uint32Array(made.buffer, made.byteOffset, 2)[1];
const memory = made.subarray(start);
const pieces = differences(memory, await pristineMemory());
const heap = Buffer.concat(pieces.map(([offset, size]) => memory.subarray(offset, offset + size)));

const prologue = Buffer.from(made.subarray(0, start)).toString("base64");
await writeFile(path.join(output, "webtensor.zip"), compiledFiles);
await writeFile(path.join(output, "heap.bin"), gzipSync(heap, { level: 9 }));
await writeFile(path.join(output, "facts.json"), JSON.stringify({ prologue, pieces }));
process.exit(); // Pyodide's event loop would wait for more
