"""How often layers and their variables have changed, so that captured steps notice it."""

from __future__ import annotations

__all__ = ["NotesChanges", "change_count", "note_change"]

_count = 0


def change_count() -> int:
    """Return how often something has changed on which the computation of a layer may depend."""
    return _count


def note_change() -> None:
    """Count a change of an attribute of a layer or of a variable."""
    global _count
    _count += 1


class NotesChanges:
    """A function of a variable, as a regularizer, each of whose attributes counts."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        note_change()
