"""Texts as the indices of their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from itertools import chain
from string import punctuation
from typing import Any, TypeAlias

from webtensor import ops as wt
from webtensor.dtypes import DType, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.array_results import as_array
from webtensor.keras.layers.preprocessing.encoding import (
    MODES,
    CategoryLayer,
    batches_of,
    checked_mode,
    checked_sparse,
    without_objects,
)
from webtensor.keras.layers.preprocessing.lookup import StringLookup, Vocabulary, check_no_file
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.types import Config, Shape
from webtensor.ops.string_elements import text_tensor, texts_of

__all__ = ["TextVectorization"]

_STANDARDIZE = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
_SPLIT = ("whitespace", "character")
_PUNCTUATION = punctuation.encode()
#: The arguments that only the lookup layer has.
_OF_LOOKUP = frozenset(
    {"max_tokens", "output_mode", "pad_to_max_tokens", "vocabulary", "idf_weights"}
)

Standardize: TypeAlias = "str | Callable[[TensorLike], TensorLike] | None"
Split: TypeAlias = "str | Callable[[Tensor], TensorLike] | None"


class TextVectorization(CategoryLayer):
    """Converts texts to the indices of their words in a vocabulary.

    Texts are standardized, split into words, joined to n-grams, and looked up in the vocabulary,
    which is an argument, or which ``adapt`` makes of data.

    Input shape: (batch,) or (batch, 1), of strings.
    Output shape: (batch, words) for ``output_mode="int"``, (batch, words, vocabulary) for
    ``"one_hot"``, otherwise (batch, vocabulary).

    Args:
        max_tokens: an integer, the maximum size of the vocabulary, with the special tokens; None,
            the default, means no maximum.
        standardize: ``"lower_and_strip_punctuation"``, the default, ``"lower"``,
            ``"strip_punctuation"`` (all for ASCII only) or None; or a function of a NumPy array of
            texts that returns such an array (of a string tensor, where there is no NumPy).
        split: ``"whitespace"``, the default, ``"character"`` or None; or a function of a string
            tensor that returns such a tensor or nested lists.
        ngrams: an integer ``n`` for n-grams of 1 to ``n`` words, a tuple of integers for n-grams of
            just these, or None, the default, for single words.
        output_mode: ``"int"`` for indices, ``"one_hot"`` for a vector per word, ``"multi_hot"`` for
            a vector per text with a 1 for each of its words, ``"count"`` for a vector with the
            number of times that each word occurs, ``"tf_idf"`` for counts times ``idf_weights``.
        output_sequence_length: an integer, the number of indices per text: texts are padded with 0
            or truncated. By default the longest text of a batch determines it.
        pad_to_max_tokens: a boolean, whether vectors have the size ``max_tokens``, even if the
            vocabulary is smaller.
        vocabulary: a list, an array or a tensor of words, or the name of a file with a word per
            line; None if ``adapt`` or ``set_vocabulary`` provides it.
        idf_weights: a list, an array or a tensor with the inverse document frequency of each word
            of ``vocabulary``, for ``output_mode="tf_idf"``.
        ragged: False; tensors are always rectangular.
        encoding: the name of the encoding of Python strings in the vocabulary.

    Raises:
        ValueError: an argument is invalid, or does not fit the others.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.TextVectorization()
        >>> layer.adapt(["The fox.", "the dog and the fox"])
        >>> layer.get_vocabulary()
        ['', '[UNK]', 'the', 'fox', 'dog', 'and']
        >>> layer(["A fox!", "The"]).tolist()
        [[1, 3], [2, 0]]
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: Standardize = "lower_and_strip_punctuation",
        split: Split = "whitespace",
        ngrams: int | tuple[int, ...] | None = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False,
        vocabulary: Vocabulary | None = None,
        idf_weights: TensorLike | None = None,
        sparse: bool = False,
        ragged: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        kind = "TextVectorization"
        vocabulary_size = kwargs.pop("vocabulary_size", None)
        has_input_vocabulary = kwargs.pop("has_input_vocabulary", None)
        super().__init__(name=name, **kwargs)
        _check_choice("standardize", standardize, _STANDARDIZE)
        _check_choice("split", split, _SPLIT)
        widths = ngrams if isinstance(ngrams, tuple) else (ngrams,)
        if ngrams is not None and not all(isinstance(width, int) for width in widths):
            raise ValueError(
                f"{kind}: ngrams must be an integer, a tuple of them or None, but got {ngrams!r}"
            )
        mode = checked_mode(kind, output_mode, (*MODES, "tf_idf"))
        length = output_sequence_length
        if length is not None and (mode != "int" or not isinstance(length, int)):
            raise ValueError(
                f"{kind}: output_sequence_length must be an integer, and is for output_mode 'int', "
                f"but got {length!r} and {output_mode!r}"
            )
        if ragged:
            raise ValueError(f"{kind}: ragged must be False: layers do not support ragged tensors")
        self.sparse, self.ragged = checked_sparse(kind, sparse), False
        self.standardize, self.split, self.ngrams = standardize, split, ngrams
        self.output_sequence_length, self.encoding = length, encoding
        self._lookup_layer = StringLookup(
            max_tokens,
            mask_token="",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            output_mode=mode,
            pad_to_max_tokens=pad_to_max_tokens,
            encoding=encoding,
            vocabulary_size=vocabulary_size,
            has_input_vocabulary=has_input_vocabulary,
        )

    # -- vocabularies --------------------------------------------------------------------------

    def adapt(
        self,
        data: TensorLike | Iterable[TensorLike],
        batch_size: int | None = None,
        steps: int | None = None,
    ) -> None:
        """Replace the vocabulary by the words in data, the most frequent ones first.

        ``data`` is an array, a tensor, a list of texts, or another iterable of batches of them, of
        which the first ``steps`` count. ``batch_size`` changes nothing.

        Raises:
            ValueError: the layer was created with a vocabulary.
        """
        self.reset_state()
        if hasattr(data, "shape") or isinstance(data, (list, tuple)):
            self.update_state(data)
        else:
            for batch in batches_of(data, steps):
                self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: TensorLike) -> None:
        """Count the words of a batch."""
        self._lookup_layer._count(self._words(data)[0])

    def finalize_state(self) -> None:
        """Replace the vocabulary by the counted words."""
        self._lookup_layer.finalize_state()

    def reset_state(self) -> None:
        """Reset the counts of words."""
        self._lookup_layer.reset_state()

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Return the words in the order of their indices."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def set_vocabulary(self, vocabulary: Vocabulary, idf_weights: TensorLike | None = None) -> None:
        """Set the words. See ``StringLookup.set_vocabulary``."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights)

    def vocabulary_size(self) -> int:
        """Return the size of the vocabulary, with the special tokens."""
        return self._lookup_layer.vocabulary_size()

    # -- words ---------------------------------------------------------------------------------

    def _words(self, inputs: TensorLike) -> tuple[list[list[bytes]], tuple[int, ...]]:
        """Return the words of each text, in row-major order, and the shape of the texts."""
        texts = inputs if isinstance(inputs, Tensor) else wt.asarray(without_objects(inputs))
        if callable(self.standardize):
            texts = wt.asarray(without_objects(self.standardize(_as_text_array(texts))))
        elements = _standardized(texts_of(texts), self.standardize)
        shape = texts.shape
        if self.split is None:
            length = shape[-1] if shape else 1
            count = len(elements) // length if length else 0
            rows = [elements[index * length : (index + 1) * length] for index in range(count)]
            shape = shape[:-1]
        else:
            if len(shape) > 1:
                if shape[-1] != 1:
                    raise ValueError(
                        f"TextVectorization: inputs must have shape (batch,) or (…, 1) to be "
                        f"split, but their shape is {shape}"
                    )
                shape = shape[:-1]
            rows = self._split_texts(elements, shape)
        widths = self.ngrams
        if widths is None:
            return rows, shape
        return [_ngrams(row, widths) for row in rows], shape

    def _split_texts(self, texts: list[bytes], shape: tuple[int, ...]) -> list[list[bytes]]:
        if self.split == "whitespace":
            return [text.split() for text in texts]
        if not callable(self.split):
            return [
                [character.encode() for character in text.decode("utf-8", "replace")]
                for text in texts
            ]
        words = self.split(text_tensor(texts, shape))
        nested = words.tolist() if hasattr(words, "tolist") else words
        return [[_as_bytes(word) for word in row] for row in (nested if shape else [nested])]

    def call(self, inputs: TensorLike) -> Tensor:
        """Look up the words.

        Raises:
            RuntimeError: there is no vocabulary yet.
        """
        rows, shape = self._words(inputs)
        lookup = self._lookup_layer
        indices = lookup.indices_of(list(chain.from_iterable(rows)))
        is_int = lookup.output_mode == "int"
        length = self.output_sequence_length
        if length is None:
            length = max(map(len, rows), default=0)
        # Vectors ignore the padding: its index is beyond their size.
        filler = 0 if is_int else lookup._depth()
        padded: list[int] = []
        begin = 0
        for row in rows:
            row_indices = indices[begin : begin + min(len(row), length)]
            padded += row_indices + [filler] * (length - len(row_indices))
            begin += len(row)
        if is_int or lookup.output_mode == "one_hot":
            return lookup.encode(wt.tensor(padded, (*shape, length), int32))
        vectors = lookup.encode(wt.tensor(padded, (len(rows), length), int32))
        return wt.reshape(vectors, (*shape, vectors.shape[-1]))

    # -- shapes and configurations -------------------------------------------------------------

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the indices, or of the vectors."""
        shape = tuple(input_shape)
        mode, length = self._lookup_layer.output_mode, self.output_sequence_length
        if self.split is not None:
            shape = shape[:-1] if len(shape) > 1 else shape
            shape = (*shape, length)
        elif mode == "int":
            shape = (*shape[:-1], length if length is not None else shape[-1])
        if mode == "int":
            return shape
        depth = self._lookup_layer.compute_output_shape((None,))[-1]
        return (*shape, depth) if mode == "one_hot" else (*shape[:-1], depth)

    @property
    def output_dtype(self) -> DType:
        """The dtype of the outputs."""
        return self._lookup_layer.output_dtype

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer, and the vocabulary's size."""
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size()}

    def _config_value(self, name: str) -> Any:
        if name in ("standardize", "split"):
            return getattr(self, name)
        if name in _OF_LOOKUP:
            return self._lookup_layer._config_value(name)
        return super()._config_value(name)

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Create a layer from a configuration.

        Raises:
            ValueError: the vocabulary is the name of a file, which a configuration may not open.
        """
        check_no_file("TextVectorization", config)
        config = dict(config)
        for argument in ("standardize", "split"):
            if isinstance(config.get(argument), dict):
                config[argument] = deserialize_keras_object(config[argument])
        if isinstance(config.get("ngrams"), list):
            config["ngrams"] = tuple(config["ngrams"])
        return super().from_config(config)

    # -- saving --------------------------------------------------------------------------------

    def save_own_variables(self, store: MutableMapping[str, TensorLike]) -> None:
        """Save the weights of "tf_idf" to a mapping."""
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store: Mapping[str, TensorLike]) -> None:
        """Load the weights of "tf_idf" from a mapping."""
        self._lookup_layer.load_own_variables(store)

    def save_assets(self, dir_path: str) -> None:
        """Write the vocabulary to a folder."""
        self._lookup_layer.save_assets(dir_path)

    def load_assets(self, dir_path: str) -> None:
        """Read the vocabulary from a folder."""
        self._lookup_layer.load_assets(dir_path)


def _check_choice(argument: str, value: object, choices: tuple[str, ...]) -> None:
    if value is not None and not callable(value) and value not in choices:
        raise ValueError(
            f"TextVectorization: {argument} must be one of {', '.join(choices)}, a function or "
            f"None, but got {value!r}"
        )


def _as_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _standardized(texts: Iterable[bytes], standardize: Standardize) -> list[bytes]:
    """Return texts in lower case, or without punctuation, or both; only ASCII letters change."""
    if standardize in ("lower", "lower_and_strip_punctuation"):
        texts = [text.lower() for text in texts]
    if standardize in ("strip_punctuation", "lower_and_strip_punctuation"):
        texts = [text.translate(None, _PUNCTUATION) for text in texts]
    return list(texts)


def _ngrams(words: list[bytes], widths: int | tuple[int, ...]) -> list[bytes]:
    """Return the n-grams of a text, for each width."""
    return [
        b" ".join(words[begin : begin + width])
        for width in (range(1, widths + 1) if isinstance(widths, int) else widths)
        for begin in range(len(words) - width + 1)
    ]


def _as_text_array(texts: Tensor) -> TensorLike:
    """Convert a string tensor to a NumPy array of texts, where there is NumPy."""
    array = as_array(texts)
    return array if isinstance(array, Tensor) else array.astype(str)
