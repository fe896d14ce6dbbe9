"""Gradients of functions of ``keras.ops`` are those of Keras, which JAX computes."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.ops_cases import CASES, Given, f, flat, function, made, mapped, p
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
_WITHOUT = {"nextafter", "rearrange", "segment_prod"}


def cases() -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """One call of each function that has floats."""
    seen = set(_WITHOUT)
    for name, args, options in [*_MORE, *CASES]:
        found: list[Given] = []
        mapped(lambda one, found=found: found.append(one), [args, options])
        if name not in seen and any(one.kind in _FLOATS for one in found):
            seen.add(name)
            yield name, args, options


ALL = list(cases())


def weighed(results: Any, module: Any, cosines: Callable[[Any], Any]) -> Any:
    """One number of all results that have gradients."""
    total = 0.0
    for one in flat(results):
        if "complex" in str(one.dtype):
            one = module.ops.real(one)
        if "float" in str(one.dtype):
            total = total + module.ops.sum(one * cosines(one.shape))
    return total


def cosines(shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape))
    return np.cos(np.arange(count, dtype="float32")).reshape(shape)


def elements(number: int) -> list[np.ndarray]:
    """What a call is differentiated by."""
    rng = np.random.default_rng(number)
    found: list[np.ndarray] = []

    def keep(given: Given) -> None:
        one = made(given, rng)
        if given.kind in _FLOATS:
            found.append(one)

    _, args, options = ALL[number]
    mapped(keep, [args, options])
    return found


def called(number: int, module: Any, values: Any) -> Any:
    """What a function returns, given these elements."""
    rng, rest = np.random.default_rng(number), iter(values)

    def given(one: Given) -> Any:
        drawn = made(one, rng)
        return next(rest) if one.kind in _FLOATS else drawn

    name, args, options = ALL[number]
    args = mapped(given, args)
    return function(module.ops, name)(*args, **mapped(given, options))


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
        made = weighed(called(number, ours, values), ours, lambda shape: wt.tensor(cosines(shape)))
        # Functions that are constant have gradients, too.
        return sum((wt.sum(value) * 0.0 for value in values), wt.zeros(())) + made

    mine = wt.grads(total)(*map(wt.tensor, elements(number)))
    for one, wanted in zip(mine, slopes[number], strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(wanted), rtol=2e-3, atol=2e-4)
