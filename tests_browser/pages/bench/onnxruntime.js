// onnxruntime-web's side of the bench page: a peer for workloads that have an ONNX file.

import * as ort from "/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs";

import { valuesOf } from "/bench/peer/uniform.js";

ort.env.wasm.wasmPaths = "/node_modules/onnxruntime-web/dist/";
ort.env.wasm.numThreads = Number(new URLSearchParams(location.search).get("threads") ?? 1);

export const BACKEND = "onnxruntime";

export const version = ort.env.versions.web;

/** A result is on the host as soon as it is there. */
class Result {
  rank = 0;

  constructor(tensor) {
    this.tensor = tensor;
  }

  data() {
    return this.tensor.getData();
  }

  dispose() {
    this.tensor.dispose();
  }
}

/** Resolves to a function that predicts from the first input, and one that frees its memory. */
export async function open({ onnx, inputs: [image] }) {
  const session = await ort.InferenceSession.create(`/onnx/${onnx}.onnx`, {
    executionProviders: ["wasm"],
    graphOptimizationLevel: "all",
  });
  const given = { image: channelsFirst(image) };
  return {
    call: async () => new Result((await session.run(given)).predicted),
    close: () => session.release(),
  };
}

/** The input in the layout that it has kernels for. */
function channelsFirst(image) {
  const [batch, height, width, channels] = image.shape;
  const [values] = valuesOf([image]);
  const places = height * width;
  const moved = values.map(
    (_, index) => values[(index % places) * channels + Math.floor(index / places)],
  );
  return new ort.Tensor("float32", moved, [batch, channels, height, width]);
}
