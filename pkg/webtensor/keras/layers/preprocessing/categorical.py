"""Layers for categories: vectors for their indices, and indices by hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32, int32, string_
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import ALWAYS, check_positive, is_integer
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.preprocessing.encoding import (
    CategoryLayer,
    checked_mode,
    checked_sparse,
    encoded,
    encoded_shape,
    without_objects,
)
from webtensor.keras.layers.preprocessing.hashes import (
    Salt,
    checked_salt,
    crossed_hash,
    fast_hashes,
    strong_hashes,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import DTypeLike, Shape
from webtensor.ops.string_elements import texts_of

__all__ = ["CategoryEncoding", "HashedCrossing", "Hashing"]


class CategoryEncoding(CategoryLayer):
    """Encodes indices of categories as vectors of the size ``num_tokens``.

    Input shape: (batch, categories), of integers from 0 to ``num_tokens - 1``.
    Output shape: (batch, ``num_tokens``), or (batch, categories, ``num_tokens``) for
    ``output_mode="one_hot"``.

    Args:
        num_tokens: a positive integer, the number of categories.
        output_mode: ``"multi_hot"``, the default, for a vector per example with a 1 at each of its
            indices; ``"one_hot"`` for a vector per index; ``"count"`` for a vector per example
            with the number of times that each index occurs, or with the sum of its
            ``count_weights``, an argument of calls.

    Raises:
        ValueError: ``num_tokens`` is not a positive integer, or ``output_mode`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.CategoryEncoding(4, output_mode="count")([[0, 1], [3, 3]]).tolist()
        [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    """

    _config_omits: ClassVar[Mapping[str, object]] = {"sparse": ALWAYS}

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
        if not is_integer(num_tokens) or int(num_tokens) < 1:
            raise ValueError(
                f"CategoryEncoding: num_tokens must be a positive integer, but got {num_tokens}; "
                "if the number of categories is unknown, use IntegerLookup"
            )
        self.num_tokens = int(num_tokens)
        self.sparse = checked_sparse("CategoryEncoding", sparse)

    def call(self, inputs: TensorLike, count_weights: TensorLike | None = None) -> Tensor:
        """Encode the indices."""
        weights = None
        if count_weights is not None:
            if self.output_mode != "count":
                raise ValueError(
                    f"CategoryEncoding: count_weights are for output_mode 'count', but it is "
                    f"{self.output_mode!r}"
                )
            weights = wt.astype(wt.asarray(count_weights), float32, copy=False)
        indices = wt.astype(wt.asarray(inputs), int32, copy=False)
        return encoded(indices, self.output_mode, self.num_tokens, self.compute_dtype, weights)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the vectors."""
        return encoded_shape(tuple(input_shape), self.output_mode, self.num_tokens)


class Hashing(CategoryLayer):
    """Converts strings or integers to indices below ``num_bins``, by a hash.

    The hash is FarmHash's Fingerprint64, or with ``salt``, SipHash; both are the same in every
    process.

    Input shape: any, of strings or of integers.
    Output shape: that of the inputs for ``output_mode="int"``; otherwise ``num_bins`` is the last
    dimension.

    Args:
        num_bins: a positive integer, the number of indices.
        mask_value: a string or an integer that has index 0, which no other input has then; or
            None, the default.
        salt: an integer or two of them, the key of SipHash; None, the default, stands for
            Fingerprint64.

    Raises:
        ValueError: ``num_bins`` is not positive, ``salt`` or ``output_mode`` is invalid, or
            ``dtype`` is no integer type for ``output_mode="int"``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Hashing(3)([["A"], ["B"], ["C"], ["D"], ["E"]]).tolist()
        [[1], [0], [1], [1], [2]]
    """

    def __init__(
        self,
        num_bins: int,
        mask_value: str | int | None = None,
        salt: Salt = None,
        output_mode: str = "int",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        mode = checked_mode("Hashing", output_mode)
        if kwargs.get("dtype") is None:
            kwargs["dtype"] = "int64" if mode == "int" else "float32"
        super().__init__(**kwargs)
        check_positive("Hashing", num_bins=num_bins)
        if mode == "int" and self.compute_dtype is not int32:
            raise ValueError(
                f"Hashing: dtype must be an integer type for output_mode 'int', but got "
                f"{kwargs['dtype']!r}"
            )
        self.num_bins = int(num_bins)
        self.mask_value = mask_value
        self.salt = checked_salt("Hashing", salt)
        self.output_mode = mode
        self.sparse = checked_sparse("Hashing", sparse)

    def call(self, inputs: TensorLike) -> Tensor:
        """Hash the inputs."""
        values = wt.asarray(inputs)
        if values.dtype is float32:
            values = wt.astype(values, int32)
        texts = _texts(values)
        hashes = fast_hashes(texts) if self.salt is None else strong_hashes(texts, self.salt)
        if self.mask_value is None or self.num_bins == 1:
            bins = {text: number % self.num_bins for text, number in hashes.items()}
        else:
            bins = {text: number % (self.num_bins - 1) + 1 for text, number in hashes.items()}
            bins[_text(self.mask_value)] = 0
        indices = wt.tensor([bins[text] for text in texts], values.shape, int32)
        return encoded(indices, self.output_mode, self.num_bins, self.compute_dtype)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the indices, or of their vectors."""
        if self.output_mode == "int":
            return tuple(input_shape)
        return (*tuple(input_shape)[:-1], self.num_bins)


def _text(value: str | bytes | int) -> bytes:
    """Return the bytes that represent a value in its hash."""
    return value if isinstance(value, bytes) else str(value).encode()


def _texts(values: Tensor) -> list[bytes]:
    """Return the strings of a tensor, or its integers as strings."""
    if values.dtype is string_:
        return list(texts_of(values))
    return [_text(int(number)) for number in wt.flatten(values).tolist()]


class HashedCrossing(Layer):
    """Converts combinations of strings or integers to indices below ``num_bins``, by a hash.

    Input shape: two tensors or more of one shape, (), (batch,) or (batch, 1).
    Output shape: that of each input for ``output_mode="int"``, or with ``num_bins`` as the last
    dimension for ``"one_hot"``.

    Args:
        num_bins: a positive integer, the number of indices.
        output_mode: ``"int"`` for indices, or ``"one_hot"`` for a vector per index.
        sparse: False; tensors are always dense.

    Raises:
        ValueError: ``num_bins`` is not positive, or ``output_mode`` is unknown; in calls, inputs
            differ in shape, or are neither strings nor integers.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.HashedCrossing(5)
        >>> layer((["A", "B", "A"], [101, 101, 102])).tolist()
        [1, 4, 3]
    """

    _config_omits: ClassVar[Mapping[str, object]] = {
        "activity_regularizer": ALWAYS,
        "trainable": ALWAYS,
    }

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
        check_positive("HashedCrossing", num_bins=num_bins)
        self.num_bins = int(num_bins)
        self.output_mode = mode
        self.sparse = checked_sparse("HashedCrossing", sparse)

    def __call__(self, inputs: Sequence[TensorLike], **kwargs: Any) -> Any:
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
            raise ValueError(
                f"HashedCrossing: inputs must be a list or a tuple of at least two tensors, but "
                f"got {inputs!r}"
            )
        operands = [
            operand if isinstance(operand, KerasTensor) else wt.asarray(without_objects(operand))
            for operand in inputs
        ]
        return super().__call__(operands, **kwargs)

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        """Hash the combinations."""
        shape = inputs[0].shape
        if any(operand.shape != shape for operand in inputs) or shape[1:] not in ((), (1,)):
            raise ValueError(
                f"HashedCrossing: inputs must have one shape, (), (batch,) or (batch, 1), but "
                f"their shapes are {[operand.shape for operand in inputs]}"
            )
        if any(operand.dtype not in (int32, string_) for operand in inputs):
            raise ValueError(
                f"HashedCrossing: inputs must be integers or strings, but are "
                f"{[str(operand.dtype) for operand in inputs]}"
            )
        rows = zip(*map(_fingerprints, inputs), strict=True)
        bins = [crossed_hash(row) % self.num_bins for row in rows]
        indices = wt.tensor(bins, shape, int32)
        return encoded(indices, self.output_mode, self.num_bins, self.compute_dtype)

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        """Return the shape of the indices, or of their vectors."""
        first, *others = map(tuple, input_shape)
        if not others or any(shape[-1:] != first[-1:] for shape in others):
            raise ValueError(
                f"HashedCrossing: inputs must be two tensors or more of one shape, but their "
                f"shapes are {list(input_shape)}"
            )
        if not first:
            return () if self.output_mode == "int" else (self.num_bins,)
        return encoded_shape(first, self.output_mode, self.num_bins)

    def _config_value(self, name: str) -> Any:
        return self.dtype_policy.name if name == "dtype" else super()._config_value(name)


def _fingerprints(values: Tensor) -> list[int]:
    """Return a 64-bit number for each element: an integer itself, or the hash of a string."""
    if values.dtype is not string_:
        return [int(number) for number in wt.flatten(values).tolist()]
    texts = texts_of(values)
    hashes = fast_hashes(texts)
    return [hashes[text] for text in texts]
