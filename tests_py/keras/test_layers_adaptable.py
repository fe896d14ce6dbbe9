"""Low-rank adaptation beside Keras's: what is computed, learnt and saved."""

from typing import Any

import keras
import numpy as np
import pytest

from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

CASES = [
    Case("Conv2D", {"filters": 2, "kernel_size": 2, "lora_rank": 3, "lora_alpha": 2}, (1, 4, 4, 2)),
    Case(
        "EinsumDense",
        {"equation": "abc,cde->abde", "output_shape": (None, 2, 3), "lora_rank": 2},
        (2, 3, 4),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_is_keras(case: Case) -> None:
    check(case)


def test_an_adapted_layer_saves_the_sum_and_loads_a_kernel() -> None:
    stores = []
    for module in (keras, ours):
        layer = module.layers.Conv1D(2, 2, kernel_initializer="ones", name="adapted")
        layer.build((None, 4, 3))
        layer.enable_lora(1, b_initializer="ones", a_initializer="ones", lora_alpha=2.0)
        assert len(layer.trainable_weights) == 3
        assert layer.lora_enabled
        store: dict[str, Any] = {}
        layer.save_own_variables(store)
        stores.append({name: np.asarray(value) for name, value in store.items()})
        layer.load_own_variables(store)
        np.testing.assert_array_equal(np.asarray(layer.kernel), stores[-1]["0"])
        assert layer.lora_kernel_b.path == "adapted/lora_kernel_b" or module is keras
    assert sorted(stores[0]) == sorted(stores[1])
    for name, value in stores[0].items():
        np.testing.assert_allclose(stores[1][name], value)


def test_what_cannot_be_adapted_says_so() -> None:
    layer = ours.layers.Conv2D(2, 2)
    with pytest.raises(ValueError, match="must be built before"):
        layer.enable_lora(2)
    layer.build((None, 4, 4, 1))
    with pytest.raises(ValueError, match="rank must be a positive integer, but got 0"):
        layer.enable_lora(0)
    layer.enable_lora(2)
    with pytest.raises(ValueError, match="adapted already"):
        layer.enable_lora(2)
    constrained = ours.layers.Conv2D(2, 2, kernel_constraint="non_neg")
    constrained.build((None, 4, 4, 1))
    with pytest.raises(ValueError, match="kernel_constraint must be None"):
        constrained.enable_lora(2)
