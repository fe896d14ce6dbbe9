"""Objects as configurations: what JSON can hold, in the format of Keras 3, and back.

A configuration names a class by the module where Keras keeps it (``keras.layers``), so that files
go both ways. Classes of others are found only when they were registered, or are given: a
configuration is data from anywhere, and nothing in it is executed or imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

from webtensor.dtypes import DType
from webtensor.engine import Tensor, Variable
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.names import nearest, to_snake_case
from webtensor.ops import tensor

__all__ = [
    "CustomObjectScope",
    "Namespace",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "register_keras_serializable",
    "serialize_keras_object",
]

_OURS = "webtensor.keras"
#: Namespaces whose classes and functions configurations may name, the most frequent first.
_PUBLIC = (
    "layers",
    "models",
    "dtype_policies",
    "activations",
    "initializers",
    "regularizers",
    "constraints",
    "losses",
    "metrics",
    "optimizers",
    "optimizers.schedules",
    "callbacks",
    "random",
    "ops",
)
#: Where Keras keeps what is not in one of its namespaces, with the name that it registers.
_ELSEWHERE: dict[str, tuple[str, str | None]] = {
    "DTypePolicy": ("keras", None),
    "Functional": ("keras.src.models.functional", "Functional"),
    "Sequential": ("keras", None),
}
_PLAIN = (str, int, float, bool, type(None))
#: Configurations may be nested no deeper than this: a deeper one is an attack or a mistake.
_DEEPEST = 200

Class = TypeVar("Class")

_global_objects: dict[str, Any] = {}
_registered_names: dict[Any, str] = {}
_scoped: list[Mapping[str, Any]] = []


# -- what others register ----------------------------------------------------------------------


def register_keras_serializable(
    package: str = "Custom", name: str | None = None
) -> Callable[[Class], Class]:
    """Decorate a class with ``get_config``, or a function, that saved models may name.

    Example:
        >>> from webtensor import keras
        >>> @keras.saving.register_keras_serializable("shop")
        ... def doubled(x):
        ...     return x * 2
        >>> keras.saving.get_registered_object("shop>doubled") is doubled
        True
    """

    def register(thing: Class) -> Class:
        label = f"{package}>{name or thing.__name__}"  # type: ignore[attr-defined]
        if isinstance(thing, type) and not hasattr(thing, "get_config"):
            raise ValueError(
                f"register_keras_serializable: class {thing.__name__} has no method get_config"
            )
        _global_objects[label] = thing
        _registered_names[thing] = label
        return thing

    return register


def get_custom_objects() -> dict[str, Any]:
    """Return the objects that are registered for all models, by their names; it may be changed."""
    return _global_objects


def get_registered_name(obj: Any) -> str:
    """Return the name that a class or a function is registered by, or else its own."""
    return _registered_names.get(obj, getattr(obj, "__name__", str(obj)))


def get_registered_object(
    name: str, custom_objects: Mapping[str, Any] | None = None, module_objects: Any = None
) -> Any:
    """Return what is registered by a name, or None."""
    for known in (custom_objects or {}, *reversed(_scoped), _global_objects, module_objects or {}):
        if name in known:
            return known[name]
    return None


@contextmanager
def custom_object_scope(*objects: Mapping[str, Any] | None) -> Iterator[None]:
    """Within the ``with``, configurations may name what is given here.

    Example:
        >>> from webtensor import keras
        >>> with keras.saving.custom_object_scope({"zero": lambda x: x * 0}):
        ...     keras.activations.get("zero")(3)
        0
    """
    before = len(_scoped)
    _scoped.extend(one for one in objects if one)
    try:
        yield
    finally:
        del _scoped[before:]


CustomObjectScope = custom_object_scope


# -- to configurations -------------------------------------------------------------------------


def serialize_keras_object(obj: Any) -> Any:
    """Return a configuration of an object: a class's with ``get_config``, or a nested value.

    Raises:
        ValueError: there is none, such as for a lambda.
    """
    if isinstance(obj, _PLAIN):
        return obj
    if isinstance(obj, (list, tuple)):
        return [serialize_keras_object(one) for one in obj]
    if isinstance(obj, Mapping):
        return {key: serialize_keras_object(value) for key, value in obj.items()}
    if isinstance(obj, bytes):
        return {"class_name": "__bytes__", "config": {"value": obj.decode("latin-1")}}
    if isinstance(obj, DType):
        return str(obj)
    if isinstance(obj, slice):
        parts = {name: getattr(obj, name) for name in ("start", "stop", "step")}
        return {"class_name": "__slice__", "config": serialize_keras_object(parts)}
    if obj is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    if isinstance(obj, (Tensor, Variable)) or hasattr(obj, "__array__"):
        held = tensor(obj)
        config = {"value": held.tolist(), "dtype": str(held.dtype)}
        return {"class_name": "__tensor__", "config": config}
    if isinstance(obj, (FunctionType, BuiltinFunctionType)):
        return _function_config(obj)
    if isinstance(obj, type):
        return {**_naming(obj), "class_name": "__typespec__", "config": obj.__name__}
    if not hasattr(obj, "get_config"):
        raise ValueError(f"serialize_keras_object: there is no configuration of {obj!r}")
    config = {**_naming(type(obj)), "config": obj.get_config()}
    for part in ("build", "compile"):
        get = getattr(obj, f"get_{part}_config", None)
        found = None if get is None else get()
        if found is not None:
            config[f"{part}_config"] = serialize_keras_object(found)
    return config


def _function_config(function: Any) -> dict[str, Any]:
    name = function.__name__
    if name == "<lambda>":
        raise ValueError(
            "serialize_keras_object: a lambda has no name to find it by; use a function that is "
            "decorated with register_keras_serializable"
        )
    kind = {"module": "builtins", "class_name": "function", "registered_name": "function"}
    return {**kind, "config": _registered_names.get(function, name)}


def _naming(thing: Any) -> dict[str, Any]:
    """Module, class and registered name of a class or a function."""
    name = thing.__name__
    # Operations of ``keras.ops`` say where Keras keeps them.
    module = getattr(thing, "keras_module", thing.__module__)
    registered = _registered_names.get(thing)
    if registered is None and module.startswith(f"{_OURS}."):
        home, registered = _ELSEWHERE.get(name, (_public_module(module), None))
        return {"module": home, "class_name": name, "registered_name": registered}
    return {"module": module, "class_name": name, "registered_name": registered or name}


def _public_module(module: str) -> str:
    """``webtensor.keras.layers.core`` is ``keras.layers`` to Keras."""
    inner = module.removeprefix(f"{_OURS}.")
    found = max((one for one in _PUBLIC if f"{inner}.".startswith(f"{one}.")), key=len, default="")
    return f"keras.{found}" if found else "keras"


# -- from configurations -----------------------------------------------------------------------


def deserialize_keras_object(
    config: Any,
    custom_objects: Mapping[str, Any] | None = None,
    safe_mode: bool = True,
    **_: Any,
) -> Any:
    """Return the object that a configuration describes.

    Nothing is imported and no code is executed but that of Keras's own classes, of registered
    ones, and of ``custom_objects``. ``safe_mode`` changes nothing: code in a configuration is
    refused always.

    Raises:
        ValueError: a class is not known, or the configuration is malformed.
    """
    if custom_objects:
        with custom_object_scope(custom_objects):
            return _from_config(config, 0)
    return _from_config(config, 0)


def _from_config(config: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("deserialize_keras_object: the configuration is nested too deeply")
    if isinstance(config, (list, tuple)):
        return [_from_config(one, depth + 1) for one in config]
    if not isinstance(config, Mapping):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: _from_config(value, depth + 1) for key, value in config.items()}
    kind, inner = config["class_name"], config["config"]
    if not isinstance(kind, str):
        raise ValueError(f"deserialize_keras_object: class_name must be a string, but is {kind!r}")
    if kind in _VALUES:
        if not isinstance(inner, Mapping):
            raise ValueError(f"deserialize_keras_object: {kind} has a malformed config: {inner!r}")
        return _VALUES[kind](inner)
    if kind in ("__lambda__", "Lambda"):
        raise ValueError(
            "deserialize_keras_object: the configuration holds code (a lambda), which is never "
            "executed; register a function or a layer of that name instead"
        )
    module, registered = config.get("module"), config.get("registered_name")
    if kind in ("function", "__typespec__"):
        if not isinstance(inner, str):
            raise ValueError(f"deserialize_keras_object: a function's name is missing: {inner!r}")
        return _find(inner, module, registered)
    found = _find(kind, module, registered)
    if not isinstance(inner, Mapping):
        raise ValueError(f"deserialize_keras_object: {kind} has a malformed config: {inner!r}")
    if not hasattr(found, "from_config"):
        raise ValueError(f"deserialize_keras_object: {kind} has no method from_config")
    made = found.from_config(dict(inner))
    for part in ("build", "compile"):
        held = config.get(f"{part}_config")
        if held and hasattr(made, f"{part}_from_config"):
            getattr(made, f"{part}_from_config")(held)
    return made


def _value_of_tensor(config: Mapping[str, Any]) -> Tensor:
    return tensor(config.get("value"), dtype=held_dtype(config.get("dtype")))


_VALUES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "__bytes__": lambda config: str(config.get("value", "")).encode("latin-1"),
    "__ellipsis__": lambda _: ...,
    "__numpy__": _value_of_tensor,
    "__slice__": lambda config: slice(*map(config.get, ("start", "stop", "step"))),
    "__tensor__": _value_of_tensor,
    "__tuple__": lambda config: tuple(_from_config(config.get("value", []), 1)),
}


def _find(name: str, module: Any, registered: Any) -> Any:
    """Find what a configuration names: something registered, or Keras's own."""
    for label in (registered, name):
        found = get_registered_object(label) if isinstance(label, str) else None
        if found is not None:
            return found
    inner = str(module or "").removeprefix("keras.")
    known: list[str] = []
    if inner.startswith("src.ops."):
        from webtensor.keras.ops import operation_class

        return operation_class(inner.removeprefix("src.ops."), name)
    for one in [inner] if inner in _PUBLIC else _PUBLIC:
        public = import_module(f"{_OURS}.{one}")
        if name in public.__all__:
            return getattr(public, name)
        known += public.__all__
    raise ValueError(
        f"deserialize_keras_object: {name!r} of module {module!r} is not known"
        f"{nearest(name, known)}; decorate it with register_keras_serializable, or pass it in "
        "custom_objects"
    )


# -- names within one namespace ----------------------------------------------------------------


class Namespace:
    """What strings stand for among things of one kind, such as losses.

    ``names`` are short names beside those of the classes and functions, which are known as they are
    and in snake case.
    """

    def __init__(self, kind: str, things: Mapping[str, Any], **names: Any) -> None:
        self.kind = kind
        self._known: dict[str, Any] = {to_snake_case(name): one for name, one in things.items()}
        self._known.update(things)
        self._known.update(names)

    def get(self, identifier: Any) -> Any:
        """Return what a name, a configuration, a class or an object stands for; None is None.

        A class is made into an object with its defaults.

        Raises:
            ValueError: there is no such thing.
        """
        if identifier is None:
            return None
        if isinstance(identifier, Mapping):
            found = self.deserialize(identifier)
        elif isinstance(identifier, str):
            found = get_registered_object(identifier, module_objects=self._known)
        else:
            found = identifier
        if isinstance(found, type):
            found = found()
        if not callable(found):
            raise ValueError(
                f"{self.kind} {identifier!r} is not known{nearest(identifier, self._known)}"
            )
        return found

    def deserialize(self, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """Return what a configuration describes, also one of an old file without modules."""
        if isinstance(config, str):
            with custom_object_scope(custom_objects or {}):
                return self.get(config)
        if isinstance(config, Mapping) and not config.get("module"):
            name = str(config.get("class_name"))
            found = self._known.get(name)
            if found is not None and not get_registered_object(name, custom_objects):
                return deserialize_keras_object(
                    {**config, "class_name": found.__name__}, {found.__name__: found}
                )
        return deserialize_keras_object(config, custom_objects)

    def serialize(self, thing: Any) -> Any:
        """Return a configuration; of a function that a name stands for, that name."""
        name = getattr(thing, "__name__", None)
        if name is not None and self._known.get(name) is thing and not isinstance(thing, type):
            return name
        return serialize_keras_object(thing)
