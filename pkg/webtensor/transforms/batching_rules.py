"""What primitives do with a batch of operands: one line for each family of kernels.

A kernel knows its work by a geometry, which is among the attributes of the primitive. For a batch
of operands the geometry is another one: more rows, a further axis in front, more images.
A primitive without a rule, or whose operands are batched otherwise than the rule expects, is
computed for one example after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from webtensor.engine import Primitive, Tensor, run
from webtensor.ops import broadcast_to, permute_dims, reshape, stack, zeros
from webtensor.programs.recording import RecordedCall
from webtensor.shapes import Shape, prod

__all__ = ["Operand", "batched", "one_by_one"]


class Operand(NamedTuple):
    """An operand: of one example, or of a batch of them along the first axis."""

    tensor: Tensor
    is_batched: bool

    def batched(self, count: int) -> Tensor:
        """Return the tensor for a batch of ``count`` examples."""
        x = self.tensor
        return x if self.is_batched else broadcast_to(x, (count, *x.shape))


class _Call(NamedTuple):
    """A call for a batch of ``examples`` examples."""

    primitive: Primitive
    operands: Sequence[Operand]
    shape: Shape
    attributes: tuple[Any, ...]
    examples: int

    def run(self, tensors: Sequence[Tensor], shape: Shape, dtype: Any, *attributes: Any) -> Tensor:
        """Compute the primitive for other shapes."""
        return run(self.primitive, tuple(tensors), shape, dtype, *attributes)

    @property
    def batched_shape(self) -> Shape:
        """The shape of the batch's result."""
        return (self.examples, *self.shape)

    def batched(self, operand: Operand) -> Tensor:
        """Return an operand as a batch."""
        return operand.batched(self.examples)

    def aligned(self, operand: Operand) -> Tensor:
        """Return an operand so that it broadcasts with the batch's result."""
        x = operand.tensor
        if not operand.is_batched:
            return x
        missing = len(self.shape) - (len(x.shape) - 1)
        return reshape(x, (x.shape[0], *(1,) * missing, *x.shape[1:])) if missing else x

    def shares(self, *positions: int) -> bool:
        """Whether the operands at these positions are the same for all examples."""
        return not any(self.operands[position].is_batched for position in positions)


#: Returns the result of a call for a batch, or None where the rule does not hold.
Rule: TypeAlias = Callable[[_Call, Any], Tensor | None]


def _elementwise(call: _Call, dtype: Any) -> Tensor:
    tensors = map(call.batched, call.operands)
    return call.run([*tensors], call.batched_shape, dtype, *call.attributes)


def _broadcasting(call: _Call, dtype: Any) -> Tensor:
    tensors = map(call.aligned, call.operands)
    return call.run([*tensors], call.batched_shape, dtype, *call.attributes)


def _more_rows(position: int, shared: int = 0) -> Rule:
    """Return the rule of kernels that go through rows, of whose number attribute ``position`` is.

    The last ``shared`` operands must be the same for all examples.
    """

    def rule(call: _Call, dtype: Any) -> Tensor | None:
        first = len(call.operands) - shared
        if not call.shares(*range(first, len(call.operands))):
            return None
        attributes = list(call.attributes)
        attributes[position] *= call.examples
        tensors = [call.batched(operand) for operand in call.operands[:first]]
        tensors += [operand.tensor for operand in call.operands[first:]]
        return call.run(tensors, call.batched_shape, dtype, *attributes)

    return rule


def _moments(call: _Call, dtype: Any) -> Tensor:
    """Means and variances come one after the other, before the batch."""
    outer, *others = call.attributes
    shape = (call.shape[0], call.examples, *call.shape[1:])
    moments = call.run(
        [call.batched(call.operands[0])], shape, dtype, outer * call.examples, *others
    )
    return permute_dims(moments, [1, 0, *range(2, len(shape))])


def _strided(call: _Call, dtype: Any) -> Tensor | None:
    strides, offset, *others = call.attributes
    x = call.aligned(call.operands[0])
    if call.primitive.name == "slice":
        starts, steps = others
        others = [(0, *starts), (1, *steps)]
    elif call.primitive.name == "permute_dims":
        others = [(0, *(axis + 1 for axis in others[0]))]
    elif others:
        return None
    strides = (prod(x.shape[1:]), *strides)
    return call.run([x], call.batched_shape, dtype, strides, offset, *others)


def _pad(call: _Call, dtype: Any) -> Tensor:
    low, step, value = call.attributes
    x = call.batched(call.operands[0])
    return call.run([x], call.batched_shape, dtype, (0, *low), (1, *step), value)


def _matmul(call: _Call, dtype: Any) -> Tensor | None:
    sizes, *epilogue = call.attributes
    a, b, *others = call.operands
    has_one_left_matrix = sizes.batch == 1 and not sizes.transpose_a and not sizes.a_batched
    if has_one_left_matrix and call.shares(*range(1, len(call.operands))):
        more = sizes._replace(m=call.examples * sizes.m)
        tensors = [operand.tensor for operand in call.operands]
        return call.run(tensors, call.batched_shape, dtype, more, *epilogue)
    if others:
        return None
    batch = call.examples * sizes.batch
    full = sizes._replace(batch=batch, a_batched=True, b_batched=True)
    matrices = (sizes.k, sizes.m) if sizes.transpose_a else (sizes.m, sizes.k)
    x = _matrices(call, a, sizes.batch, sizes.a_batched, matrices)
    matrices = (sizes.n, sizes.k) if sizes.transpose_b else (sizes.k, sizes.n)
    y = _matrices(call, b, sizes.batch, sizes.b_batched, matrices)
    result = call.run([x, y], (batch, sizes.m, sizes.n), dtype, full)
    return reshape(result, call.batched_shape)


def _matrices(
    call: _Call, operand: Operand, batch: int, has_batch: bool, shape: tuple[int, int]
) -> Tensor:
    """Return the matrices of an operand, one for each product of the batch."""
    own = reshape(
        operand.tensor,
        (call.examples if operand.is_batched else 1, batch if has_batch else 1, *shape),
    )
    return reshape(
        broadcast_to(own, (call.examples, batch, *shape)), (call.examples * batch, *shape)
    )


def _more_images(images: int) -> Rule:
    """Return the rule of kernels on images: those of all examples are one batch.

    The first ``images`` operands are images; the others must be the same for all examples.
    """

    def rule(call: _Call, dtype: Any) -> Tensor | None:
        if not call.shares(*range(images, len(call.operands))):
            return None
        window, *others = call.attributes
        tensors = [
            reshape(images_of_each, (-1, *images_of_each.shape[2:]))
            for images_of_each in map(call.batched, call.operands[:images])
        ]
        tensors += [operand.tensor for operand in call.operands[images:]]
        window = window._replace(batch=call.examples * window.batch)
        shape = (call.examples * call.shape[0], *call.shape[1:])
        return reshape(call.run(tensors, shape, dtype, window, *others), call.batched_shape)

    return rule


#: By kernel.
_RULES: dict[str, Rule] = {
    "arg_reduce": _more_rows(1),
    "avg_pool": _more_images(1),
    "avg_pool_gradient": _more_images(1),
    "binary": _broadcasting,
    "cast": _elementwise,
    "concat": _more_rows(0),
    "conv2d": _more_images(1),
    "conv2d_input_gradient": _more_images(1),
    "depthwise_conv2d": _more_images(1),
    "depthwise_conv2d_input_gradient": _more_images(1),
    "gather": _more_rows(0, shared=1),
    "joint": _elementwise,
    "log_softmax": _more_rows(0),
    "matmul": _matmul,
    "max_pool": _more_images(1),
    "max_pool_pick": _more_images(2),
    "max_pool_scatter": _more_images(2),
    "moments": _moments,
    "normalize": _more_rows(0, shared=3),
    "pad": _pad,
    "reduce": _more_rows(1),
    "resize_bilinear": _more_images(1),
    "resize_bilinear_gradient": _more_images(1),
    "resize_nearest": _more_images(1),
    "resize_nearest_gradient": _more_images(1),
    "scan": _more_rows(3),
    "softmax": _more_rows(0),
    "strided": _strided,
    "ternary": _broadcasting,
    "topk": _more_rows(0),
    "unary": _elementwise,
    "window_sum": _more_rows(0),
}


def batched(
    recorded: RecordedCall,
    operands: Sequence[Operand],
    attributes: tuple[Any, ...],
    count: int,
) -> Tensor:
    """Return the results of a call for a batch of ``count`` examples, along the first axis."""
    _, shape, dtype = recorded.output
    rule = _RULES.get(recorded.primitive.kernel)
    if rule is not None:
        result = rule(_Call(recorded.primitive, operands, shape, attributes, count), dtype)
        if result is not None:
            return result
    return one_by_one(recorded, operands, [attributes] * count)


def one_by_one(
    recorded: RecordedCall, operands: Sequence[Operand], attributes: Sequence[tuple[Any, ...]]
) -> Tensor:
    """Return the results of a call, with its attributes for each example, along the first axis."""
    _, shape, dtype = recorded.output
    results = []
    for index, own in enumerate(attributes):
        tensors = [
            operand.tensor[index] if operand.is_batched else operand.tensor for operand in operands
        ]
        results.append(run(recorded.primitive, tuple(tensors), shape, dtype, *own))
    return stack(results) if results else zeros((0, *shape), dtype)
