// The peers of `make bench` that run in JavaScript: TensorFlow.js, and onnxruntime-web for networks.

import * as tensorflow from "/bench/peer/tensorflow.js";

import * as onnxruntime from "./onnxruntime.js";

export { difference, numbers, onTheGpu, setBackend, watchTasks } from "/bench/peer/tensorflow.js";

export const versions = { ...tensorflow.versions, "onnxruntime-web": onnxruntime.version };

/** Resolves to a workload's side of a peer, with the backend of that name. */
export async function open(specification, backend) {
  if (backend !== onnxruntime.BACKEND) return tensorflow.open(specification, backend);
  const given = JSON.parse(specification);
  return new tensorflow.Theirs({ ...given, awaited: true }, await onnxruntime.open(given));
}
