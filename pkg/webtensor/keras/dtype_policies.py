"""Dtype policies: which dtype layers compute in, and which their variables have.

WebGL and the kernels compute with float32, whatever a policy says: there is no mixed precision, and
integers of other widths are held in int32. Policies keep the names of dtypes, so that the
configurations of models say what they said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from webtensor.keras.dtypes import floatx, standardize_dtype
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
#: The policy that layers have by default, where one was set.
_set: list[DTypePolicy] = []


class DTypePolicy:
    """A policy by its name: that of a dtype, "mixed_float16" or "mixed_bfloat16".

    ``compute_dtype`` and ``variable_dtype`` are what Keras would use; layers here compute in
    float32 where it is another float, and so are their variables held.

    Raises:
        TypeError: the name is no string.
        ValueError: it is no policy's.

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
        """What Keras would compute in."""
        return self._compute_dtype

    @property
    def variable_dtype(self) -> str:
        """What variables would have."""
        return self._variable_dtype

    def get_config(self) -> Config:
        """Return the name."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a policy of what ``get_config`` returned."""
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} "{self.name}">'


FloatDTypePolicy = DTypePolicy


def _dtypes_of(name: str) -> tuple[str, str]:
    """What is computed in, and what variables have, by a policy's name."""
    if name in _MIXED:
        return _MIXED[name], "float32"
    try:
        known = standardize_dtype(name)
    except ValueError:
        raise ValueError(
            f"DTypePolicy: name must be that of a dtype, such as 'float32', or one of "
            f"{sorted(_MIXED)}, but got {name!r}; there is no quantization"
        ) from None
    return known, known


class DTypePolicyMap(DTypePolicy, MutableMapping[str, DTypePolicy]):
    """Policies by the paths of layers, or by regular expressions that whole paths match.

    A path that nothing matches has ``default_policy``, by default that of ``keras.config``.

    Example:
        >>> from webtensor import keras
        >>> policies = keras.dtype_policies.DTypePolicyMap("float32")
        >>> policies["encoder/.*"] = keras.DTypePolicy("bfloat16")
        >>> policies["encoder/query"].name, policies["decoder"].name
        ('bfloat16', 'float32')
    """

    def __init__(
        self, default_policy: Any = None, policy_map: Mapping[str, DTypePolicy] | None = None
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
        """That of the default policy, with ``map_`` before it."""
        return f"map_{self.default_policy.name}"

    @property
    def default_policy(self) -> DTypePolicy:
        """The policy of what nothing matches."""
        return self._default

    @property
    def compute_dtype(self) -> str:
        """That of the default policy."""
        return self.default_policy.compute_dtype

    @property
    def variable_dtype(self) -> str:
        """That of the default policy."""
        return self.default_policy.variable_dtype

    def __getitem__(self, key: str) -> DTypePolicy:
        if key in self._policies:
            return self._policies[key]
        found = [one for one in self._policies if re.fullmatch(one, key)]
        if len(found) > 1:
            raise ValueError(
                f"DTypePolicyMap: path {key!r} matches multiple dtype policy patterns: {found}"
            )
        return self._policies[found[0]] if found else self.default_policy

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

    # A map without entries is a policy all the same.
    def __bool__(self) -> bool:
        return True

    def changed(self, path: str, policy: DTypePolicy) -> DTypePolicyMap:
        """Return a map like this one where one path has another policy."""
        default = self.default_policy if self._has_default else None
        return DTypePolicyMap(default, {**self._policies, path: policy})

    def pop(self, key: str, *default: Any) -> Any:
        """Take out the policy of a path or an expression, as it was set."""
        return self._policies.pop(key, *default)

    def get_config(self) -> Config:
        """Return the policies; those like a default that was not given are without a name."""

        def written(policy: DTypePolicy) -> dict[str, Any]:
            config = serialize(policy)
            return config if self._has_default else {**config, "config": {"name": None}}

        return {
            "default_policy": self.default_policy.name if self._has_default else None,
            "policy_map": {key: written(one) for key, one in self._policies.items()},
        }

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a map of what ``get_config`` returned."""
        held = config.get("policy_map") or {}
        if not isinstance(held, Mapping):
            raise TypeError(f"DTypePolicyMap: policy_map must be a dict, but got {held!r}")
        policies = {key: deserialize(one) for key, one in held.items()}
        return cls(config.get("default_policy"), policies)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTypePolicyMap) and (
            (other.name, other._policies) == (self.name, self._policies)
        )

    __hash__ = DTypePolicy.__hash__

    def __repr__(self) -> str:
        mapping = [(key, one.name) for key, one in self._policies.items()]
        return f"<DTypePolicyMap default_policy={self.default_policy.name}, mapping={mapping}>"


# -- the default -------------------------------------------------------------------------------


def dtype_policy() -> DTypePolicy:
    """Return the policy that layers have by default, "float32" unless another was set."""
    return _set[-1] if _set else DTypePolicy(floatx())


def set_dtype_policy(policy: Any) -> None:
    """Set the policy that layers have by default.

    Raises:
        ValueError: it is neither a policy nor the name of one.

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
    _set[:] = [get(policy)]


# -- by what stands for them -------------------------------------------------------------------


def get(identifier: Any) -> DTypePolicy:
    """Return the policy that a name, a dtype, a configuration or None, the default, stands for.

    Raises:
        ValueError: there is none.
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


def serialize(policy: DTypePolicy) -> dict[str, Any]:
    """Return a policy's configuration."""
    from webtensor.keras.registry import serialize_keras_object

    found: dict[str, Any] = serialize_keras_object(policy)
    return found


def deserialize(config: Config) -> DTypePolicy:
    """Make a policy of a configuration.

    Raises:
        ValueError: there is no such policy.
    """
    held = config.get("config")
    if not isinstance(held, Mapping):
        raise ValueError(f"dtype policy: the configuration is malformed: {config!r}")
    if config.get("class_name") == "DTypePolicyMap":
        made: DTypePolicyMap = DTypePolicyMap.from_config(dict(held))
        return made
    name = held.get("name")
    return DTypePolicy(None if name is None else str(name))
