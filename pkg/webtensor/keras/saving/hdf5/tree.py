"""The contents of an HDF5 file: groups with attributes, and arrays in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from webtensor.formats.element_types import Elements

__all__ = ["Attribute", "Group"]

#: The value of an attribute: a text, an integer, a list of them, or None where it is empty.
Attribute: TypeAlias = str | int | list[str] | list[int] | None


class Group:
    """A group of an HDF5 file: its members, which are groups and arrays, and its attributes.

    Example:
        >>> tree = Group()
        >>> tree.make("layers/dense").attributes["name"] = "dense"
        >>> tree.find("layers/dense").attributes
        {'name': 'dense'}
    """

    def __init__(self) -> None:
        self.members: dict[str, Group | Elements] = {}
        self.attributes: dict[str, Attribute] = {}

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
        """Return the group or the array at a path, or None."""
        member: Group | Elements | None = self
        for name in path.split("/") if path else ():
            member = member.members.get(name) if isinstance(member, Group) else None
        return member

    def group(self, path: str) -> Group | None:
        """Return the group at a path, or None."""
        member = self.find(path)
        return member if isinstance(member, Group) else None

    def arrays(self, prefix: str = "") -> Iterator[tuple[str, Elements]]:
        """Yield all arrays in this group and in those inside it, with their paths."""
        for name, member in self.members.items():
            if isinstance(member, Group):
                yield from member.arrays(f"{prefix}{name}/")
            else:
                yield prefix + name, member
