"""``wt.GradientTape``, as TensorFlow has it."""

import numpy as np
import pytest

import webtensor as wt
from tests_py.conftest import counts
from webtensor import keras

# -- gradient -----------------------------------------------------------------------------------


def test_the_gradient_of_a_watched_tensor(backend: str, no_leak: None) -> None:
    x = wt.tensor([1.0, 2.0])
    with wt.GradientTape() as tape:
        tape.watch(x)
        y = wt.sum(x * x * x)
    assert tape.gradient(y, x).tolist() == [3.0, 12.0]


def test_what_is_not_watched_has_no_gradient() -> None:
    x = wt.tensor(2.0)
    with wt.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_trainable_variables_are_watched() -> None:
    w, frozen = wt.Variable(3.0), wt.Variable(2.0, trainable=False)
    with wt.GradientTape() as tape:
        y = w * w * frozen
    assert [tape.watched_variables() == (w,)] == [True]
    gradients = tape.gradient(y, [w, frozen])
    assert gradients[0].tolist() == 12.0
    assert gradients[1] is None


def test_a_frozen_variable_can_be_watched() -> None:
    frozen = wt.Variable(2.0, trainable=False)
    with wt.GradientTape() as tape:
        tape.watch(frozen)
        y = frozen * frozen
    assert tape.watched_variables() == (frozen,)
    assert tape.gradient(y, frozen).tolist() == 4.0


def test_without_watch_accessed_variables_only_the_chosen_are_watched() -> None:
    w, v = wt.Variable(3.0), wt.Variable(2.0)
    with wt.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = w * v
    assert tape.watched_variables() == (w,)
    first, second = tape.gradient(y, (w, v))
    assert first.tolist() == 2.0
    assert second is None


def test_a_variable_that_is_assigned_to_counts_with_all_its_reads() -> None:
    w = wt.Variable(3.0)
    with wt.GradientTape() as tape:
        y = w * 2.0
        w.assign(5.0)
        y = y + w * w
    assert tape.gradient(y, w).tolist() == 12.0


def test_what_was_taken_from_a_variable_before_is_constant(backend: str, no_leak: None) -> None:
    w = wt.Variable([1.0, 2.0])
    before = w.value
    for _ in range(2):
        with wt.GradientTape() as outer:
            with wt.GradientTape() as inner:
                y = wt.sum(w * w * before)
            first = inner.gradient(y, w)
            total = wt.sum(first * w)
        assert first.tolist() == [2.0, 8.0]
        assert outer.gradient(total, w).tolist() == [4.0, 16.0]
    with wt.GradientTape() as tape:
        unread = wt.sum(before * before)
    assert tape.gradient(unread, w) is None
    _, gradients = wt.variable_grads(lambda: wt.sum(w * before), [w])
    assert gradients[w.name].tolist() == [1.0, 2.0]


def test_what_a_tape_watches_stays_the_value_of_a_variable(backend: str) -> None:
    w = keras.Variable([1.0, 2.0])

    def value(x: wt.Tensor) -> wt.Tensor:
        with keras.StatelessScope([(w, x)]):
            return wt.sum(w.value * w.value)

    def first(x: wt.Tensor) -> wt.Tensor:
        return wt.sum(wt.grad(value)(x) * x)

    assert wt.grad(value)([3.0, 4.0]).tolist() == [6.0, 8.0]
    assert wt.grad(first)([3.0, 4.0]).tolist() == [12.0, 16.0]
    assert wt.grad(lambda x: value(wt.sign(x)))([3.0, 4.0]).tolist() == [0.0, 0.0]


def test_what_was_assigned_and_taken_before_is_constant_when_captured(backend: str) -> None:
    w = wt.Variable([1.0, 2.0])

    @wt.function
    def gradient(x: wt.Tensor) -> tuple[wt.Tensor, wt.Tensor]:
        w.assign(w * x)
        before = w.value
        with wt.GradientTape() as tape:
            y = wt.sum(w * w * before)
        return tape.gradient(y, w), w + before

    for x in (1.0, 2.0, 3.0):
        now = w.numpy() * x
        slope, doubled = gradient(wt.tensor(x))
        np.testing.assert_allclose(slope.numpy(), 2 * now**2)
        np.testing.assert_allclose(doubled.numpy(), 2 * now)


def test_sources_and_targets_may_be_structures() -> None:
    w, b, unused = wt.Variable([2.0, 3.0]), wt.Variable(1.0), wt.Variable(0.0)
    with wt.GradientTape() as tape:
        y = w * 2.0 + b
        z = w * w
    gradients = tape.gradient({"y": y, "z": z}, {"w": w, "rest": [b, (unused,)]})
    assert gradients["w"].tolist() == [6.0, 8.0]
    assert gradients["rest"][0].tolist() == 2.0
    assert gradients["rest"][1] == (None,)


def test_the_backward_pass_may_start_from_given_gradients() -> None:
    x = wt.tensor([1.0, 2.0])
    for directions in ([1.0, 10.0], wt.tensor([1.0, 10.0]), [wt.tensor([1.0, 10.0])]):
        with wt.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert tape.gradient(y, x, output_gradients=directions).tolist() == [2.0, 40.0]
    with wt.GradientTape() as tape:
        tape.watch(x)
        targets = [x * x, x * 3.0]
    gradient = tape.gradient(targets, x, output_gradients=[wt.tensor([1.0, 10.0]), None])
    assert gradient.tolist() == [5.0, 43.0]


def test_unconnected_gradients_may_be_zeros() -> None:
    x, other = wt.tensor([1.0, 2.0]), wt.Variable([[1.0]])
    with wt.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    first, second = tape.gradient(y, [x, other], unconnected_gradients="zero")
    assert first.tolist() == [2.0, 4.0]
    assert second.tolist() == [[0.0]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: wt.astype(x > 1.0, "float32"),
        lambda x: wt.astype(wt.argmax(x), "float32"),
        lambda x: wt.astype(wt.astype(x, "int32"), "float32"),
        wt.zeros_like,
    ],
)
def test_step_functions_leave_sources_unconnected(function) -> None:
    x = wt.tensor([1.0, 2.0])
    with wt.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert tape.gradient(y, x) is None


def test_targets_may_be_sources_and_intermediates() -> None:
    x = wt.tensor(3.0)
    with wt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, y).tolist() == 18.0
    assert [gradient.tolist() for gradient in tape.gradient(z, [x, y, z])] == [108.0, 18.0, 1.0]
    w = wt.Variable(2.0)
    with wt.GradientTape() as tape:
        w + 0.0
    assert tape.gradient(w, w).tolist() == 1.0


def test_gradients_are_tensors_of_their_own() -> None:
    w, b = wt.Variable(1.0), wt.Variable(2.0)
    start = wt.tensor(1.0)
    with wt.GradientTape() as tape:
        y = w + b
    first, second = tape.gradient(y, [w, b], output_gradients=start)
    first.dispose()
    assert second.tolist() == start.tolist() == 1.0


# -- recording ----------------------------------------------------------------------------------


def test_a_persistent_tape_is_used_several_times() -> None:
    x = wt.tensor(3.0)
    with wt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    assert [tape.gradient(y, x).tolist() for _ in range(2)] == [6.0, 6.0]
    assert tape.gradient(z, x).tolist() == 27.0


def test_recording_may_stop_for_a_while() -> None:
    x = wt.tensor(3.0)
    with wt.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * y
        y = y + z
    assert tape.gradient(y, x).tolist() == 6.0


def test_reset_forgets() -> None:
    x, w = wt.tensor(3.0), wt.Variable(2.0)
    with wt.GradientTape() as tape:
        tape.watch(x)
        w * 1.0
        tape.reset()
        y = x * x
    assert tape.watched_variables() == ()
    assert tape.gradient(y, x) is None


def test_a_tape_may_be_entered_again_later() -> None:
    x = wt.tensor(3.0)
    with wt.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with tape:
        z = y * x
    assert tape.gradient(z, x).tolist() == 27.0


def test_gradients_within_the_block() -> None:
    x = wt.tensor(3.0)
    with wt.GradientTape() as tape:
        tape.watch(x)
        assert tape.gradient(x * x, x).tolist() == 6.0


def test_watched_variables_after_the_gradient() -> None:
    w, b = wt.Variable(1.0), wt.Variable(2.0)
    with wt.GradientTape() as tape:
        y = b * w * b
    tape.gradient(y, w)
    assert tape.watched_variables() == (b, w)


# -- higher orders ------------------------------------------------------------------------------


def test_nested_tapes_give_higher_derivatives(backend: str) -> None:
    w = wt.Variable(2.0)
    with wt.GradientTape() as third, wt.GradientTape() as second:
        with wt.GradientTape() as first:
            y = w**4
        slope = first.gradient(y, w)
        curve = second.gradient(slope, w)
    assert (slope.tolist(), curve.tolist()) == (32.0, 48.0)
    assert third.gradient(curve, w).tolist() == 48.0


def test_jacobian(backend: str) -> None:
    matrix = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    x, other = wt.tensor([1.0, 2.0, 3.0]), wt.tensor(1.0)
    with wt.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = wt.matmul(matrix, x)
    assert tape.jacobian(y, x).tolist() == matrix.tolist()
    jacobians = tape.jacobian(y, {"x": x, "other": other})
    assert jacobians["x"].shape == (2, 3)
    assert jacobians["other"] is None
    assert tape.jacobian(y, other, unconnected_gradients="zero").tolist() == [0.0, 0.0]


def test_the_jacobian_of_a_gradient_is_the_hessian() -> None:
    x = wt.tensor([1.0, 2.0])
    with wt.GradientTape() as outer:
        outer.watch(x)
        with wt.GradientTape() as inner:
            inner.watch(x)
            y = x[0] ** 2 * x[1] ** 3
        slope = inner.gradient(y, x)
    assert outer.jacobian(slope, x).tolist() == [[16.0, 24.0], [24.0, 12.0]]


def test_batch_jacobian(backend: str) -> None:
    x = np.random.default_rng(5).normal(size=(4, 3)).astype("float32")
    w = np.random.default_rng(6).normal(size=(3, 2)).astype("float32")
    operand = wt.tensor(x)
    with wt.GradientTape() as tape:
        tape.watch(operand)
        y = wt.tanh(wt.matmul(operand, w))
    expected = (1 - np.tanh(x @ w) ** 2)[:, :, None] * w.T
    jacobian = tape.batch_jacobian(y, operand)
    assert jacobian is not None
    np.testing.assert_allclose(jacobian, expected, rtol=1e-5, atol=1e-6)


def test_the_jacobian_of_nothing_has_a_shape() -> None:
    x = wt.zeros((2, 0, 3))
    with wt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
    assert tape.jacobian(y, x).shape == (2, 0, 3, 2, 0, 3)
    jacobian = tape.batch_jacobian(y, x)
    assert jacobian is not None
    assert jacobian.shape == (2, 0, 3, 0, 3)


# -- memory -------------------------------------------------------------------------------------


def test_disposed_intermediates_are_kept_for_the_backward_pass(backend: str, no_leak: None) -> None:
    x = wt.tensor([1.0, 2.0])
    with wt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wt.exp(x)
        z = wt.tidy(lambda: wt.sum(y * wt.sin(y)))
    y.dispose()
    assert y.is_disposed
    e = np.exp(np.array([1.0, 2.0], "float32"))
    expected = e * (np.sin(e) + e * np.cos(e))
    for _ in range(2):
        np.testing.assert_allclose(tape.gradient(z, x), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="disposed"):
        y.tolist()


def test_a_tape_that_is_used_up_holds_nothing(backend: str) -> None:
    x = wt.ones((1000,))
    before = counts()
    with wt.GradientTape() as tape:
        tape.watch(x)
        y = wt.sum(wt.exp(wt.sin(x)))
    gradient = tape.gradient(y, x)
    assert counts()["num_bytes"] == before["num_bytes"] + 4 + 4000
    del gradient, y


def test_a_tape_within_a_tidy() -> None:
    w = wt.Variable(3.0)
    with wt.tidy() as scope:
        with wt.GradientTape() as tape:
            y = w * w
        gradient = scope.keep(tape.gradient(y, w))
    assert y.is_disposed
    assert gradient.tolist() == 6.0


# -- with layers --------------------------------------------------------------------------------


def test_a_training_step_of_ones_own(no_leak: None) -> None:
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.01)
    x, y = wt.tensor([[1.0, 2.0], [3.0, 4.0]]), wt.tensor([[1.0], [2.0]])
    losses = []
    for _ in range(50):
        with wt.GradientTape() as tape:
            loss = keras.losses.mean_squared_error(y, model(x, training=True))
            loss = wt.mean(loss)
        grads = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(grads, model.trainable_weights, strict=True))
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 5


class WithTape(keras.Model):
    """A model whose ``train_step`` is that of Keras's guide for TensorFlow."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with wt.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


class Plain(WithTape):
    """The same with the step of the library."""

    train_step = keras.Model.train_step


def test_a_train_step_with_a_tape_learns_what_fit_does(no_leak: None) -> None:
    x = np.random.default_rng(1).normal(size=(32, 2)).astype("float32")
    y = x @ np.array([[2.0], [-1.0]], "float32")
    results = []
    for kind in (WithTape, Plain):
        model = kind()
        model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
        history = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0).history
        results.append((history["loss"], model.get_weights()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-6)
    for ours, theirs in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


# -- errors -------------------------------------------------------------------------------------


def used_up() -> None:
    w = wt.Variable(2.0)
    with wt.GradientTape() as tape:
        y = w * w
    tape.gradient(y, w)
    tape.gradient(y, w)


def entered_twice() -> None:
    with wt.GradientTape() as tape, tape:
        pass


def stopped_outside() -> None:
    with wt.GradientTape().stop_recording():
        pass


def taped(method: str, *args: object, **kwargs: object) -> object:
    with wt.GradientTape() as tape:
        pass
    return getattr(tape, method)(*args, **kwargs)


X = wt.tensor([1.0, 2.0])
ERRORS = {
    "a tape used twice": (used_up, RuntimeError, "gradient: a GradientTape that is not persistent"),
    "a tape entered twice": (entered_twice, ValueError, "the tape is still recording"),
    "a pause of what does not record": (stopped_outside, RuntimeError, "tape is not recording"),
    "a reset outside": (lambda: wt.GradientTape().reset(), RuntimeError, "reset: the tape is not"),
    "watching too early": (lambda: wt.GradientTape().watch(X), RuntimeError, "watch: the tape is"),
    "watching a number": (
        lambda: taped("watch", 3.0),
        ValueError,
        "watch: tensor must be a Tensor",
    ),
    "no target": (lambda: taped("gradient", None, X), TypeError, "gradient: target must hold"),
    "a source that is a number": (
        lambda: taped("gradient", X, [3.0]),
        TypeError,
        "gradient: sources must hold tensors or variables, but got 3.0",
    ),
    "another word for unconnected": (
        lambda: taped("gradient", X, X, unconnected_gradients="zeros"),
        ValueError,
        "gradient: unconnected_gradients must be 'none' or 'zero'",
    ),
    "an output gradient of another shape": (
        lambda: taped("gradient", X, X, output_gradients=wt.ones((3,))),
        ValueError,
        r"output_gradients must have the target's shape, \(2,\), but got \(3,\)",
    ),
    "batches that differ": (
        lambda: taped("batch_jacobian", wt.ones((2, 3)), wt.ones((3, 2))),
        ValueError,
        "batch_jacobian: the first axes",
    ),
    "a Jacobian of complex numbers": (
        lambda: taped("jacobian", wt.tensor([1j]), X),
        TypeError,
        "jacobian: what is differentiated must be real numbers",
    ),
    "Jacobians of complex numbers": (
        lambda: taped("batch_jacobian", wt.tensor([[1j]]), wt.ones((1, 2))),
        TypeError,
        "batch_jacobian: what is differentiated must be real numbers",
    ),
}


@pytest.mark.parametrize("what", ERRORS)
def test_errors(what: str) -> None:
    do, kind, message = ERRORS[what]
    with pytest.raises(kind, match=message):
        do()


def test_integers_are_not_watched() -> None:
    with wt.GradientTape() as tape, pytest.warns(UserWarning, match="floating point"):
        tape.watch(wt.tensor([1, 2]))
