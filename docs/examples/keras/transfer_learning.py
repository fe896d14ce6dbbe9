"""A network that tells patterns apart learns others from few examples, with its base frozen."""

from webtensor import keras
from webtensor.keras import layers, ops

SIDE = 16


def pictures(count, classes, seed):
    """Stripes of as many directions as there are classes, with noise."""
    generator = keras.random.SeedGenerator(seed)
    labels = ops.reshape(keras.random.randint((count, 1), 0, classes, seed=generator), (count,))
    angle = ops.reshape(ops.cast(labels, "float32") * (3.14159 / classes), (count, 1, 1))
    phase = keras.random.uniform((count, 1, 1), 0, 6.3, seed=generator)
    rows = ops.reshape(ops.arange(SIDE, dtype="float32"), (1, SIDE, 1))
    columns = ops.reshape(ops.arange(SIDE, dtype="float32"), (1, 1, SIDE))
    stripes = ops.sin(rows * ops.sin(angle) + columns * ops.cos(angle) + phase)
    noise = keras.random.normal((count, SIDE, SIDE), stddev=0.2, seed=generator)
    return ops.expand_dims(stripes + noise, -1), labels


def build_base():
    """Convolutions with batch normalization."""
    inputs = keras.Input((SIDE, SIDE, 1))
    x = layers.Rescaling(0.5)(inputs)
    for filters in (8, 16):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
        x = layers.MaxPooling2D()(x)
    return keras.Model(inputs, layers.GlobalMaxPooling2D()(x), name="base")


def with_head(base, classes):
    """Put a classifier on top of a base, which is kept as it is."""
    inputs = keras.Input((SIDE, SIDE, 1))
    x = base(inputs, training=False) if not base.trainable else base(inputs)
    model = keras.Model(inputs, layers.Dense(classes)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    return model


def main(samples=600, epochs=6, batch_size=32):
    """Train twice; return the accuracy, and whether the frozen base stayed as it was."""
    keras.utils.set_random_seed(1)
    base = build_base()
    with_head(base, 4).fit(
        *pictures(samples, 4, seed=2), epochs=epochs, batch_size=batch_size, verbose=2
    )
    base.trainable = False
    model = with_head(base, 2)
    before = [float(ops.sum(weight)) for weight in base.weights]
    model.fit(*pictures(samples, 2, seed=3), epochs=epochs, batch_size=batch_size, verbose=2)
    after = [float(ops.sum(weight)) for weight in base.weights]
    accuracy = model.evaluate(*pictures(samples, 2, seed=4), verbose=0)[1]
    return accuracy, before == after


if __name__ == "__main__":
    print(main())
