// A step of training a classifier with TensorFlow.js, as training.py has it.

const LEARNING_RATE = 0.005;
const CLASSES = 10;

/** Returns a function that takes one step of Adam on a batch and returns its loss. */
export function makeStep(tf, { predict }, images, classes, ...weights) {
  const variables = weights.map((value) => tf.variable(value));
  const labels = tf.tidy(() => tf.oneHot(classes.floor().toInt(), CLASSES).toFloat());
  const optimizer = tf.train.adam(LEARNING_RATE, 0.9, 0.999, 1e-7);
  const loss = () => tf.losses.softmaxCrossEntropy(labels, predict(tf, images, variables));
  return () => optimizer.minimize(loss, true);
}
