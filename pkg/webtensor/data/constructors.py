"""The constructors of ``Dataset``, by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import isasyncgenfunction, iscoroutinefunction
from math import inf
from random import Random, getrandbits
from typing import Any, NamedTuple, Self

from webtensor.arguments import as_integer, check_callable
from webtensor.data import sources
from webtensor.data.collation import as_arrays, as_tensor, count_rows
from webtensor.data.iteration import Begin, Elements, Iteration, each
from webtensor.data.signatures import TensorSpec, conforming
from webtensor.nest import alike, is_nested, keys, map_structure
from webtensor.ops import tensor

__all__ = [
    "Constructors",
    "Rows",
    "Size",
    "generator_of",
    "minimum_size",
    "randoms_of_iterations",
    "structure_of_datasets",
]

#: The number of elements: ``inf`` for those without an end, None if it is unknown.
Size = int | float | None

#: The largest number that ``random`` draws.
_LARGEST = 2**31 - 1


class Rows(NamedTuple):
    """Elements that are slices of arrays, at indices along the first axis.

    Whatever orders or groups elements orders the indices: a batch then is read at once.
    """

    arrays: Any
    indices: Begin

    def elements(self, iteration: Iteration) -> Elements:
        """Begin an iteration over the elements."""
        return sources.slices(self.arrays, self.indices(iteration))


class Constructors:
    """The state of a data set, and the class methods that make one."""

    def __init__(
        self, begin: Begin, size: Size = None, is_async: bool = False, rows: Rows | None = None
    ) -> None:
        self._begin, self.size, self.is_async, self._rows = begin, size, is_async, rows

    @classmethod
    def from_tensors(cls, tensors: Any) -> Self:
        """Return a data set of one element: tensors, or a structure of them.

        Raises:
            TypeError: a part cannot become a tensor.

        Example:
            >>> import webtensor as wt
            >>> [x.shape for x in wt.data.Dataset.from_tensors(wt.ones((2, 3)))]
            [(2, 3)]
        """
        element = _tensors(tensors)
        return cls(lambda _: sources.from_iterable([element]), 1)

    @classmethod
    def from_tensor_slices(cls, tensors: Any) -> Self:
        """Return a data set of the slices of tensors along their first axes.

        Args:
            tensors: a tensor, a NumPy array, a list of numbers, a pandas DataFrame, or a tuple or
                dict of these, such as ``(x, y)`` or ``dict(frame)``.

        Raises:
            TypeError: a part cannot become a tensor.
            ValueError: a part is a scalar, or lengths differ.

        Example:
            >>> import webtensor as wt
            >>> pairs = wt.data.Dataset.from_tensor_slices(([[1, 2], [3, 4]], [0, 1]))
            >>> [(x.tolist(), int(y)) for x, y in pairs]
            [([1, 2], 0), ([3, 4], 1)]
        """
        name = "from_tensor_slices"
        arrays = as_arrays(name, tensors)
        count = count_rows(name, arrays)
        rows = Rows(arrays, lambda _: sources.from_iterable(range(count)))
        return cls(rows.elements, count, rows=rows)

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] = (),
        output_signature: Any = None,
    ) -> Self:
        """Return a data set of what an iterator gives, which a function makes for each iteration.

        Args:
            generator: returns an iterable, also an asynchronous one.
            output_types: a structure of dtypes, in place of ``output_signature``.
            output_shapes: a structure of shapes, beside ``output_types``.
            args: arguments of ``generator``.
            output_signature: a structure of TensorSpecs; elements become tensors of these dtypes.
                Without it and ``output_types``, elements stay as they are.

        Raises:
            TypeError: ``generator`` is not callable.
            ValueError: an element differs from the signature; raised at that element.

        Example:
            >>> import webtensor as wt
            >>> spec = wt.TensorSpec(shape=(), dtype="float32")
            >>> numbers = wt.data.Dataset.from_generator(lambda: [1, 2], output_signature=spec)
            >>> numbers.batch(2).to_list()
            [Tensor([1., 2.], shape=(2,), dtype=float32, device=...)]
        """
        name = "from_generator"
        signature = output_signature
        if signature is None and output_types is not None:
            signature = _signature(output_types, output_shapes)
        elements, is_async = generator_of(name, generator, args)
        if signature is None:
            return cls(elements, None, is_async)

        def converted(iteration: Iteration) -> Elements:
            return each(elements(iteration), lambda x: conforming(name, x, signature))

        return cls(converted, None, is_async)

    @classmethod
    def range(cls, *args: int) -> Self:
        """Return a data set of int32 scalars: those of Python's ``range``.

        Raises:
            TypeError: an argument is no integer.
            ValueError: the step is 0.

        Example:
            >>> import webtensor as wt
            >>> [int(x) for x in wt.data.Dataset.range(2, 8, 3)]
            [2, 5]
        """
        integers = [as_integer("range", "args", argument) for argument in args]
        if not 1 <= len(integers) <= 3:
            raise TypeError(f"range: wanted stop, or start, stop and step, but got {args}")
        if integers[2:] == [0]:
            raise ValueError("range: step must not be 0")
        numbers = range(*integers)

        def scalars(_: Iteration) -> Elements:
            for number in numbers:
                yield tensor(number, dtype="int32")

        return cls(scalars, len(numbers))

    @classmethod
    def random(cls, seed: int | None = None, rerandomize_each_iteration: bool = False) -> Self:
        """Return a data set of random int32 scalars, of 0 or more, without end.

        Args:
            seed: makes them the same in each data set; by default they follow Python's ``random``.
            rerandomize_each_iteration: draw others in the next iteration.

        Raises:
            TypeError: ``seed`` is no integer.

        Example:
            >>> import webtensor as wt
            >>> numbers = wt.data.Dataset.random(seed=3).take(2)
            >>> [int(x) for x in numbers] == [int(x) for x in numbers]
            True
        """
        new_random = randoms_of_iterations("random", seed, rerandomize_each_iteration)

        def drawn(_: Iteration) -> Elements:
            random = new_random()
            while True:
                yield tensor(random.randint(0, _LARGEST), dtype="int32")

        return cls(drawn, inf)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None) -> Self:
        """Return a data set of tuples, with one element of each data set.

        It ends when one of them ends.

        Args:
            args: data sets, or one tuple, list or dict of them, whose structure elements have then.
            datasets: such a structure, in place of ``args``.

        Raises:
            TypeError: an argument is no data set.

        Example:
            >>> import webtensor as wt
            >>> x, y = wt.data.array([1, 2]), wt.data.array([3, 4, 5])
            >>> wt.data.Dataset.zip(x, y).to_list()
            [(1, 3), (2, 4)]
        """
        structure = args[0] if len(args) == 1 else args if args else datasets
        parts = structure_of_datasets("zip", structure)
        begins = [part._begin for part in parts]
        return cls(
            lambda iteration: sources.zipped(structure, begins, iteration),
            minimum_size(part.size for part in parts),
            any(part.is_async for part in parts),
        )

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Sequence[Constructors],
        weights: Sequence[float] | None = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Self:
        """Return a data set that takes each element from a data set drawn at random.

        Args:
            datasets: the data sets.
            weights: their probabilities, up to a factor; by default equal.
            seed: makes the choices the same in each data set.
            stop_on_empty_dataset: end with the first data set that ends.
            rerandomize_each_iteration: choose otherwise in the next iteration; by default False.

        Raises:
            TypeError: an argument is no data set, or ``seed`` no integer.
            ValueError: there are not as many weights as data sets, or a weight is negative.

        Example:
            >>> import webtensor as wt
            >>> zeros, ones = wt.data.array([0] * 9), wt.data.array([1] * 9)
            >>> sum(wt.data.Dataset.sample_from_datasets([zeros, ones], [1.0, 0.0]))
            0
        """
        name = "sample_from_datasets"
        parts = structure_of_datasets(name, list(datasets))
        shares = None if weights is None else [float(weight) for weight in weights]
        if shares is not None and (len(shares) != len(parts) or min(shares) < 0):
            raise ValueError(
                f"{name}: weights must be {len(parts)} numbers of at least 0, but are {weights!r}"
            )
        new_random = randoms_of_iterations(name, seed, bool(rerandomize_each_iteration))
        begins = [part._begin for part in parts]

        def begin(iteration: Iteration) -> Elements:
            return sources.sampled(begins, shares, new_random(), stop_on_empty_dataset, iteration)

        return cls(begin, None, any(part.is_async for part in parts))

    @classmethod
    def choose_from_datasets(
        cls,
        datasets: Sequence[Constructors],
        choice_dataset: Constructors,
        stop_on_empty_dataset: bool = True,
    ) -> Self:
        """Return a data set that takes each element from the data set of the next index.

        Args:
            datasets: the data sets.
            choice_dataset: integers, the indices in ``datasets``.
            stop_on_empty_dataset: end with the first data set that ends.

        Raises:
            TypeError: an argument is no data set.
            ValueError: an index is out of range; raised at that element.

        Example:
            >>> import webtensor as wt
            >>> parts = [wt.data.array(["a", "b"]), wt.data.array(["c"])]
            >>> wt.data.Dataset.choose_from_datasets(parts, wt.data.array([0, 1, 0])).to_list()
            ['a', 'c', 'b']
        """
        name = "choose_from_datasets"
        parts = structure_of_datasets(name, list(datasets))
        structure_of_datasets(name, [choice_dataset])
        begins = [part._begin for part in parts]
        return cls(
            lambda iteration: sources.chosen(
                begins, choice_dataset._begin(iteration), stop_on_empty_dataset, iteration
            ),
            None,
            any(part.is_async for part in [*parts, choice_dataset]),
        )


def _tensors(structure: Any) -> Any:
    if is_nested(structure) and not isinstance(structure, list):
        return alike(structure, [_tensors(structure[key]) for key in keys(structure)])
    return as_tensor("from_tensors", structure)


def _signature(types: Any, shapes: Any) -> Any:
    """Return a signature from a structure of dtypes, and one of shapes or None."""
    if is_nested(types):
        parts = [
            _signature(types[key], None if shapes is None else shapes[key]) for key in keys(types)
        ]
        return alike(types, parts)
    return TensorSpec(shapes, types)


def randoms_of_iterations(name: str, seed: int | None, differ: bool) -> Callable[[], Random]:
    """Return a function that returns the ``Random`` of an iteration: the same for each, or others.

    Raises:
        TypeError: the seed is no integer.
    """
    own = Random(getrandbits(64) if seed is None else as_integer(name, "seed", seed))
    state = own.getstate()

    def new_random() -> Random:
        if not differ:
            own.setstate(state)
        return Random(own.getrandbits(64))

    return new_random


def generator_of(
    name: str, function: Callable[..., Any], args: Iterable[Any] = ()
) -> tuple[Begin, bool]:
    """Return what begins an iteration over a generator, and whether it is asynchronous.

    Raises:
        TypeError: the function is not callable.
    """
    check_callable(name, "generator", function)
    own_args = tuple(args)
    is_async = isasyncgenfunction(function) or iscoroutinefunction(function)

    def begin(iteration: Iteration) -> Elements:
        return sources.iterated(name, lambda: function(*own_args), iteration)

    return begin, is_async


def structure_of_datasets(name: str, structure: Any) -> list[Constructors]:
    """Return the data sets in a structure.

    Raises:
        TypeError: it has something else, or nothing.
    """
    parts: list[Any] = []
    map_structure(parts.append, structure)
    for part in parts:
        if not isinstance(part, Constructors):
            raise TypeError(f"{name}: wanted data sets, but got {part!r}")
    if not parts:
        raise TypeError(f"{name}: there must be at least one data set")
    return parts


def minimum_size(sizes: Iterable[Size]) -> Size:
    """Return the minimum of sizes; None if one of them is unknown."""
    all_sizes = list(sizes)
    return None if None in all_sizes else min(size for size in all_sizes if size is not None)
