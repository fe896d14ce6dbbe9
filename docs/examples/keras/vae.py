"""A variational autoencoder with a training step of its own."""

from webtensor import keras
from webtensor.keras import layers, ops

SIDE, LATENT = 8, 2


class Sampling(layers.Layer):
    """Draw a point around a mean."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        mean, log_variance = inputs
        noise = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_variance) * noise


def build_encoder():
    """From pictures to means, logarithms of variances, and points."""
    inputs = keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(8, 3, activation="relu", strides=2, padding="same")(inputs)
    x = layers.Dense(16, activation="relu")(layers.Flatten()(x))
    mean = layers.Dense(LATENT, name="mean")(x)
    log_variance = layers.Dense(LATENT, name="log_variance")(x)
    return keras.Model(inputs, [mean, log_variance, Sampling()([mean, log_variance])])


def build_decoder():
    """From points to pictures."""
    inputs = keras.Input((LATENT,))
    x = layers.Dense(4 * 4 * 8, activation="relu")(inputs)
    x = layers.Reshape((4, 4, 8))(x)
    x = layers.Conv2DTranspose(8, 3, activation="relu", strides=2, padding="same")(x)
    return keras.Model(inputs, layers.Conv2D(1, 3, activation="sigmoid", padding="same")(x))


class Autoencoder(keras.Model):
    """An encoder and a decoder that learn together."""

    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder = encoder, decoder
        self.total = keras.metrics.Mean(name="loss")
        self.likeness = keras.metrics.Mean(name="reconstruction_loss")

    @property
    def metrics(self):
        return [self.total, self.likeness]

    def call(self, inputs):
        return self.decoder(self.encoder(inputs)[2])

    def train_step(self, data):
        pictures = data[0] if isinstance(data, tuple) else data
        seen = []

        def loss():
            mean, log_variance, point = self.encoder(pictures, training=True)
            again = self.decoder(point, training=True)
            unlike = ops.mean(
                ops.sum(keras.losses.binary_crossentropy(pictures, again), axis=(1, 2))
            )
            spread = -0.5 * (1 + log_variance - ops.square(mean) - ops.exp(log_variance))
            seen.append(unlike)
            return unlike + ops.mean(ops.sum(spread, axis=1))

        self.total.update_state(self.optimizer.minimize(loss, self.trainable_weights))
        self.likeness.update_state(seen[0])
        return {"loss": self.total.result(), "reconstruction_loss": self.likeness.result()}


def pictures(count, seed):
    """Bright squares in the dark."""
    generator = keras.random.SeedGenerator(seed)
    places = keras.random.randint((count, 2), 0, SIDE - 3, seed=generator)
    line = ops.arange(SIDE)
    inside = ops.logical_and(line >= places[..., None], line < places[..., None] + 4)
    inside = ops.cast(inside, "float32")
    return ops.expand_dims(inside[:, 0, :, None] * inside[:, 1, None, :], -1)


def main(samples=1000, epochs=15, batch_size=64):
    """Train, and return the losses of the first epoch and of the last."""
    keras.utils.set_random_seed(1)
    model = Autoencoder(build_encoder(), build_decoder())
    model.compile(optimizer=keras.optimizers.Adam(0.005))
    history = model.fit(pictures(samples, seed=2), epochs=epochs, batch_size=batch_size, verbose=2)
    return history.history["loss"][0], history.history["loss"][-1]


if __name__ == "__main__":
    print(main())
