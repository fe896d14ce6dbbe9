"""Operations of random numbers: where the numbers lie, and what seeds do."""

from typing import Any

import numpy as np
import pytest

from tests_py.graph.graphs import Array, Dtype, arrays_of, constant, model_of, node, topology

SIZE = 4000
FLOAT = Dtype("float32")

#: Nodes with their inputs; then the minimum and the maximum, the mean, and its error.
CASES: dict[str, tuple[str, dict[str, Any], tuple[float, float, float, float]]] = {
    "RandomUniform": ("shape", {"dtype": FLOAT}, (0, 1, 0.5, 0.03)),
    "RandomUniform bounds": (
        "shape",
        {"dtype": FLOAT, "minval": 2.0, "maxval": 4.0},
        (2, 4, 3, 0.06),
    ),
    "RandomStandardNormal": ("shape", {"dtype": FLOAT}, (-7, 7, 0, 0.1)),
    "TruncatedNormal": ("shape", {"dtype": FLOAT}, (-2, 2, 0, 0.1)),
    "RandomUniformInt": ("shape low high", {}, (-3, 4, 0.5, 0.2)),
    "RandomUniformInt attributes": ("shape", {"minval": 5, "maxval": 9}, (5, 8, 6.5, 0.1)),
    "Multinomial": ("logits count", {}, (0, 2, 1.25, 0.1)),
}


def drawn(name: str, **attributes: Any) -> list[Array]:
    """What two runs of a model draw."""
    inputs, options, _ = CASES[name]
    nodes = [
        constant("shape", [SIZE]),
        constant("low", -3),
        constant("high", 5),
        constant("logits", np.log([[0.25, 0.25, 0.5]])),
        constant("count", SIZE),
        node("y", name.split()[0], inputs, **options, **attributes),
    ]
    model = model_of(topology(nodes))
    return [array for _ in range(2) for array in arrays_of(model.execute({}, ["y"]))]


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_a_seed(name: str):
    low, high, mean, error = CASES[name][2]
    first, second = drawn(name, seed=7, seed2=0)
    assert first.size == SIZE
    assert low <= first.min() <= first.max() <= high
    assert abs(first.mean() - mean) < error
    assert (first == second).all()


@pytest.mark.parametrize("name", CASES)
def test_without_a_seed_each_run_draws_others(name: str):
    first, second = drawn(name, seed=0, seed2=0)
    assert (first != second).any()


def test_the_second_seed_counts():
    first, second = drawn("RandomUniform", seed=0, seed2=3)
    assert (first == second).all()


def test_integers_need_bounds():
    nodes = [constant("shape", [2]), node("y", "RandomUniformInt", "shape")]
    with pytest.raises(ValueError, match="minval or maxval is missing") as caught:
        model_of(topology(nodes)).execute({}, "y")
    assert "node 'y'" in caught.value.__notes__[0]
