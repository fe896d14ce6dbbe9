"""Counts changes of layers and their variables, so that captured steps notice them."""

from __future__ import annotations

__all__ = ["NotesChanges", "change_count", "note_change"]

_count = 0


def change_count() -> int:
    """Return the number of changes that may affect what a layer computes."""
    return _count


def note_change() -> None:
    """Count a change of an attribute of a layer or of a variable."""
    global _count
    _count += 1


class NotesChanges:
    """Base class of regularizers and constraints: setting an attribute counts as a change."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        note_change()
