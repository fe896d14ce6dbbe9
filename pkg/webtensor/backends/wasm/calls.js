// Runs calls of small kernels that waited for one crossing from Python.
//
// A call is its kernel's number, the number of its arguments, and these, all as doubles in Python's
// memory. Addresses come from Python, so they are positive. A call that threads share has the number of
// its pieces, negated, in place of its kernel's number, which is the first of its arguments.
//
// Takes the compiled module, its memory, its exports and Pyodide's Emscripten module.
export default function calls(module, memory, exports, python) {
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  const kernels = names.map((name) => exports[name]);
  const table = exports.__indirect_function_table;
  const addedModules = [];
  let threads;

  return {
    // Let these threads, as `threads.js` makes them, share calls.
    useThreads(started) {
      threads = started;
      for (const bytes of addedModules) threads.addFunctions(bytes);
    },

    // Add a module's functions to the kernels' function table, here and in each thread (`thread.js`).
    // Return the index of the first one.
    addFunctions(bytes) {
      const imports = { env: { memory, huge_angle: exports.huge_angle } };
      const { exports: functions } = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
      threads?.addFunctions(bytes);
      addedModules.push(bytes);
      const first = table.length;
      for (const name in functions) table.set(table.grow(1), functions[name]);
      return first;
    },

    // The number by which `run` knows an export, or -1.
    kernel(name) {
      return names.indexOf(name);
    },

    // Copy bytes from an address of Python's memory to one of the kernels'.
    write(to, from, count) {
      new Uint8Array(memory.buffer, to, count).set(new Uint8Array(python.HEAPU8.buffer, from, count));
    },

    // The reverse.
    read(from, to, count) {
      new Uint8Array(python.HEAPU8.buffer, to, count).set(new Uint8Array(memory.buffer, from, count));
    },

    // Run the calls that are recorded in some words at an address of Python's memory. Arguments are
    // named, which takes 20 ns, or applied, which takes 140; to spread a typed array takes 1,000. Programs
    // use the forms that name them (`programs.py`).
    run(address, count) {
      const w = python.HEAPF64;
      let next = address / 8;
      for (const end = next + count; next < end; ) {
        const number = w[next];
        const kernel = kernels[number];
        const i = next + 2;
        next = i + w[next + 1];
        if (number < 0) {
          threads.share(w[i], -number, w.subarray(i + 1, next));
          continue;
        }
        switch (next - i) {
          case 3:
            kernel(w[i], w[i + 1], w[i + 2]);
            break;
          case 4:
            kernel(w[i], w[i + 1], w[i + 2], w[i + 3]);
            break;
          case 5:
            kernel(w[i], w[i + 1], w[i + 2], w[i + 3], w[i + 4]);
            break;
          case 12:
            kernel(w[i], w[i + 1], w[i + 2], w[i + 3], w[i + 4], w[i + 5], w[i + 6], w[i + 7],
              w[i + 8], w[i + 9], w[i + 10], w[i + 11]);
            break;
          default:
            kernel.apply(null, w.subarray(i, next));
        }
      }
    },
  };
}
