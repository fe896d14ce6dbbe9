"""Lookups: numbers of words or integers in a vocabulary, and the other way round.

A vocabulary lies on the host, as a dictionary of UTF-8 bytes or integers. Its first numbers are
those of special tokens: of the mask, where there is one and numbers are returned, then of what is
out of the vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from pathlib import Path
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import DType, float32, int32, string_
from webtensor.engine import Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.budgets import claim
from webtensor.keras.layers.preprocessing.encoding import (
    MODES,
    CategoryLayer,
    batches_of,
    checked_mode,
    encoded,
    encoded_shape,
    without_objects,
    without_sparse,
)
from webtensor.keras.layers.preprocessing.hashes import checked_salt, fast_hashes, strong_hashes
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config
from webtensor.ops.string_elements import text_tensor, texts_of
from webtensor.shapes import Shape

__all__ = ["IndexLookup", "IntegerLookup", "StringLookup"]

Token = bytes | int
_FILE = "vocabulary.txt"


class IndexLookup(CategoryLayer):
    """What the lookups of texts and of integers share."""

    #: Dtype of the tokens.
    _KIND: DType

    def __init__(
        self,
        max_tokens: int | None,
        num_oov_indices: int,
        mask_token: Any,
        oov_token: Any,
        vocabulary: Any,
        idf_weights: Any,
        invert: bool,
        output_mode: str,
        sparse: bool,
        pad_to_max_tokens: bool,
        oov_method: str = "floormod",
        salt: Any = None,
        name: str | None = None,
        vocabulary_size: int | None = None,
        has_input_vocabulary: bool | None = None,
        **kwargs: Any,
    ) -> None:
        kind = type(self).__name__
        for unused in ("dtype", "trainable"):
            kwargs.pop(unused, None)
        super().__init__(name=name, **kwargs)
        _check_sizes(kind, max_tokens, num_oov_indices, pad_to_max_tokens)
        claim(num_oov_indices, f"{kind}: num_oov_indices={num_oov_indices}")
        if oov_method not in ("floormod", "farmhash"):
            raise ValueError(
                f"{kind}: oov_method must be 'floormod' or 'farmhash', but got {oov_method!r}"
            )
        if salt is not None and self._KIND is int32 and oov_method != "farmhash":
            raise ValueError(f"{kind}: salt is for oov_method 'farmhash', but it is {oov_method!r}")
        self.output_mode = checked_mode(kind, output_mode, (*MODES, "tf_idf"))
        if invert and self.output_mode != "int":
            raise ValueError(
                f"{kind}: output_mode must be 'int' where invert is set, but got {output_mode!r}"
            )
        self.sparse = without_sparse(kind, sparse)
        self.invert = invert
        self.max_tokens, self.pad_to_max_tokens = max_tokens, pad_to_max_tokens
        self.num_oov_indices, self.oov_method = num_oov_indices, oov_method
        self.mask_token, self.oov_token = mask_token, oov_token
        self.salt = checked_salt(kind, salt)
        self.input_vocabulary = None if isinstance(vocabulary, str) else _listed(vocabulary)
        self.input_idf_weights = _listed(idf_weights)
        given = vocabulary is not None
        self._has_vocabulary = given if has_input_vocabulary is None else has_input_vocabulary
        self._frozen_size = vocabulary_size
        self.idf_weights: Any = None
        self._tokens: list[Token] = []
        self._places: dict[Token, int] = {}
        self.reset_state()
        if self.output_mode == "tf_idf" and given and idf_weights is None:
            raise ValueError(f"{kind}: idf_weights must be given with a vocabulary for 'tf_idf'")
        if idf_weights is not None and self.output_mode != "tf_idf":
            raise ValueError(
                f"{kind}: idf_weights are for output_mode 'tf_idf', but it is {output_mode!r}"
            )
        if given:
            self.set_vocabulary(vocabulary, idf_weights)

    # -- tokens --------------------------------------------------------------------------------

    def _token(self, value: Any) -> Any:
        """A token as the dictionary knows it; None stays."""
        raise NotImplementedError

    def _shown(self, token: Any) -> Any:
        """A token as users see it."""
        return token.decode("utf-8", "replace") if isinstance(token, bytes) else token

    def _values(self, inputs: Any) -> tuple[list[Token], Shape]:
        """The tokens of a tensor, an array or a nested list, and its shape."""
        held = inputs if isinstance(inputs, Tensor) else wt.asarray(without_objects(inputs))
        if held.dtype is string_:
            return [self._token(one) for one in texts_of(held)], held.shape
        return [self._token(one) for one in wt.flatten(held).tolist()], held.shape

    def _oov_start(self) -> int:
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    def _token_start(self) -> int:
        return self._oov_start() + self.num_oov_indices

    # -- vocabularies --------------------------------------------------------------------------

    def vocabulary_size(self) -> int:
        """Return how many tokens there are, special ones included."""
        return len(self._tokens) + self._token_start()

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """Return the tokens in the order of their numbers."""
        tokens = [self._shown(one) for one in self._tokens]
        if not include_special_tokens:
            return tokens
        masks = [self.mask_token] * self._oov_start()
        return [*masks, *[self.oov_token] * self.num_oov_indices, *tokens]

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Give the layer its tokens: a list, an array, or the name of a file with one per line.

        Special tokens may come first. ``idf_weights`` has a weight per token, for "tf_idf".

        Raises:
            ValueError: tokens repeat or are too many, or a special one is among them.
        """
        kind = type(self).__name__
        if (self.output_mode == "tf_idf") == (idf_weights is None):
            raise ValueError(
                f"{kind}: idf_weights must be given for output_mode 'tf_idf' and for no other, "
                f"but output_mode={self.output_mode!r} and idf_weights={idf_weights}"
            )
        given = [self._token(one) for one in _tokens_of(kind, vocabulary)]
        if not given:
            raise ValueError(f"{kind}: vocabulary must not be empty, but got {vocabulary!r}")
        start = self._token_start()
        mask, unknown = self._token(self.mask_token), self._token(self.oov_token)
        masks = self._oov_start()
        has_special = (
            len(given) >= start
            and given[:masks] == [mask] * masks
            and all(token == unknown for token in given[masks:start])
        )
        tokens = given[start:] if has_special else given
        self._check_tokens(tokens)
        self._install(tokens)
        if idf_weights is not None:
            weights = [float(one) for one in wt.asarray(idf_weights, dtype=float32).tolist()]
            if len(weights) != len(given):
                raise ValueError(
                    f"{kind}: idf_weights must have a weight for each of {len(given)} tokens, but "
                    f"has {len(weights)}"
                )
            if not has_special:
                weights = [sum(weights) / len(weights)] * start + weights
            self._weigh(weights)

    def _check_tokens(self, tokens: Sequence[Any]) -> None:
        kind = type(self).__name__
        repeated = [self._shown(one) for one, count in Counter(tokens).items() if count > 1]
        if repeated:
            raise ValueError(f"{kind}: vocabulary has repeated tokens: {repeated}")
        reserved = [("mask_token", self.mask_token)]
        if self.invert:
            reserved.append(("oov_token", self.oov_token))
        for name, token in reserved:
            if token is not None and self._token(token) in tokens:
                raise ValueError(
                    f"{kind}: vocabulary must have the special tokens at its beginning or not at "
                    f"all: mask_token={self.mask_token!r}, then num_oov_indices="
                    f"{self.num_oov_indices} times oov_token={self.oov_token!r}; but "
                    f"{name}={token!r} is elsewhere"
                )
        size = self._token_start() + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError(
                f"{kind}: vocabulary must be no larger than max_tokens={self.max_tokens}, but its "
                f"size is {size}, special tokens included"
            )

    def _install(self, tokens: Sequence[Token]) -> None:
        """Number the tokens."""
        self._tokens = list(tokens)
        start = self._token_start()
        self._places = {token: place for place, token in enumerate(tokens, start)}
        self._record_size()

    def _record_size(self) -> None:
        """Keep the size, which may not change where outputs have it as their length."""
        size = self.vocabulary_size()
        is_free = self.output_mode == "int" or self.pad_to_max_tokens
        if not is_free and self._frozen_size is not None and size != self._frozen_size:
            raise RuntimeError(
                f"{type(self).__name__}: the size of the vocabulary may not change for "
                f"output_mode={self.output_mode!r} without pad_to_max_tokens, but it was "
                f"{self._frozen_size} and would be {size}"
            )
        self._frozen_size = size

    def _weigh(self, weights: list[float]) -> None:
        """Keep the weights of "tf_idf"."""
        if self.pad_to_max_tokens and self.max_tokens is not None:
            weights = weights + [0.0] * (self.max_tokens - len(weights))
        with outside_scopes():
            self.idf_weights = wt.tensor(weights, dtype=float32)

    # -- adapting ------------------------------------------------------------------------------

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Make a vocabulary of data: the most frequent tokens first.

        ``data`` is an array, a tensor, a nested list, or another iterable of batches of them.
        """
        self.reset_state()
        if hasattr(data, "shape") or isinstance(data, (list, tuple)):
            values, shape = self._values(data)
            self._count(_rows(values, (*shape, 1) if len(shape) == 1 else shape))
        else:
            for batch in batches_of(data, steps):
                self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: Any) -> None:
        """Count the tokens of a batch."""
        values, shape = self._values(data)
        self._count(_rows(values, (1, *shape) if len(shape) == 1 else shape))

    def _count(self, rows: Iterable[Sequence[Token]]) -> None:
        """Count tokens, and the examples that have them."""
        if self._has_vocabulary:
            raise ValueError(
                f"{type(self).__name__}: layer {self.name!r} has a vocabulary that was given, so "
                "it cannot be adapted"
            )
        for row in rows:
            self._counts.update(row)
            self._examples.update(set(row))
            self._number += 1

    def finalize_state(self) -> None:
        """Make the vocabulary of what was counted."""
        for token in (self.mask_token, self.oov_token):
            self._counts.pop(self._token(token), None)
        if self._has_vocabulary or not self._counts:
            self._record_size()
            return
        counts = self._counts
        tokens = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        start = self._token_start()
        if self.max_tokens:
            tokens = tokens[: max(self.max_tokens - start, 0)]
        self._install(tokens)
        if self.output_mode == "tf_idf":
            weights = [log(1 + self._number / (1 + self._examples[one])) for one in tokens]
            self._weigh([sum(weights) / len(weights)] * start + weights)
        self.reset_state()

    def reset_state(self) -> None:
        """Forget what was counted."""
        self._counts: Counter[Any] = Counter()
        self._examples: Counter[Any] = Counter()
        self._number = 0

    # -- looking up ----------------------------------------------------------------------------

    def call(self, inputs: Any) -> Any:
        """Look up the tokens, or the numbers where ``invert`` is set."""
        if self.invert:
            return self._inverted(inputs)
        values, shape = self._values(inputs)
        numbers = wt.tensor(self.numbers_of(values), shape, int32)
        return self.encode(numbers)

    def numbers_of(self, values: Sequence[Token]) -> list[int]:
        """Return the numbers of tokens.

        Raises:
            RuntimeError: there is no vocabulary yet.
            ValueError: one is unknown, and there is no number for such.
        """
        self._check_vocabulary()
        mask = self._token(self.mask_token)
        # What does not count gets a number beyond all vectors.
        masked = 0 if self.output_mode == "int" else self._depth()
        places = self._places
        others = self._unknown_numbers({one for one in values if one not in places} - {mask})
        if mask is not None:
            others[mask] = masked
        return [places[one] if one in places else others[one] for one in values]

    def _unknown_numbers(self, tokens: set[Any]) -> dict[Token, int]:
        """Numbers of tokens that are not in the vocabulary."""
        if not tokens:
            return {}
        count, start = self.num_oov_indices, self._oov_start()
        if count == 0:
            shown = sorted(map(self._shown, tokens))[:10]
            raise ValueError(
                f"{type(self).__name__}: inputs must be in the vocabulary where num_oov_indices "
                f"is 0, but {shown} are not"
            )
        if count == 1:
            return dict.fromkeys(tokens, start)
        if self._KIND is int32 and self.oov_method == "floormod":
            return {one: one % count + start for one in tokens}
        texts = {one: one if isinstance(one, bytes) else str(one).encode() for one in tokens}
        hashes = (
            fast_hashes(texts.values())
            if self.salt is None
            else strong_hashes(texts.values(), self.salt)
        )
        return {one: hashes[text] % count + start for one, text in texts.items()}

    def encode(self, numbers: Tensor) -> Tensor:
        """Return numbers as ``output_mode`` says."""
        if self.output_mode == "int":
            return numbers
        mode = "count" if self.output_mode == "tf_idf" else self.output_mode
        made = encoded(numbers, mode, self._depth(), float32)
        return made * self.idf_weights if self.output_mode == "tf_idf" else made

    def _depth(self) -> int:
        """How long vectors are."""
        depth = self.max_tokens if self.pad_to_max_tokens else self._frozen_size
        return self.vocabulary_size() if depth is None else depth

    def _check_vocabulary(self) -> None:
        """Check that there are tokens, and weights where they are needed."""
        if not self._tokens or (self.output_mode == "tf_idf" and self.idf_weights is None):
            raise RuntimeError(
                f"{type(self).__name__}: layer {self.name!r} has no vocabulary yet; give it one, "
                "or call adapt"
            )

    def _inverted(self, inputs: Any) -> Tensor:
        self._check_vocabulary()
        held = wt.astype(wt.asarray(inputs), int32, copy=False)
        unknown, mask = self._token(self.oov_token), self._token(self.mask_token)
        tokens, start = self._tokens, self._token_start()
        end = start + len(tokens)

        def token_of(number: int) -> Any:
            if mask is not None and number == 0:
                return mask
            return tokens[number - start] if start <= number < end else unknown

        found = [token_of(int(one)) for one in wt.flatten(held).tolist()]
        if self._KIND is string_:
            return text_tensor(found, held.shape)
        return wt.tensor(found, held.shape, int32)

    # -- shapes and configurations -------------------------------------------------------------

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the numbers, or of their vectors."""
        if self.output_mode == "int":
            return tuple(input_shape)
        mode = "count" if self.output_mode == "tf_idf" else self.output_mode
        depth = self.max_tokens if self.pad_to_max_tokens else self._frozen_size
        return encoded_shape(input_shape, mode, depth)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return a symbolic tensor like what ``call`` returns."""
        dtype = int32 if self.output_mode == "int" else float32
        if self.invert:
            dtype = self._KIND
        return KerasTensor(self.compute_output_shape(args[0].shape), dtype)

    def get_build_config(self) -> Config:
        """Return nothing: a lookup is the same for all shapes."""
        return {}

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "invert": self.invert,
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "oov_token": self.oov_token,
            "mask_token": self.mask_token,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "pad_to_max_tokens": self.pad_to_max_tokens,
            "idf_weights": self.input_idf_weights,
            "vocabulary": self.input_vocabulary,
            "vocabulary_size": self._frozen_size,
            "oov_method": self.oov_method,
            "salt": self.salt,
        }

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a layer of what ``get_config`` returned.

        Raises:
            ValueError: the vocabulary is the name of a file, which a configuration may not open.
        """
        if isinstance(config.get("vocabulary"), str):
            raise ValueError(
                f"{cls.__name__}: a configuration may not name a file, but vocabulary is "
                f"{config['vocabulary']!r}"
            )
        return super().from_config(config)

    # -- saving --------------------------------------------------------------------------------

    def save_own_variables(self, store: Any) -> None:
        """Put the weights of "tf_idf" into a mapping."""
        if self.output_mode == "tf_idf" and self.idf_weights is not None:
            store["idf_weights"] = self.idf_weights

    def load_own_variables(self, store: Any) -> None:
        """Take the weights of "tf_idf" from a mapping."""
        if self.output_mode == "tf_idf" and "idf_weights" in store:
            self._weigh(wt.asarray(store["idf_weights"]).tolist())

    def save_assets(self, dir_path: str) -> None:
        """Write the vocabulary into a folder, unless it is part of the configuration."""
        if self.input_vocabulary is None:
            text = "\n".join(str(one) for one in self.get_vocabulary())
            Path(dir_path, _FILE).write_text(text, encoding="utf-8")

    def load_assets(self, dir_path: str) -> None:
        """Read the vocabulary from a folder."""
        if self.input_vocabulary is not None:
            return
        lines = Path(dir_path, _FILE).read_text(encoding="utf-8").split("\n")
        while lines and lines[-1] == "":
            lines.pop()
        tokens: list[Any] = lines if self._KIND is string_ else [int(one) for one in lines]
        if len(tokens) <= self._token_start():
            return
        weights = None if self.idf_weights is None else self.idf_weights.tolist()[: len(tokens)]
        self.set_vocabulary(tokens, weights)


def _check_sizes(kind: str, max_tokens: Any, num_oov_indices: int, pads: bool) -> None:
    if max_tokens is not None and max_tokens <= 1:
        raise ValueError(f"{kind}: max_tokens must be greater than 1, but got {max_tokens}")
    if pads and max_tokens is None:
        raise ValueError(f"{kind}: max_tokens must be given where pad_to_max_tokens is set")
    if num_oov_indices < 0:
        raise ValueError(f"{kind}: num_oov_indices must not be negative, but got {num_oov_indices}")


def _listed(values: Any) -> Any:
    """Tensors and arrays as lists."""
    return values.tolist() if hasattr(values, "tolist") else values


def _tokens_of(kind: str, vocabulary: Any) -> list[Any]:
    """The tokens of a list, an array or a tensor, or the lines of a file."""
    if not isinstance(vocabulary, str):
        return list(_listed(vocabulary))
    file = Path(vocabulary)
    if not file.exists():
        raise ValueError(f"{kind}: vocabulary must be a file that exists, but got {vocabulary!r}")
    return file.read_text(encoding="utf-8").splitlines()


def _rows(values: list[Token], shape: Shape) -> list[list[Token]]:
    """The tokens of each example."""
    if not shape:
        return [values]
    length = len(values) // shape[0] if shape[0] else 0
    return [values[place * length : (place + 1) * length] for place in range(shape[0])]


# -- texts -------------------------------------------------------------------------------------


class StringLookup(IndexLookup):
    """Numbers of texts in a vocabulary, or with ``invert``, the texts of numbers.

    The vocabulary is given, or made by ``adapt``. Numbers begin with that of ``mask_token``, if
    there is one, and ``num_oov_indices`` of them for unknown texts. ``output_mode`` is "int",
    "one_hot", "multi_hot", "count" or "tf_idf"; all but the first return vectors.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.StringLookup(vocabulary=["a", "b", "c"])
        >>> layer([["a", "c"], ["z", "b"]]).tolist()
        [[1, 3], [0, 2]]
    """

    _KIND = string_

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        salt: Any = None,
        **kwargs: Any,
    ) -> None:
        self.encoding = encoding
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary,
            idf_weights,
            invert,
            output_mode,
            sparse,
            pad_to_max_tokens,
            salt=salt,
            name=name,
            **kwargs,
        )

    def _token(self, value: Any) -> Any:
        if value is None or isinstance(value, bytes):
            return value
        return str(value).encode(self.encoding)


# -- integers ----------------------------------------------------------------------------------


class IntegerLookup(IndexLookup):
    """Numbers of integers in a vocabulary, or with ``invert``, the integers of numbers.

    Unknown integers get numbers by their remainder, or with ``oov_method`` "farmhash" by a hash.
    See ``StringLookup``.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.IntegerLookup(vocabulary=[12, 36, 1138])
        >>> layer([[12, 1138], [5, 36]]).tolist()
        [[1, 3], [0, 2]]
    """

    _KIND = int32

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        vocabulary_dtype: str = "int64",
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        oov_method: str = "floormod",
        salt: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if vocabulary_dtype != "int64":
            raise ValueError(
                f"IntegerLookup: vocabulary_dtype must be 'int64', but got {vocabulary_dtype!r}"
            )
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary,
            idf_weights,
            invert,
            output_mode,
            sparse,
            pad_to_max_tokens,
            oov_method,
            salt,
            name,
            **kwargs,
        )

    def _token(self, value: Any) -> Any:
        return None if value is None else int(value)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "vocabulary_dtype": "int64"}
