// Networks as network.py describes them, in TensorFlow.js's fused ops.

/** Returns a function that predicts; `given` holds the image and each layer's parameters. */
export function makeStep(tf, { layers, outputs }, given) {
  const steps = layers.map((layer, index) => {
    const [weights, bias, slopes] = ["weights", "bias", "slopes"].map(
      (name) => given[`${name}${index + 1}`],
    );
    return { op: OPS[layer.op](tf, layer, weights, bias, slopes), x: layer.x, frees: layer.frees };
  });
  return () => {
    const results = [given.image];
    for (const { op, x, frees } of steps) {
      results.push(op(...x.map((number) => results[number])));
      for (const number of frees) results[number].dispose();
    }
    const predicted = outputs.map((number) => results[number]);
    const joined = tf.tidy(() => tf.concat(predicted.map((result) => tf.reshape(result, [-1]))));
    tf.dispose(predicted);
    return joined;
  };
}

/** Returns a function that applies one convolution of a network. */
export function makeLayer(tf, layer, image, weights, bias) {
  const op = OPS[layer.op](tf, layer, weights, bias);
  return () => op(image);
}

const fusedOptions = ({ stride, dilation, padding, activation }, filter, bias, slopes) => ({
  filter,
  strides: stride,
  pad: padding,
  dilations: dilation,
  bias,
  activation,
  preluActivationWeights: slopes,
});

// A layer's op: a function of results.
const OPS = {
  conv2d(tf, ...layer) {
    const options = fusedOptions(...layer);
    return (x) => tf.fused.conv2d({ x, ...options });
  },
  depthwise_conv2d(tf, ...layer) {
    const options = fusedOptions(...layer);
    return (x) => tf.fused.depthwiseConv2d({ x, ...options });
  },
  max_pool: (tf) => (x) => tf.maxPool(x, 2, 2, "valid"),
  pad_channels: (tf, { more_channels }) => {
    const paddings = [[0, 0], [0, 0], [0, 0], [0, more_channels]];
    return (x) => tf.pad(x, paddings);
  },
  add(tf, { activation }, weights, bias, slopes) {
    if (activation === "linear") return tf.add;
    return (x, other) => tf.tidy(() => tf[activation](tf.add(x, other), slopes));
  },
  mean: (tf) => (x) => tf.mean(x, [1, 2]),
  dense: (tf, layer, b, bias) => (a) => tf.fused.matMul({ a, b, bias }),
};
