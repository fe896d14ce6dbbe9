"""Train a network to tell two spirals apart, by the Keras API."""

import math

import webtensor as wt
from webtensor import keras

points, labels = [], []
for label in (0, 1):
    for step in range(100):
        radius = 0.1 + 0.9 * step / 100
        angle = 2 * math.pi * step / 100 + label * math.pi
        points.append([radius * math.cos(angle), radius * math.sin(angle)])
        labels.append([float(label)])

keras.utils.set_random_seed(1)
model = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])

# Training in steps: the page shows each before the next begins, and Stop works at any time.
losses = []
for epoch in range(0, 40, 10):
    history = await model.fit_async(
        wt.tensor(points),
        wt.tensor(labels),
        batch_size=50,
        initial_epoch=epoch,
        epochs=epoch + 10,
        verbose=0,
    )
    losses += history.history["loss"]
    print(f"epoch {epoch + 10}: accuracy {history.history['accuracy'][-1]:.0%}")

plot({"loss": losses}, x_label="epoch")
