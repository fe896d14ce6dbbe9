"""Joined calls: what a program computes in one kernel where its function called several ops.

- a bias, a residual and an activation after a product become its epilogue;
- a product of a transposed matrix reads the matrix as it is;
- a convolution of what was padded with zeros pads by itself;
- a permutation of a strided view's axes becomes a strided view, and one that changes nothing goes.

A joined call stands where the last of its calls stood, when all that it reads has been computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from webtensor.backends.fused_activations import ACTIVATION_NUMBERS
from webtensor.backends.programs import KernelCall, Program, with_calls
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import float32
from webtensor.geometry import Window
from webtensor.matmul_sizes import MatmulSizes
from webtensor.shapes import contiguous_strides

__all__ = ["with_joined_calls"]

_PRODUCTS = ("matmul", "conv2d", "depthwise_conv2d")
_CONVOLUTIONS = ("conv2d", "depthwise_conv2d", "fused_conv2d", "fused_depthwise_conv2d")
_FUSED = "fused_"


def with_joined_calls(program: Program) -> Program:
    """Return the program with calls in place of several where one kernel computes the same."""
    draft = _Draft(program)
    for index in range(len(program.calls)):
        draft.replace(index, draft.resolved(index))
        while any(draft.replace(index, rule(draft, draft.calls[index])) for rule in _RULES):
            pass
        draft.note_copy(index)
    return with_calls(program, draft.needed())


class _Draft:
    """The calls of a program while they are joined."""

    def __init__(self, program: Program) -> None:
        self._sources = program.sources
        self._results = {*program.results}
        #: The values that copies are copies of.
        self._originals: dict[int, int] = {}
        self.calls: list[KernelCall] = list(program.calls)
        #: How often each value is read by calls or returned.
        self._uses = Counter(program.results)
        for call in program.calls:
            self._uses.update(call.inputs)

    def maker(self, number: int) -> KernelCall | None:
        """Return the call that makes a value, if its attributes do not change from run to run."""
        if number < self._sources:
            return None
        call = self.calls[number - self._sources]
        return call if call.late is None else None

    def resolved(self, index: int) -> KernelCall:
        """Return the call at an index, reading originals in place of copies."""
        call = self.calls[index]
        inputs = tuple(self._originals.get(number, number) for number in call.inputs)
        return call._replace(inputs=inputs)

    def note_copy(self, index: int) -> None:
        """Let later calls read what the call at an index copies, if it does nothing but copy."""
        call, value = self.calls[index], self._sources + index
        if call.kernel != "strided" or call.late is not None or value in self._results:
            return
        strides, offset, *_ = call.attributes
        shape = call.signature.shape
        is_whole = call.signature.inputs[0].size == call.signature.size
        if is_whole and (tuple(strides), offset) == (contiguous_strides(shape), 0):
            self._originals[value] = call.inputs[0]

    def is_used_once(self, number: int) -> bool:
        """Whether nothing but one operand of one call needs a value."""
        return self._uses[number] == 1

    def replace(self, index: int, call: KernelCall | None) -> bool:
        """Put a call, if there is one, in place of that at an index; return whether there is."""
        if call is None:
            return False
        replaced, self.calls[index] = self.calls[index], call
        self._uses.update(call.inputs)
        self._release(replaced)
        return True

    def needed(self) -> list[KernelCall | None]:
        """Return the calls whose values are used, and None for others."""
        return [
            call if self._uses[self._sources + index] else None
            for index, call in enumerate(self.calls)
        ]

    def _release(self, call: KernelCall) -> None:
        """Note that a call does not happen."""
        for number in call.inputs:
            self._uses[number] -= 1
            if self._uses[number] == 0 and number >= self._sources:
                self._release(self.calls[number - self._sources])


_Rule: TypeAlias = Callable[[_Draft, KernelCall], "KernelCall | None"]


def _epilogue(draft: _Draft, call: KernelCall) -> KernelCall | None:
    """Return a product with what a call does to its result, or None."""
    if call.kernel not in ("binary", "unary") or call.late is not None:
        return None
    for position, (number, spec) in enumerate(zip(call.inputs, call.signature.inputs, strict=True)):
        product = draft.maker(number)
        if (
            product is not None
            and product.kernel.removeprefix(_FUSED) in _PRODUCTS
            and product.signature.dtype is call.signature.dtype is float32
            and spec.shape == call.signature.shape
            and spec.size == product.signature.size
            and draft.is_used_once(number)
        ):
            joined = _with_step(product, call, position)
            if joined is not None:
                return joined
    return None


def _with_step(product: KernelCall, call: KernelCall, position: int) -> KernelCall | None:
    """Return a product whose epilogue has a further step; ``position`` is the product's operand."""
    row, *parameters = call.attributes
    columns = product.signature.shape[-1]
    has_epilogue = product.kernel.startswith(_FUSED)
    if has_epilogue and product.attributes[1] is not None:
        return None  # the activation is the last step
    if row.name == "add":
        number, spec = call.inputs[1 - position], call.signature.inputs[1 - position]
        if spec.dtype is not float32:
            return None
        if not has_epilogue and spec.size == columns and spec.shape[-1:] == (columns,):
            bias = Spec((columns,), float32, columns)
            return _extended(product, (number, bias), (product.attributes[0], None))
        if len(product.inputs) == 3 and spec.shape == call.signature.shape:
            residual = Spec(product.signature.shape, float32, spec.size)
            return _extended(product, (number, residual), product.attributes)
        return None
    if has_epilogue and row.name in ACTIVATION_NUMBERS and row.arity == 1:
        return product._replace(attributes=(product.attributes[0], row, *parameters))
    return None


def _extended(
    product: KernelCall, operand: tuple[int, Spec], attributes: tuple[object, ...]
) -> KernelCall:
    """Return a product with a further operand for its epilogue."""
    number, spec = operand
    signature = product.signature
    return KernelCall(
        _FUSED + product.kernel.removeprefix(_FUSED),
        (*product.inputs, number),
        signature._replace(inputs=(*signature.inputs, spec)),
        attributes,
    )


def _transposed(draft: _Draft, call: KernelCall) -> KernelCall | None:
    """Return a matrix product that reads an operand as it was before it was transposed, or None."""
    if call.kernel.removeprefix(_FUSED) != "matmul" or call.late is not None:
        return None
    sizes: MatmulSizes = call.attributes[0]
    for position, field in enumerate(("transpose_a", "transpose_b")):
        maker = draft.maker(call.inputs[position])
        spec = call.signature.inputs[position]
        if maker is None or maker.kernel != "strided" or spec.shape != maker.signature.shape:
            continue
        *batch, rows, columns = spec.shape
        own = (sizes.m, sizes.k) if position == 0 else (sizes.k, sizes.n)
        if (rows, columns) != (own[::-1] if getattr(sizes, field) else own):
            continue  # the product takes several matrices for one
        original = (*batch, columns, rows)
        *outer, stride_of_columns, stride_of_rows = contiguous_strides(original)
        strides, offset, *_ = maker.attributes
        if (tuple(strides), offset) == ((*outer, stride_of_rows, stride_of_columns), 0) and (
            maker.signature.inputs[0].size == spec.size
        ):
            flipped = sizes._replace(**{field: not getattr(sizes, field)})
            return _reading(
                call, position, maker.inputs[0], spec._replace(shape=original)
            )._replace(attributes=(flipped, *call.attributes[1:]))
    return None


def _padded(draft: _Draft, call: KernelCall) -> KernelCall | None:
    """Return a convolution that pads with zeros by itself, or None."""
    if call.kernel not in _CONVOLUTIONS or call.late is not None:
        return None
    pad = draft.maker(call.inputs[0])
    spec = call.signature.inputs[0]
    if pad is None or pad.kernel != "pad" or spec.shape != pad.signature.shape:
        return None
    low, step, value = pad.attributes
    (own,) = pad.signature.inputs
    if value != 0 or any(by != 1 for by in step) or len(own.shape) != 4:
        return None
    window: Window = call.attributes[0]
    if (own.shape[0], own.shape[3]) != (spec.shape[0], spec.shape[3]):
        return None
    unpadded = window._replace(
        in_height=own.shape[1],
        in_width=own.shape[2],
        pad_top=window.pad_top + low[1],
        pad_left=window.pad_left + low[2],
    )
    return _reading(call, 0, pad.inputs[0], own)._replace(
        attributes=(unpadded, *call.attributes[1:])
    )


def _permuted(draft: _Draft, call: KernelCall) -> KernelCall | None:
    """Return one strided view for a permutation of the axes of another, or None."""
    if call.kernel != "strided" or call.late is not None:
        return None
    view = draft.maker(call.inputs[0])
    (spec,) = call.signature.inputs
    if view is None or view.kernel != "strided" or spec.shape != view.signature.shape:
        return None
    strides, offset, *_ = call.attributes
    axes = _permutation(call.signature.shape, strides, spec.shape)
    if offset != 0 or axes is None:
        return None
    of_view, start, *_ = view.attributes
    permuted = tuple(of_view[axis] for axis in axes)
    return _reading(call, 0, view.inputs[0], view.signature.inputs[0])._replace(
        attributes=(permuted, start)
    )


def _permutation(
    shape: Sequence[int], strides: Sequence[int], original: Sequence[int]
) -> list[int] | None:
    """Return the axes of an array that a strided view has in another order, or None."""
    if len(shape) != len(original):
        return None
    remaining = list(enumerate(zip(original, contiguous_strides(tuple(original)), strict=True)))
    axes: list[int] = []
    for size, stride in zip(shape, strides, strict=True):
        for index, (axis, dimension) in enumerate(remaining):
            if dimension == (size, stride) or size == dimension[0] == 1:
                axes.append(axis)
                del remaining[index]
                break
        else:
            return None
    return axes


def _reading(call: KernelCall, position: int, number: int, spec: Spec) -> KernelCall:
    """Return a call that reads another value in place of an operand."""
    inputs, specs = list(call.inputs), list(call.signature.inputs)
    inputs[position], specs[position] = number, spec
    signature = Signature(tuple(specs), call.signature.shape, call.signature.dtype)
    return call._replace(inputs=tuple(inputs), signature=signature)


_RULES: tuple[_Rule, ...] = (_transposed, _padded, _permuted, _epilogue)
