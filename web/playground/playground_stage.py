"""What the playground shows: the network, its output on the plane, the losses; its controls."""

from typing import Any

from curves import Curves
from drawing import coloursOf, drawDots, drawField
from fields import grid
from js import document
from network_view import drawNetwork
from page import element, write
from pause import Pause, use_button
from point_sets import POINT_SETS, Points
from pyodide.ffi import to_js

import webtensor as wt
from webtensor import keras

COUNT = 250  # of points to learn from, and to test with
SIDE = 36  # of the grid
REACH = 1.2  # of the square
RADIUS = 3  # pixels
#: Epochs between the drawings of the losses.
CURVES_EVERY = 6

REGULARIZERS = {"l1": keras.regularizers.L1, "l2": keras.regularizers.L2}


class Stage:
    """The canvases, the curves, and the controls."""

    def __init__(self) -> None:
        """Make points as the controls say."""
        self.grid = grid(SIDE, REACH)
        self.training, self.test = self._points(), self._points()
        #: Of each hidden layer. Other numbers, which a visitor chooses, are those of the next run.
        self.neurons = [
            int(count) for count in element("layers").dataset.neurons.split(",") if count
        ]
        self.epoch = 0
        self._wants_epoch = False
        self._shown: Any = None
        self._curves = Curves("losses", "Losses of training and of test", "epoch")
        self._swatches = document.querySelectorAll("#legend i")
        self.pause = Pause()
        use_button("step-once", self._ask_for_epoch)

    @property
    def activation(self) -> str:
        """The activation of hidden layers."""
        return str(element("activation").value)

    @property
    def regularizer(self) -> keras.regularizers.Regularizer | None:
        """What is added to the loss for the size of weights."""
        name, _, factor = element("regularization").value.partition(" ")
        return REGULARIZERS[name](float(factor)) if factor else None

    def learning_rate(self) -> float:
        """Return the learning rate that is chosen now."""
        return float(element("learning-rate").value)

    def begins_epoch(self) -> bool:
        """Tell whether the network is to learn in this frame, and count the epoch."""
        begins = self._wants_epoch or not self.pause.is_on
        self._wants_epoch = False
        self.epoch += begins
        return begins

    async def draw(self, numbers: wt.Tensor) -> None:
        """Draw both losses, the field of each neuron on the grid, and the kernels."""
        if self._shown is None:
            points, labels = self.training
            groups = bytes(label < 0 for label in await labels.data())
            self._shown = to_js(await points.data()), to_js(groups)
        values = await numbers.data()
        colours = coloursOf(self._swatches)
        counts = [*self.neurons, 1]
        end = 2 + sum(counts) * SIDE * SIDE
        fields, kernels = to_js(values[2:end]), to_js(values[end:])
        drawNetwork(element("network"), to_js(counts), fields, kernels, colours)
        canvas = element("plane")
        drawField(canvas, to_js(values[end - SIDE * SIDE : end]), colours)
        drawDots(canvas, *self._shown, colours, REACH, RADIUS)
        self._show_losses(*values[:2])

    def _show_losses(self, training: float, test: float) -> None:
        self._curves.add(self.epoch, training, test)
        write("step", f"Epoch {self.epoch}, training loss {training:.3f}, test loss {test:.3f}")
        if self.epoch % CURVES_EVERY == 0 or self.pause.is_on:
            self._curves.draw()

    def _points(self) -> Points:
        noise = float(element("noise").value) / 100
        points, labels = POINT_SETS[element("points").value](COUNT, noise)
        return points, wt.reshape(labels, (COUNT, 1))

    def _ask_for_epoch(self, event: Any) -> None:
        self._wants_epoch = True
        self.pause.set(True)
