"""Merging layers beside Keras's: values, masks, and what is refused."""

from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

ELEMENTWISE = ("Add", "Multiply", "Average", "Maximum", "Minimum")
ONE = (2, 3, 4)

CASES = [
    *(Case(name, {}, [ONE, ONE]) for name in (*ELEMENTWISE, "Subtract")),
    *(Case(name, {}, [ONE, (2, 1, 4), ONE]) for name in ELEMENTWISE),
    *(Case(name, {}, [(2, 4), ONE]) for name in ELEMENTWISE),
    Case("Subtract", {}, [ONE, (2, 4)]),
    Case("Add", {}, [ONE]),
    Case("Concatenate", {}, [ONE, (2, 3, 1)]),
    Case("Concatenate", {"axis": 1}, [ONE, (2, 1, 4), (2, 2, 4)]),
    Case("Concatenate", {"axis": -2}, [ONE, (2, 5, 4)]),
    Case("Dot", {"axes": 1}, [(2, 3), (2, 3)]),
    Case("Dot", {"axes": -1, "normalize": True}, [(2, 3), (2, 3)]),
    Case("Dot", {"axes": (1, 2)}, [(2, 3, 5), (2, 4, 3)]),
    Case("Dot", {"axes": [2, 1]}, [(2, 5, 3), (2, 3, 4)]),
    Case("Dot", {"axes": 2}, [(2, 5, 3), (2, 4, 3)]),
    Case("Dot", {"axes": 1}, [(2, 3, 4), (2, 3)]),
    Case("Dot", {"axes": (1, 2), "normalize": True}, [(2, 3), (2, 4, 3)]),
    Case("Dot", {"axes": (2, 1)}, [(2, 2, 4, 3), (2, 4, 3, 5)]),
    Case("Dot", {"axes": (-2, 1)}, [(2, 2, 3, 4), (2, 3, 2)]),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


FUNCTIONS: dict[str, dict[str, Any]] = {
    "add": {},
    "subtract": {},
    "multiply": {},
    "average": {},
    "maximum": {},
    "minimum": {},
    "concatenate": {"axis": 1},
    "dot": {"axes": -1},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(2, 3, 4)).astype("float32") for _ in range(2)]
    mine = getattr(ours.layers, name)([wt.tensor(array) for array in arrays], **FUNCTIONS[name])
    expected = getattr(keras.layers, name)(arrays, **FUNCTIONS[name])
    np.testing.assert_allclose(np.asarray(mine), np.asarray(expected), rtol=1e-5, atol=1e-6)


# -- masks ---------------------------------------------------------------------------------------

MASKS = [
    np.array([[True, False, True], [False, False, True]]),
    np.array([[True, True, False], [False, True, True]]),
]


@pytest.mark.parametrize("which", [(0, 1), (0, None), (None, 1), (None, None)])
@pytest.mark.parametrize("name", [*ELEMENTWISE, "Subtract", "Concatenate", "Concatenate1", "Dot"])
def test_masks(name: str, which: tuple[int | None, ...]) -> None:
    configs: dict[str, dict[str, Any]] = {"Concatenate1": {"axis": 1}, "Dot": {"axes": 2}}
    config, kind = configs.get(name, {}), name.removesuffix("1")
    rng = np.random.default_rng(2)
    arrays = [rng.normal(size=(2, 3, 4)).astype("float32") for _ in range(2)]
    results = []
    for module, tensor in ((keras, keras.ops.convert_to_tensor), (ours, wt.tensor)):
        inputs = [tensor(array) for array in arrays]
        for x, index in zip(inputs, which, strict=True):
            if index is not None:
                x._keras_mask = tensor(MASKS[index])
        results.append(getattr(module.layers, kind)(**config)(inputs))
    expected, result = results
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-5, atol=1e-6)
    masks = [getattr(tensor, "_keras_mask", None) for tensor in (expected, result)]
    assert (masks[0] is None) == (masks[1] is None)
    if masks[0] is not None:
        assert np.array_equal(np.asarray(masks[0]), np.asarray(masks[1]))


# -- errors --------------------------------------------------------------------------------------

REFUSED: list[tuple[str, dict[str, Any], Any, str]] = [
    ("Add", {}, (2, 3), "Add must be called with a list of inputs"),
    ("Add", {}, [(2, 3), (2, 4)], "Add: shapes of inputs do not fit together"),
    ("Add", {}, [(2, 3), (3, 3)], "Add: inputs have different batch sizes"),
    ("Subtract", {}, [(2, 3)] * 3, "Subtract must be called with a list of 2 inputs"),
    ("Concatenate", {}, [(2, 3), (2, 3, 4)], "inputs must have the same shape but for the size"),
    ("Concatenate", {}, [(2, 3, 4), (2, 2, 4)], "but for the size of axis -1"),
    ("Concatenate", {"axis": 3}, [(2, 3), (2, 3)], "axis 3 is out of range"),
    ("Dot", {"axes": 1}, [(2, 3), (2, 4)], "inputs have different sizes along axes=1"),
    ("Dot", {"axes": 1}, [(2, 3)] * 3, "Dot must be called with a list of 2 inputs"),
    ("Dot", {"axes": 0}, [(2, 3), (2, 3)], "axes must be axes after the batch, but got 0"),
]


@pytest.mark.parametrize("name, config, shapes, message", REFUSED)
def test_refused(name: str, config: dict[str, Any], shapes: Any, message: str) -> None:
    layer = getattr(ours.layers, name)(**config)
    inputs = [wt.zeros(shape) for shape in shapes] if isinstance(shapes, list) else wt.zeros(shapes)
    with pytest.raises(ValueError, match=message):
        layer(inputs)


def test_refused_axes_of_dot() -> None:
    with pytest.raises(TypeError, match="axes must be an integer or two of them, but got 'x'"):
        ours.layers.Dot("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"axes must be .* but got \(1, 2, 3\)"):
        ours.layers.Dot((1, 2, 3))


def test_subclasses_say_how_to_merge() -> None:
    def make(api: Any) -> Any:
        class SumOfSquares(api.layers.Add):  # type: ignore[misc]
            def _merge_function(self, inputs: Any) -> Any:
                return super()._merge_function([x * x for x in inputs])

        return SumOfSquares()

    inputs = [np.arange(3, dtype="float32").reshape(1, 3) + i for i in range(2)]
    np.testing.assert_array_equal(make(ours)(inputs), make(keras)(inputs))
