"""Dtype policies: the dtype that a layer computes in, and the dtype of its variables.

All backends compute in float32, whatever the policy is: there is no mixed precision, and integers
of other widths are stored as int32. A policy keeps the names of its dtypes, so that models have the
same configurations as in Keras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.keras.arguments import Configurable
from webtensor.keras.dtypes import floatx, standardize_dtype
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config, CustomObjects
from webtensor.lazy_contents import lazy_contents

if TYPE_CHECKING:
    from webtensor.keras.dtype_policy_maps import DTypePolicyMap as DTypePolicyMap
else:
    __getattr__, __dir__ = lazy_contents(
        __name__, {"dtype_policy_maps": ["DTypePolicyMap"]}, base="webtensor.keras"
    )

__all__ = [
    "DTypePolicy",
    "DTypePolicyMap",
    "FloatDTypePolicy",
    "deserialize",
    "dtype_policy",
    "get",
    "serialize",
    "set_dtype_policy",
]

_MIXED = {"mixed_bfloat16": "bfloat16", "mixed_float16": "float16"}
#: The default policy, if ``set_dtype_policy`` was called.
_default_policy: list[DTypePolicy] = []


class DTypePolicy(Configurable):
    """The dtype that a layer computes in, and the dtype of its variables.

    ``compute_dtype`` and ``variable_dtype`` are those of Keras. Whatever float dtypes these are,
    layers compute in float32, and variables are stored as float32.

    Args:
        name: a dtype's name, ``"mixed_float16"`` or ``"mixed_bfloat16"``; None is the default
            policy's.

    Raises:
        TypeError: ``name`` is not a string.
        ValueError: ``name`` is not the name of a policy.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Dense(2, dtype="mixed_float16")
        >>> layer.dtype_policy.compute_dtype, layer.compute_dtype
        ('float16', 'float32')
    """

    quantization_mode: str | None = None

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = dtype_policy().name
        if not isinstance(name, str):
            raise TypeError(f"DTypePolicy: name must be a string, but got {name!r}")
        self._name = name
        self._compute_dtype, self._variable_dtype = _dtypes_of(name)

    @property
    def name(self) -> str:
        """The policy's name."""
        return self._name

    @property
    def compute_dtype(self) -> str:
        """The name of the dtype that Keras computes in."""
        return self._compute_dtype

    @property
    def variable_dtype(self) -> str:
        """The name of the dtype that variables have in Keras."""
        return self._variable_dtype

    def of_layer(self, path: str) -> DTypePolicy:
        """Return the policy of the layer with a path: this one."""
        return self

    def changed(self, path: str, policy: DTypePolicy) -> DTypePolicy:
        """Return the policy that follows when the layer with a path is given another one."""
        return policy

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} "{self.name}">'


FloatDTypePolicy = DTypePolicy


def _dtypes_of(name: str) -> tuple[str, str]:
    """Return the names of the dtypes of computations and of variables by a policy's name."""
    if name in _MIXED:
        return _MIXED[name], "float32"
    try:
        dtype = standardize_dtype(name)
    except ValueError:
        raise ValueError(
            f"DTypePolicy: name must be that of a dtype, such as 'float32', or one of "
            f"{sorted(_MIXED)}, but got {name!r}; there is no quantization"
        ) from None
    return dtype, dtype


# -- the default -------------------------------------------------------------------------------


def dtype_policy() -> DTypePolicy:
    """Return the default policy of layers, "float32" unless another one was set."""
    return _default_policy[-1] if _default_policy else DTypePolicy(floatx())


def set_dtype_policy(policy: str | DTypePolicy) -> None:
    """Set the default policy of layers.

    Raises:
        ValueError: ``policy`` is neither a policy nor the name of one.

    Example:
        >>> from webtensor import keras
        >>> keras.config.set_dtype_policy("mixed_float16")
        >>> keras.layers.Dense(2).dtype_policy
        <DTypePolicy "mixed_float16">
        >>> keras.config.set_dtype_policy("float32")
    """
    if not isinstance(policy, (DTypePolicy, str)):
        raise ValueError(
            f"set_dtype_policy: policy must be a policy or the name of one, but got {policy!r}"
        )
    _default_policy[:] = [get(policy)]


def reset_dtype_policy() -> None:
    """Make ``floatx`` the default policy of layers again."""
    _default_policy.clear()


# -- names and configurations ------------------------------------------------------------------


def get(identifier: object) -> DTypePolicy:
    """Return the policy that a name, a dtype or a configuration stands for; None is the default.

    Raises:
        ValueError: ``identifier`` stands for no policy.
    """
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return DTypePolicy(str(identifier))
    try:
        return DTypePolicy(standardize_dtype(identifier))
    except ValueError:
        raise ValueError(
            f"dtype must be a policy or the name of one, but got {identifier!r}"
        ) from None


def serialize(policy: DTypePolicy) -> Config:
    """Return the configuration of a policy."""
    config: Config = serialize_keras_object(policy)
    return config


def without_quantization(config: Config) -> Config:
    """Return the configuration of a layer, as if Keras had not quantized its weights to int8."""
    match config:
        case {
            "dtype": {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8", **policy}}
        }:
            return {**config, "dtype": policy.get("source_name"), "quantization_config": None}
    return dict(config)


def deserialize(config: Config, custom_objects: CustomObjects | None = None) -> DTypePolicy:
    """Return the policy that a configuration describes.

    Raises:
        ValueError: the configuration is malformed, or there is no policy of its name.
    """
    policy = deserialize_keras_object(config, custom_objects)
    if not isinstance(policy, DTypePolicy):
        raise ValueError(f"dtype policy: the configuration is malformed: {config!r}")
    return policy
