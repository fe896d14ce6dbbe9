"""Objects as configurations: what JSON can hold, in the format of Keras 3, and back.

A configuration names a class by the module where Keras keeps it (``keras.layers``), so that files
go both ways. Classes of others are found only when they were registered, or are given: a
configuration is data from anywhere, and nothing in it is executed or imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

from webtensor.dtypes import DType
from webtensor.engine import Tensor, Variable
from webtensor.engine.tasks import TaskStack
from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import check_depth
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
    "serialize_argument",
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
#: Those whose functions configurations may name; others, such as ``models``, have functions that
#: read and write files.
_FUNCTIONS = ("activations", "losses", "metrics", "initializers", "ops")
#: What is in many namespaces, and is no activation, loss or the like.
_HELPERS = frozenset({"deserialize", "get", "serialize"})
_FEATURES = "keras.src.layers.preprocessing.feature_space"
#: Where Keras keeps what is not in one of its namespaces, with the name that it registers.
_ELSEWHERE: dict[str, tuple[str, str | None]] = {
    "Cross": (_FEATURES, "Cross"),
    "CustomScaleLayer": ("keras.src.applications.inception_resnet_v2", "CustomScaleLayer"),
    "DTypePolicy": ("keras", None),
    "Feature": (_FEATURES, "Feature"),
    "FeatureSpace": ("keras.utils", None),
    "Functional": ("keras.src.models.functional", "Functional"),
    "LayerScale": ("keras.src.applications.convnext", "LayerScale"),
    "Sequential": ("keras", None),
    "StochasticDepth": ("keras.src.applications.convnext", "StochasticDepth"),
    "TFDIdentity": (_FEATURES, "TFDIdentity"),
}
#: Modules that are none of the namespaces, with ours for the classes that Keras keeps there.
_MODULES = {
    "keras.src.applications.convnext": "layers.applications",
    "keras.src.applications.inception_resnet_v2": "layers.applications",
    "keras.utils": "utils.feature_space",
    _FEATURES: "utils.feature_space",
}
_PLAIN = (str, int, float, bool, type(None))
#: What configurations call the number of an object that is in several places.
_SHARED = "shared_object_id"
#: Objects may be nested no deeper: each has functions of its own that call one another.
_MAX_OBJECT_DEPTH = 32

Class = TypeVar("Class")

_global_objects: dict[str, Any] = {}
_registered_names: dict[Any, str] = {}
_scoped: TaskStack[Mapping[str, Any]] = TaskStack("custom_object_scopes")
#: For each file that is being written or read, its objects: by what tells them apart there.
_sharing: TaskStack[dict[int, Any]] = TaskStack("shared_objects")
#: Classes of the objects that are being made from configurations, the outermost one first.
_nested: TaskStack[str] = TaskStack("nested_objects")


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
    with ExitStack() as scopes:
        for mapping in objects:
            if mapping:
                scopes.enter_context(_scoped.holding(mapping))
        yield


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
    with _sharing.holding({}):
        yield


def _number_of(obj: Any) -> int:
    """The number of an object, which is kept, as its identity is its own only while it lives."""
    known = _sharing.top
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
    if not _nested:
        check_depth(config, "deserialize_keras_object")
    elif len(_nested.get()) > _MAX_OBJECT_DEPTH:
        raise ModelFormatError(
            f"deserialize_keras_object: objects are nested more than {_MAX_OBJECT_DEPTH} levels "
            "deep"
        )
    if custom_objects:
        with custom_object_scope(custom_objects):
            return _from_config(config)
    return _from_config(config)


def _from_config(config: Any) -> Any:
    if isinstance(config, (list, tuple)):
        return [_from_config(one) for one in config]
    if not isinstance(config, Mapping):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: _from_config(value) for key, value in config.items()}
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
        return _find(inner, module, registered, is_function=kind == "function")
    found = _find(kind, module, registered)
    if not isinstance(inner, Mapping):
        raise TypeError(
            f"deserialize_keras_object: the config of {kind} must be a mapping, but is {inner!r}"
        )
    if not hasattr(found, "from_config"):
        raise TypeError(f"deserialize_keras_object: {kind} has no method from_config")
    number = config.get(_SHARED)
    known = _sharing.top if _sharing else {}
    if isinstance(number, int) and number in known:
        return known[number]
    with _nested.holding(kind):
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
    "__tuple__": lambda config: tuple(_from_config(config.get("value", []))),
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
    if module in _MODULES and _ELSEWHERE.get(name, ("",))[0] == module:
        return getattr(import_module(f"{_OURS}.{_MODULES[module]}"), name)
    namespaces = _FUNCTIONS if is_function else _PUBLIC
    for one in [inner] if inner in namespaces else namespaces:
        public = import_module(f"{_OURS}.{one}")
        if name in public.__all__ and name not in _HELPERS:
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
    and in snake case. Of Keras's own, configurations may name only what is in ``homes``, namespaces
    of Keras.
    """

    def __init__(
        self, kind: str, things: Mapping[str, Any], homes: tuple[str, ...] = (), **names: Any
    ) -> None:
        self.kind = kind
        _namespaces[kind] = self
        self._homes = tuple(f"{_OURS}.{home}." for home in homes)
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
        return self._checked(deserialize_keras_object(config, custom_objects))

    def _checked(self, thing: Any) -> Any:
        """Refuse what is Keras's own, but of another kind.

        Raises:
            ValueError: it is.
        """
        named = thing if isinstance(thing, (type, FunctionType)) else type(thing)
        home = f"{named.__module__}."
        if named in _registered_names:
            return thing
        if self._homes and home.startswith(f"{_OURS}.") and not home.startswith(self._homes):
            raise ValueError(f"{named.__name__!r} is no {self.kind}")
        return thing

    def serialize(self, thing: Any) -> Any:
        """Return a configuration; of a function that a name stands for, that name."""
        name = getattr(thing, "__name__", None)
        if name is not None and self._known.get(name) is thing and not isinstance(thing, type):
            return name
        return serialize_keras_object(thing)


#: By what the last word of an argument's name says of its values, such as "initializer".
_namespaces: dict[str, Namespace] = {}


def serialize_argument(name: str, value: Any) -> Any:
    """Return a configuration of an argument's value: of an activation or the like, its name."""
    namespace = _namespaces.get(name.rpartition("_")[2])
    return serialize_keras_object(value) if namespace is None else namespace.serialize(value)
