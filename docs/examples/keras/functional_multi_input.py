"""A model with three inputs and two outputs: how urgent a ticket is, and whose it is.

The functional API connects layers to a graph. Titles and texts are sequences of words' numbers,
tags are marked with ones.
"""

from webtensor import keras
from webtensor.keras import layers, ops

WORDS, TAGS, DEPARTMENTS = 50, 6, 4
TITLE, TEXT = 6, 20


def tickets(count, seed):
    """Tickets whose first tags tell the department, and whose titles with word 1 are urgent."""
    generator = keras.random.SeedGenerator(seed)
    titles = keras.random.randint((count, TITLE), 1, WORDS, seed=generator)
    texts = keras.random.randint((count, TEXT), 1, WORDS, seed=generator)
    tags = ops.cast(keras.random.uniform((count, TAGS), seed=generator) > 0.5, "float32")
    department = ops.argmax(tags[:, :DEPARTMENTS], axis=-1)
    urgent = ops.cast(ops.any(titles < 5, axis=-1, keepdims=True), "float32")
    inputs = {"title": titles, "text": texts, "tags": tags}
    return inputs, {"urgency": urgent, "department": department}


def build():
    """Connect the layers."""
    title = keras.Input((None,), name="title", dtype="int32")
    text = keras.Input((None,), name="text", dtype="int32")
    tags = keras.Input((TAGS,), name="tags")
    of_title = layers.GlobalMaxPooling1D()(layers.Embedding(WORDS, 16)(title))
    of_text = layers.LSTM(8)(layers.Embedding(WORDS, 16)(text))
    x = layers.concatenate([of_title, of_text, tags])
    urgency = layers.Dense(1, name="urgency")(x)
    department = layers.Dense(DEPARTMENTS, name="department")(x)
    return keras.Model(
        inputs={"title": title, "text": text, "tags": tags},
        outputs={"urgency": urgency, "department": department},
    )


def main(samples=2000, epochs=8, batch_size=32):
    """Train, and return the shares of departments and of urgencies that are right."""
    keras.utils.set_random_seed(1)
    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(0.01),
        loss={
            "urgency": keras.losses.BinaryCrossentropy(from_logits=True),
            "department": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        },
        loss_weights={"urgency": 1.0, "department": 0.5},
        metrics={
            "urgency": keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy"),
            "department": ["accuracy"],
        },
    )
    inputs, targets = tickets(samples, seed=2)
    model.fit(inputs, targets, epochs=epochs, batch_size=batch_size, verbose=2)
    inputs, targets = tickets(samples // 4, seed=3)
    found = model.evaluate(inputs, targets, return_dict=True, verbose=0)
    return found["department_accuracy"], found["urgency_accuracy"]


if __name__ == "__main__":
    print(main())
