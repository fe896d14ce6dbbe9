"""A recurrent network learns a rhyme letter by letter, and recites one of its own.

After Karpathy, "The Unreasonable Effectiveness of Recurrent Neural Networks" (2015).
"""

import webtensor as wt
from webtensor import keras
from webtensor.charts import LineChart

#: From "The House That Jack Built", an English rhyme of the 18th century.
ACTORS = [
    "the house that jack built",
    "the malt that lay in ",
    "the rat that ate ",
    "the cat that killed ",
    "the dog that worried ",
    "the cow that tossed ",
]
LENGTH = 20


def rhyme() -> str:
    """Return the verses, of which each tells all of the one before."""
    verses = [""]
    for actor in ACTORS:
        verses.append(actor + verses[-1])
    return "".join(f"this is {verse}.\n" for verse in verses[1:])


def windows(codes: wt.Tensor) -> wt.data.Dataset:
    """Return pairs: some characters, and those that follow each of them."""
    parts = wt.data.Dataset.from_tensor_slices(codes).window(LENGTH + 1, 3, drop_remainder=True)
    texts = parts.flat_map(lambda part: part.batch(LENGTH + 1))
    return texts.map(lambda text: (text[:-1], text[1:]))


def build(characters: int) -> keras.Model:
    """Return a model of the logits of each next character."""
    return keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            keras.layers.Embedding(characters, 16),
            keras.layers.GRU(64, return_sequences=True),
            keras.layers.Dense(characters),
        ]
    )


def next_character(
    model: keras.Model, text: str, alphabet: str, temperature: float, seed: int
) -> str:
    """Draw the character after a text; a low temperature prefers the likeliest."""
    codes = wt.tensor([[alphabet.index(character) for character in text[-LENGTH:]]])
    logits = model(codes)[:, -1] / temperature
    return alphabet[int(wt.multinomial(logits, 1, seed=seed).item())]


def generate(model: keras.Model, text: str, alphabet: str, count: int, temperature: float) -> str:
    """Append drawn characters to a text."""
    for step in range(count):
        text += next_character(model, text, alphabet, temperature, seed=step)
    return text


def train(text: str, epochs: int) -> tuple[keras.Model, list[float]]:
    """Return a model of the text, and the loss of each epoch in nats per character."""
    alphabet = "".join(sorted(set(text)))
    codes = wt.tensor([alphabet.index(character) for character in text], dtype="int32")
    keras.utils.set_random_seed(1)
    model = build(len(alphabet))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.02), loss)
    batches = windows(codes).cache().shuffle(500, seed=1).batch(16)
    history = model.fit(batches, epochs=epochs, verbose=0)
    return model, history.history["loss"]


def main(epochs: int = 12) -> LineChart:
    """Learn the rhyme, recite a line, and draw how the loss falls."""
    text = rhyme()
    model, losses = train(text, epochs)
    alphabet = "".join(sorted(set(text)))
    print(generate(model, "this is the ", alphabet, 60, temperature=0.5))
    return wt.visor.render.line_chart(
        {"loss": losses}, title="Character model", x_label="epoch", y_label="nats per character"
    )


if __name__ == "__main__":
    print(main())
