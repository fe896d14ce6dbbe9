"""The digits on a plane, each of them near those that look alike."""

from plane import Plane, control, load_digits
from program import frames
from tsne import descend

import webtensor as wt

images, labels = await load_digits(600)  # all of them: 1797
features = wt.reshape(images, (len(labels), 64)) / 16
plane = Plane(labels)

perplexity = control("perplexity")  # about how many neighbours a digit has
steps = descend(features, perplexity, steps=1000)
async for step in frames():
    positions = next(steps, None)
    if positions is None:
        break
    if step % 5 == 0:
        await plane.draw(positions)
        plane.say(f"Step {step}")
