"""Texts as numbers of their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from string import punctuation
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.encoding import (
    MODES,
    CategoryLayer,
    batches_of,
    checked_mode,
    without_objects,
    without_sparse,
)
from webtensor.keras.layers.preprocessing.lookup import StringLookup
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config
from webtensor.keras.utils.labels import as_array
from webtensor.ops.string_elements import text_tensor, texts_of
from webtensor.shapes import Shape

__all__ = ["TextVectorization"]

_STANDARDIZE = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
_SPLIT = ("whitespace", "character")
_PUNCTUATION = punctuation.encode()


class TextVectorization(CategoryLayer):
    """Numbers of the words of texts, in a vocabulary that is given or made by ``adapt``.

    Texts are standardized (``standardize``: letters of ASCII in lower case, no punctuation), split
    (``split``: at whitespace, or into characters), joined to ``ngrams`` of neighbours, and looked
    up. In place of a name, these may be functions: ``standardize`` one of a NumPy array of texts,
    or of a string tensor where there is no NumPy, that returns such; ``split`` one of a string
    tensor that returns one or nested lists.

    ``output_mode`` "int" returns numbers, filled up with 0 to ``output_sequence_length`` or the
    longest text; "multi_hot", "count" and "tf_idf" return a vector per text, "one_hot" one per
    word.

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
        standardize: Any = "lower_and_strip_punctuation",
        split: Any = "whitespace",
        ngrams: Any = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False,
        vocabulary: Any = None,
        idf_weights: Any = None,
        sparse: bool = False,
        ragged: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        kind = "TextVectorization"
        size = kwargs.pop("vocabulary_size", None)
        has_vocabulary = kwargs.pop("has_input_vocabulary", None)
        super().__init__(name=name, **kwargs)
        for argument, value, known in (
            ("standardize", standardize, _STANDARDIZE),
            ("split", split, _SPLIT),
        ):
            if value is not None and not callable(value) and value not in known:
                raise ValueError(
                    f"{kind}: {argument} must be one of {', '.join(known)}, a function or None, "
                    f"but got {value!r}"
                )
        several = ngrams if isinstance(ngrams, tuple) else (ngrams,)
        if ngrams is not None and not all(isinstance(one, int) for one in several):
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
            raise ValueError(f"{kind}: ragged must be False: layers take no ragged tensors")
        without_sparse(kind, sparse)
        self._standardize, self._split, self._ngrams = standardize, split, ngrams
        self._length, self._encoding = length, encoding
        self._lookup_layer = StringLookup(
            max_tokens,
            mask_token="",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            output_mode=mode,
            pad_to_max_tokens=pad_to_max_tokens,
            encoding=encoding,
            vocabulary_size=size,
            has_input_vocabulary=has_vocabulary,
        )

    # -- vocabularies --------------------------------------------------------------------------

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Make a vocabulary of the words in data: the most frequent ones first.

        ``data`` is an array, a tensor, a list of texts, or another iterable of batches of them.
        """
        self.reset_state()
        if hasattr(data, "shape") or isinstance(data, (list, tuple)):
            self.update_state(data)
        else:
            for batch in batches_of(data, steps):
                self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: Any) -> None:
        """Count the words of a batch."""
        self._lookup_layer._count(self._words(data)[0])

    def finalize_state(self) -> None:
        """Make the vocabulary of what was counted."""
        self._lookup_layer.finalize_state()

    def reset_state(self) -> None:
        """Forget what was counted."""
        self._lookup_layer.reset_state()

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Return the words in the order of their numbers."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Give the layer its words. See ``StringLookup.set_vocabulary``."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights)

    def vocabulary_size(self) -> int:
        """Return how many words there are, special tokens included."""
        return self._lookup_layer.vocabulary_size()

    # -- words ---------------------------------------------------------------------------------

    def _words(self, inputs: Any) -> tuple[list[list[bytes]], Shape]:
        """The words of each text, one text after the other, and the shape of the texts."""
        held = inputs if isinstance(inputs, Tensor) else wt.asarray(without_objects(inputs))
        if callable(self._standardize):
            held = wt.asarray(without_objects(self._standardize(_as_texts(held))))
        texts = _standardized(texts_of(held), self._standardize)
        shape = held.shape
        if self._split is None:
            length = shape[-1] if shape else 1
            outer = len(texts) // length if length else 0
            rows = [texts[place * length : (place + 1) * length] for place in range(outer)]
            shape = shape[:-1]
        else:
            if len(shape) > 1:
                if shape[-1] != 1:
                    raise ValueError(
                        f"TextVectorization: inputs must have rank 1, or 1 as their last length, "
                        f"to be split, but their shape is {shape}"
                    )
                shape = shape[:-1]
            rows = self._parts(texts, shape)
        widths = self._ngrams
        if widths is None:
            return rows, shape
        return [_joined(row, widths) for row in rows], shape

    def _parts(self, texts: list[bytes], shape: Shape) -> list[list[bytes]]:
        if self._split == "whitespace":
            return [text.split() for text in texts]
        if self._split == "character":
            return [[one.encode() for one in text.decode("utf-8", "replace")] for text in texts]
        made = self._split(text_tensor(texts, shape))
        nested = made.tolist() if hasattr(made, "tolist") else made
        if not shape:
            nested = [nested]
        return [[_bytes(one) for one in row] for row in nested]

    def call(self, inputs: Any) -> Any:
        """Number the words."""
        rows, shape = self._words(inputs)
        lookup = self._lookup_layer
        numbers = lookup.numbers_of(list(chain.from_iterable(rows)))
        is_int = lookup.output_mode == "int"
        length = self._length
        if length is None:
            length = max(map(len, rows), default=0)
        # What fills up does not count: it has a number beyond all vectors.
        filler = 0 if is_int else lookup._depth()
        flat: list[int] = []
        begin = 0
        for row in rows:
            own = numbers[begin : begin + min(len(row), length)]
            flat += own + [filler] * (length - len(own))
            begin += len(row)
        if is_int or lookup.output_mode == "one_hot":
            return lookup.encode(wt.tensor(flat, (*shape, length), int32))
        made = lookup.encode(wt.tensor(flat, (len(rows), length), int32))
        return wt.reshape(made, (*shape, made.shape[-1]))

    # -- shapes and configurations -------------------------------------------------------------

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the numbers, or of the vectors."""
        shape = tuple(input_shape)
        mode = self._lookup_layer.output_mode
        if self._split is not None:
            shape = shape[:-1] if len(shape) > 1 else shape
            shape = (*shape, self._length)
        elif mode == "int":
            shape = (*shape[:-1], self._length if self._length is not None else shape[-1])
        if mode == "int":
            return shape
        depth = self._lookup_layer.compute_output_shape((None,))[-1]
        return (*shape, depth) if mode == "one_hot" else (*shape[:-1], depth)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return a symbolic tensor like what ``call`` returns."""
        dtype = int32 if self._lookup_layer.output_mode == "int" else float32
        return KerasTensor(self.compute_output_shape(args[0].shape), dtype)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        lookup = self._lookup_layer
        return {
            **super().get_config(),
            "max_tokens": lookup.max_tokens,
            "standardize": self._standardize,
            "split": self._split,
            "ngrams": self._ngrams,
            "output_mode": lookup.output_mode,
            "output_sequence_length": self._length,
            "pad_to_max_tokens": lookup.pad_to_max_tokens,
            "sparse": lookup.sparse,
            "ragged": False,
            "vocabulary": lookup.input_vocabulary,
            "idf_weights": lookup.input_idf_weights,
            "encoding": self._encoding,
            "vocabulary_size": self.vocabulary_size(),
        }

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dict(config)
        for argument in ("standardize", "split"):
            if isinstance(config.get(argument), dict):
                config[argument] = deserialize_keras_object(config[argument])
        if isinstance(config.get("ngrams"), list):
            config["ngrams"] = tuple(config["ngrams"])
        if isinstance(config.get("vocabulary"), str):
            raise ValueError(
                f"TextVectorization: a configuration may not name a file, but vocabulary is "
                f"{config['vocabulary']!r}"
            )
        return super().from_config(config)

    # -- saving --------------------------------------------------------------------------------

    def save_own_variables(self, store: Any) -> None:
        """Put the weights of "tf_idf" into a mapping."""
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store: Any) -> None:
        """Take the weights of "tf_idf" from a mapping."""
        self._lookup_layer.load_own_variables(store)

    def save_assets(self, dir_path: str) -> None:
        """Write the vocabulary into a folder."""
        self._lookup_layer.save_assets(dir_path)

    def load_assets(self, dir_path: str) -> None:
        """Read the vocabulary from a folder."""
        self._lookup_layer.load_assets(dir_path)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _standardized(texts: Iterable[bytes], how: str | Callable[..., Any] | None) -> list[bytes]:
    """Texts in lower case, or without punctuation, or both; only ASCII is known."""
    made = list(texts)
    if how in ("lower", "lower_and_strip_punctuation"):
        made = [text.lower() for text in made]
    if how in ("strip_punctuation", "lower_and_strip_punctuation"):
        made = [text.translate(None, _PUNCTUATION) for text in made]
    return made


def _joined(words: list[bytes], widths: int | tuple[int, ...]) -> list[bytes]:
    """Words joined with their neighbours, for each of some widths."""
    return [
        b" ".join(words[place : place + width])
        for width in (range(1, widths + 1) if isinstance(widths, int) else widths)
        for place in range(len(words) - width + 1)
    ]


def _as_texts(held: Tensor) -> Any:
    """Return a string tensor as an array of texts where there is NumPy."""
    array = as_array(held)
    return array if isinstance(array, Tensor) else array.astype(str)
