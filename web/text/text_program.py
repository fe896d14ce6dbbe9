"""A recurrent network learns a text letter by letter; before each epoch it writes a little."""

from itertools import count

from character_model import build, next_character, windows
from program import frames
from recital import Recital, chosen_text

import webtensor as wt
from webtensor import keras

EPOCHS = 30
LENGTH = 130  # of what it writes at a time, in characters

text = await chosen_text()
alphabet = "".join(sorted(set(text)))
codes = wt.tensor([alphabet.index(character) for character in text], dtype="int32")
batches = windows(codes).cache().shuffle(2000, seed=1).batch(16)

keras.utils.set_random_seed(1)
model = build(len(alphabet))  # of the logits of each next character
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(0.01), loss)

recital = Recital(text)
for turn in count():
    written = recital.begin()
    async for _ in frames():
        for _ in range(4):  # characters in a frame
            seed = turn * LENGTH + len(written)
            written += next_character(model, written, alphabet, recital.temperature, seed)
        recital.write(written)
        if len(written) >= LENGTH:
            break
    if turn < EPOCHS:
        history = await model.fit_async(batches, epochs=1, verbose=0)
        recital.show_loss(turn + 1, history.history["loss"][0])
    else:  # it has learned
        await recital.wish()
