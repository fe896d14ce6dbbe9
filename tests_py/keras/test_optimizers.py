"""Optimizers beside those of Keras: the same weights, state, names and configurations."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.conftest import counts
from webtensor import keras as ours

# Keras's own variables, when they are read.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

Array = np.ndarray[Any, Any]

SHAPES = ((3, 4), (4,), ())
NAMES = ("dense/kernel", "dense/bias", "scale")

#: Classes with arguments, of which each changes what a step computes.
CONFIGURATIONS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.7, "nesterov": True}),
    ("Adam", {}),
    ("Adam", {"learning_rate": 0.05, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3}),
    ("Adam", {"learning_rate": 0.02, "amsgrad": True, "beta_2": 0.5}),
    ("AdamW", {}),
    ("AdamW", {"learning_rate": 0.02, "weight_decay": 0.1, "amsgrad": True}),
    ("Adamax", {}),
    ("Adamax", {"learning_rate": 0.05, "beta_1": 0.5, "beta_2": 0.8, "epsilon": 1e-2}),
    ("Nadam", {}),
    ("Nadam", {"learning_rate": 0.03, "beta_1": 0.7, "beta_2": 0.9, "epsilon": 1e-3}),
    ("RMSprop", {}),
    ("RMSprop", {"learning_rate": 0.02, "rho": 0.7, "momentum": 0.5, "epsilon": 1e-3}),
    ("RMSprop", {"learning_rate": 0.02, "centered": True, "epsilon": 1e-2}),
    ("RMSprop", {"learning_rate": 0.01, "centered": True, "momentum": 0.8, "epsilon": 1e-2}),
    ("Adagrad", {}),
    ("Adagrad", {"learning_rate": 0.2, "initial_accumulator_value": 0.5, "epsilon": 1e-2}),
    ("Adadelta", {}),
    ("Adadelta", {"learning_rate": 1.0, "rho": 0.8, "epsilon": 1e-3}),
    ("Ftrl", {}),
    (
        "Ftrl",
        {
            "learning_rate": 0.2,
            "learning_rate_power": -0.7,
            "initial_accumulator_value": 0.3,
            "l1_regularization_strength": 0.05,
            "l2_regularization_strength": 0.1,
            "l2_shrinkage_regularization_strength": 0.2,
            "beta": 0.3,
        },
    ),
    ("Ftrl", {"learning_rate": 0.1, "learning_rate_power": 0.0}),
    ("Lion", {}),
    ("Lion", {"learning_rate": 0.02, "beta_1": 0.7, "beta_2": 0.8}),
    ("Lamb", {}),
    ("Lamb", {"learning_rate": 0.05, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3}),
    ("Adafactor", {}),
    ("Adafactor", {"learning_rate": 0.2, "beta_2_decay": -0.5, "clip_threshold": 0.5}),
    ("ScheduleFreeAdamW", {}),
    ("ScheduleFreeAdamW", {"learning_rate": 0.1, "beta_1": 0.7, "warmup_steps": 5}),
    ("Muon", {}),
    ("Muon", {"learning_rate": 0.05, "nesterov": False, "rms_rate": None, "ns_steps": 3}),
    ("Muon", {"learning_rate": 0.05, "exclude_layers": ["dense"], "adam_lr_ratio": 0.5}),
]  # fmt: skip

#: Arguments that all optimizers have.
SHARED: list[dict[str, Any]] = [
    {"weight_decay": 0.1},
    {"clipnorm": 0.5},
    {"clipvalue": 0.3},
    {"global_clipnorm": 0.8},
    {"use_ema": True, "ema_momentum": 0.7},
    {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 3},
    {"loss_scale_factor": 8.0},
]
#: Those that Keras takes long for with JAX.
ACCUMULATING: list[dict[str, Any]] = [
    {"gradient_accumulation_steps": 3},
    {"gradient_accumulation_steps": 2, "use_ema": True, "ema_overwrite_frequency": 2},
    {"gradient_accumulation_steps": 4, "clipnorm": 0.4, "weight_decay": 0.2},
]


def identified(configuration: tuple[str, dict[str, Any]]) -> str:
    name, arguments = configuration
    return f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"


def starts(seed: int = 0) -> list[Array]:
    """Weights away from zero."""
    random = np.random.default_rng(seed)
    signs = [random.choice([-1, 1], shape) for shape in SHAPES]
    return [
        (sign * random.uniform(0.5, 1.5, shape)).astype("float32")
        for sign, shape in zip(signs, SHAPES, strict=True)
    ]


def gradients(steps: int, seed: int = 1) -> Iterator[list[Array]]:
    random = np.random.default_rng(seed)
    for _ in range(steps):
        yield [np.asarray(random.normal(size=shape), "float32") for shape in SHAPES]


class Weight(wt.Variable):
    """A variable with what layers give theirs."""

    __slots__ = ("constraint", "path")

    def __init__(self, value: Array, path: str, constraint: Any = None) -> None:
        super().__init__(value, name=path.split("/")[-1])
        self.path, self.constraint = path, constraint


def our_weights(seed: int = 0) -> list[Any]:
    return [Weight(value, name) for value, name in zip(starts(seed), NAMES, strict=True)]


def their_weights(seed: int = 0) -> list[Any]:
    variables = []
    for value, name in zip(starts(seed), NAMES, strict=True):
        *scopes, last = name.split("/")
        with keras.name_scope(scopes[0]) if scopes else warnings.catch_warnings():
            variables.append(keras.Variable(value, name=last))
    return variables


def assert_same(mine: list[Any], theirs: list[Any], rtol: float = 1e-5) -> None:
    assert len(mine) == len(theirs)
    for weight, other in zip(mine, theirs, strict=True):
        assert np.allclose(weight.numpy(), other.numpy(), rtol=rtol, atol=1e-6), weight.name


def run_both(mine: Any, theirs: Any, steps: int = 10) -> tuple[list[Any], list[Any]]:
    """Take the same steps with both."""
    our_own, their_own = our_weights(), their_weights()
    for grads in gradients(steps):
        mine.apply([wt.tensor(grad) for grad in grads], our_own)
        theirs.apply([keras.ops.convert_to_tensor(grad) for grad in grads], their_own)
    return our_own, their_own


def both(name: str, arguments: dict[str, Any]) -> tuple[Any, Any]:
    return (
        getattr(ours.optimizers, name)(**arguments),
        getattr(keras.optimizers, name)(**arguments),
    )


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=identified)
def test_ten_steps_give_the_same_weights(configuration: Any) -> None:
    for backend in ("numpy", "wasm"):
        wt.set_backend(backend)
        mine, theirs = both(*configuration)
        assert_same(*run_both(mine, theirs))
        # What is remembered is a sum of what may cancel, so it has an absolute error.
        assert_same(mine.variables, theirs.variables, 1e-4)


@pytest.mark.parametrize(
    "name, arguments",
    [
        *((name, arguments) for name in ("SGD", "Adam", "Ftrl") for arguments in SHARED),
        *zip(("SGD", "Nadam", "Adam"), ACCUMULATING, strict=True),
    ],
    ids=str,
)
def test_shared_arguments_do_the_same(name: str, arguments: dict[str, Any]) -> None:
    mine, theirs = both(name, {"learning_rate": 0.05, "name": "optimizer", **arguments})
    our_own, their_own = run_both(mine, theirs)
    assert_same(our_own, their_own)
    assert_same(mine.variables, theirs.variables, 1e-4)
    assert int(mine.iterations) == int(theirs.iterations)
    mine.finalize_variable_values(our_own)
    theirs.finalize_variable_values(their_own)
    assert_same(our_own, their_own)


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=identified)
def test_names_order_and_shapes_of_variables_are_the_same(configuration: Any) -> None:
    name, arguments = configuration
    shared = {"use_ema": True, "gradient_accumulation_steps": 2, "name": "best"}
    mine, theirs = both(name, {**arguments, **shared})
    mine.build(our_weights())
    theirs.build(their_weights())
    for variable, other in zip(mine.variables, theirs.variables, strict=True):
        if not other.path.startswith("variable"):  # numbered by how many there were before
            assert (variable.name, variable.path) == (other.name, other.path)
        assert (variable.shape, str(variable.dtype)) == (other.shape, other.dtype)
        assert np.allclose(variable.numpy(), other.numpy())


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=identified)
def test_configurations_go_both_ways(configuration: Any) -> None:
    name, arguments = configuration
    shared = {"name": "best", "weight_decay": 0.25, "clipnorm": 2.0, "use_ema": True}
    mine, theirs = both(name, {**shared, **arguments})
    config = theirs.get_config()
    assert mine.get_config() == config
    assert list(mine.get_config()) == list(config)
    assert ours.optimizers.serialize(mine) == keras.optimizers.serialize(theirs)
    from_theirs = ours.optimizers.deserialize(keras.optimizers.serialize(theirs))
    assert type(from_theirs) is type(mine)
    assert from_theirs.get_config() == config
    back = getattr(keras.optimizers, name).from_config(mine.get_config())
    assert back.get_config() == config
    assert type(mine).from_config(config).get_config() == config


@pytest.mark.parametrize("name", sorted({name for name, _ in CONFIGURATIONS}))
def test_signatures_are_the_same(name: str) -> None:
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    mine, theirs = (
        [
            (parameter.name, parameter.default)
            for parameter in inspect.signature(getattr(home.optimizers, name)).parameters.values()
            if parameter.kind not in kinds
        ]
        for home in (ours, keras)
    )
    assert mine == theirs
    # Positional arguments, too, up to the name.
    names = [key for key, _ in theirs]
    arguments = [default for _, default in theirs][: names.index("name")]
    arguments[names.index("global_clipnorm")] = 0.5
    arguments.append("best")
    optimizer, expected = (getattr(home.optimizers, name)(*arguments) for home in (ours, keras))
    assert optimizer.get_config() == expected.get_config()


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=identified)
def test_state_moves_from_keras_and_goes_on(configuration: Any) -> None:
    name, arguments = configuration
    shared = {"use_ema": True, "name": "best"}
    mine, theirs = both(name, {**arguments, **shared})
    their_own = their_weights()
    for grads in gradients(3):
        theirs.apply([keras.ops.convert_to_tensor(grad) for grad in grads], their_own)
    store: dict[str, Any] = {}
    theirs.save_own_variables(store)
    our_own = [Weight(weight.numpy(), weight.path) for weight in their_own]
    mine.build(our_own)
    mine.load_own_variables(store)
    for grads in gradients(4, seed=2):
        mine.apply([wt.tensor(grad) for grad in grads])
        theirs.apply([keras.ops.convert_to_tensor(grad) for grad in grads])
    assert_same(our_own, their_own)
    store = {}
    mine.save_own_variables(store)
    back = getattr(keras.optimizers, name)(**arguments, **shared)
    back.build(their_own)
    back.load_own_variables({key: np.asarray(value) for key, value in store.items()})
    assert_same(mine.variables, back.variables)
    assert_same(mine.variables, theirs.variables, 1e-4)


# -- learning rates ----------------------------------------------------------------------------


def test_a_learning_rate_is_a_variable_that_can_be_assigned() -> None:
    for home in (ours, keras):
        optimizer = home.optimizers.SGD(0.1)
        assert float(optimizer.learning_rate) == np.float32(0.1)
        optimizer.learning_rate = 0.25
        assert optimizer.get_config()["learning_rate"] == 0.25
        optimizer.learning_rate.assign(0.001)
        assert optimizer.get_config()["learning_rate"] == 0.0010000000474974513
        assert str(optimizer.learning_rate.dtype) == "float32"
        assert optimizer.learning_rate.shape == ()
        assert float(optimizer.learning_rate * 2) == pytest.approx(0.002)
        optimizer.iterations.assign(5)
        assert int(optimizer.iterations) == 5
        assert optimizer.iterations % 5 == 0
        optimizer = home.optimizers.SGD(0.1, gradient_accumulation_steps=np.int64(2))
        assert ((optimizer.iterations + 1).shape, int(optimizer.iterations)) == ((), 0)


def test_a_number_of_the_host_computes_with_numbers_and_tensors() -> None:
    optimizer = ours.optimizers.SGD(0.5)
    rate: Any = optimizer.learning_rate
    steps: Any = optimizer.iterations
    assert (rate + 1, 1 - rate, rate / 2, 1 / rate, rate**2) == (1.5, 0.5, 0.25, 2.0, 0.25)
    assert (rate == 0.5, rate != 0.5, rate < 1, rate >= 1, rate == steps) == (
        True, False, True, False, False,
    )  # fmt: skip
    assert (rate * wt.tensor([1.0, 2.0])).tolist() == [0.5, 1.0]
    assert (wt.tensor([1.0, 2.0]) * rate).tolist() == [0.5, 1.0]
    assert (np.float32(2) * rate, rate.ndim, rate.size) == (1.0, 0, 1)
    steps.assign_add(3)
    steps.assign_sub(1)
    assert (steps // 2, int(steps), steps.value.dtype) == (1, 2, wt.int32)
    assert len({rate, steps}) == 2
    with pytest.raises(ValueError, match=r"'learning_rate' has shape \(\), but got"):
        rate.assign([1.0, 2.0])


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_a_schedule_gives_the_rate_of_each_step(name: str) -> None:
    rates = [
        home.optimizers.schedules.PolynomialDecay(0.1, 6, 0.01, power=2.0) for home in (ours, keras)
    ]
    mine = getattr(ours.optimizers, name)(rates[0], name="best", weight_decay=0.1)
    theirs = getattr(keras.optimizers, name)(rates[1], name="best", weight_decay=0.1)
    assert_same(*run_both(mine, theirs))
    assert float(mine.learning_rate) == pytest.approx(float(theirs.learning_rate))
    assert [variable.path for variable in mine.variables] == [
        variable.path for variable in theirs.variables
    ]
    assert ours.optimizers.serialize(mine) == keras.optimizers.serialize(theirs)
    back = ours.optimizers.deserialize(keras.optimizers.serialize(theirs))
    assert back.get_config() == mine.get_config()
    with pytest.raises(TypeError, match="learning_rate is a schedule or a function"):
        mine.learning_rate = 0.1


def test_a_schedule_may_take_the_place_of_a_number() -> None:
    for home in (ours, keras):
        optimizer = home.optimizers.SGD(0.1)
        optimizer.learning_rate = home.optimizers.schedules.CosineDecay(0.5, 10)
        assert [variable.name for variable in optimizer.variables] == ["iteration"]
        assert float(optimizer.learning_rate) == 0.5


def test_a_learning_rate_may_be_a_function_or_a_schedule_of_ones_own() -> None:
    class Halving(ours.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step: Any) -> Any:
            return 1.0 / 2 ** (step + 1)

    class Doubled(ours.optimizers.schedules.ExponentialDecay):
        def __call__(self, step: Any) -> Any:
            return super().__call__(step) * 2

    for rate, expected in (
        (Halving(), 1 - 0.5 - 0.25),
        (Doubled(0.25, 1, 0.5), 1 - 0.5 - 0.25),
        (lambda: 0.25, 0.5),
        (lambda: wt.tensor(0.25), 0.5),
    ):
        w = wt.Variable(1.0)
        optimizer = ours.optimizers.SGD(rate)
        for _ in range(2):
            optimizer.apply([wt.tensor(1.0)], [w])
        assert w.tolist() == expected
        assert [variable.name for variable in optimizer.variables] == ["iteration"]


# -- variables ---------------------------------------------------------------------------------


def test_variables_without_a_gradient_are_left_out_with_a_warning() -> None:
    mine, theirs = both("Adam", {"learning_rate": 0.1, "clipnorm": 0.5, "weight_decay": 0.1})
    our_own, their_own = our_weights(), their_weights()
    for grads in gradients(3):
        for optimizer, weights, make in (
            (mine, our_own, wt.tensor),
            (theirs, their_own, keras.ops.convert_to_tensor),
        ):
            some = [make(grads[0]), None, make(grads[2])]
            message = r"Gradients do not exist for variables \['dense/bias'\]"
            with pytest.warns(UserWarning, match=message):
                optimizer.apply(some, weights)
    assert_same(our_own, their_own)
    for optimizer, weights in ((mine, our_own), (theirs, their_own)):
        with pytest.raises(ValueError, match=r"(?i)no gradients provided for any variable"):
            optimizer.apply([None, None, None], weights)
        assert optimizer.apply([]) is None


def test_excluded_variables_do_not_decay() -> None:
    mine, theirs = both("AdamW", {"learning_rate": 0.1, "weight_decay": 0.5})
    our_own, their_own = our_weights(), their_weights()
    for optimizer, weights in ((mine, our_own), (theirs, their_own)):
        optimizer.exclude_from_weight_decay(var_list=[weights[2]], var_names=["bias", "gamma"])
    for grads in gradients(3):
        mine.apply([wt.tensor(grad) for grad in grads], our_own)
        theirs.apply([keras.ops.convert_to_tensor(grad) for grad in grads], their_own)
    assert_same(our_own, their_own)


def test_constraints_hold_after_each_step() -> None:
    weights = [Weight(np.array([1.0, -1.0], "float32"), "w", lambda w: wt.clip(w, -0.5, 0.5))]
    optimizer = ours.optimizers.SGD(0.1)
    optimizer.apply([wt.tensor([1.0, 1.0])], weights)
    assert weights[0].tolist() == [0.5, -0.5]
    optimizer.apply([wt.tensor([1.0, -1.0])])
    assert np.allclose(weights[0].tolist(), [0.4, -0.4])


def test_apply_gradients_takes_pairs_and_returns_the_iterations() -> None:
    for home, make in ((ours, wt.tensor), (keras, keras.ops.convert_to_tensor)):
        weights = our_weights() if home is ours else their_weights()
        optimizer = home.optimizers.Adam()
        for grads in gradients(2):
            pairs = zip(map(make, grads), weights, strict=True)
            iterations = optimizer.apply_gradients(pairs)
        assert int(iterations) == 2


@pytest.mark.parametrize(
    "step",
    [
        lambda optimizer, w: optimizer.minimize(lambda: wt.sum(w * w), True),
        lambda optimizer, w: optimizer.apply_gradients(wt.variable_grads(lambda: wt.sum(w * w))[1]),
        lambda optimizer, w: optimizer.apply_gradients([wt.ones(2)]),
        lambda optimizer, w: optimizer.apply_gradients([(w, wt.ones(2))]),
        lambda optimizer, w: optimizer.apply([wt.ones(2)], True),
    ],
)
def test_what_are_no_variables_is_said_and_leaves_the_optimizer_as_it_was(
    step: Callable[[Any, wt.Variable], Any],
) -> None:
    w, optimizer = wt.Variable([1.0, 2.0], name="weight"), ours.optimizers.SGD(1.0)
    with pytest.raises(TypeError, match=r"must be (pairs, such|a list of variables, but has) "):
        step(optimizer, w)
    optimizer.minimize(lambda: wt.sum(w), [w])
    assert w.tolist() == [0.0, 1.0]


def test_set_weights_gives_all_that_is_remembered_other_values() -> None:
    optimizer = ours.optimizers.Adam()
    with pytest.raises(ValueError, match="set_weights: the optimizer is not built"):
        optimizer.set_weights([])
    optimizer.build(our_weights())
    values = [np.full(weight.shape, index) for index, weight in enumerate(optimizer.variables)]
    optimizer.set_weights(values)
    for variable, value in zip(optimizer.variables, values, strict=True):
        assert np.array_equal(variable.numpy(), value)


def test_another_number_of_saved_variables_is_skipped_with_a_warning() -> None:
    for home in (ours, keras):
        optimizer = home.optimizers.Adam()
        with pytest.warns(UserWarning, match=r"(?i)skipping .*2 variables"):
            optimizer.load_own_variables({"0": np.int32(1)})


def test_the_loss_is_scaled() -> None:
    sgd: Any = ours.optimizers.SGD
    assert sgd().scale_loss(3.0) == 3.0
    assert sgd(loss_scale_factor=4.0).scale_loss(3.0) == 12.0
    w: Any = wt.Variable(1.0)
    optimizer = ours.optimizers.SGD(0.25, loss_scale_factor=1024.0)
    assert optimizer.minimize(lambda: w * w).tolist() == 1.0
    assert w.tolist() == 0.5


def step_without_state(optimizer: Any, grads: list[Array], weights: list[Any]) -> None:
    """Take a step in the way that Keras's loss scale needs with JAX."""
    if not optimizer.built:
        optimizer.build(weights)
    results = optimizer.stateless_apply(
        [variable.value for variable in optimizer.variables],
        [keras.ops.convert_to_tensor(grad) for grad in grads],
        [weight.value for weight in weights],
    )
    for variables, values in zip((weights, optimizer.variables), results, strict=True):
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)


def test_a_loss_scale_grows_and_shrinks() -> None:
    mine, theirs = (
        home.optimizers.LossScaleOptimizer(
            home.optimizers.Adam(0.05, name="inner"), 8.0, dynamic_growth_steps=2, name="outer"
        )
        for home in (ours, keras)
    )
    our_own, their_own = our_weights(), their_weights()
    for step, grads in enumerate(gradients(8)):
        if step in (1, 5, 6):
            grads[0][0, 0] = (np.nan, np.inf)[step % 2]
        mine.apply([wt.tensor(grad) for grad in grads], our_own)
        step_without_state(theirs, grads, their_own)
        assert_same(our_own, their_own)
        assert float(mine.scale_loss(1.0)) == float(theirs.scale_loss(1.0))
    assert_same(mine.variables, theirs.variables)
    assert [variable.path for variable in mine.variables] == [
        variable.path for variable in theirs.variables
    ]
    assert int(mine.iterations) == int(theirs.iterations) == 5
    mine.learning_rate = 0.5
    assert float(mine.inner_optimizer.learning_rate) == 0.5
    theirs.learning_rate = 0.5
    assert mine.get_config() == theirs.get_config()
    back = ours.optimizers.deserialize(keras.optimizers.serialize(theirs))
    assert back.get_config() == mine.get_config()
    store: dict[str, Any] = {}
    theirs.save_own_variables(store)
    back.build(our_own)
    back.load_own_variables(store)
    assert_same(back.variables, theirs.variables)


# -- without a trace, and values from gradients -------------------------------------------------


@pytest.mark.parametrize("name", ["SGD", "Adafactor", "Nadam", "ScheduleFreeAdamW"])
def test_a_step_without_a_trace(name: str) -> None:
    mine, theirs = both(name, {"learning_rate": 0.1, "name": "own"})
    our_own, their_own = our_weights(), their_weights()
    mine.build(our_own)
    theirs.build(their_own)
    before = [variable.numpy() for variable in (*our_own, *mine.variables)]
    grads = next(gradients(1))
    results = []
    for optimizer, weights in ((mine, our_own), (theirs, their_own)):
        weights, memory = (
            [weight.value for weight in weights],
            [variable.value for variable in optimizer.variables],
        )
        for _ in range(2):
            operands = grads if optimizer is mine else list(map(keras.ops.convert_to_tensor, grads))
            weights, memory = optimizer.stateless_apply(memory, operands, weights)
        results.append([*weights, *memory])
    for own, other in zip(*results, strict=True):
        assert np.allclose(own.numpy(), np.asarray(other), rtol=1e-5, atol=1e-6)
    for own, value in zip((*our_own, *mine.variables), before, strict=True):
        assert np.array_equal(own.numpy(), value)
    with pytest.raises(ValueError, match="trainable_variables must be one value for each of 3"):
        mine.stateless_apply(results[0][3:], grads, [])
    with pytest.raises(ValueError, match="is not built"):
        ours.optimizers.SGD().stateless_apply([], [], [])


@pytest.mark.parametrize("name", ["Adam", "Adafactor", "Muon", "ScheduleFreeAdamW"])
@pytest.mark.parametrize("steps", [None, 2])
def test_gradients_that_are_values(name: str, steps: int | None) -> None:
    arguments = {"use_ema": True, "gradient_accumulation_steps": steps, "name": "own"}
    mine, theirs = both(name, arguments)
    our_own = [ours.Variable(value, name="own") for value in starts()]
    their_own = [keras.Variable(value, name="own") for value in starts()]
    for weights in (our_own, their_own):
        weights[1].overwrite_with_gradient = True
    if name == "Adam":  # the others of Keras take no such variables
        for grads in gradients(3):
            mine.apply([wt.tensor(grad) for grad in grads], our_own)
            theirs.apply([keras.ops.convert_to_tensor(grad) for grad in grads], their_own)
            assert_same(our_own, their_own)
        assert_same(mine.variables, theirs.variables)
        return
    tensors = [wt.tensor(gradient) for gradient in next(gradients(1))]
    for _ in range(steps or 1):
        mine.apply(tensors, our_own)
    least = -np.inf if steps is None else 0  # what is added up begins with zeros
    assert np.array_equal(our_own[1].numpy(), np.maximum(tensors[1].numpy(), least))


def test_a_loss_scale_leaves_values_alone() -> None:
    weight = ours.Variable([1.0, 2.0])
    weight.overwrite_with_gradient = True
    optimizer = ours.optimizers.LossScaleOptimizer(ours.optimizers.SGD(), 8.0)
    optimizer.apply([wt.tensor([3.0, 4.0])], [weight])
    assert weight.tolist() == [3.0, 4.0]


def test_the_loss_is_finite_although_the_scale_is_too_large() -> None:
    weight = ours.Variable([1.0, 2.0])
    optimizer = ours.optimizers.LossScaleOptimizer(ours.optimizers.SGD(), 2.0**127)
    assert optimizer.minimize(lambda: wt.sum(weight * 8.0), [weight]).tolist() == 24.0
    assert (optimizer.dynamic_scale.number, weight.tolist()) == (2.0**126, [1.0, 2.0])


# -- several optimizers ------------------------------------------------------------------------


def several(home: Any, **arguments: Any) -> Any:
    """Two optimizers: one for the layer's variables, and one for the rest."""
    chosen = home.optimizers.OptimizerMap(home.optimizers.SGD(0.1, momentum=0.5, name="rest"))
    chosen["dense/.*"] = home.optimizers.Adam(0.05, name="first")
    return home.optimizers.MultiOptimizer(chosen, name="own", **arguments)


def test_each_variable_has_its_optimizer() -> None:
    mine, theirs = several(ours, loss_scale_factor=4.0), several(keras, loss_scale_factor=4.0)
    our_own, their_own = our_weights(), their_weights()
    mine.build(our_own)
    assert [optimizer.name for optimizer in mine.optimizers] == ["first", "rest"]
    for grads in gradients(3):
        mine.apply([wt.tensor(grad) for grad in grads], our_own)
        step_without_state(theirs, grads, their_own)
    assert_same(our_own, their_own)
    assert_same(mine.variables, theirs.variables)
    assert [variable.path for variable in mine.variables] == [
        variable.path for variable in theirs.variables
    ]
    assert mine.get_config() == theirs.get_config()
    assert float(mine.scale_loss(2.0)) == 8.0
    again = ours.optimizers.deserialize(keras.optimizers.serialize(theirs))
    again.build(our_own)
    again.set_weights([variable.numpy() for variable in theirs.variables])
    assert_same(again.variables, theirs.variables)
    assert keras.optimizers.deserialize(ours.optimizers.serialize(mine)).name == "own"


def test_several_optimizers_learn() -> None:
    fast: Any = wt.Variable(1.0, name="fast")
    slow: Any = wt.Variable(1.0, name="slow")
    rates = {"fast": ours.optimizers.SGD(0.25), "slow": ours.optimizers.SGD(0.125, use_ema=True)}
    optimizer = ours.optimizers.MultiOptimizer(lambda variable: rates[variable.name])
    optimizer.minimize(lambda: fast * fast + slow * slow, [fast, slow])
    assert (fast.tolist(), slow.tolist()) == (0.5, 0.75)
    slow.assign(3.0)
    optimizer.finalize_variable_values([fast, slow])
    assert slow.tolist() == 0.75
    assert int(optimizer.iterations) == int(rates["slow"].iterations) == 1
    with pytest.raises(AttributeError, match="learning_rate is that of each"):
        optimizer.learning_rate  # noqa: B018
    with pytest.raises(AttributeError, match="set learning_rate of each"):
        optimizer.learning_rate = 0.5


def test_callbacks_reach_the_rates_of_all() -> None:
    optimizer = several(ours)
    model = type("Model", (), {"optimizer": optimizer})()
    logs: dict[str, Any] = {"val_loss": 1.0}
    scheduler = ours.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    plateau = ours.callbacks.ReduceLROnPlateau(factor=0.5, patience=1)
    for callback in (scheduler, plateau):
        callback.set_model(model)
    scheduler.on_epoch_begin(0)
    scheduler.on_epoch_end(0, logs)
    rates = {"learning_rate_first": 0.025, "learning_rate_rest": 0.05}
    assert logs == pytest.approx({"val_loss": 1.0, **rates})
    for epoch in range(3):
        plateau.on_epoch_end(epoch, logs)
    assert [float(inner.learning_rate) for inner in optimizer.optimizers] == pytest.approx(
        [0.025 / 4, 0.05 / 4]
    )


def test_wrong_optimizers_among_several() -> None:
    home = ours.optimizers
    chosen = home.OptimizerMap(home.SGD())
    chosen["a.*"] = home.Adam()
    chosen[".*b"] = home.Adam()
    with pytest.raises(ValueError, match="'ab' is matched by more than one key"):
        chosen["ab"]
    for key, value, message in (
        ("a.*", home.SGD(), "has an optimizer already"),
        (3, home.SGD(), "a key must be a string"),
        ("c", "sgd", "needs an optimizer, but got 'sgd'"),
        ("c", home.LossScaleOptimizer(home.SGD()), "cannot have a LossScaleOptimizer"),
        ("c", home.MultiOptimizer(chosen), "cannot have a MultiOptimizer"),
    ):
        with pytest.raises(ValueError, match=message):
            chosen[key] = value  # type: ignore[assignment, index]
    with pytest.raises(TypeError, match="default_optimizer must be an optimizer"):
        home.OptimizerMap("sgd")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="optimizer_map must be a dictionary"):
        home.OptimizerMap(home.SGD(), [])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="optimizer_map must be an OptimizerMap or a function"):
        home.MultiOptimizer("sgd").build([])  # type: ignore[arg-type]


# -- optimizers of one's own -------------------------------------------------------------------


def test_an_optimizer_written_for_keras_works() -> None:
    def make(home: Any) -> Any:
        ops = wt if home is ours else keras.ops

        class Heavy(home.optimizers.Optimizer):  # type: ignore[misc]
            def __init__(self, learning_rate: float = 0.1, mass: float = 0.9, **kwargs: Any):
                super().__init__(learning_rate, **kwargs)
                self.mass = mass

            def build(self, variables: Any) -> None:
                if self.built:
                    return
                super().build(variables)
                self.first = self.add_optimizer_variables(variables, "first")
                self.second, self.third = self.add_optimizer_variables(
                    variables, ["second", "third"], ["zeros", "zeros"]
                )
                self.own = [
                    self.add_variable_from_reference(reference_variable=variable, name="own")
                    for variable in variables
                ]
                self.count = self.add_variable((), name="count")

            def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
                index = self._get_variable_index(variable)
                first = self.first[index]
                self.assign(first, ops.add(ops.multiply(first, self.mass), gradient))
                self.assign_add(self.second[index], first)
                self.assign_sub(variable, ops.multiply(first, learning_rate))

            def get_config(self) -> dict[str, Any]:
                return {**super().get_config(), "mass": self.mass}

        return Heavy

    mine = make(ours)(mass=0.8, name="heavy", clipvalue=0.5)
    theirs = make(keras)(mass=0.8, name="heavy", clipvalue=0.5)
    assert_same(*run_both(mine, theirs, 4))
    assert_same(mine.variables, theirs.variables)
    assert [variable.path for variable in mine.variables] == [
        variable.path for variable in theirs.variables
    ]
    assert mine.get_config() == theirs.get_config()
    custom = {"Heavy": type(mine)}
    back = ours.optimizers.deserialize(ours.optimizers.serialize(mine), custom)
    assert back.get_config() == mine.get_config()
    with pytest.raises(ValueError, match="unknown variable"):
        mine.apply([wt.tensor(1.0)], [wt.Variable(1.0)])


def test_update_step_is_missing_from_the_base_class() -> None:
    for home, make in ((ours, wt.tensor), (keras, keras.ops.convert_to_tensor)):
        weights = our_weights() if home is ours else their_weights()
        with pytest.raises(NotImplementedError):
            home.optimizers.Optimizer(0.1).apply([make(start) for start in starts()], weights)


# -- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted({name for name, _ in CONFIGURATIONS} - {"Lamb"}))
def test_names_stand_for_optimizers(name: str) -> None:
    for written in (name, name.lower(), name.upper()):
        mine, theirs = ours.optimizers.get(written), keras.optimizers.get(written)
        assert type(mine).__name__ == type(theirs).__name__ == name
    config = {"class_name": name, "config": {"learning_rate": 0.5}}
    optimizer = ours.optimizers.get(config)
    assert optimizer is not None
    assert float(optimizer.learning_rate) == 0.5


def test_what_get_takes_besides_names() -> None:
    optimizer = ours.optimizers.Adam()
    assert ours.optimizers.get(optimizer) is optimizer
    assert ours.optimizers.get(None) is None
    assert type(ours.optimizers.get("lamb")).__name__ == "Lamb"
    with pytest.raises(ValueError, match="'Adamm' is not known; did you mean 'Adam'"):
        ours.optimizers.get("Adamm")
    with pytest.raises(ValueError, match="is not an optimizer"):
        ours.optimizers.get(3)  # type: ignore[arg-type]


def test_names_are_counted() -> None:
    class Fresh(ours.optimizers.SGD):
        pass

    assert [Fresh().name, Fresh().name] == ["fresh", "fresh_1"]


# -- wrong arguments ---------------------------------------------------------------------------

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("SGD", {"learning_rate": "fast"}, "SGD: learning_rate must be a non-negative number"),
    ("SGD", {"learning_rate": True}, "SGD: learning_rate must be a non-negative number"),
    ("SGD", {"momentum": 1.5}, r"SGD: momentum must be in \[0, 1\], but got 1.5"),
    ("SGD", {"momentum": "much"}, "SGD: momentum must be a non-negative number, but got 'much'"),
    ("SGD", {"mass": 1}, "SGD: argument.* not recognized: .*mass"),
    ("Adam", {"clipnorm": 1.0, "clipvalue": 1.0}, "Adam: only one of clipnorm, clipvalue"),
    ("Adam", {"use_ema": True, "ema_momentum": 2.0}, r"ema_momentum must be in \[0, 1\]"),
    ("Adam", {"use_ema": True, "ema_overwrite_frequency": 0.5}, "ema_overwrite_frequency must"),
    ("Adam", {"gradient_accumulation_steps": 1}, "gradient_accumulation_steps must be an integer"),
    ("AdamW", {"weight_decay": None}, "AdamW: weight_decay must be a number, but got None"),
    ("Ftrl", {"initial_accumulator_value": -1.0}, "initial_accumulator_value must be"),
    ("Ftrl", {"learning_rate_power": 0.5}, "learning_rate_power must be negative or zero"),
    ("Ftrl", {"l1_regularization_strength": -1.0}, "l1_regularization_strength must be"),
    ("Ftrl", {"l2_regularization_strength": -1.0}, "l2_regularization_strength must be"),
    (
        "LossScaleOptimizer",
        {"inner_optimizer": "adam"},
        "inner_optimizer must be an optimizer, but got 'adam'",
    ),
    (
        "LossScaleOptimizer",
        {"inner_optimizer": ours.optimizers.SGD(), "clipnorm": 1.0},
        "LossScaleOptimizer: clipnorm is not supported",
    ),
    (
        "LossScaleOptimizer",
        {"inner_optimizer": ours.optimizers.SGD(), "dynamic": False},
        "LossScaleOptimizer: dynamic must be True",
    ),
    ("Lion", {"beta_1": 0.0}, r"Lion: beta_1 must be in \(0, 1\], but got 0.0"),
]


@pytest.mark.parametrize(
    "name, arguments, message", WRONG, ids=["-".join([row[0], *row[1]]) for row in WRONG]
)
def test_wrong_arguments_are_refused(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(ours.optimizers, name)(**arguments)
    if "momentum" not in arguments:  # of text, Keras has a TypeError
        with pytest.raises((ValueError, TypeError, AttributeError)):
            getattr(keras.optimizers, name)(**arguments)


def test_weight_decay_must_be_a_number() -> None:
    with pytest.raises(ValueError, match="SGD: weight_decay must be a number or None, but got 'x'"):
        ours.optimizers.SGD(weight_decay="x")  # type: ignore[arg-type]


def test_decay_is_ignored_with_a_warning() -> None:
    for home in (ours, keras):
        with pytest.warns(UserWarning, match=r"decay.* is no longer supported"):
            home.optimizers.SGD(decay=0.1)


def test_wrong_calls_are_refused() -> None:
    optimizer = ours.optimizers.SGD()
    with pytest.raises(ValueError, match="trainable_variables is missing"):
        optimizer.apply([wt.tensor(1.0)])
    with pytest.raises(TypeError, match="SGD: variable 'count' must be float32, but is int32"):
        optimizer.build([wt.Variable(1, name="count")])
    w = wt.Variable(1.0, name="w")
    optimizer = ours.optimizers.SGD(use_ema=True)
    optimizer.build([w])
    with pytest.raises(ValueError, match="1 gradients and 2 variables"):
        optimizer.apply([wt.tensor(1.0)], [w, w])
    with pytest.raises(ValueError, match="unknown variable 'other'"):
        optimizer.apply([wt.tensor(1.0)], [wt.Variable(1.0, name="other")])
    with pytest.raises(ValueError, match="var_list has 0 variables, but the optimizer was"):
        optimizer.finalize_variable_values([])
    with pytest.raises(ValueError, match="initializer must be one for each name"):
        optimizer.add_optimizer_variables([w], ["a", "b"], ["zeros"])


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=identified)
def test_memory_stays_flat_also_in_a_tidy(configuration: Any, no_leak: None) -> None:
    name, arguments = configuration
    shared = {"use_ema": True, "gradient_accumulation_steps": 2, "global_clipnorm": 1.0}
    optimizer = getattr(ours.optimizers, name)(**arguments, **shared)
    weights = our_weights()
    grads = [wt.tensor(start) for start in starts(3)]
    for _ in range(4):  # at first averages share their elements with weights
        optimizer.apply(grads, weights)
    before = counts()
    for _ in range(4):
        with wt.tidy():
            optimizer.apply(grads, weights)
    assert counts() == before
    del optimizer, weights, grads


def test_a_step_reads_nothing_from_the_device(backend: str, monkeypatch: Any) -> None:
    weights = our_weights()
    grads = [[wt.tensor(gradient) for gradient in row] for row in gradients(4)]
    own_variables = [
        getattr(ours.optimizers, name)(
            **{"learning_rate": ours.optimizers.schedules.CosineDecay(0.1, 10), **arguments},
            use_ema=True, ema_overwrite_frequency=2, gradient_accumulation_steps=2, clipnorm=1.0,
        )
        for name, arguments in CONFIGURATIONS
    ]  # fmt: skip

    def refuse(*_: Any) -> None:
        raise AssertionError("a step reads")

    active = wt.backend()
    monkeypatch.setattr(type(active), "read", refuse)
    for optimizer in own_variables:
        for row in grads:
            optimizer.apply(row, weights)
    with pytest.raises(AssertionError, match="a step reads"):
        weights[0].tolist()
