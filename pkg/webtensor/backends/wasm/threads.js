// Threads of the WASM backend: workers that run parts of kernels on the shared memory.
//
// The arguments of a kernel are in shared integers and numbers, so starting work costs
// no message. The calling thread takes parts like the others, and is done when no other is inside.
// A worker that wakes late finds the work closed and sleeps again: nobody ever waits for a worker to
// start. Idle workers spin for a moment, because the next kernel is often microseconds away, and
// then sleep. To wake them takes the calling thread about 50 µs, so a small kernel runs alone while they
// sleep, unless it belongs to a burst: several came one soon after another.
//
// Takes the compiled module, its memory, its exports, the address of `thread.js`, and a function that is
// called with the reason when workers fail, for the caller to stop the others.
export default function threads(module, memory, exports, address, onFailure) {
  const url = String(address);
  // What the shared integers mean, for `thread.js`, too.
  const CONTROL = {
    KERNEL: 0, COUNT: 1, PARTS: 2, NEXT: 3, OPEN: 4, INSIDE: 5, ROUND: 6, FAILED: 7, CODE_BYTES: 8,
    ASLEEP: 9,
  };
  const MAX_ARGUMENTS = 16;
  // Of large kernels each thread gets several parts, because one may be slower than another; of smaller
  // ones a single part, because small parts take longer in all.
  const PARTS_PER_THREAD = 4;
  const PIECES_IN_PART = 4;
  // A kernel of fewer pieces wakes no workers, unless all sleep and it belongs to a burst.
  const PIECES_WORTH_WAKING = 32;
  const BURST_GAP_MS = 0.1;
  const BURST_KERNELS = 3;
  const control = new Int32Array(new SharedArrayBuffer(4 * 10));
  // The modules whose functions were added, each after its size. Only what is written takes memory.
  const code = new SharedArrayBuffer(1 << 24);
  // A kernel's arguments, of which the last two are a part and the number of parts.
  const kernelArguments = new Float64Array(new SharedArrayBuffer(8 * (MAX_ARGUMENTS + 2)));
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  let workers = [];
  let running = false;
  let burst = 0; // how many small kernels ran alone, one soon after another,
  let lastEnd = 0; // and when the last of them ended

  function startWorker(stack) {
    const worker = new Worker(url, { type: "module" });
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message);
    };
    worker.postMessage({ module, memory, control, kernelArguments, code, names, stack, CONTROL });
    return worker;
  }

  // Browsers give no reason when a policy blocks a worker, or its file is missing.
  function fail(reason) {
    if (running) onFailure(reason || "the browser blocked or could not load them");
  }

  // Whether small kernels come in a burst, while all workers sleep.
  function isInBurst() {
    burst = performance.now() - lastEnd < BURST_GAP_MS ? burst + 1 : 0;
    return burst >= BURST_KERNELS;
  }

  function partsOf(pieces) {
    const count = workers.length + 1;
    const each = Math.min(PARTS_PER_THREAD, Math.floor(pieces / (count * PIECES_IN_PART)));
    return each > 1 ? each * count : Math.min(pieces, count);
  }

  // Run a kernel that has work for `pieces` threads.
  function share(kernel, pieces, values) {
    const { KERNEL, COUNT, PARTS, NEXT, OPEN, INSIDE, ROUND, FAILED, ASLEEP } = CONTROL;
    const own = exports[names[kernel]];
    const someAwake = Atomics.load(control, ASLEEP) < workers.length;
    const wakes = pieces >= PIECES_WORTH_WAKING || (!someAwake && isInBurst());
    const count = values.length;
    const ownArguments = new Float64Array(count + 2); // to spread a typed array takes 1 µs
    ownArguments.set(values);
    if (!someAwake && !wakes) {
      ownArguments[count + 1] = 1;
      own.apply(null, ownArguments);
      lastEnd = performance.now();
      return;
    }
    const parts = partsOf(pieces);
    control[KERNEL] = kernel;
    control[COUNT] = count;
    control[PARTS] = parts;
    ownArguments[count + 1] = parts;
    kernelArguments.set(ownArguments);
    Atomics.store(control, NEXT, 0);
    Atomics.store(control, OPEN, 1);
    Atomics.add(control, ROUND, 1);
    if (wakes && Atomics.load(control, ASLEEP) !== 0) Atomics.notify(control, ROUND);
    try {
      for (let part; (part = Atomics.add(control, NEXT, 1)) < parts; ) {
        ownArguments[count] = part;
        own.apply(null, ownArguments);
      }
    } finally {
      Atomics.store(control, OPEN, 0);
      while (Atomics.load(control, INSIDE) !== 0);
    }
    if (Atomics.exchange(control, FAILED, 0)) throw new Error(`${names[kernel]} failed in a thread`);
  }

  return {
    share,

    // Give the workers a module, whose functions they add before they run their next kernel. Workers
    // that sleep receive no messages.
    addFunctions(bytes) {
      const offset = control[CONTROL.CODE_BYTES];
      new Int32Array(code, offset, 1)[0] = bytes.length;
      new Uint8Array(code, offset + 4, bytes.length).set(bytes);
      Atomics.store(control, CONTROL.CODE_BYTES, offset + 4 + ((bytes.length + 3) & ~3));
    },

    // Start one worker per stack; `stacks` are the addresses of their upper ends.
    start(...stacks) {
      running = true;
      Atomics.store(control, CONTROL.ASLEEP, stacks.length);
      try {
        for (const stack of stacks) workers.push(startWorker(stack));
      } catch (error) {
        setTimeout(fail, 0, String(error));
      }
    },

    // End all workers; none is inside, because `run` waits for them.
    stop() {
      running = false;
      for (const worker of workers) worker.terminate();
      workers = [];
      URL.revokeObjectURL(url);
      queueMicrotask(() => onFailure.destroy()); // it may be what calls this
    },

    // Run a kernel, by its number in `calls.js`, that has work for `pieces` threads.
    run(kernel, pieces, ...values) {
      share(kernel, pieces, values);
    },
  };
}
