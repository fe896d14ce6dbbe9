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
        given = ", ".join(f"{key}={value}" for key, value in {**self.config, **self.call}.items())
        shapes = str(map_structure(np.shape, filled(self.inputs)))
        return f"{name}({given}) {shapes}".replace("[", "(").replace("]", ")")


def check(case: Case, rtol: float = 2e-4, atol: float = 2e-5, seed: int = 0) -> None:
    """Compare all that can be compared, on each backend."""
    keras.utils.clear_session(free_memory=False)
    rng = np.random.default_rng(seed)
    inputs = filled(case.inputs, rng)
    extra, training = without_training(case.call)
    theirs = made(case, keras)
    specs = map_structure(symbol(keras.KerasTensor), inputs)
    more = {key: map_structure(symbol(keras.KerasTensor), one) for key, one in extra.items()}
    wanted_spec = theirs(specs, **more, **training)
    weights = random_weights(theirs, rng)
    theirs.set_weights(weights)
    outputs, cotangents, gradients, state = theirs_computed(theirs, inputs, extra, training, rng)
    for backend in BACKENDS:
        wt.set_backend(backend)
        forget_names()
        layer = made(case, ours)
        check_symbolic(layer, theirs, inputs, extra, training, wanted_spec)
        check_weights(layer, theirs)
        layer.set_weights(weights)
        check_computed(
            layer, inputs, extra, training, outputs, cotangents, gradients, state, (rtol, atol)
        )
        check_configurations(layer, theirs)


# -- what is given -----------------------------------------------------------------------------


def is_shape(one: Any) -> bool:
    """Whether it is a tuple of lengths."""
    return isinstance(one, tuple) and all(isinstance(length, int) for length in one)


def filled(inputs: Any, rng: Any = None) -> Any:
    """Put arrays where there are shapes."""
    if is_shape(inputs):
        rng = rng or np.random.default_rng(0)
        return rng.normal(0, 1, inputs).astype("float32")
    if isinstance(inputs, dict):
        return {key: filled(one, rng) for key, one in inputs.items()}
    return [filled(one, rng) for one in inputs] if isinstance(inputs, list) else inputs


def made(case: Case, module: Any) -> Any:
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

    def make(one: Any) -> Any:
        if not isinstance(one, np.ndarray):
            return one
        return kind((None, *one.shape[1:]), dtype=str(one.dtype))

    return make


def random_weights(layer: Any, rng: Any) -> list[Any]:
    """Other floats than those that weights begin with; variances stay positive."""
    found = []
    for weight in layer.weights:
        value = np.asarray(weight.value)
        if value.dtype == np.float32:
            value = rng.normal(0, 0.5, value.shape).astype("float32")
            if "variance" in weight.name:
                value = np.abs(value) + 0.5
        found.append(value)
    return found


# -- what is computed --------------------------------------------------------------------------


def theirs_computed(
    layer: Any, inputs: Any, extra: Any, training: dict[str, Any], rng: Any
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Outputs, numbers to multiply them with, the gradients of that, and the state afterwards."""
    variables = [variable.value for variable in layer.trainable_variables]
    states = [variable.value for variable in layer.non_trainable_variables]
    tensors = map_structure(keras.ops.convert_to_tensor, inputs)
    named = {key: map_structure(as_theirs, one) for key, one in extra.items()}

    def computed(variables: Any, floats: Any) -> Any:
        given = iter(floats)
        called = map_structure(lambda one: next(given) if is_float(one) else one, tensors)
        made, state = layer.stateless_call(variables, states, called, **named, **training)
        return flatten(made), state

    floats = [one for one in flatten(tensors) if is_float(one)]
    shapes, _ = jax.eval_shape(computed, variables, floats)
    factors = [rng.normal(0, 1, shape.shape).astype("float32") for shape in shapes]

    def total(variables: Any, floats: Any) -> Any:
        outputs, state = computed(variables, floats)
        pairs = zip(outputs, factors, strict=True)
        return sum((one * factor).sum() for one, factor in pairs if is_float(one)), (outputs, state)

    differentiated = jax.value_and_grad(total, argnums=(0, 1), has_aux=True)
    if not any(is_float(shape) for shape in shapes):
        return *jax.jit(lambda *given: computed(*given)[:1])(variables, floats), factors, [], []
    (_, (outputs, state)), gradients = jax.jit(differentiated)(variables, floats)
    return outputs, factors, flatten(gradients), state


def as_theirs(one: Any) -> Any:
    """Make a tensor of an array."""
    return keras.ops.convert_to_tensor(one) if isinstance(one, np.ndarray) else one


def as_ours(one: Any) -> Any:
    """Make a tensor of an array."""
    return wt.tensor(one) if isinstance(one, np.ndarray) else one


def is_float(one: Any) -> bool:
    """Whether there are gradients."""
    return str(one.dtype) == "float32"


def check_computed(
    layer: Any,
    inputs: Any,
    extra: Any,
    training: dict[str, Any],
    outputs: Sequence[Any],
    cotangents: Sequence[Any],
    gradients: Sequence[Any],
    state: Sequence[Any],
    tolerances: tuple[float, float],
) -> None:
    """Compare outputs, gradients with respect to weights and inputs, and the state afterwards."""
    held = map_structure(lambda one: wt.Variable(one) if is_float(one) else wt.tensor(one), inputs)
    named = {key: map_structure(as_ours, one) for key, one in extra.items()}
    found: list[Any] = []

    def total() -> Any:
        found[:] = flatten(layer(held, **named, **training))
        sums = [
            wt.sum(one * factor)
            for one, factor in zip(found, cotangents, strict=True)
            if is_float(one)
        ]
        return sum(sums[1:], sums[0]) if sums else None

    if gradients:
        pairs = loss_and_gradients("check", total, None)[1]
        by_variable = {id(variable): gradient for variable, gradient in pairs}
        sources = [*layer.trainable_variables, *(one for one in flatten(held) if is_float(one))]
        for source, gradient in zip(sources, gradients, strict=True):
            made = by_variable.get(id(source))
            same(np.zeros(source.shape) if made is None else made, gradient, tolerances)
    else:
        total()
    assert len(found) == len(outputs)
    for one, wanted in zip(found, outputs, strict=True):
        assert one.shape == wanted.shape
        assert str(one.dtype) == str(wanted.dtype)
        same(one, wanted, tolerances)
    own = [one.value for one in layer.non_trainable_variables]
    for one, wanted in zip(own, state, strict=bool(state)):
        same(one, wanted, tolerances)


def same(one: Any, wanted: Any, tolerances: tuple[float, float]) -> None:
    """Compare arrays."""
    rtol, atol = tolerances
    np.testing.assert_allclose(np.asarray(one), np.asarray(wanted), rtol=rtol, atol=atol)


# -- what is said ------------------------------------------------------------------------------


def check_symbolic(
    layer: Any, theirs: Any, inputs: Any, extra: Any, training: dict[str, Any], wanted: Any
) -> None:
    """Compare what a call with symbolic tensors returns, which builds the layer, and shapes."""
    specs = map_structure(symbol(ours.KerasTensor), inputs)
    more = {key: map_structure(symbol(ours.KerasTensor), one) for key, one in extra.items()}
    found = layer(specs, **more, **training)
    facts = [[(one.shape, str(one.dtype)) for one in flatten(given)] for given in (found, wanted)]
    assert facts[0] == facts[1]
    if not extra:
        for batch in ((), (None,)):
            shapes = map_structure(lambda one: (*batch, *one.shape[len(batch) :]), inputs)  # noqa: B023
            assert plain(layer.compute_output_shape(shapes)) == plain(
                theirs.compute_output_shape(shapes)
            )


def check_weights(layer: Any, theirs: Any) -> None:
    """Compare the names, shapes and order of weights."""
    for kind in ("weights", "trainable_weights", "non_trainable_weights"):
        facts = [
            [(one.path, tuple(one.shape), str(one.dtype)) for one in getattr(held, kind)]
            for held in (layer, theirs)
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
