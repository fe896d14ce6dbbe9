"""The first prediction of the digits network, as a page would make it."""

from model import DigitsNetwork
from pyodide.ffi import to_js

import webtensor as wt


async def predict(backend, inputs, values):
    """Return the logits of the images, the first of the inputs, by the weights that follow."""
    wt.set_backend(backend)
    await wt.ready()
    images, *weights = (
        wt.tensor(value.to_py(), shape=tuple(one.shape))
        for one, value in zip(inputs, values, strict=True)
    )
    network = object.__new__(DigitsNetwork)  # without drawing random weights first
    for one, weight in zip(inputs.slice(1), weights, strict=True):
        setattr(network, one.name, wt.Variable(weight))
    return to_js(await network(images).data())
