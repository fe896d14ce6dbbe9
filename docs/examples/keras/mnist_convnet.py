"""A convolutional network tells ten patterns of 28 × 28 pixels apart, as it would digits."""

from webtensor import keras
from webtensor.keras import layers, ops

CLASSES = 10


def pictures(count, seed):
    """Blurred and noisy pictures of ten patterns, and which they show."""
    generator = keras.random.SeedGenerator(seed)
    patterns = keras.random.uniform((CLASSES, 7, 7), seed=1) > 0.6
    labels = ops.reshape(keras.random.randint((count, 1), 0, CLASSES, seed=generator), (count,))
    chosen = ops.cast(ops.take(patterns, labels, axis=0), "float32")
    large = ops.repeat(ops.repeat(chosen, 4, axis=1), 4, axis=2)
    noise = keras.random.normal((count, 28, 28), stddev=0.3, seed=generator)
    return ops.expand_dims(large + noise, -1), labels


def main(samples=4000, epochs=3, batch_size=128):
    """Train, and return how many of the pictures that it never saw it tells apart."""
    keras.utils.set_random_seed(1)
    x_train, y_train = pictures(samples, seed=2)
    x_test, y_test = pictures(samples // 4, seed=3)
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, kernel_size=(3, 3), activation="relu"),
            layers.MaxPooling2D(pool_size=(2, 2)),
            layers.Conv2D(64, kernel_size=(3, 3), activation="relu"),
            layers.MaxPooling2D(pool_size=(2, 2)),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(CLASSES, activation="softmax"),
        ]
    )
    model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
    model.fit(
        x_train,
        keras.ops.one_hot(y_train, CLASSES),
        batch_size=batch_size,
        epochs=epochs,
        validation_split=0.1,
        verbose=2,
    )
    _, accuracy = model.evaluate(x_test, keras.ops.one_hot(y_test, CLASSES), verbose=0)
    return accuracy


if __name__ == "__main__":
    print(main())
