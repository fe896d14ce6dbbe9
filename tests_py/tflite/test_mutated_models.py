"""Mutated models are computed or refused with an error that says so; nothing hangs or grows."""

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from random import Random

import pytest

import webtensor as wt
from tests_py.mutations import mutated
from tests_py.tflite.cases import CASES
from tests_py.tflite.test_flows import counter
from webtensor.formats.budgets import EXPANSION, FLOOR
from webtensor.graph.inputs import ModelTensor
from webtensor.graph.operations.arguments import dtype_name

COUNT = 6_000 if os.environ.get("WEBTENSOR_FUZZ") else 300
#: Operators that make tensors of any size, which is the caller's to limit.
GROWING = {
    "BROADCAST_TO", "FILL", "ONE_HOT", "PAD", "PADV2", "RANGE", "RFFT2D", "SCATTER_ND",
    "SPACE_TO_BATCH_ND", "TILE",
}  # fmt: skip
#: Models that want larger inputs are not computed.
MAX_ELEMENTS = 1 << 16


def originals() -> list[bytes]:
    files = [case.file(range(1, len(case.inputs))) for case in CASES if case.op not in GROWING]
    return [*files, counter()]


def models() -> Iterator[bytes]:
    random = Random(11)
    files = originals()
    for _ in range(COUNT):
        yield mutated(random.choice(files), random)


def zeros(described: ModelTensor) -> wt.Tensor:
    """An input of the smallest shape; ValueError if a model wants more elements than it may."""
    shape = [1 if size is None else size for size in described.shape or ()]
    if prod(shape) > MAX_ELEMENTS:
        raise ValueError(f"the input has shape {shape}")
    return wt.zeros(shape, dtype_name(described.dtype))


@pytest.mark.timeout(900)
def test_mutated_models():
    messages = []
    tracemalloc.start()
    for data in models():
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            model = wt.load_tflite(data)
        except wt.ModelFormatError as error:
            messages.append(str(error))
        else:
            with suppress(ValueError):
                model.execute([zeros(value) for value in model.inputs], model.output_nodes)
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak < 3 * max(FLOOR, EXPANSION * len(data))
    tracemalloc.stop()
    assert 0 < len(messages) < COUNT
    assert all(message.startswith("model.tflite") for message in messages)
    assert max(map(len, messages)) <= 500
