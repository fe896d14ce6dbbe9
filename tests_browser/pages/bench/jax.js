// jax-js's side of the bench page: steps of training, compiled by `jit`.
//
// An array is freed by the function that takes it; `.ref` is another reference to it.

import * as jax from "/node_modules/@jax-js/jax/dist/index.js";
import information from "/node_modules/@jax-js/jax/package.json" with { type: "json" };

import { valuesOf } from "/bench/peer/uniform.js";

const { jit, lax, nn, numpy: np, valueAndGrad } = jax;

const LEARNING_RATE = 0.005; // as in training.py
const CLASSES = 10;
const [DECAY, SQUARES_DECAY, EPSILON] = [0.9, 0.999, 1e-7];

export const { version } = information;

/** What their backends are called in the table of workloads: "jax wasm". */
export const PREFIX = "jax ";

/** Networks by name: what makes their weights of ours, and logits of images. */
const NETWORKS = {
  mlp: { weights: (weights) => weights, images: (images) => images, predict: predictDense },
  // Its convolutions have channels first.
  convnet: {
    weights: ([filter1, bias1, filter2, bias2, weights3, bias3]) => [
      filter1.transpose([3, 2, 0, 1]),
      bias1.reshape([1, -1, 1, 1]),
      filter2.transpose([3, 2, 0, 1]),
      bias2.reshape([1, -1, 1, 1]),
      channelsFirstRows(weights3),
      bias3,
    ],
    images: (images) => images.transpose([0, 3, 1, 2]),
    predict: predictConvolved,
  },
};

function predictDense(images, [weights1, bias1, weights2, bias2]) {
  const hidden = nn.relu(np.dot(images, weights1).add(bias1));
  return np.dot(hidden, weights2).add(bias2);
}

function predictConvolved(images, [filter1, bias1, filter2, bias2, weights3, bias3]) {
  let x = nn.relu(lax.conv(images, filter1, [1, 1], "SAME").add(bias1));
  x = nn.relu(lax.conv(x, filter2, [2, 2], "VALID").add(bias2));
  return np.dot(x.reshape([x.shape[0], -1]), weights3).add(bias3);
}

// The rows of a dense layer's weights, which ours are ordered by (height, width, channel).
function channelsFirstRows(weights) {
  const [rows, columns] = weights.shape;
  const channels = 32;
  const size = Math.sqrt(rows / channels);
  return weights
    .reshape([size, size, channels, columns])
    .transpose([2, 0, 1, 3])
    .reshape([rows, columns]);
}

function loss(weights, images, labels, predict) {
  const logProbabilities = nn.logSoftmax(predict(images, weights), -1);
  return labels.mul(logProbabilities).sum(-1).mean().mul(-1);
}

// A moving average.
const moved = (average, value, decay) => average.mul(decay).add(value.mul(1 - decay));

/** Returns a step of Adam, which takes and returns weights and what Adam keeps of each. */
function makeStep(predict) {
  return jit((state, images, labels) => {
    const { weights, means, squares, power, squaresPower } = state;
    const lossOf = (given) => loss(given, images, labels, predict);
    const [value, gradients] = valueAndGrad(lossOf)(weights.map((weight) => weight.ref));
    const newPower = power.mul(DECAY);
    const newSquaresPower = squaresPower.mul(SQUARES_DECAY);
    const rate = np.sqrt(np.subtract(1, newSquaresPower.ref))
      .div(np.subtract(1, newPower.ref))
      .mul(LEARNING_RATE);
    const newMeans = means.map((mean, index) => moved(mean, gradients[index].ref, DECAY));
    const newSquares = squares.map((square, index) =>
      moved(square, np.square(gradients[index]), SQUARES_DECAY),
    );
    const newWeights = weights.map((weight, index) => {
      const change = newMeans[index].ref.mul(rate.ref);
      return weight.sub(change.div(np.sqrt(newSquares[index].ref).add(EPSILON)));
    });
    rate.dispose();
    const next = {
      weights: newWeights,
      means: newMeans,
      squares: newSquares,
      power: newPower,
      squaresPower: newSquaresPower,
    };
    return [next, value];
  });
}

class Result {
  rank = 0;

  constructor(array) {
    this.array = array;
  }

  data() {
    return this.array.ref.data();
  }

  dispose() {
    this.array.dispose();
  }
}

/** Resolves to a function that takes a step and returns its loss, and one that frees its memory. */
export async function open({ jax: name, inputs }, backend) {
  const device = backend.slice(PREFIX.length);
  if (!(await jax.init(device)).includes(device)) throw new Error(`jax-js can't start ${device}`);
  jax.defaultDevice(device);
  const network = NETWORKS[name];
  const [images, classes, ...weights] = valuesOf(inputs).map((values, index) =>
    np.array(values).reshape(inputs[index].shape),
  );
  const x = network.images(images);
  const labels = nn.oneHot(np.floor(classes).astype(np.int32), CLASSES);
  const start = network.weights(weights);
  const zeros = () => start.map((weight) => np.zeros(weight.shape));
  const one = () => np.array(1);
  let state = {
    weights: start,
    means: zeros(),
    squares: zeros(),
    power: one(),
    squaresPower: one(),
  };
  const step = makeStep(network.predict);
  const call = () => {
    const [next, value] = step(state, x.ref, labels.ref);
    state = next;
    return new Result(value);
  };
  const close = async () => {
    jax.tree.dispose(state);
    x.dispose();
    labels.dispose();
    step.dispose();
  };
  return { call, close };
}
