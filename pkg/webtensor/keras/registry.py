"""Configurations: objects as data that JSON can express, in the format of Keras 3, and back.

A configuration names a class by the module where Keras keeps it (``keras.layers``), so that files
can be exchanged with Keras. Classes of users are found only when they are registered or passed in
``custom_objects``: a configuration is untrusted data, so nothing in it is executed or imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

from webtensor import keras
from webtensor.dtypes import DType
from webtensor.engine import Tensor, Variable
from webtensor.engine.task_stack import TaskStack
from webtensor.errors import ModelFormatError
from webtensor.formats.limits import check_depth
from webtensor.keras.array_results import as_array
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.names import nearest, to_snake_case
from webtensor.keras.types import Config, CustomObjects
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

_PACKAGE = "webtensor.keras"
#: Namespaces whose classes and functions configurations may name, the most frequent first.
_NAMESPACES = (
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
#: Namespaces whose functions configurations may name. Functions of other namespaces, such as
#: ``models``, read and write files.
_FUNCTION_NAMESPACES = ("activations", "losses", "metrics", "initializers", "ops")
#: Functions that several namespaces have, and that configurations must not name.
_HELPERS = frozenset({"deserialize", "get", "serialize"})
_FEATURE_SPACE = "keras.src.layers.preprocessing.feature_space"
#: Classes that Keras keeps outside its namespaces: the module and the registered name in Keras.
_MODULES_IN_KERAS: dict[str, tuple[str, str | None]] = {
    "Cross": (_FEATURE_SPACE, "Cross"),
    "CustomScaleLayer": ("keras.src.applications.inception_resnet_v2", "CustomScaleLayer"),
    "DTypePolicy": ("keras", None),
    "DTypePolicyMap": ("keras.dtype_policies", None),
    "Feature": (_FEATURE_SPACE, "Feature"),
    "FeatureSpace": ("keras.utils", None),
    "Functional": ("keras.src.models.functional", "Functional"),
    "LayerScale": ("keras.src.applications.convnext", "LayerScale"),
    "SeedGenerator": ("keras.random", None),
    "Sequential": ("keras", None),
    "StochasticDepth": ("keras.src.applications.convnext", "StochasticDepth"),
    "TFDIdentity": (_FEATURE_SPACE, "TFDIdentity"),
}
#: For modules of Keras that are no namespaces, the modules here that have their classes.
_MODULES_HERE = {
    "keras.src.applications.convnext": "applications.convnext",
    "keras.src.applications.inception_resnet_v2": "applications.inception_resnet_v2",
    "keras.utils": "feature_space",
    _FEATURE_SPACE: "feature_space",
}
_PLAIN = (str, int, float, bool, type(None))
#: The key of the number that marks several configurations as those of one object.
_SHARED_ID = "shared_object_id"
#: Limits the nesting of objects, since each object's ``from_config`` calls that of the next.
_MAX_OBJECT_DEPTH = 32

Registrable = TypeVar("Registrable", bound=Callable[..., Any])

_global_objects: dict[str, Callable[..., Any]] = {}
#: Objects of the package "webtensor", apart from those of users, who may remove all of theirs.
_own_objects: dict[str, Callable[..., Any]] = {}
_registered_names: dict[object, str] = {}
_scoped_objects: TaskStack[CustomObjects] = TaskStack("custom_object_scopes")
#: While a file is written, the number of each object by ``id``. The object is stored beside its
#: number, which keeps it alive and so its ``id`` unique.
_numbered_objects: TaskStack[dict[int, tuple[int, object]]] = TaskStack("numbered_objects")
#: While a file is read, its shared objects by their numbers.
_shared_objects: TaskStack[dict[int, object]] = TaskStack("shared_objects")
#: Names of the classes whose objects are being made from configurations, the outermost first.
_nested_classes: TaskStack[str] = TaskStack("nested_objects")


# -- registration ------------------------------------------------------------------------------


def register_keras_serializable(
    package: str = "Custom", name: str | None = None
) -> Callable[[Registrable], Registrable]:
    """Register a decorated class or function, so that saved models may name it.

    Args:
        package: the prefix of the registered name, which is ``package>name``.
        name: a string; None is the name of the class or function.

    Raises:
        ValueError: a decorated class has no method ``get_config``.

    Example:
        >>> from webtensor import keras
        >>> @keras.saving.register_keras_serializable("shop")
        ... def doubled(x):
        ...     return x * 2
        >>> keras.saving.get_registered_object("shop>doubled") is doubled
        True
    """

    def register(registrable: Registrable) -> Registrable:
        registered_name = f"{package}>{name or registrable.__name__}"
        if isinstance(registrable, type) and not hasattr(registrable, "get_config"):
            raise ValueError(
                f"register_keras_serializable: class {registrable.__name__} has no method "
                "get_config"
            )
        (_own_objects if package == "webtensor" else _global_objects)[registered_name] = registrable
        _registered_names[registrable] = registered_name
        return registrable

    return register


def get_custom_objects() -> dict[str, Callable[..., Any]]:
    """Return the dictionary of all registered objects by their names, which may be changed."""
    return _global_objects


def get_registered_name(obj: Callable[..., Any]) -> str:
    """Return the registered name of a class or a function, or else its ``__name__``."""
    return _registered_names.get(obj, getattr(obj, "__name__", str(obj)))


def get_registered_object(
    name: str,
    custom_objects: CustomObjects | None = None,
    module_objects: CustomObjects | None = None,
) -> Callable[..., Any] | None:
    """Return the object that is registered by a name, or None."""
    for objects in (
        custom_objects or {},
        *reversed(_scoped_objects),
        _global_objects,
        _own_objects,
        module_objects or {},
    ):
        if name in objects:
            return objects[name]
    return None


@contextmanager
def custom_object_scope(*objects: CustomObjects | None) -> Iterator[None]:
    """Let configurations name the ``objects`` within the ``with``.

    Example:
        >>> from webtensor import keras
        >>> with keras.saving.custom_object_scope({"zero": lambda x: x * 0}):
        ...     keras.activations.get("zero")(3)
        0
    """
    with ExitStack() as scopes:
        for mapping in objects:
            if mapping:
                scopes.enter_context(_scoped_objects.holding(mapping))
        yield


CustomObjectScope = custom_object_scope


# -- to configurations -------------------------------------------------------------------------


def serialize_keras_object(obj: Any) -> Any:
    """Return the configuration of an object with ``get_config``, or of a nested structure.

    Raises:
        TypeError: the object has no ``get_config``.
        ValueError: the object is a lambda, which cannot be found by its name.
    """
    if isinstance(obj, _PLAIN):
        return obj
    if isinstance(obj, (list, tuple)):
        items = [serialize_keras_object(item) for item in obj]
        return tuple(items) if isinstance(obj, tuple) else items
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
        is_tensor = isinstance(obj, (Tensor, Variable))
        value: Any = tensor(obj) if is_tensor else obj.__array__()
        if value.shape == () and not is_tensor:
            return value.item()  # a NumPy scalar
        config = {"value": value.tolist(), "dtype": str(value.dtype)}
        return {"class_name": "__tensor__" if is_tensor else "__numpy__", "config": config}
    if isinstance(obj, (FunctionType, BuiltinFunctionType)):
        return _function_config(obj)
    if isinstance(obj, type):
        return {**_class_reference(obj), "class_name": "__typespec__", "config": obj.__name__}
    if not hasattr(obj, "get_config"):
        raise TypeError(
            f"serialize_keras_object: {obj!r} has no get_config; a layer that takes it as an "
            "argument must override its own"
        )
    return _object_config(obj)


def _object_config(obj: Any) -> Config:
    config = {
        **_class_reference(type(obj)),
        "config": serialize_keras_object(obj.get_config()),
    }
    if _numbered_objects:
        numbers = _numbered_objects.top
        config[_SHARED_ID], _ = numbers.setdefault(id(obj), (len(numbers) + 1, obj))
    for part in ("build", "compile"):
        get_part_config = getattr(obj, f"get_{part}_config", None)
        part_config = None if get_part_config is None else get_part_config()
        if part_config is not None:
            config[f"{part}_config"] = serialize_keras_object(part_config)
    return config


def serialize_shared(obj: object) -> Config:
    """Return the configuration of an object, with numbers on objects that occur repeatedly."""
    with _numbered_objects.holding({}):
        config: Config = serialize_keras_object(obj)
    counts = Counter(inner[_SHARED_ID] for inner in _mappings_in(config) if _SHARED_ID in inner)
    for inner in _mappings_in(config):
        if counts[inner.get(_SHARED_ID)] == 1:
            del inner[_SHARED_ID]
    return config


def _mappings_in(config: object) -> Iterator[Config]:
    """Yield all dictionaries in a nested configuration."""
    waiting = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, (list, tuple)):
            waiting += value


def _function_config(function: FunctionType | BuiltinFunctionType) -> Config:
    name = function.__name__
    if name == "<lambda>":
        raise ValueError(
            "serialize_keras_object: a lambda has no name to find it by; use a function that is "
            "decorated with register_keras_serializable"
        )
    return {
        "module": "builtins",
        "class_name": "function",
        "registered_name": "function",
        "config": _registered_names.get(function, name),
    }


def _class_reference(cls: type) -> Config:
    """Return the module, the class name and the registered name of a class."""
    cls = vars(cls).get("written_as", cls)
    name = cls.__name__
    # Operations of ``keras.ops`` say where Keras keeps them.
    module: str = getattr(cls, "keras_module", cls.__module__)
    registered_name = _registered_names.get(cls)
    if registered_name is None and module.startswith(f"{_PACKAGE}."):
        module, registered_name = _MODULES_IN_KERAS.get(name, (_public_module(module), None))
        return {"module": module, "class_name": name, "registered_name": registered_name}
    return {"module": module, "class_name": name, "registered_name": registered_name or name}


def _public_module(module: str) -> str:
    """Return Keras's namespace of a module: ``keras.layers`` of ``webtensor.keras.layers.core``."""
    path = f"{module.removeprefix(f'{_PACKAGE}.')}."
    namespaces = [namespace for namespace in _NAMESPACES if path.startswith(f"{namespace}.")]
    return f"keras.{max(namespaces, key=len)}" if namespaces else "keras"


# -- from configurations -----------------------------------------------------------------------


@contextmanager
def sharing_objects() -> Iterator[None]:
    """Within the ``with``, make one object of all configurations that have the same number."""
    with _shared_objects.holding({}):
        yield


def deserialize_keras_object(
    config: object,
    custom_objects: CustomObjects | None = None,
    safe_mode: bool = True,
    module_objects: CustomObjects | None = None,
    **_: object,
) -> Any:
    """Return the object that a configuration describes, or that a name stands for.

    A name that stands for nothing is returned as it is.

    Nothing is imported, and no code is executed but that of Keras's own classes, of registered
    ones, and of ``custom_objects``.

    Args:
        config: a configuration, or a nested structure with configurations in it.
        custom_objects: classes and functions by the names that the configuration has for them.
        safe_mode: without effect, as code in a configuration is always refused.
        module_objects: further classes and functions by their names, often ``globals()``; the name
            of a class stands for an object that is made without arguments.

    Raises:
        TypeError: a part of the configuration has the wrong type or cannot make its object.
        ValueError: a class is not known, or the configuration is malformed.
    """
    if not _nested_classes:
        check_depth(config, "deserialize_keras_object")
    elif len(_nested_classes.get()) > _MAX_OBJECT_DEPTH:
        raise ModelFormatError(
            f"deserialize_keras_object: objects are nested more than {_MAX_OBJECT_DEPTH} levels "
            "deep"
        )
    module_objects = module_objects or {}
    if isinstance(config, str):
        return _named(config, custom_objects, module_objects)
    if custom_objects or module_objects:
        with custom_object_scope({**module_objects, **(custom_objects or {})}):
            return _from_config(config)
    return _from_config(config)


def _named(name: str, custom_objects: CustomObjects | None, module_objects: CustomObjects) -> Any:
    """Return what a name stands for: a registered object, one of a module, or the name itself."""
    registered = get_registered_object(name, custom_objects)
    if registered is not None:
        return registered
    named = module_objects.get(name, name)
    return named() if isinstance(named, type) else named


def _from_config(config: object) -> Any:
    if isinstance(config, (list, tuple)):
        return [_from_config(item) for item in config]
    if not isinstance(config, Mapping):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: _from_config(value) for key, value in config.items()}
    name, inner = config["class_name"], config["config"]
    if not isinstance(name, str):
        raise ValueError(f"deserialize_keras_object: class_name must be a string, but is {name!r}")
    if name in _SPECIAL_VALUES:
        if not isinstance(inner, Mapping):
            raise ValueError(f"deserialize_keras_object: {name} has a malformed config: {inner!r}")
        return _SPECIAL_VALUES[name](inner)
    if name in ("__lambda__", "Lambda"):
        raise ValueError(
            "deserialize_keras_object: the configuration holds code (a lambda), which is never "
            "executed; register a function or a layer of that name instead"
        )
    module, registered_name = config.get("module"), config.get("registered_name")
    if name in ("function", "__typespec__"):
        if not isinstance(inner, str):
            raise TypeError(
                f"deserialize_keras_object: config must be the name of a {name}, but is {inner!r}"
            )
        return _find(inner, module, registered_name, is_function=name == "function")
    cls = _find(name, module, registered_name)
    if not isinstance(inner, Mapping):
        raise TypeError(
            f"deserialize_keras_object: the config of {name} must be a mapping, but is {inner!r}"
        )
    if not hasattr(cls, "from_config"):
        raise TypeError(f"deserialize_keras_object: {name} has no method from_config")
    return _make_object(cls, name, inner, config)


def _make_object(
    cls: Any, name: str, arguments: Mapping[str, object], config: Mapping[str, object]
) -> Any:
    """Return an object of a class, or the one that was already made for the shared object id."""
    shared_id = config.get(_SHARED_ID)
    shared_objects = _shared_objects.top if _shared_objects else {}
    if isinstance(shared_id, int) and shared_id in shared_objects:
        return shared_objects[shared_id]
    with _nested_classes.holding(name):
        obj = cls.from_config(dict(arguments))
        if isinstance(shared_id, int):
            shared_objects[shared_id] = obj
        for part in ("build", "compile"):
            part_config = config.get(f"{part}_config")
            if part_config and hasattr(obj, f"{part}_from_config"):
                getattr(obj, f"{part}_from_config")(part_config)
    return obj


def _tensor_from_config(config: Mapping[str, object]) -> Tensor:
    return tensor(config.get("value"), dtype=storage_dtype(config.get("dtype")))


_SPECIAL_VALUES: dict[str, Callable[[Mapping[str, object]], object]] = {
    "__bytes__": lambda config: str(config.get("value", "")).encode("latin-1"),
    "__ellipsis__": lambda _: ...,
    "__numpy__": lambda config: as_array(_tensor_from_config(config)),
    "__slice__": lambda config: slice(*map(config.get, ("start", "stop", "step"))),
    "__tensor__": _tensor_from_config,
    "__tuple__": lambda config: tuple(_from_config(config.get("value", []))),
}


def _find(
    name: str, module: object, registered_name: object, *, is_function: bool = False
) -> Callable[..., Any]:
    """Return the class or function that a configuration names: a registered one, or Keras's own."""
    for label in (registered_name, name):
        registered = get_registered_object(label) if isinstance(label, str) else None
        if registered is not None:
            return registered
    path = str(module or "").removeprefix("keras.")
    if path.startswith(("src.ops.", "src.activations.")) and not is_function:
        return keras.ops.operation_class(path.rpartition(".")[2], name)
    if module in _MODULES_HERE and _MODULES_IN_KERAS.get(name, ("",))[0] == module:
        cls: type = getattr(import_module(f"{_PACKAGE}.{_MODULES_HERE[str(module)]}"), name)
        return cls
    namespaces = _FUNCTION_NAMESPACES if is_function else _NAMESPACES
    public_names: list[str] = []
    for namespace in [path] if path in namespaces else namespaces:
        public_module = import_module(f"{_PACKAGE}.{namespace}")
        if name in public_module.__all__ and name not in _HELPERS:
            _check_registered_name(registered_name, name)
            public: Callable[..., Any] = getattr(public_module, name)
            return public
        public_names += public_module.__all__
    if is_function:
        # Keras wrote the names of functions without their packages, until 3.6.
        for label, registered in _global_objects.items():
            if label.endswith(f">{name}") and isinstance(registered, FunctionType):
                return registered
    raise ValueError(
        f"deserialize_keras_object: {name!r} of module {module!r} is not known"
        f"{nearest(name, public_names)}; decorate it with register_keras_serializable, or pass it "
        "in custom_objects"
    )


def _check_registered_name(registered_name: object, name: str) -> None:
    """Check that a configuration found in Keras's namespaces has no registered name of its own.

    It would be that of a user's class with the same name, which is not registered here.

    Raises:
        ValueError: there is such a registered name.
    """
    if isinstance(registered_name, str) and registered_name not in ("", "function", name):
        raise ValueError(
            f"deserialize_keras_object: {registered_name!r} is not registered, and it is not the "
            f"{name!r} of Keras, which has no registered name; decorate it with "
            "register_keras_serializable, or pass it in custom_objects"
        )


# -- namespaces --------------------------------------------------------------------------------


class Namespace:
    """The objects of one kind, such as losses, by the strings that stand for them.

    Args:
        kind: what errors call the objects, such as ``"loss"``.
        objects: classes and functions by their names; the names in snake case stand for them, too.
            A class or function is only looked up when its name is used.
        modules: the namespaces of Keras whose classes and functions count as objects of this kind.
        aliases: further names, such as ``mse``, with the names that they stand for.
    """

    def __init__(
        self,
        kind: str,
        objects: CustomObjects,
        modules: tuple[str, ...] = (),
        **aliases: str,
    ) -> None:
        self.kind = kind
        _namespaces.setdefault(kind, self)
        self._modules = tuple(f"{_PACKAGE}.{module}." for module in modules)
        self._objects = objects
        in_snake_case = {to_snake_case(name): name for name in objects}
        self._names = {**in_snake_case, **{name: name for name in objects}, **aliases}

    def _find(self, name: str) -> Any:
        """Return the class or function that a name stands for, or None."""
        return self._objects[self._names[name]] if name in self._names else None

    def get(self, identifier: Any) -> Any:
        """Return the object that a name, a configuration, a class or an object stands for.

        A class is called without arguments. None stands for None.

        Raises:
            ValueError: there is no such object.
        """
        if identifier is None:
            return None
        if isinstance(identifier, Mapping):
            obj = self.deserialize(identifier)
        elif isinstance(identifier, str):
            obj = get_registered_object(identifier)
            obj = self._find(identifier) if obj is None else obj
        else:
            obj = identifier
        if isinstance(obj, type):
            obj = obj()
        if not callable(obj):
            raise ValueError(
                f"{self.kind} {identifier!r} is not known{nearest(identifier, self._names)}"
            )
        return obj

    def deserialize(self, config: object, custom_objects: CustomObjects | None = None) -> Any:
        """Return the object that a configuration describes; older ones may lack the module."""
        if isinstance(config, str):
            with custom_object_scope(custom_objects or {}):
                return self.get(config)
        if isinstance(config, Mapping) and not config.get("module"):
            name = str(config.get("class_name"))
            cls = self._find(name)
            if cls is not None and not get_registered_object(name, custom_objects):
                return deserialize_keras_object(
                    {**config, "class_name": cls.__name__}, {cls.__name__: cls}
                )
        obj = deserialize_keras_object(config, custom_objects)
        self._check_kind(obj)
        return obj

    def _check_kind(self, obj: object) -> None:
        """Refuse an object of Keras's own that is of another kind.

        Raises:
            ValueError: the object is in none of the modules of this namespace.
        """
        definition = obj if isinstance(obj, (type, FunctionType)) else type(obj)
        if definition in _registered_names:
            return
        module = f"{definition.__module__}."
        is_library = module.startswith(f"{_PACKAGE}.")
        if self._modules and is_library and not module.startswith(self._modules):
            raise ValueError(f"{definition.__name__!r} is no {self.kind}")

    def serialize(self, obj: object) -> str | Config | None:
        """Return the configuration of an object; a function's is the name that stands for it."""
        name: str | None = getattr(obj, "__name__", None)
        if name is not None and self._find(name) is obj and not isinstance(obj, type):
            return name
        config: Config | None = serialize_keras_object(obj)
        return config


#: The namespaces by their kinds, which are the last words of arguments' names ("initializer").
_namespaces: dict[str, Namespace] = {}


def serialize_argument(name: str, value: object) -> Any:
    """Return the configuration of an argument; functions such as activations become names."""
    namespace = _namespaces.get(name.rpartition("_")[2])
    return serialize_keras_object(value) if namespace is None else namespace.serialize(value)
