"""Loops and branches, in Python and in captured functions."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import webtensor as wt
from webtensor.programs import Function

#: A variable that loops assign to.
KEPT = wt.Variable([0.0, 0.0])

captured_or_not = pytest.mark.parametrize(
    "wrap", [lambda f: f, wt.function], ids=["plain", "captured"]
)


# -- cond ------------------------------------------------------------------------------------------


@captured_or_not
def test_cond(backend: str, wrap: Callable[..., Any]) -> None:
    @wrap
    def f(x: wt.Tensor, y: wt.Tensor) -> Any:
        return wt.cond(
            wt.sum(x) > 1.0,
            lambda x: {"a": x * y, "b": [wt.sum(x), y]},
            lambda x: {"a": -x, "b": [wt.mean(x), y + 1.0]},
            x,
        )

    y = wt.tensor([2.0, 3.0])
    for _ in range(2):
        result = f(wt.tensor([1.0, 2.0]), y)
        assert [result["a"].tolist(), result["b"][0].tolist()] == [[2.0, 6.0], 3.0]
        result = f(wt.tensor([-1.0, 1.0]), y)
        assert [result["a"].tolist(), result["b"][1].tolist()] == [[1.0, -1.0], [3.0, 4.0]]


@captured_or_not
def test_gradients_of_cond(backend: str, wrap: Callable[..., Any]) -> None:
    slope = wrap(wt.grad(lambda x: wt.cond(x > 0.0, lambda: x**2, lambda: -3.0 * x)))
    for _ in range(2):
        assert [slope(wt.tensor(x)).tolist() for x in (2.0, -2.0)] == [4.0, -3.0]


def test_cond_in_a_batch(backend: str) -> None:
    x = wt.tensor([1.0, -2.0, 3.0])
    assert wt.vmap(lambda x: wt.cond(x > 0.0, lambda: x, lambda: -x))(x).tolist() == [1.0, 2.0, 3.0]


def test_cond_of_python_values(backend: str) -> None:
    assert wt.cond(True, lambda: "yes", lambda: "no") == "yes"
    assert wt.cond(wt.tensor(0), lambda: "yes", lambda: "no") == "no"


def test_bad_arguments_of_cond(backend: str) -> None:
    x = wt.ones((2,))
    with pytest.raises(TypeError, match="true_fn must be callable, but got 3"):
        wt.cond(True, 3, lambda: x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cond: string cannot be converted to bool"):
        wt.cond(wt.tensor("yes"), lambda: x, lambda: x)
    with pytest.raises(ValueError, match=r"must be a scalar, but its shape is \(2,\)"):
        wt.cond(x > 0.0, lambda: x, lambda: x)
    shapes = wt.function(lambda x: wt.cond(wt.sum(x) > 0, lambda: x, lambda: wt.sum(x)))
    with pytest.raises(wt.CaptureError, match="the same shapes and dtypes"):
        shapes(x)
    structures = wt.function(lambda x: wt.cond(wt.sum(x) > 0, lambda: [x], lambda: [x, x]))
    with pytest.raises(wt.CaptureError, match="the same structure"):
        structures(x)
    for other in (lambda: {"b": x}, lambda: {"a": None}):
        keys = wt.function(lambda x, other=other: wt.cond(wt.sum(x) > 0, lambda: {"a": x}, other))
        with pytest.raises(wt.CaptureError, match=r"same structure, but return \{'a': 'tensor'\}"):
            keys(x)
    w = wt.Variable(x)
    assigning = wt.function(
        lambda x: wt.cond(wt.sum(x) > 0, lambda: w.assign_add(x), lambda: w.assign_sub(x))
    )
    with pytest.raises(wt.CaptureError, match="must not assign"):
        assigning(x)


# -- while_loop ------------------------------------------------------------------------------------


def root(a: wt.Tensor) -> tuple[wt.Tensor, wt.Tensor]:
    """Return a square root by Newton's method, and the number of steps."""
    start = a * 0.5 + 0.5
    x, count = wt.while_loop(
        lambda x, count: wt.abs(x * x - a) > 1e-4 * a,
        lambda x, count: (0.5 * (x + a / x), count + 1),
        (start, wt.tensor(0, dtype="int32")),
    )
    return x * 1.0, count


def test_each_replay_finds_out_how_often_a_loop_runs(backend: str, no_leak: None) -> None:
    captured = wt.function(root)
    counts = set()
    for a in (2.0, 100.0, 9.0, 1e4, 2.0):
        (value, count), (expected, steps) = captured(wt.tensor(a)), root(wt.tensor(a))
        assert (value.item(), count.item()) == (expected.item(), steps.item())
        np.testing.assert_allclose(value.item(), a**0.5, 1e-3)
        counts.add(count.item())
    assert len(counts) > 2
    captured.clear()


@captured_or_not
def test_loops_that_never_run_or_are_limited(backend: str, wrap: Callable[..., Any]) -> None:
    @wrap
    def f(x: wt.Tensor) -> Any:
        none = wt.while_loop(lambda x: x < 0.0, lambda x: x + 1.0, x)
        some = wt.while_loop(lambda x: x < 100.0, lambda x: x + 1.0, x, maximum_iterations=3)
        return none + 0.0, some

    for x in (1.0, 5.0):
        assert [part.item() for part in f(wt.tensor(x))] == [x, x + 3.0]


@captured_or_not
def test_loops_in_loops(backend: str, wrap: Callable[..., Any]) -> None:
    w = wt.Variable(2.0)
    table = wt.tensor([1.0, 10.0])

    @wrap
    def f(n: wt.Tensor, x: wt.Tensor) -> Any:
        scale = wt.sum(x) * w

        def outer(i: wt.Tensor, total: wt.Tensor) -> tuple[wt.Tensor, wt.Tensor]:
            _, inner = wt.while_loop(
                lambda j, s: j < i, lambda j, s: (j + 1, s + scale * table), (i * 0, total)
            )
            return i + 1, inner + x

        _, total = wt.while_loop(lambda i, total: i < n, outer, (n * 0, x * 0.0))
        return total * 2.0

    def expected(n: int, x: Any, w: float) -> Any:
        total = np.zeros(2)
        for i in range(n):
            total += i * x.sum() * w * np.array([1.0, 10.0]) + x
        return total * 2.0

    for n, value in ((3, 2.0), (0, 2.0), (5, -1.0)):
        w.assign(value)
        x = np.array([1.0, n])
        actual = f(wt.tensor(n, dtype="int32"), wt.tensor(x, dtype="float32"))
        np.testing.assert_allclose(actual.numpy(), expected(n, x, value), 1e-5)


def test_a_body_takes_the_first_value_and_a_variable_that_nothing_else_reads(backend: str) -> None:
    w = wt.Variable(2.0)
    captured = wt.function(lambda x: wt.while_loop(lambda y: y < 90.0, lambda y: y * x * w, x))
    for value, x, expected in ((2.0, 3.0, 108.0), (1.0, 2.0, 128.0), (3.0, 5.0, 1125.0)):
        w.assign(value)
        assert captured(wt.tensor(x)).item() == expected


def test_a_loop_that_returns_what_it_was_given_at_the_capture(backend: str) -> None:
    start = wt.tensor([1.0, 2.0])
    column = wt.reshape(start, (2, 1))  # the same storage

    def loop(n: wt.Tensor, body: Callable[[Any], Any], first: wt.Tensor) -> Any:
        return wt.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, body(x)), (0, first))[1]

    def function(n: wt.Tensor) -> Any:
        doubled = loop(n, lambda x: x * 2.0, start)
        replaced = loop(n, lambda _: start, start * 3.0)
        sums = wt.vmap(lambda x: x + doubled + loop(n, lambda x: x, n) + n)(wt.zeros((1,)))
        return doubled, replaced, column + 0.0, sums

    for counts in ((0, 2), (1, 0)):
        captured = wt.function(function)
        for count in counts:
            result = [tensor.tolist() for tensor in captured(wt.tensor(count))]
            assert result == [tensor.tolist() for tensor in function(wt.tensor(count))]
            assert result[2] == [[1.0], [2.0]]


def test_a_loop_leaves_what_it_reads_where_it_was(backend: str) -> None:
    def function(flag: wt.Tensor, x: wt.Tensor) -> Any:
        def body(x: wt.Tensor) -> wt.Tensor:
            return wt.cond(flag, lambda: x * 3.0, lambda: x + 1.0)

        last = wt.while_loop(lambda x: x < 10.0, body, x)
        return wt.vmap(lambda row, flag: wt.where(flag, row, last), (0, None))(wt.zeros((2,)), flag)

    captured = wt.function(function)
    for flag, expected in ((True, 0.0), (False, 10.0)):
        assert captured(wt.tensor(flag), wt.tensor(1.0)).tolist() == [expected] * 2


def test_structures_of_loop_variables(backend: str) -> None:
    @wt.function
    def f(x: wt.Tensor) -> Any:
        return wt.while_loop(
            lambda state: wt.sum(state["x"]) < 10.0,
            lambda state: {"x": state["x"] * 2.0, "n": state["n"] + 1},
            {"x": x, "n": 0},
        )

    for start in (1.0, 3.0):
        state = f(wt.tensor([start, start]))
        assert state["x"].tolist() == [start * 2 ** state["n"].item()] * 2


@pytest.mark.parametrize("wrap", [lambda f: f, wt.function], ids=["plain", "captured"])
def test_none_among_loop_variables(backend: str, wrap: Callable[..., Any]) -> None:
    def f(x: wt.Tensor) -> Any:
        return wt.while_loop(
            lambda x, rest: x < 10.0,
            lambda x, rest: (x * 2.0, {"a": None, "b": rest["b"] + 1}),
            (x, {"a": None, "b": 0}),
        )

    function = wrap(f)
    for _ in range(2):
        x, rest = function(wt.tensor(3.0))
        assert (x.item(), rest["a"], int(rest["b"])) == (12.0, None, 2)
    gradient = wrap(wt.grad(lambda x: f(x)[0]))
    assert gradient(wt.tensor(3.0)).item() == 4.0


def test_a_flag_that_is_a_loop_variable(backend: str) -> None:
    @wt.function
    def f(x: wt.Tensor) -> Any:
        return wt.while_loop(
            lambda goes_on, x: goes_on, lambda _, x: (x < 5.0, x + 2.0), (x < 9.0, x)
        )

    assert [f(wt.tensor(x))[1].item() for x in (0.0, 6.0, 10.0)] == [8.0, 8.0, 10.0]


def test_gradients_of_plain_loops(backend: str) -> None:
    slope = wt.grad(lambda x: wt.while_loop(lambda y: y < 10.0, lambda y: y * x, x))
    assert slope(wt.tensor(3.0)).item() == 27.0


@pytest.mark.parametrize(
    "body, match",
    [
        (wt.sum, r"body must return tensors of the shapes and dtypes"),
        (lambda x: x + float(wt.sum(x)), "must not read elements"),
        (lambda x: x + wt.random_uniform((2,)), "must not draw random numbers"),
        (KEPT.assign_add, "must not assign to variables"),
    ],
)
def test_loops_that_cannot_be_captured(
    backend: str, body: Callable[..., Any], match: str, no_leak: None
) -> None:
    captured = wt.function(lambda x: wt.while_loop(lambda x: wt.sum(x) < 9.0, body, x))
    with pytest.raises((wt.CaptureError, ValueError), match=match):
        captured(wt.ones((2,)))


def powers(x: wt.Tensor) -> Any:
    """Return the first power of a number that is at least 90; the body takes ``x``, too."""
    return wt.while_loop(lambda y: y < 90.0, lambda y: y * x, x)


def decay(x: wt.Tensor) -> Any:
    """A loop with several variables, one of which is an integer and one that nobody uses."""
    _, total, _ = wt.while_loop(
        lambda n, total, rest: wt.sum(rest) > 0.5,
        lambda n, total, rest: (n + 1, total + rest * n.astype("float32"), 0.5 * rest * rest),
        (wt.tensor(0), 0.5 * x, wt.tanh(x)),
    )
    return wt.sum(total * total)


def limited(x: wt.Tensor) -> Any:
    return wt.sum(wt.while_loop(lambda y: y[0] < 9.0, lambda y: y[::-1] * x, x, 3))


def nested(x: wt.Tensor) -> Any:
    """A loop in a loop, whose body takes what the outer one computes."""

    def outer(total: wt.Tensor) -> Any:
        scale = wt.mean(total) + x
        return wt.while_loop(lambda y: y < 7.0, lambda y: y + scale * x, total) + scale

    return wt.while_loop(lambda total: total < 30.0, outer, x * x)


def in_scopes(x: wt.Tensor) -> Any:
    """A loop that takes what is disposed after it."""
    with wt.tidy() as scope:
        scale, offset = x * 2.0, wt.sum(wt.ones((2,)))
        return scope.keep(wt.while_loop(lambda y: y < 9.0, lambda y: y * scale + offset, x))


@pytest.mark.parametrize(
    "function, arguments",
    [
        (powers, [3.0, 2.0, 100.0, 5.0, 3.0]),
        (nested, [1.5, 4.0, 1.1]),
        (in_scopes, [1.0, 0.7, 9.5]),
        (decay, [[0.5, 1.5, 0.7], [0.1, 0.0, 0.1], [2.0, 2.0, 9.0]]),
        (limited, [[1.0, 2.0], [3.0, 9.0], [9.0, 1.0]]),
    ],
)
def test_gradients_of_captured_loops(
    backend: str, function: Callable[..., Any], arguments: list[Any], no_leak: None
) -> None:
    captured = wt.function(wt.value_and_grad(function))
    for argument in (*arguments, arguments[0]):
        actual, expected = captured(wt.tensor(argument)), wt.value_and_grad(function)(argument)
        for part, expected_part in zip(actual, expected, strict=True):
            np.testing.assert_allclose(part.numpy(), expected_part.numpy(), 1e-6)
    captured.clear()


@pytest.mark.parametrize(
    "function",
    [
        powers,
        nested,
        lambda x: wt.while_loop(lambda y, n: n < 3, lambda y, n: (y * x, n + 1), (x, 0))[0],
        lambda x: wt.while_loop(
            lambda y: wt.max(y) < 9.0, lambda y: y * 2.0 + wt.ones(2), x * [1, 2]
        ),
    ],
    ids=["powers", "nested", "around", "vector"],
)
def test_jvp_of_captured_loops(backend: str, function: Callable[..., Any], no_leak: None) -> None:
    def along(x: wt.Tensor, tangent: wt.Tensor) -> Any:
        return wt.jvp(function, [x], [tangent])

    captured = wt.function(along)
    for number in (1.5, 3.0, 20.0, 1.5):
        arguments = wt.tensor(number), wt.tensor(0.5)
        for part, expected in zip(captured(*arguments), along(*arguments), strict=True):
            np.testing.assert_allclose(part.numpy(), expected.numpy(), 1e-5)
    captured.clear()


def training(wrap: Callable[..., Any]) -> tuple[list[float], Any]:
    """Return losses and weights of a few steps through a loop whose body reads variables."""
    w = wt.Variable([[0.5, 0.1], [0.2, 0.4]], name="w")
    b = wt.Variable([0.1, 0.2], name="b")
    offset = wt.Variable(0.0, trainable=False)

    @wrap
    def step(x: wt.Tensor) -> wt.Tensor:
        offset.assign(1.0)

        def loss() -> wt.Tensor:
            last = wt.while_loop(
                lambda y: wt.max(y) < 2.0, lambda y: wt.relu(y @ w) + b + offset, x
            )
            offset.assign(100.0)  # which the loop has not seen
            return wt.mean((last - 3.0) ** 2)

        value, gradients = wt.variable_grads(loss)
        for variable in (w, b):
            variable.assign_sub(0.1 * gradients[variable.name])
        return value

    losses = [step(wt.tensor([[x, 1.0]])).item() for x in (1.0, 0.0, 0.5, 1.9, -1.0)]
    return losses, w.numpy()


def test_training_through_a_captured_loop(backend: str) -> None:
    (losses, weights), (expected, expected_weights) = training(wt.function), training(lambda f: f)
    np.testing.assert_allclose(losses, expected, 1e-5)
    np.testing.assert_allclose(weights, expected_weights, 1e-5)


def test_second_derivatives_of_captured_loops_are_refused(backend: str) -> None:
    for function in (wt.grad(wt.grad(powers)), wt.hessian(powers)):
        with pytest.raises(wt.CaptureError, match="only first derivatives flow through a loop"):
            wt.function(function)(wt.tensor(3.0))


def test_a_gradient_within_its_own_tape_is_refused(backend: str) -> None:
    @wt.function
    def second(x: wt.Tensor) -> Any:
        with wt.GradientTape(persistent=True) as tape:
            tape.watch(x)
            return tape.gradient(powers(x), x)

    with pytest.raises(wt.CaptureError, match="only first derivatives flow through a loop"):
        second(wt.tensor(3.0))


def counted(x: wt.Tensor) -> Any:
    """A loop that runs as often for each example."""
    return wt.while_loop(lambda n, _: n < 3, lambda n, y: (n + 1, y * x), (0, wt.ones(())))[1]


def singular(x: wt.Tensor) -> Any:
    """A loop whose body is not finite for an example that has left it."""
    return wt.while_loop(lambda y: y < 4.0, lambda y: y + 1.0 / (4.0 - y), x)


@captured_or_not
@pytest.mark.parametrize(
    "function, examples",
    [
        (powers, [3.0, 2.0, 100.0, 1.5]),
        (nested, [1.5, 4.0, 1.1]),
        (decay, [[0.5, 1.5, 0.7], [0.1, 0.0, 0.1], [2.0, 2.0, 9.0]]),
        (limited, [[1.0, 2.0], [3.0, 9.0], [9.0, 1.0]]),
        (counted, [1.0, 2.0, -3.0]),
        (singular, [4.0, 0.0, 3.0]),
    ],
)
def test_loops_in_batches(
    backend: str, wrap: Callable[..., Any], function: Callable[..., Any], examples: list[Any]
) -> None:
    values = wrap(wt.vmap(function))
    slopes = wrap(wt.grad(lambda x: wt.sum(wt.vmap(function)(x))))
    nest = wrap(wt.vmap(wt.vmap(function)))
    for batch in (wt.tensor(examples), wt.tensor(examples[::-1])):
        expected = [wt.value_and_grad(function)(example) for example in batch]
        expected_values, expected_slopes = (
            np.stack([part.numpy() for part in parts]) for parts in zip(*expected, strict=True)
        )
        np.testing.assert_allclose(values(batch).numpy(), expected_values, 1e-6)
        np.testing.assert_allclose(slopes(batch).numpy(), expected_slopes, 1e-5)
        np.testing.assert_allclose(nest(batch[None]).numpy()[0], expected_values, 1e-6)


def test_custom_gradients_in_loops_in_batches(backend: str) -> None:
    @wt.custom_grad
    def triple(x: wt.Tensor) -> Any:
        return x * 3.0, lambda dy: dy * 10.0

    tripled = wt.vmap(lambda x: wt.while_loop(lambda x: x < 9.0, triple, x))
    slopes = wt.grad(lambda x: wt.sum(tripled(x)))(wt.tensor([1.0, 9.0, 5.0]))
    assert slopes.tolist() == [100.0, 1.0, 10.0]


def test_gradients_of_loops_within_batched_functions_are_refused(backend: str) -> None:
    with pytest.raises(wt.CaptureError, match="outside of vmap"):
        wt.vmap(wt.grad(powers))(wt.tensor([1.5, 2.0]))


@pytest.mark.parametrize(
    "loop",
    [
        lambda x: wt.while_loop(lambda x: wt.sum(x) < 9.0, lambda x: x + float(wt.sum(x)), x),
        wt.grad(lambda y: wt.while_loop(lambda z: wt.sum(z) < 9.0, lambda z: z * y, y)),
        lambda x: wt.cond(wt.sum(x) > 1.0, lambda: x * 2.0, lambda: wt.sum(x)),
    ],
)
def test_what_need_not_be_captured_runs_on(backend: str, loop: Callable[..., Any]) -> None:
    captured = Function(loop, is_strict=False)
    for start in (2.0, 0.1, 3.0):
        x = wt.tensor([start, 1.5])
        assert captured(x).tolist() == loop(x).tolist()


def test_bad_arguments_of_while_loop(backend: str) -> None:
    with pytest.raises(TypeError, match="cond must be callable, but got 1"):
        wt.while_loop(1, lambda x: x, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="maximum_iterations must be an integer"):
        wt.while_loop(lambda x: x < 3, lambda x: x + 1, 1, maximum_iterations="a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="maximum_iterations must not be negative, but got -1"):
        wt.while_loop(lambda x: x < 3, lambda x: x + 1, 1, maximum_iterations=-1)
    with pytest.raises(ValueError, match="the condition must be a scalar"):
        wt.while_loop(lambda x: x < 3, lambda x: x + 1, wt.zeros((2,)))
    renaming = wt.function(
        lambda x: wt.while_loop(lambda v: v["a"] < 3, lambda v: {"b": v["a"] + 1}, {"a": x})
    )
    with pytest.raises(ValueError, match="must return the structure of the loop variables"):
        renaming(wt.tensor(1.0))


# -- scan ------------------------------------------------------------------------------------------


def recurrent(lib: Any, scan: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Return a small recurrent network."""

    def run(w: Any, xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            state = lib.tanh(lib.matmul(carry["state"], w) + x)
            return {"state": state, "count": carry["count"] + 1.0}, (lib.sum(state), state)

        init = {"state": lib.zeros((2, 3)), "count": lib.zeros(())}
        return scan(step, init, xs, **options)

    return run


def leaves(result: Any) -> list[Any]:
    carry, (sums, states) = result
    return [np.asarray(part) for part in (carry["state"], carry["count"], sums, states)]


@captured_or_not
@pytest.mark.parametrize("options", [{}, {"reverse": True}])
def test_scan_as_in_jax(backend: str, wrap: Callable[..., Any], options: dict[str, Any]) -> None:
    ours = wrap(recurrent(wt, wt.scan, **options))
    theirs = recurrent(jnp, jax.lax.scan, **options)
    generator = np.random.default_rng(3)
    for _ in range(2):
        w = generator.normal(size=(3, 3)).astype("float32")
        xs = generator.normal(size=(5, 2, 3)).astype("float32")
        for actual, expected in zip(
            leaves(ours(wt.tensor(w), wt.tensor(xs))), leaves(theirs(w, xs)), strict=True
        ):
            np.testing.assert_allclose(actual, expected, 1e-4, 1e-5)


@captured_or_not
def test_gradients_of_scan_as_in_jax(backend: str, wrap: Callable[..., Any]) -> None:
    def loss(lib: Any, scan: Callable[..., Any]) -> Callable[..., Any]:
        run = recurrent(lib, scan)
        return lambda w, xs: lib.sum(run(w, xs)[1][1] ** 2)

    generator = np.random.default_rng(4)
    w = generator.normal(size=(3, 3)).astype("float32")
    xs = generator.normal(size=(5, 2, 3)).astype("float32")
    gradients = wrap(wt.grads(loss(wt, wt.scan)))
    expected = jax.grad(loss(jnp, jax.lax.scan), (0, 1))(w, xs)
    for _ in range(2):
        for actual, expected_array in zip(
            gradients(wt.tensor(w), wt.tensor(xs)), expected, strict=True
        ):
            np.testing.assert_allclose(actual.numpy(), expected_array, 1e-4, 1e-4)


def test_scan_without_slices(backend: str) -> None:
    total, outputs = wt.scan(lambda c, x: (c * 2.0, None), wt.tensor(1.0), length=5)
    assert (total.item(), outputs) == (32.0, None)
    assert wt.scan(lambda c, x: (c, x), 1.0, wt.zeros((0, 2))) == (1.0, None)


@pytest.mark.parametrize("wrap", [lambda f: f, wt.function], ids=["plain", "captured"])
def test_none_in_structures_of_scan(backend: str, wrap: Callable[..., Any]) -> None:
    def step(carry: Any, part: Any) -> Any:
        assert carry[1] is part["b"] is None
        total = carry[0] + part["a"]
        return (total, None), {"total": total, "none": None}

    for _ in range(2):
        carry, outputs = wrap(lambda x: wt.scan(step, (0.0, None), {"a": x, "b": None}))([1.0, 2.0])
        assert (carry[0].item(), carry[1]) == (3.0, None)
        assert (outputs["total"].tolist(), outputs["none"]) == ([1.0, 3.0], None)


def test_bad_arguments_of_scan(backend: str) -> None:
    with pytest.raises(TypeError, match="f must be callable, but got 3"):
        wt.scan(3, 0.0, [1.0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="give xs or length"):
        wt.scan(lambda c, x: (c, x), 0.0)
    with pytest.raises(ValueError, match="unroll must be"):
        wt.scan(lambda c, x: (c, x), 0.0, wt.zeros((2,)), unroll=-1)
    with pytest.raises(ValueError, match="a first axis of the same size"):
        wt.scan(lambda c, x: (c, x), 0.0, {"a": wt.zeros((2,)), "b": wt.zeros((3,))})
    with pytest.raises(ValueError, match="a first axis of the same size"):
        wt.scan(lambda c, x: (c, x), 0.0, wt.zeros(()), length=2)
    with pytest.raises(ValueError, match="scan: length must not be negative, but got -2"):
        wt.scan(lambda c, x: (c, x), 0.0, length=-2)
    for result in (1.0, (1.0,), (1.0, 2.0, 3.0)):
        step: Any = lambda *_, result=result: result  # noqa: E731
        with pytest.raises(TypeError, match="scan: f must return a pair of a carried value and an"):
            wt.scan(step, 0.0, length=2)
    for length in (2, 4):
        with pytest.raises(ValueError, match=f"scan: length is {length}, but xs has 3 slices"):
            wt.scan(lambda c, x: (c, x), 0.0, wt.zeros((3,)), length=length)


def test_the_branch_not_taken_has_no_part_in_gradients(backend: str) -> None:
    def root(x: wt.Tensor) -> wt.Tensor:
        return wt.cond(x > 0.0, wt.sqrt, lambda x: x * 3.0, x)

    slope = wt.grad(root)
    for function in (slope, wt.function(slope)):
        assert [function(wt.tensor(x)).item() for x in (0.0, 4.0)] == [3.0, 0.25]
    x = wt.tensor([0.0, 4.0])
    assert wt.grad(lambda x: wt.sum(wt.vmap(root)(x)))(x).tolist() == [3.0, 0.25]
    assert wt.vmap(slope)(x).tolist() == [3.0, 0.25]
