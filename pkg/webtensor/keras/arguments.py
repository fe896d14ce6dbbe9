"""The arguments of Keras objects: the signature of ``__init__`` is their one declaration.

From the signature follow the entries of a configuration (``Configurable.get_config``), the keywords
that are refused, and the arguments that the documentation of the class lists
(``class_documentation``). Each argument is stored as the attribute of its name.

Values are checked here, too, where a wrong type is a ``ValueError`` as in Keras;
``webtensor.arguments`` has the checks that raise a ``TypeError`` for it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Real
from typing import Any, ClassVar, Final, ParamSpec, Self, SupportsIndex, TypeGuard

from webtensor import keras
from webtensor.explanation import MISUSE, raise_explained
from webtensor.keras.names import nearest
from webtensor.keras.registry import serialize_argument
from webtensor.keras.types import Config
from webtensor.shapes import single_integer

__all__ = [
    "ALWAYS",
    "NEVER",
    "Configurable",
    "Declared",
    "accepted_arguments",
    "check_positive",
    "declared_config",
    "forwards_arguments",
    "is_integer",
    "is_library_class",
    "is_number",
    "object_of",
    "refuse_quantization",
    "unknown_argument",
]

#: In ``_config_omits``: configurations omit the argument, or include it, whatever its value is.
ALWAYS: Final = object()
NEVER: Final = object()

P = ParamSpec("P")

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def is_library_class(cls: type) -> bool:
    """Whether a class is webtensor's, so that its attributes have the names of its arguments."""
    return cls.__module__.startswith("webtensor.")


def accepted_arguments(cls: type, *, library_only: bool = False) -> tuple[str, ...]:
    """Return the names of the arguments that a class accepts, those of its bases first.

    Arguments of a base count only if the class passes ``*args`` or ``**kwargs`` on to it. With
    ``library_only``, users' classes are skipped.
    """
    return _accepted_arguments(cls, library_only)


@cache
def _accepted_arguments(cls: type, library_only: bool) -> tuple[str, ...]:
    names: list[str] = []
    for base in cls.__mro__:
        if "__init__" not in base.__dict__ or (library_only and not is_library_class(base)):
            continue
        _, *parameters = signature(base.__dict__["__init__"]).parameters.values()
        names[:0] = [parameter.name for parameter in parameters if parameter.kind in _NAMED]
        if not any(parameter.kind in _VARIADIC for parameter in parameters):
            break
    return tuple(dict.fromkeys(names))


@cache
def _accepted_keywords(cls: type) -> frozenset[str] | None:
    """Return the keywords that a class accepts; None if ``__init__`` handles unknown ones."""
    if not getattr(cls, "_refuses_unknown", False):
        return None
    for base in cls.__mro__:
        if "__init__" in base.__dict__:
            if not is_library_class(base):
                return None
            parameters = signature(base.__dict__["__init__"]).parameters.values()
            if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
                return frozenset(accepted_arguments(cls))
            if not getattr(base, "_passes_keywords_on", True):
                return None
    return None


def _check_keywords(cls: Any, keywords: Mapping[str, object]) -> None:
    accepted = _accepted_keywords(cls) if keywords else None
    for name in keywords:
        if accepted is not None and name not in accepted:
            raise cls._unknown_error(unknown_argument(cls, name))


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number of Python or of NumPy other than a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_integer(value: object) -> TypeGuard[SupportsIndex]:
    """Whether a value is an integer, of Python, NumPy or a tensor of rank 0, but no boolean."""
    return single_integer(value) is not None


def check_positive(name: str, **values: object) -> None:
    """Check that arguments are positive integers.

    Raises:
        ValueError: one is not.
    """
    for argument, value in values.items():
        if not is_integer(value) or int(value) <= 0:
            raise ValueError(f"{name}: {argument} must be a positive integer, but got {value!r}")


def refuse_quantization(name: str, **values: object) -> None:
    """Check that arguments that quantize weights are None.

    Raises:
        ValueError: one is not.
    """
    for argument, value in values.items():
        if value:
            raise ValueError(
                f"{name}: {argument} must be None, as there is no quantization, but got {value!r}"
            )


def object_of(kind: str, value: object) -> Any:
    """Return the initializer, regularizer or constraint that an argument stands for.

    The namespace of the kind is imported only if there is a value.
    """
    return None if value is None else getattr(keras, f"{kind}s").get(value)


def unknown_argument(cls: type, name: str) -> str:
    """Return the text of an error about a keyword that a class does not accept."""
    return f"{cls.__name__}: unknown argument {name!r}{nearest(name, accepted_arguments(cls))}"


def forwards_arguments(init: Callable[P, None]) -> Callable[P, None]:
    """Decorate an ``__init__`` whose arguments all go to the ``__init__`` of the base, by name.

    The base is called first, with the defaults of the decorated signature, then the decorated body.
    So a class may spell out its arguments, for editors and ``inspect.signature``, without listing
    them a second time.
    """
    declared = signature(init)

    @wraps(init)
    def forwarding(*args: P.args, **kwargs: P.kwargs) -> None:
        instance = args[0]
        cls: type[Any] = next(
            base
            for base in type(instance).__mro__
            if getattr(base.__dict__.get("__init__"), "__wrapped__", None) is forwarding
        )
        bound = declared.bind(*args, **kwargs)
        bound.apply_defaults()
        _, *names = bound.arguments
        named = {name: bound.arguments[name] for name in names if name != "kwargs"}
        super(cls, instance).__init__(**named, **bound.arguments.get("kwargs", {}))
        init(*args, **kwargs)

    return forwarding


@cache
def _omissions(cls: type) -> Mapping[str, object]:
    return ChainMap(*(dict(vars(base).get("_config_omits", {})) for base in cls.__mro__))


def declared_config(instance: Configurable) -> Config:
    """Return the configuration of the arguments that the class of an object declares."""
    cls: type = type(instance)
    omissions = _omissions(cls)
    config: Config = {}
    for name in accepted_arguments(cls, library_only=True):
        omitted = omissions.get(name, NEVER)
        if omitted is ALWAYS:
            continue
        value = instance._config_value(name)
        if omitted is NEVER or value != omitted:
            config[name] = value
    return config


class _Docstring:
    """The docstring of a class, completed when it is read, by ``help`` for example."""

    __slots__ = ("text",)

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, instance: object, owner: type) -> str | None:
        from webtensor.keras.class_documentation import completed_documentation

        return completed_documentation(owner) if self.text else self.text


def _explained_init(init: Callable[P, None]) -> Callable[P, None]:
    """Make an ``__init__`` name the class, and its arguments, in the errors that leave it."""

    @wraps(init)
    def explained(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            init(*args, **kwargs)
        except MISUSE as error:
            cls: Any = next(filter(is_library_class, type(args[0]).__mro__))
            if cls.__init__ is not explained or str(error).startswith(f"{cls.__name__}: "):
                raise
            raise_explained(cls, error, args[1:], kwargs)

    return explained


class Declared:
    """A class that refuses unknown keywords, and whose docstring lists all arguments."""

    #: Whether unknown keywords are refused before ``__init__`` sees them.
    _refuses_unknown: ClassVar[bool] = True
    #: The error of an unknown keyword.
    _unknown_error: ClassVar[type[Exception]] = TypeError
    #: Whether ``**kwargs`` of ``__init__`` go to that of the base class.
    _passes_keywords_on: ClassVar[bool] = True

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        _check_keywords(cls, kwargs)
        return super().__new__(cls)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if is_library_class(cls):
            cls.__doc__ = _Docstring(cls.__dict__.get("__doc__"))  # type: ignore[assignment]
            if "__init__" in cls.__dict__:
                cls.__init__ = _explained_init(cls.__init__)  # type: ignore[method-assign]


class Configurable(Declared):
    """A class with ``get_config`` and ``from_config``."""

    #: Arguments that a configuration omits if they have these values, ALWAYS or NEVER, in addition
    #: to those of the bases.
    _config_omits: ClassVar[Mapping[str, object]] = {}
    #: Attributes of arguments that are not stored under their names.
    _attribute_names: ClassVar[Mapping[str, str]] = {}

    def __init__(self) -> None:  # for classes that declare no arguments
        super().__init__()

    def get_config(self) -> Config:
        """Return the arguments of the constructor, as JSON can represent them."""
        return declared_config(self)

    def _config_value(self, name: str) -> Any:
        """Return the configuration of one argument."""
        name = self._attribute_names.get(name, name)
        return serialize_argument(name, getattr(self, name))

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Return an object made with the arguments in a configuration."""
        return cls(**config)
