"""Each operator by itself computes what NumPy does, with inputs that are fed and constant."""

import numpy as np
import pytest

import webtensor as wt
from tests_py.tflite.cases import CASES, Case
from tests_py.tflite.files import Array, opened
from tests_py.tflite.test_flows import FLOW_OPERATORS
from tests_py.tflite.test_recurrent import RECURRENT_OPERATORS
from webtensor.tflite.operators import CUSTOM_OPERATORS, OPERATORS

#: Operators of random numbers.
RANDOM = {"MULTINOMIAL", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM"}


def test_every_operator_has_a_case():
    names = {case.op for case in CASES}
    tested = names | RANDOM | FLOW_OPERATORS | RECURRENT_OPERATORS
    assert tested == OPERATORS.keys() | CUSTOM_OPERATORS.keys()


def test_names_of_cases_are_unique():
    names = [case.name for case in CASES]
    assert sorted(set(names)) == sorted(names)


def computed(data: bytes, feeds: dict[str, Array]) -> list[Array]:
    """What a model computes the second time, when its block is for these shapes."""
    model = opened(data)
    inputs = {name: wt.tensor(value) for name, value in feeds.items()}
    for _ in range(2):
        results = model.execute(inputs, model.output_nodes)
    return [value.numpy() for value in results]


def assert_alike(results: list[Array], expected: list[Array]) -> None:
    assert len(results) == len(expected)
    for result, array in zip(results, expected, strict=True):
        assert result.shape == array.shape
        assert result.dtype.kind == array.dtype.kind
        if array.dtype.kind in "fc":
            largest = np.abs(array[np.isfinite(array)]).max(initial=1e-30)
            np.testing.assert_allclose(result, array, rtol=2e-5, atol=1e-5 * largest)
        else:
            assert result.tolist() == array.tolist()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_operator(case: Case, backend: str, no_leak: None):
    expected = case.expectation()
    assert_alike(computed(case.file(), case.feeds), expected)
    constants = range(1, len(case.inputs))
    feeds = {name: value for name, value in case.feeds.items() if name == "input0"}
    assert_alike(computed(case.file(constants), feeds), expected)
