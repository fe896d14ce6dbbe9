"""Einstein summation, contracted pair by pair with the matrix product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NamedTuple

from webtensor.arguments import as_integers
from webtensor.dtypes import bool_, int32, promote
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.binary import multiply
from webtensor.ops.casting import cast_to
from webtensor.ops.contraction import matmul
from webtensor.ops.linalg.matrices import diagonal
from webtensor.ops.movement import clone, permute_dims, reshape
from webtensor.ops.reduction import sum as _sum
from webtensor.shapes import prod

__all__ = ["einsum"]


class _Term(NamedTuple):
    """A tensor and the label of each of its axes."""

    tensor: Tensor
    labels: tuple[str, ...]


def einsum(equation: str | TensorLike, *tensors: TensorLike) -> Tensor:
    """Sum of products of tensors over labelled axes, as NumPy's ``einsum``.

    The equation gives each tensor's axes letters, separated by commas, and after ``->`` those of
    the result; axes of one letter are multiplied together, those not in the result are summed over.
    A letter twice in one tensor takes its diagonal. ``...`` stands for any number of further axes,
    which broadcast. Without ``->``, the result has the letters that occur once, in alphabetical
    order.

    In place of an equation, each tensor may be followed by a list of its axes' labels, which are
    integers from 0 to 51 or ``...``, and the last of them by that of the result.

    Raises:
        TypeError: the equation is not text, or the labels are no lists of integers.
        ValueError: it does not fit the tensors, or axes of one letter have different sizes.

    Example:
        >>> import webtensor as wt
        >>> wt.einsum("ij,jk->ik", [[1, 2], [3, 4]], [[1], [1]]).tolist()
        [[3], [7]]
        >>> wt.einsum("ii", [[1, 2], [3, 4]]).tolist()
        5
        >>> wt.einsum([[1, 2], [3, 4]], [0, 1], [1]).tolist()
        [4, 6]
    """
    if not isinstance(equation, str):
        equation, tensors = _from_labels([equation, *tensors])
    operands = [as_operand("einsum", tensor) for tensor in tensors]
    if not operands:
        raise ValueError(f"einsum: equation {equation!r} needs tensors, but got none")
    dtype = int32
    for operand in operands:
        dtype = promote(dtype, operand.dtype)
    if len(operands) == 1 and operands[0].dtype is bool_:
        dtype = bool_
    labels, result = _parse(equation, [operand.shape for operand in operands])
    sizes = _sizes(equation, labels, operands)
    terms = [
        _without_repeats(_broadcast_dropped(_Term(cast_to(operand, dtype), own), sizes))
        for operand, own in zip(operands, labels, strict=True)
    ]
    while len(terms) > 1:
        first, second = _next_pair(terms, result, sizes)
        others = [term for index, term in enumerate(terms) if index not in (first, second)]
        needed = {*result, *(label for term in others for label in term.labels)}
        joined = _contract(
            _summed(terms[first], {*needed, *terms[second].labels}),
            _summed(terms[second], {*needed, *terms[first].labels}),
            needed,
        )
        terms = [*others, joined]
    term = _summed(terms[0], set(result))
    ordered = permute_dims(term.tensor, [term.labels.index(label) for label in result])
    return clone(ordered) if any(ordered is operand for operand in operands) else ordered


# -- the equation -------------------------------------------------------------------------------


def _from_labels(arguments: Sequence[Any]) -> tuple[str, tuple[TensorLike, ...]]:
    """Return the equation of tensors that are each followed by the labels of their axes."""
    count = len(arguments) // 2
    labels = [*arguments[1 : 2 * count : 2], *arguments[2 * count :]]
    if not all(isinstance(own_labels, (list, tuple)) for own_labels in labels):
        raise TypeError(
            "einsum: equation must be text, or each tensor be followed by a list of labels, but "
            f"got {', '.join(map(repr, arguments[:2]))}"
        )
    parts = [_letters(own_labels) for own_labels in labels]
    inputs = ",".join(parts[:count])
    return "->".join([inputs, *parts[count:]]), tuple(arguments[: 2 * count : 2])


def _letters(labels: Sequence[Any]) -> str:
    """Return letters in the alphabetical order of a list of labels."""
    letters = ascii_uppercase + ascii_lowercase
    numbers = as_integers("einsum", "labels", [label for label in labels if label is not ...])
    if any(not 0 <= number < len(letters) for number in numbers):
        raise ValueError(f"einsum: labels must be from 0 to {len(letters) - 1}, but got {labels}")
    return "".join("..." if label is ... else letters[label] for label in labels)


def _parse(
    equation: str, shapes: Sequence[tuple[int, ...]]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the labels of each tensor's axes and of the result's.

    Axes under the dots are labelled by their distance from the dots' end: "0", "1" …
    """
    text = equation.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(shapes):
        raise ValueError(
            f"einsum: equation {equation!r} is for {len(parts)} tensors, but got {len(shapes)}"
        )
    labels = [
        _axis_labels(equation, part, len(shape)) for part, shape in zip(parts, shapes, strict=True)
    ]
    dotted = [label for own in labels for label in own if label.isdigit()]
    dotted_rank = max(map(int, dotted), default=-1) + 1
    dots = tuple(str(distance) for distance in range(dotted_rank - 1, -1, -1))
    counts = Counter(label for own in labels for label in own)
    if not arrow:
        once = sorted(label for label, count in counts.items() if count == 1 and label.isalpha())
        return labels, (*dots, *once)
    if dots and "..." not in output:
        raise ValueError(f"einsum: the result of equation {equation!r} must have '...', too")
    result = _axis_labels(equation, output, len(output.replace("...", "")) + dotted_rank)
    for label in result:
        if result.count(label) > 1 or label not in counts:
            raise ValueError(
                f"einsum: the result of equation {equation!r} must have each of the tensors' "
                f"letters at most once, but it has {label!r}"
            )
    return labels, result


def _axis_labels(equation: str, part: str, rank: int) -> tuple[str, ...]:
    """The labels of one tensor's axes."""
    before, dots, after = part.partition("...")
    letters = before + after
    if not all(letter.isalpha() for letter in letters):
        raise ValueError(
            f"einsum: equation must hold letters, commas, '->' and '...' once for each tensor, but "
            f"got {equation!r}"
        )
    hidden = rank - len(letters)
    if hidden < 0 or (hidden and not dots):
        raise ValueError(
            f"einsum: {part!r} of equation {equation!r} does not fit a tensor of rank {rank}"
        )
    return (*before, *(str(distance) for distance in range(hidden - 1, -1, -1)), *after)


def _sizes(
    equation: str, labels: Sequence[tuple[str, ...]], operands: Sequence[Tensor]
) -> dict[str, int]:
    """Return the size of each label's axes."""
    sizes: dict[str, int] = {}
    for own, operand in zip(labels, operands, strict=True):
        for label, length in zip(own, operand.shape, strict=True):
            size = sizes.setdefault(label, length)
            if size == length:
                continue
            if label.isdigit() and 1 in (size, length):
                sizes[label] = max(size, length) if 0 not in (size, length) else 0
                continue
            axes = "axes under '...'" if label.isdigit() else f"axes {label!r}"
            raise ValueError(
                f"einsum: {axes} of equation {equation!r} have sizes {size} and {length}"
            )
    return sizes


# -- contraction --------------------------------------------------------------------------------


def _broadcast_dropped(term: _Term, sizes: dict[str, int]) -> _Term:
    """Drop the axes of size 1 that broadcast: multiplication repeats them anyway."""
    remaining = [
        (label, size)
        for label, size in zip(term.labels, term.tensor.shape, strict=True)
        if size == sizes[label]
    ]
    shape = tuple(size for _, size in remaining)
    if len(remaining) == len(term.labels):
        return term
    return _Term(reshape(term.tensor, shape), tuple(label for label, _ in remaining))


def _without_repeats(term: _Term) -> _Term:
    """Take the diagonal of axes that share a label."""
    tensor, labels = term
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            others = [axis for axis in range(len(labels)) if axis not in (first, second)]
            tensor = diagonal(permute_dims(tensor, (*others, first, second)))
            labels = (*(labels[axis] for axis in others), label)
    return _Term(tensor, labels)


def _summed(term: _Term, needed: set[str]) -> _Term:
    """Sum over the axes that nothing needs."""
    axes = [axis for axis, label in enumerate(term.labels) if label not in needed]
    if not axes:
        return term
    remaining = tuple(label for label in term.labels if label in needed)
    return _Term(_sum(term.tensor, axes), remaining)


def _next_pair(
    terms: Sequence[_Term], result: Sequence[str], sizes: dict[str, int]
) -> tuple[int, int]:
    """Choose the two terms whose product has the fewest elements in addition to theirs."""
    if len(terms) == 2:
        return 0, 1

    def growth(pair: tuple[int, int]) -> int:
        joined = {*terms[pair[0]].labels, *terms[pair[1]].labels}
        elsewhere = set(result).union(
            *(term.labels for index, term in enumerate(terms) if index not in pair)
        )
        size = prod(sizes[label] for label in joined & elsewhere)
        return size - terms[pair[0]].tensor.size - terms[pair[1]].tensor.size

    return min(combinations(range(len(terms)), 2), key=growth)


def _contract(first: _Term, second: _Term, needed: set[str]) -> _Term:
    """Multiply two terms, and sum over the labels they share that nothing else needs."""
    shared = [label for label in first.labels if label in second.labels]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    rows = [label for label in first.labels if label not in shared]
    columns = [label for label in second.labels if label not in shared]
    labels = (*batch, *rows, *columns)
    sizes = dict(zip(first.labels, first.tensor.shape, strict=True))
    sizes.update(zip(second.labels, second.tensor.shape, strict=True))

    def arranged(term: _Term, order: Sequence[str], *groups: Sequence[str]) -> Tensor:
        """The term with its axes in an order, joined by groups after the batch axes."""
        tensor = permute_dims(term.tensor, [term.labels.index(label) for label in order])
        shape = [sizes[label] for label in batch]
        return reshape(
            tensor, (*shape, *(prod(sizes[label] for label in group) for group in groups))
        )

    if not summed:
        left = arranged(first, (*batch, *rows), rows, ())
        right = arranged(second, (*batch, *columns), (), columns)
        product = multiply(left, right)
    else:
        # Operands that are transposed matrices already are left as they are.
        over = [label for label in first.labels if label in summed]
        turned = bool(rows) and first.labels == (*batch, *over, *rows)
        left = (
            arranged(first, first.labels, over, rows)
            if turned
            else arranged(first, (*batch, *rows, *over), rows, over)
        )
        right_turned = bool(columns) and second.labels == (*batch, *columns, *over)
        right = (
            arranged(second, second.labels, columns, over)
            if right_turned
            else arranged(second, (*batch, *over, *columns), over, columns)
        )
        product = matmul(left, right, turned, right_turned)
    return _Term(reshape(product, [sizes[label] for label in labels]), labels)
