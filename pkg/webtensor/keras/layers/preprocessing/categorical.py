"""Preprocessing of categories: encoding their numbers, and numbering them by hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32, string_
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.preprocessing.encoding import (
    CategoryLayer,
    checked_mode,
    encoded,
    encoded_shape,
    without_objects,
    without_sparse,
)
from webtensor.keras.layers.preprocessing.hashes import (
    checked_salt,
    crossed_hash,
    fast_hashes,
    strong_hashes,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, DTypeLike
from webtensor.ops.string_elements import texts_of

__all__ = ["CategoryEncoding", "HashedCrossing", "Hashing"]


class CategoryEncoding(CategoryLayer):
    """Vectors of length ``num_tokens`` for numbers of categories below it.

    ``output_mode`` "multi_hot" has a 1 at each number of an example, "one_hot" has a vector for
    each number, and "count" tells how often each occurs, or adds up ``count_weights``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.CategoryEncoding(4, output_mode="count")([[0, 1], [3, 3]]).tolist()
        [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    """

    def __init__(
        self,
        num_tokens: int | None = None,
        output_mode: str = "multi_hot",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        modes = ("count", "one_hot", "multi_hot")
        self.output_mode = checked_mode("CategoryEncoding", output_mode, modes)
        if not isinstance(num_tokens, int) or num_tokens < 1:
            raise ValueError(
                f"CategoryEncoding: num_tokens must be a positive integer, but got {num_tokens}; "
                "where it is not known, use IntegerLookup"
            )
        self.num_tokens = num_tokens
        self.sparse = without_sparse("CategoryEncoding", sparse)

    def call(self, inputs: Any, count_weights: Any = None) -> Any:
        """Encode the numbers."""
        weights = None
        if count_weights is not None:
            if self.output_mode != "count":
                raise ValueError(
                    f"CategoryEncoding: count_weights are for output_mode 'count', but it is "
                    f"{self.output_mode!r}"
                )
            weights = wt.astype(wt.asarray(count_weights), float32, copy=False)
        numbers = wt.astype(wt.asarray(inputs), int32, copy=False)
        return encoded(numbers, self.output_mode, self.num_tokens, self.compute_dtype, weights)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the vectors."""
        return encoded_shape(input_shape, self.output_mode, self.num_tokens)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return a symbolic tensor like what ``call`` returns."""
        return KerasTensor(self.compute_output_shape(args[0].shape), self.compute_dtype)


class Hashing(CategoryLayer):
    """Numbers below ``num_bins`` for texts or integers, by a hash that never changes.

    The hash is FarmHash's Fingerprint64, or with a ``salt``, one or two integers, SipHash with
    that key. ``mask_value`` becomes 0, and nothing else does then.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Hashing(3)([["A"], ["B"], ["C"], ["D"], ["E"]]).tolist()
        [[1], [0], [1], [1], [2]]
    """

    def __init__(
        self,
        num_bins: int,
        mask_value: Any = None,
        salt: Any = None,
        output_mode: str = "int",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        mode = checked_mode("Hashing", output_mode)
        if kwargs.get("dtype") is None:
            kwargs["dtype"] = "int64" if mode == "int" else "float32"
        super().__init__(**kwargs)
        if not isinstance(num_bins, int) or num_bins <= 0:
            raise ValueError(
                f"Hashing: num_bins must be a positive integer, but got num_bins={num_bins}"
            )
        if mode == "int" and self.compute_dtype is not int32:
            raise ValueError(
                f"Hashing: dtype must be an integer type for output_mode 'int', but got "
                f"{kwargs['dtype']!r}"
            )
        self.num_bins = num_bins
        self.mask_value = mask_value
        self.salt = checked_salt("Hashing", salt)
        self.output_mode = mode
        self.sparse = without_sparse("Hashing", sparse)

    def call(self, inputs: Any) -> Any:
        """Number the values."""
        held = wt.asarray(inputs)
        if held.dtype is float32:
            held = wt.astype(held, int32)
        bins, masked = self.num_bins, None
        if self.mask_value is not None and bins > 1:
            bins -= 1
            masked = self.mask_value
        texts = _texts(held)
        hashes = fast_hashes(texts) if self.salt is None else strong_hashes(texts, self.salt)
        numbers = {text: number % bins for text, number in hashes.items()}
        if masked is not None:
            numbers = {text: number + 1 for text, number in numbers.items()}
            numbers[_text(masked)] = 0
        made = wt.tensor([numbers[text] for text in texts], held.shape, int32)
        return encoded(made, self.output_mode, self.num_bins, self.compute_dtype)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the numbers, or of their vectors."""
        if self.output_mode == "int":
            return tuple(input_shape)
        return (*tuple(input_shape)[:-1], self.num_bins)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return a symbolic tensor like what ``call`` returns."""
        return KerasTensor(self.compute_output_shape(args[0].shape), self.compute_dtype)


def _text(value: Any) -> bytes:
    """What is hashed of a value."""
    return value if isinstance(value, bytes) else str(value).encode()


def _texts(held: Tensor) -> list[bytes]:
    """The texts of a tensor, or its integers as texts."""
    if held.dtype is string_:
        return list(texts_of(held))
    return [_text(int(one)) for one in wt.flatten(held).tolist()]


class HashedCrossing(Layer):
    """Numbers below ``num_bins`` for what texts or integers are together, by a hash.

    Inputs are tensors of one shape, (), (batch,) or (batch, 1).

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.HashedCrossing(5)
        >>> layer((["A", "B", "A"], [101, 101, 102])).tolist()
        [1, 4, 3]
    """

    def __init__(
        self,
        num_bins: int,
        output_mode: str = "int",
        sparse: bool = False,
        name: str | None = None,
        dtype: DTypeLike = None,
        **kwargs: Any,
    ) -> None:
        mode = checked_mode("HashedCrossing", output_mode, ("int", "one_hot"))
        if dtype is None:
            dtype = "int64" if mode == "int" else "float32"
        super().__init__(name=name, dtype=dtype, **kwargs)
        if not isinstance(num_bins, int) or num_bins <= 0:
            raise ValueError(
                f"HashedCrossing: num_bins must be a positive integer, but got {num_bins}"
            )
        self.num_bins = num_bins
        self.output_mode = mode
        self.sparse = without_sparse("HashedCrossing", sparse)

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
            raise ValueError(
                f"HashedCrossing: inputs must be a list or a tuple of at least two tensors, but "
                f"got {inputs!r}"
            )
        held = [
            one if isinstance(one, KerasTensor) else wt.asarray(without_objects(one))
            for one in inputs
        ]
        return super().__call__(held, **kwargs)

    def call(self, inputs: Sequence[Tensor]) -> Any:
        """Number what the values are together."""
        shape = inputs[0].shape
        if any(one.shape != shape for one in inputs) or shape[1:] not in ((), (1,)):
            raise ValueError(
                f"HashedCrossing: inputs must have one shape, (), (batch,) or (batch, 1), but "
                f"their shapes are {[one.shape for one in inputs]}"
            )
        if any(one.dtype not in (int32, string_) for one in inputs):
            raise ValueError(
                f"HashedCrossing: inputs must be integers or texts, but are "
                f"{[str(one.dtype) for one in inputs]}"
            )
        rows = zip(*map(_features, inputs), strict=True)
        numbers = [crossed_hash(row) % self.num_bins for row in rows]
        made = wt.tensor(numbers, shape, int32)
        return encoded(made, self.output_mode, self.num_bins, self.compute_dtype)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the numbers, or of their vectors."""
        first, *others = (tuple(one) for one in input_shape)
        if not others or any(one[-1:] != first[-1:] for one in others):
            raise ValueError(
                f"HashedCrossing: inputs must be two tensors or more of one shape, but their "
                f"shapes are {list(input_shape)}"
            )
        if not first:
            return () if self.output_mode == "int" else (self.num_bins,)
        return encoded_shape(first, self.output_mode, self.num_bins)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            "num_bins": self.num_bins,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "name": self.name,
            "dtype": self.dtype_policy.name,
        }


def _features(held: Tensor) -> list[int]:
    """Numbers of 64 bits for what a tensor holds."""
    if held.dtype is not string_:
        return [int(one) for one in wt.flatten(held).tolist()]
    texts = list(texts_of(held))
    hashes = fast_hashes(texts)
    return [hashes[text] for text in texts]
