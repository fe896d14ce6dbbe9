"""Tensors: arrays of numbers, computed with as a whole."""

import webtensor as wt

# Press Run, or Ctrl+Enter. In the console, `wt.` and
# Ctrl+Space show what else there is.
prices = wt.tensor([[1.2, 0.8], [3.5, 2.1], [0.9, 4.4]])
amounts = wt.tensor([[10.0, 4.0], [2.0, 6.0], [5.0, 1.0]])

costs = prices * amounts
print("shape:", costs.shape, "dtype:", costs.dtype)
print(f"total: {wt.sum(costs).item():.2f}")
print("dearest row:", wt.argmax(wt.sum(costs, axis=1)).item())

# Shapes that fit are broadcast, as in NumPy.
shares = costs / wt.sum(costs, axis=0)

# The console shows the value of the last line.
shares
