"""Dtype policies: the dtype that a layer computes in, and the dtype of its variables.

All backends compute in float32, whatever the policy is: there is no mixed precision, and integers
of other widths are stored as int32. A policy keeps the names of its dtypes, so that models have the
same configurations as in Keras.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Self

from webtensor.keras.arguments import Configurable
from webtensor.keras.dtypes import floatx, standardize_dtype
from webtensor.keras.registry import serialize_keras_object
from webtensor.keras.types import Config

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


class DTypePolicyMap(DTypePolicy, MutableMapping[str, DTypePolicy]):
    """Policies by the paths of layers, or by regular expressions that match whole paths.

    Args:
        default_policy: the policy of all other paths, or its name; None is ``keras.config``'s.
        policy_map: a dictionary of policies by paths or regular expressions.

    Raises:
        TypeError: ``policy_map`` is not a dictionary.
        ValueError: ``default_policy`` is a ``DTypePolicyMap``.

    Example:
        >>> from webtensor import keras
        >>> policies = keras.dtype_policies.DTypePolicyMap("float32")
        >>> policies["encoder/.*"] = keras.DTypePolicy("bfloat16")
        >>> policies["encoder/query"].name, policies["decoder"].name
        ('bfloat16', 'float32')
    """

    def __init__(
        self,
        default_policy: str | Config | DTypePolicy | None = None,
        policy_map: Mapping[str, DTypePolicy] | None = None,
    ) -> None:
        if isinstance(default_policy, DTypePolicyMap):
            raise ValueError("DTypePolicyMap: default_policy must not be a DTypePolicyMap")
        if policy_map is not None and not isinstance(policy_map, dict):
            raise TypeError(f"DTypePolicyMap: policy_map must be a dict, but got {policy_map!r}")
        self._has_default = default_policy is not None
        self._default = get(default_policy)
        self._policies: dict[str, DTypePolicy] = dict(policy_map or {})

    @property
    def name(self) -> str:
        """The name of the default policy with the prefix ``map_``."""
        return f"map_{self.default_policy.name}"

    @property
    def default_policy(self) -> DTypePolicy:
        """The policy of paths that nothing matches."""
        return self._default

    @property
    def compute_dtype(self) -> str:
        """The ``compute_dtype`` of the default policy."""
        return self.default_policy.compute_dtype

    @property
    def variable_dtype(self) -> str:
        """The ``variable_dtype`` of the default policy."""
        return self.default_policy.variable_dtype

    def __getitem__(self, key: str) -> DTypePolicy:
        if key in self._policies:
            return self._policies[key]
        matching = [pattern for pattern in self._policies if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(
                f"DTypePolicyMap: path {key!r} matches multiple dtype policy patterns: {matching}"
            )
        return self._policies[matching[0]] if matching else self.default_policy

    def __setitem__(self, key: str, policy: DTypePolicy) -> None:
        if key in self._policies:
            raise ValueError(f"DTypePolicyMap: there is a policy for {key!r} already")
        if not isinstance(policy, DTypePolicy):
            raise ValueError(f"DTypePolicyMap: a policy must be assigned, but got {policy!r}")
        self._policies[key] = policy

    def __delitem__(self, key: str) -> None:
        del self._policies[key]

    def __contains__(self, key: object) -> bool:
        return key in self._policies

    def __iter__(self) -> Iterator[str]:
        return iter(self._policies)

    def __len__(self) -> int:
        return len(self._policies)

    def __bool__(self) -> bool:
        return True  # a map without entries is a policy, too

    def changed(self, path: str, policy: DTypePolicy) -> DTypePolicyMap:
        """Return a copy of this map in which a path has another policy."""
        default = self.default_policy if self._has_default else None
        return DTypePolicyMap(default, {**self._policies, path: policy})

    def pop(self, key: str, *default: Any) -> Any:
        """Remove the policy of a path or regular expression, and return it."""
        return self._policies.pop(key, *default)

    def _config_value(self, name: str) -> Any:
        if name == "default_policy":
            return self.default_policy.name if self._has_default else None
        configs = {key: serialize(policy) for key, policy in self._policies.items()}
        if not self._has_default:  # as in Keras, the policies then have no names
            configs = {key: {**config, "config": {"name": None}} for key, config in configs.items()}
        return configs

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make a map with the arguments in a configuration."""
        policy_map = config.get("policy_map") or {}
        if not isinstance(policy_map, Mapping):
            raise TypeError(f"DTypePolicyMap: policy_map must be a dict, but got {policy_map!r}")
        policies = {key: deserialize(policy) for key, policy in policy_map.items()}
        return cls(config.get("default_policy"), policies)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTypePolicyMap) and (
            (other.name, other._policies) == (self.name, self._policies)
        )

    __hash__ = DTypePolicy.__hash__

    def __repr__(self) -> str:
        mapping = [(key, policy.name) for key, policy in self._policies.items()]
        return f"<DTypePolicyMap default_policy={self.default_policy.name}, mapping={mapping}>"


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


def deserialize(config: Config) -> DTypePolicy:
    """Return the policy that a configuration describes.

    Raises:
        ValueError: the configuration is malformed, or there is no policy of its name.
    """
    arguments = config.get("config")
    if not isinstance(arguments, Mapping):
        raise ValueError(f"dtype policy: the configuration is malformed: {config!r}")
    if config.get("class_name") == "DTypePolicyMap":
        return DTypePolicyMap.from_config(dict(arguments))
    name = arguments.get("name")
    return DTypePolicy(None if name is None else str(name))
