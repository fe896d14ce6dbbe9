"""Computations of models that are captured, so that later ones are replays (``wt.function``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from webtensor.keras.changes import change_count
from webtensor.keras.layers.layer import Layer
from webtensor.keras.models.train_steps import LazyResults
from webtensor.programs import Function

if TYPE_CHECKING:
    from webtensor.keras.models.batches import Batch
    from webtensor.keras.models.training import Trainer

__all__ = ["CaptureMode", "CapturedComputation", "CapturedStep", "capture_mode", "numbers_of"]

#: A computation is captured when its inputs have the same shapes for the third time: what runs once
#: or twice would not gain by it.
_FIRST_RUNS = 2


class CaptureMode(Enum):
    """Which computations of a model are captured."""

    #: None.
    NEVER = "never"
    #: Those in which only code of this library takes part, where they can be.
    IF_KNOWN = "if known"
    #: All, even if code of others takes part, which may have effects that replays leave out, such
    #: as printing. What cannot be captured is an error.
    ALWAYS = "always"


def capture_mode(jit_compile: bool | str) -> CaptureMode:
    """Return the mode that the argument of ``compile`` asks for."""
    if jit_compile == "auto":
        return CaptureMode.IF_KNOWN
    return CaptureMode.ALWAYS if jit_compile else CaptureMode.NEVER


class CapturedComputation:
    """A computation of layers that is captured, and captured anew when their attributes change.

    Attributes that the computation itself changes, as a layer that counts its calls, do not count.

    Args:
        compute: what computes, from tensors in structures.
        mode: whether it is captured.
        parts: returns the objects whose code takes part.
        numbers: returns the numbers that computing depends on.
    """

    def __init__(
        self,
        compute: Callable[..., Any],
        mode: CaptureMode,
        parts: Callable[[], Iterable[object]],
        numbers: Callable[[], tuple[object, ...]] = tuple,
    ) -> None:
        self._compute, self.mode = compute, mode
        self._parts, self._numbers = parts, numbers
        is_strict = mode is CaptureMode.ALWAYS
        self._function: Function[..., Any] = Function(compute, is_strict, _FIRST_RUNS)
        #: What the function depends on besides its arguments, after the last call.
        self._changes = 0
        self._last_numbers: tuple[object, ...] = ()
        self._calls = 0
        self._is_allowed = False

    def __call__(self, *arguments: Any) -> Any:
        if self.mode is CaptureMode.NEVER:
            return self._compute(*arguments)
        if self._calls < _FIRST_RUNS:
            result = self._function(*arguments)
            self._calls += 1
            # Layers, losses and metrics may be made by the first runs.
            self._last_numbers = self._numbers()
            self._is_allowed = self.mode is CaptureMode.ALWAYS or all(
                map(_runs_library_code_only, self._parts())
            )
        elif change_count() != self._changes or self._numbers() != self._last_numbers:
            self._function.clear()
            self._calls = 0
            return self(*arguments)
        else:
            result = (self._function if self._is_allowed else self._compute)(*arguments)
        self._changes = change_count()
        return result


class CapturedStep:
    """A step of training or evaluation that is captured."""

    def __init__(self, model: Trainer, step: Callable[[Batch], Any], mode: CaptureMode) -> None:
        self._model, self._step = model, step
        self._computation = CapturedComputation(
            self._update, mode, model._parts_of_steps, model._numbers_of_steps
        )

    def __call__(self, data: Batch) -> Any:
        results = self._computation(data)
        return LazyResults(self._model) if results is None else results

    def _update(self, data: Batch) -> Any:
        """Return the results of a step, or None for those that are computed when they are read."""
        results = self._step(data)
        return None if isinstance(results, LazyResults) else results


def _runs_library_code_only(part: Any) -> bool:
    """Whether the code of an object, and that of its functions, is this library's."""
    functions = [
        value
        for name, value in vars(part).items()
        # A replay asks for the learning rate, too.
        if callable(value) and name != "_learning_rate"
    ]
    if isinstance(part, Layer) and part._runs_code_of_others:
        return False
    return _is_own(part) and all(map(_is_own, functions))


def _is_own(value: Any) -> bool:
    """Whether the code of a function or of an object is this library's."""
    if isinstance(value, partial):
        return _is_own(value.func)
    if isinstance(value, MethodType):
        return _is_own(value.__self__) and _is_own(value.__func__)
    kind = value if isinstance(value, (type, FunctionType, BuiltinFunctionType)) else type(value)
    return (kind.__module__ or "").partition(".")[0] in ("webtensor", "builtins")


def numbers_of(part: object) -> tuple[object, ...]:
    """Return the attributes of an object that are numbers."""
    return tuple(value for value in vars(part).values() if type(value) in (int, float, bool))
