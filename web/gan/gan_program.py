"""One network makes points out of noise, and another tells them from real points."""

from fields import flat
from gan_stage import Stage
from program import frames

import webtensor as wt
from webtensor import keras

BATCH = 150
keras.utils.set_random_seed(1)  # the same points in every run


def network(outputs: int) -> keras.Sequential:
    hidden = [keras.layers.Dense(32, activation="relu") for _ in range(2)]
    return keras.Sequential([keras.Input((2,)), *hidden, keras.layers.Dense(outputs)])


def noise() -> wt.Tensor:
    return wt.random_uniform((BATCH, 2), -1, 1)


def cross_entropy(logits: wt.Tensor, label: float) -> wt.Tensor:
    """How wrong the discriminator is about points, which are real (1) or generated (0)."""
    return wt.losses.sigmoid_cross_entropy(wt.full(logits.shape, label), logits)


stage = Stage()
generator, discriminator = network(2), network(1)
optimizers = {
    generator: keras.optimizers.Adam(stage.generator_rate, beta_1=0.5),
    discriminator: keras.optimizers.Adam(stage.discriminator_rate, beta_1=0.5),
}


def improve(model: keras.Sequential, tape: wt.GradientTape, loss: wt.Tensor) -> None:
    weights = model.trainable_variables
    optimizers[model].apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))


@wt.function
def train() -> tuple[wt.Tensor, wt.Tensor]:
    with wt.GradientTape() as tape:
        real, generated = stage.real_points(BATCH), generator(noise())
        losses = cross_entropy(discriminator(real), 1), cross_entropy(discriminator(generated), 0)
        error = (losses[0] + losses[1]) / 2
    improve(discriminator, tape, error)
    with wt.GradientTape() as tape:
        failure = cross_entropy(discriminator(generator(noise())), 1)
    improve(generator, tape, failure)
    return error, failure


@wt.function
def look(noise: wt.Tensor, error: wt.Tensor, failure: wt.Tensor) -> wt.Tensor:
    with wt.GradientTape() as tape:
        generated = generator(noise)
        tape.watch(generated)
        loss = cross_entropy(discriminator(generated), 1)
    pulls = -tape.gradient(loss, generated)
    field = wt.tanh(discriminator(stage.grid))  # from generated (-1) to real (1)
    return flat(error, failure, field, generated, pulls)


shown_noise = noise()
async for _ in frames():
    if not stage.pause.is_on:
        losses = train()
        stage.step += 1
        if stage.step % 3 == 0:
            await stage.draw(look(shown_noise, *losses))
