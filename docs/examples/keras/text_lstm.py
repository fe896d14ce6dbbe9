"""A bidirectional LSTM reads sentences, of which the last but one sort of word tells the mood."""

from webtensor import keras
from webtensor.keras import layers, ops

WORDS, LENGTH = 100, 20


def sentences(count, seed):
    """Padded sentences; their mood is that of the side on which most of their words lie."""
    generator = keras.random.SeedGenerator(seed)
    words = keras.random.randint((count, LENGTH), 1, WORDS, seed=generator)
    lengths = keras.random.randint((count, 1), LENGTH // 2, LENGTH + 1, seed=generator)
    words = ops.where(ops.arange(LENGTH) < lengths, words, ops.zeros_like(words))
    good = ops.sum(ops.cast(words > WORDS // 2, "float32"), axis=-1)
    mood = ops.cast(good * 2 > ops.cast(lengths[:, 0], "float32"), "float32")
    return words, mood


def main(samples=2000, epochs=5, batch_size=32):
    """Train, and return the share of moods that are right."""
    keras.utils.set_random_seed(1)
    inputs = keras.Input((None,), dtype="int32")
    x = layers.Embedding(WORDS, 32, mask_zero=True)(inputs)
    x = layers.Bidirectional(layers.LSTM(16, return_sequences=True))(x)
    x = layers.Bidirectional(layers.LSTM(16))(x)
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(
        *sentences(samples, seed=2),
        batch_size=batch_size,
        epochs=epochs,
        validation_data=sentences(samples // 4, seed=3),
        verbose=2,
    )
    return model.evaluate(*sentences(samples // 4, seed=4), verbose=0)[1]


if __name__ == "__main__":
    print(main())
