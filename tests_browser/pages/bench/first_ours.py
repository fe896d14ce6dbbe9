"""The first prediction of the digits network, as a page would make it."""

from model import digits_network
from pyodide.ffi import to_js

import webtensor as wt


async def predict(backend, inputs, values):
    """Return the logits of the images, the first of the inputs, by the weights that follow."""
    wt.set_backend(backend)
    await wt.ready()
    images, *weights = (
        wt.tensor(value.to_py(), shape=tuple(spec.shape))
        for spec, value in zip(inputs, values, strict=True)
    )
    network = digits_network()
    network.set_weights(weights)
    return to_js(await network(images).data())
