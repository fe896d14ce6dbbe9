"""A linear model with one unit, fitted to four points."""

import webtensor as wt

# The data to learn from: they lie on the line y = 2x - 1.
x = wt.tensor([[1.0], [2.0], [3.0], [4.0]])
y = wt.tensor([[1.0], [3.0], [5.0], [7.0]])

# A dense layer with one unit: its weight and its bias.
weight = wt.Variable([[0.0]])
bias = wt.Variable([0.0])


def predict(x):
    return x @ weight + bias


def loss():
    return wt.mean(wt.square(predict(x) - y))


# Follow the gradient of the loss downhill.
optimizer = wt.optimizers.SGD(learning_rate=0.1)
for step in range(1, 251):
    value = optimizer.minimize(loss)
    if step == 1 or step % 50 == 0:
        print(f"step {step:3}   loss {value.item():.6f}")

# Predict for a point that it has not seen.
prediction = predict(wt.tensor([[5.0]]))
print(f"\nx = 5   prediction {prediction.item():.3f}")
