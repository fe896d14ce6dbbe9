"""Fit a line to noisy points, by the gradient of the loss."""

import webtensor as wt

x = wt.linspace(-1, 1, 100)
y = 2 * x - 1 + 0.2 * wt.random_normal(x.shape, seed=1)

slope = wt.Variable(0.0)
height = wt.Variable(0.0)


def loss():
    return wt.mean(wt.square(slope * x + height - y))


optimizer = wt.optimizers.SGD(0.2)
losses = [optimizer.minimize(loss).item() for step in range(100)]

print(f"y = {slope.item():.2f} x {height.item():+.2f}")
display(plot(x, y, dots=True, title="The points", x_label="x", y_label="y"))
plot(losses, title="The loss", x_label="step")
