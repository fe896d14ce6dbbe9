// TensorFlow.js's side of the bench page. `Theirs` is the mirror image of `Ours` in page.py: change
// one only with the other.

import * as digits from "./digits.js";
import { valuesOf } from "./uniform.js";

const tf = globalThis.tf;
tf.wasm.setWasmPaths("/node_modules/@tensorflow/tfjs-backend-wasm/dist/");
tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false); // one thread, as ours
tf.env().set("WEBGL_CPU_FORWARD", false); // tiny tensors, too, on the GPU

export { numbers } from "./uniform.js";

export const version = tf.version.tfjs;

export async function setBackend(name) {
  if (!(await tf.setBackend(name))) throw new Error(`TensorFlow.js can't start ${name}`);
  await tf.ready();
}

export const open = (specification) => new Theirs(JSON.parse(specification));

class Theirs {
  constructor({ theirs, inputs, timed, fromHost, makesStep, awaited, comparesMeans }) {
    const names = inputs.map(({ name }) => name);
    const evaluate = new Function("tf", "digits", ...names, `return ${theirs};`);
    this.operands = valuesOf(inputs).map((values, index) =>
      fromHost ? values : tf.tensor(values, inputs[index].shape, inputs[index].dtype),
    );
    this.call = () => evaluate(tf, digits, ...this.operands);
    if (makesStep) this.call = this.call();
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

  close() {
    tf.dispose(this.operands);
    tf.disposeVariables();
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
