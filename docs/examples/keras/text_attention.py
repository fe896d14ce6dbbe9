"""A Transformer block of a layer's own class tells whether two words occur in the same sentence."""

from webtensor import keras
from webtensor.keras import layers, ops

WORDS, LENGTH = 20, 12


@keras.saving.register_keras_serializable("examples")
class TransformerBlock(layers.Layer):
    """Attention among words, and then a network for each."""

    def __init__(self, width, heads, inner, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.width, self.heads, self.inner, self.rate = width, heads, inner, rate
        self.attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width)
        self.network = keras.Sequential(
            [layers.Dense(inner, activation="relu"), layers.Dense(width)]
        )
        self.first_norm = layers.LayerNormalization(epsilon=1e-6)
        self.second_norm = layers.LayerNormalization(epsilon=1e-6)
        self.first_dropout = layers.Dropout(rate)
        self.second_dropout = layers.Dropout(rate)

    def call(self, inputs, training=None):
        attended = self.first_dropout(self.attention(inputs, inputs), training=training)
        x = self.first_norm(inputs + attended)
        return self.second_norm(x + self.second_dropout(self.network(x), training=training))

    def get_config(self):
        config = {"width": self.width, "heads": self.heads, "inner": self.inner, "rate": self.rate}
        return {**super().get_config(), **config}


@keras.saving.register_keras_serializable("examples")
class WordAndPlace(layers.Layer):
    """What a word means, and where it stands."""

    def __init__(self, words, length, width, **kwargs):
        super().__init__(**kwargs)
        self.words, self.length, self.width = words, length, width
        self.word = layers.Embedding(words, width)
        self.place = layers.Embedding(length, width)

    def call(self, inputs):
        return self.word(inputs) + self.place(ops.arange(self.length))

    def get_config(self):
        config = {"words": self.words, "length": self.length, "width": self.width}
        return {**super().get_config(), **config}


def sentences(count, seed):
    """Sentences, and whether they have both word 1 and word 2."""
    generator = keras.random.SeedGenerator(seed)
    words = keras.random.randint((count, LENGTH), 1, WORDS, seed=generator)
    both = ops.logical_and(ops.any(words < 3, axis=-1), ops.any(words > WORDS - 3, axis=-1))
    return words, ops.cast(both, "int32")


def main(samples=2000, epochs=5, batch_size=32):
    """Train, and return the share of answers that are right."""
    keras.utils.set_random_seed(1)
    inputs = keras.Input((LENGTH,), dtype="int32")
    x = WordAndPlace(WORDS, LENGTH, 16)(inputs)
    x = TransformerBlock(16, heads=2, inner=16)(x)
    x = layers.Dropout(0.1)(layers.GlobalAveragePooling1D()(x))
    x = layers.Dense(20, activation="relu")(x)
    model = keras.Model(inputs, layers.Dense(2, activation="softmax")(x))
    model.compile(
        keras.optimizers.Adam(0.003),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(*sentences(samples, seed=2), batch_size=batch_size, epochs=epochs, verbose=2)
    return model.evaluate(*sentences(samples // 4, seed=3), verbose=0)[1]


if __name__ == "__main__":
    print(main())
