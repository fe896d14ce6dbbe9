// The network of mnist.py in TensorFlow.js.

/** Returns logits (batch, 10) for images (batch, 28, 28, 1). */
export function predict(tf, images, weights) {
  const [filter1, bias1, filter2, bias2, weights3, bias3] = weights;
  let x = images.conv2d(filter1, 1, "valid").add(bias1).relu();
  x = x.maxPool(2, 2, "valid");
  x = x.conv2d(filter2, 1, "valid").add(bias2).relu();
  x = x.maxPool(2, 2, "valid").reshape([-1, 5 * 5 * 64]);
  return x.matMul(weights3).add(bias3);
}
