"""Data sets: elements that are computed when they are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from glob import glob
from math import inf
from typing import Any, Final

from webtensor.data.constructors import Rows, Size
from webtensor.data.functions import of_elements
from webtensor.data.iteration import Begin, asynchronously, synchronously, waiting_synchronously
from webtensor.data.signatures import signature_of
from webtensor.data.transformations import Transformations
from webtensor.engine import Tensor
from webtensor.nest import map_structure
from webtensor.ops import tensor

__all__ = ["INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset"]

#: What ``Dataset.cardinality`` returns for data sets without an end.
INFINITE_CARDINALITY: Final = -1
#: What ``Dataset.cardinality`` returns where only an iteration could say.
UNKNOWN_CARDINALITY: Final = -2


class Dataset(Transformations):
    """A sequence of elements, each computed when it is read.

    An element is a tensor, a number, text, or a tuple, dict or list of these. Methods return new
    data sets, and change nothing; each ``for`` or ``async for`` begins from the first element.
    Functions that are given to methods get the items of a tuple as separate arguments. An error
    that they raise comes where the element is read, with a note that says which it is.

    The methods are those of ``tf.data.Dataset`` and of TensorFlow.js's ``tf.data``.

    Attributes:
        size: the number of elements: ``math.inf`` if there is no end, None if it is unknown.
        is_async: whether elements have to be waited for, such as those of a server or a camera.
            Where the browser cannot suspend Python, only ``async for`` iterates over them.

    Example:
        >>> import webtensor as wt
        >>> squares = wt.data.Dataset.range(5).map(lambda x: x * x).batch(2)
        >>> [batch.tolist() for batch in squares]
        [[0, 1], [4, 9], [16]]
    """

    def _new(
        self, begin: Begin, size: Size, is_async: bool = False, rows: Rows | None = None
    ) -> Dataset:
        return Dataset(begin, size, is_async, rows)

    def __iter__(self) -> Generator[Any, None, None]:
        """Iterate over the elements.

        Raises:
            RuntimeError: elements have to be waited for, which is impossible here.
        """
        if self.is_async:
            return waiting_synchronously(self._begin)
        return synchronously(self._begin)

    def __aiter__(self) -> AsyncIterator[Any]:
        return asynchronously(self._begin)

    def __len__(self) -> int:
        """Return the number of elements.

        Raises:
            TypeError: it is infinite or unknown.
        """
        if not isinstance(self.size, int):
            kind = "unknown" if self.size is None else "infinite"
            raise TypeError(f"the size of this data set is {kind}")
        return self.size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} size={self.size}>"

    def cardinality(self) -> Tensor:
        """Return the number of elements as an int32 scalar; negative if infinite or unknown.

        Example:
            >>> import webtensor as wt
            >>> int(wt.data.Dataset.range(3).repeat().cardinality()) == wt.data.INFINITE_CARDINALITY
            True
        """
        if self.size is None:
            return tensor(UNKNOWN_CARDINALITY, dtype="int32")
        return tensor(INFINITE_CARDINALITY if self.size == inf else int(self.size), dtype="int32")

    @property
    def element_spec(self) -> Any:
        """The structure, shapes and dtypes of the first element, which is computed for it.

        None if there is no element.

        Example:
            >>> import webtensor as wt
            >>> wt.data.Dataset.range(3).batch(2).element_spec
            TensorSpec(shape=(2,), dtype='int32', name=None)
        """
        for element in self.take(1):
            return signature_of(element)
        return None

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Iterate over the elements as NumPy arrays.

        Raises:
            ImportError: there is no NumPy.

        Example:
            >>> import webtensor as wt
            >>> list(wt.data.Dataset.range(3).batch(2).as_numpy_iterator())
            [array([0, 1], dtype=int32), array([2], dtype=int32)]
        """
        for element in self:
            yield map_structure(
                lambda leaf: leaf.numpy() if isinstance(leaf, Tensor) else leaf, element
            )

    def for_each(self, function: Callable[..., Any]) -> None:
        """Call a function with each element.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2]).for_each(print)
            1
            2
        """
        call = of_elements("for_each", function)
        for element in self:
            call(element)

    async def for_each_async(self, function: Callable[..., Any]) -> None:
        """Call a function with each element, and wait for what it returns if that is awaitable."""
        call = of_elements("for_each_async", function)
        async for element in self:
            result = call(element)
            if hasattr(result, "__await__"):
                await result

    def to_list(self) -> list[Any]:
        """Return all elements.

        Raises:
            ValueError: there is no end of them.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2, 3]).skip(1).to_list()
            [2, 3]
        """
        self._check_finite("to_list")
        return list(iter(self))

    async def to_list_async(self) -> list[Any]:
        """Return all elements, without blocking.

        Raises:
            ValueError: there is no end of them.
        """
        self._check_finite("to_list_async")
        return [element async for element in self]

    def _check_finite(self, name: str) -> None:
        if self.size == inf:
            raise ValueError(f"{name}: the data set has no end; limit it, for example by take")

    def get_single_element(self) -> Any:
        """Return the only element.

        Raises:
            ValueError: there is none, or more than one.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([7]).get_single_element()
            7
        """
        elements = self.take(2).to_list()
        if len(elements) != 1:
            count = "more" if elements else "none"
            raise ValueError(f"get_single_element: there must be one element, but there is {count}")
        return elements[0]

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Return the last state; ``reduce_func(state, element)`` returns the next one.

        The element is one argument, also if it is a tuple.

        Example:
            >>> import webtensor as wt
            >>> wt.data.array([1, 2, 3]).reduce(0, lambda total, x: total + x)
            6
        """
        state = initial_state
        call = of_elements("reduce", reduce_func)
        for element in self:
            state = call((state, element))
        return state

    @classmethod
    def list_files(
        cls, file_pattern: str | Sequence[str], shuffle: bool | None = None, seed: int | None = None
    ) -> Dataset:
        """Return a data set of the paths that fit a pattern such as ``"images/*.png"``, as text.

        Args:
            file_pattern: a pattern, or some.
            shuffle: give them in another order at each iteration; by default True.
            seed: makes the order the same in each data set.

        Raises:
            FileNotFoundError: no file fits.

        Example:
            >>> import tempfile, pathlib, webtensor as wt
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     pathlib.Path(folder, "a.txt").touch()
            ...     len(wt.data.Dataset.list_files(f"{folder}/*.txt"))
            1
        """
        patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
        paths = sorted({path for pattern in patterns for path in glob(pattern)})  # noqa: PTH207  (patterns may be absolute)
        if not paths:
            raise FileNotFoundError(f"list_files: no file fits {file_pattern!r}")
        files = cls.from_tensor_slices(tensor(paths))
        return files if shuffle is False else files.shuffle(len(paths), seed)
