// The peers' side of the bench page: TensorFlow.js, and onnxruntime-web for networks. `Theirs` is
// the mirror image of `Ours` in page.py: change one only with the other.

import * as digits from "./digits.js";
import * as models from "./models.js";
import * as onnxruntime from "./onnxruntime.js";
import { valuesOf } from "./uniform.js";

const tf = globalThis.tf;
tf.wasm.setWasmPaths("/node_modules/@tensorflow/tfjs-backend-wasm/dist/");
tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false); // one thread, as ours
tf.env().set("WEBGL_CPU_FORWARD", false); // tiny tensors, too, on the GPU

export { numbers } from "./uniform.js";

export const versions = {
  "@tensorflow/tfjs": tf.version.tfjs,
  "onnxruntime-web": onnxruntime.version,
};

/** Resolves to a workload's side of a peer, with the backend of that name. */
export async function open(specification, backend) {
  const given = JSON.parse(specification);
  if (backend === onnxruntime.BACKEND) {
    return new Theirs({ ...given, awaited: true }, await onnxruntime.open(given));
  }
  await setBackend(backend);
  return new Theirs(given, openTensorFlow(given));
}

async function setBackend(name) {
  if (!(await tf.setBackend(name))) throw new Error(`TensorFlow.js can't start ${name}`);
  await tf.ready();
}

/** A function that calls the workload once, and one that frees its memory. */
function openTensorFlow({ theirs, inputs, fromHost, makesStep }) {
  const names = inputs.map(({ name }) => name);
  const evaluate = new Function("tf", "digits", "models", ...names, `return ${theirs};`);
  const operands = valuesOf(inputs).map((values, index) =>
    fromHost ? values : tf.tensor(values, inputs[index].shape, inputs[index].dtype),
  );
  const evaluated = () => evaluate(tf, digits, models, ...operands);
  const close = async () => {
    tf.dispose(operands);
    tf.disposeVariables();
  };
  return { call: makesStep ? evaluated() : evaluated, close };
}

class Theirs {
  constructor({ timed, awaited, comparesMeans }, { call, close }) {
    this.call = call;
    this.close = close;
    this.timed = timed;
    this.awaited = awaited;
    this.comparesMeans = comparesMeans;
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

  /** The largest difference from our values, relative to the largest magnitude of theirs. */
  async compare(ours, calls) {
    let result = await this.call();
    for (let index = 1; index < calls; index++) {
      result.dispose();
      result = await this.call();
    }
    const theirs = await result.data();
    result.dispose();
    return this.comparesMeans
      ? largestDifference([mean(ours)], [mean(theirs)])
      : largestDifference(ours, theirs);
  }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

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
