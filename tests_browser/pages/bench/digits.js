// The digits page's network in TensorFlow.js, layer by layer what web/digits/model.py says.

/** Returns logits (batch, 10) for images (batch, 8, 8, 1). */
export function predict(tf, images, weights) {
  const [filter1, bias1, filter2, bias2, weights3, bias3, weights4, bias4] = weights;
  let x = images.sub(5).div(6);
  x = x.conv2d(filter1, 1, "same").add(bias1).relu();
  x = x.conv2d(filter2, 1, "same").add(bias2).relu();
  x = x.maxPool(2, 2, "valid").reshape([-1, 4 * 4 * 32]);
  x = x.matMul(weights3).add(bias3).relu();
  return x.matMul(weights4).add(bias4);
}
