// Layers-models made, saved and loaded by TensorFlow.js, for tests to compare with.

const BYTES_PER_CALL = 8192;

function toBase64(buffer) {
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let begin = 0; begin < bytes.length; begin += BYTES_PER_CALL) {
    text += String.fromCharCode(...bytes.subarray(begin, begin + BYTES_PER_CALL));
  }
  return btoa(text);
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;

// Numbers between -1 and 1 that are the same in Python, where `numbers` does so, too.
const numbers = (shape) => {
  const size = shape.reduce((product, length) => product * length, 1);
  const values = Array.from({ length: size }, (_, index) => ((index * 37) % 101) / 50 - 1);
  return tf.tensor(values, shape);
};

// What is looked up in an embedding is whole numbers.
const inputsOf = (model) => {
  const isLookedUp = model.layers.some((layer) => layer.getClassName() === "Embedding");
  return model.inputs.map(({ shape }) => {
    const values = numbers(shape.map((length) => length ?? 2));
    return isLookedUp ? values.abs().mul(5).toInt() : values;
  });
};

const TFJS_MODELS = {
  convolutional() {
    const l = tf.layers;
    return tf.sequential({
      layers: [
        l.conv2d({ inputShape: [9, 9, 3], filters: 4, kernelSize: 3, padding: "same", activation: "relu" }),
        l.batchNormalization(),
        l.maxPooling2d({ poolSize: 2 }),
        l.separableConv2d({ filters: 3, kernelSize: 2 }),
        l.depthwiseConv2d({ kernelSize: 2 }),
        l.leakyReLU({ alpha: 0.1 }),
        l.conv2dTranspose({ filters: 2, kernelSize: 2, strides: 2 }),
        l.thresholdedReLU({ theta: 0.05 }),
        l.dropout({ rate: 0.3 }),
        l.upSampling2d({}),
        l.zeroPadding2d({}),
        l.averagePooling2d({}),
        l.flatten(),
        l.dense({ units: 5, activation: "softmax", kernelRegularizer: "l1l2" }),
      ],
    });
  },
  functional() {
    const l = tf.layers;
    const first = tf.input({ shape: [5] });
    const second = tf.input({ shape: [4] });
    const shared = l.dense({ units: 4, activation: "selu" });
    const inner = tf.sequential({ layers: [l.dense({ units: 3, inputShape: [4] }), l.dense({ units: 4 })] });
    const inside = tf.input({ shape: [4] });
    const core = tf.model({ inputs: inside, outputs: l.elu().apply(l.dense({ units: 4 }).apply(inside)) });
    const a = inner.apply(shared.apply(l.dense({ units: 4 }).apply(first)));
    const b = core.apply(inner.apply(shared.apply(second)));
    const c = l.concatenate().apply([a, b]);
    return tf.model({
      inputs: [first, second],
      outputs: [l.dense({ units: 1 }).apply(l.layerNormalization().apply(c)), l.multiply().apply([a, b])],
    });
  },
  recurrent() {
    const l = tf.layers;
    return tf.sequential({
      layers: [
        l.embedding({ inputShape: [6], inputDim: 7, outputDim: 4 }),
        l.lstm({ units: 3, returnSequences: true }),
        l.bidirectional({ layer: l.gru({ units: 2, returnSequences: true }), mergeMode: "concat" }),
        l.timeDistributed({ layer: l.dense({ units: 3 }) }),
        l.lstm({ units: 2, recurrentActivation: "sigmoid", returnSequences: true, goBackwards: true }),
        l.simpleRNN({ units: 3 }),
        l.prelu(),
        l.repeatVector({ n: 2 }),
        l.permute({ dims: [2, 1] }),
        l.reshape({ targetShape: [null, 2] }),
        l.globalAveragePooling1d(),
      ],
    });
  },
};

const OPTIMIZERS = {
  sgd: () => tf.train.sgd(0.1),
  momentum: () => tf.train.momentum(0.1, 0.9),
  adam: () => tf.train.adam(0.05),
  rmsprop: () => tf.train.rmsprop(0.05, 0.9, 0.5),
  adagrad: () => tf.train.adagrad(0.1),
};

async function artifactsOf(model, options) {
  let kept;
  const handler = tf.io.withSaveHandler(async (artifacts) => {
    kept = artifacts;
    return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: "JSON" } };
  });
  await model.save(handler, options);
  return kept;
}

function filesOf(artifacts) {
  const { weightData, weightSpecs, ...described } = artifacts;
  const manifest = [{ paths: ["weights.bin"], weights: weightSpecs }];
  return {
    "model.json": toBase64(new TextEncoder().encode(JSON.stringify({ ...described, weightsManifest: manifest }))),
    "weights.bin": toBase64(weightData),
  };
}

const predictionsOf = (model, inputs) => {
  const found = model.predict(inputs.length === 1 ? inputs[0] : inputs);
  return [found].flat().map((one) => ({ shape: one.shape, values: Array.from(one.dataSync()) }));
};

async function savedByTensorflow(name) {
  const model = TFJS_MODELS[name]();
  // Weights that are zeros or ones at first, such as those of batch norm, would hide mistakes.
  model.setWeights(model.getWeights().map((one) => tf.add(tf.abs(one), tf.abs(numbers(one.shape)).mul(0.2))));
  model.setUserDefinedMetadata({ noted: name });
  return { files: filesOf(await artifactsOf(model)), outputs: predictionsOf(model, inputsOf(model)) };
}

async function savedWhileTraining(optimizer) {
  const x = numbers([8, 4]);
  const y = numbers([8, 2]);
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 3, inputShape: [4] }), tf.layers.dense({ units: 2 })] });
  model.compile({ optimizer: OPTIMIZERS[optimizer](), loss: "meanSquaredError", metrics: ["mae"] });
  const fit = () => model.fit(x, y, { epochs: 3, batchSize: 8, shuffle: false, verbose: 0 });
  await fit();
  const files = filesOf(await artifactsOf(model, { includeOptimizer: true }));
  await fit();
  return { files, weights: model.getWeights().map((one) => Array.from(one.dataSync())) };
}

async function loadedFromFiles(files) {
  const described = JSON.parse(new TextDecoder().decode(fromBase64(files["model.json"])));
  const { weightsManifest, ...rest } = described;
  const parts = weightsManifest[0].paths.map((path) => fromBase64(files[path]));
  const weightData = await new Blob(parts).arrayBuffer();
  const artifacts = { ...rest, weightSpecs: weightsManifest[0].weights, weightData };
  return tf.loadLayersModel(tf.io.fromMemory(artifacts));
}

async function predictedByTensorflow(files) {
  const model = await loadedFromFiles(files);
  return { outputs: predictionsOf(model, inputsOf(model)), metadata: model.getUserDefinedMetadata() };
}

async function trainedOnByTensorflow(files) {
  const model = await loadedFromFiles(files);
  await model.fit(numbers([8, 4]), numbers([8, 2]), { epochs: 3, batchSize: 8, shuffle: false, verbose: 0 });
  return model.getWeights().map((one) => Array.from(one.dataSync()));
}
