// The peers of `make bench` that run in JavaScript: TensorFlow.js, onnxruntime-web for networks, and
// jax-js for steps of training.

import * as tensorflow from "/bench/peer/tensorflow.js";

import * as jax from "./jax.js";
import * as onnxruntime from "./onnxruntime.js";

export { difference, numbers, onTheGpu, setBackend, watchTasks } from "/bench/peer/tensorflow.js";

export const versions = {
  ...tensorflow.versions,
  "onnxruntime-web": onnxruntime.version,
  "@jax-js/jax": jax.version,
};

/** Resolves to a workload's side of a peer, with the backend of that name. */
export async function open(specification, backend) {
  const given = JSON.parse(specification);
  if (backend.startsWith(jax.PREFIX)) return new tensorflow.Theirs(given, await jax.open(given, backend));
  if (backend !== onnxruntime.BACKEND) return tensorflow.open(specification, backend);
  return new tensorflow.Theirs({ ...given, awaited: true }, await onnxruntime.open(given));
}
