// TensorFlow.js's side of the page. The library is the benchmark page's copy, which comes when it is
// first needed.

const FOLDER = new URL("../bench/tensorflow/", import.meta.url);
const SCRIPTS = ["tf.es2017.min.js", "tf-backend-wasm.es2017.min.js"];
const THREADS = "../bench/peer/tensorflow_threads.js";

let loading;

const addScript = (name) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(name, FOLDER).href;
    script.onload = resolve;
    script.onerror = () => {
      script.remove();
      reject(new Error(`${name} could not be loaded`));
    };
    document.head.append(script);
  });

async function loadTensorFlow() {
  for (const name of SCRIPTS) await addScript(name);
  globalThis.tf.wasm.setWasmPaths(FOLDER.href);
  return import(THREADS);
}

// A failure is forgotten, so that the next attempt loads anew.
function tensorFlow() {
  loading ??= loadTensorFlow().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function setBackend(name) {
  const { setBackendOnThreads } = await tensorFlow();
  if (name === "wasm") return setBackendOnThreads(1);
  if (!(await globalThis.tf.setBackend(name))) throw new Error(`it cannot start ${name}`);
}

/**
 * Loads a model into TensorFlow.js, on one of its backends.
 * @param {string} backend
 * @param {{description: string, weights: Uint8Array}} parts `description` has all but the weights, as
 *   JSON with TensorFlow.js's names
 * @param {{name: string, shape: number[], dtype: string, values: ArrayLike}[]} inputs
 */
export async function open(backend, { description, weights }, inputs) {
  await setBackend(backend);
  const { tf } = globalThis;
  const artifacts = { ...JSON.parse(description), weightData: weights.buffer };
  const handler = tf.io.fromMemory(artifacts);
  const isGraph = artifacts.modelTopology.node !== undefined;
  const model = isGraph ? await tf.loadGraphModel(handler) : await tf.loadLayersModel(handler);
  const tensors = inputs.map(({ shape, dtype, values }) => tf.tensor(values, shape, dtype));
  const names = inputs.map(({ name }) => name);
  const named = Object.fromEntries(names.map((name, index) => [name, tensors[index]]));
  const call = isGraph
    ? graphCall(model, named)
    : () => model.predict(tensors.length === 1 ? tensors[0] : tensors);
  return new Side(model, tensors, call);
}

// Graphs that read tensors as they run, such as those with control flow, throw in `execute`.
function graphCall(model, named) {
  let method = "execute";
  return (outputs) => {
    try {
      return model[method](named, outputs);
    } catch (error) {
      if (method === "executeAsync") throw error;
      method = "executeAsync";
      return model.executeAsync(named, outputs);
    }
  };
}

/** The largest difference of outputs, relative to the largest magnitude of each; NaN if one is NaN. */
export function largestDifference(ours, theirs) {
  const differences = theirs.map((expected, index) => {
    if (ours[index].length !== expected.length) return NaN;
    let apart = 0;
    let magnitude = 0;
    expected.forEach((value, at) => {
      if (Object.is(value, ours[index][at])) return;
      apart = Math.max(apart, Math.abs(value - ours[index][at]));
    });
    expected.forEach((value) => (magnitude = Math.max(magnitude, Math.abs(value))));
    return apart === 0 ? 0 : apart / magnitude;
  });
  return Math.max(...differences);
}

class Side {
  constructor(model, tensors, call) {
    Object.assign(this, { model, tensors, call });
  }

  /** Computes outputs, given by their names; resolves to the milliseconds and to their elements. */
  async run(outputs) {
    const began = performance.now();
    const results = [await this.call(outputs)].flat();
    const values = await Promise.all(results.map((tensor) => tensor.data()));
    const taken = performance.now() - began;
    results.forEach((tensor) => tensor.dispose());
    return [taken, values];
  }

  close() {
    globalThis.tf.dispose(this.tensors);
    this.model.dispose();
  }
}
