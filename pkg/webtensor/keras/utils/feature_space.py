"""Rows of tables, with numbers, categories and texts, as vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.layers import (
    CategoryEncoding,
    Concatenate,
    Discretization,
    HashedCrossing,
    Hashing,
    Input,
    IntegerLookup,
    Layer,
    Normalization,
    Rescaling,
    StringLookup,
    TextVectorization,
)
from webtensor.keras.layers.preprocessing.encoding import without_objects
from webtensor.keras.names import auto_name, nearest
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config

__all__ = ["Cross", "Feature", "FeaturePart", "FeatureSpace", "TFDIdentity"]

_OUTPUTS = ("int", "one_hot", "float")


class FeaturePart:
    """What a feature space consists of; its state is saved with it."""

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make what ``get_config`` described."""
        return cls(**config)


class Feature(FeaturePart):
    """A column of a table: its dtype, the layer that it goes through, and what comes of that."""

    def __init__(self, dtype: str, preprocessor: Any, output_mode: str) -> None:
        if output_mode not in _OUTPUTS:
            raise ValueError(
                f"Feature: output_mode must be one of {_OUTPUTS}, but got {output_mode!r}"
            )
        self.dtype = dtype
        is_config = isinstance(preprocessor, Mapping)
        self.preprocessor = deserialize_keras_object(preprocessor) if is_config else preprocessor
        self.output_mode = output_mode


class Cross(FeaturePart):
    """Columns that are looked at together: a number below ``crossing_dim`` for what they hold."""

    def __init__(
        self, feature_names: Sequence[str], crossing_dim: int, output_mode: str = "one_hot"
    ) -> None:
        if output_mode not in ("int", "one_hot"):
            raise ValueError(
                f"Cross: output_mode must be 'int' or 'one_hot', but got {output_mode!r}"
            )
        self.feature_names = tuple(feature_names)
        self.crossing_dim = crossing_dim
        self.output_mode = output_mode

    @property
    def name(self) -> str:
        """The names of the columns, joined."""
        return "_X_".join(self.feature_names)


class TFDIdentity(Layer):
    """Returns what it is given; Keras's name for what a plain number goes through."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def call(self, x: Any) -> Any:
        """Return ``x``."""
        return x


class FeatureSpace(Layer):
    """Turns rows of a table into vectors, or into one vector for each column.

    ``features`` says of which kind each column is: by the name of one of the methods below, such as
    "float_normalized", or by what that method returns. ``adapt`` learns from data what is to be
    known of them. ``crosses`` are columns, of integers or texts, that are looked at together.
    ``output_mode`` is "concat" for one vector, "dict" for one of each column and cross.

    Example:
        >>> from webtensor import keras
        >>> table = {"age": [20.0, 40.0], "town": ["Bonn", "Kiel"]}
        >>> space = keras.utils.FeatureSpace({"age": "float", "town": "string_categorical"})
        >>> space.adapt(table)
        >>> space(table).tolist()
        [[20.0, 0.0, 0.0, 1.0], [40.0, 0.0, 1.0, 0.0]]
    """

    def __init__(
        self,
        features: Mapping[str, Any],
        output_mode: str = "concat",
        crosses: Sequence[Any] | None = None,
        crossing_dim: int | None = 32,
        hashing_dim: int = 32,
        num_discretization_bins: int = 32,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        if not features:
            raise ValueError("FeatureSpace: features must have at least one feature")
        if output_mode not in ("concat", "dict"):
            raise ValueError(
                f"FeatureSpace: output_mode must be 'concat' or 'dict', but got {output_mode!r}"
            )
        self.output_mode = output_mode
        self.crossing_dim = crossing_dim
        self.hashing_dim = hashing_dim
        self.num_discretization_bins = num_discretization_bins
        self.features = {name: self._feature(name, one) for name, one in features.items()}
        self.crosses = [self._cross(one) for one in crosses or ()]
        self.crosses_by_name = {one.name: one for one in self.crosses}
        self.preprocessors = {name: one.preprocessor for name, one in self.features.items()}
        self.crossers = {
            one.name: HashedCrossing(one.crossing_dim, name=one.name) for one in self.crosses
        }
        self.one_hot_encoders: dict[str, Any] = {}
        self.inputs = {
            name: Input((1,), dtype=one.dtype, name=name) for name, one in self.features.items()
        }
        self.encoded_features: Any = None
        self._joined = Concatenate(axis=-1)
        self._is_adapted = False

    # -- kinds of features ---------------------------------------------------------------------

    @classmethod
    def cross(
        cls, feature_names: Sequence[str], crossing_dim: int, output_mode: str = "one_hot"
    ) -> Cross:
        """Return what stands for columns that are looked at together."""
        return Cross(feature_names, crossing_dim, output_mode)

    @classmethod
    def feature(cls, dtype: str, preprocessor: Any, output_mode: str) -> Feature:
        """Return a feature with a layer of one's own."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name: str | None = None) -> Feature:
        """Return a feature of numbers that stay as they are."""
        layer = TFDIdentity(name=_layer_name(name, "float"), dtype="float32")
        return Feature("float32", layer, "float")

    @classmethod
    def float_rescaled(
        cls, scale: Any = 1.0, offset: Any = 0.0, name: str | None = None
    ) -> Feature:
        """Return a feature of numbers that become ``x scale + offset``."""
        layer = Rescaling(scale, offset, name=_layer_name(name, "float_rescaled"))
        return Feature("float32", layer, "float")

    @classmethod
    def float_normalized(cls, name: str | None = None) -> Feature:
        """Return a feature of numbers that get mean 0 and variance 1."""
        layer = Normalization(axis=-1, name=_layer_name(name, "float_normalized"))
        return Feature("float32", layer, "float")

    @classmethod
    def float_discretized(
        cls,
        num_bins: int | None,
        bin_boundaries: Any = None,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Return a feature of numbers that become the numbers of intervals."""
        named = _layer_name(name, "float_discretized")
        layer = Discretization(num_bins=num_bins, bin_boundaries=bin_boundaries, name=named)
        return Feature("float32", layer, output_mode)

    @classmethod
    def integer_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Return a feature of integers that name categories."""
        named = _layer_name(name, "integer_categorical")
        layer = IntegerLookup(max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=named)
        return Feature("int32", layer, output_mode)

    @classmethod
    def string_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Return a feature of texts that name categories."""
        named = _layer_name(name, "string_categorical")
        layer = StringLookup(max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=named)
        return Feature("string", layer, output_mode)

    @classmethod
    def string_hashed(
        cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None
    ) -> Feature:
        """Return a feature of texts that become numbers by a hash."""
        layer = Hashing(num_bins, name=_layer_name(name, "string_hashed"))
        return Feature("string", layer, output_mode)

    @classmethod
    def integer_hashed(
        cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None
    ) -> Feature:
        """Return a feature of integers that become numbers by a hash."""
        layer = Hashing(num_bins, name=_layer_name(name, "integer_hashed"))
        return Feature("int32", layer, output_mode)

    def _feature(self, name: str, given: Any) -> Feature:
        if isinstance(given, Feature):
            return given
        if isinstance(given, Mapping):
            made: Feature = deserialize_keras_object(given)
            return made
        options: dict[str, dict[str, Any]] = {
            "float": {},
            "float_rescaled": {},
            "float_normalized": {},
            "float_discretized": {"num_bins": self.num_discretization_bins},
            "integer_categorical": {},
            "string_categorical": {},
            "integer_hashed": {"num_bins": self.hashing_dim},
            "string_hashed": {"num_bins": self.hashing_dim},
        }
        if given not in options:
            raise ValueError(
                f"FeatureSpace: feature {name!r} is of no known kind: {given!r}"
                f"{nearest(given, options)}"
            )
        kind: Feature = getattr(self, given)(name=name, **options[given])
        return kind

    def _cross(self, given: Any) -> Cross:
        if isinstance(given, Mapping):
            given = deserialize_keras_object(given)
        if not isinstance(given, Cross):
            if self.crossing_dim is None:
                raise ValueError("FeatureSpace: crosses need crossing_dim, a positive integer")
            given = Cross(given, self.crossing_dim)
        for name in given.feature_names:
            if name not in self.features:
                raise ValueError(
                    f"FeatureSpace: crosses must be of features, but there is no {name!r}"
                    f"{nearest(name, self.features)}"
                )
        made: Cross = given
        return made

    # -- learning ------------------------------------------------------------------------------

    def adapt(self, dataset: Any) -> None:
        """Learn from a table: a dict of columns, or an iterable of such dicts or of rows.

        Raises:
            ValueError: there are no dicts with the features.
        """
        if not isinstance(dataset, Mapping) and not hasattr(dataset, "__iter__"):
            raise ValueError(
                f"adapt: dataset must be a dict of columns or an iterable of dicts, but is "
                f"{dataset!r}"
            )
        for name in self._adaptable():
            self.preprocessors[name].adapt(self._columns(dataset, name))
        self.one_hot_encoders = {}
        self.encoded_features = None
        self._is_adapted = True
        self.get_encoded_features()
        self.built = True

    def _adaptable(self) -> list[str]:
        return [name for name, layer in self.preprocessors.items() if _learns(layer)]

    def _columns(self, dataset: Any, name: str) -> Iterator[Any]:
        for table in [dataset] if isinstance(dataset, Mapping) else dataset:
            if not isinstance(table, Mapping) or name not in table:
                raise ValueError(f"adapt: dataset must have dicts with {name!r}, but has {table!r}")
            yield self._column(name, table[name])[0]

    def _check_adapted(self) -> None:
        if not self._is_adapted and self._adaptable():
            raise ValueError(
                f"FeatureSpace {self.name!r} must be adapted first: call adapt with a data set"
            )
        self._is_adapted = True

    # -- encoding ------------------------------------------------------------------------------

    def get_inputs(self) -> dict[str, KerasTensor]:
        """Return symbolic tensors for the columns, to begin a model with."""
        self._check_adapted()
        return self.inputs

    def get_encoded_features(self) -> Any:
        """Return the symbolic result for ``get_inputs``, to go on with."""
        self._check_adapted()
        if self.encoded_features is None:
            self.encoded_features = self._encoded(self.inputs)
        return self.encoded_features

    def __call__(self, data: Any) -> Any:
        """Encode a dict of columns, or of the values of one row."""
        self._check_adapted()
        if not isinstance(data, Mapping):
            raise ValueError(f"FeatureSpace: data must be a dict of columns, but got {data!r}")
        missing = [name for name in self.features if name not in data]
        if missing:
            raise ValueError(f"FeatureSpace: data have no {missing[0]!r}, but {list(data)}")
        columns, is_row = {}, False
        for name in self.features:
            columns[name], is_scalar = self._column(name, data[name])
            is_row = is_row or is_scalar
        self.built = True
        made = self._encoded(columns)
        if not is_row:
            return made
        if isinstance(made, dict):
            return {name: wt.squeeze(one, 0) for name, one in made.items()}
        return wt.squeeze(made, 0)

    def _column(self, name: str, value: Any) -> tuple[Any, bool]:
        """Values as a column, and whether it was one value."""
        if isinstance(value, KerasTensor):
            return value, False
        dtype = self.features[name].dtype
        held = wt.asarray(without_objects(value))
        if dtype == "float32":
            held = wt.astype(held, held_dtype(dtype), copy=False)
        if len(held.shape) > 1:
            return held, False
        return wt.reshape(held, (-1, 1)), not held.shape

    def _encoded(self, columns: Mapping[str, Any]) -> Any:
        encoded = {name: layer(columns[name]) for name, layer in self.preprocessors.items()}
        crossed = {}
        for cross in self.crosses:
            inputs = [encoded[name] for name in cross.feature_names]
            crossed[cross.name] = self.crossers[cross.name](inputs)
        # As in Keras: features by name, then crosses by name, however they were given.
        in_order = [*sorted(encoded.items()), *sorted(crossed.items())]
        made = {name: self._vector(name, value) for name, value in in_order}
        if self.output_mode == "dict":
            return made
        for name in made:
            if self._part(name).output_mode == "int":
                raise ValueError(
                    f"FeatureSpace: {name!r} has output_mode 'int', which one vector cannot hold; "
                    "use output_mode='dict'"
                )
        return made.popitem()[1] if len(made) == 1 else self._joined(list(made.values()))

    def _part(self, name: str) -> Any:
        return self.features.get(name) or self.crosses_by_name[name]

    def _vector(self, name: str, value: Any) -> Any:
        if self._part(name).output_mode != "one_hot":
            return value
        if name not in self.one_hot_encoders:
            layer = self.preprocessors.get(name) or self.crossers[name]
            self.one_hot_encoders[name] = CategoryEncoding(_count(name, layer))
        return self.one_hot_encoders[name](value)

    # -- files ---------------------------------------------------------------------------------

    def get_build_config(self) -> Config:
        """Return what the features' layers were built with."""
        return {name: layer.get_build_config() for name, layer in self.preprocessors.items()}

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build the features' layers; what they have learned is loaded then."""
        for name, held in config.items():
            layer = self.preprocessors.get(name)
            if held and layer is not None and not layer.built:
                layer.build_from_config(held)
        self._is_adapted = True

    def save(self, filepath: Any) -> None:
        """Save it, with all it has learned, as an archive of Keras 3 (.keras)."""
        from webtensor.keras.saving import save_model

        save_model(self, filepath)


def _layer_name(name: str | None, kind: str) -> str:
    return f"{name or auto_name(kind)}_preprocessor"


def _learns(layer: Any) -> bool:
    """Whether a layer is to learn from data: it can, and was not told all at once."""
    if isinstance(layer, Normalization):
        return layer.input_mean is None
    if isinstance(layer, Discretization):
        return layer.num_bins is not None
    lookup = getattr(layer, "_lookup_layer", layer)
    return hasattr(layer, "adapt") and not getattr(lookup, "_has_vocabulary", False)


def _count(name: str, layer: Any) -> int:
    """How many categories there are."""
    if isinstance(layer, (StringLookup, IntegerLookup, TextVectorization)):
        return int(layer.vocabulary_size())
    if isinstance(layer, CategoryEncoding):
        return int(layer.num_tokens)
    if isinstance(layer, Discretization):
        return int(layer.num_bins or len(layer.bin_boundaries or ()) + 1)
    if isinstance(layer, (Hashing, HashedCrossing)):
        return int(layer.num_bins)
    raise ValueError(
        f"FeatureSpace: {name!r} has output_mode 'one_hot', but how many categories there are is "
        f"not known of a {type(layer).__name__}"
    )
