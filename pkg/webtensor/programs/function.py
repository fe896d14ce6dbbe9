"""``wt.function``: a function whose computations are captured, and replayed at its next calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload
from weakref import ref

from webtensor.arguments import check_callable
from webtensor.dtypes import string_
from webtensor.engine import Tensor, backend, from_host, state
from webtensor.errors import CaptureError, KernelNotFoundError
from webtensor.nest import is_nested, keys, map_structure

if TYPE_CHECKING:
    from webtensor.programs.capture import Captured

__all__ = ["Function", "function"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

#: The maximum number of a function's programs; then the oldest is dropped.
_MAX_PROGRAMS = 64


def _key(structure: Any) -> Iterator[Any]:
    """Yield what tells structures apart: types, keys, and leaves; of tensors, shapes and dtypes."""
    if is_nested(structure):
        yield type(structure)
        yield len(structure)
        for key in keys(structure):
            if isinstance(structure, dict):
                yield key
            yield from _key(structure[key])
    elif isinstance(structure, Tensor):
        yield structure.shape
        yield structure.dtype
    else:
        yield type(structure)
        # as keys, 0.0 and -0.0 would be equal, and NaN and NaN would not
        yield structure.hex() if isinstance(structure, float) else structure


class Function(Generic[Parameters, Result]):
    """A function that is captured once for each signature of its arguments; see ``function``.

    Args:
        python_function: the function.
        is_strict: whether what cannot be captured is an error; else the function itself runs.
        first_runs: how often the function itself runs for each signature before it is captured.
    """

    def __init__(
        self,
        python_function: Callable[Parameters, Result],
        is_strict: bool = True,
        first_runs: int = 0,
    ) -> None:
        self._function = python_function
        self._is_strict, self._first_runs = is_strict, first_runs
        #: How often the function has run for signatures that are not captured yet.
        self._runs: dict[Hashable, int] = {}
        self._name = getattr(python_function, "__name__", "function")
        #: By signature, and by what late numbers decided; None where the backend cannot replay what
        #: the function does, or has no room for it.
        self._programs: dict[Hashable, list[Captured | None]] = {}
        self._has_begun = False
        #: The methods of instances, by the `id` of each instance.
        self._methods: dict[int, _Method] = {}
        update_wrapper(self, python_function, updated=())

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """Return what the function does, and do to variables what it does to them.

        Raises:
            CaptureError: the function does what cannot be replayed.
            TypeError: an argument that is no tensor cannot be a key.
        """
        if state.observers or state.captures:  # a tape, a profile, or a capture around this
            return self._function(*args, **kwargs)
        arguments: list[Tensor] = []

        def noted(leaf: Any) -> Any:
            if type(leaf).__module__ == "numpy":
                leaf = from_host(self._name, leaf)
            if isinstance(leaf, Tensor):
                arguments.append(leaf)
            return leaf

        structure = map_structure(noted, (args, kwargs))
        if any(argument.dtype is string_ for argument in arguments):
            if self._is_strict:
                raise CaptureError(
                    "function: an argument is text, which cannot be captured, only numbers"
                )
            return self._function(*args, **kwargs)
        key = (backend(), *_key(structure))
        try:
            programs = self._programs.get(key, ())
        except TypeError as error:
            raise TypeError(
                f"{self._name}: arguments must be tensors, arrays, or values that can be keys of "
                f"dictionaries, in lists, tuples or dictionaries, but: {error}"
            ) from None
        for captured in programs:
            if captured is None:
                return self._function(*args, **kwargs)
            if captured.choices.hold():
                try:
                    result: Result = captured(arguments)
                except KernelNotFoundError:  # the device was lost
                    return self._function(*args, **kwargs)
                return result
        if self._first_runs and not programs and self._runs_first(key):
            return self._function(*args, **kwargs)
        return self._capture(key, structure)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the function as a method, with programs of the instance's own while it lives."""
        if instance is None:
            return self
        if is_nested(instance) or not type(instance).__weakrefoffset__:
            return MethodType(self, instance)  # which is an argument like others
        key = id(instance)
        method = self._methods.get(key)
        if method is None:
            reference = ref(instance, lambda _: self._methods.pop(key, None))
            method = self._methods[key] = _Method(self._function, reference)
        return MethodType(method, instance)

    def clear(self) -> None:
        """Forget all programs, and free their memory."""
        for method in self._methods.values():
            method.clear()
        self._runs.clear()
        while self._programs:
            self._forget_oldest()

    def _runs_first(self, key: Hashable) -> bool:
        """Whether a signature is too new to be captured."""
        if len(self._runs) >= _MAX_PROGRAMS:
            self._runs.clear()
        self._runs[key] = self._runs.get(key, 0) + 1
        return self._runs[key] <= self._first_runs

    def _forget_oldest(self) -> None:
        for captured in self._programs.pop(next(iter(self._programs))):
            if captured is not None:
                captured.program.close()

    def _capture(self, key: Hashable, structure: Any) -> Result:
        """Call the function, and add a program of what it did."""
        from webtensor.programs.capture import capture  # only what is captured needs all of it

        is_first, self._has_begun = not self._has_begun, True
        result: Result
        result, programs = capture(self._function, self._name, structure, self._is_strict, is_first)
        while programs and sum(map(len, [*self._programs.values()])) >= _MAX_PROGRAMS:
            self._forget_oldest()
        self._programs.setdefault(key, []).extend(programs)
        return result


class _Method(Function[Any, Any]):
    """A function of an instance, which it does not keep alive."""

    def __init__(self, python_function: Callable[..., Any], instance: ref[Any]) -> None:
        def of_instance(*args: Any, **kwargs: Any) -> Any:
            return python_function(instance(), *args, **kwargs)

        super().__init__(update_wrapper(of_instance, python_function))

    def __call__(self, instance: Any, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


@overload
def function(f: Callable[Parameters, Result]) -> Function[Parameters, Result]: ...


@overload
def function(
    f: None = None,
) -> Callable[[Callable[Parameters, Result]], Function[Parameters, Result]]: ...


def function(f: Any = None) -> Any:
    """Capture a function: what it computes is recorded once, and from then on replayed at once.

    The function runs when it is first called with tensors of these shapes and dtypes, and with
    these other arguments, which are compared by their values; tensors and NumPy arrays may be in
    lists, tuples and dictionaries. Later calls replay the operations that it ran then, without
    running its Python code: on new arguments, on the values that variables have then, and with
    fresh random numbers. What it assigned to variables is assigned again. Where a tape, a profile
    or the debug mode observes operations, the function itself runs.

    Tensors that it takes from elsewhere are constants. It must compute the same operations each
    time: other effects, such as printing, happen at the first call alone.

    Args:
        f: the function. Without it, a decorator is returned.

    Raises:
        TypeError: ``f`` is not callable.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable([1.0, 2.0])
        >>> @wt.function
        ... def step(x):
        ...     loss, gradient = wt.value_and_grad(lambda w: wt.sum((w * x - 1.0) ** 2))(w.value)
        ...     w.assign_sub(0.1 * gradient)
        ...     return loss
        >>> x = wt.tensor([2.0, 1.0])
        >>> [round(float(step(x)), 3) for _ in range(3)]
        [2.0, 0.68, 0.411]
    """
    if f is None:
        return function
    check_callable("function", "f", f)
    return Function(f)
