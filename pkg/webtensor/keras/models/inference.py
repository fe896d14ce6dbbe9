"""Inference: the calls of a graph, optimized for ``predict``.

Batch normalization after a matrix product or a convolution is folded into the weights of these, and
an activation after them is applied by their kernels. Layers that only act in training, such as
dropout, are left out. Layers with one input are called by ``call``, without the checks of
``Layer.__call__``. When a variable is assigned to, the folded weights are computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeGuard, runtime_checkable

from webtensor.engine import Tensor, Variable
from webtensor.keras import activations
from webtensor.keras.layers import Activation, BatchNormalization, Layer, ReLU
from webtensor.keras.layers.fused_activation import Product, ending
from webtensor.keras.layers.regularization import RandomLayer
from webtensor.keras.models.function import Graph
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.symbols import KerasTensor
from webtensor.nest import flatten
from webtensor.ops import add, multiply, reshape, rsqrt, subtract

__all__ = ["Inference"]

Compute: TypeAlias = Callable[[Any], Any]


@runtime_checkable
class _ProductLayer(Protocol):
    """A layer that computes a product with its weights and applies an activation."""

    activation: Callable[..., Tensor]

    def product(self) -> Product | None:
        """Return the product, or None where the layer cannot tell it apart."""


class _Step(NamedTuple):
    """A computation, with its inputs and outputs by the ids of their symbolic tensors.

    ``compute`` takes the value of ``source`` and returns that of the only output; where ``source``
    is None, it takes all values by id and returns a list of outputs.
    """

    compute: Compute
    source: int | None
    inputs: Sequence[int]
    outputs: Sequence[int]
    #: The inputs and outputs that no later step needs.
    unneeded: Sequence[int] = ()


class Inference:
    """The steps that compute the outputs of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._use_counts = Counter(id(symbol) for node in graph.nodes for symbol in node.inputs)
        self._use_counts.update(id(symbol) for symbol in graph.outputs)
        self._users = {id(symbol): node for node in graph.nodes for symbol in node.inputs}
        #: The variables that folded weights were computed from, with their values at that time.
        self._folded_variables: list[tuple[Variable, Tensor]] = []
        #: The models inside, which have steps of their own.
        self._inner: list[Inference] = []
        self._steps = self._planned_steps()

    @staticmethod
    def supports(graph: Graph) -> bool:
        """Whether a graph has no layer that makes masks, which ``call`` would not pass on."""
        for operation in graph.operations:
            if not isinstance(operation, Layer):
                continue
            inner_graph = getattr(operation, "_graph", None)
            if inner_graph is not None:
                if not Inference.supports(inner_graph):
                    return False
            elif any(_makes_masks(layer) for layer in operation._flatten_layers()):
                return False
        return True

    @property
    def is_current(self) -> bool:
        """Whether the variables still have the values that folded weights were computed from."""
        return all(variable._value is value for variable, value in self._folded_variables) and all(
            inner.is_current for inner in self._inner
        )

    def run(self, values: Iterable[object]) -> list[Any]:
        """Return the values of the outputs for values of the inputs."""
        computed = {
            id(symbol): value for symbol, value in zip(self._graph.inputs, values, strict=True)
        }
        for compute, source, _, outputs, unneeded in self._steps:
            if source is not None:
                computed[outputs[0]] = compute(computed[source])
            else:
                computed.update(zip(outputs, compute(computed), strict=True))
            for symbol_id in unneeded:
                del computed[symbol_id]
        return [computed[id(symbol)] for symbol in self._graph.outputs]

    # -- planning -----------------------------------------------------------------------------

    def _planned_steps(self) -> list[_Step]:
        fused: set[int] = set()
        steps: list[_Step] = []
        input_ids = {id(symbol) for symbol in self._graph.inputs}
        for node in self._graph.nodes:
            if id(node) in fused or all(id(symbol) in input_ids for symbol in node.outputs):
                continue
            source = _only_input(node)
            if source is None:
                inputs, outputs = (
                    [id(symbol) for symbol in symbols] for symbols in (node.inputs, node.outputs)
                )
                steps.append(_Step(_general_call(node), None, inputs, outputs))
                continue
            layer = node.operation
            if isinstance(layer, _ProductLayer) and (product := layer.product()) is not None:
                compute, last = self._fused_product(product, layer, node, fused)
            else:
                compute, last = self._layer_call(layer), node
            steps.append(_Step(compute, id(source), [id(source)], [id(last.outputs[0])]))
        return self._with_unneeded(steps)

    def _with_unneeded(self, steps: list[_Step]) -> list[_Step]:
        """Add to each step the values that no later step needs."""
        needed = {id(symbol) for symbol in self._graph.outputs}
        completed = []
        for step in reversed(steps):
            used = {*step.inputs, *step.outputs}
            completed.append(step._replace(unneeded=sorted(used - needed)))
            needed |= used
        return completed[::-1]

    def _layer_call(self, layer: Operation) -> Compute:
        """Return the call of a layer with one input."""
        graph = getattr(layer, "_graph", None)
        if graph is not None:
            inner = Inference(graph)
            self._inner.append(inner)
            return lambda x: inner.run((x,))[0]
        if isinstance(layer, RandomLayer):
            return activations.linear
        if isinstance(layer, BatchNormalization):
            return self._normalization(layer)
        if (
            not isinstance(layer, Layer)
            or type(layer).__call__ is not Layer.__call__
            or not layer.built
        ):
            return lambda x: layer(x, training=False)
        call: Callable[..., Any] = layer.call
        return partial(call, training=False) if layer._call_has_training_arg else call

    def _normalization(self, layer: BatchNormalization) -> Compute:
        """Return batch normalization as a multiplication and an addition."""
        factor, offset, variables = _folded_normalization(layer)
        self._add_folded(variables)
        axis, rank = _normalized_axis(layer)
        if axis != rank - 1:
            shape = [1] * rank
            shape[axis] = -1
            factor, offset = reshape(factor, shape), reshape(offset, shape)
        return lambda x: add(multiply(x, factor), offset)

    def _add_folded(self, variables: Iterable[Variable | None]) -> None:
        self._folded_variables += [
            (variable, variable._value) for variable in variables if variable is not None
        ]

    def _fused_product(
        self, product: Product, layer: _ProductLayer, node: Node, fused: set[int]
    ) -> tuple[Compute, Node]:
        """Return a product fused with the calls after it, and the last of these calls.

        The calls that are fused are added to ``fused``.
        """
        kernel, bias = product.kernel.value, None if product.bias is None else product.bias.value
        name, remaining = ending(layer.activation)
        last = node
        variables: list[Variable | None] = [product.kernel, product.bias]
        if name == "linear" and remaining is activations.linear:
            following = self._following(last)
            if following is not None and _normalizes(following.operation, product):
                factor, offset, used = _folded_normalization(following.operation)
                kernel = product.scaled(kernel, factor)
                bias = offset if bias is None else add(multiply(bias, factor), offset)
                variables += used
                last = following
                fused.add(id(last))
                following = self._following(last)
            activation = None if following is None else _kernel_activation(following.operation)
            if following is not None and activation is not None:
                name, last = activation, following
                fused.add(id(last))
        self._add_folded(variables)
        compute = product.compute
        if remaining is activations.linear:
            return lambda x: compute(x, kernel, bias, name), last
        return lambda x: remaining(compute(x, kernel, bias, name)), last

    def _following(self, node: Node) -> Node | None:
        """Return the only call that takes a call's output, if it takes nothing else."""
        output = id(node.outputs[0])
        if self._use_counts[output] != 1 or output not in self._users:
            return None
        user = self._users[output]
        return user if _only_input(user) is not None else None


def _only_input(node: Node) -> KerasTensor | None:
    """Return the only argument of a layer's call with one output, if it is a symbolic tensor."""
    if not isinstance(node.operation, Layer) or len(node.outputs) != 1:
        return None
    if len(node.args) != 1 or not isinstance(node.args[0], KerasTensor):
        return None
    if any(value is not None for name, value in node.kwargs.items() if name != "training"):
        return None
    return node.args[0]


def _general_call(node: Node) -> Callable[[dict[int, Any]], list[Any]]:
    """Return a call with any arguments, which takes all values by id."""
    takes_training = getattr(node.operation, "_call_has_training_arg", False)

    def compute(values: dict[int, Any]) -> list[Any]:
        args, kwargs = node.arguments(values)
        if takes_training:
            kwargs["training"] = False
        return flatten(node.operation(*args, **kwargs))

    return compute


def _makes_masks(layer: Layer) -> bool:
    if type(layer).compute_mask is Layer.compute_mask:
        return False
    return bool(getattr(layer, "mask_zero", True))


def _normalized_axis(layer: BatchNormalization) -> tuple[int, int]:
    """Return the axis of batch normalization, as a non-negative integer, and the input's rank."""
    rank = len(layer._inbound_nodes[0].inputs[0].shape)
    return layer.axis % rank, rank


def _normalizes(layer: Operation, product: Product) -> TypeGuard[BatchNormalization]:
    """Whether a layer is batch normalization of the channels of a product."""
    if not isinstance(layer, BatchNormalization) or not product.has_channels_last:
        return False
    axis, rank = _normalized_axis(layer)
    return axis == rank - 1


def _folded_normalization(
    layer: BatchNormalization,
) -> tuple[Tensor, Tensor, list[Variable | None]]:
    """Return the factor and the offset of batch normalization, and the variables used."""
    factor = rsqrt(add(layer.moving_variance.value, layer.epsilon))
    if layer.gamma is not None:
        factor = multiply(factor, layer.gamma.value)
    offset = multiply(layer.moving_mean.value, factor)
    offset = -offset if layer.beta is None else subtract(layer.beta.value, offset)
    return factor, offset, [layer.moving_mean, layer.moving_variance, layer.gamma, layer.beta]


def _kernel_activation(layer: Operation) -> str | None:
    """Return the name by which kernels apply what an activation layer computes, or None."""
    if isinstance(layer, ReLU):
        names: dict[float | None, str] = {None: "relu", 6.0: "relu6"}
        is_plain = not layer.negative_slope and not layer.threshold
        return names.get(layer.max_value) if is_plain else None
    if isinstance(layer, Activation):
        name, remaining = ending(layer.activation)
        return name if remaining is activations.linear else None
    return None
