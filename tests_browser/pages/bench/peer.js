// The peers of `make bench` that run in JavaScript: TensorFlow.js, onnxruntime-web for networks,
// jax-js for steps of training, and TensorFlow.js's ready-made models for poses.

import * as tensorflow from "/bench/peer/tensorflow.js";

import * as jax from "./jax.js";
import * as onnxruntime from "./onnxruntime.js";

export { difference, numbers, onTheGpu, setBackend, watchTasks } from "/bench/peer/tensorflow.js";

/** Only pages that were asked for it have it. */
export const poses = new URLSearchParams(location.search).has("poses")
  ? await import("./pose_detection.js")
  : undefined;

export const versions = {
  ...tensorflow.versions,
  "onnxruntime-web": onnxruntime.version,
  "@jax-js/jax": jax.version,
  "@tensorflow-models/pose-detection": poses?.version,
};

/** Resolves to a workload's side of a peer, with the backend of that name. */
export async function open(specification, backend) {
  const given = JSON.parse(specification);
  if (backend.startsWith(jax.PREFIX)) return new tensorflow.Theirs(given, await jax.open(given, backend));
  if (poses && backend.startsWith(poses.PREFIX)) {
    return new tensorflow.Theirs(given, await poses.open(backend, given.threads));
  }
  if (backend !== onnxruntime.BACKEND) return tensorflow.open(specification, backend);
  return new tensorflow.Theirs({ ...given, awaited: true }, await onnxruntime.open(given));
}
