"""The digits on a plane, each of them near those that look alike."""

from plane import Plane, chosen_count, control, load_digits
from program import frames
from tsne import descend

import webtensor as wt

STEPS = 1000

count = await chosen_count()  # of 1,797
digits = await load_digits(count)
features = wt.reshape(digits.images, (count, 64)) / 16
plane = Plane(digits)

perplexity = control("perplexity")  # about how many neighbours a digit has
positions_after = descend(features, perplexity, STEPS)
async for frame in frames():
    positions = next(positions_after, None)
    if positions is None:
        break
    if frame % 3 == 0 or frame == STEPS - 1:
        await plane.draw(positions)
        plane.say(f"Step {frame + 1} of {STEPS}, {count} digits")
