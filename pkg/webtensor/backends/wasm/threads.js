// Threads of the WASM backend: workers that run parts of kernels on the shared memory.
//
// Everything a thread needs to know lies in shared integers and numbers, so handing out work costs
// no message. The calling thread takes parts like the others, and is done when no other is inside.
// A worker that wakes late finds the work closed and sleeps again: nobody ever waits for a worker to
// start. Idle workers spin for a moment, because the next kernel is often microseconds away, and
// then sleep.
//
// The value of this file is a function of the compiled module, its memory and its exports.
(module, memory, exports) => {
  // What the shared integers mean; `serve` has no access to names outside it.
  const CONTROL = { KERNEL: 0, COUNT: 1, PARTS: 2, NEXT: 3, OPEN: 4, INSIDE: 5, ROUND: 6, FAILED: 7 };
  const MOST_ARGUMENTS = 16;
  const control = new Int32Array(new SharedArrayBuffer(4 * 8));
  const given = new Float64Array(new SharedArrayBuffer(8 * MOST_ARGUMENTS));
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  let workers = [];
  let url = null;

  // A worker's whole life.
  function serve() {
    const SPINNING_MS = 0.2;
    onmessage = ({ data: { module, memory, control, given, names, stack, CONTROL } }) => {
      const { KERNEL, COUNT, PARTS, NEXT, OPEN, INSIDE, ROUND, FAILED } = CONTROL;
      const { exports } = new WebAssembly.Instance(module, { env: { memory } });
      exports.__stack_pointer.value = stack;
      let round = 0;
      for (;;) {
        const deadline = performance.now() + SPINNING_MS;
        let current;
        while ((current = Atomics.load(control, ROUND)) === round)
          if (performance.now() > deadline) Atomics.wait(control, ROUND, round);
        round = current;
        Atomics.add(control, INSIDE, 1);
        if (Atomics.load(control, OPEN)) {
          const kernel = exports[names[control[KERNEL]]];
          const values = given.slice(0, control[COUNT]);
          const parts = control[PARTS];
          try {
            for (let part; (part = Atomics.add(control, NEXT, 1)) < parts; )
              kernel(...values, part, parts);
          } catch {
            Atomics.store(control, FAILED, 1);
          }
        }
        Atomics.sub(control, INSIDE, 1);
      }
    };
  }

  return {
    // Start one worker per stack; `stacks` are the addresses of their upper ends.
    start(...stacks) {
      url ??= URL.createObjectURL(new Blob([`(${serve})()`], { type: "text/javascript" }));
      workers = stacks.map((stack) => {
        const worker = new Worker(url);
        worker.postMessage({ module, memory, control, given, names, stack, CONTROL });
        return worker;
      });
    },

    // End all workers; none is inside, because `run` waits for them.
    stop() {
      for (const worker of workers) worker.terminate();
      workers = [];
      if (url !== null) URL.revokeObjectURL(url);
      url = null;
    },

    // The number by which `run` knows an export.
    kernel(name) {
      return names.indexOf(name);
    },

    // Run a kernel in so many parts.
    run(kernel, parts, ...values) {
      const { KERNEL, COUNT, PARTS, NEXT, OPEN, INSIDE, ROUND, FAILED } = CONTROL;
      control[KERNEL] = kernel;
      control[COUNT] = values.length;
      control[PARTS] = parts;
      given.set(values);
      Atomics.store(control, NEXT, 0);
      Atomics.store(control, OPEN, 1);
      Atomics.add(control, ROUND, 1);
      Atomics.notify(control, ROUND);
      const own = exports[names[kernel]];
      try {
        for (let part; (part = Atomics.add(control, NEXT, 1)) < parts; ) own(...values, part, parts);
      } finally {
        Atomics.store(control, OPEN, 0);
        while (Atomics.load(control, INSIDE) !== 0);
      }
      if (Atomics.exchange(control, FAILED, 0)) throw new Error(`${names[kernel]} failed in a thread`);
    },
  };
}
