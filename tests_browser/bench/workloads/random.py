"""Random numbers: the means of both are compared."""

from __future__ import annotations

import webtensor as wt
from tests_browser.bench.workload import Input, Workload

__all__ = ["RANDOM"]


def draw(name: str, ours: str, theirs: str, count: int, *numbers: float) -> Workload:
    """Time a distribution with the same parameters for both."""
    function = getattr(wt, ours)
    arguments = "".join(f", {number}" for number in numbers)
    return Workload(
        f"random.{name}",
        lambda: function((count,), *numbers),
        f"tf.{theirs}([{count}]{arguments})",
        {},
        described=str(count),
        compares_means=True,
        tolerance=0.05,
    )


RANDOM = [
    draw("uniform", "random_uniform", "randomUniform", 1_000_000, 0, 1),
    draw("normal", "random_normal", "randomNormal", 1_000_000, 1, 0.5),
    draw("truncated_normal", "truncated_normal", "truncatedNormal", 1_000_000, 1, 0.5),
    draw("gamma", "random_gamma", "randomGamma", 100_000, 2, 1),
    Workload(
        "random.multinomial",
        lambda logits: wt.multinomial(logits, 10_000),
        "tf.multinomial(logits, 10000)",
        {"logits": Input((4, 10))},
        compares_means=True,
        tolerance=0.05,
    ),
    Workload(
        "random.dropout",
        lambda x: wt.dropout(x, 0.5),
        "tf.dropout(x, 0.5)",
        {"x": Input((1000, 1000), 0.0, 1.0)},
        compares_means=True,
        tolerance=0.05,
    ),
]
