// Makes what pages start Python from: `start_files.py` says what, and runs this in Node.
//   node start_files.mjs PYODIDE_FOLDER WHEEL COMPILED_LIBRARY OUTPUT_FOLDER
// COMPILED_LIBRARY is made unless it is there.

import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [pyodideFolder, wheel, compiledLibrary, output] = process.argv.slice(2);
const library = path.join(pyodideFolder, "python_stdlib.zip");
const compiledWheel = path.join(output, "webtensor.zip");
const moduleOf = (name) => import(pathToFileURL(path.join(pyodideFolder, name)));
const { loadPyodide } = await moduleOf("pyodide.mjs");
const { default: createModule } = await moduleOf("pyodide.asm.mjs");

// Where Python finds its standard library, and webtensor: `web/shared/loader.js` puts it there, too.
const LIBRARY = "/lib/python314.zip";
const ARCHIVE = "/lib/webtensor.zip";
const BLOCK = 4096;
const FOLDER = "/home/pyodide"; // Python's current one

// Python would otherwise be told paths of this machine.
const OPTIONS = { _sysExecutable: "./this.program" };

// Modules of Pyodide that bind this at import look it up again in the page.
globalThis.XMLHttpRequest ??= function () {};

const fileBytes = async (name) => new Uint8Array(await readFile(name));

async function importFile(pyodide, name) {
  pyodide.FS.writeFile(`${FOLDER}/${name}`, await fileBytes(new URL(name, import.meta.url)));
  return pyodide.pyimport(path.basename(name, ".py"));
}

// Writes a copy of an archive in which each module is compiled for its place in Python's file system.
async function compileArchive(source, mountedAt, target) {
  const pyodide = await loadPyodide(OPTIONS);
  pyodide.FS.writeFile("/tmp/source.zip", await fileBytes(source));
  const { compile_modules } = await importFile(pyodide, "compile_modules.py");
  compile_modules("/tmp/source.zip", mountedAt, "/tmp/compiled.zip");
  await writeFile(target, pyodide.FS.readFile("/tmp/compiled.zip"));
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

// Memory that the allocator has free has what was there before. All of it is allocated, larger blocks
// first, while the allocator may not ask for more.
function clearFreeMemory(module) {
  const limit = module._malloc_footprint_limit();
  module._malloc_set_footprint_limit(module._malloc_footprint());
  const blocks = [];
  for (let size = 2 ** 20; size >= 8; size /= 2) {
    for (let block; (block = module._malloc(size)) !== 0; ) {
      module.HEAPU8.fill(0, block, block + module._malloc_usable_size(block));
      blocks.push(block);
    }
  }
  blocks.forEach((block) => module._free(block));
  module._malloc_set_footprint_limit(limit);
}

// Pyodide's snapshot of a Python that has imported what `webtensor_snapshot.py` says. Compiled modules
// leave less behind in memory; the pages' Python finds the archives as they are published.
async function snapshot() {
  const pyodide = await loadPyodide({ ...OPTIONS, stdLibURL: compiledLibrary, _makeSnapshot: true });
  pyodide.FS.writeFile(ARCHIVE, await fileBytes(compiledWheel));
  const python = await importFile(pyodide, "webtensor_snapshot.py");
  python.import_modules(ARCHIVE);
  pyodide.FS.writeFile(LIBRARY, await fileBytes(library));
  pyodide.FS.writeFile(ARCHIVE, await fileBytes(wheel));
  python.tidy();
  python.destroy(); // JavaScript's objects are not in a snapshot
  clearFreeMemory(pyodide._module);
  clearDeadStack(pyodide._module);
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

if (!existsSync(compiledLibrary)) await compileArchive(library, LIBRARY, compiledLibrary);
await compileArchive(wheel, ARCHIVE, compiledWheel);
const made = await snapshot();
// Pyodide puts a prologue before the memory; its second word says where the memory begins.
const start = new Uint32Array(made.buffer, made.byteOffset, 2)[1];
const memory = made.subarray(start);
const pristine = new Uint8Array(memory.length); // memory that Python asked for in addition is zero
pristine.set(await pristineMemory());
const pieces = differences(memory, pristine);
const heap = Buffer.concat(pieces.map(([offset, size]) => memory.subarray(offset, offset + size)));

const prologue = Buffer.from(made.subarray(0, start)).toString("base64");
await writeFile(path.join(output, "heap.bin"), gzipSync(heap, { level: 9 }));
// Python decides when it first starts whether it can ever be suspended.
const suspends = WebAssembly.Suspending !== undefined;
const facts = { suspends, prologue, memory: memory.length, pieces };
await writeFile(path.join(output, "facts.json"), JSON.stringify(facts));
process.exit(); // Pyodide's event loop would wait for more
