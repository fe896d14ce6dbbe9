"""Random models beside Keras, through a file, forward and in training.

A seed says which side makes the model and writes the file, and on which backend this library
computes. Five models are tried each time. ``WEBTENSOR_COMPOSITES=500`` tries as many, which takes
an hour or two; ``WEBTENSOR_COMPOSITES=1000:1500`` those with these seeds.

Values are equal if they differ by 1e-4 of the largest magnitude among them, some hundred units in
the last place of float32, as results of a dozen layers do. Weights after training may differ by
more where training itself is that sensitive: gradients that are zero but for rounding, such as
those of biases before normalization, become steps of any direction with Adam and its kin. So what
differs by more is compared with how far the results move apart when all weights begin with other
last bits: by ten times as much at most. How Keras must be compiled for its gradients to be right,
`tests_py/keras/__init__.py` says.
"""

import os
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.composites import composite, examples
from webtensor import keras as ours
from webtensor.keras.names import forget_names

TOLERANCE, STEPS = 1e-4, 3
#: Models whose training is tried again, with other last bits, and how much further others may be.
TRIALS, FURTHER = 4, 10
LEAST = 1e-3

Arrays = list[np.ndarray]


def _seeds() -> range:
    begin, _, end = os.environ.get("WEBTENSOR_COMPOSITES", "5").rpartition(":")
    return range(int(begin or 0), int(end))


def predicted(model: Any, inputs: Any) -> Arrays:
    outputs = model.predict(inputs, verbose=0)
    return [np.asarray(output) for output in (outputs if isinstance(outputs, list) else [outputs])]


def trained(model: Any, inputs: Any, targets: Any) -> tuple[Arrays, list[dict[str, float]]]:
    """The weights and then the outputs after some steps, and what each step said."""
    logs = []
    for _ in range(STEPS):
        log = model.train_on_batch(inputs, targets, return_dict=True)
        logs.append({name: float(value) for name, value in log.items()})
    return [np.asarray(weight) for weight in model.get_weights()] + predicted(model, inputs), logs


def distance(array: np.ndarray, other: np.ndarray) -> float:
    """The largest difference; NaN is as far from numbers as can be."""
    if not array.size:
        return 0.0
    if not np.array_equal(np.isnan(array), np.isnan(other)):
        return float("inf")
    return float(np.nanmax(np.abs(array.astype("float64") - other), initial=0.0))


def allowed(array: np.ndarray) -> float:
    return TOLERANCE * float(np.nanmax(np.abs(array), initial=LEAST)) if array.size else 0.0


def with_other_last_bits(path: Path, seed: int) -> Any:
    """The model in a file, with weights that differ by a unit in the last place or two."""
    model = ours.saving.load_model(path)
    rng = np.random.default_rng(seed)
    model.set_weights(
        [
            (weight * (1 + rng.choice([-1.2e-7, 1.2e-7], weight.shape))).astype("float32")
            if weight.dtype == np.float32
            else weight
            for weight in model.get_weights()
        ]
    )
    return model


def assert_as_near_as_training_allows(
    mine: Arrays, theirs: Arrays, path: Path, inputs: Any, targets: Any
) -> None:
    apart = [distance(*pair) for pair in zip(mine, theirs, strict=True)]
    if all(far <= allowed(their_output) for far, their_output in zip(apart, theirs, strict=True)):
        return
    others = [
        trained(with_other_last_bits(path, seed), inputs, targets)[0] for seed in range(TRIALS)
    ]
    for index, (far, output) in enumerate(zip(apart, theirs, strict=True)):
        moved = max(distance(other[index], mine[index]) for other in others)
        assert far <= max(allowed(output), FURTHER * moved), (index, far, allowed(output), moved)


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
# Of an axis of size 1, as where a sequence of one step attends to itself.
@pytest.mark.filterwarnings("ignore:You are using a softmax over axis", "ignore:softmax. axis")
@pytest.mark.parametrize("seed", _seeds())
def test_random_model_computes_and_learns_as_in_keras(seed: int, tmp_path: Path):
    keras.utils.clear_session(free_memory=False)
    forget_names()
    wt.set_backend(("numpy", "wasm")[seed // 2 % 2])
    writer, reader = (keras, ours) if seed % 2 == 0 else (ours, keras)
    written = composite(writer, seed)
    path = tmp_path / "model.keras"
    written.save(path)
    read = reader.saving.load_model(path)
    theirs, mine = (written, read) if writer is keras else (read, written)
    inputs, targets = examples(written, seed)
    for result, expected in zip(predicted(mine, inputs), predicted(theirs, inputs), strict=True):
        assert distance(result, expected) <= allowed(expected)
    results, logs = trained(mine, inputs, targets)
    expected_results, expected_logs = trained(theirs, inputs, targets)
    assert logs[0] == pytest.approx(expected_logs[0], rel=TOLERANCE, abs=TOLERANCE)
    assert_as_near_as_training_allows(results, expected_results, path, inputs, targets)
