// TensorFlow.js's side of workloads, in `make bench` and on the site's benchmark page. `Theirs` is the
// mirror image of `Side` in sides.py: change one only with the other.

import * as data from "./data.js";
import * as digits from "./digits.js";
import expressions from "./expressions.js";
import * as layers from "./layers.js";
import * as mnist from "./mnist.js";
import * as models from "./models.js";
import { setBackendOnThreads } from "./tensorflow_threads.js";
import * as training from "./training.js";
import { valuesOf } from "./uniform.js";

const tf = globalThis.tf;
tf.wasm.setWasmPaths(new URL("../tensorflow/", import.meta.url).href);
tf.env().set("WEBGL_CPU_FORWARD", false); // tiny tensors, too, on the GPU

const FUNCTIONS = expressions({ tf, data, digits, layers, mnist, models, training });

export { watchTasks } from "./tasks.js";
export { numbers } from "./uniform.js";

export const versions = { "@tensorflow/tfjs": tf.version.tfjs };

/** Resolves to TensorFlow.js's side of a workload, on the backend of that name. */
export async function open(specification, backend) {
  const given = JSON.parse(specification);
  await setBackend(backend, given.threads);
  return new Theirs(given, openTensorFlow(given));
}

/** Programs compiled, and bytes of textures, of their WebGL backend. */
export const onTheGpu = () => ({
  programs: Object.keys(tf.backend().binaryCache).length,
  gpu_bytes: tf.memory().numBytesInGPUAllocated,
});

export async function setBackend(name, threads = 1) {
  if (name === "wasm") return setBackendOnThreads(threads);
  if (!(await tf.setBackend(name))) throw new Error(`TensorFlow.js can't start ${name}`);
}

/** A function that calls the workload once, and one that frees its memory. */
function openTensorFlow({ key, inputs, fromHost, makesStep }) {
  const operands = valuesOf(inputs).map((values, index) =>
    fromHost ? values : tf.tensor(values, inputs[index].shape, inputs[index].dtype),
  );
  const evaluated = () => FUNCTIONS[key](...operands);
  const close = async () => {
    tf.dispose(operands);
    tf.disposeVariables();
  };
  return { call: makesStep ? evaluated() : evaluated, close };
}

/** A side that is timed in JavaScript. */
export class Theirs {
  constructor({ timed, awaited }, { call, close }) {
    this.call = call;
    this.close = close;
    this.timed = timed;
    this.awaited = awaited;
  }

  /** Times `count` calls; returns milliseconds per call, in all and without the wait. */
  async sample(count) {
    if (this.timed === "read") return this.sampleReads(count);
    const { call, awaited } = this;
    const start = performance.now();
    let result = awaited ? await call() : call();
    for (let index = 1; index < count; index++) {
      result.dispose();
      result = awaited ? await call() : call();
    }
    const enqueued = performance.now();
    await wait(result);
    const end = this.timed === "enqueue" ? enqueued : performance.now();
    result.dispose();
    return [(end - start) / count, (enqueued - start) / count];
  }

  async sampleReads(count) {
    const results = Array.from({ length: count }, this.call);
    await wait(results.at(-1));
    const start = performance.now();
    for (const result of results) await result.data();
    const taken = (performance.now() - start) / count;
    tf.dispose(results);
    return [taken, taken];
  }

  /** The elements of the result of the last of `calls` calls. */
  async values(calls) {
    let result = await this.call();
    for (let index = 1; index < calls; index++) {
      result.dispose();
      result = await this.call();
    }
    const values = await result.data();
    result.dispose();
    return values;
  }
}

/** The largest difference of our values from theirs, or of their means; see `largestDifference`. */
export const difference = (ours, theirs, ofMeans) =>
  ofMeans ? largestDifference([mean(ours)], [mean(theirs)]) : largestDifference(ours, theirs);

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The largest difference, relative to the largest magnitude of theirs. */
function largestDifference(ours, theirs) {
  if (ours.length !== theirs.length) {
    throw new Error(`ours has ${ours.length} elements, theirs ${theirs.length}`);
  }
  let difference = 0;
  let magnitude = 0;
  for (let index = 0; index < theirs.length; index++) {
    const apart = Math.abs(ours[index] - theirs[index]);
    if (Number.isNaN(apart)) throw new Error(`ours is ${ours[index]}, theirs ${theirs[index]}`);
    difference = Math.max(difference, apart);
    magnitude = Math.max(magnitude, Math.abs(theirs[index]));
  }
  return difference === 0 ? 0 : difference / magnitude;
}

async function wait(result) {
  if (result.rank === 0) return void (await result.data());
  const corner = tf.slice(result, Array(result.rank).fill(0), Array(result.rank).fill(1));
  await corner.data();
  corner.dispose();
}
