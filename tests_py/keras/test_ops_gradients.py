"""Gradients of functions of ``keras.ops`` are those of Keras, which JAX computes."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.ops_cases import CASES, Given, array_of, f, flat, function, mapped, p
from webtensor import keras as ours

#: What random elements are differentiated by.
_FLOATS = ("above", "float", "matrix", "part")

#: What NumPy's Keras does not compute, or differentiates not as other cases of a function do.
_MORE: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("ctc_loss", [np.array([[1, 2, 1], [3, 3, 0]]), f(2, 8, 4), [3, 2], [8, 7]], {}),
    ("fold", [f(2, 12, 12), (5, 6), 2], {"stride": 2, "padding": 1}),
    ("image.map_coordinates", [f(4, 5), p(2, 3), 1], {"fill_mode": "reflect"}),
    ("image.scale_and_translate", [p(4, 5), (6, 7), p(2), p(2), (0, 1), "cubic"], {}),
    ("image.sobel_edges", [p(1, 4, 5, 2)], {"data_format": "channels_last"}),
    ("image.ssim", [p(6, 7, 2), p(6, 7, 2)], {"filter_size": 3, "data_format": "channels_last"}),
    ("lu_factor", [f(2, 3, 3)], {}),
    ("nanmedian", [f(3, 4)], {"axis": 1}),
    ("take_along_axis", [f(3, 4), np.array([[0, 3], [1, 1], [2, 0]])], {"axis": 1}),
]

#: JAX has no gradients of Keras's, or cannot compile them.
_WITHOUT = {"nextafter", "rearrange", "segment_prod", "size"}


def cases() -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """One call of each function that has floats."""
    seen = set(_WITHOUT)
    for name, args, options in [*_MORE, *CASES]:
        descriptions: list[Given] = []
        mapped(lambda description, into=descriptions: into.append(description), [args, options])
        if name not in seen and any(description.kind in _FLOATS for description in descriptions):
            seen.add(name)
            yield name, args, options


ALL = list(cases())


def weighed(results: Any, module: Any, cosines: Callable[[Any], Any]) -> Any:
    """One number of all results that have gradients."""
    total = 0.0
    for leaf in flat(results):
        if "complex" in str(leaf.dtype):
            leaf = module.ops.real(leaf)
        if "float" in str(leaf.dtype):
            total = total + module.ops.sum(leaf * cosines(leaf.shape))
    return total


def cosines(shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape))
    return np.cos(np.arange(count, dtype="float32")).reshape(shape)


def elements(number: int) -> list[np.ndarray]:
    """What a call is differentiated by."""
    rng = np.random.default_rng(number)
    arrays: list[np.ndarray] = []

    def keep(description: Given) -> None:
        array = array_of(description, rng)
        if description.kind in _FLOATS:
            arrays.append(array)

    _, args, options = ALL[number]
    mapped(keep, [args, options])
    return arrays


def called(number: int, module: Any, values: Any) -> Any:
    """What a function returns, given these elements."""
    rng, rest = np.random.default_rng(number), iter(values)

    def array_for(description: Given) -> Any:
        drawn = array_of(description, rng)
        return next(rest) if description.kind in _FLOATS else drawn

    name, args, options = ALL[number]
    args = mapped(array_for, args)
    return function(module.ops, name)(*args, **mapped(array_for, options))


@pytest.fixture(scope="module")
def slopes() -> list[list[Any]]:
    """The gradients of Keras's functions."""

    def total(all_values: list[list[Any]]) -> Any:
        parts = [
            weighed(called(number, keras, values), keras, cosines)
            for number, values in enumerate(all_values)
        ]
        return sum(parts, jnp.zeros(()))

    values = [elements(number) for number in range(len(ALL))]
    # Compiled as one program, as fast as can be.
    fast = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return jax.jit(jax.grad(total), compiler_options=fast)(values)


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: ALL[number][0])
def test_gradients(number: int, slopes: list[list[Any]]) -> None:
    wt.set_backend("numpy")

    def total(*values: Any) -> Any:
        result = weighed(
            called(number, ours, values), ours, lambda shape: wt.tensor(cosines(shape))
        )
        # Functions that are constant have gradients, too.
        return sum((wt.sum(value) * 0.0 for value in values), wt.zeros(())) + result

    mine = wt.grads(total)(*map(wt.tensor, elements(number)))
    for gradient, expected in zip(mine, slopes[number], strict=True):
        np.testing.assert_allclose(np.asarray(gradient), np.asarray(expected), rtol=2e-3, atol=2e-4)


def test_gradient_of_fmod_at_zero(backend: str) -> None:
    x, y = np.array([[0, 0, 5.5, -5.5], [1, -3, 2, 2]], "float32")
    mine = wt.grad(lambda x: wt.sum(ours.ops.fmod(x, y)))(wt.tensor(x))
    expected = jax.grad(lambda x: keras.ops.fmod(x, y).sum())(x)
    assert mine.tolist() == expected.tolist()
