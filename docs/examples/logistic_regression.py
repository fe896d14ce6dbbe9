"""Logistic regression with an L2 penalty, fitted by gradient descent with momentum."""

from typing import Any, NamedTuple

import webtensor as wt
from webtensor.charts import LineChart


class Fit(NamedTuple):
    """Weights ``(features,)``, the bias, and the loss before each step."""

    weights: wt.Tensor
    bias: wt.Tensor
    losses: list[float]


def loss(parameters: dict[str, wt.Tensor], x: wt.Tensor, y: wt.Tensor, penalty: float) -> wt.Tensor:
    """Return the mean of -log p(y | x), and the penalty on the weights."""
    logits = wt.matmul(x, parameters["weights"]) + parameters["bias"]
    cross_entropy = wt.mean(wt.softplus(logits) - y * logits)
    return cross_entropy + 0.5 * penalty * wt.sum(parameters["weights"] ** 2)


def fit(
    x: wt.Tensor,
    y: wt.Tensor,
    penalty: float = 0.01,
    steps: int = 300,
    rate: float = 0.5,
    momentum: float = 0.9,
) -> Fit:
    """Fit to samples ``(samples, features)`` and their labels, 0 or 1."""

    @wt.function
    def step(parameters: Any, velocities: Any) -> Any:
        value, gradients = wt.value_and_grad(loss)(parameters, x, y, penalty)
        velocities = {
            name: momentum * velocities[name] - rate * gradient
            for name, gradient in gradients.items()
        }
        return value, {name: parameters[name] + velocities[name] for name in velocities}, velocities

    parameters = {"weights": wt.zeros((x.shape[1],)), "bias": wt.tensor(0.0)}
    velocities = {name: wt.zeros_like(value) for name, value in parameters.items()}
    losses = []
    for _ in range(steps):
        value, parameters, velocities = step(parameters, velocities)
        losses.append(value)
    return Fit(parameters["weights"], parameters["bias"], wt.stack(losses).tolist())


def probabilities(x: wt.Tensor, model: Fit) -> wt.Tensor:
    """Return the probability of label 1 for each sample."""
    return wt.sigmoid(wt.matmul(x, model.weights) + model.bias)


def main() -> LineChart:
    """Separate two overlapping groups, and draw how the loss falls."""
    y = wt.repeat(wt.tensor([0.0, 1.0]), 100)
    x = wt.random_normal((200, 2), seed=1) + wt.expand_dims(y, 1) * wt.tensor([2.0, 1.0])
    model = fit(x, y)
    right = wt.mean(wt.astype((probabilities(x, model) > 0.5) == (y > 0.5), "float32")).item()
    print("weights", [round(weight, 2) for weight in model.weights.tolist()])
    print(f"bias {model.bias.item():.2f}, accuracy {right:.3f}")
    return wt.visor.render.line_chart(
        {"loss": model.losses}, title="Logistic regression", x_label="step"
    )


if __name__ == "__main__":
    print(main())
