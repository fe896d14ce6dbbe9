// Starts TensorFlow.js's WebAssembly backend on a number of threads, which it takes when it starts.

const tf = globalThis.tf;
const WORKER = new URL("./tensorflow_worker.js", import.meta.url);

let current; // how many threads the backend that is there takes, or will take

/** Has the backend compute on `threads` threads from now on; tensors that it has are lost. */
export async function setBackendOnThreads(threads) {
  if (threads !== current) {
    const factory = tf.findBackendFactory("wasm");
    tf.removeBackend("wasm");
    tf.registerBackend("wasm", factory);
    tf.wasm.setThreadsCount(threads);
    tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", threads > 1); // with one, the binary without threads
    current = threads;
  }
  const start = () => withWorkersOfThisSite(() => tf.setBackend("wasm"));
  if (!(await withEnoughProcessors(threads, start))) throw new Error("TensorFlow.js can't start wasm");
  if (tf.wasm.getThreadsCount() !== threads) {
    throw new Error(`TensorFlow.js computes on ${tf.wasm.getThreadsCount()} threads`);
  }
}

// It starts no more threads than half the processors, so it is told of twice as many as threads;
// unless there are fewer processors than threads.
async function withEnoughProcessors(threads, start) {
  if (threads > navigator.hardwareConcurrency) return start();
  const value = Math.max(2 * threads, navigator.hardwareConcurrency);
  Object.defineProperty(navigator, "hardwareConcurrency", { value, configurable: true });
  try {
    return await start();
  } finally {
    delete navigator.hardwareConcurrency; // the browser's own, of the prototype, shows again
  }
}

// It starts workers from blobs, which policies such as this site's forbid; these run the same code.
async function withWorkersOfThisSite(start) {
  const { Worker } = globalThis;
  globalThis.Worker = function () {
    return new Worker(WORKER);
  };
  try {
    return await start();
  } finally {
    globalThis.Worker = Worker;
  }
}
