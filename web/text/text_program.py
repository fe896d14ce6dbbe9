"""A recurrent network learns a text letter by letter; before each epoch it writes a little."""

from character_model import build, next_character, windows
from program import frames
from recital import Recital, chosen_text

import webtensor as wt
from webtensor import keras

EPOCHS = 30
LENGTH = 120  # characters that it writes at a time

text = await chosen_text()
alphabet = "".join(sorted(set(text)))
codes = wt.tensor([alphabet.index(character) for character in text], dtype="int32")
batches = windows(codes).cache().shuffle(2000, seed=1).batch(16)

keras.utils.set_random_seed(1)
model = build(len(alphabet))  # of the logits of each next character
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(0.01), loss)

recital = Recital(text)
async for turn in frames():
    written = recital.begin()
    for step in range(LENGTH):
        seed = turn * LENGTH + step
        written += next_character(model, written, alphabet, recital.temperature, seed)
        if step % 8 == 7:
            recital.write(written)
            await wt.next_frame()
    if turn < EPOCHS:
        history = await model.fit_async(batches, epochs=1, verbose=0)
        recital.show_loss(turn + 1, history.history["loss"][0])
    else:  # it has learned
        await recital.wish()
