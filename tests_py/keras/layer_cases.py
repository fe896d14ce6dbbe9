"""A layer of ours beside that of Keras: values, gradients, weights, shapes and configurations."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import keras
import numpy as np

import webtensor as wt
from webtensor import keras as ours
from webtensor.autodiff import loss_and_gradients
from webtensor.keras.names import forget_names
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.nest import flatten, map_structure

BACKENDS = ("numpy", "wasm")

#: A layer's name and arguments, or a function that makes it, given either ``keras`` module.
Layer = str | Callable[..., Any]


class Case(NamedTuple):
    """A layer and what it is called with.

    An input is a shape, of normal numbers, or an array; there may be a list or a dictionary of
    them. ``call`` has the other arguments of the call, among them arrays, and ``training``.
    """

    layer: Layer
    config: dict[str, Any]
    inputs: Any
    call: Mapping[str, Any] = MappingProxyType({})

    def __repr__(self) -> str:
        name = self.layer if isinstance(self.layer, str) else self.layer.__name__
        text = ", ".join(f"{key}={value}" for key, value in {**self.config, **self.call}.items())
        shapes = str(map_structure(np.shape, filled(self.inputs)))
        return f"{name}({text}) {shapes}".replace("[", "(").replace("]", ")")


class Arguments(NamedTuple):
    """What a layer is called with: the inputs, the other arguments, and ``training`` if given."""

    inputs: Any
    extra: dict[str, Any]
    training: dict[str, Any]


class Computed(NamedTuple):
    """What Keras computes; gradients are those of the sum of outputs times cotangents."""

    outputs: Sequence[Any]
    cotangents: Sequence[Any]
    gradients: Sequence[Any]
    state: Sequence[Any]


def check(case: Case, rtol: float = 2e-4, atol: float = 2e-5, seed: int = 0) -> None:
    """Compare all that can be compared, on each backend."""
    keras.utils.clear_session(free_memory=False)
    rng = np.random.default_rng(seed)
    arguments = Arguments(filled(case.inputs, rng), *without_training(case.call))
    theirs = layer_of(case, keras)
    expected_spec = called_symbolically(theirs, keras.KerasTensor, arguments)
    weights = random_weights(theirs, rng)
    theirs.set_weights(weights)
    computed = theirs_computed(theirs, arguments, rng)
    for backend in BACKENDS:
        wt.set_backend(backend)
        forget_names()
        layer = layer_of(case, ours)
        check_symbolic(layer, theirs, arguments, expected_spec)
        check_weights(layer, theirs)
        layer.set_weights(weights)
        check_computed(layer, arguments, computed, (rtol, atol))
        check_configurations(layer, theirs)


# -- what is given -----------------------------------------------------------------------------


def is_shape(value: Any) -> bool:
    """Whether it is a tuple of lengths."""
    return isinstance(value, tuple) and all(isinstance(length, int) for length in value)


def filled(inputs: Any, rng: Any = None) -> Any:
    """Put arrays where there are shapes."""
    if is_shape(inputs):
        rng = rng or np.random.default_rng(0)
        return rng.normal(0, 1, inputs).astype("float32")
    if isinstance(inputs, dict):
        return {key: filled(value, rng) for key, value in inputs.items()}
    return [filled(x, rng) for x in inputs] if isinstance(inputs, list) else inputs


def layer_of(case: Case, module: Any) -> Any:
    """Make the layer of one of the two."""
    if isinstance(case.layer, str):
        return getattr(module.layers, case.layer)(**case.config)
    return case.layer(module, **case.config)


def without_training(call: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the arguments of a call."""
    training = {key: value for key, value in call.items() if key == "training"}
    return {key: value for key, value in call.items() if key != "training"}, training


def symbol(kind: Any) -> Callable[[Any], Any]:
    """Return a function that makes symbolic tensors like arrays, of any batch size."""

    def make(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return kind((None, *value.shape[1:]), dtype=str(value.dtype))

    return make


def random_weights(layer: Any, rng: Any) -> list[Any]:
    """Other floats than those that weights begin with; variances stay positive."""
    results = []
    for weight in layer.weights:
        value = np.asarray(weight.value)
        if value.dtype == np.float32:
            value = rng.normal(0, 0.5, value.shape).astype("float32")
            if "variance" in weight.name:
                value = np.abs(value) + 0.5
        results.append(value)
    return results


# -- what is computed --------------------------------------------------------------------------


def theirs_computed(layer: Any, arguments: Arguments, rng: Any) -> Computed:
    """Return the outputs of Keras's layer, their gradients, and the state afterwards."""
    inputs, extra, training = arguments
    variables = [variable.value for variable in layer.trainable_variables]
    states = [variable.value for variable in layer.non_trainable_variables]
    tensors = map_structure(keras.ops.convert_to_tensor, inputs)
    named = {key: map_structure(as_theirs, value) for key, value in extra.items()}

    def computed(variables: Any, floats: Any) -> Any:
        remaining = iter(floats)
        called = map_structure(lambda leaf: next(remaining) if is_float(leaf) else leaf, tensors)
        result, state = layer.stateless_call(variables, states, called, **named, **training)
        return flatten(result), state

    floats = [leaf for leaf in flatten(tensors) if is_float(leaf)]
    shapes, _ = jax.eval_shape(computed, variables, floats)
    factors = [rng.normal(0, 1, shape.shape).astype("float32") for shape in shapes]

    def total(variables: Any, floats: Any) -> Any:
        outputs, state = computed(variables, floats)
        pairs = zip(outputs, factors, strict=True)
        sums = ((output * factor).sum() for output, factor in pairs if is_float(output))
        return sum(sums), (outputs, state)

    differentiated = jax.value_and_grad(total, argnums=(0, 1), has_aux=True)
    if not any(is_float(shape) for shape in shapes):
        (outputs,) = jax.jit(lambda *arrays: computed(*arrays)[:1])(variables, floats)
        return Computed(outputs, factors, [], [])
    (_, (outputs, state)), gradients = jax.jit(differentiated)(variables, floats)
    return Computed(outputs, factors, flatten(gradients), state)


def as_theirs(value: Any) -> Any:
    """Make a tensor of an array."""
    return keras.ops.convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def as_ours(value: Any) -> Any:
    """Make a tensor of an array."""
    return wt.tensor(value) if isinstance(value, np.ndarray) else value


def is_float(value: Any) -> bool:
    """Whether there are gradients."""
    return str(value.dtype) == "float32"


def check_computed(
    layer: Any, arguments: Arguments, computed: Computed, tolerances: tuple[float, float]
) -> None:
    """Compare outputs, gradients with respect to weights and inputs, and the state afterwards."""
    inputs, extra, training = arguments
    outputs, cotangents, gradients, state = computed
    operands = map_structure(
        lambda leaf: wt.Variable(leaf) if is_float(leaf) else wt.tensor(leaf), inputs
    )
    named = {key: map_structure(as_ours, argument) for key, argument in extra.items()}
    results: list[Any] = []

    def total() -> Any:
        results[:] = flatten(layer(operands, **named, **training))
        sums = [
            wt.sum(tensor * factor)
            for tensor, factor in zip(results, cotangents, strict=True)
            if is_float(tensor)
        ]
        return sum(sums[1:], sums[0]) if sums else None

    if gradients:
        pairs = loss_and_gradients("check", total, None)[1]
        by_variable = {id(variable): gradient for variable, gradient in pairs}
        sources = [
            *layer.trainable_variables,
            *(leaf for leaf in flatten(operands) if is_float(leaf)),
        ]
        for source, gradient in zip(sources, gradients, strict=True):
            slope = by_variable.get(id(source))
            same(np.zeros(source.shape) if slope is None else slope, gradient, tolerances)
    else:
        total()
    assert len(results) == len(outputs)
    for result, expected in zip(results, outputs, strict=True):
        assert result.shape == expected.shape
        assert str(result.dtype) == str(expected.dtype)
        same(result, expected, tolerances)
    own = [variable.value for variable in layer.non_trainable_variables]
    for result, expected in zip(own, state, strict=bool(state)):
        same(result, expected, tolerances)


def same(actual: Any, expected: Any, tolerances: tuple[float, float]) -> None:
    """Compare arrays."""
    rtol, atol = tolerances
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=rtol, atol=atol)


# -- what is said ------------------------------------------------------------------------------


def called_symbolically(layer: Any, kind: Any, arguments: Arguments) -> Any:
    """Return what a call with symbolic tensors of a kind returns, which builds the layer."""
    specs = map_structure(symbol(kind), arguments.inputs)
    more = {key: map_structure(symbol(kind), value) for key, value in arguments.extra.items()}
    return layer(specs, **more, **arguments.training)


def check_symbolic(layer: Any, theirs: Any, arguments: Arguments, expected: Any) -> None:
    """Compare what a call with symbolic tensors returns, and shapes."""
    symbols = called_symbolically(layer, ours.KerasTensor, arguments)
    facts = [
        [(leaf.shape, str(leaf.dtype)) for leaf in flatten(structure)]
        for structure in (symbols, expected)
    ]
    assert facts[0] == facts[1]
    inputs, extra, _ = arguments
    if not extra:
        for batch in ((), (None,)):
            shapes = map_structure(lambda spec: (*batch, *spec.shape[len(batch) :]), inputs)  # noqa: B023
            assert plain(layer.compute_output_shape(shapes)) == plain(
                theirs.compute_output_shape(shapes)
            )


def check_weights(layer: Any, theirs: Any) -> None:
    """Compare the names, shapes and order of weights."""
    for kind in ("weights", "trainable_weights", "non_trainable_weights"):
        facts = [
            [
                (variable.path, tuple(variable.shape), str(variable.dtype))
                for variable in getattr(tracked, kind)
            ]
            for tracked in (layer, theirs)
        ]
        assert facts[0] == facts[1], kind


def check_configurations(layer: Any, theirs: Any) -> None:
    """Compare configurations, and make layers of those of the other."""
    assert plain(layer.get_config()) == plain(theirs.get_config())
    mine, others = serialize_keras_object(layer), keras.saving.serialize_keras_object(theirs)
    assert plain(mine) == plain(others)
    again = deserialize_keras_object(plain(others))
    assert plain(serialize_keras_object(again)) == plain(others)
    back = keras.saving.deserialize_keras_object(plain(mine))
    assert plain(keras.saving.serialize_keras_object(back)) == plain(others)


def plain(config: Any) -> Any:
    """What is left in a file, with as many digits as float32 has: Keras rounds some factors."""
    return json.loads(json.dumps(config), parse_float=lambda text: float(np.float32(text)))
