"""Dtype policies: which dtype layers compute in, and which their variables have.

WebGL and the kernels compute with float32, so both are one, and mixed precision does not exist.
Integers of other widths are held in int32; a policy keeps their name.
"""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import DType, as_dtype
from webtensor.keras.dtypes import held_dtype

__all__ = ["DTypePolicy", "deserialize", "get", "serialize"]


class DTypePolicy:
    """A policy by its name, a dtype.

    Raises:
        ValueError: the name is no dtype that is computed with, such as "mixed_float16".
    """

    def __init__(self, name: str = "float32") -> None:
        try:
            self._dtype = held_dtype(name) if "int" in str(name) else as_dtype(name)
        except (TypeError, ValueError):
            raise ValueError(
                f"DTypePolicy: name must be a dtype that is computed with, such as 'float32', but "
                f"got {name!r}; there is no mixed precision"
            ) from None
        self._name = str(name) if "int" in str(name) else str(self._dtype)

    @property
    def name(self) -> str:
        """The dtype's name."""
        return self._name

    @property
    def compute_dtype(self) -> DType:
        """What is computed in."""
        return self._dtype

    @property
    def variable_dtype(self) -> DType:
        """What variables have."""
        return self._dtype

    def get_config(self) -> dict[str, Any]:
        """Return the name."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> DTypePolicy:
        """Make a policy of what ``get_config`` returned."""
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTypePolicy) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'


def get(identifier: Any) -> DTypePolicy:
    """Return the policy that a dtype, a configuration or None, which is float32, stands for."""
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return DTypePolicy(str(identifier))
    return DTypePolicy("float32" if identifier is None else str(as_dtype(identifier)))


def serialize(policy: DTypePolicy) -> dict[str, Any]:
    """Return a policy's configuration."""
    from webtensor.keras.registry import serialize_keras_object

    found: dict[str, Any] = serialize_keras_object(policy)
    return found


def deserialize(config: dict[str, Any]) -> DTypePolicy:
    """Make a policy of a configuration."""
    held = config.get("config")
    name = held.get("name") if isinstance(held, dict) else None
    return DTypePolicy(str(name))
