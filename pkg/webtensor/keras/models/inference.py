"""Inference: a graph's calls, prepared for ``predict``.

What can be done once is done once. Batch normalization in inference multiplies and shifts channels,
which the weights of a product or a convolution before it do as well; activations end the kernels
before them; layers that disturb in training only are left out; and a layer with one input is called
by its ``call``, without what ``Layer.__call__`` finds out each time. The weights that were changed
are made anew when a variable was assigned to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from webtensor.engine import Tensor, Variable
from webtensor.keras import activations
from webtensor.keras.layers import Activation, BatchNormalization, Layer, ReLU
from webtensor.keras.layers.fused_activation import Product, ending
from webtensor.keras.layers.regularization import RandomLayer
from webtensor.keras.models.function import Graph
from webtensor.keras.nest import flatten
from webtensor.keras.nodes import Node
from webtensor.keras.symbols import KerasTensor
from webtensor.ops import add, multiply, reshape, rsqrt, subtract

__all__ = ["Inference"]

Compute = Callable[..., Any]


class Inference:
    """The calls of a graph, in order, each a function of earlier results."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._uses = Counter(id(one) for node in graph.nodes for one in node.inputs)
        self._uses.update(id(one) for one in graph.outputs)
        self._users = {id(one): node for node in graph.nodes for one in node.inputs}
        #: Variables whose values were made other weights of, with these values.
        self._taken: list[tuple[Variable, Tensor]] = []
        #: Inner models, which have calls of their own.
        self._inner: list[Inference] = []
        self._steps = self._prepared()

    @staticmethod
    def suits(graph: Graph) -> bool:
        """Whether a graph can be prepared: no layer in it makes masks for later ones."""
        for operation in graph.operations:
            if not isinstance(operation, Layer):
                continue
            inner = getattr(operation, "_graph", None)
            if inner is not None:
                if not Inference.suits(inner):
                    return False
            elif any(_makes_masks(one) for one in operation._flatten_layers()):
                return False
        return True

    @property
    def is_current(self) -> bool:
        """Whether the variables still have the values that weights were made of."""
        return all(variable._value is value for variable, value in self._taken) and all(
            one.is_current for one in self._inner
        )

    def run(self, values: Iterable[Any]) -> list[Any]:
        """Return the outputs for values of the inputs."""
        known = {id(one): value for one, value in zip(self._graph.inputs, values, strict=True)}
        for compute, source, target, unneeded in self._steps:
            if source is not None:
                known[target] = compute(known[source])
            else:
                for symbol, value in zip(target.outputs, compute(known), strict=True):
                    known[id(symbol)] = value
            for one in unneeded:
                del known[one]
        return [known[id(one)] for one in self._graph.outputs]

    # -- preparing ----------------------------------------------------------------------------

    def _prepared(self) -> list[tuple[Compute, int | None, Any, list[int]]]:
        done: set[int] = set()
        rows: list[tuple[Compute, list[int], Any]] = []
        given = {id(one) for one in self._graph.inputs}
        for node in self._graph.nodes:
            if id(node) in done or all(id(one) in given for one in node.outputs):
                continue
            source = _only_input(node)
            if source is None:
                rows.append((_general(node), [id(one) for one in node.inputs], node))
                continue
            layer: Any = node.operation
            product = layer.product() if hasattr(layer, "product") else None
            if product is None:
                compute, last = self._plain(layer), node
            else:
                compute, last = self._fused(product, layer, node, done)
            rows.append((compute, [id(source)], id(last.outputs[0])))
        return self._with_ends(rows)

    def _with_ends(
        self, rows: list[tuple[Compute, list[int], Any]]
    ) -> list[tuple[Compute, int | None, Any, list[int]]]:
        """Add to each step the values that nothing needs after it."""
        kept = {id(one) for one in self._graph.outputs}
        found: list[tuple[Compute, int | None, Any, list[int]]] = []
        for compute, sources, target in reversed(rows):
            is_general = isinstance(target, Node)
            made = [id(one) for one in target.outputs] if is_general else [target]
            unneeded = sorted({*sources, *made} - kept)
            kept |= {*sources, *made}
            found.append((compute, None if is_general else sources[0], target, unneeded))
        return found[::-1]

    def _plain(self, layer: Any) -> Compute:
        graph = getattr(layer, "_graph", None)
        if graph is not None:
            inner = Inference(graph)
            self._inner.append(inner)
            return lambda x: inner.run((x,))[0]
        if isinstance(layer, RandomLayer):
            return activations.linear
        if isinstance(layer, BatchNormalization):
            return self._normalization(layer)
        if type(layer).__call__ is not Layer.__call__ or not layer.built:
            return lambda x: layer(x, training=False)
        call: Compute = layer.call
        return partial(call, training=False) if layer._call_has_training_arg else call

    def _normalization(self, layer: Any) -> Compute:
        """Batch normalization by itself: a factor and an offset."""
        factor, offset, used = _of_normalization(layer)
        self._take(used)
        shape = layer._inbound_nodes[0].inputs[0].shape
        if layer.axis % len(shape) != len(shape) - 1:
            along = [1] * len(shape)
            along[layer.axis] = -1
            factor, offset = reshape(factor, along), reshape(offset, along)
        return lambda x: add(multiply(x, factor), offset)

    def _take(self, variables: Iterable[Any]) -> None:
        """Note variables whose values weights were made of."""
        self._taken += [(one, one._value) for one in variables if one is not None]

    def _fused(
        self, product: Product, layer: Any, node: Node, done: set[int]
    ) -> tuple[Compute, Node]:
        """A product together with what follows it; the last call that this stands for."""
        kernel, bias = product.kernel.value, None if product.bias is None else product.bias.value
        name, rest = ending(layer.activation)
        last, taken = node, [product.kernel, product.bias]
        if name == "linear" and rest is activations.linear:
            following = self._following(last)
            if following is not None and _normalizes(following.operation, product):
                factor, offset, used = _of_normalization(following.operation)
                kernel = product.scaled(kernel, factor)
                bias = offset if bias is None else add(multiply(bias, factor), offset)
                taken += used
                last = following
                done.add(id(last))
                following = self._following(last)
            ends = None if following is None else _as_ending(following.operation)
            if following is not None and ends is not None:
                name, last = ends, following
                done.add(id(last))
        self._take(taken)
        compute = product.compute
        if rest is activations.linear:
            return lambda x: compute(x, kernel, bias, name), last
        return lambda x: rest(compute(x, kernel, bias, name)), last

    def _following(self, node: Node) -> Node | None:
        """The only call that takes a call's output, if it takes nothing else."""
        output = id(node.outputs[0])
        if self._uses[output] != 1 or output not in self._users:
            return None
        user = self._users[output]
        return user if _only_input(user) is not None else None


def _only_input(node: Node) -> KerasTensor | None:
    """The symbolic tensor that is all a call of a layer takes, if its result is one, too."""
    if not isinstance(node.operation, Layer) or len(node.outputs) != 1:
        return None
    if len(node.args) != 1 or not isinstance(node.args[0], KerasTensor):
        return None
    if any(value is not None for name, value in node.kwargs.items() if name != "training"):
        return None
    return node.args[0]


def _general(node: Node) -> Compute:
    """A call with any arguments."""
    has_mode = getattr(node.operation, "_call_has_training_arg", False)

    def compute(known: dict[int, Any]) -> list[Any]:
        args, kwargs = node.arguments(known)
        if has_mode:
            kwargs["training"] = False
        return flatten(node.operation(*args, **kwargs))

    return compute


def _makes_masks(layer: Layer) -> bool:
    if type(layer).compute_mask is Layer.compute_mask:
        return False
    return bool(getattr(layer, "mask_zero", True))


def _normalizes(layer: Any, product: Product) -> bool:
    """Whether a layer multiplies and shifts the channels of a product."""
    if not isinstance(layer, BatchNormalization) or not product.has_channels_last:
        return False
    return layer.axis == -1 or layer.axis == len(layer._inbound_nodes[0].inputs[0].shape) - 1


def _of_normalization(layer: Any) -> tuple[Tensor, Tensor, list[Any]]:
    """The factor and the offset of batch normalization, and the variables that they come from."""
    factor = rsqrt(add(layer.moving_variance.value, layer.epsilon))
    if layer.gamma is not None:
        factor = multiply(factor, layer.gamma.value)
    offset = multiply(layer.moving_mean.value, factor)
    offset = -offset if layer.beta is None else subtract(layer.beta.value, offset)
    return factor, offset, [layer.moving_mean, layer.moving_variance, layer.gamma, layer.beta]


def _as_ending(layer: Any) -> str | None:
    """The name that kernels have for what an activation layer computes."""
    if isinstance(layer, ReLU):
        names: dict[float | None, str] = {None: "relu", 6.0: "relu6"}
        is_simple = not layer.negative_slope and not layer.threshold
        return names.get(layer.max_value) if is_simple else None
    if isinstance(layer, Activation):
        name, rest = ending(layer.activation)
        return name if rest is activations.linear else None
    return None
