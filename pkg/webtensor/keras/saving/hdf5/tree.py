"""What an HDF5 file holds: groups with attributes, and arrays in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webtensor.keras.saving.element_types import Elements

__all__ = ["Group"]

#: What an attribute may be: text, an integer, or a list of texts.
Attribute = str | int | list[str]


class Group:
    """Members, which are groups or ``Elements``, by their names; and attributes.

    Example:
        >>> tree = Group()
        >>> tree.make("layers/dense").attributes["name"] = "dense"
        >>> tree.find("layers/dense").attributes
        {'name': 'dense'}
    """

    def __init__(self) -> None:
        self.members: dict[str, Group | Elements] = {}
        self.attributes: dict[str, Any] = {}

    def make(self, path: str) -> Group:
        """Return the group at a path, made where it is missing.

        Raises:
            ValueError: there is an array on the way.
        """
        group = self
        for name in path.split("/") if path else ():
            member = group.members.setdefault(name, Group())
            if not isinstance(member, Group):
                raise ValueError(f"{path!r} would be a group, but {name!r} is an array")
            group = member
        return group

    def put(self, path: str, elements: Elements) -> None:
        """Put an array at a path.

        Raises:
            ValueError: there is something already.
        """
        outer, _, name = path.rpartition("/")
        members = self.make(outer).members
        if name in members:
            raise ValueError(f"there are two arrays with the name {path!r}")
        members[name] = elements

    def find(self, path: str) -> Group | Elements | None:
        """Return what is at a path, or None."""
        found: Group | Elements | None = self
        for name in path.split("/") if path else ():
            found = found.members.get(name) if isinstance(found, Group) else None
        return found

    def group(self, path: str) -> Group | None:
        """Return the group at a path, or None."""
        found = self.find(path)
        return found if isinstance(found, Group) else None

    def arrays(self, prefix: str = "") -> Iterator[tuple[str, Elements]]:
        """All arrays in this group and those inside it, with their paths."""
        for name, member in self.members.items():
            if isinstance(member, Group):
                yield from member.arrays(f"{prefix}{name}/")
            else:
                yield prefix + name, member
