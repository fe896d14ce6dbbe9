"""The network: two convolutions, a pooling and two dense layers, as one writes it with Keras."""

from webtensor import keras
from webtensor.keras import layers


def digits_network(seed: int = 0) -> keras.Sequential:
    """Return a classifier of 8×8 images of digits with grey levels from 0 to 16.

    It returns logits. The same seed draws the same initial weights, on every backend.
    """

    def drawn(number: int) -> keras.initializers.Initializer:
        return keras.initializers.GlorotUniform(seed + number)

    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Rescaling(1 / 6, offset=-5 / 6),  # about zero mean and unit variance
            layers.Conv2D(16, 3, padding="same", activation="relu", kernel_initializer=drawn(1)),
            layers.Conv2D(32, 3, padding="same", activation="relu", kernel_initializer=drawn(2)),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(64, activation="relu", kernel_initializer=drawn(3)),
            layers.Dense(10, kernel_initializer=drawn(4)),
        ]
    )
