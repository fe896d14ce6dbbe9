"""A small network learns to which of two classes a place of the plane belongs."""

from fields import flat
from playground_stage import Stage
from program import frames

import webtensor as wt
from webtensor import keras

BATCH = 25
STEPS_AN_EPOCH = 10
keras.utils.set_random_seed(1)  # the same points and weights in every run

stage = Stage()
(points, labels), (test_points, test_labels) = stage.training, stage.test

inputs = outputs = keras.Input((2,))
hidden = []
for neurons in stage.neurons:  # such as 4, then 2
    outputs = keras.layers.Dense(neurons, stage.activation, kernel_regularizer=stage.regularizer)(
        outputs
    )
    hidden.append(outputs)
outputs = keras.layers.Dense(1, "tanh", kernel_regularizer=stage.regularizer)(outputs)
model = keras.Model(inputs, outputs)
every_neuron = keras.Model(inputs, [*hidden, outputs])
optimizer = keras.optimizers.Adam(stage.learning_rate)


def loss_of(points: wt.Tensor, labels: wt.Tensor) -> wt.Tensor:
    return wt.mean((model(points) - labels) ** 2) / 2


@wt.function
def train() -> None:
    batch = wt.random_uniform_int((BATCH,), 0, len(points))
    with wt.GradientTape() as tape:
        loss = loss_of(wt.gather(points, batch), wt.gather(labels, batch)) + sum(model.losses)
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))


@wt.function
def look() -> wt.Tensor:
    losses = [loss_of(points, labels), loss_of(test_points, test_labels)]
    fields = [wt.transpose(neurons) for neurons in every_neuron(stage.grid)]
    kernels = [layer.kernel.value for layer in model.layers[1:]]
    return flat(*losses, *fields, *kernels)


await stage.draw(look())
async for _ in frames():
    if stage.begins_epoch():
        for _ in range(STEPS_AN_EPOCH):
            train()
        if stage.epoch % 3 == 0 or stage.pause.is_on:
            await stage.draw(look())
