"""What layers are made of: structures, variables, dtypes, settings, what is tracked."""

from __future__ import annotations

import random
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

Point = namedtuple("Point", "x y")
KINDS = ("leaf", "leaf", "list", "tuple", "dict", "OrderedDict", "defaultdict", "deque", "Point")


def structure(rng: random.Random, depth: int = 3) -> Any:
    """A random structure of numbers and None."""
    kind = rng.choice(KINDS) if depth else "leaf"
    if kind == "leaf":
        return rng.choice([None, rng.randrange(100), "text"])
    if kind == "Point":
        return Point(structure(rng, depth - 1), structure(rng, depth - 1))
    parts = [structure(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind in ("list", "tuple", "deque"):
        return {"list": list, "tuple": tuple, "deque": deque}[kind](parts)
    pairs = list(zip(rng.sample("abcd", len(parts)), parts, strict=True))
    if kind == "defaultdict":
        return defaultdict(int, pairs)
    return {"dict": dict, "OrderedDict": OrderedDict}[kind](pairs)


def outcome(call: Callable[[Any], Any], tree: Any) -> Any:
    """What a call returns, or the type of its error."""
    try:
        return call(tree)
    except (TypeError, ValueError) as error:
        return type(error)


def visits(tree: Any, nested: Any, top_down: bool) -> Any:
    """What ``traverse`` shows and what it returns, with some parts replaced."""
    seen: list[Any] = []

    def visit(node: Any) -> Any:
        seen.append(node)
        if isinstance(node, deque):
            return tree.MAP_TO_NONE
        return ("replaced",) if isinstance(node, int) and node % 2 else None

    return tree.traverse(visit, nested, top_down=top_down), seen


def test_trees_as_in_keras() -> None:
    rng = random.Random(5)
    structures = [structure(rng) for _ in range(120)]
    calls: list[Callable[[Any, Any], Any]] = [
        lambda tree, structure: tree.flatten(structure),
        lambda tree, structure: tree.flatten_with_path(structure),
        lambda tree, structure: tree.is_nested(structure),
        lambda tree, structure: tree.pack_sequence_as(
            structure, range(len(tree.flatten(structure)))
        ),
        lambda tree, structure: tree.map_structure(str, structure),
        lambda tree, structure: tree.map_structure(
            lambda leaf: leaf * 2, structure, none_is_leaf=False
        ),
        lambda tree, structure: tree.map_structure_up_to([None, None], repr, structure),
        lambda tree, structure: tree.map_shape_structure(repr, structure),
        lambda tree, structure: tree.lists_to_tuples(structure),
        lambda tree, structure: visits(tree, structure, True),
        lambda tree, structure: visits(tree, structure, False),
    ]
    for nested, call in product(structures, calls):
        results = (
            outcome(lambda tree: call(tree, nested), k.tree)  # noqa: B023
            for k in (ours, keras)
        )
        got, expected = results
        assert repr(got) == repr(expected)
    for first, second in zip(structures, [*structures[1:], structures[0]], strict=True):
        for other in (first, second):
            for name in ("assert_same_structure", "assert_same_paths"):
                got, expected = (
                    outcome(lambda tree: getattr(tree, name)(first, other), k.tree)  # noqa: B023
                    for k in (ours, keras)
                )
                assert got == expected, (name, first, other)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda tree: tree.map_structure("text", [1]), TypeError),
        (lambda tree: tree.map_structure(str), ValueError),
        (lambda tree: tree.map_structure(max, [1, 2], (1, 2)), ValueError),
        (lambda tree: tree.map_structure(max, {"a": 1}, {"b": 2}), ValueError),
        (lambda tree: tree.map_structure_up_to([1], len, 3), ValueError),
        (lambda tree: tree.pack_sequence_as([1], 1), TypeError),
        (lambda tree: tree.pack_sequence_as([1], [1, 2]), ValueError),
        (lambda tree: tree.traverse("text", [1]), TypeError),
    ],
)
def test_wrong_trees(call: Callable[[Any], Any], error: type[Exception]) -> None:
    for k in (keras, ours):
        with pytest.raises(error):
            call(k.tree)


# -- variables ---------------------------------------------------------------------------------


def test_variables_show_their_values() -> None:
    mine, theirs = (
        repr(k.Variable([[0.5, 1.0], [2.5, -3.0]], name="shown")) for k in (ours, keras)
    )
    assert mine.replace(",", "").split() == theirs.replace(",", "").split()


def test_variables_show_no_values_where_those_must_not_be_read() -> None:
    variable = ours.Variable(1.0, name="unread")
    texts = []

    @wt.function
    def captured() -> Any:
        texts.append(repr(variable))
        return variable + 1.0

    assert captured().item() == 2.0
    assert texts == ["<Variable path=unread, shape=(), dtype=float32>"]


@pytest.mark.parametrize(
    "call",
    [
        lambda v: v.assign(np.full((2, 2), 3.7)),
        lambda v: v.assign_add([[1.0, 2.0], [3.0, 4.0]]),
        lambda v: v.assign_sub(2),
        lambda v: v + np.ones((2, 2), "float32"),
        lambda v: 2 / (v + 1),
        lambda v: v**2 % 3,
        lambda v: v @ v,
        lambda v: v == 1,
        lambda v: v & (v > 1),
        lambda v: ~(v == 1) ^ (v < 3),
        lambda v: -v[0] + abs(v[1]),
        round,
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_variables_compute_as_in_keras(call: Callable[[Any], Any], dtype: str) -> None:
    variables = [k.Variable([[0.0, 1.0], [2.5, -3.0]], dtype=dtype) for k in (ours, keras)]
    got, expected = (np.asarray(call(variable)) for variable in variables)
    assert_close(got, expected, rtol=1e-6)
    np.testing.assert_allclose(variables[0].numpy(), variables[1].numpy())


def layer_without_keywords(module: Any) -> Any:
    class Layer(module.layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()

    return Layer.from_config(Layer().get_config())


@pytest.mark.parametrize(
    "call, error, says",
    [
        (
            lambda k: k.ops.slice(k.KerasTensor((2, 3)), [], (1, 1)),
            ValueError,
            "must have a number",
        ),
        (layer_without_keywords, TypeError, r"'dtype'.*Let __init__ take \*\*kwargs"),
        (lambda k: k.Variable("ones"), ValueError, "shape is missing"),
        (lambda k: k.Variable(1.0, name="a/b"), ValueError, "name must be"),
        (lambda k: k.Variable(1.0, aggregation="most"), ValueError, "aggregation must be"),
        (lambda k: bool(k.Variable(1.0)), TypeError, "neither true nor false"),
        (lambda k: float(k.Variable([1.0, 2.0])), TypeError, "rank 0"),
        (lambda k: k.Variable([1.0]).assign([1.0, 2.0]), ValueError, "shape"),
        (lambda k: setattr(k.Variable(1.0), "constraint", 3), ValueError, "constraint must be"),
        (lambda k: setattr(k.Variable(1.0), "regularizer", 3), ValueError, "regularizer must"),
        (lambda k: k.layers.Dense(2, trainable="yes"), ValueError, "trainable must be a boolean"),
        (lambda k: k.layers.Dropout(0.5)(np.ones((1, 2)), True), ValueError, "positional"),
        (lambda k: k.Input(shape=(2,), batch_shape=(1, 2)), ValueError, "not both"),
        (lambda k: k.DTypePolicy("mixed_float15"), ValueError, "no quantization"),
        (lambda k: k.DTypePolicy(3), TypeError, "name must be a string"),
        (lambda k: k.config.set_dtype_policy(None), ValueError, "policy must be"),
        (lambda k: k.config.set_floatx("int8"), ValueError, "must be one of"),
        (lambda k: k.Layer().add_weight("kernel", shape=(2,)), ValueError, "name by keyword"),
        (lambda k: k.Layer().add_weight("kernel", (2,)), ValueError, "name by keyword"),
        (lambda k: k.Layer().add_weight((2,), shape=(2,)), ValueError, "pass shape once"),
        (lambda k: k.Layer().add_weight((2,), None, None, False), TypeError, "by keyword"),
        (lambda k: k.layers.Dense.from_config({"unit": 2}), TypeError, "'units'"),
        (lambda k: k.layers.Dense.from_config({"units": -2}), TypeError, "positive integer"),
        (lambda k: k.layers.InputLayer.from_config({}), TypeError, "shape is missing"),
        (lambda k: k.random.SeedGenerator(sed=1), ValueError, "unknown argument 'sed'"),
        (lambda k: iter(k.KerasTensor((2,))), NotImplementedError, "cannot be iterated"),
        (lambda k: 1.0 in k.KerasTensor((2,)), NotImplementedError, "cannot be iterated"),
        (lambda k: len(k.KerasTensor((2,))), TypeError, "has no len"),
        *[
            (lambda k, name=name: setattr(k.KerasTensor(()), name, (2,)), AttributeError, name)
            for name in ("shape", "dtype", "sparse", "ragged", "ndim")
        ],
    ],
)
def test_what_is_wrong_is_said(
    call: Callable[[Any], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error):
        call(keras)
    with pytest.raises(error, match=says):
        call(ours)


def test_positional_arguments_of_weights() -> None:
    for module in (keras, ours):
        weight = module.Layer().add_weight((2,), "ones", "int32", name="kernel")
        assert (weight.shape, str(weight.dtype), weight.name) == ((2,), "int32", "kernel")
        assert np.asarray(weight.value).tolist() == [1, 1]


def test_weights_are_tensors_where_numpy_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, other = ours.layers.Dense(2), ours.layers.Dense(2)
    layer.build((None, 3))
    other.build((None, 3))
    kernel, bias = layer.get_weights()
    assert isinstance(kernel, np.ndarray)
    assert isinstance(bias, np.ndarray)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "numpy", None)
        weights = layer.get_weights()
        layer.set_weights([weight * 0 for weight in weights])
        other.set_weights(weights)
    assert all(isinstance(weight, wt.Tensor) for weight in weights)
    for module, expected in ((layer, np.zeros((3, 2))), (other, kernel)):
        np.testing.assert_array_equal(module.get_weights()[0], expected)


def test_stateless_calls(backend: str) -> None:
    layers = []
    for k in (ours, keras):
        layer = k.layers.BatchNormalization(gamma_regularizer="l2")
        layer.build((None, 3))
        layers.append(layer)
    x = np.random.default_rng(1).normal(size=(4, 3)).astype("float32")
    state = [np.full(3, 2.0, "float32"), np.ones(3, "float32")], [np.zeros(3), np.ones(3)]
    results = [
        layer.stateless_call(*state, x, training=True, return_losses=True) for layer in layers
    ]
    for got, expected in zip(*(ours.tree.flatten(list(result)) for result in results), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(layers[0].get_weights()[0], np.ones(3))
    mine = layers[0]

    def loss(gamma: Any) -> Any:
        return wt.sum(mine.stateless_call([gamma, state[0][1]], state[1], x)[0])

    assert_close(wt.grad(loss)(wt.ones(3)).numpy(), x.sum(0) / 1.001**0.5, rtol=1e-3)


# -- dtypes and settings -----------------------------------------------------------------------

DTYPES: list[Any] = [
    *("bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int64", "float16"),
    *("bfloat16", "float32", "float64", "complex64", int, float),
]


def test_result_types() -> None:
    for pair in product(DTYPES, DTYPES):
        assert ours.backend.result_type(*pair) == keras.backend.result_type(*pair), pair


@pytest.fixture
def policies() -> Iterator[None]:
    """Put the policies back."""
    yield
    for k in (ours, keras):
        k.config.set_dtype_policy("float32")


@pytest.mark.parametrize("name", ["mixed_float16", "bfloat16", "float64", "uint8"])
def test_policies(name: str, policies: None) -> None:
    facts = []
    for k in (ours, keras):
        k.config.set_dtype_policy(name)
        policy = k.mixed_precision.global_policy()
        layer = k.layers.Identity()
        kept = k.dtype_policies.DTypePolicyMap("float32", {"a/.*": policy})
        kept["c"] = name
        facts.append(
            [
                (policy.name, policy.compute_dtype, policy.variable_dtype, repr(policy)),
                k.dtype_policies.get(layer.get_config()["dtype"]).name,
                (kept["a/b"].name, kept["b"].name, kept.compute_dtype, len(kept)),
                (kept["c"].name, kept.pop("c", default=None).name),
                k.dtype_policies.deserialize(k.dtype_policies.serialize(kept))["a/c"].name,
                k.dtype_policies.serialize(kept),
            ]
        )
    assert facts[0] == facts[1]


def test_policies_that_are_missing() -> None:
    policies = ours.dtype_policies.DTypePolicyMap("float32")
    assert policies.pop("a", default=None) is None
    with pytest.raises(KeyError):
        policies.pop("a")
    with pytest.raises(ValueError, match="a policy or the name of one"):
        policies["a"] = ours.regularizers.L2()  # type: ignore[assignment]


def test_policies_of_users() -> None:
    class Mine(ours.DTypePolicy):
        """A policy of a user's own."""

    config = ours.dtype_policies.serialize(Mine("bfloat16"))
    with pytest.raises(ValueError, match="'Mine'"):
        ours.dtype_policies.deserialize(config)
    policy = ours.dtype_policies.deserialize(config, custom_objects={"Mine": Mine})
    assert policy == Mine("bfloat16")
    with pytest.raises(ValueError, match="malformed"):
        ours.dtype_policies.deserialize(ours.saving.serialize_keras_object(ours.regularizers.L2()))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shape": (None, 3)},
        {"ndim": 2, "axes": {-1: 3}},
        {"dtype": "float32", "min_ndim": 1, "max_ndim": 3, "optional": True},
    ],
)
def test_configurations_of_specifications(arguments: Any) -> None:
    config = ours.InputSpec(**arguments).get_config()
    assert config == keras.InputSpec(**arguments).get_config()
    assert repr(ours.InputSpec.from_config(config)) == repr(keras.InputSpec(**arguments))


@pytest.mark.parametrize(
    "arguments", [{"axes": {"a": 1}}, {"ndim": 1, "axes": {2: 3}}, {"max_ndim": 1, "axes": {1: 3}}]
)
def test_axes_of_specifications_are_checked(arguments: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as expected:
        keras.InputSpec(**arguments)
    with pytest.raises(expected.type, match=r"axes|axis"):
        ours.InputSpec(**arguments)


def test_policies_change_no_numbers() -> None:
    layer = ours.layers.Dense(2, dtype="mixed_float16", kernel_initializer="ones")
    assert layer(np.full((1, 1), 0.1)).tolist() == [[np.float32(0.1)] * 2]
    assert (layer.compute_dtype, layer.kernel.dtype) == ("float32", "float32")


def test_limits_for_trying_out() -> None:
    model = ours.Sequential([ours.Input((2,)), ours.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones((20, 2)), np.ones((20, 1))
    try:
        ours.config.set_max_epochs(2)
        ours.config.set_max_steps_per_epoch(3)
        assert model.fit(*data, batch_size=2, epochs=5, verbose=0).epoch == [0, 1]
        assert int(model.optimizer.iterations) == 6
        assert len(model.predict(data[0], batch_size=2, verbose=0)) == 6
    finally:
        ours.config.set_max_epochs(None)
        ours.config.set_max_steps_per_epoch(None)
    assert model.fit(*data, batch_size=10, epochs=3, verbose=0).epoch == [0, 1, 2]


def test_code_in_files_stays_forbidden() -> None:
    with pytest.raises(RuntimeError, match="never executed"):
        ours.config.enable_unsafe_deserialization()


# -- layers ------------------------------------------------------------------------------------


def blocks(k: Any) -> Any:
    """A layer that keeps others in containers, which it fills later."""

    class Blocks(k.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            self.before = k.Variable([1.0])
            super().__init__(name="blocks")
            self.dense: list[Any] = []
            self.norms: list[Any] = []
            self.others: dict[str, Any] = {}
            for number in range(2):
                self.dense.append(k.layers.Dense(2, name=f"dense{number}"))
                self.norms.append(k.layers.LayerNormalization(name=f"norm{number}"))
            self.others["last"] = k.layers.Dense(3, name="last")
            self.mean = k.metrics.Mean()
            self.dropout = k.layers.Dropout(0.5, seed=1)
            self.nested = [[k.layers.Dense(3, name="inner")]]
            self.nested[0].append(k.layers.Dense(3, name="more"))

        def call(self, x: Any) -> Any:
            for dense, norm in zip(self.dense, self.norms, strict=True):
                x = norm(dense(x))
            x = self.others["last"](x)
            for layer_of_list in self.nested[0]:
                x = x + layer_of_list(x)
            return x

    nested_blocks = Blocks()
    nested_blocks(np.ones((1, 2), "float32"))
    return nested_blocks


def test_layers_know_what_is_put_into_containers() -> None:
    mine, theirs = blocks(ours), blocks(keras)
    paths = [
        [weight.path.partition("/")[2] for weight in blocks_of_api.weights]
        for blocks_of_api in (mine, theirs)
    ]
    assert paths[0] == paths[1]
    for name in ("variables", "metrics_variables", "non_trainable_variables", "metrics"):
        assert len(getattr(mine, name)) == len(getattr(theirs, name)), name


def test_activity_regularizers_count_samples() -> None:
    x = np.random.default_rng(2).normal(size=(5, 3)).astype("float32")
    losses = []
    for k in (ours, keras):
        layer = k.layers.Dense(2, activity_regularizer="l2", kernel_initializer="ones")
        layer(x)
        losses.append(float(layer.losses[0]))
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_trials_leave_no_trace() -> None:
    class Counting(ours.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.count = ours.Variable(0, trainable=False)

        def call(self, x: Any) -> Any:
            self.count.assign_add(1)
            self.add_loss(wt.sum(x))
            return x

    layer = Counting()
    model = ours.Sequential([layer])
    layer(ours.Input((2,)))
    assert int(layer.count) == 0
    assert layer.losses == []
    model(np.ones((1, 2)))
    assert (int(layer.count), [float(loss) for loss in model.losses]) == (1, [2.0])


def test_operations_of_ones_own() -> None:
    configs = []
    for k in (ours, keras):

        class Scale(k.Operation):  # type: ignore[misc,name-defined]
            def __init__(self, factor: float, *, shift: float = 0.0, name: Any = None) -> None:
                super().__init__(name)
                self.factor, self.shift = factor, shift

            def call(self, x: Any) -> Any:
                return x * self.factor + self.shift

            def compute_output_spec(self, x: Any) -> Any:
                return k.KerasTensor(x.shape, x.dtype)  # noqa: B023

        scale = Scale(2.0, name="scale")
        x = k.Input((2,))
        y = scale(x)
        scale(y)
        assert scale.output is y
        assert np.asarray(k.Model(x, y)(np.ones((1, 2)))).tolist() == [[2.0, 2.0]]
        assert np.asarray(scale(np.ones(2, "float32"))).tolist() == [2.0, 2.0]
        configs.append(scale.get_config())
        assert Scale.from_config(configs[-1]).get_config() == configs[-1]
    assert configs[0] == configs[1]


@pytest.mark.parametrize("tie_weights", [True, False])
def test_embeddings_go_back(tie_weights: bool) -> None:
    config = {"input_dim": 5, "output_dim": 3, "tie_weights": tie_weights, "logit_soft_cap": 1.5}
    check(Case("ReversibleEmbedding", config, np.array([[1, 4], [0, 2]])))
    back = np.random.default_rng(3).normal(size=(2, 4, 3)).astype("float32")
    check(Case("ReversibleEmbedding", config, back, {"reverse": True}))


@pytest.mark.parametrize(
    "name, config, shape",
    [("Embedding", {"input_dim": 6, "output_dim": 4}, (2, 3))],
)
def test_low_rank_adaptation(name: str, config: dict[str, Any], shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape)).reshape(shape) % 5
    results = []
    for k in (ours, keras):
        layer = getattr(k.layers, name)(**config)
        layer.build(shape)
        layer.enable_lora(2, lora_alpha=3.0)
        rng = np.random.default_rng(4)
        layer.set_weights([rng.normal(size=weight.shape) for weight in layer.weights])
        saved: dict[str, Any] = {}
        layer.save_own_variables(saved)
        results.append(
            (
                [(weight.name, weight.trainable) for weight in layer.weights],
                {key: value for key, value in layer.get_config().items() if "lora" in key},
                np.asarray(layer(x if name == "Embedding" else x.astype("float32"))),
                {key: np.asarray(value) for key, value in saved.items()},
            )
        )
    mine, theirs = results
    assert mine[:2] == theirs[:2]
    np.testing.assert_allclose(mine[2], theirs[2], rtol=1e-4, atol=1e-5)
    assert mine[3].keys() == theirs[3].keys()
    for key, value in mine[3].items():
        np.testing.assert_allclose(value, theirs[3][key], rtol=1e-4, atol=1e-5)
