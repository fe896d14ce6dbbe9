// Python's memory as it was after importing webtensor, restored instead of booting Python anew.
//
// The site's build makes the snapshot (`web/site_build/`). It uses options of Pyodide that are not
// documented, so the pinned Pyodide's only; whatever goes wrong, the caller starts Python without.

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
