"""The methods of ``Dataset`` that return other data sets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from inspect import iscoroutinefunction
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Final, cast

from webtensor.arguments import as_integer, as_positive_integer, check_callable
from webtensor.data import batching, functions, ordering, sources
from webtensor.data.collation import Leaf, joined, padded, rows_of
from webtensor.data.constructors import Constructors, Rows, Size, randoms_of_iterations
from webtensor.data.iteration import (
    Begin,
    Elements,
    Iteration,
    Waiting,
    closing,
    each,
    waiting_synchronously,
)
from webtensor.engine import Tensor
from webtensor.nest import alike, is_nested, keys

if TYPE_CHECKING:
    from webtensor.data.dataset import Dataset

__all__ = ["AUTOTUNE", "Transformations"]

#: For ``prefetch`` and ``num_parallel_calls``: as many as the library thinks good.
AUTOTUNE: Final = -1

_PREFETCHED, _PARALLEL_CALLS = 2, 4


class Transformations(Constructors):
    """Transformations of a data set into another."""

    @abstractmethod
    def _new(
        self, begin: Begin, size: Size, is_async: bool = False, rows: Rows | None = None
    ) -> Dataset:
        """Return a data set; that of a subclass may not be made in this way."""

    def _derived(
        self, change: Callable[[Begin, Iteration], Elements], size: Size, is_async: bool = False
    ) -> Dataset:
        begin = self._begin
        return self._new(
            lambda iteration: change(begin, iteration), size, self.is_async or is_async
        )

    def _reordered(self, change: Callable[[Begin, Iteration], Elements], size: Size) -> Dataset:
        """Return a data set of the same elements in another order, or of some of them."""
        if self._rows is None:
            return self._derived(change, size)
        arrays, indices = self._rows
        rows = Rows(arrays, lambda iteration: change(indices, iteration))
        return self._new(rows.elements, size, rows=rows)

    # -- functions of elements ---------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset:
        """Return a data set of the results of a function.

        Args:
            map_func: the function; if it is a coroutine function, this is ``map_async``.
            num_parallel_calls: how many calls of a coroutine function wait at the same time.
            deterministic: accepted as in TensorFlow; the order always stays the same.

        Raises:
            TypeError: ``map_func`` is not callable.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([(1, 2), (3, 4)]).map(lambda x, y: x * y).to_list()
            [2, 12]
        """
        check_callable("map", "map_func", map_func)
        if iscoroutinefunction(map_func):
            return self.map_async(map_func, num_parallel_calls)
        return self._derived(
            lambda begin, iteration: functions.mapped(begin(iteration), map_func), self.size
        )

    def map_async(
        self, map_func: Callable[..., Awaitable[Any]], num_parallel_calls: int | None = None
    ) -> Dataset:
        """Return a data set of what the results of a function are when they were waited for.

        Results come in the order of the elements.

        Args:
            map_func: a function that returns an awaitable.
            num_parallel_calls: how many of them wait at the same time, ``AUTOTUNE`` for 4; by
                default one.

        Raises:
            TypeError: ``map_func`` is not callable, or returns something else.

        Example:
            >>> import asyncio
            >>> import webtensor as wt
            >>> async def doubled(x):
            ...     await asyncio.sleep(0)
            ...     return 2 * x
            >>> asyncio.run(wt.data.array([1, 2]).map_async(doubled).to_list_async())
            [2, 4]
        """
        name = "map_async"
        check_callable(name, "map_func", map_func)
        parallel = 1 if num_parallel_calls is None else num_parallel_calls
        count = _count_parallel(name, "num_parallel_calls", parallel)
        return self._derived(
            lambda begin, iteration: functions.mapped_async(
                begin(iteration), map_func, count, iteration
            ),
            self.size,
            is_async=True,
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """Return a data set of the elements for which a function is true.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2, 3]).filter(lambda x: x > 1).to_list()
            [2, 3]
        """
        _check_predicate("filter", predicate)
        return self._derived(
            lambda begin, iteration: functions.filtered(begin(iteration), predicate),
            inf if self.size == inf else None,
        )

    def take_while(self, predicate: Callable[..., Any]) -> Dataset:
        """Return a data set that ends before the first element for which a function is false.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 5, 2]).take_while(lambda x: x < 4).to_list()
            [1]
        """
        _check_predicate("take_while", predicate)
        return self._derived(
            lambda begin, iteration: functions.taken_while(begin(iteration), predicate), None
        )

    def scan(self, initial_state: Any, scan_func: Callable[..., tuple[Any, Any]]) -> Dataset:
        """Return a data set of outputs, of a function that also returns the next state.

        Args:
            initial_state: the state at the first element.
            scan_func: called with the state and the element, which is one argument, also if it is
                a tuple; returns the next state and an output.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2, 3]).scan(0, lambda total, x: (total + x, total + x)).to_list()
            [1, 3, 6]
        """
        check_callable("scan", "scan_func", scan_func)
        return self._derived(
            lambda begin, iteration: functions.accumulated(
                begin(iteration), initial_state, scan_func
            ),
            self.size,
        )

    def enumerate(self, start: int = 0) -> Dataset:
        """Return a data set of pairs: the number of an element, from ``start`` on, and the element.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array(["a", "b"]).enumerate().to_list()
            [(0, 'a'), (1, 'b')]
        """
        first = as_integer("enumerate", "start", start)
        return self._derived(
            lambda begin, iteration: functions.numbered(begin(iteration), first), self.size
        )

    def unique(self) -> Dataset:
        """Return a data set without the elements that are equal to an earlier one.

        Elements are numbers, text, or tensors.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2, 1]).unique().to_list()
            [1, 2]
        """
        return self._derived(
            lambda begin, iteration: functions.unique(begin(iteration), _key), None
        )

    def flat_map(self, map_func: Callable[..., Constructors]) -> Dataset:
        """Return a data set of the elements of the data sets that a function returns.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2]).flat_map(lambda x: wt.data.array([x, -x])).to_list()
            [1, -1, 2, -2]
        """
        check_callable("flat_map", "map_func", map_func)
        return self._derived(
            lambda begin, iteration: functions.flattened(
                begin(iteration), _begin_of("flat_map", map_func), iteration
            ),
            None,
        )

    def interleave(
        self,
        map_func: Callable[..., Constructors],
        cycle_length: int | None = None,
        block_length: int = 1,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset:
        """Return a data set that takes elements in turns from data sets that a function returns.

        Args:
            map_func: returns the data set for an element.
            cycle_length: how many of these are open at the same time; by default 4.
            block_length: how many elements each gives in its turn.
            num_parallel_calls: accepted as in TensorFlow.
            deterministic: accepted as in TensorFlow; the order always is the same.

        Raises:
            TypeError: ``map_func`` is not callable, or returns no data set.
            ValueError: a length is not positive.

        Example:
            >>> import webtensor as wt
            >>> words = wt.data.array(["ab", "cd"])
            >>> words.interleave(lambda word: wt.data.array([*word])).to_list()
            ['a', 'c', 'b', 'd']
        """
        name = "interleave"
        check_callable(name, "map_func", map_func)
        length = AUTOTUNE if cycle_length is None else cycle_length
        cycle = _count_parallel(name, "cycle_length", length)
        block = as_positive_integer(name, "block_length", block_length)
        return self._derived(
            lambda begin, iteration: functions.interleaved(
                begin(iteration), _begin_of(name, map_func), iteration, cycle, block
            ),
            None,
        )

    # -- order -------------------------------------------------------------------------------------

    def take(self, count: int) -> Dataset:
        """Return a data set of the first ``count`` elements, or of all if ``count`` is negative.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2, 3]).take(2).to_list()
            [1, 2]
        """
        number = as_integer("take", "count", count)
        size = self.size if number < 0 else _at_most(self.size, number)
        return self._reordered(
            lambda begin, iteration: ordering.taken(begin(iteration), number), size
        )

    def skip(self, count: int) -> Dataset:
        """Return a data set without the first ``count`` elements, or all if ``count`` is negative.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2, 3]).skip(2).to_list()
            [3]
        """
        number = as_integer("skip", "count", count)
        size = 0 if number < 0 else None if self.size is None else max(self.size - number, 0)
        return self._reordered(
            lambda begin, iteration: ordering.skipped(begin(iteration), number), size
        )

    def repeat(self, count: int | None = None) -> Dataset:
        """Return a data set that begins again, ``count`` times in all; None or -1 is without end.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2]).repeat(2).to_list()
            [1, 2, 1, 2]
        """
        number = -1 if count is None else as_integer("repeat", "count", count)
        size: Size
        if not number or self.size == 0:
            size = 0
        elif number < 0:
            size = inf
        else:
            size = None if self.size is None else self.size * number
        return self._reordered(
            lambda begin, iteration: ordering.repeated(begin, iteration, max(number, -1)), size
        )

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool = True,
    ) -> Dataset:
        """Return a data set whose elements are drawn from a buffer of the next ones.

        Args:
            buffer_size: the number of elements in the buffer; all orders are equally likely only
                if it holds all of them.
            seed: makes the orders the same in each data set; by default they follow Python's
                ``random``.
            reshuffle_each_iteration: use another order in the next iteration.

        Raises:
            TypeError: ``buffer_size`` or ``seed`` is no integer.
            ValueError: ``buffer_size`` is not positive.

        Example:
            >>> import webtensor as wt
            >>> sorted(wt.data.array([1, 2, 3]).shuffle(3, seed=1))
            [1, 2, 3]
        """
        size = as_positive_integer("shuffle", "buffer_size", buffer_size)
        new_random = randoms_of_iterations("shuffle", seed, reshuffle_each_iteration)
        return self._reordered(
            lambda begin, iteration: ordering.shuffled(begin(iteration), size, new_random()),
            self.size,
        )

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Return a data set of every ``num_shards``-th element, from ``index`` on.

        Raises:
            ValueError: ``num_shards`` is not positive, or ``index`` is out of range.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([0, 1, 2, 3, 4]).shard(2, 1).to_list()
            [1, 3]
        """
        count = as_positive_integer("shard", "num_shards", num_shards)
        own_index = as_integer("shard", "index", index)
        if not 0 <= own_index < count:
            raise ValueError(
                f"shard: index must be from 0 to {count - 1}, as num_shards is {count}, but is "
                f"{own_index}"
            )
        size = self.size
        if size is not None and size != inf:
            size = ceil((size - own_index) / count)
        return self._reordered(
            lambda begin, iteration: ordering.shard_of(begin(iteration), count, own_index), size
        )

    def concatenate(self, dataset: Constructors) -> Dataset:
        """Return a data set that continues with the elements of another.

        Raises:
            TypeError: ``dataset`` is no data set.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1]).concatenate(wt.data.array([2])).to_list()
            [1, 2]
        """
        if not isinstance(dataset, Constructors):
            raise TypeError(f"concatenate: dataset must be a data set, but got {dataset!r}")
        second = dataset._begin
        size: Size = None
        if inf in (self.size, dataset.size):
            size = inf
        elif self.size is not None and dataset.size is not None:
            size = self.size + dataset.size
        return self._derived(
            lambda begin, iteration: ordering.concatenated(begin, second, iteration),
            size,
            dataset.is_async,
        )

    # -- batches -----------------------------------------------------------------------------------

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset:
        """Return a data set of batches: elements are stacked along a new first axis.

        Args:
            batch_size: the number of elements in a batch.
            drop_remainder: leave the last elements out if they do not fill a batch.
            num_parallel_calls: accepted as in TensorFlow.
            deterministic: accepted as in TensorFlow.

        Raises:
            TypeError: a part of an element cannot become a tensor; raised at that batch.
            ValueError: ``batch_size`` is not positive, or structures or shapes of elements differ.

        Example:
            >>> import webtensor as wt
            >>> [x.tolist() for x in wt.data.array([1, 2, 3]).batch(2)]
            [[1, 2], [3]]
        """
        count = as_positive_integer("batch", "batch_size", batch_size)
        if self._rows is None:
            return self._batched("batch", count, drop_remainder, None)
        arrays, indices = self._rows

        def batches(_: Begin, iteration: Iteration) -> Elements:
            with closing(ordering.grouped(indices(iteration), count, drop_remainder)) as groups:
                for group in groups:
                    yield rows_of(arrays, group)

        return self._derived(batches, self._count_batches(count, drop_remainder))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Return a data set of batches, of elements that are padded to equal shapes.

        Args:
            batch_size: the number of elements in a batch.
            padded_shapes: the shapes, in the structure of elements; a length of None or -1, and by
                default each, is the longest of a batch.
            padding_values: what is put in, in the structure of elements, or one for all; by
                default 0.
            drop_remainder: leave the last elements out if they do not fill a batch.

        Raises:
            ValueError: ``batch_size`` is not positive, or an element does not fit; the latter is
                raised at that batch.

        Example:
            >>> import webtensor as wt
            >>> rows = wt.data.array([[1], [2, 3]]).padded_batch(2)
            >>> rows.get_single_element().tolist()
            [[1, 0], [2, 3]]
        """
        count = as_positive_integer("padded_batch", "batch_size", batch_size)
        leaf = padded(padded_shapes, padding_values)
        return self._batched("padded_batch", count, drop_remainder, leaf)

    def _batched(self, name: str, count: int, drop_remainder: bool, leaf: Leaf | None) -> Dataset:
        def batches(begin: Begin, iteration: Iteration) -> Elements:
            groups = ordering.grouped(begin(iteration), count, drop_remainder)
            return each(groups, lambda group: joined(name, group, leaf))

        return self._derived(batches, self._count_batches(count, drop_remainder))

    def _count_batches(self, count: int, drop_remainder: bool) -> Size:
        if self.size is None or self.size == inf:
            return self.size
        return int(self.size // count if drop_remainder else ceil(self.size / count))

    def unbatch(self) -> Dataset:
        """Return a data set of the slices of elements along their first axes.

        Example:
            >>> import webtensor as wt
            >>> [int(x) for x in wt.data.array([[1, 2], [3]]).unbatch()]
            [1, 2, 3]
        """
        return self._derived(lambda begin, iteration: batching.unbatched(begin(iteration)), None)

    def rebatch(self, batch_size: int, drop_remainder: bool = False) -> Dataset:
        """Return a data set of batches of another size.

        Example:
            >>> import webtensor as wt
            >>> numbers = wt.data.Dataset.range(6).batch(2)
            >>> [x.tolist() for x in numbers.rebatch(4)]
            [[0, 1, 2, 3], [4, 5]]
        """
        return self.unbatch().batch(batch_size, drop_remainder)

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Return a data set of padded batches of elements of similar lengths.

        Args:
            element_length_func: returns the length of an element.
            bucket_boundaries: the lengths at which the next bucket begins, ascending.
            bucket_batch_sizes: the sizes of batches, one more than there are boundaries.
            padded_shapes: as in ``padded_batch``.
            padding_values: as in ``padded_batch``.
            pad_to_bucket_boundary: pad to one less than the next boundary, so that batches of a
                bucket have one shape; no element may then be as long as the last boundary.
            no_padding: stack elements as they are.
            drop_remainder: leave the last elements out if they do not fill a batch.

        Raises:
            ValueError: there are not as many batch sizes as buckets.

        Example:
            >>> import webtensor as wt
            >>> lists = wt.data.array([[1], [2, 2, 2], [3]])
            >>> batches = lists.bucket_by_sequence_length(len, [2], [2, 2])
            >>> [batch.tolist() for batch in batches]
            [[[1], [3]], [[2, 2, 2]]]
        """
        name = "bucket_by_sequence_length"
        check_callable(name, "element_length_func", element_length_func)
        boundaries = [int(boundary) for boundary in bucket_boundaries]
        sizes = [
            as_positive_integer(name, "bucket_batch_sizes", size) for size in bucket_batch_sizes
        ]
        if len(sizes) != len(boundaries) + 1 or boundaries != sorted(set(boundaries)):
            raise ValueError(
                f"{name}: wanted ascending bucket_boundaries and one more of bucket_batch_sizes, "
                f"but got {bucket_boundaries} and {bucket_batch_sizes}"
            )
        padded_lengths = [boundary - 1 for boundary in boundaries] if pad_to_bucket_boundary else []
        leaves = [
            None if no_padding else padded(padded_shapes, padding_values, length)
            for length in [*padded_lengths, *[None] * (len(sizes) - len(padded_lengths))]
        ]

        def batches(begin: Begin, iteration: Iteration) -> Elements:
            groups = batching.bucketed(
                begin(iteration), element_length_func, boundaries, sizes, drop_remainder
            )
            with closing(groups):
                for item in groups:
                    if isinstance(item, Waiting):
                        yield item
                        continue
                    bucket, group = item
                    if pad_to_bucket_boundary and bucket == len(boundaries):
                        raise ValueError(
                            f"{name}: an element is as long as the last of bucket_boundaries "
                            f"{boundaries}, or longer, which pad_to_bucket_boundary excludes"
                        )
                    yield joined(name, group, leaves[bucket])

        return self._derived(batches, None)

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Return a data set of windows, which are data sets.

        Where elements are tuples or dicts, windows are tuples or dicts of data sets.

        Args:
            size: the number of elements in a window.
            shift: how far each window begins after the one before; by default ``size``.
            stride: how far apart the elements of a window are.
            drop_remainder: leave out the last windows if they have fewer elements.

        Raises:
            ValueError: a number is not positive.

        Example:
            >>> import webtensor as wt
            >>> windows = wt.data.array([1, 2, 3, 4]).window(3, shift=1, drop_remainder=True)
            >>> [window.to_list() for window in windows]
            [[1, 2, 3], [2, 3, 4]]
        """
        count = as_positive_integer("window", "size", size)
        advance = count if shift is None else as_positive_integer("window", "shift", shift)
        step = as_positive_integer("window", "stride", stride)

        def windows(begin: Begin, iteration: Iteration) -> Elements:
            groups = batching.windowed(begin(iteration), count, advance, step, drop_remainder)
            return each(groups, self._window)

        return self._derived(windows, None if self.size != inf else inf)

    def _window(self, elements: list[Any]) -> Any:
        first = elements[0]
        if is_nested(first) and not isinstance(first, list):
            parts = [self._window([element[key] for element in elements]) for key in keys(first)]
            return alike(first, parts)
        return self._new(lambda _: sources.from_iterable(elements), len(elements))

    # -- when elements are computed ----------------------------------------------------------------

    def prefetch(self, buffer_size: int) -> Dataset:
        """Return a data set whose next elements are computed while one is used.

        This happens in asynchronous iterations, and for elements that have to be waited for.
        ``AUTOTUNE`` computes 2 ahead, and 0 none.

        Raises:
            ValueError: ``buffer_size`` is negative.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2]).prefetch(wt.data.AUTOTUNE).to_list()
            [1, 2]
        """
        count = as_integer("prefetch", "buffer_size", buffer_size)
        if count == AUTOTUNE:
            count = _PREFETCHED
        if count < 0:
            raise ValueError(f"prefetch: buffer_size must not be negative, but is {buffer_size}")
        if not count:
            return cast("Dataset", self)

        def prefetched(begin: Begin, iteration: Iteration) -> Elements:
            if iteration.can_wait:
                return ordering.prefetched(begin, iteration, count)
            return begin(iteration)

        return self._derived(prefetched, self.size)

    def cache(self) -> Dataset:
        """Return a data set that computes its elements once, and keeps them.

        They are kept at the end of the first iteration.

        Example:
            >>> import webtensor as wt
            >>> numbers = wt.data.array([1, 2]).map(lambda x: 2 * x).cache()
            >>> numbers.to_list() + numbers.to_list()
            [2, 4, 2, 4]
        """
        return self._reordered(ordering.Cache().elements, self.size)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Return what a function makes of this data set.

        Raises:
            TypeError: it is no data set.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2]).apply(lambda numbers: numbers.take(1)).to_list()
            [1]
        """
        check_callable("apply", "transformation_func", transformation_func)
        result: Any = transformation_func(cast("Dataset", self))
        if not isinstance(result, Transformations):
            raise TypeError(f"apply: transformation_func must return a data set, not {result!r}")
        return cast("Dataset", result)


def _check_predicate(name: str, predicate: Any) -> None:
    """Check a function whose results are not waited for."""
    check_callable(name, "predicate", predicate)
    if iscoroutinefunction(predicate):
        raise TypeError(f"{name}: predicate must not be a coroutine function; use map_async before")


def _count_parallel(name: str, argument: str, count: int) -> int:
    """Return a number of calls or data sets at the same time, 4 for ``AUTOTUNE``."""
    return _PARALLEL_CALLS if count == AUTOTUNE else as_positive_integer(name, argument, count)


def _at_most(size: Size, count: int) -> Size:
    """Return the size of the first ``count`` elements."""
    return None if size is None else int(min(size, count))


def _begin_of(name: str, map_func: Callable[..., Constructors]) -> Callable[[Any], Begin]:
    """Return a function that gives what begins the data set of an element."""
    call = functions.of_elements(name, map_func)

    def begin_of(element: Any) -> Begin:
        dataset = call(element)
        if not isinstance(dataset, Constructors):
            raise TypeError(f"{name}: the function must return a data set, but got {dataset!r}")
        if not dataset.is_async:
            return dataset._begin

        def begin(iteration: Iteration) -> Elements:
            if iteration.can_wait:
                return dataset._begin(iteration)
            return sources.from_iterable(waiting_synchronously(dataset._begin))

        return begin

    return begin_of


def _key(element: Any) -> Any:
    """Return what equal elements have in common."""
    if isinstance(element, Tensor):
        return element.dtype, element.shape, repr(element.tolist())
    return tuple(map(_key, element)) if isinstance(element, tuple) else element
