"""Objects as configurations: what JSON can hold, in the format of Keras 3, and back.

A configuration names a class by the module where Keras keeps it (``keras.layers``), so that files
go both ways. Classes of others are found only when they were registered, or are given: a
configuration is data from anywhere, and nothing in it is executed or imported.
"""

from __future__ import annotations

from collections import Counter
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
    "serialize_shared",
    "sharing_objects",
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
_FEATURES = "keras.src.layers.preprocessing.feature_space"
#: Where Keras keeps what is not in one of its namespaces, with the name that it registers.
_ELSEWHERE: dict[str, tuple[str, str | None]] = {
    "Cross": (_FEATURES, "Cross"),
    "DTypePolicy": ("keras", None),
    "Feature": (_FEATURES, "Feature"),
    "FeatureSpace": ("keras.utils", None),
    "Functional": ("keras.src.models.functional", "Functional"),
    "Sequential": ("keras", None),
    "TFDIdentity": (_FEATURES, "TFDIdentity"),
}
_PLAIN = (str, int, float, bool, type(None))
#: What configurations call the number of an object that is in several places.
_SHARED = "shared_object_id"
#: Configurations may be nested no deeper than this: a deeper one is an attack or a mistake.
_DEEPEST = 200

Class = TypeVar("Class")

_global_objects: dict[str, Any] = {}
_registered_names: dict[Any, str] = {}
_scoped: list[Mapping[str, Any]] = []
#: For each file that is being written or read, its objects: by what tells them apart there.
_sharing: list[dict[int, Any]] = []


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
        TypeError: there is none.
        ValueError: it is a lambda, which nothing could find by its name.
    """
    if isinstance(obj, _PLAIN):
        return obj
    if isinstance(obj, (list, tuple)):
        parts = [serialize_keras_object(one) for one in obj]
        return tuple(parts) if isinstance(obj, tuple) else parts
    if isinstance(obj, Mapping) and not hasattr(obj, "get_config"):
        return {key: serialize_keras_object(value) for key, value in obj.items()}
    if isinstance(obj, bytes):
        return {"class_name": "__bytes__", "config": {"value": obj.decode("latin-1")}}
    if isinstance(obj, DType):
        return str(obj)
    if isinstance(obj, slice):
        limits = {name: getattr(obj, name) for name in ("start", "stop", "step")}
        return {"class_name": "__slice__", "config": serialize_keras_object(limits)}
    if obj is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    if isinstance(obj, (Tensor, Variable)) or hasattr(obj, "__array__"):
        if getattr(obj, "shape", None) == () and not isinstance(obj, (Tensor, Variable)):
            return obj.item()  # a number of NumPy
        held = tensor(obj)
        config = {"value": held.tolist(), "dtype": str(held.dtype)}
        return {"class_name": "__tensor__", "config": config}
    if isinstance(obj, (FunctionType, BuiltinFunctionType)):
        return _function_config(obj)
    if isinstance(obj, type):
        return {**_naming(obj), "class_name": "__typespec__", "config": obj.__name__}
    if not hasattr(obj, "get_config"):
        raise TypeError(f"serialize_keras_object: there is no configuration of {obj!r}")
    config = {**_naming(type(obj)), "config": serialize_keras_object(obj.get_config())}
    if _sharing:
        config[_SHARED] = _number_of(obj)
    for part in ("build", "compile"):
        get = getattr(obj, f"get_{part}_config", None)
        found = None if get is None else get()
        if found is not None:
            config[f"{part}_config"] = serialize_keras_object(found)
    return config


def serialize_shared(obj: Any) -> Any:
    """Return a configuration where an object that is in several places has a number."""
    with sharing_objects():
        config = serialize_keras_object(obj)
    counts = Counter(one[_SHARED] for one in _mappings_in(config) if _SHARED in one)
    for one in _mappings_in(config):
        if counts[one.get(_SHARED)] == 1:
            del one[_SHARED]
    return config


@contextmanager
def sharing_objects() -> Iterator[None]:
    """Within the ``with``, objects have numbers, and what has the same number is one object."""
    _sharing.append({})
    try:
        yield
    finally:
        _sharing.pop()


def _number_of(obj: Any) -> int:
    """The number of an object, which is kept, as its identity is its own only while it lives."""
    known = _sharing[-1]
    number, _ = known.setdefault(id(obj), (len(known) + 1, obj))
    return int(number)


def _mappings_in(config: Any) -> Iterator[dict[str, Any]]:
    waiting = [config]
    while waiting:
        held = waiting.pop()
        if isinstance(held, dict):
            yield held
            waiting += held.values()
        elif isinstance(held, (list, tuple)):
            waiting += held


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
    thing = vars(thing).get("written_as", thing)
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
        TypeError: a part of the configuration has the wrong type, or cannot make its object.
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
            raise TypeError(
                f"deserialize_keras_object: config must be the name of a {kind}, but is {inner!r}"
            )
        return _find(inner, module, registered, is_function=True)
    found = _find(kind, module, registered)
    if not isinstance(inner, Mapping):
        raise TypeError(
            f"deserialize_keras_object: the config of {kind} must be a mapping, but is {inner!r}"
        )
    if not hasattr(found, "from_config"):
        raise TypeError(f"deserialize_keras_object: {kind} has no method from_config")
    number = config.get(_SHARED)
    known = _sharing[-1] if _sharing else {}
    if isinstance(number, int) and number in known:
        return known[number]
    made = found.from_config(dict(inner))
    if isinstance(number, int):
        known[number] = made
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


def _find(name: str, module: Any, registered: Any, *, is_function: bool = False) -> Any:
    """Find what a configuration names: something registered, or Keras's own."""
    for label in (registered, name):
        found = get_registered_object(label) if isinstance(label, str) else None
        if found is not None:
            return found
    inner = str(module or "").removeprefix("keras.")
    known: list[str] = []
    if inner.startswith(("src.ops.", "src.activations.")) and not is_function:
        from webtensor.keras.ops import operation_class

        return operation_class(inner.rpartition(".")[2], name)
    if module in ("keras.utils", _FEATURES) and _ELSEWHERE.get(name, ("",))[0] == module:
        return getattr(import_module(f"{_OURS}.utils.feature_space"), name)
    for one in [inner] if inner in _PUBLIC else _PUBLIC:
        public = import_module(f"{_OURS}.{one}")
        if name in public.__all__:
            _check_registered(registered, name)
            return getattr(public, name)
        known += public.__all__
    if is_function:
        # Keras wrote the names of functions without their packages, until 3.6.
        for label, thing in _global_objects.items():
            if label.endswith(f">{name}") and isinstance(thing, FunctionType):
                return thing
    raise ValueError(
        f"deserialize_keras_object: {name!r} of module {module!r} is not known"
        f"{nearest(name, known)}; decorate it with register_keras_serializable, or pass it in "
        "custom_objects"
    )


def _check_registered(registered: Any, name: str) -> None:
    """Refuse what says to be registered by a name that nothing has, but is called as Keras's own.

    Raises:
        ValueError: it does.
    """
    if isinstance(registered, str) and registered not in ("", "function", name):
        raise ValueError(
            f"deserialize_keras_object: {registered!r} is not registered; {name!r} is Keras's own, "
            "which has no registered name"
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
