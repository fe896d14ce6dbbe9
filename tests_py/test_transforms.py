"""Derivatives along directions and of results with elements, and functions of batches."""

from collections.abc import Callable, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import webtensor as wt
from tests_py.cases import FAMILIES, Case
from tests_py.cases.runner import evaluate, tensors_of
from tests_py.test_programs import REFUSED
from webtensor import keras
from webtensor.nest import flatten


def drawn(*shape: int) -> Any:
    """Return numbers that look like random ones."""
    return (
        np.sin(np.arange(1, 1 + np.prod(shape, dtype=int)) ** 1.7).reshape(shape).astype("float32")
    )


def close(actual: Any, expected: Any, tolerance: float = 1e-5) -> None:
    """Compare structures of tensors with JAX's or NumPy's arrays."""
    for leaf, other in zip(flatten(actual), flatten(expected), strict=True):
        other = np.asarray(other)
        assert leaf.shape == other.shape
        np.testing.assert_allclose(
            leaf.numpy(), other, tolerance, tolerance * max(1.0, np.abs(other).max(initial=0.0))
        )


# -- vmap ------------------------------------------------------------------------------------------


def another(tensor: wt.Tensor) -> wt.Tensor:
    """Return another example: the numbers of a float tensor in the opposite order."""
    return wt.flip(tensor) if tensor.dtype == "float32" else tensor


def difference(case: dict[str, Any], batched: Any = wt.vmap) -> str | None:
    """Return how the results of a batch differ from those of its examples, if they do."""
    function = partial(evaluate, case)
    examples = [tensors_of(case), tensors_of(case)]
    try:
        expected = [flatten(function(example)) for example in examples]
        examples[1] = [another(tensor) for tensor in examples[1]]
        expected[1] = flatten(function(examples[1]))
        has_equal_shapes = all(
            leaf.shape == other.shape for leaf, other in zip(*expected, strict=True)
        )
    except Exception:  # the op does not take these numbers
        has_equal_shapes = False
    if not has_equal_shapes:
        examples[1] = examples[0]
        expected = [flatten(function(example)) for example in examples]
    batch = [wt.stack(list(pair)) for pair in zip(*examples, strict=True)]
    results = flatten(batched(function)(batch))
    for result, *parts in zip(results, *expected, strict=True):
        array = np.stack([part.numpy() for part in parts])
        if result.shape != array.shape:
            return f"shape {result.shape} instead of {array.shape}"
        got = result.numpy()
        scale = np.abs(array[np.isfinite(array)]).max(initial=0.0) if array.dtype != bool else 0
        if not np.allclose(got, array, 1e-4, 1e-5 * max(scale, 1.0), equal_nan=True):
            return f"{got} instead of {array}"[:500]
    return None


def takes_numbers(case: Case) -> bool:
    """Whether all tensors of a case hold numbers, there is one, and the op is no coroutine."""
    has_numbers = bool(case.tensors) and all(tensor.dtype != object for tensor in case.tensors)
    return has_numbers and not case.function.endswith("_async")


def wrong_batches(cases: Iterable[Case], batched: Any = wt.vmap) -> list[str]:
    """Return a line for each case whose batch is not what its examples are.

    On NumPy alone: rules change geometries, which all kernels take.
    """
    wrong = []
    for case in filter(takes_numbers, cases):
        try:
            how = difference(case.encoded(), batched)
        except wt.CaptureError as error:
            how = None if case.function in REFUSED else str(error)
        if how is not None:
            wrong.append(f"{case.name}: {how}")
    return wrong


@pytest.mark.parametrize("family", FAMILIES)
def test_batches_of_all_ops(family: str) -> None:
    assert wrong_batches(FAMILIES[family]) == []


def differentiated(function: partial[Any]) -> Callable[[list[wt.Tensor]], list[wt.Tensor]]:
    """Return what computes the gradients of a case by going back through a batch."""
    (case,) = function.args
    forward = wt.vmap(partial(evaluate, {**case, "derivative": 0}))

    def gradients(batch: list[wt.Tensor]) -> list[wt.Tensor]:
        *tensors, dy = batch

        def of_sources(*sources: wt.Tensor) -> Any:
            replaced = dict(zip(case["wrt"], sources, strict=True))
            return forward([replaced.get(index, x) for index, x in enumerate(tensors)])

        return wt.grads(of_sources)(*[tensors[index] for index in case["wrt"]], dy=dy)

    return gradients


@pytest.mark.parametrize("family", [name for name in FAMILIES if name.endswith("gradients")])
def test_gradients_through_batches_of_all_ops(family: str) -> None:
    cases = [case for case in FAMILIES[family] if case.derivative == 1]
    assert wrong_batches(cases, differentiated) == []


def network(lib: Any, x: Any, w: Any, b: Any) -> Any:
    """Return the result of two layers."""
    return lib.sum(lib.tanh(lib.matmul(lib.tanh(lib.matmul(x, w) + b), w.T)) ** 2)


@pytest.mark.parametrize(
    "in_axes, out_axes", [(0, 0), ((0, None, None), 0), ((1, None, 0), 0), ((0, None, 1), 1)]
)
def test_axes(backend: str, in_axes: Any, out_axes: int) -> None:
    def function(lib: Any) -> Callable[..., Any]:
        return lambda x, w, b: (lib.matmul(x, w) + b, {"w": w * lib.sum(x)})

    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * 3
    values = [
        np.stack([drawn(*shape) for _ in range(5)], axis) if axis is not None else drawn(*shape)
        for shape, axis in zip([(2, 3), (3, 4), (4,)], axes, strict=True)
    ]
    actual = wt.vmap(function(wt), in_axes, out_axes)(*map(wt.tensor, values))
    close(actual, jax.vmap(function(jnp), in_axes, out_axes)(*values))


def test_axes_in_structures(backend: str) -> None:
    x, y = drawn(3, 2), drawn(2, 3)

    def function(pair: Any, options: Any) -> Any:
        total = pair["x"] * options[0] + pair["y"]
        return total, {"sum": total.sum(), "scale": options[0] * 2.0}

    axes: dict[str, Any] = {"in_axes": ({"x": 0, "y": 1}, None)}
    axes["out_axes"] = (1, {"sum": 0, "scale": None})
    actual = wt.vmap(function, **axes)({"x": wt.tensor(x), "y": wt.tensor(y)}, [wt.tensor(2.0)])
    expected = jax.vmap(function, **axes)({"x": x, "y": y}, [jnp.float32(2.0)])
    for ours, theirs in zip(flatten(actual), jax.tree.leaves(expected), strict=True):
        close(ours, theirs)
    with pytest.raises(ValueError, match="vmap: in_axes must have an axis for all of a structure"):
        wt.vmap(function, **axes)({"x": wt.tensor(x)}, [2.0])
    with pytest.raises(ValueError, match="vmap: out_axes must have an axis for all"):
        wt.vmap(lambda x: x, out_axes=(0,))(wt.tensor(x))
    with pytest.raises(ValueError, match="out_axes is None for a result that may differ"):
        wt.vmap(lambda x: x, out_axes=None)(wt.tensor(x))


EMPTY_BATCHES: dict[str, Callable[[Any, Any], Any]] = {
    "elementwise": lambda lib, x: lib.tanh(x) * 2.0,
    "a product": lambda lib, x: lib.matmul(x, lib.ones((3, 4))),
    "one example after the other": lambda lib, x: lib.linalg.inv(x[:, :2]),
    "random numbers": lambda lib, x: x if lib is jnp else x + wt.random_normal((2, 3)),
    "a structure": lambda lib, x: {"sum": lib.sum(x), "rows": [x[0], x[1]]},
}


@pytest.mark.parametrize("what", EMPTY_BATCHES)
def test_a_batch_without_examples(what: str, backend: str) -> None:
    function = EMPTY_BATCHES[what]
    x = drawn(0, 2, 3)
    expected = jax.vmap(partial(function, jnp))(x)
    close(wt.vmap(partial(function, wt))(wt.tensor(x)), expected)
    close(wt.vmap(partial(function, wt), 1)(wt.moveaxis(wt.tensor(x), 0, 1)), expected)


def test_gradients_of_a_batch_without_examples(backend: str) -> None:
    x = wt.zeros((0, 3))
    assert wt.vmap(wt.grad(lambda row: wt.sum(wt.sin(row))))(x).shape == (0, 3)
    assert wt.grad(lambda x: wt.sum(wt.vmap(wt.sin)(x)))(x).shape == (0, 3)


def test_none_and_python_values_among_arguments_of_vmap(backend: str) -> None:
    def function(x: Any, options: Any, nothing: Any, part: Any) -> Any:
        assert nothing is part["bias"] is None
        assert (type(options["k"]), options["text"]) == (bool, "text")
        return x * options["w"] + part["y"] if options["k"] else x, None

    options = {"w": wt.tensor(2.0), "k": True, "text": "text"}
    mapped = wt.vmap(function, in_axes=(0, None, 0, 0))
    x = wt.tensor([1.0, 2.0])
    result, nothing = mapped(x, options, None, {"y": x, "bias": None})
    assert (result.tolist(), nothing) == ([3.0, 6.0], None)


def test_gradients_of_each_example(backend: str) -> None:
    x, w, b = drawn(6, 2, 3), drawn(3, 4), drawn(4)

    def gradients(lib: Any, grad: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, w, b: grad(lambda w: network(lib, x, w, b))(w)

    ours = wt.vmap(gradients(wt, wt.grad), (0, None, None))
    theirs = jax.vmap(gradients(jnp, jax.grad), (0, None, None))
    close(ours(wt.tensor(x), wt.tensor(w), wt.tensor(b)), theirs(x, w, b))


def test_what_depends_on_shapes_alone_has_zero_gradients_through_a_batch(backend: str) -> None:
    x = wt.tensor([[1.0, 2.0]])
    gradient = wt.grad(wt.vmap(wt.ones_like))
    assert gradient(x).tolist() == wt.function(gradient)(x).tolist() == [[0.0, 0.0]]
    assert wt.vmap(gradient)(wt.stack([x])).tolist() == [[[0.0, 0.0]]]
    after_a_call = wt.grad(wt.vmap(lambda row: wt.zeros_like(row * 2.0) + 1.0))
    assert after_a_call(x).tolist() == [[0.0, 0.0]]
    with_others = wt.grad(wt.vmap(lambda row: wt.ones_like(row) * row))
    assert with_others(x).tolist() == [[1.0, 1.0]]


def test_gradients_through_a_batch(backend: str) -> None:
    x, w, b = drawn(6, 2, 3), drawn(3, 4), drawn(4)

    def total(lib: Any, vmap: Callable[..., Any]) -> Callable[..., Any]:
        return lambda w: lib.sum(vmap(lambda x: network(lib, x, w, b_of[lib]))(x_of[lib]))

    b_of, x_of = {wt: wt.tensor(b), jnp: b}, {wt: wt.tensor(x), jnp: x}
    close(wt.grad(total(wt, wt.vmap))(wt.tensor(w)), jax.grad(total(jnp, jax.vmap))(w))


@wt.custom_grad
def steep(x: wt.Tensor) -> Any:
    """Twice ``x``, whose slope is said to be 10."""
    return x * 2.0, lambda dy: dy * 10.0


@wt.custom_grad
def scaled(x: wt.Tensor, factor: wt.Tensor) -> Any:
    return x * factor, lambda dy: (dy * 100.0, dy * 7.0)


def test_gradients_of_their_own_through_a_batch(backend: str, no_leak: None) -> None:
    x, stop = wt.tensor([1.0, 2.0]), keras.ops.stop_gradient

    def slope(function: Callable[..., Any], x: wt.Tensor = x) -> Any:
        return wt.grad(lambda x: wt.sum(wt.vmap(function)(x)))(x).tolist()

    assert slope(steep) == slope(wt.function(steep)) == [10.0, 10.0]
    assert slope(lambda row: row * stop(row)) == [1.0, 2.0]
    assert slope(lambda row: row + stop(wt.round(row) - row)) == [1.0, 1.0]
    # the outer gradient is that of steep(x) + 10 x
    assert slope(wt.grad(lambda row: steep(row) * row)) == [20.0, 20.0]
    assert slope(wt.vmap(steep), wt.tensor([[1.0, 2.0]])) == [[10.0, 10.0]]
    assert wt.vmap(steep)(x).tolist() == [2.0, 4.0]
    captured = wt.function(wt.grad(lambda x: wt.sum(wt.vmap(steep)(x))))
    assert [captured(x).tolist() for _ in range(2)] == [[10.0, 10.0]] * 2
    assert wt.jvp(wt.vmap(steep), [x], [wt.ones((2,))])[1].tolist() == [10.0, 10.0]
    assert wt.jacobian(wt.vmap(steep))(x).tolist() == [[10.0, 0.0], [0.0, 10.0]]
    shared = wt.grads(lambda x, w: wt.sum(wt.vmap(scaled, (0, None))(x, w)))(x, 3.0)
    assert [part.tolist() for part in shared] == [[100.0, 100.0], 14.0]


def test_complex_roots_of_a_batch_have_no_corners(backend: str) -> None:
    slope = wt.grad(lambda z: wt.sum(wt.imag(wt.vmap(wt.sqrt)(z))))
    assert slope(wt.complex([4.0], [0.0])).tolist() == [0.25j]


def test_what_a_batch_cannot_differentiate(backend: str) -> None:
    x = wt.tensor([1.0, 2.0])

    def enclosing(row: wt.Tensor) -> wt.Tensor:
        return wt.custom_grad(lambda q: (q * row, lambda dy: dy))(row)

    with pytest.raises(wt.CaptureError, match="custom_grad: within vmap"):
        wt.grad(lambda x: wt.sum(wt.vmap(enclosing)(x)))(x)
    with wt.GradientTape() as tape:
        tape.watch(x)

        def halting(row: wt.Tensor) -> wt.Tensor:
            with tape.stop_recording():
                return row * 2.0

        with pytest.raises(wt.CaptureError, match="stop_recording"):
            wt.vmap(halting)(x)
        y = wt.vmap(lambda row: row * row)(x)
    assert tape.gradient(y, x).tolist() == [2.0, 4.0]


def test_a_captured_batch_of_transposed_matrices(backend: str) -> None:
    x, w = drawn(2, 2, 3), drawn(2, 2)
    product = wt.vmap(lambda x: wt.matmul(wt.transpose(x), wt.tensor(w)))
    captured = wt.function(product)
    for _ in range(2):
        close(captured(wt.tensor(x)), np.swapaxes(x, 1, 2) @ w)


@pytest.mark.parametrize(
    "x, w, transposes",
    [((2, 3, 4, 5), (5, 6), False), ((2, 3, 4, 5), (3, 5, 6), False), ((2, 4, 5), (4, 6), True)],
)
def test_products_with_matrices_of_all_examples(
    backend: str, x: tuple[int, ...], w: tuple[int, ...], transposes: bool
) -> None:
    a, b = drawn(*x), drawn(*w)
    product = wt.vmap(lambda a: wt.matmul(a, wt.tensor(b), transposes))
    close(product(wt.tensor(a)), (np.swapaxes(a, -1, -2) if transposes else a) @ b)


@pytest.mark.parametrize("resize", ["resize_bilinear", "resize_nearest_neighbor"])
def test_images_of_all_examples_are_resized_at_once(backend: str, resize: str) -> None:
    def gradient(x: wt.Tensor) -> wt.Tensor:
        return wt.grad(lambda x: wt.sum(getattr(wt.image, resize)(x, (4, 4)) ** 2))(x)

    x = wt.tensor(drawn(5, 1, 2, 3, 1))
    profile = wt.profile(lambda: wt.vmap(gradient)(x))
    images = [kernel.input_shapes[0][0] for kernel in profile.kernels if "resize" in kernel.name]
    assert images == [1, 1, 5, 5]  # those of the recorded example, then those of the batch
    close(profile.result, np.stack([gradient(example).numpy() for example in x]))


def test_batches_of_batches(backend: str) -> None:
    x, y = drawn(3, 4), drawn(5, 4)
    pairs = wt.vmap(lambda a: wt.vmap(lambda b: wt.sum(a * b))(wt.tensor(y)))(wt.tensor(x))
    close(pairs, x @ y.T)


def test_variables_are_read_and_gradients_reach_them(backend: str) -> None:
    w = wt.Variable(drawn(3))
    x = wt.tensor(drawn(4, 3))
    with wt.GradientTape() as tape:
        total = wt.sum(wt.vmap(lambda row: wt.sum(row * w) ** 2)(x))
    close(tape.gradient(total, w), (2 * x.numpy().T @ (x.numpy() @ w.numpy())))


def test_random_numbers_are_those_of_one_example_after_the_other(backend: str) -> None:
    def noisy(x: wt.Tensor) -> wt.Tensor:
        return wt.dropout(x, 0.5) + wt.random_normal((4,))

    x = wt.tensor(drawn(3, 4))
    wt.set_random_seed(5)
    expected = np.stack([noisy(row).numpy() for row in x])
    wt.set_random_seed(5)
    np.testing.assert_array_equal(wt.vmap(noisy)(x).numpy(), expected)


def test_a_captured_batch_draws_again(backend: str) -> None:
    captured = wt.function(wt.vmap(lambda x: x + wt.random_uniform((2,))))
    results = [captured(wt.zeros((3, 2))).tolist() for _ in range(3)]
    numbers = [number for result in results for row in result for number in row]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_captured_batch_draws_what_the_function_draws(backend: str, depth: int) -> None:
    def noisy(x: wt.Tensor) -> wt.Tensor:
        return x * wt.random_normal(()) + wt.random_uniform(())

    function, x = noisy, wt.ones((3, 2, 2))
    for _ in range(depth):
        function = wt.vmap(function)

    def draws(function: Callable[..., wt.Tensor]) -> list[Any]:
        wt.set_random_seed(3)
        return [function(x).tolist() for _ in range(3)]

    results = draws(function)
    assert draws(wt.function(function)) == results
    assert len({number for result in results for number in np.ravel(result)}) >= 9


@pytest.mark.parametrize("number", [1j, np.float32(2.0), np.arange(3.0, dtype="float32")])
def test_numbers_as_results_are_repeated_as_in_jax(backend: str, number: Any) -> None:
    expected = np.asarray(jax.vmap(lambda _: number)(np.zeros(2)))
    np.testing.assert_array_equal(wt.vmap(lambda _: number)(wt.zeros((2,))).numpy(), expected)


def test_results_that_follow_from_no_example(backend: str) -> None:
    w = wt.Variable([1.0, 2.0])
    results = wt.vmap(lambda x: (3, w, None, "text"))(wt.zeros((2,)))
    assert [part.tolist() for part in results[:2]] == [[3, 3], [[1.0, 2.0]] * 2]
    assert results[2:] == (None, "text")


def test_layers_of_keras(backend: str) -> None:
    layer = keras.layers.Dense(3, "relu")
    x = wt.tensor(drawn(5, 2, 4))
    close(wt.vmap(layer)(x), layer(x).numpy())


def test_nothing_is_left_over(backend: str) -> None:
    x = wt.tensor(drawn(3, 4))
    before = wt.memory()["num_tensors"]
    wt.vmap(wt.grad(lambda row: wt.sum(wt.softmax(row) ** 2)))(x)
    wt.vmap(lambda row: {"sum": wt.sum(row), "row": [row]})(x)
    assert wt.memory()["num_tensors"] == before  # before cycles are collected


def test_bad_arguments_of_vmap(backend: str) -> None:
    x, y = wt.ones((2, 3)), wt.ones((4, 3))
    with pytest.raises(TypeError, match="vmap: function must be callable, but got 3"):
        wt.vmap(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there are 1 axes and 2 arguments"):
        wt.vmap(wt.add, in_axes=(0,))(x, x)
    with pytest.raises(ValueError, match=r"as many examples in all arguments.*\[2, 4\]"):
        wt.vmap(wt.add)(x, y)
    with pytest.raises(ValueError, match="no argument has an axis of examples"):
        wt.vmap(wt.add, in_axes=None)(x, x)
    with pytest.raises(ValueError, match="rank 0 has no axis"):
        wt.vmap(wt.add)(x, 1.0)
    with pytest.raises(ValueError, match=r"vmap: in_axes: axis 2 is out of range .* rank 2"):
        wt.vmap(wt.sum, in_axes=2)(x)
    with pytest.raises(ValueError, match=r"vmap: out_axes: axis 2 is out of range .* rank 2"):
        wt.vmap(wt.abs, out_axes=2)(x)
    with pytest.raises(ValueError, match=r"got \(0, 0, 0\) for \(tensor, tensor\)"):
        wt.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(x)
    with pytest.raises(TypeError, match="string"):
        wt.vmap(wt.sum)(wt.tensor(["a"]))
    with pytest.raises(wt.CaptureError, match="those of vmap must not read elements"):
        wt.vmap(lambda row: row if float(wt.sum(row)) > 0 else -row)(x)
    hiding: tuple[Callable[[wt.Tensor], Any], ...]
    hiding = (lambda row: {row * 2.0}, lambda row: SimpleNamespace(y=[row]), lambda row: row.sum)
    for function in hiding:
        with pytest.raises(wt.CaptureError, match="vmap: the function must return its tensors in"):
            wt.vmap(function)(x)
    total = wt.Variable(wt.zeros((3,)))
    with pytest.raises(wt.CaptureError, match="assigns to variables"):
        wt.vmap(total.assign_add)(x)


# -- jvp, jacobian, hessian ------------------------------------------------------------------------

FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "elementwise": (lambda lib, x: lib.tanh(x) * x**2, (2, 3)),
    "product": (lambda lib, x: lib.matmul(x, x.T), (2, 3)),
    "softmax": (lambda lib, x: lib.exp(x) / lib.sum(lib.exp(x), 1, keepdims=True), (2, 3)),
    "of a scalar": (lambda lib, x: lib.stack([x, x**2, lib.sin(x)]), ()),
    "scalar": (lambda lib, x: lib.sum(x**3), (4,)),
    "constant": (lambda lib, x: lib.ones((2,)) + lib.sum(x) * 0.0, (3,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_as_in_jax(backend: str, name: str) -> None:
    function, shape = FUNCTIONS[name]
    x, direction = drawn(*shape), drawn(*shape)
    ours, theirs = partial(function, wt), partial(function, jnp)
    mine = wt.jvp(ours, [wt.tensor(x)], [wt.tensor(direction)])
    close(mine, jax.jvp(theirs, [x], [direction]))
    close(wt.jacobian(ours)(wt.tensor(x)), jax.jacobian(theirs)(x))
    close(
        wt.hessian(lambda x: wt.sum(ours(x) ** 2))(wt.tensor(x)),
        jax.hessian(lambda x: jnp.sum(theirs(x) ** 2))(x),
        1e-4,
    )


#: Functions that are smooth where their formulas have absolute values or powers of zero.
SMOOTH: dict[str, tuple[Callable[[Any], Any], list[float], list[list[float]]]] = {
    "norm": (wt.norm, [0.0, 2.0], [[0.5, 0.0], [0.0, 0.0]]),
    "vector_norm": (wt.linalg.vector_norm, [0.0, 2.0], [[0.5, 0.0], [0.0, 0.0]]),
    "huber_loss": (lambda x: wt.losses.huber_loss([0.0], x), [0.0], [[1.0]]),
    "keras huber": (lambda x: keras.losses.huber(wt.zeros((1,)), x), [0.0], [[1.0]]),
    "sigmoid_cross_entropy": (
        lambda x: wt.losses.sigmoid_cross_entropy([1.0], x),
        [0.0],
        [[0.25]],
    ),
    "complex log": (
        lambda x: wt.real(wt.log(wt.complex(x[0], x[1]))),
        [0.0, -1.5],
        [[4 / 9, 0.0], [0.0, -4 / 9]],
    ),
    "pow": (lambda x: x[0] ** x[1], [2.0, 0.0], [[0.0, 0.5], [0.5, np.log(2) ** 2]]),
    "sinc": (lambda x: keras.ops.sinc(x[0]), [0.0], [[-(np.pi**2) / 3]]),
    "power of zero": (lambda x: x[0] ** 0, [0.0], [[0.0]]),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives_of_smooth_functions(backend: str, name: str) -> None:
    function, x, expected = SMOOTH[name]
    close(wt.hessian(function)(wt.tensor(x)), np.array(expected))


def test_first_derivatives_at_zero(backend: str) -> None:
    loss = wt.grad(lambda x: wt.losses.sigmoid_cross_entropy([1.0, 0.0], x))
    close(loss(wt.tensor([0.0, 0.0])), np.array([-0.25, 0.25]))
    third = wt.grad(wt.grad(wt.grad(lambda x: x**x)))
    close(third(1.0), 3.0)
    z = wt.complex(2.0, 1.0)
    slope = wt.grad(lambda y: wt.real(wt.pow(z, y)))(wt.complex(0.0, 0.0))
    np.testing.assert_allclose(slope.numpy(), np.conj(np.log(2 + 1j)), 1e-5)


def test_a_tensor_that_fills_another(backend: str) -> None:
    assert wt.grad(lambda a: wt.sum(wt.full((2,), a)) + a * a)(0.5).item() == 3.0
    assert wt.grad(lambda a: wt.sum(wt.full_like(wt.ones((3,)), a)))(0.5).item() == 3.0
    captured = wt.function(lambda a: wt.full((2,), a))
    assert [captured(wt.tensor(a)).tolist() for a in (2.0, 3.0)] == [[2.0] * 2, [3.0] * 2]


def test_lists_of_tensors(backend: str) -> None:
    x = wt.tensor([1.0, 2.0])

    def turned(x: wt.Tensor) -> wt.Tensor:
        return wt.array([x[1], -x[0]])

    assert wt.jacobian(turned)(x).tolist() == [[0.0, 1.0], [-1.0, 0.0]]
    assert wt.vmap(turned)(wt.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[2, -1], [4, -3]]
    assert wt.function(turned)(x).tolist() == turned(x).tolist() == [2.0, -1.0]
    assert wt.grad(lambda a: wt.sum(wt.add(x, [[a, 1], [2, a]])))(0.5).item() == 2.0
    assert wt.grad(lambda a: wt.sum([a]))(0.5).item() == 1.0
    assert wt.array([x, [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match=r"equal sizes, but there are tensors of shapes"):
        wt.array([x, x[0]])
    with pytest.raises(TypeError, match="elements must be numbers, but got 'x'"):
        wt.grad(lambda a: wt.sum([a, "x"]))(0.5)


def test_derivatives_of_complex_results(backend: str) -> None:
    z = wt.complex([1.0, 2.0], [2.0, 4.0])
    np.testing.assert_allclose(wt.grad(lambda z: z * z)(z).numpy(), 2 * np.conj(z.numpy()))
    with wt.GradientTape() as tape:
        tape.watch(z)
        square = z * z
    np.testing.assert_allclose(tape.gradient(square, z).numpy(), 2 * np.conj(z.numpy()))
    along = wt.complex([1.0, 1.0], [0.0, 0.0])
    np.testing.assert_allclose(wt.jvp(lambda z: z * z, [z], [along])[1].numpy(), 2 * z.numpy())
    with pytest.raises(TypeError, match="jacobian: what is differentiated must be real numbers"):
        wt.jacobian(lambda z: z * z)(z)


def test_derivatives_of_steps_of_complex_numbers_are_complex(backend: str) -> None:
    z = wt.complex([1.0, 2.0], [2.0, 4.0])
    with wt.GradientTape(persistent=True) as tape:
        tape.watch(z)
        floors = wt.floor(wt.real(z))
    derivatives = [
        wt.grad(wt.zeros_like)(z),
        wt.grad(lambda pair: wt.sum(wt.abs(pair[0])))([z, z])[1],
        wt.jvp(wt.zeros_like, [z], [z])[1],
        wt.vjp(lambda z: wt.floor(wt.real(z)), z)[1](wt.ones((2,)))[0],
        tape.gradient(floors, z, unconnected_gradients="zero"),
    ]
    for derivative in derivatives:
        assert derivative.dtype is wt.complex64
        assert derivative.tolist() == [0j, 0j]
    jacobian = tape.jacobian(floors, z, unconnected_gradients="zero")
    assert (jacobian.shape, jacobian.dtype) == ((2, 2), "complex64")


def test_derivatives_of_several_arguments(backend: str) -> None:
    values = [drawn(2, 3), drawn(3, 4), drawn(4)]
    directions = [drawn(2, 3), drawn(3, 4), drawn(4)]
    ours = wt.jvp(
        partial(network, wt), list(map(wt.tensor, values)), list(map(wt.tensor, directions))
    )
    close(ours, jax.jvp(partial(network, jnp), values, directions), 1e-4)  # of larger terms


def test_derivatives_of_captured_functions(backend: str) -> None:
    captured = wt.function(lambda x: wt.sum(wt.sin(x) * x))
    x, direction = wt.tensor(drawn(3)), wt.tensor(drawn(3))
    plain = [
        wt.hessian(lambda x: wt.sum(wt.sin(x) * x))(x),
        wt.jvp(lambda x: wt.sum(wt.sin(x) * x), [x], [direction])[1],
    ]
    for _ in range(2):
        close([wt.hessian(captured)(x), wt.jvp(captured, [x], [direction])[1]], plain)
    curvature = wt.function(wt.hessian(lambda x: wt.sum(wt.sin(x) * x)))
    for _ in range(2):
        close(curvature(x), plain[0])


def test_jvp_of_structures(backend: str) -> None:
    def layer(lib: Any, weights: Any, x: Any) -> Any:
        hidden = lib.tanh(x @ weights["kernel"] + weights["bias"][0])
        return {"sum": lib.sum(hidden), "rest": (hidden, None), "same": x}

    primals = {"kernel": drawn(3, 2), "bias": [drawn(2), None]}, drawn(4, 3)
    tangents = jax.tree.map(np.cos, primals)
    ours, theirs = partial(layer, wt), partial(layer, jnp)
    expected = jax.tree.leaves(jax.jvp(theirs, primals, tangents))
    for transform in (partial(wt.jvp, ours), wt.function(partial(wt.jvp, ours))):
        mine = transform(*jax.tree.map(wt.tensor, (primals, tangents)))
        assert mine[1]["rest"][1] is None
        close(jax.tree.leaves(mine), expected, 1e-4)


def test_jacobian_and_hessian_pass_further_arguments_on(backend: str) -> None:
    def function(lib: Any, x: Any, weights: Any, power: int = 1) -> Any:
        return lib.sin(x) ** power * weights["scale"]

    def total(lib: Any, *args: Any, **kwargs: Any) -> Any:
        return lib.sum(function(lib, *args, **kwargs))

    x, weights = drawn(3), {"scale": drawn(3) + 2.0}
    ours = wt.tensor(x), {"scale": wt.tensor(weights["scale"])}
    for mine, theirs, f in (
        (wt.jacobian, jax.jacobian, function),
        (wt.hessian, jax.hessian, total),
    ):
        for named in ({}, {"power": 3}):
            expected = theirs(partial(f, jnp))(x, weights, **named)
            close(mine(partial(f, wt))(*ours, **named), expected)


def test_jacobian_and_hessian_of_structures(backend: str) -> None:
    def function(lib: Any, weights: Any, power: int, x: Any) -> Any:
        hidden = lib.tanh(x @ weights["kernel"] + weights["bias"][0]) ** power
        return {"sum": lib.sum(hidden), "rest": (hidden, None), "same": x}

    def total(lib: Any, *args: Any) -> Any:
        return function(lib, *args)["sum"]

    arguments = {"kernel": drawn(3, 2), "bias": [drawn(2), None]}, 2, drawn(2, 3)
    ours = jax.tree.map(wt.tensor, arguments)
    for mine, theirs, f in (
        (wt.jacobian, jax.jacobian, function),
        (wt.hessian, jax.hessian, total),
    ):
        for argnums in (0, 2, (2, 0), (-1,)):
            expected = theirs(partial(f, jnp), argnums=argnums)(*arguments)
            result = mine(partial(f, wt), argnums)(*ours)
            assert str(jax.tree.structure(result)) == str(jax.tree.structure(expected))
            close(jax.tree.leaves(result), jax.tree.leaves(expected), 1e-4)


def test_vjp_as_in_jax(backend: str) -> None:
    def function(lib: Any, weights: Any, x: Any) -> Any:
        hidden = lib.tanh(x @ weights["kernel"])
        return {"sum": lib.sum(hidden), "rest": (hidden, None)}

    primals = {"kernel": drawn(3, 2), "unused": drawn(2)}, drawn(4, 3)
    value, theirs = jax.vjp(partial(function, jnp), *primals)
    mine, gradients_of = wt.vjp(partial(function, wt), *jax.tree.map(wt.tensor, primals))
    close(jax.tree.leaves(mine), jax.tree.leaves(value))
    for dy in (jax.tree.map(np.cos, value), value):
        close(gradients_of(dy), theirs(dy))
    with pytest.raises(ValueError, match=r"vjp: dy must have the structure of the result"):
        gradients_of({"sum": 1.0})
    with pytest.raises(ValueError, match=r"dy\['rest'\]\[0\] must have the shape of the result"):
        gradients_of({"sum": 1.0, "rest": ([1.0], None)})


@pytest.mark.parametrize(
    "transform",
    [
        lambda lib, f, x: lib.grad(f, has_aux=True)(x),
        lambda lib, f, x: lib.value_and_grad(f, has_aux=True)(x),
        lambda lib, f, x: lib.jacobian(f, has_aux=True)(x),
        lambda lib, f, x: lib.hessian(f, has_aux=True)(x),
        lambda lib, f, x: lib.jvp(f, [x], [x], has_aux=True),
        lambda lib, f, x: lib.vjp(f, x, has_aux=True)[::2],
    ],
    ids=["grad", "value_and_grad", "jacobian", "hessian", "jvp", "vjp"],
)
def test_auxiliary_results_as_in_jax(backend: str, transform: Callable[..., Any]) -> None:
    def function(lib: Any, x: Any) -> Any:
        waves = lib.sin(x)
        return lib.sum(waves**2), {"waves": waves}

    expected = transform(jax, partial(function, jnp), drawn(3))
    result = transform(wt, partial(function, wt), wt.tensor(drawn(3)))
    assert str(jax.tree.structure(result)) == str(jax.tree.structure(expected))
    close(jax.tree.leaves(result), jax.tree.leaves(expected))
    with pytest.raises(TypeError, match="with has_aux, the function must return a pair"):
        transform(wt, wt.sum, wt.tensor(drawn(3)))


def test_jacobians_of_what_a_batch_cannot_go_back_through(backend: str) -> None:
    @wt.custom_grad
    def square(x: wt.Tensor) -> Any:
        def gradient(dy: wt.Tensor) -> wt.Tensor:
            return 2.0 * x * dy if dy.tolist() != [0.0, 0.0] else dy

        return x * x, gradient

    def powers(x: wt.Tensor) -> Any:
        return wt.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, y * x), (0, x))[1]

    x = wt.tensor([2.0, 3.0])
    assert wt.jacobian(square)(x).tolist() == [[4.0, 0.0], [0.0, 6.0]]
    assert wt.function(wt.jacobian(powers))(x).tolist() == [[32.0, 0.0], [0.0, 108.0]]


def test_empty_parts_of_structures_stay(backend: str) -> None:
    weights: Any = wt.tensor([1.0, 2.0]), (), {"none": []}
    gradient = wt.grad(lambda weights: wt.sum(weights[0] ** 2))(weights)
    assert (gradient[0].tolist(), *gradient[1:]) == ([2.0, 4.0], *weights[1:])
    batch = wt.vmap(lambda weights: (weights[0] * 2.0, *weights[1:]))(weights)
    assert (batch[0].tolist(), *batch[1:]) == ([2.0, 4.0], *weights[1:])


def test_directions_of_integers_become_those_of_floats(backend: str) -> None:
    x, two = wt.tensor([1.0, 3.0]), wt.tensor([2, 2])
    tape = wt.GradientTape()
    with tape:
        tape.watch(x)
        y = x + 1.0
    gradients = [
        wt.grad(lambda x: x + 1.0)(x, two),
        wt.value_and_grad(lambda x: x + 1.0)(x, dy=two)[1],
        tape.gradient(y, x, output_gradients=two),
        wt.jvp(lambda x: x + 1.0, [x], [two])[1],
    ]
    for gradient in gradients:
        assert (gradient.dtype, gradient.tolist()) == (wt.float32, [2.0, 2.0])


def test_what_does_not_depend_on_the_argument(backend: str) -> None:
    x = wt.tensor([1.0, 2.0])
    value, slope = wt.jvp(lambda x: wt.ones((3,)), [x], [x])
    assert (value.tolist(), slope.tolist()) == ([1.0] * 3, [0.0] * 3)
    assert wt.jacobian(lambda x: wt.ones((3,)))(x).tolist() == [[0.0, 0.0]] * 3
    assert wt.jacobian(wt.sign)(x).tolist() == [[0.0, 0.0]] * 2
    assert wt.jacobian(lambda x: x)(wt.zeros((0,))).shape == (0, 0)


def test_bad_arguments_of_derivatives(backend: str) -> None:
    x = wt.ones((2,))
    with pytest.raises(TypeError, match="primals must be a list or a tuple"):
        wt.jvp(wt.sin, x, [x])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 primals and 2 tangents"):
        wt.jvp(wt.sin, [x], [x, x])
    with pytest.raises(ValueError, match=r"tangents\[0\] must have the shape of primals\[0\]"):
        wt.jvp(wt.sin, [x], [wt.ones((3,))])
    with pytest.raises(TypeError, match="the function must return a tensor"):
        wt.jvp(lambda x: {"sum": "two"}, [x], [x])
    with pytest.raises(ValueError, match=r"tangents\[0\] must have the structure of primals\[0\]"):
        wt.jvp(lambda pair: pair[0], [(x, x)], [(x,)])
    with pytest.raises(ValueError, match=r"tangents\[0\]\['x'\] must have the shape of primals"):
        wt.jvp(lambda part: part["x"], [{"x": x}], [{"x": wt.ones((3,))}])
    for transform in (wt.jacobian, wt.hessian):
        with pytest.raises(TypeError, match="function must be callable"):
            transform(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a scalar, but its shape is"):
        wt.hessian(lambda x: x)(x)
    with pytest.raises(ValueError, match="does not depend"):
        wt.hessian(lambda x: wt.sum(wt.ones((2,))))(x)
