// Runs calls of small kernels that waited for one crossing from Python.
//
// A call is its kernel's number, the number of its arguments, and these, all as doubles in Python's
// memory. Addresses come from Python, so they are positive.
//
// Takes the compiled module, its memory, its exports and Pyodide's Emscripten module.
export default function calls(module, memory, exports, python) {
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  const kernels = names.map((name) => exports[name]);

  return {
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

    // Run the calls that are recorded in some words at an address of Python's memory.
    run(address, count) {
      const words = python.HEAPF64;
      let at = address / 8;
      for (const end = at + count; at < end; ) {
        const kernel = kernels[words[at]];
        const first = at + 2;
        at = first + words[at + 1];
        switch (at - first) {
          case 3:
            kernel(words[first], words[first + 1], words[first + 2]);
            break;
          case 4:
            kernel(words[first], words[first + 1], words[first + 2], words[first + 3]);
            break;
          case 5:
            kernel(words[first], words[first + 1], words[first + 2], words[first + 3], words[first + 4]);
            break;
          default:
            kernel(...words.subarray(first, at));
        }
      }
    },
  };
}
