// ONNX models in onnxruntime-web and in webtensor, on the same inputs in one page.

import * as ort from "/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs";

import { difference, median, noise, timed } from "./comparison.js";

const { pyodide } = globalThis;

ort.env.wasm.wasmPaths = "/node_modules/onnxruntime-web/dist/";

class Theirs {
  async load(url) {
    this.session = await ort.InferenceSession.create(url, {
      executionProviders: ["wasm"],
      graphOptimizationLevel: "all",
    });
  }

  give(inputs) {
    this.feeds = Object.fromEntries(
      inputs.map(({ name, shape, values }) => [name, new ort.Tensor("float32", values, shape)]),
    );
  }

  async run() {
    const results = await this.session.run(this.feeds);
    return this.session.outputNames.map((name) => ({
      shape: results[name].dims,
      data: results[name].data,
    }));
  }

  async milliseconds() {
    return (await timed(() => this.run()))[1];
  }

  dispose() {
    return this.session.release();
  }
}

class Ours {
  async load(url, backend, threads) {
    this.model = await globalThis.loadOurModel(url, backend, threads);
  }

  give(inputs) {
    const given = pyodide.toPy(inputs);
    this.model.give(given);
    given.destroy();
  }

  async run() {
    const results = await this.model.run();
    const read = results.toJs({ dict_converter: Object.fromEntries });
    results.destroy();
    return read;
  }

  milliseconds() {
    return this.model.milliseconds();
  }

  dispose() {
    this.model.dispose();
    this.model.destroy();
  }
}

// Load a model on both sides, and compare them on inputs of these shapes. Their number of threads
// is that of the page's first model.
globalThis.compareOnnxModel = async (url, backend, shapes, threads, rounds) => {
  ort.env.wasm.numThreads = threads;
  const theirs = new Theirs();
  const ours = new Ours();
  await fetch(url).then((answer) => answer.arrayBuffer());
  const [, theirLoad] = await timed(() => theirs.load(url));
  const [, ourLoad] = await timed(() => ours.load(url, backend, threads));
  const inputs = Object.entries(shapes).map(([name, shape], index) => ({
    name,
    shape,
    dtype: "float32",
    values: noise(shape, "float32", index + 1),
  }));
  theirs.give(inputs);
  ours.give(inputs);
  const [expected, theirFirst] = await timed(() => theirs.run());
  const [firsts, ourFirst] = await timed(() => ours.run());
  const differences = [difference(firsts, expected), difference(await ours.run(), expected)];
  const times = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await ours.milliseconds());
    times.theirs.push(await theirs.milliseconds());
  }
  await theirs.dispose();
  ours.dispose();
  return {
    differences,
    load: [ourLoad, theirLoad],
    first: [ourFirst, theirFirst],
    later: rounds ? [median(times.ours), median(times.theirs)] : null,
    fastest: rounds ? [Math.min(...times.ours), Math.min(...times.theirs)] : null,
  };
};
