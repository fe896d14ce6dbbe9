"""Encoding of tables: columns of numbers, categories and texts as vectors."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, TypeAlias

from webtensor import keras, ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import ALWAYS, Configurable
from webtensor.keras.dtypes import storage_dtype
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


#: A column: a tensor, or a symbolic one where a model is built.
Column: TypeAlias = "TensorLike | KerasTensor"
#: Columns by the names of features.
Table: TypeAlias = "Mapping[str, TensorLike]"
#: One vector per row, or a vector for each feature by its name.
Encoded: TypeAlias = "Column | dict[str, Column]"


class FeaturePart(Configurable):
    """The base of what a feature space consists of; its state is saved with it."""


class Feature(FeaturePart):
    """A column of a table, the layer that preprocesses it, and the form of the result.

    Args:
        dtype: the name of the column's dtype.
        preprocessor: a layer, or its configuration.
        output_mode: ``"float"`` or ``"int"`` for the layer's outputs, or ``"one_hot"`` for vectors
            that encode them.

    Raises:
        ValueError: ``output_mode`` is unknown.
    """

    def __init__(self, dtype: str, preprocessor: Layer | Config, output_mode: str) -> None:
        check_choice("Feature", "output_mode", output_mode, _OUTPUTS)
        self.dtype = dtype
        self.preprocessor: Layer = (
            deserialize_keras_object(preprocessor)
            if isinstance(preprocessor, Mapping)
            else preprocessor
        )
        self.output_mode = output_mode


class Cross(FeaturePart):
    """Columns whose combinations of values are hashed to an index.

    Args:
        feature_names: the names of the columns.
        crossing_dim: a positive integer, the number of indices.
        output_mode: ``"int"`` for the index, or ``"one_hot"`` for a vector that encodes it.

    Raises:
        ValueError: ``output_mode`` is unknown.
    """

    def __init__(
        self, feature_names: Sequence[str], crossing_dim: int, output_mode: str = "one_hot"
    ) -> None:
        check_choice("Cross", "output_mode", output_mode, ("int", "one_hot"))
        self.feature_names = tuple(feature_names)
        self.crossing_dim = crossing_dim
        self.output_mode = output_mode

    @property
    def name(self) -> str:
        """The names of the columns, joined."""
        return "_X_".join(self.feature_names)


class TFDIdentity(Layer):
    """Returns its inputs: the preprocessor of plain numbers, by Keras's name for it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def call(self, x: Column) -> Column:
        """Return ``x``."""
        return x


class FeatureSpace(Layer):
    """Encodes the columns of a table as vectors.

    ``adapt`` computes from data what the preprocessors need, such as means and vocabularies.

    Input shape: a dictionary of columns, each (rows,) or (rows, 1); or of the values of one row.
    Output shape: (rows, size), or a dictionary of such shapes for ``output_mode="dict"``; without
    the rows for one row.

    Args:
        features: a dictionary of the columns by their names: the name of a method of this class
            such as ``"float_normalized"`` or ``"string_categorical"``, or what it returns.
        output_mode: ``"concat"`` for one vector per row, ``"dict"`` for a vector for each feature
            and each cross.
        crosses: a list of tuples of the names of columns of integers or strings, or of what
            ``FeatureSpace.cross`` returns; their combinations become features, too.
        crossing_dim: an integer, the number of indices of crosses that do not have their own.
        hashing_dim: an integer, the number of indices of ``"integer_hashed"`` and
            ``"string_hashed"``.
        num_discretization_bins: an integer, the number of bins of ``"float_discretized"``.

    Raises:
        ValueError: there are no features, or an argument is unknown.

    Example:
        >>> from webtensor import keras
        >>> table = {"age": [20.0, 40.0], "town": ["Bonn", "Kiel"]}
        >>> space = keras.utils.FeatureSpace({"age": "float", "town": "string_categorical"})
        >>> space.adapt(table)
        >>> space(table).tolist()
        [[20.0, 0.0, 0.0, 1.0], [40.0, 0.0, 1.0, 0.0]]
    """

    _config_omits: ClassVar[Mapping[str, object]] = {"name": ALWAYS}  # as in Keras

    def __init__(
        self,
        features: Mapping[str, Feature | Config | str],
        output_mode: str = "concat",
        crosses: Sequence[Cross | Config | Sequence[str]] | None = None,
        crossing_dim: int | None = 32,
        hashing_dim: int = 32,
        num_discretization_bins: int = 32,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        if not features:
            raise ValueError("FeatureSpace: features must have at least one feature")
        check_choice("FeatureSpace", "output_mode", output_mode, ("concat", "dict"))
        self.output_mode = output_mode
        self.crossing_dim = crossing_dim
        self.hashing_dim = hashing_dim
        self.num_discretization_bins = num_discretization_bins
        self.features = {
            name: self._as_feature(name, feature) for name, feature in features.items()
        }
        self.crosses = [self._as_cross(cross) for cross in crosses or ()]
        self.crosses_by_name = {cross.name: cross for cross in self.crosses}
        self.preprocessors = {name: feature.preprocessor for name, feature in self.features.items()}
        self.crossers = {
            name: HashedCrossing(cross.crossing_dim, name=name)
            for name, cross in self.crosses_by_name.items()
        }
        self.one_hot_encoders: dict[str, CategoryEncoding] = {}
        self.inputs: dict[str, KerasTensor] = {
            name: Input((1,), dtype=feature.dtype, name=name)
            for name, feature in self.features.items()
        }
        self.encoded_features: Encoded | None = None
        self._concatenate = Concatenate(axis=-1)
        self._is_adapted = False

    # -- kinds of features ---------------------------------------------------------------------

    @classmethod
    def cross(
        cls, feature_names: Sequence[str], crossing_dim: int, output_mode: str = "one_hot"
    ) -> Cross:
        """Return a cross of columns, for the argument ``crosses``."""
        return Cross(feature_names, crossing_dim, output_mode)

    @classmethod
    def feature(cls, dtype: str, preprocessor: Layer | Config, output_mode: str) -> Feature:
        """Return a feature with any layer as its preprocessor."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name: str | None = None) -> Feature:
        """Return a feature of numbers that are not changed."""
        layer = TFDIdentity(name=_layer_name(name, "float"), dtype="float32")
        return Feature("float32", layer, "float")

    @classmethod
    def float_rescaled(
        cls, scale: TensorLike = 1.0, offset: TensorLike = 0.0, name: str | None = None
    ) -> Feature:
        """Return a feature of numbers that become ``x * scale + offset``."""
        layer = Rescaling(scale, offset, name=_layer_name(name, "float_rescaled"))
        return Feature("float32", layer, "float")

    @classmethod
    def float_normalized(cls, name: str | None = None) -> Feature:
        """Return a feature of numbers that are normalized to mean 0 and variance 1."""
        layer = Normalization(axis=-1, name=_layer_name(name, "float_normalized"))
        return Feature("float32", layer, "float")

    @classmethod
    def float_discretized(
        cls,
        num_bins: int | None,
        bin_boundaries: Sequence[builtins.float] | None = None,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Return a feature of numbers that become the indices of bins."""
        layer_name = _layer_name(name, "float_discretized")
        layer = Discretization(num_bins=num_bins, bin_boundaries=bin_boundaries, name=layer_name)
        return Feature("float32", layer, output_mode)

    @classmethod
    def integer_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Return a feature of integers that become their indices in a vocabulary."""
        layer = IntegerLookup(
            max_tokens=max_tokens,
            num_oov_indices=num_oov_indices,
            name=_layer_name(name, "integer_categorical"),
        )
        return Feature("int32", layer, output_mode)

    @classmethod
    def string_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Return a feature of strings that become their indices in a vocabulary."""
        layer = StringLookup(
            max_tokens=max_tokens,
            num_oov_indices=num_oov_indices,
            name=_layer_name(name, "string_categorical"),
        )
        return Feature("string", layer, output_mode)

    @classmethod
    def string_hashed(
        cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None
    ) -> Feature:
        """Return a feature of strings that become indices by a hash."""
        layer = Hashing(num_bins, name=_layer_name(name, "string_hashed"))
        return Feature("string", layer, output_mode)

    @classmethod
    def integer_hashed(
        cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None
    ) -> Feature:
        """Return a feature of integers that become indices by a hash."""
        layer = Hashing(num_bins, name=_layer_name(name, "integer_hashed"))
        return Feature("int32", layer, output_mode)

    def _as_feature(self, name: str, feature: Feature | Config | str) -> Feature:
        """Return the feature that an argument stands for."""
        if isinstance(feature, Feature):
            return feature
        if isinstance(feature, Mapping):
            deserialized: Feature = deserialize_keras_object(feature)
            return deserialized
        options: dict[str, dict[str, int]] = {
            "float": {},
            "float_rescaled": {},
            "float_normalized": {},
            "float_discretized": {"num_bins": self.num_discretization_bins},
            "integer_categorical": {},
            "string_categorical": {},
            "integer_hashed": {"num_bins": self.hashing_dim},
            "string_hashed": {"num_bins": self.hashing_dim},
        }
        if feature not in options:
            raise ValueError(
                f"FeatureSpace: feature {name!r} has the unknown kind {feature!r}"
                f"{nearest(feature, options)}"
            )
        new_feature: Feature = getattr(self, feature)(name=name, **options[feature])
        return new_feature

    def _as_cross(self, cross: Cross | Config | Sequence[str]) -> Cross:
        """Return the cross that an argument stands for."""
        if isinstance(cross, Mapping):
            cross = deserialize_keras_object(cross)
        if not isinstance(cross, Cross):
            if self.crossing_dim is None:
                raise ValueError(
                    "FeatureSpace: crossing_dim must be a positive integer where crosses has names "
                    f"of features, such as {cross!r}, but got None"
                )
            cross = Cross(tuple(cross), self.crossing_dim)
        for name in cross.feature_names:
            if name not in self.features:
                raise ValueError(
                    f"FeatureSpace: crosses must be of features, but there is no {name!r}"
                    f"{nearest(name, self.features)}"
                )
        return cross

    # -- adapting ------------------------------------------------------------------------------

    def adapt(self, dataset: Table | Iterable[Table]) -> None:
        """Adapt the preprocessors to a table: a dict of columns, or an iterable of such dicts.

        Raises:
            ValueError: ``dataset`` is neither, or a dict lacks a feature.
        """
        if not isinstance(dataset, Mapping) and not hasattr(dataset, "__iter__"):
            raise ValueError(
                f"adapt: dataset must be a dict of columns or an iterable of dicts, but is "
                f"{dataset!r}"
            )
        for name in self._adaptable():
            preprocessor: Any = self.preprocessors[name]
            preprocessor.adapt(self._columns(dataset, name))
        self.one_hot_encoders = {}
        self.encoded_features = None
        self._is_adapted = True
        self.get_encoded_features()
        self.built = True

    def _adaptable(self) -> list[str]:
        return [name for name, layer in self.preprocessors.items() if _needs_data(layer)]

    def _columns(self, dataset: Table | Iterable[Table], name: str) -> Iterator[Column]:
        tables: Iterable[Table] = [dataset] if isinstance(dataset, Mapping) else dataset
        for table in tables:
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
        """Return symbolic tensors of the columns, the inputs of a model."""
        self._check_adapted()
        return self.inputs

    def get_encoded_features(self) -> Encoded:
        """Return the symbolic result for ``get_inputs``."""
        self._check_adapted()
        if self.encoded_features is None:
            self.encoded_features = self._encoded(self.inputs)
        return self.encoded_features

    def __call__(self, data: Table) -> Encoded:
        """Encode a dict of columns, or of the values of one row."""
        self._check_adapted()
        if not isinstance(data, Mapping):
            raise ValueError(f"FeatureSpace: data must be a dict of columns, but got {data!r}")
        missing = [name for name in self.features if name not in data]
        if missing:
            raise ValueError(
                f"FeatureSpace: data must have the feature {missing[0]!r}, but has {list(data)}"
            )
        columns: dict[str, Column] = {}
        is_row = False
        for name in self.features:
            columns[name], is_scalar = self._column(name, data[name])
            is_row = is_row or is_scalar
        self.built = True
        encoded = self._encoded(columns)
        if not is_row:
            return encoded
        if isinstance(encoded, dict):
            return {name: wt.squeeze(vector, 0) for name, vector in encoded.items()}
        return wt.squeeze(encoded, 0)

    def _column(self, name: str, value: Column) -> tuple[Column, bool]:
        """Return values as a column (rows, 1), and whether they were a single value."""
        if isinstance(value, KerasTensor):
            return value, False
        dtype = self.features[name].dtype
        values: Tensor = wt.asarray(without_objects(value))
        if dtype == "float32":
            values = wt.astype(values, storage_dtype(dtype), copy=False)
        if len(values.shape) > 1:
            return values, False
        return wt.reshape(values, (-1, 1)), not values.shape

    def _encoded(self, columns: Mapping[str, Column]) -> Encoded:
        outputs = {name: layer(columns[name]) for name, layer in self.preprocessors.items()}
        crossed = {}
        for name, cross in self.crosses_by_name.items():
            crossed[name] = self.crossers[name]([outputs[part] for part in cross.feature_names])
        # As in Keras: features by name, then crosses by name, in whatever order they were given.
        ordered = [*sorted(outputs.items()), *sorted(crossed.items())]
        vectors = {name: self._vector(name, value) for name, value in ordered}
        if self.output_mode == "dict":
            return vectors
        for name in vectors:
            if self._part(name).output_mode == "int":
                raise ValueError(
                    f"FeatureSpace: {name!r} has output_mode 'int', which one vector cannot hold; "
                    "use output_mode='dict'"
                )
        parts = list(vectors.values())
        return parts[0] if len(parts) == 1 else self._concatenate(parts)

    def _part(self, name: str) -> Feature | Cross:
        return self.features.get(name) or self.crosses_by_name[name]

    def _vector(self, name: str, value: Column) -> Column:
        if self._part(name).output_mode != "one_hot":
            return value
        if name not in self.one_hot_encoders:
            layer = self.preprocessors.get(name) or self.crossers[name]
            self.one_hot_encoders[name] = CategoryEncoding(_num_categories(name, layer))
        return self.one_hot_encoders[name](value)

    # -- files ---------------------------------------------------------------------------------

    def get_build_config(self) -> Config:
        """Return the build configurations of the preprocessors."""
        return {name: layer.get_build_config() for name, layer in self.preprocessors.items()}

    def build_from_config(self, config: Mapping[str, Config]) -> None:
        """Build the preprocessors, so that their state can be loaded."""
        for name, build_config in config.items():
            layer = self.preprocessors.get(name)
            if build_config and layer is not None and not layer.built:
                layer.build_from_config(build_config)
        self._is_adapted = True

    def save(self, filepath: str | PathLike[str]) -> None:
        """Save the feature space, with its state, as an archive of Keras 3 (.keras)."""
        keras.saving.save_model(self, filepath)


def _layer_name(name: str | None, kind: str) -> str:
    return f"{name or auto_name(kind)}_preprocessor"


def _needs_data(layer: Layer) -> bool:
    """Whether ``adapt`` must compute the state of a layer, as no argument provides it."""
    if isinstance(layer, Normalization):
        return layer.input_mean is None
    if isinstance(layer, Discretization):
        return layer.num_bins is not None
    lookup = layer._lookup_layer if isinstance(layer, TextVectorization) else layer
    return hasattr(layer, "adapt") and not getattr(lookup, "_has_vocabulary", False)


def _num_categories(name: str, layer: Layer) -> int:
    """Return the number of indices that a layer returns."""
    if isinstance(layer, (StringLookup, IntegerLookup, TextVectorization)):
        return layer.vocabulary_size()
    if isinstance(layer, CategoryEncoding):
        return layer.num_tokens
    if isinstance(layer, Discretization):
        return layer.num_bins or len(layer.bin_boundaries or ()) + 1
    if isinstance(layer, (Hashing, HashedCrossing)):
        return layer.num_bins
    raise ValueError(
        f"FeatureSpace: {name!r} has output_mode 'one_hot', but the number of categories of a "
        f"{type(layer).__name__} is unknown"
    )
