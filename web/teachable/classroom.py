"""What a visitor does, as tasks for the program, and what the program finds, for the visitor."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import class_cards
from class_cards import MOST_CLASSES, MOST_EXAMPLES, Example, TaughtClass
from confidences import Confidences
from head_files import UnfitHeadError, read_head, write_head
from js import URL, Blob, document, window
from page import element, write
from pictures import Camera, UnreadablePictureError, blank_picture, fetch_picture, read_picture
from program import at_end, on, show_facts
from pyodide.ffi import to_js

from webtensor import keras

#: The classes of the page's own pictures, and how many each has to learn from.
EXAMPLES = {"Temple": "temple", "Flower": "flower", "Astronaut": "astronaut"}
PICTURES_OF_AN_EXAMPLE = 8
SECONDS_BETWEEN_RECORDED = 0.1
SECONDS_BETWEEN_FACTS = 0.5
HEAD_FILE = "head.keras"


@dataclass(frozen=True)
class Learn:
    """Compute the features of a new example, and add it."""

    example: Example


@dataclass(frozen=True)
class Forget:
    """Add all examples anew, as some were removed."""


@dataclass(frozen=True)
class Train:
    """Train a head for so many classes."""

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
        #: The classes of the head, which the visitor may have removed since.
        self._head_classes: list[TaughtClass] | list[str] = []
        self._tasks: deque[Task] = deque()
        self._woken = asyncio.Event()
        self._camera = Camera()
        self._recorded: TaughtClass | None = None
        self._recorded_at = self._facts_at = 0.0
        self._picture: Any = None
        self._must_look = False
        self._is_open = True
        self._nearest = Confidences("nearest")
        self._trained = Confidences("trained")
        while len(class_cards.classes) < class_cards.FEWEST_CLASSES:
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
        element("lesson").disabled = False
        self._learn(class_cards.all_examples())
        self._refresh()

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
            write("status", f"Epoch {epoch + 1} of {epochs}: loss {logs['loss']:.3f}")

        return keras.callbacks.LambdaCallback(on_epoch_end=show)

    def show_nearest(self, confidences: Mapping[int, float]) -> None:
        """Show which part of the nearest examples each class has."""
        names = class_cards.names()
        values = [confidences.get(label, 0.0) for label in range(len(names))]
        self._say_likeliest("nearest-name", self._nearest.show(names, values))

    def show_head(self, probabilities: Sequence[float]) -> None:
        """Show the probabilities that the head gives the classes."""
        self._say_likeliest("trained-name", self._trained.show(self._head_names(), probabilities))

    def _say_likeliest(self, identifier: str, name: str) -> None:
        if element(identifier).textContent != name:
            write(identifier, name)

    # -- tasks --

    async def _next_task(self) -> Task | None:
        """Return a task; None if the oldest one is of no use any more, or after waiting."""
        if self._tasks:
            return self._current(self._tasks.popleft())
        if self._camera.is_on:
            picture = await self._camera.picture()
            return self._current(self._recorded_example(picture) or Look(picture))
        if self._camera.is_lost:
            self._stop_camera()
            self._notify("The webcam was taken away.")
        if self._must_look and self._picture is not None:
            self._must_look = False
            return Look(self._picture)
        self._woken.clear()
        await self._woken.wait()
        return None

    def _current(self, task: Task) -> Task | None:
        """Prepare for a task; return None if what it is about was removed."""
        if isinstance(task, Learn):
            taught = task.example.taught_class
            is_there = taught in class_cards.classes and task.example in taught.examples
            return task if is_there else None
        if isinstance(task, Train):
            self.head = None
            self._head_classes = list(class_cards.classes)
            self._trained.clear()
            write("trained-name", "")
        return task

    def _finish(self, task: Task, seconds: float) -> None:
        """Show what a task has changed."""
        if not isinstance(task, Look):
            self._must_look = True
        if not isinstance(task, Look) or self._tasks:
            self._refresh()
        now = perf_counter()
        if not isinstance(task, (Train, Forget)) and now - self._facts_at > SECONDS_BETWEEN_FACTS:
            self._facts_at = now
            show_facts(f"{1000 * seconds:.0f} ms a picture")

    def _add_task(self, *tasks: Task) -> None:
        self._tasks.extend(tasks)
        self._woken.set()

    def _learn(self, examples: Iterable[Example]) -> None:
        self._add_task(*map(Learn, examples))

    def _recorded_example(self, picture: Any) -> Learn | None:
        """Return the task for a picture if the visitor records a class, and it is time for one."""
        taught, now = self._recorded, perf_counter()
        if taught is None or now - self._recorded_at < SECONDS_BETWEEN_RECORDED:
            return None
        if taught.is_full:
            self._stop_recording()
            self._notify(f"{taught.name} is full: a class has up to {MOST_EXAMPLES} pictures.")
            return None
        self._recorded_at = now
        return Learn(taught.add(picture))

    def _refresh(self) -> None:
        """Enable what can be used now, and say how far the lesson is."""
        waiting = sum(isinstance(task, Learn) for task in self._tasks)
        learned = len(self.examples())
        lacking = [taught.name for taught in class_cards.classes if not taught.examples]
        element("train").disabled = bool(lacking) or any(
            isinstance(task, Train) for task in self._tasks
        )
        element("save").disabled = self.head is None
        if waiting:
            write("status", f"Looking at pictures: {waiting} to go")
        elif not learned:
            write("status", "Show each class some pictures, or load the example classes.")
        elif lacking:
            write("status", f"{lacking[0]} has no pictures yet.")
        else:
            said = f"{learned} pictures of {len(class_cards.classes)} classes are learned."
            advice = "" if self.head is not None else " The head can be trained."
            write("status", said + advice)

    # -- what the visitor does --

    def _listen(self) -> None:
        cards = element("classes")
        on(cards, "click", self._press)
        on(cards, "change", self._change)
        on(cards, "drop", self._drop_on_card)
        for start in ("pointerdown", "keydown"):
            on(cards, start, self._start_recording)
        for end in ("pointerup", "pointercancel", "keyup"):
            on(cards, end, self._stop_recording)
        on(window, "blur", self._stop_recording)
        on(cards, "contextmenu", self._keep_holding)
        on(element("add-class"), "click", lambda event: self._add_class())
        on(element("load-examples"), "click", lambda event: self._load_examples())
        on(element("train"), "click", lambda event: self._train())
        on(element("webcam"), "click", lambda event: self._start_or_stop_camera())
        on(element("judged-file"), "change", lambda event: self._judge_files(event.target.files))
        on(element("judged"), "drop", lambda event: self._judge_files(event.dataTransfer.files))
        on(element("held-out"), "click", self._judge_held_out)
        on(element("save"), "click", lambda event: self._save())
        on(element("head-file"), "change", lambda event: self._open_head(event.target))

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
        self._add_task(Forget())

    def _change(self, event: Any) -> Coroutine[Any, Any, None] | None:
        """Take a new name of a class, or the files that were chosen for it."""
        taught = class_cards.class_of(event.target)
        if taught is None:
            return None
        if event.target.type == "file":
            files = list(event.target.files)
            event.target.value = ""
            return self._add_files(taught, files)
        class_cards.rename(taught, event.target.value)
        self._must_look = True
        self._refresh()
        self._woken.set()
        return None

    def _drop_on_card(self, event: Any) -> Coroutine[Any, Any, None] | None:
        taught = class_cards.class_of(event.target)
        return None if taught is None else self._add_files(taught, list(event.dataTransfer.files))

    async def _add_files(self, taught: TaughtClass, files: Sequence[Any]) -> None:
        self._notify("")
        for file in files:
            if taught.is_full:
                self._notify(f"{taught.name} is full: a class has up to {MOST_EXAMPLES} pictures.")
                return
            picture = await self._read(file)
            if picture is not None:
                self._learn([taught.add(picture)])

    async def _read(self, file: Any) -> Any:
        """Return the picture of a file, or None after saying what is wrong with it."""
        try:
            return await read_picture(file, file.name)
        except UnreadablePictureError as error:
            self._notify(str(error))
            return None

    def _add_class(self) -> None:
        class_cards.add_class().card.querySelector(".name").select()
        self._refresh()

    async def _load_examples(self) -> None:
        """Teach the page's own classes, in place of classes without pictures."""
        element("load-examples").disabled = True
        try:
            await self._add_example_classes(
                [name for name in EXAMPLES if name not in class_cards.names()]
            )
        finally:
            element("load-examples").disabled = False

    async def _add_example_classes(self, names: Sequence[str]) -> None:
        unused = [taught for taught in class_cards.classes if not taught.examples]
        if len(class_cards.classes) - len(unused) + len(names) > MOST_CLASSES:
            self._notify(f"There are up to {MOST_CLASSES} classes: remove some of yours first.")
            return
        addresses = [
            f"{EXAMPLES[name]}-{number}.jpg"
            for name in names
            for number in range(PICTURES_OF_AN_EXAMPLE)
        ]
        pictures = deque(await asyncio.gather(*map(fetch_picture, addresses)))
        for taught, name in zip(unused, names, strict=False):
            class_cards.rename(taught, name)
        for name in names:
            taught = class_cards.class_named(name) or class_cards.add_class(name)
            self._learn([taught.add(pictures.popleft()) for _ in range(PICTURES_OF_AN_EXAMPLE)])
        for taught in unused[len(names) :]:
            class_cards.remove_class(taught)

    def _train(self) -> None:
        element("train").disabled = True
        element("training").value = 0
        self._add_task(Train(len(class_cards.classes)))

    # -- the webcam --

    async def _start_or_stop_camera(self) -> None:
        if self._camera.is_on:
            self._stop_camera()
        else:
            await self._start_camera()

    async def _start_camera(self) -> None:
        self._notify("")
        element("webcam").disabled = True
        try:
            await self._camera.start()
        except OSError as error:
            self._notify(f"The webcam cannot be used: {error}")
            return
        finally:
            element("webcam").disabled = False
        if not self._is_open:
            self._camera.stop()
            return
        element("judged").classList.add("live")
        write("webcam", "Stop webcam")
        self._woken.set()

    def _stop_camera(self) -> None:
        self._camera.stop()
        self._stop_recording()
        element("judged").classList.remove("live")
        write("webcam", "Start webcam")

    def _start_recording(self, event: Any) -> Coroutine[Any, Any, None] | None:
        """Record a class from now on, if its button is held down by the pointer or by a key."""
        button = event.target.closest("[data-action=record]")
        is_key = event.type == "keydown"
        if not button or (event.key not in (" ", "Enter") if is_key else event.button != 0):
            return None
        if is_key:
            event.preventDefault()
        else:
            button.setPointerCapture(event.pointerId)
        if self._recorded is None:
            self._recorded = class_cards.class_of(button)
            button.classList.add("recording")
            if not self._camera.is_on:
                return self._start_camera()
        return None

    def _stop_recording(self, event: Any = None) -> None:
        if self._recorded is not None:
            button = self._recorded.card.querySelector("[data-action=record]")
            button.classList.remove("recording")
            self._recorded = None
            self._refresh()

    def _keep_holding(self, event: Any) -> None:
        """Let a long touch of the button open no menu."""
        if event.target.closest("[data-action=record]"):
            event.preventDefault()

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
        self._stop_camera()
        self._picture = picture
        element("picture").replaceChildren(picture)
        self._must_look = True
        self._woken.set()

    # -- the head's file --

    def _head_names(self) -> list[str]:
        return [taught if isinstance(taught, str) else taught.name for taught in self._head_classes]

    def _save(self) -> None:
        """Download the head as a file of Keras."""
        if self.head is None:
            return
        content = to_js([to_js(write_head(self.head, self._head_names()))])
        address = URL.createObjectURL(Blob.new(content))
        link = document.createElement("a")
        link.href, link.download = address, HEAD_FILE
        link.click()
        URL.revokeObjectURL(address)

    def _open_head(self, control: Any) -> Coroutine[Any, Any, None] | None:
        files = list(control.files)
        control.value = ""
        return self._read_head(files[0]) if files else None

    async def _read_head(self, file: Any) -> None:
        self._notify("")
        content = (await file.arrayBuffer()).to_bytes()
        try:
            self.head, self._head_classes = read_head(content, file.name, self._size)
        except UnfitHeadError as error:
            self._notify(str(error))
            return
        self._must_look = True
        self._refresh()
        write("status", f"{file.name} knows {', '.join(self._head_names())}.")
        self._woken.set()

    # -- the end --

    def _notify(self, text: str) -> None:
        """Say what went wrong; an empty text takes that away."""
        write("notice", text)

    def _close(self) -> None:
        """Give back the webcam and what was computed; the classes and their pictures stay."""
        self._is_open = False
        self._stop_camera()
        element("lesson").disabled = True
        for example in class_cards.all_examples():
            example.features = None
        self.head = None
        self._nearest.clear()
        self._trained.clear()
        for place in ("nearest-name", "trained-name"):
            write(place, "")
