// The models of layers_api.py in TensorFlow.js.

const PAIRS = [
  [64, 1], [128, 2], [128, 1], [256, 2], [256, 1], [512, 2],
  [512, 1], [512, 1], [512, 1], [512, 1], [512, 1], [1024, 2], [1024, 1],
];

const MODELS = {
  mnist({ sequential, layers }) {
    const kernelSize = 3;
    return sequential({
      layers: [
        layers.conv2d({ filters: 32, kernelSize, activation: "relu", inputShape: [28, 28, 1] }),
        layers.maxPooling2d({ poolSize: 2 }),
        layers.conv2d({ filters: 64, kernelSize, activation: "relu" }),
        layers.maxPooling2d({ poolSize: 2 }),
        layers.flatten(),
        layers.dense({ units: 10, activation: "softmax" }),
      ],
    });
  },

  lstm({ sequential, layers }) {
    return sequential({
      layers: [
        layers.embedding({ inputDim: 1000, outputDim: 32, inputLength: 100 }),
        layers.lstm({ units: 128, recurrentActivation: "sigmoid" }),
        layers.dense({ units: 1, activation: "sigmoid" }),
      ],
    });
  },

  mobilenet_v1({ input, model, layers }) {
    const image = input({ shape: [224, 224, 3] });
    const normalized = (x) =>
      layers.reLU({ maxValue: 6 }).apply(layers.batchNormalization().apply(x));
    const convolved = (x, kind, options) =>
      normalized(layers[kind]({ padding: "same", useBias: false, ...options }).apply(x));
    let x = convolved(image, "conv2d", { filters: 32, kernelSize: 3, strides: 2 });
    for (const [filters, strides] of PAIRS) {
      x = convolved(x, "depthwiseConv2d", { kernelSize: 3, strides });
      x = convolved(x, "conv2d", { filters, kernelSize: 1 });
    }
    x = layers.globalAveragePooling2d({}).apply(x);
    x = layers.dense({ units: 1000, activation: "softmax" }).apply(x);
    return model({ inputs: image, outputs: x });
  },
};

// Both libraries list a layer's weights in the same order, but TensorFlow.js all that are not trained
// after all others.
function withWeights(tf, name, weights) {
  const model = MODELS[name](tf);
  const byLayer = model.layers.map((layer) => weights.splice(0, layer.weights.length));
  model.layers.forEach((layer, index) => layer.setWeights(byLayer[index]));
  return model;
}

/** Returns a function that trains for an epoch, and returns its loss. */
export function epoch(tf, name, loss, x, y, weights) {
  const model = withWeights(tf, name, weights);
  model.compile({ optimizer: tf.train.adam(0.001, 0.9, 0.999, 1e-7), loss });
  return async () => {
    const { history } = await model.fit(x, y, { batchSize: 64, shuffle: false, verbose: 0 });
    return tf.tensor(history.loss);
  };
}

/** Returns a function that predicts for a batch. */
export function prediction(tf, name, x, weights) {
  const model = withWeights(tf, name, weights);
  return () => tf.tidy(() => model.predict(x));
}
