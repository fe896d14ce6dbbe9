"""A dictionary with attributes, which can be frozen."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TypeAlias, TypeVar

__all__ = ["Config"]

#: What JSON can represent.
JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
Default = TypeVar("Default")


class Config:
    """A dictionary whose values are also attributes; ``freeze`` makes it immutable.

    Its arguments are the first values, by their names.

    Raises:
        ValueError: a value is set or deleted while the dictionary is frozen.

    Example:
        >>> from webtensor import keras
        >>> config = keras.utils.Config(rate=0.1)
        >>> config.seed = 3
        >>> config["seed"], config.to_json()
        (3, '{"rate": 0.1, "seed": 3}')
    """

    _values: dict[str, JSON]
    _frozen: bool

    def __init__(self, **kwargs: JSON) -> None:
        self.__dict__["_values"] = dict(kwargs)
        self.__dict__["_frozen"] = False

    @property
    def frozen(self) -> bool:
        """Whether values cannot be changed."""
        return bool(self._frozen)

    def freeze(self) -> None:
        """Make values immutable."""
        self.__dict__["_frozen"] = True

    def unfreeze(self) -> None:
        """Make values mutable again."""
        self.__dict__["_frozen"] = False

    def _mutable_values(self) -> dict[str, JSON]:
        if self.frozen:
            raise ValueError("Config: it is frozen; call unfreeze() to change it")
        return self._values

    def as_dict(self) -> dict[str, JSON]:
        """Return a dictionary of the values."""
        return dict(self._values)

    def to_json(self) -> str:
        """Return the values as JSON."""
        return json.dumps(self._values)

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._values.keys()

    def values(self) -> ValuesView[JSON]:
        """Return the values."""
        return self._values.values()

    def items(self) -> ItemsView[str, JSON]:
        """Return the names with their values."""
        return self._values.items()

    def get(self, key: str, default: Default | None = None) -> JSON | Default:
        """Return a value, or the default if there is none."""
        return self._values.get(key, default)

    def pop(self, key: str, *default: Default) -> JSON | Default:
        """Remove a value, and return it, or the default if there is none."""
        return self._mutable_values().pop(key, *default)

    def update(self, *args: Mapping[str, JSON], **kwargs: JSON) -> None:
        """Set several values."""
        self._mutable_values().update(*args, **kwargs)

    def __getattr__(self, name: str) -> JSON:
        # Copies have no values yet when this is first called.
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"Config has no value {name!r}; there are {list(values)}")
        value: JSON = values[name]
        return value

    def __setattr__(self, name: str, value: JSON) -> None:
        self._mutable_values()[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self._values:
            raise AttributeError(f"Config has no value {name!r}; there are {list(self._values)}")
        del self._mutable_values()[name]

    def __getitem__(self, key: str) -> JSON:
        return self._values[key]

    def __setitem__(self, key: str, value: JSON) -> None:
        self._mutable_values()[key] = value

    def __delitem__(self, key: str) -> None:
        del self._mutable_values()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Config {self._values}>"
