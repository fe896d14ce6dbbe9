"""grad and its kin. That each op's gradient is right is the table's business (``test_ops``)."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import webtensor as wt

Function = Callable[..., Any]


def cubes(x: wt.Tensor) -> wt.Tensor:
    return wt.sum(x * x * x)


# -- the five functions -------------------------------------------------------------------------


def test_grad(backend: str) -> None:
    assert wt.grad(cubes)([1.0, 2.0]).tolist() == [3.0, 12.0]


def test_grads() -> None:
    x, y = wt.grads(lambda x, y: x * x * y)(3.0, 5.0)
    assert (x.tolist(), y.tolist()) == (30.0, 9.0)


def test_grad_takes_dy_second_if_its_function_takes_one_argument() -> None:
    def loss(weights: Any, x: Any, scale: float = 1.0) -> wt.Tensor:
        return wt.sum(weights["w"] * x) * scale

    weights, x = {"w": wt.tensor([1.0, 2.0]), "b": wt.tensor(0.0)}, wt.tensor([3.0, 4.0])
    assert wt.grad(cubes)(2.0, 10.0).tolist() == 120.0
    for function in (loss, wt.function(loss)):
        gradient = wt.grad(function)(weights, x)
        assert gradient["w"].tolist() == [3.0, 4.0]
        assert gradient["b"].tolist() == 0.0
        assert wt.grad(function)(weights, x, 2.0)["w"].tolist() == [6.0, 8.0]
        assert wt.grad(function, argnums=1)(weights, x, dy=2.0).tolist() == [2.0, 4.0]
    assert wt.grad(wt.grad(lambda x, y: x**2 * y))(2.0, 3.0).tolist() == 6.0
    assert wt.grad(lambda x, y=1.0: x * y)(2.0, 3.0).tolist() == 3.0
    assert wt.grad(lambda *xs: xs[0] * xs[1], argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)


def test_gradients_of_logaddexp_are_those_of_its_limits(backend: str) -> None:
    x, y = [np.inf, -np.inf, 0.0, 0.0, 1e4], [0.0, 0.0, np.inf, 0.0, 1e4]
    by_x, by_y = wt.grads(wt.logaddexp)(x, y)
    assert by_x.tolist() == [1.0, 0.0, 0.0, 0.5, 0.5]
    assert by_y.tolist() == [0.0, 1.0, 1.0, 0.5, 0.5]


def test_gradients_of_products_with_an_infinite_number_and_of_many(backend: str) -> None:
    gradient = wt.grad(wt.prod)
    assert gradient([2.0, math.inf, 3.0]).tolist() == [math.inf, 6.0, math.inf]
    assert gradient(wt.ones((100_000,))).numpy().min() == 1.0


def test_arguments_of_grads_in_a_list() -> None:
    assert [g.tolist() for g in wt.grads(lambda x, y: x * y)([2.0, 3.0])] == [3.0, 2.0]
    value, gradients = wt.value_and_grads(lambda x, y: x * y)((wt.tensor(2.0), 3.0))
    assert (value.tolist(), [g.tolist() for g in gradients]) == (6.0, [3.0, 2.0])
    assert wt.grads(lambda x: wt.sum(x * x))([2.0, 3.0])[0].tolist() == [4.0, 6.0]


def test_value_and_grad_of_several_arguments() -> None:
    def product(x: wt.Tensor, y: wt.Tensor, power: int, factor: float = 1.0) -> wt.Tensor:
        return wt.pow(x, power) * y * factor

    value, gradients = wt.value_and_grad(product, argnums=(0, 1))(3.0, 5.0, 2, factor=10.0)
    assert value.tolist() == 450.0
    assert isinstance(gradients, tuple)
    assert [gradient.tolist() for gradient in gradients] == [300.0, 90.0]
    value, gradient = wt.value_and_grad(product, argnums=1)(3.0, 5.0, 2, dy=2.0)
    assert gradient.tolist() == 18.0


def test_value_and_grad_of_structures(backend: str, no_leak: None) -> None:
    layers: Any = {
        "dense": [wt.Variable([[2.0], [3.0]]), wt.tensor([1.0])],
        "unused": (np.ones(2, np.float32), [1.0, 2.0]),
        "scale": 2.0,
    }

    def loss(layers: Any, x: wt.Tensor) -> wt.Tensor:
        kernel, bias = layers["dense"]
        return wt.sum((wt.matmul(x, kernel) + bias) * layers["scale"])

    value, gradients = wt.value_and_grad(loss)(layers, wt.tensor([[1.0, 10.0]]))
    assert value.tolist() == 66.0
    assert gradients["dense"][0].tolist() == [[2.0], [20.0]]
    assert gradients["dense"][1].tolist() == [2.0]
    assert gradients["scale"].tolist() == 33.0
    assert isinstance(gradients["unused"], tuple)
    assert [part.tolist() for part in gradients["unused"]] == [[0.0, 0.0], [0.0, 0.0]]


def test_value_and_grad_of_structures_with_none(backend: str) -> None:
    def loss(weights: Any) -> wt.Tensor:
        assert weights["bias"] is weights["pair"][1] is None
        return wt.sum(weights["kernel"] ** 2) * weights["pair"][0]

    weights = {"kernel": wt.tensor([1.0, 2.0]), "bias": None, "pair": (3.0, None)}
    for function in (wt.value_and_grad(loss), wt.function(wt.value_and_grad(loss))):
        value, gradients = function(weights)
        assert value.item() == 15.0
        assert gradients["kernel"].tolist() == [6.0, 12.0]
        assert gradients["bias"] is gradients["pair"][1] is None
        assert gradients["pair"][0].item() == 5.0


def test_value_and_grad_of_a_list_of_numbers_is_that_of_a_tensor() -> None:
    assert wt.value_and_grad(cubes)([[1.0], [2.0]])[1].shape == (2, 1)
    gradients = wt.value_and_grad(lambda pair: pair[0] * pair[1])([wt.tensor(2.0), 3.0])[1]
    assert [gradient.tolist() for gradient in gradients] == [3.0, 2.0]


def test_value_and_grad_names_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="argnums has 1, but there are 1 arguments"):
        wt.value_and_grad(cubes, argnums=1)(1.0)
    with pytest.raises(TypeError, match="argnums must be integers, but got 'x'"):
        wt.value_and_grad(cubes, argnums="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not depend on its argument 1"):
        wt.value_and_grad(lambda x, y: x * 1.0, argnums=(0, 1))(1.0, {"y": wt.tensor(2.0)})


def test_value_and_grad() -> None:
    value, gradient = wt.value_and_grad(cubes)([1.0, 2.0])
    assert value.tolist() == 9.0
    assert gradient.tolist() == [3.0, 12.0]


def test_value_and_grads() -> None:
    value, (x, y) = wt.value_and_grads(lambda x, y: x / y)(6.0, 2.0)
    assert value.tolist() == 3.0
    assert (x.tolist(), y.tolist()) == (0.5, -1.5)


def test_variable_grads() -> None:
    w = wt.Variable([1.0, 2.0], name="w")
    b = wt.Variable(3.0, name="b")
    loss, gradients = wt.variable_grads(lambda: wt.sum(w * w) * b)
    assert loss.tolist() == 15.0
    assert {name: g.tolist() for name, g in gradients.items()} == {"w": [6.0, 12.0], "b": 5.0}


def test_variables_of_layers_are_named_by_their_paths() -> None:
    dense = [wt.keras.layers.Dense(1, kernel_initializer="ones", name=name) for name in "ab"]
    model = wt.keras.Sequential([wt.keras.Input((1,)), *dense], name="model")
    _, gradients = wt.variable_grads(lambda: wt.sum(model(wt.ones((1, 1)))), model.weights[::-1])
    assert list(gradients) == ["model/b/bias", "model/b/kernel", "model/a/bias", "model/a/kernel"]
    optimizer = wt.train.sgd(0.5)
    optimizer.apply_gradients([(gradients[weight.path], weight) for weight in model.weights])
    assert [weight.tolist() for weight in model.weights] == [[[0.5]], [-0.5], [[0.5]], [-0.5]]


def test_a_batch_of_nothing_changes_with_no_variable() -> None:
    w = wt.Variable(wt.ones((3, 2)), name="w")
    x = wt.zeros((0, 3))
    loss, gradients = wt.variable_grads(lambda: wt.sum(wt.square(x @ w)))
    assert loss.tolist() == 0.0
    assert gradients["w"].tolist() == [[0.0, 0.0]] * 3


def test_a_sum_of_nothing_changes_with_no_argument() -> None:
    assert wt.grad(lambda x: wt.sum(x[:0]))([1.0, 2.0]).tolist() == [0.0, 0.0]
    nothing, filter = wt.grads(lambda x, y: wt.conv2d(x, y, 1, 1))(
        wt.zeros((1, 0, 3, 1)), wt.ones((2, 2, 1, 1))
    )
    assert nothing.shape == (1, 0, 3, 1)
    assert wt.flatten(filter).tolist() == [0.0] * 4


@pytest.mark.parametrize("function", [wt.grad, wt.grads, wt.value_and_grad, wt.value_and_grads])
def test_the_result_starts_from_ones_or_from_a_given_gradient(function: Function) -> None:
    def last(result: Any) -> Any:
        return last(result[-1]) if isinstance(result, (list, tuple)) else result.tolist()

    squared = function(lambda x: x * x)
    assert last(squared([1.0, 2.0])) == [2.0, 4.0]
    assert last(squared([1.0, 2.0], dy=[1.0, 10.0])) == [2.0, 40.0]


def test_functions_keep_their_names() -> None:
    assert wt.grad(cubes).__name__ == "cubes"


# -- what is differentiated ---------------------------------------------------------------------


def test_an_argument_used_twice_gets_the_sum() -> None:
    assert wt.grad(lambda x: x * x + x)(3.0).tolist() == 7.0


def test_the_same_tensor_as_two_arguments_gets_two_gradients() -> None:
    x = wt.tensor(3.0)
    first, second = wt.grads(lambda a, b: a * a * b)(x, x)
    assert (first.tolist(), second.tolist()) == (18.0, 9.0)


def test_a_captured_tensor_is_a_constant_even_if_it_is_the_argument() -> None:
    x = wt.tensor(3.0)
    assert wt.grad(lambda t: t * x)(x).tolist() == 3.0


def test_the_argument_itself_may_be_the_result() -> None:
    assert wt.grad(lambda x: x)([1.0, 2.0]).tolist() == [1.0, 1.0]


def test_python_control_flow_is_followed() -> None:
    def power(x: wt.Tensor) -> wt.Tensor:
        y = x
        while float(y) < 100:
            y = y * x
        return y

    assert wt.grad(power)(3.0).tolist() == 5 * 3.0**4


def test_a_result_that_does_not_matter_is_left_out() -> None:
    def function(x: wt.Tensor) -> wt.Tensor:
        wt.log(x * 0)  # its gradient would be NaN
        return x * 2

    assert wt.grad(function)(3.0).tolist() == 2.0


def test_variables_are_arguments_too() -> None:
    w = wt.Variable([1.0, 2.0])
    assert wt.grad(cubes)(w).tolist() == [3.0, 12.0]


def test_gradients_stop_at_integers_and_comparisons() -> None:
    def function(x: wt.Tensor) -> wt.Tensor:
        return wt.sum(x * wt.astype(wt.astype(x, "int32"), "float32") + (x > 1) * 2.0)

    assert wt.grad(function)([1.5, 2.5]).tolist() == [1.0, 2.0]


def test_every_gradient_is_a_tensor_of_its_own() -> None:
    x, y = wt.grads(lambda x, y: x + y)([1.0], [2.0])
    x.dispose()
    assert y.tolist() == [1.0]
    w, v = wt.Variable(1.0, name="w"), wt.Variable(2.0, name="v")
    _, gradients = wt.variable_grads(lambda: w + v)
    gradients["w"].dispose()
    assert gradients["v"].tolist() == 1.0


def test_nothing_is_left_behind(backend: str, no_leak: None) -> None:
    x = wt.ones((10,))
    wt.grad(lambda x: wt.sum(wt.exp(wt.sin(x))))(x)
    wt.grad(lambda x: wt.sum(wt.grad(lambda t: wt.sum(t * t * t))(x)))(x)


def test_nothing_is_left_behind_after_an_error(no_leak: None) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        wt.grad(lambda x: wt.exp(x) + wt.ones((3,)))(wt.ones((2,)))
    from webtensor.engine import state

    assert state.observers == ()
    assert state.variable_readers == ()


def test_memory_is_given_back_along_the_way() -> None:
    x = wt.ones((1000,))

    def deep(x: wt.Tensor) -> wt.Tensor:
        for _ in range(50):
            x = wt.sin(x)
        return wt.sum(x)

    seen = wt.profile(lambda: wt.grad(deep)(x))
    assert seen.peak_bytes - wt.memory()["num_bytes"] < 60 * 4000


def grown(function: Function) -> list[int]:
    """Bytes at the beginning of the walk back and after each of its steps, beyond those before."""
    before = wt.memory()["num_bytes"]
    sizes: list[int] = []

    @wt.custom_grad
    def probe(x: wt.Tensor) -> tuple[wt.Tensor, Function]:
        def gradient(dy: wt.Tensor) -> wt.Tensor:
            sizes.append(wt.memory()["num_bytes"] - before)
            return dy

        return x + 0.0, gradient

    function(probe)
    return sizes


def test_activations_are_freed_as_soon_as_they_were_used(backend: str) -> None:
    x = wt.ones((1000,))

    def chain(probe: Function) -> None:
        def deep(x: wt.Tensor) -> wt.Tensor:
            for _ in range(10):
                x = wt.sin(probe(x))
            return wt.sum(x)

        wt.grad(deep)(x)

    sizes = grown(chain)
    assert sizes[0] < 21 * 4000  # two activations of each layer, and the gradient
    assert all(before - after == 2 * 4000 for before, after in pairwise(sizes))


def test_activations_of_a_model_are_freed_as_soon_as_they_were_used(no_leak: None) -> None:
    from webtensor import keras

    def train(probe: Function) -> None:
        layers = [
            layer
            for _ in range(6)
            for layer in (keras.layers.Lambda(probe), keras.layers.Conv2D(8, 3, padding="same"))
        ]
        model = keras.Sequential([keras.Input((32, 32, 8)), *layers])
        model.compile("sgd", "mse")
        x = wt.ones((4, 32, 32, 8))
        model.train_on_batch(x, x)

    activation = 4 * 32 * 32 * 8 * 4
    activations = [size / activation for size in grown(train)]
    assert activations[0] < 15
    assert all(before - after > 1.9 for before, after in pairwise(activations))


# -- what is disposed on the way ----------------------------------------------------------------


def disposing(x: wt.Tensor) -> wt.Tensor:
    y = wt.exp(x)
    z = y * wt.sin(y)
    y.dispose()
    result = wt.sum(z * z)
    wt.dispose([z])
    with pytest.raises(ValueError, match="disposed"):
        y.tolist()
    return result


def tidying(x: wt.Tensor) -> wt.Tensor:
    with wt.tidy() as scope:
        y = wt.exp(x)
        result = scope.keep(wt.sum(wt.tidy(lambda: y * wt.sin(y)) ** 2))
    assert y.is_disposed
    return result


def plain(x: wt.Tensor) -> wt.Tensor:
    y = wt.exp(x)
    z = y * wt.sin(y)
    return wt.sum(z * z)


@pytest.mark.parametrize("function", [disposing, tidying])
def test_the_backward_pass_keeps_what_was_disposed(
    function: Function, backend: str, no_leak: None
) -> None:
    x = wt.tensor([0.3, 0.5])
    assert wt.grad(function)(x).tolist() == wt.grad(plain)(x).tolist()

    def second_derivative(function: Function) -> wt.Tensor:
        return wt.grad(lambda x: wt.sum(wt.grad(function)(x)))(x)

    assert second_derivative(function).tolist() == second_derivative(plain).tolist()


def test_what_was_disposed_is_given_back_after_the_walk(backend: str) -> None:
    x = wt.ones((1000,))

    def function(x: wt.Tensor) -> wt.Tensor:
        for _ in range(5):
            y = wt.sin(x)
            if x is not operand:
                x.dispose()
            x = y
        return wt.sum(x)

    operand = x
    before = wt.memory()["num_bytes"]
    gradient = wt.grad(function)(x)
    assert wt.memory()["num_bytes"] == before + 4000
    values, expected = np.ones(1000), np.ones(1000)
    for _ in range(5):
        expected *= np.cos(values)
        values = np.sin(values)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_a_disposed_variable_and_a_disposed_constant() -> None:
    w = wt.Variable([3.0], name="w")

    def loss() -> wt.Tensor:
        constant = wt.tensor([2.0])
        y = wt.sum(w * w * constant)
        constant.dispose()
        w.dispose()
        return y

    assert wt.variable_grads(loss)[1]["w"].tolist() == [12.0]


def test_a_custom_gradient_may_use_what_was_disposed(backend: str, no_leak: None) -> None:
    @wt.custom_grad
    def cubed(x: wt.Tensor) -> tuple[wt.Tensor, Function]:
        square = x * x
        return square * x, lambda dy: dy * square * 3.0

    def function(x: wt.Tensor) -> wt.Tensor:
        y = x * 2.0
        z = wt.tidy(lambda: cubed(y))
        y.dispose()
        return z

    assert wt.grad(function)(2.0).tolist() == 96.0


def test_a_custom_gradient_may_dispose_what_it_is_given() -> None:
    @wt.custom_grad
    def kept(x: wt.Tensor) -> tuple[wt.Tensor, Function]:
        def gradient(dy: wt.Tensor) -> wt.Tensor:
            result = dy * 2.0
            dy.dispose()
            return result

        return x * 2.0, gradient

    assert wt.grad(lambda x: wt.sum(x + kept(x)))([1.0, 2.0]).tolist() == [3.0, 3.0]


def test_tidy_around_a_layer_that_normalizes() -> None:
    from webtensor import keras

    layer = keras.layers.BatchNormalization()
    x = wt.tensor([[1.0, 2.0], [3.0, 5.0]])
    layer.build((None, 2))
    weigh = wt.tensor([[1.0, 2.0], [3.0, 4.0]])

    def tidied(x: wt.Tensor) -> wt.Tensor:
        return wt.tidy(lambda: wt.sum(layer(x * 2.0, training=True) * weigh))

    def untidied(x: wt.Tensor) -> wt.Tensor:
        return wt.sum(layer(x * 2.0, training=True) * weigh)

    assert wt.grad(tidied)(x).tolist() == wt.grad(untidied)(x).tolist()


# -- zero gradients, as TensorFlow.js has them --------------------------------------------------

STEPS: dict[str, Function] = {
    "isnan": wt.isnan,
    "isinf": wt.isinf,
    "isfinite": wt.isfinite,
    "floor": wt.floor,
    "ceil": wt.ceil,
    "round": wt.round,
    "trunc": wt.trunc,
    "sign": wt.sign,
    "step": wt.step,
    "signbit": wt.signbit,
    "zeros_like": wt.zeros_like,
    "ones_like": wt.ones_like,
    "full_like": lambda x: wt.full_like(x, 3.0),
    "argmax": wt.argmax,
    "argmin": wt.argmin,
    "argsort": wt.argsort,
    "less": lambda x: x < 1.0,
    "less_equal": lambda x: x <= 1.0,
    "greater": lambda x: x > 1.0,
    "greater_equal": lambda x: x >= 1.0,
    "equal": lambda x: wt.equal(x, 1.0),
    "not_equal": lambda x: wt.not_equal(x, 1.0),
    "logical_not": lambda x: wt.logical_not(x > 1.0),
    "logical_and": lambda x: wt.logical_and(x > 1.0, x < 2.0),
    "logical_or": lambda x: wt.logical_or(x > 1.0, x < 2.0),
    "logical_xor": lambda x: wt.logical_xor(x > 1.0, x < 2.0),
    "all": lambda x: wt.all(x > 1.0),
    "any": lambda x: wt.any(x > 1.0),
    "count_nonzero": wt.count_nonzero,
    "a cast to int32": lambda x: wt.astype(x, "int32"),
    "a cast to bool": lambda x: wt.astype(x, "bool"),
    "a cast there and back": lambda x: wt.astype(wt.astype(x, "int32"), "float32") * 3.0,
    "a condition": lambda x: wt.where(x > 1.0, 2.0, 3.0),
    "indices": lambda x: wt.gather([1.0, 2.0, 3.0], wt.astype(x, "int32")),
    "one_hot": lambda x: wt.one_hot(wt.astype(x, "int32"), 3),
    "a step of infinity": lambda x: wt.floor(x / 0.0),
}


SLICES: dict[str, list[Any]] = {
    "one twice": [np.s_[0:2], np.s_[0:2], np.s_[2:6]],
    "overlapping": [np.s_[0:3], np.s_[2:5]],
    "zeros around and between": [np.s_[4:5], np.s_[1:2]],
    "zeros at the end": [np.s_[0:1], np.s_[1:3]],
    "an inner axis": [np.s_[:, 3:5], np.s_[:, 1:2]],
    "two axes": [np.s_[:, 3:5], np.s_[1:2]],
    "all and an empty one": [np.s_[:2], np.s_[2:2], np.s_[2:]],
    "steps": [np.s_[::2], np.s_[1::2], np.s_[5]],
    "beside the whole": [np.s_[:], np.s_[1:3], np.s_[4:6]],
}


@pytest.mark.parametrize("name", SLICES)
def test_gradients_of_slices_are_joined(backend: str, name: str) -> None:
    x = np.arange(1.0, 37.0, dtype=np.float32).reshape(6, 6)
    expected = np.zeros_like(x)
    for factor, key in enumerate(SLICES[name], 1):
        expected[key] += 2 * factor * x[key]

    def function(x: wt.Tensor) -> wt.Tensor:
        slices = enumerate(SLICES[name], 1)
        return wt.add_n([factor * wt.sum(x[key] ** 2) for factor, key in slices])

    assert wt.grad(function)(x).tolist() == expected.tolist()


def test_gradients_of_slices_side_by_side_are_joined_at_once() -> None:
    profile = wt.profile(lambda: wt.grad(lambda x: wt.sum(x[1:2]) * wt.sum(x[3:]))(wt.ones((6, 6))))
    kernels = [record.name for record in profile.kernels]
    assert kernels.count("concat") == 1
    assert "pad" not in kernels


@pytest.mark.parametrize("name", STEPS)
def test_step_functions_have_zero_gradients(name: str, backend: str, no_leak: None) -> None:
    gradient = wt.grad(STEPS[name])(wt.tensor([1.5, 2.5, 0.0]))
    assert gradient.dtype is wt.float32
    assert gradient.tolist() == [0.0, 0.0, 0.0]


def test_steps_beside_other_ways_add_nothing() -> None:
    assert wt.grad(lambda x: x * x + wt.floor(x) * x + wt.zeros_like(x))(2.5).tolist() == 7.0
    assert wt.grad(lambda x: wt.where(x > 1.0, x * 3.0, 0.0))(2.5).tolist() == 3.0


def test_variables_behind_steps_have_zero_gradients() -> None:
    w, v = wt.Variable([1.5], name="w"), wt.Variable([2.0], name="v")
    gradients = wt.variable_grads(lambda: wt.sum(wt.floor(w) * v))[1]
    assert {name: g.tolist() for name, g in gradients.items()} == {"w": [0.0], "v": [1.0]}


INTEGERS = wt.tensor([3, 4])
FLOATS = wt.tensor([1.0, 2.0])
#: What TensorFlow.js returns, whose gradients are float32 for arguments of all dtypes.
OTHER_DTYPES: dict[str, tuple[Function, list[wt.Tensor], list[list[float]]]] = {
    "an integer factor": (wt.multiply, [FLOATS, INTEGERS], [[3.0, 4.0], [1.0, 2.0]]),
    "an integer term": (wt.subtract, [FLOATS, INTEGERS], [[1.0, 1.0], [-1.0, -1.0]]),
    "the square of integers": (wt.square, [INTEGERS], [[6.0, 8.0]]),
    "the sum of integers": (wt.sum, [INTEGERS], [[1.0, 1.0]]),
    "negative integers": (wt.negative, [INTEGERS], [[-1.0, -1.0]]),
    "a squared difference": (
        wt.squared_difference,
        [FLOATS, INTEGERS],
        [[-4.0, -4.0], [4.0, 4.0]],
    ),
    "an integer cast": (lambda x: wt.astype(x, "float32") * 3.0, [INTEGERS], [[3.0, 3.0]]),
    "a condition": (
        wt.where,
        [wt.tensor([True, False]), FLOATS, FLOATS + 1],
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
    ),
    "one_hot": (lambda x: wt.one_hot(x, 5), [INTEGERS], [[0.0, 0.0]]),
    "indices": (wt.gather, [FLOATS, wt.tensor([1, 0])], [[1.0, 1.0], [0.0, 0.0]]),
}


@pytest.mark.parametrize("name", OTHER_DTYPES)
def test_arguments_of_other_dtypes(name: str, backend: str, no_leak: None) -> None:
    function, arguments, expected = OTHER_DTYPES[name]
    gradients = wt.grads(function)(*arguments)
    assert [gradient.dtype for gradient in gradients] == ["float32"] * len(expected)
    assert [gradient.tolist() for gradient in gradients] == expected


# -- higher orders ------------------------------------------------------------------------------


def test_derivatives_of_every_order(backend: str) -> None:
    function: Function = lambda x: x**5  # noqa: E731
    for order in range(1, 6):
        function = wt.grad(function)
        assert function(1.0).tolist() == math.perm(5, order)


def test_the_fourth_derivative_of_the_sine_is_the_sine() -> None:
    fourth = wt.grad(wt.grad(wt.grad(wt.grad(wt.sin))))
    assert math.isclose(fourth(0.7).tolist(), math.sin(0.7), rel_tol=1e-6)


def test_a_gradient_inside_a_loss() -> None:
    def penalty(x: wt.Tensor) -> wt.Tensor:
        slope = wt.grad(cubes)(x)
        return wt.sum(slope * slope)

    # d/dx (3x²)² = 36x³
    assert wt.grad(penalty)([1.0, 2.0]).tolist() == [36.0, 288.0]


def test_mixed_derivatives() -> None:
    def by_x(x: wt.Tensor, y: wt.Tensor) -> wt.Tensor:
        return wt.grad(lambda t: t * t * y * y * y)(x)

    # ∂²(x²y³)/∂y∂x = 6xy²
    assert wt.grad(lambda y: by_x(wt.tensor(2.0), y))(3.0).tolist() == 108.0


def test_the_gradient_can_be_differentiated_by_what_it_starts_from() -> None:
    assert wt.grad(lambda dy: wt.sum(wt.grad(cubes)([1.0, 2.0], dy)))(1.0).tolist() == 15.0


def test_gradients_of_variables_can_be_differentiated() -> None:
    w = wt.Variable(2.0, name="w")

    def loss() -> wt.Tensor:
        _, gradients = wt.variable_grads(lambda: w * w * w)
        return gradients["w"] * gradients["w"]

    # d/dw (3w²)² = 36w³
    assert wt.variable_grads(loss)[1]["w"].tolist() == 288.0


# -- variables ----------------------------------------------------------------------------------


def test_only_trainable_variables_that_were_read_have_gradients() -> None:
    w = wt.Variable(2.0, name="w")
    frozen = wt.Variable(3.0, name="frozen", trainable=False)
    wt.Variable(5.0, name="unread")
    _, gradients = wt.variable_grads(lambda: w * frozen)
    assert set(gradients) == {"w"}


def test_variables_that_do_not_matter_have_none() -> None:
    w, v = wt.Variable(2.0, name="w"), wt.Variable(3.0, name="v")

    def loss() -> wt.Tensor:
        wt.exp(v)
        return w * w

    assert set(wt.variable_grads(loss)[1]) == {"w"}


def test_a_list_of_variables_narrows() -> None:
    w, v = wt.Variable(2.0, name="w"), wt.Variable(3.0, name="v")
    _, gradients = wt.variable_grads(lambda: w * v, [v])
    assert {name: g.tolist() for name, g in gradients.items()} == {"v": 2.0}


def test_the_loss_may_be_a_variable() -> None:
    w = wt.Variable(2.0, name="w")
    loss, gradients = wt.variable_grads(lambda: w)
    assert loss.tolist() == 2.0
    assert gradients["w"].tolist() == 1.0


def test_a_variable_read_twice_gets_the_sum() -> None:
    w = wt.Variable(3.0, name="w")
    assert wt.variable_grads(lambda: w * w)[1]["w"].tolist() == 6.0


# -- custom gradients ---------------------------------------------------------------------------


def test_custom_grad_replaces_the_gradient(backend: str) -> None:
    @wt.custom_grad
    def straight_through(x: wt.Tensor) -> Any:
        return wt.round(x), lambda dy: dy

    assert straight_through([1.4, 1.6]).tolist() == [1.0, 2.0]
    assert wt.grad(lambda x: wt.sum(straight_through(x) * 3))([1.4, 1.6]).tolist() == [3.0, 3.0]


def test_custom_grad_of_several_inputs() -> None:
    calls = []

    @wt.custom_grad
    def product(x: wt.Tensor, y: wt.Tensor) -> Any:
        def gradient(dy: wt.Tensor) -> list[wt.Tensor]:
            calls.append(1)
            return [dy * 100, dy * 200]

        return x * y, gradient

    value, (x, y) = wt.value_and_grads(product)(2.0, 3.0)
    assert (value.tolist(), x.tolist(), y.tolist()) == (6.0, 100.0, 200.0)
    assert calls == [1]


def test_a_custom_gradient_can_be_differentiated() -> None:
    @wt.custom_grad
    def cube(x: wt.Tensor) -> Any:
        return x * x * x, lambda dy: dy * 3 * x * x

    assert wt.grad(cube)(2.0).tolist() == 12.0
    assert wt.grad(wt.grad(cube))(2.0).tolist() == 12.0
    assert wt.grad(wt.grad(wt.grad(cube)))(2.0).tolist() == 6.0


def test_a_custom_function_may_return_its_input() -> None:
    @wt.custom_grad
    def reversed_gradient(x: wt.Tensor) -> Any:
        return x, lambda dy: -dy

    assert wt.grad(reversed_gradient)(2.0).tolist() == -1.0
    assert wt.grad(lambda x: reversed_gradient(x * 3) + x)(2.0).tolist() == -2.0


def test_custom_functions_nest() -> None:
    @wt.custom_grad
    def doubled(x: wt.Tensor) -> Any:
        return x * 2, lambda dy: dy * 2

    assert wt.grad(lambda x: doubled(doubled(x) * x))(3.0).tolist() == 24.0


def test_custom_grad_leaves_nothing_behind(no_leak: None) -> None:
    @wt.custom_grad
    def cube(x: wt.Tensor) -> Any:
        return x * x * x, lambda dy: dy * 3 * x * x

    wt.grad(lambda x: wt.sum(cube(x)))(wt.ones((10,)))


# -- errors -------------------------------------------------------------------------------------

W = wt.Variable([1.0, 2.0], name="w")
ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a result that does not depend on the argument": (
        lambda: wt.grad(lambda x: wt.tensor(1.0))(2.0),
        ValueError,
        "grad: the function's result does not depend on its argument 0",
    ),
    "a result that depends on one of two": (
        lambda: wt.grads(lambda x, y: x * 2)(1.0, 2.0),
        ValueError,
        "grads: the function's result does not depend on its argument 1",
    ),
    "a result that left the tensors": (
        lambda: wt.grad(lambda x: wt.tensor(x.tolist()) * 2)(1.0),
        ValueError,
        "does not depend on its argument 0",
    ),
    "a second derivative of a linear function": (
        lambda: wt.grad(wt.grad(lambda x: x * 2))(1.0),
        ValueError,
        "does not depend",
    ),
    "a loss without variables": (
        lambda: wt.variable_grads(lambda: wt.sum([1.0])),
        ValueError,
        "variable_grads: the loss depends on none of the trainable variables",
    ),
    "a loss that is no scalar": (
        lambda: wt.variable_grads(lambda: W * 2),
        ValueError,
        r"variable_grads: function must return a float32 scalar, but .* of shape \(2,\)",
    ),
    "a loss of integers": (
        lambda: wt.variable_grads(lambda: wt.tensor(1)),
        ValueError,
        "must return a float32 scalar, but it returned int32",
    ),
    "two variables of one name": (
        lambda: wt.variable_grads(lambda: wt.sum(W * wt.Variable(1.0, name="w"))),
        ValueError,
        "variable_grads: two variables are named 'w'",
    ),
    "text as an argument": (
        lambda: wt.grad(lambda x: x)(wt.tensor(["a"])),
        TypeError,
        "grad: arguments must hold numbers, but got string",
    ),
    "a gradient of another shape": (
        lambda: wt.grad(lambda x: x * 2)([1.0, 2.0], dy=1.0),
        ValueError,
        r"grad: dy must have the shape of the function's result, \(2,\), but its shape is \(\)",
    ),
    "a function that returns no tensor": (
        lambda: wt.grad(lambda x: None)(1.0),
        TypeError,
        "grad: the function must return a tensor, but returned None",
    ),
    "a custom function without a gradient": (
        lambda: wt.custom_grad(lambda x: x * 2)(1.0),
        TypeError,
        r"custom_grad: function must return \(value, gradient function\)",
    ),
    "a custom gradient that is no function": (
        lambda: wt.custom_grad(lambda x: (x * 2, 3))(1.0),  # type: ignore[arg-type, return-value]
        TypeError,
        r"custom_grad: function must return \(value, gradient function\)",
    ),
    "a custom gradient of another shape": (
        lambda: wt.grad(wt.custom_grad(lambda x: (x * 2, wt.sum)))([1.0, 2.0], [1.0, 1.0]),
        ValueError,
        r"custom_grad: gradient must return one tensor per input, of shapes \[\(2,\)\]",
    ),
    "a custom gradient that is real where the input is complex": (
        lambda: wt.grad(wt.custom_grad(lambda z: (wt.real(z), lambda dy: dy)))(
            wt.complex(1.0, 2.0)
        ),
        ValueError,
        r"complex where the input is, but returned \['float32\(\)'\]",
    ),
    "a custom gradient that is none": (
        lambda: wt.grad(wt.custom_grad(lambda x: (x * 2, lambda dy: None)))(1.0),
        TypeError,
        "custom_grad: gradient: the function must return a tensor, but returned None",
    ),
    "a custom gradient of numbers": (
        lambda: wt.grads(wt.custom_grad(lambda x, y: (x * y, lambda dy: (dy, 1.0))))(1.0, 2.0),
        TypeError,
        "custom_grad: gradient: the function must return a tensor, but returned 1.0",
    ),
    "too few custom gradients": (
        lambda: wt.grads(wt.custom_grad(lambda x, y: (x * y, lambda dy: [dy])))(1.0, 2.0),
        ValueError,
        "custom_grad: gradient must return one tensor per input",
    ),
}


@pytest.mark.parametrize("what", ERRORS)
def test_errors(what: str, no_leak: None) -> None:
    do, kind, message = ERRORS[what]
    with pytest.raises(kind, match=message):
        do()


@pytest.mark.parametrize(
    "method, derivative",
    [
        ("selu", 1.0507009873554805 * 1.6732632423543772),
        ("elu", 1),
        ("relu", 0),
        ("leaky_relu", 0.2),
    ],
)
def test_the_derivative_at_a_kink_is_the_one_on_the_left(
    backend: str, method: str, derivative: float
) -> None:
    # TensorFlow.js, JAX and PyTorch have it so, too.
    gradient = wt.grad(getattr(wt, method))(wt.tensor([0.0]))
    assert gradient.tolist() == pytest.approx([derivative])


@pytest.mark.parametrize("dy", [float("inf"), float("nan")])
@pytest.mark.parametrize(
    "function",
    [
        wt.relu,
        wt.relu6,
        lambda x: wt.clip_by_value(x, 0.0, 6.0),
        lambda x: wt.fused.mat_mul(x.reshape((3, 1)), [[1.0]], activation="relu"),
        lambda x: wt.fused.mat_mul(x.reshape((3, 1)), [[1.0]], activation="relu6"),
    ],
)
def test_no_gradient_passes_a_function_where_it_is_flat(
    backend: str, function: Callable[[wt.Tensor], wt.Tensor], dy: float
) -> None:
    gradient = wt.grad(lambda x: wt.sum(function(x) * dy))(wt.tensor([-2.0, 3.0, -1.0]))
    np.testing.assert_equal(gradient.numpy(), np.array([0.0, dy, 0.0], "float32"))


@pytest.mark.parametrize("name", ["elu", "log_sigmoid", "selu", "softplus"])
def test_gradients_of_smooth_activations_of_nan_are_nan(name: str, backend: str) -> None:
    gradient = wt.grad(getattr(wt, name))(wt.tensor([math.nan, 1.0])).numpy()
    assert np.isnan(gradient).tolist() == [True, False]


def test_the_gradient_of_an_exponent_is_nan_where_the_power_has_no_value(backend: str) -> None:
    bases = wt.tensor([math.nan, -2.0, 0.0, 0.0, -2.0])
    exponents = wt.tensor([2.0, 0.5, -1.0, 3.0, 3.0])
    gradient = wt.grad(lambda y: wt.pow(bases, y))(exponents)
    np.testing.assert_equal(gradient.numpy(), [math.nan, math.nan, math.nan, 0.0, 0.0])


def test_gradients_of_prelu_at_zero_are_those_of_negative_numbers(backend: str) -> None:
    """As in TensorFlow.js, and as leaky_relu has them."""
    x, slopes = wt.tensor([[-1.0, 0.0, 1.0]]), wt.tensor([0.5, 0.25, 0.125])
    assert wt.grad(lambda x: wt.prelu(x, slopes))(x).tolist() == [[0.5, 0.25, 1.0]]

    def fused(x: wt.Tensor) -> wt.Tensor:
        return wt.fused.mat_mul(x, wt.eye(3), activation="prelu", prelu_activation_weights=slopes)

    assert wt.grad(fused)(x).tolist() == [[0.5, 0.25, 1.0]]


@pytest.mark.parametrize(
    "name",
    ["grad", "grads", "value_and_grad", "value_and_grads", "variable_grads", "custom_grad"],
)
def test_what_is_not_callable_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: function must be callable, but got 3$"):
        getattr(wt, name)(3)
