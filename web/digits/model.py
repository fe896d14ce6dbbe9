"""The network: two convolutions, a pooling and two dense layers, written with webtensor's ops."""

from math import sqrt

import webtensor as wt


def glorot_uniform(shape: tuple[int, ...], seed: int) -> wt.Variable:
    """Return weights drawn as Glorot & Bengio (2010) advise, the same on every backend.

    The last two axes are (inputs, outputs), those before them the window of a convolution.
    """
    *window, inputs, outputs = shape
    area = 1
    for length in window:
        area *= length
    limit = sqrt(6 / (area * (inputs + outputs)))
    return wt.Variable(wt.random_uniform(shape, -limit, limit, seed=seed))


class DigitsNetwork:
    """Classifies 8×8 images of digits with grey levels from 0 to 16."""

    def __init__(self, seed: int = 0) -> None:
        """Draw initial weights; the same seed gives the same network."""
        self.filter1 = glorot_uniform((3, 3, 1, 16), seed + 1)
        self.bias1 = wt.Variable(wt.zeros(16))
        self.filter2 = glorot_uniform((3, 3, 16, 32), seed + 2)
        self.bias2 = wt.Variable(wt.zeros(32))
        self.weights3 = glorot_uniform((4 * 4 * 32, 64), seed + 3)
        self.bias3 = wt.Variable(wt.zeros(64))
        self.weights4 = glorot_uniform((64, 10), seed + 4)
        self.bias4 = wt.Variable(wt.zeros(10))

    def __call__(self, images: wt.Tensor) -> wt.Tensor:
        """Return logits (batch, 10) for images (batch, 8, 8, 1)."""
        x = (images - 5) / 6  # about zero mean and unit variance
        x = wt.relu(wt.conv2d(x, self.filter1, strides=1, pad="same") + self.bias1)
        x = wt.relu(wt.conv2d(x, self.filter2, strides=1, pad="same") + self.bias2)
        x = wt.max_pool(x, 2)
        x = wt.reshape(x, (-1, 4 * 4 * 32))
        x = wt.relu(x @ self.weights3 + self.bias3)
        return x @ self.weights4 + self.bias4
