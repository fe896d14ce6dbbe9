"""What a visitor does, as tasks for the program, and what the program finds, for the visitor."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import class_cards
from class_cards import MAX_CLASSES, MAX_EXAMPLES, Example, TaughtClass
from confidences import Confidences
from downloads import save_file
from head_files import UnfitHeadError, read_head, write_head
from page import element, write
from pictures import UnreadablePictureError, blank_picture, fetch_picture, read_picture
from program import at_end, on, show_facts
from webcam import Webcam

from webtensor import keras

#: The classes of the page's own pictures, and how many each has to learn from.
EXAMPLES = {"Temple": "temple", "Flower": "flower", "Astronaut": "astronaut"}
PICTURES_OF_AN_EXAMPLE = 8
SECONDS_BETWEEN_FACTS = 0.5
HEAD_FILE = "head.keras"


@dataclass(frozen=True)
class Learn:
    """Compute the features of a new example, and add it with its label."""

    example: Example
    label: int


@dataclass(frozen=True)
class Forget:
    """Add all examples anew, as some were removed."""


@dataclass(frozen=True)
class Train:
    """Train a head for a number of classes."""

    class_count: int


@dataclass(frozen=True)
class Look:
    """Say of which class a picture is."""

    picture: Any


Task = Learn | Forget | Train | Look


class Classroom:
    """The page's left side: classes with their pictures, the picture to judge, and the head."""

    def __init__(self) -> None:
        """Show the classes, of which there are two at first; `open` lets the visitor use them."""
        self.head: keras.Model | None = None
        self.blank_picture = blank_picture()
        #: The classes of the head, some of which may have been removed since.
        self._head_classes: list[TaughtClass] = []
        #: The classes of the head that is being trained.
        self._classes_in_training: list[TaughtClass] = []
        #: What is to be done, the oldest first; examples are to be learned.
        self._waiting: deque[Task | Example] = deque()
        #: What the program does now.
        self._task: Task | None = None
        self._woken = asyncio.Event()
        self._webcam = Webcam(self._notify, self._wake)
        self._picture: Any = None
        self._must_look = False
        self._facts_at = 0.0
        self._nearest = Confidences("nearest")
        self._trained = Confidences("trained")
        while len(class_cards.classes) < class_cards.MIN_CLASSES:
            class_cards.add_class()
        at_end(self._close)

    # -- for the program --

    def show_loading(self, fraction: float) -> None:
        """Say how much of the network is loaded."""
        write("status", f"Loading the network: {100 * fraction:.0f} %")

    def open(self, size: int) -> None:
        """Let the visitor use the page, with features of this size."""
        self._size = size
        self._listen()
        self._webcam.listen()
        element("lesson").disabled = False
        self._ask(class_cards.all_examples())

    async def tasks(self) -> AsyncIterator[Task]:
        """Yield what is to be done; while the webcam is on, its pictures in between."""
        while True:
            await asyncio.sleep(0)  # the page paints and handles events
            task = await self._next_task()
            if task is None:
                continue
            began = perf_counter()
            yield task
            self._finish(task, perf_counter() - began)

    def examples(self) -> list[Example]:
        """Return the examples that were learned."""
        return [example for example in class_cards.all_examples() if example.features is not None]

    def training_progress(self, epochs: int) -> keras.callbacks.Callback:
        """Return a callback that shows how far the training has come."""

        def show(epoch: int, logs: Mapping[str, float]) -> None:
            element("training").value = (epoch + 1) / epochs
            write("loss", f"Loss {logs['loss']:.3f}")
            write("status", f"Epoch {epoch + 1} of {epochs}")

        return keras.callbacks.LambdaCallback(on_epoch_end=show)

    def show_nearest(self, confidences: Mapping[int, float]) -> None:
        """Show which part of the nearest examples each class has."""
        names = class_cards.names()
        self._nearest.show(names, [confidences.get(label, 0.0) for label in range(len(names))])

    def show_head(self, probabilities: Sequence[float]) -> None:
        """Show the probabilities that the head gives the classes."""
        if len(probabilities) == len(self._head_classes):  # no other head was opened meanwhile
            known = class_cards.classes
            names = [
                f"{taught.name} (removed)" if taught.card and taught not in known else taught.name
                for taught in self._head_classes
            ]
            self._trained.show(names, probabilities)

    # -- tasks --

    async def _next_task(self) -> Task | None:
        """Return a task; None if the oldest one is of no use any more, or after waiting."""
        if self._waiting:
            return self._current(self._waiting.popleft())
        self._webcam.stop_if_lost()
        if self._webcam.is_on:
            picture = await self._webcam.picture()
            return self._current(self._webcam.recorded(picture) or Look(picture))
        if self._must_look and self._picture is not None:
            self._must_look = False
            return Look(self._picture)
        self._woken.clear()
        await self._woken.wait()
        return None

    def _current(self, task: Task | Example) -> Task | None:
        """Return a task, or the one to learn an example; None if there is nothing left to do."""
        if isinstance(task, Example):
            return Learn(task, task.label) if class_cards.has(task) else None
        if isinstance(task, Train):
            if not self.examples():
                return None
            self.head = None
            self._trained.clear()
            self._classes_in_training = list(class_cards.classes)
            task = Train(len(self._classes_in_training))  # it may have been pressed for others
        self._task = task
        return task

    def _finish(self, task: Task, seconds: float) -> None:
        """Show what a task has changed."""
        self._task = None
        if isinstance(task, Train):
            self._head_classes = self._classes_in_training
        if not isinstance(task, Look):
            self._must_look = True
            self._refresh()
            return  # on WebGL, the GPU may not have learned yet
        now = perf_counter()
        if now - self._facts_at >= SECONDS_BETWEEN_FACTS:
            self._facts_at = now
            show_facts(f"{1000 * seconds:.0f} ms a picture")

    def _ask(self, tasks: Iterable[Task | Example]) -> None:
        """Let the program do something when it has done what it was asked before."""
        self._waiting.extend(tasks)
        self._wake()

    def _wake(self) -> None:
        """Go on, as something has changed."""
        self._must_look = True
        self._refresh()
        self._woken.set()

    def _refresh(self) -> None:
        """Enable what can be used now, and say how far the lesson is."""
        learned, count = len(self.examples()), len(class_cards.classes)
        waiting = sum(isinstance(task, Example) for task in self._waiting)
        lacking = [taught.name for taught in class_cards.classes if not taught.examples]
        is_training = any(isinstance(task, Train) for task in (self._task, *self._waiting))
        element("train").disabled = bool(lacking) or is_training
        element("save").disabled = self.head is None
        if not learned:
            self._nearest.clear()
        if waiting:
            said = f"Looking at pictures: {waiting} to go"
        elif not learned:
            said = "Show each class some pictures, or load the example classes."
        elif lacking:
            said = f"{lacking[0]} has no pictures yet."
        else:
            said = f"{learned} pictures of {count} classes are learned. {self._state_of_head()}"
        write("status", said)

    def _state_of_head(self) -> str:
        if self.head is None:
            return "The head can be trained."
        if self._head_classes != class_cards.classes:
            return "The head knows other classes: train it again."
        return "The head is trained."

    # -- classes and their pictures --

    def _listen(self) -> None:
        cards = element("classes")
        on(cards, "click", self._press)
        on(cards, "change", self._change)
        on(cards, "drop", self._drop_on_card)
        on(element("add-class"), "click", lambda event: self._add_class())
        on(element("load-examples"), "click", lambda event: self._load_examples())
        on(element("train"), "click", lambda event: self._train())
        on(element("judged-file"), "change", lambda event: self._judge_files(event.target.files))
        on(element("judged"), "drop", lambda event: self._judge_files(event.dataTransfer.files))
        on(element("held-out"), "click", self._judge_held_out)
        on(element("save"), "click", lambda event: self._save())
        on(element("head-file"), "change", lambda event: self._open_head(event.target.files))

    def _press(self, event: Any) -> None:
        button = event.target.closest("[data-action]")
        taught = class_cards.class_of(event.target)
        if not button or taught is None:
            return
        match button.dataset.action:
            case "remove":
                class_cards.remove_class(taught)
            case "clear":
                taught.clear()
            case "forget":
                taught.remove(button)
            case _:
                return
        self._ask([Forget()])

    def _change(self, event: Any) -> Coroutine[Any, Any, None] | None:
        """Take a new name of a class, or the files that were chosen for it."""
        taught = class_cards.class_of(event.target)
        if taught is None:
            return None
        if event.target.type == "file":
            return self._add_files(taught, list(event.target.files))
        class_cards.rename(taught, event.target.value)
        self._wake()
        return None

    def _drop_on_card(self, event: Any) -> Coroutine[Any, Any, None] | None:
        taught = class_cards.class_of(event.target)
        return None if taught is None else self._add_files(taught, list(event.dataTransfer.files))

    async def _add_files(self, taught: TaughtClass, files: Sequence[Any]) -> None:
        self._notify("")
        taught.card.querySelector("[type=file]").value = ""
        for file in files:
            if taught.is_full:
                self._notify(f"{taught.name} is full: a class has up to {MAX_EXAMPLES} pictures.")
                return
            picture = await self._read(file)
            if picture is not None:
                self._ask([taught.add(picture)])

    async def _read(self, file: Any) -> Any:
        """Return the picture of a file, or None after saying what is wrong with it."""
        try:
            return await read_picture(file, file.name)
        except UnreadablePictureError as error:
            self._notify(str(error))
            return None

    def _add_class(self) -> None:
        class_cards.add_class().card.querySelector(".name").select()
        self._wake()

    async def _load_examples(self) -> None:
        """Teach the page's own classes, in place of classes without pictures."""
        names = [name for name in EXAMPLES if not class_cards.has_examples(name)]
        new = [name for name in names if class_cards.class_named(name) is None]
        unused = [
            taught
            for taught in class_cards.classes
            if not taught.examples and taught.name not in names
        ]
        if len(class_cards.classes) - len(unused) + len(new) > MAX_CLASSES:
            self._notify(f"There are up to {MAX_CLASSES} classes: remove some of yours first.")
            return
        for name in new:
            class_cards.rename(unused.pop(0) if unused else class_cards.add_class(), name)
        element("load-examples").disabled = True
        try:
            for name in names:
                pictures = await asyncio.gather(*map(fetch_picture, example_addresses(name)))
                taught = class_cards.class_named(name)
                if taught is not None:  # not removed meanwhile
                    self._ask([taught.add(picture) for picture in pictures])
        except OSError:
            self._notify("The example pictures could not be loaded.")
        finally:
            element("load-examples").disabled = False

    def _train(self) -> None:
        element("training").value = 0
        self._ask([Train(len(class_cards.classes))])

    # -- the picture to judge --

    def _judge_files(self, files: Any) -> Coroutine[Any, Any, None] | None:
        return self._judge_file(files[0]) if files.length else None

    async def _judge_file(self, file: Any) -> None:
        self._notify("")
        picture = await self._read(file)
        element("judged-file").value = ""
        if picture is not None:
            self._judge(picture)

    def _judge_held_out(self, event: Any) -> Coroutine[Any, Any, None] | None:
        button = event.target.closest("button")
        return self._judge_address(button.firstElementChild.src) if button else None

    async def _judge_address(self, address: str) -> None:
        self._judge(await fetch_picture(address))

    def _judge(self, picture: Any) -> None:
        """Look at a picture, again after each change of what was learned."""
        self._webcam.stop()
        self._picture = picture
        element("picture").replaceChildren(picture)
        self._wake()

    # -- the head's file --

    def _head_names(self) -> list[str]:
        return [taught.name for taught in self._head_classes]

    def _save(self) -> None:
        if self.head is not None:
            save_file(write_head(self.head, self._head_names()), HEAD_FILE)

    def _open_head(self, files: Any) -> Coroutine[Any, Any, None] | None:
        return self._read_head(files[0]) if files.length else None

    async def _read_head(self, file: Any) -> None:
        self._notify("")
        content = (await file.arrayBuffer()).to_bytes()
        element("head-file").value = ""
        try:
            self.head, names = read_head(content, file.name, self._size)
        except UnfitHeadError as error:
            self._notify(str(error))
            return
        self._head_classes = [
            class_cards.class_named(name) or TaughtClass(name, card=None) for name in names
        ]
        self._wake()
        write("status", f"The head of {file.name} knows {', '.join(names)}.")

    # -- the end --

    def _notify(self, text: str) -> None:
        """Say what went wrong; an empty text takes that away."""
        write("notice", text)

    def _close(self) -> None:
        """Give back the webcam and what was computed; the classes and their pictures stay."""
        self._webcam.close()
        element("lesson").disabled = True
        for example in class_cards.all_examples():
            example.features = None
        self.head = None
        self._nearest.clear()
        self._trained.clear()


def example_addresses(name: str) -> list[str]:
    """Return the addresses of the pictures of one of the page's own classes."""
    return [f"{EXAMPLES[name]}-{number}.jpg" for number in range(PICTURES_OF_AN_EXAMPLE)]
