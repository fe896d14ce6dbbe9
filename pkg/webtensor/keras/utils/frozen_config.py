"""Named values that can be made fast."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Config"]


class Config:
    """Values by their names, as attributes and as in a dict, until ``freeze`` makes them fast.

    Example:
        >>> from webtensor import keras
        >>> config = keras.utils.Config(rate=0.1)
        >>> config.seed = 3
        >>> config["seed"], config.to_json()
        (3, '{"rate": 0.1, "seed": 3}')
    """

    def __init__(self, **kwargs: Any) -> None:
        self.__dict__["_values"] = dict(kwargs)
        self.__dict__["_frozen"] = False

    @property
    def frozen(self) -> bool:
        """Whether nothing may be changed."""
        return bool(self.__dict__["_frozen"])

    def freeze(self) -> None:
        """Let nothing be changed any more."""
        self.__dict__["_frozen"] = True

    def unfreeze(self) -> None:
        """Let values be changed again."""
        self.__dict__["_frozen"] = False

    @property
    def _known(self) -> dict[str, Any]:
        found: dict[str, Any] = self.__dict__["_values"]
        return found

    @property
    def _changeable(self) -> dict[str, Any]:
        if self.frozen:
            raise ValueError("Config: it is frozen; call unfreeze() to change it")
        return self._known

    def as_dict(self) -> dict[str, Any]:
        """Return a dict of the values."""
        return dict(self._known)

    def to_json(self) -> str:
        """Return the values as JSON."""
        return json.dumps(self._known)

    def keys(self) -> Any:
        """The names."""
        return self._known.keys()

    def values(self) -> Any:
        """The values."""
        return self._known.values()

    def items(self) -> Any:
        """The names with their values."""
        return self._known.items()

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value, or the default."""
        return self._known.get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        """Take a value out."""
        return self._changeable.pop(key, *default)

    def update(self, *args: Mapping[str, Any], **kwargs: Any) -> None:
        """Set several values."""
        self._changeable.update(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__.get("_values", {})  # copies are asked before they have any
        if name not in known:
            raise AttributeError(f"Config has no value {name!r}; there are {list(known)}")
        return known[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._changeable[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self._known:
            raise AttributeError(f"Config has no value {name!r}; there are {list(self._known)}")
        del self._changeable[name]

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._changeable[key] = value

    def __delitem__(self, key: str) -> None:
        del self._changeable[key]

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"<Config {self._known}>"
