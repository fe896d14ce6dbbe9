"""Lookups: the indices of words or integers in a vocabulary, and the tokens at indices.

A vocabulary lies on the host, as a dictionary of UTF-8 bytes or integers. Its first indices are
those of special tokens: of the mask token, if there is one and indices are returned, then of
tokens that are out of the vocabulary (OOV).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from math import log
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import DType, float32, int32, string_
from webtensor.engine import Tensor, TensorLike
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.allocations import claim
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers.preprocessing.encoding import (
    MODES,
    CategoryLayer,
    batches_of,
    checked_mode,
    checked_sparse,
    encoded,
    encoded_shape,
    without_objects,
)
from webtensor.keras.layers.preprocessing.hashes import (
    Salt,
    checked_salt,
    fast_hashes,
    strong_hashes,
)
from webtensor.keras.shape_inference import in_trial
from webtensor.keras.types import Config, Shape
from webtensor.ops.string_elements import text_tensor, texts_of

__all__ = ["IndexLookup", "IntegerLookup", "StringLookup", "Vocabulary"]

#: A token as the dictionary has it.
Token: TypeAlias = bytes | int
#: A token as users write it.
TokenLike: TypeAlias = str | bytes | int
#: Tokens, or the name of a file with a token per line.
Vocabulary: TypeAlias = "TensorLike | Sequence[TokenLike] | str"
_FILE = "vocabulary.txt"


class IndexLookup(CategoryLayer):
    """The base of lookups of strings and of integers.

    Args:
        max_tokens: an integer, the maximum size of the vocabulary, with the special tokens; None,
            the default, means no maximum.
        num_oov_indices: an integer, the number of indices for tokens out of the vocabulary. With
            more than one, a hash decides between them; with 0, such tokens are an error.
        mask_token: the token that has index 0, or None, the default, for no such token.
        oov_token: the token that ``invert=True`` returns for indices out of the vocabulary.
        vocabulary: a list, an array or a tensor of tokens, or the name of a file with a token per
            line; None if ``adapt`` or ``set_vocabulary`` provides it.
        idf_weights: a list, an array or a tensor with the inverse document frequency of each token
            of ``vocabulary``, for ``output_mode="tf_idf"``.
        invert: a boolean, whether the layer returns the tokens at indices.
        output_mode: ``"int"`` for indices, ``"one_hot"`` for a vector per token, ``"multi_hot"``
            for a vector per example with a 1 for each of its tokens, ``"count"`` for a vector with
            the number of times that each token occurs, ``"tf_idf"`` for counts times
            ``idf_weights``.
        pad_to_max_tokens: a boolean, whether vectors have the size ``max_tokens``, even if the
            vocabulary is smaller.
        salt: an integer or two of them, the key of the hash of tokens out of the vocabulary; None
            stands for a hash without a key.
    """

    _config_omits: ClassVar[Mapping[str, object]] = {"has_input_vocabulary": ALWAYS}
    #: The attributes of arguments whose names are those of something else.
    _ATTRIBUTES: ClassVar[Mapping[str, str]] = {
        "idf_weights": "input_idf_weights",
        "vocabulary": "input_vocabulary",
        "vocabulary_size": "_frozen_size",
    }
    _TOKEN_DTYPE: ClassVar[DType]

    def __init__(
        self,
        max_tokens: int | None,
        num_oov_indices: int,
        mask_token: TokenLike | None,
        oov_token: TokenLike,
        vocabulary: Vocabulary | None,
        idf_weights: TensorLike | None,
        invert: bool,
        output_mode: str,
        sparse: bool,
        pad_to_max_tokens: bool,
        oov_method: str = "floormod",
        salt: Salt = None,
        name: str | None = None,
        vocabulary_size: int | None = None,
        has_input_vocabulary: bool | None = None,
        **kwargs: Any,
    ) -> None:
        kind = type(self).__name__
        for ignored in ("dtype", "trainable"):
            kwargs.pop(ignored, None)
        super().__init__(name=name, **kwargs)
        _check_sizes(kind, max_tokens, num_oov_indices, pad_to_max_tokens)
        claim(num_oov_indices, f"{kind}: num_oov_indices={num_oov_indices}")
        _check_oov_method(kind, oov_method, salt, self._TOKEN_DTYPE)
        self.output_mode = checked_mode(kind, output_mode, (*MODES, "tf_idf"))
        if invert and self.output_mode != "int":
            raise ValueError(
                f"{kind}: output_mode must be 'int' where invert is set, but got {output_mode!r}"
            )
        self.sparse = checked_sparse(kind, sparse)
        self.invert = invert
        self.max_tokens, self.pad_to_max_tokens = max_tokens, pad_to_max_tokens
        self.num_oov_indices, self.oov_method = num_oov_indices, oov_method
        self.mask_token, self.oov_token = mask_token, oov_token
        self.salt = checked_salt(kind, salt)
        self.input_vocabulary = None if isinstance(vocabulary, str) else _as_list(vocabulary)
        self.input_idf_weights = _as_list(idf_weights)
        has_vocabulary = vocabulary is not None
        self._has_vocabulary = (
            has_vocabulary if has_input_vocabulary is None else has_input_vocabulary
        )
        #: The size that may not change where vectors have it; None until there is a vocabulary.
        self._frozen_size = vocabulary_size
        self.idf_weights: Tensor | None = None
        self._tokens: list[Token] = []
        self._indices: dict[Token, int] = {}
        self.reset_state()
        _check_idf_weights(kind, idf_weights is not None, has_vocabulary, self.output_mode)
        if has_vocabulary:
            self.set_vocabulary(vocabulary, idf_weights)

    # -- tokens --------------------------------------------------------------------------------

    def _as_token(self, value: TokenLike) -> Token:
        """Convert a token of users to a key of the dictionary."""
        raise NotImplementedError

    def _as_special_token(self, value: TokenLike | None) -> Token | None:
        return None if value is None else self._as_token(value)

    def _decoded(self, token: Token) -> str | int:
        """Convert a token to what users see."""
        return token.decode("utf-8", "replace") if isinstance(token, bytes) else token

    def _tokens_in(self, inputs: TensorLike) -> tuple[list[Token], tuple[int, ...]]:
        """Return the tokens of a tensor, an array or a nested list, and its shape."""
        values = inputs if isinstance(inputs, Tensor) else wt.asarray(without_objects(inputs))
        is_text = values.dtype is string_
        elements: Iterable[TokenLike] = texts_of(values) if is_text else values.flatten().tolist()
        return [self._as_token(element) for element in elements], values.shape

    def _oov_start(self) -> int:
        """Return the first index of tokens out of the vocabulary."""
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    def _token_start(self) -> int:
        """Return the index of the first token of the vocabulary."""
        return self._oov_start() + self.num_oov_indices

    # -- vocabularies --------------------------------------------------------------------------

    def vocabulary_size(self) -> int:
        """Return the size of the vocabulary, with the special tokens."""
        return len(self._tokens) + self._token_start()

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """Return the tokens in the order of their indices."""
        tokens = [self._decoded(token) for token in self._tokens]
        if not include_special_tokens:
            return tokens
        masks = [self.mask_token] * self._oov_start()
        return [*masks, *[self.oov_token] * self.num_oov_indices, *tokens]

    def set_vocabulary(self, vocabulary: Vocabulary, idf_weights: TensorLike | None = None) -> None:
        """Set the tokens: a list, an array, or the name of a file with a token per line.

        The special tokens may come first. ``idf_weights`` has a weight per token, for "tf_idf".

        Raises:
            ValueError: a token repeats, there are more than ``max_tokens``, a special token is
                not at the beginning, or the weights do not match.
        """
        kind = type(self).__name__
        if (self.output_mode == "tf_idf") == (idf_weights is None):
            raise ValueError(
                f"{kind}: idf_weights must be given for output_mode 'tf_idf' and for no other, "
                f"but output_mode={self.output_mode!r} and idf_weights={idf_weights}"
            )
        listed = [self._as_token(token) for token in _read_tokens(kind, vocabulary)]
        if not listed:
            raise ValueError(f"{kind}: vocabulary must not be empty, but got {vocabulary!r}")
        start = self._token_start()
        mask = self._as_special_token(self.mask_token)
        oov = self._as_special_token(self.oov_token)
        masks = self._oov_start()
        has_special = (
            len(listed) >= start
            and listed[:masks] == [mask] * masks
            and all(token == oov for token in listed[masks:start])
        )
        tokens = listed[start:] if has_special else listed
        self._check_tokens(tokens)
        self._install(tokens)
        if idf_weights is not None:
            weights = [float(weight) for weight in wt.asarray(idf_weights, dtype=float32).tolist()]
            if len(weights) != len(listed):
                raise ValueError(
                    f"{kind}: idf_weights must have a weight for each of {len(listed)} tokens, but "
                    f"has {len(weights)}"
                )
            if not has_special:
                weights = [sum(weights) / len(weights)] * start + weights
            self._set_weights(weights)

    def _check_tokens(self, tokens: Sequence[Token]) -> None:
        kind = type(self).__name__
        repeated = [self._decoded(token) for token, count in Counter(tokens).items() if count > 1]
        if repeated:
            raise ValueError(f"{kind}: vocabulary has repeated tokens: {repeated}")
        reserved = [("mask_token", self.mask_token)]
        if self.invert:
            reserved.append(("oov_token", self.oov_token))
        for name, token in reserved:
            if token is not None and self._as_token(token) in tokens:
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
        """Replace the vocabulary."""
        self._tokens = list(tokens)
        self._indices = {token: index for index, token in enumerate(tokens, self._token_start())}
        self._record_size()

    def _record_size(self) -> None:
        """Record the size, which may not change where vectors have it."""
        size = self.vocabulary_size()
        is_free = self.output_mode == "int" or self.pad_to_max_tokens
        if not is_free and self._frozen_size is not None and size != self._frozen_size:
            raise RuntimeError(
                f"{type(self).__name__}: the size of the vocabulary may not change for "
                f"output_mode={self.output_mode!r} without pad_to_max_tokens, but it was "
                f"{self._frozen_size} and would be {size}"
            )
        self._frozen_size = size

    def _set_weights(self, weights: list[float]) -> None:
        """Set the weights of "tf_idf"."""
        if self.pad_to_max_tokens and self.max_tokens is not None:
            weights = weights + [0.0] * (self.max_tokens - len(weights))
        with outside_scopes():
            self.idf_weights = wt.tensor(weights, dtype=float32)

    # -- adapting ------------------------------------------------------------------------------

    def adapt(self, data: TensorLike | Iterable[TensorLike], steps: int | None = None) -> None:
        """Replace the vocabulary by the tokens in data, the most frequent ones first.

        ``data`` is an array, a tensor, a nested list, or another iterable of batches of them, of
        which the first ``steps`` count.

        Raises:
            ValueError: the layer was created with a vocabulary.
        """
        self.reset_state()
        if hasattr(data, "shape") or isinstance(data, (list, tuple)):
            tokens, shape = self._tokens_in(data)
            self._count(_rows(tokens, (*shape, 1) if len(shape) == 1 else shape))
        else:
            for batch in batches_of(data, steps):
                self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: TensorLike) -> None:
        """Count the tokens of a batch."""
        tokens, shape = self._tokens_in(data)
        self._count(_rows(tokens, (1, *shape) if len(shape) == 1 else shape))

    def _count(self, rows: Iterable[Sequence[Token]]) -> None:
        """Count tokens, and the examples that have them."""
        if self._has_vocabulary:
            raise ValueError(
                f"{type(self).__name__}: layer {self.name!r} was created with a vocabulary, so it "
                "cannot be adapted"
            )
        for row in rows:
            self._counts.update(row)
            self._example_counts.update(set(row))
            self._examples += 1

    def finalize_state(self) -> None:
        """Replace the vocabulary by the counted tokens."""
        for special_token in (self.mask_token, self.oov_token):
            if special_token is not None:
                self._counts.pop(self._as_token(special_token), None)
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
            weights = [
                log(1 + self._examples / (1 + self._example_counts[token])) for token in tokens
            ]
            self._set_weights([sum(weights) / len(weights)] * start + weights)
        self.reset_state()

    def reset_state(self) -> None:
        """Reset the counts of tokens."""
        self._counts: Counter[Token] = Counter()
        self._example_counts: Counter[Token] = Counter()
        self._examples = 0

    # -- looking up ----------------------------------------------------------------------------

    def call(self, inputs: TensorLike) -> Tensor:
        """Look up tokens, or indices where ``invert`` is set.

        Raises:
            RuntimeError: there is no vocabulary yet.
            ValueError: a token is out of the vocabulary, and ``num_oov_indices`` is 0.
        """
        if self.invert:
            return self._inverted(inputs)
        tokens, shape = self._tokens_in(inputs)
        return self.encode(wt.tensor(self.indices_of(tokens), shape, int32))

    def indices_of(self, tokens: Sequence[Token]) -> list[int]:
        """Return the indices of tokens; errors are those of ``call``."""
        self._check_vocabulary()
        mask = self._as_special_token(self.mask_token)
        indices = self._indices
        others = self._oov_indices({token for token in tokens if token not in indices} - {mask})
        if mask is not None:
            # Vectors ignore the mask token: its index is beyond their size.
            others[mask] = 0 if self.output_mode == "int" else self._depth()
        return [indices[token] if token in indices else others[token] for token in tokens]

    def _oov_indices(self, tokens: set[Any]) -> dict[Token, int]:
        """Return the indices of tokens out of the vocabulary."""
        if not tokens:
            return {}
        count, start = self.num_oov_indices, self._oov_start()
        if count == 0 and not in_trial():
            examples = sorted(map(self._decoded, tokens))[:10]
            raise ValueError(
                f"{type(self).__name__}: inputs must be in the vocabulary where num_oov_indices "
                f"is 0, but {examples} are not"
            )
        if count <= 1:
            return dict.fromkeys(tokens, start)
        if self._TOKEN_DTYPE is int32 and self.oov_method == "floormod":
            return {token: token % count + start for token in tokens}
        texts = {
            token: token if isinstance(token, bytes) else str(token).encode() for token in tokens
        }
        hashes = (
            fast_hashes(texts.values())
            if self.salt is None
            else strong_hashes(texts.values(), self.salt)
        )
        return {token: hashes[text] % count + start for token, text in texts.items()}

    def encode(self, indices: Tensor) -> Tensor:
        """Return indices in the form of ``output_mode``."""
        if self.output_mode == "int":
            return indices
        vectors = encoded(indices, self._encoding_mode(), self._depth(), int32)
        return vectors * self.idf_weights if self.output_mode == "tf_idf" else vectors

    def _encoding_mode(self) -> str:
        return "count" if self.output_mode == "tf_idf" else self.output_mode

    def _depth(self) -> int:
        """Return the size of vectors."""
        depth = self.max_tokens if self.pad_to_max_tokens else self._frozen_size
        return self.vocabulary_size() if depth is None else depth

    def _check_vocabulary(self) -> None:
        """Check that there are tokens, and weights where they are needed."""
        if not self._tokens or (self.output_mode == "tf_idf" and self.idf_weights is None):
            raise RuntimeError(
                f"{type(self).__name__}: layer {self.name!r} has no vocabulary yet; call "
                "set_vocabulary or adapt"
            )

    def _inverted(self, inputs: TensorLike) -> Tensor:
        self._check_vocabulary()
        indices = wt.astype(wt.asarray(inputs), int32, copy=False)
        mask = self._as_special_token(self.mask_token)
        oov = self._as_special_token(self.oov_token)
        tokens, start = self._tokens, self._token_start()
        end = start + len(tokens)

        def token_at(index: int) -> Any:
            if mask is not None and index == 0:
                return mask
            return tokens[index - start] if start <= index < end else oov

        outputs = [token_at(int(index)) for index in wt.flatten(indices).tolist()]
        if self._TOKEN_DTYPE is string_:
            return text_tensor(outputs, indices.shape)
        return wt.tensor(outputs, indices.shape, int32)

    # -- shapes and configurations -------------------------------------------------------------

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the indices, or of their vectors."""
        depth = self.max_tokens if self.pad_to_max_tokens else self._frozen_size
        return encoded_shape(tuple(input_shape), self._encoding_mode(), depth)

    @property
    def output_dtype(self) -> DType:
        """The dtype of the outputs."""
        if self.invert:
            return self._TOKEN_DTYPE
        return float32 if self.output_mode == "tf_idf" else int32

    def get_build_config(self) -> Config:
        """Return nothing: a lookup does not depend on the shape of the inputs."""
        return {}

    def _config_value(self, name: str) -> Any:
        if name in self._ATTRIBUTES:
            return getattr(self, self._ATTRIBUTES[name])
        return super()._config_value(name)

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Create a layer from a configuration.

        Raises:
            ValueError: the vocabulary is the name of a file, which a configuration may not open.
        """
        check_no_file(cls.__name__, config)
        return super().from_config(config)

    # -- saving --------------------------------------------------------------------------------

    def save_own_variables(self, store: MutableMapping[str, TensorLike]) -> None:
        """Save the weights of "tf_idf" to a mapping."""
        if self.output_mode == "tf_idf" and self.idf_weights is not None:
            store["idf_weights"] = self.idf_weights

    def load_own_variables(self, store: Mapping[str, TensorLike]) -> None:
        """Load the weights of "tf_idf" from a mapping."""
        if self.output_mode == "tf_idf" and "idf_weights" in store:
            self._set_weights(wt.asarray(store["idf_weights"]).tolist())

    def save_assets(self, dir_path: str) -> None:
        """Write the vocabulary to a folder, unless it is part of the configuration."""
        if self.input_vocabulary is None:
            text = "\n".join(map(str, self.get_vocabulary()))
            Path(dir_path, _FILE).write_text(text, encoding="utf-8")

    def load_assets(self, dir_path: str) -> None:
        """Read the vocabulary from a folder."""
        if self.input_vocabulary is not None:
            return
        lines = Path(dir_path, _FILE).read_text(encoding="utf-8").split("\n")
        while lines and lines[-1] == "":
            lines.pop()
        is_text = self._TOKEN_DTYPE is string_
        tokens: list[str] | list[int] = lines if is_text else [int(line) for line in lines]
        if len(tokens) <= self._token_start():
            return
        weights = None if self.idf_weights is None else self.idf_weights.tolist()[: len(tokens)]
        self.set_vocabulary(tokens, weights)


def check_no_file(kind: str, config: Config) -> None:
    """Check that a configuration's vocabulary is not the name of a file, which it may not open.

    Raises:
        ValueError: it is.
    """
    if isinstance(config.get("vocabulary"), str):
        raise ValueError(
            f"{kind}: a configuration may not name a file, but vocabulary is "
            f"{config['vocabulary']!r}"
        )


def _check_sizes(kind: str, max_tokens: int | None, num_oov_indices: int, pads: bool) -> None:
    if max_tokens is not None and max_tokens <= 1:
        raise ValueError(f"{kind}: max_tokens must be greater than 1, but got {max_tokens}")
    if pads and max_tokens is None:
        raise ValueError(f"{kind}: max_tokens must be given where pad_to_max_tokens is set")
    if num_oov_indices < 0:
        raise ValueError(f"{kind}: num_oov_indices must not be negative, but got {num_oov_indices}")


def _check_oov_method(kind: str, oov_method: str, salt: Salt, token_dtype: DType) -> None:
    check_choice(kind, "oov_method", oov_method, ("floormod", "farmhash"))
    if salt is not None and token_dtype is int32 and oov_method != "farmhash":
        raise ValueError(f"{kind}: salt is for oov_method 'farmhash', but it is {oov_method!r}")


def _check_idf_weights(
    kind: str, has_weights: bool, has_vocabulary: bool, output_mode: str
) -> None:
    if output_mode == "tf_idf" and has_vocabulary and not has_weights:
        raise ValueError(f"{kind}: idf_weights must be given with a vocabulary for 'tf_idf'")
    if has_weights and output_mode != "tf_idf":
        raise ValueError(
            f"{kind}: idf_weights are for output_mode 'tf_idf', but it is {output_mode!r}"
        )


def _as_list(values: TensorLike) -> Any:
    """Convert a tensor or an array to a list."""
    return values.tolist() if hasattr(values, "tolist") else values


def _read_tokens(kind: str, vocabulary: Vocabulary) -> list[TokenLike]:
    """Return the tokens of a list, an array or a tensor, or the lines of a file."""
    if not isinstance(vocabulary, str):
        return list(_as_list(vocabulary))
    file = Path(vocabulary)
    if not file.exists():
        raise ValueError(f"{kind}: vocabulary must be a file that exists, but got {vocabulary!r}")
    return [*file.read_text(encoding="utf-8").splitlines()]


def _rows(tokens: list[Token], shape: tuple[int, ...]) -> list[list[Token]]:
    """Return the tokens of each example."""
    if not shape:
        return [tokens]
    size = len(tokens) // shape[0] if shape[0] else 0
    return [tokens[index * size : (index + 1) * size] for index in range(shape[0])]


# -- texts -------------------------------------------------------------------------------------


class StringLookup(IndexLookup):
    """Returns the indices of strings in a vocabulary, or with ``invert``, the strings at indices.

    Index 0 is that of ``mask_token``, if there is one; the next ``num_oov_indices`` are for strings
    out of the vocabulary.

    Input shape: any, of strings or of integers (``invert``).
    Output shape: that of the inputs for ``output_mode="int"``; otherwise the size of the vocabulary
    is the last dimension.

    Args:
        encoding: the name of the encoding that Python strings of the vocabulary are hashed and
            compared in, ``"utf-8"`` by default.

    Raises:
        ValueError: an argument is out of range, or does not fit the others.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.StringLookup(vocabulary=["a", "b", "c"])
        >>> layer([["a", "c"], ["z", "b"]]).tolist()
        [[1, 3], [0, 2]]
    """

    _TOKEN_DTYPE = string_

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        vocabulary: Vocabulary | None = None,
        idf_weights: TensorLike | None = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        salt: Salt = None,
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

    def _as_token(self, value: TokenLike) -> bytes:
        return value if isinstance(value, bytes) else str(value).encode(self.encoding)


# -- integers ----------------------------------------------------------------------------------


class IntegerLookup(IndexLookup):
    """Returns the indices of integers in a vocabulary, or with ``invert``, the integers at indices.

    Index 0 is that of ``mask_token``, if there is one; the next ``num_oov_indices`` are for
    integers out of the vocabulary.

    Input shape: any, of integers.
    Output shape: that of the inputs for ``output_mode="int"``; otherwise the size of the vocabulary
    is the last dimension.

    Args:
        vocabulary_dtype: ``"int64"``, the dtype of the vocabulary in Keras.
        oov_method: the hash of integers out of the vocabulary: ``"floormod"``, the remainder, or
            ``"farmhash"``.

    Raises:
        ValueError: an argument is out of range, or does not fit the others.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.IntegerLookup(vocabulary=[12, 36, 1138])
        >>> layer([[12, 1138], [5, 36]]).tolist()
        [[1, 3], [0, 2]]
    """

    _TOKEN_DTYPE = int32

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Vocabulary | None = None,
        vocabulary_dtype: str = "int64",
        idf_weights: TensorLike | None = None,
        invert: bool = False,
        output_mode: str = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        oov_method: str = "floormod",
        salt: Salt = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if vocabulary_dtype != "int64":
            raise ValueError(
                f"IntegerLookup: vocabulary_dtype must be 'int64', but got {vocabulary_dtype!r}"
            )
        self.vocabulary_dtype = vocabulary_dtype
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

    def _as_token(self, value: TokenLike) -> int:
        return int(value)
