// Graph models in TensorFlow.js and in webtensor, on the same inputs in one page.

const { tf, pyodide } = globalThis;

// Numbers that are the same in every run.
function* uniform(seed) {
  for (let state = seed >>> 0; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 4294967296;
  }
}

const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

const noise = (shape, dtype, seed) => {
  const numbers = uniform(seed);
  const next = () => numbers.next().value;
  return dtype === "int32"
    ? Int32Array.from({ length: sizeOf(shape) }, () => Math.floor(next() * 256))
    : Float32Array.from({ length: sizeOf(shape) }, next);
};

// The nearest pixels of a photograph, as integers or as numbers from 0 to 1.
const photograph = (shape, dtype, photo) => {
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

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

// The largest difference of two lists of outputs, in parts of the largest magnitude of each.
const difference = (ours, theirs) =>
  Math.max(
    ...theirs.map((wanted, index) => {
      const result = ours[index];
      if (String(result.shape) !== String(wanted.shape)) return Infinity;
      let apart = 0;
      let largest = 0;
      wanted.data.forEach((value, at) => {
        apart = Math.max(apart, Math.abs(value - result.data[at]));
        largest = Math.max(largest, Math.abs(value));
      });
      return apart === 0 ? 0 : apart / largest;
    }),
  );

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

const timed = async (function_) => {
  const began = performance.now();
  const value = await function_();
  return [value, performance.now() - began];
};

// Load a model on both sides, and compare them on noise and on a photograph.
globalThis.compareModel = async (url, backend, dimensions, rounds) => {
  await tf.setBackend(backend);
  const theirs = new Theirs();
  const ours = new Ours();
  await fetch(url).then((answer) => answer.arrayBuffer());
  const [specifications, theirLoad] = await timed(() => theirs.load(url));
  const [, ourLoad] = await timed(() => ours.load(url, backend));
  const shaped = specifications.map(({ name, shape, dtype }) => ({
    name,
    dtype,
    shape: dimensions[name] ?? (shape ?? []).map((size, axis) => (size > 0 ? size : [1, 256, 256, 3][axis])),
  }));
  const filled = (fill) =>
    shaped.map((input, index) => ({
      ...input,
      values:
        input.name === "downsample_ratio" ? Float32Array.of(0.5) : fill(input.shape, input.dtype, index),
    }));
  const photo = globalThis.photo;
  const cases = [
    filled((shape, dtype, index) => noise(shape, dtype, index + 1)),
    filled((shape, dtype) => (sizeOf(shape) > 100 && shape.length === 4 && photo ? photograph(shape, dtype, photo) : noise(shape, dtype, 7))),
  ];
  const names = pyodide.toPy(theirs.outputs);
  const differences = [];
  let firsts;
  for (const inputs of cases) {
    const [wanted, theirFirst] = await timed(() => theirs.run(inputs));
    const [results, ourFirst] = await timed(() => ours.run(inputs, names));
    firsts ??= [ourFirst, theirFirst];
    differences.push(difference(results, wanted));
  }
  const times = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push((await timed(() => ours.run(cases[0], names)))[1]);
    times.theirs.push((await timed(() => theirs.run(cases[0])))[1]);
  }
  names.destroy();
  theirs.dispose();
  ours.dispose();
  return {
    differences,
    load: [ourLoad, theirLoad],
    first: firsts,
    later: rounds ? [median(times.ours), median(times.theirs)] : null,
  };
};
