"""The classes that a visitor teaches, and a card of the page for each.

They outlive a run of the program: the next run learns their pictures anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from page import element

import webtensor as wt

MIN_CLASSES, MAX_CLASSES = 2, 6
MAX_EXAMPLES = 60  # of a class


@dataclass(eq=False)
class Example:
    """A picture of a class.

    Attributes:
        picture: its canvas, which the card shows.
        taught_class: the class.
        features: what the network computes of it; None until the program has learned it.
    """

    picture: Any
    taught_class: "TaughtClass"
    features: wt.Tensor | None = None

    @property
    def label(self) -> int:
        """The index of the class among those of the page."""
        return classes.index(self.taught_class)


@dataclass(eq=False)
class TaughtClass:
    """A class: its name, its examples, and its card."""

    name: str
    card: Any
    examples: list[Example] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether it takes no more examples."""
        return len(self.examples) >= MAX_EXAMPLES

    def add(self, picture: Any) -> Example:
        """Add a picture, and show it."""
        example = Example(picture, self)
        self.examples.append(example)
        button = element("thumbnail").content.firstElementChild.cloneNode(True)
        button.append(picture)
        thumbnails = self.card.querySelector(".thumbnails")
        thumbnails.append(button)
        thumbnails.scrollTop = thumbnails.scrollHeight
        self._show_count()
        return example

    def remove(self, button: Any) -> None:
        """Remove the example whose thumbnail was pressed."""
        index = [*self.card.querySelectorAll(".thumbnails > *")].index(button)
        del self.examples[index]
        button.remove()
        self._show_count()

    def clear(self) -> None:
        """Remove all examples."""
        self.examples.clear()
        self.card.querySelector(".thumbnails").replaceChildren()
        self._show_count()

    def _show_count(self) -> None:
        number = len(self.examples)
        self.card.querySelector(".count").textContent = (
            "1 picture" if number == 1 else f"{number} pictures"
        )
        self.card.querySelector("[data-action=clear]").disabled = number == 0


#: The classes of the page, in its order.
classes: list[TaughtClass] = []


def add_class() -> TaughtClass:
    """Add a class, with a name that no other has."""
    name = next(name for name in map("Class {}".format, count(1)) if name not in names())
    card = element("class-card").content.firstElementChild.cloneNode(True)
    element("classes").append(card)
    added = TaughtClass(name, card)
    classes.append(added)
    card.querySelector(".name").value = name
    _label(added)
    _show_limits()
    return added


def rename(renamed: TaughtClass, name: str) -> None:
    """Give a class another name; if that is empty or taken, it keeps its own."""
    name = name.strip()
    if name and name not in names():
        renamed.name = name
    renamed.card.querySelector(".name").value = renamed.name
    _label(renamed)


def remove_class(removed: TaughtClass) -> None:
    """Remove a class with its examples."""
    classes.remove(removed)
    removed.card.remove()
    _show_limits()


def class_of(target: Any) -> TaughtClass | None:
    """Return the class in whose card an element is."""
    card = target.closest(".class-card")
    return next((taught for taught in classes if taught.card.isSameNode(card)), None)


def class_named(name: str) -> TaughtClass | None:
    """Return the class of this name, or None."""
    return next((taught for taught in classes if taught.name == name), None)


def has_examples(name: str) -> bool:
    """Whether there is a class of this name that has examples."""
    named = class_named(name)
    return named is not None and bool(named.examples)


def names() -> list[str]:
    """Return the names of the classes."""
    return [taught.name for taught in classes]


def has(example: Example) -> bool:
    """Whether an example was not removed."""
    taught = example.taught_class
    return taught in classes and example in taught.examples


def all_examples() -> Iterator[Example]:
    """Yield the examples of all classes."""
    for taught in classes:
        yield from taught.examples


def _label(labelled: TaughtClass) -> None:
    """Say in each control's label which class it is for."""
    for control in labelled.card.querySelectorAll("[data-label]"):
        control.setAttribute("aria-label", f"{control.dataset.label} {labelled.name}")


def _show_limits() -> None:
    for taught in classes:
        button = taught.card.querySelector("[data-action=remove]")
        button.disabled = len(classes) <= MIN_CLASSES
    element("add-class").disabled = len(classes) >= MAX_CLASSES
