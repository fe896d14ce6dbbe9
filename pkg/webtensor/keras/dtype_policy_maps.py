"""Dtype policies by the paths of layers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Final, Self

from webtensor.keras.dtype_policies import DTypePolicy, deserialize, get, serialize
from webtensor.keras.types import Config

__all__ = ["DTypePolicyMap"]

_MISSING: Final = object()


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
        >>> policies["encoder/.*"] = "bfloat16"
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

    def __setitem__(self, key: str, policy: str | Config | DTypePolicy | None) -> None:
        if key in self._policies:
            raise ValueError(f"DTypePolicyMap: there is a policy for {key!r} already")
        self._policies[key] = get(policy)

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

    def of_layer(self, path: str) -> DTypePolicy:
        """Return the policy of the layer with a path."""
        return self[path]

    def changed(self, path: str, policy: DTypePolicy) -> DTypePolicy:
        """Return a copy of this map in which a path has another policy; a map replaces it."""
        if isinstance(policy, DTypePolicyMap):
            return policy
        default = self.default_policy if self._has_default else None
        return DTypePolicyMap(default, {**self._policies, path: policy})

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Remove the policy of a path or regular expression, and return it, or the default.

        Raises:
            KeyError: there is neither.
        """
        return self._policies.pop(key) if default is _MISSING else self._policies.pop(key, default)

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
        if policy_map:
            from webtensor.formats.regular_expressions import compile_pattern  # few models have any

            for pattern in policy_map:
                compile_pattern(pattern)
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
