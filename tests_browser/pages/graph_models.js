// Graph models in TensorFlow.js and in webtensor, on the same inputs in one page.

import { difference, median, noise, sizeOf, timed } from "./comparison.js";

const { tf, pyodide } = globalThis;

// How often each side loads a model to be timed.
const LOADS = 3;

// What images measure where a model leaves it open.
const USUAL = [1, 256, 256, 3];

let photo;

globalThis.loadPhoto = async (url, height, width) => {
  const answer = await fetch(url);
  photo = { height, width, data: new Uint8Array(await answer.arrayBuffer()) };
};

// The nearest pixels of the photograph, as integers or as numbers from 0 to 1.
const photograph = (shape, dtype) => {
  const channelsFirst = shape[1] === 3 && shape[3] !== 3;
  const [height, width] = channelsFirst ? shape.slice(2) : shape.slice(1, 3);
  const values = new (dtype === "int32" ? Int32Array : Float32Array)(sizeOf(shape));
  const channels = channelsFirst ? 3 : shape[3];
  for (let y = 0, index = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const row = Math.floor((y * photo.height) / height);
      const pixel = row * photo.width + Math.floor((x * photo.width) / width);
      for (let channel = 0; channel < channels; channel += 1, index += 1) {
        const value = photo.data[3 * pixel + channel];
        const target = channelsFirst ? (channel * height + y) * width + x : index;
        values[target] = dtype === "int32" ? value : value / 255;
      }
    }
  }
  return values;
};

const isImage = (shape) => shape.length === 4 && sizeOf(shape) > 100;

class Theirs {
  async load(url) {
    this.model = await tf.loadGraphModel(url);
    return this.model.inputs.map(({ name, shape, dtype }) => ({ name, shape, dtype }));
  }

  get outputs() {
    return this.model.outputNodes;
  }

  async run(inputs) {
    const tensors = Object.fromEntries(
      inputs.map(({ name, shape, dtype, values }) => [name, tf.tensor(values, shape, dtype)]),
    );
    const results = [await this.model.executeAsync(tensors, this.outputs)].flat();
    const outputs = await Promise.all(
      results.map(async (tensor) => ({ shape: tensor.shape, data: await tensor.data() })),
    );
    tf.dispose([tensors, results]);
    return outputs;
  }

  dispose() {
    this.model.dispose();
  }
}

class Ours {
  async load(url, backend) {
    this.model = await globalThis.loadOurModel(url, backend);
  }

  async run(inputs, outputs) {
    const given = pyodide.toPy(inputs);
    const results = await this.model.run(given, outputs);
    given.destroy();
    const read = results.toJs({ dict_converter: Object.fromEntries });
    results.destroy();
    return read;
  }

  dispose() {
    this.model.dispose();
    this.model.destroy();
  }
}

const plain = (tensors) => tensors.map(({ data, ...rest }) => ({ ...rest, data: [...data] }));

// Load a model on both sides, and compare them on noise and on a photograph. Where they differ by
// more than `tolerance`, or TensorFlow.js fails, the inputs and the results are returned, too.
globalThis.compareModel = async (url, backend, dimensions, rounds, tolerance) => {
  await tf.setBackend(backend);
  const theirs = new Theirs();
  const ours = new Ours();
  const loads = { ours: [], theirs: [] };
  let inputSpecifications;
  for (let turn = 0; turn <= LOADS; turn += 1) {
    if (turn) [theirs, ours].forEach((side) => side.dispose());
    const [specifications, theirLoad] = await timed(() => theirs.load(url));
    const [, ourLoad] = await timed(() => ours.load(url, backend));
    inputSpecifications = specifications;
    if (turn) { // the first time, files and modules have to be fetched
      loads.theirs.push(theirLoad);
      loads.ours.push(ourLoad);
    }
  }
  const shaped = inputSpecifications.map(({ name, shape, dtype }) => ({
    name,
    dtype,
    shape: dimensions[name] ?? (shape ?? []).map((size, axis) => (size > 0 ? size : USUAL[axis])),
  }));
  const filled = (fill) =>
    shaped.map((input, index) => ({
      ...input,
      values:
        input.name === "downsample_ratio"
          ? Float32Array.of(0.5)
          : fill(input.shape, input.dtype, index),
    }));
  const cases = [
    filled((shape, dtype, index) => noise(shape, dtype, index + 1)),
    filled((shape, dtype) => (isImage(shape) ? photograph : noise)(shape, dtype, 7)),
  ];
  const names = pyodide.toPy(theirs.outputs);
  const differences = [];
  const runs = [];
  let failure = null;
  let firsts;
  for (const inputs of cases) {
    const [expected, theirFirst] = await timed(() =>
      theirs.run(inputs).catch((error) => {
        failure = error.message;
        return null;
      }),
    );
    const [results, ourFirst] = await timed(() => ours.run(inputs, names));
    firsts ??= [ourFirst, theirFirst];
    const apart = expected && difference(results, expected);
    differences.push(apart);
    if (!expected || !(apart <= tolerance)) {
      runs.push({
        inputs: inputs.map(({ values, ...rest }) => ({ ...rest, data: [...values] })),
        names: theirs.outputs,
        ours: plain(results),
        theirs: expected && plain(expected),
      });
    }
  }
  const times = { ours: [], theirs: [] };
  for (let round = 0; round < rounds && !failure; round += 1) {
    times.ours.push((await timed(() => ours.run(cases[0], names)))[1]);
    times.theirs.push((await timed(() => theirs.run(cases[0])))[1]);
  }
  names.destroy();
  theirs.dispose();
  ours.dispose();
  return {
    differences,
    failure,
    runs,
    load: [median(loads.ours), median(loads.theirs)],
    first: firsts,
    later: times.ours.length ? [median(times.ours), median(times.theirs)] : null,
  };
};
