"""Capturing one call of a function: what it returns, and the program of what it did."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from inspect import isawaitable, iscoroutine
from itertools import count
from typing import Any

from webtensor.dtypes import string_
from webtensor.engine import Tensor, backend
from webtensor.engine.scopes import outside_scopes
from webtensor.errors import KernelNotFoundError, OutOfMemoryError
from webtensor.nest import map_structure
from webtensor.programs.numbers import Choices
from webtensor.programs.program import CapturedProgram
from webtensor.programs.recording import Recorder, View, on_device

__all__ = ["Captured", "capture"]

#: Stands for a tensor in a structure.
_TENSOR = object()


class Captured:
    """A program, what decides whether it is the one to replay, and the structure of its results."""

    def __init__(self, program: CapturedProgram, choices: Choices, form: Any) -> None:
        self.program = program
        self.choices = choices
        self._form = form

    def __call__(self, arguments: list[Tensor]) -> Any:
        results = self.program(arguments)
        if self._form is _TENSOR:
            return results[0]
        tensors = iter(results)
        return map_structure(lambda leaf: next(tensors) if leaf is _TENSOR else leaf, self._form)


def capture(
    function: Callable[..., Any],
    name: str,
    structure: Any,
    is_strict: bool,
    is_first: bool,
) -> tuple[Any, list[Captured | None]]:
    """Call a function, and return its result and the program of what it did.

    There is no program of a first call that makes what the next calls may find. It is None where
    the function cannot be captured, or the backend has no kernel or no room for it.

    Args:
        function: the function.
        name: its name in errors.
        structure: its positional and its named arguments.
        is_strict: whether what cannot be captured is an error.
        is_first: whether it is the function's first call.

    Raises:
        CaptureError: the function cannot be captured.
    """
    active = backend()
    recorder = Recorder(is_strict)
    with recorder.active():
        args, kwargs = _with_stand_ins(recorder, structure)
        result = function(*args, **kwargs)
        if isawaitable(result):
            if is_strict and iscoroutine(result):
                result.close()
            recorder.refuse(
                f"{name}: a coroutine function cannot be captured; capture what it computes "
                "between its awaits"
            )
        form, views = _form(recorder, name, result)
        recording = recorder.finish()
    if recorder.left_variables() or (is_first and recording.made_seeds):
        return result, []
    if recording.made_seeds:
        recorder.refuse(
            f"{name}: each call makes an object that draws a seed, which a replay would not make "
            "again; make it outside of the function"
        )
    if not recorder.has_failed:
        with suppress(KernelNotFoundError, OutOfMemoryError):
            program = CapturedProgram(active, recording, views)
            return result, [Captured(program, Choices(recording.choices), form)]
    return result, [None]


def _with_stand_ins(recorder: Recorder, structure: Any) -> Any:
    """Return the arguments with other tensors over the same elements, which the recorder knows."""
    numbers = count()

    def stand_in(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        with outside_scopes():
            tensor = on_device(leaf)
        recorder.argument(next(numbers), tensor)
        return tensor

    return map_structure(stand_in, structure)


def _form(recorder: Recorder, name: str, result: Any) -> tuple[Any, list[View]]:
    """Return the structure of what a function returned, and its tensors."""
    views: list[View] = []

    def without_tensor(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or leaf.dtype is string_:
            recorder.check_result(name, leaf)
            return leaf
        views.append(recorder.view(leaf))
        return _TENSOR

    return map_structure(without_tensor, result), views
