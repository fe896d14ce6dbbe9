"""The state of a layer: its variables and their dtypes, the layers inside it, metrics, losses.

A layer finds these in what is assigned to its attributes, also inside lists, sets and dictionaries.
What a layer computes, and when, is in ``layer``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from math import prod
from sys import modules
from typing import TYPE_CHECKING, Any, TypeAlias

from webtensor.dtypes import DType, float32
from webtensor.engine import Tensor, TensorLike, Variable as EngineVariable
from webtensor.keras import dtype_policies, initializers
from webtensor.keras.arguments import Configurable, object_of
from webtensor.keras.array_results import as_array
from webtensor.keras.changes import note_change
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.layers.construction import check_required
from webtensor.keras.names import name_scope
from webtensor.keras.nodes import Operation
from webtensor.keras.stateless_scopes import stateless_scopes
from webtensor.keras.symbols import standardize_shape
from webtensor.keras.tracking import follow, tracked
from webtensor.keras.types import (
    ConstraintLike,
    DTypeLike,
    InitializerLike,
    Nested,
    RegularizerLike,
)
from webtensor.keras.variables import Variable
from webtensor.nest import flatten
from webtensor.ops import tensor

if TYPE_CHECKING:
    from webtensor.keras.layers.layer import Layer
    from webtensor.keras.metrics import Metric
    from webtensor.keras.seeds import SeedGenerator

__all__ = ["LayerState"]

_PLAIN_TYPES = (str, int, float, bool, type(None), DType)
#: Attributes of models that copies and pickles omit: each model makes its own when it needs them.
_CACHES = frozenset({"_inference", "train_function", "test_function", "predict_function"})
#: Classes of attributes that a layer keeps lists of, and the modules that define them.
_TRACKED_CLASSES = {
    "_metrics": ("webtensor.keras.metrics", "Metric"),
    "_seed_generators": ("webtensor.keras.seeds", "SeedGenerator"),
}
#: The attributes with the lists of a layer's parts and of its losses.
_LISTS = (
    "_trainable_variables",
    "_non_trainable_variables",
    "_layers",
    *_TRACKED_CLASSES,
    "_losses",
)

#: What ``save_own_variables`` writes to, and ``load_own_variables`` reads.
_Store: TypeAlias = MutableMapping[str, Any]


def _lists_for(value: object) -> tuple[str, ...]:
    """Return the lists that may have a value like this; a new one joins the first."""
    if isinstance(value, EngineVariable):
        names = ("_trainable_variables", "_non_trainable_variables")
        return names if value.trainable else names[::-1]
    if isinstance(value, LayerState):
        return ("_layers",)
    for name, (module, class_name) in _TRACKED_CLASSES.items():
        # Where the module was never imported, there are no objects of its classes.
        if module in modules and isinstance(value, getattr(modules[module], class_name, ())):
            return (name,)
    return ()


class LayerState(Operation, Configurable):
    """The part of a layer that keeps its variables, layers, metrics and losses."""

    built: bool
    _path: str
    #: Whether ``call`` runs, which must not make variables.
    _is_called: bool
    _trainable: bool
    _dtype_policy: dtype_policies.DTypePolicy
    _trainable_variables: list[EngineVariable]
    _non_trainable_variables: list[EngineVariable]
    _layers: list[Layer]
    _metrics: list[Metric]
    _seed_generators: list[SeedGenerator]
    _losses: list[Tensor]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        check_required(cls, args, kwargs)
        layer = super().__new__(cls, *args, **kwargs)
        for name in _LISTS:
            layer.__dict__[name] = []
        layer.__dict__["_is_called"] = False
        return layer

    # -- tracking -----------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        is_plain = isinstance(value, _PLAIN_TYPES)
        if not name.startswith("_") and name not in _CACHES:
            previous = self.__dict__.get(name)
            # Arrays and tensors are not compared: their ``==`` is one of elements.
            is_same = previous is value or (
                is_plain and type(previous) is type(value) and previous == value
            )
            if not is_same:
                note_change()
        if not is_plain and name not in _LISTS:
            value = tracked(value, self._track)
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _CACHES}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            follow(value, self._track)

    def __delattr__(self, name: str) -> None:
        for value in flatten(getattr(self, name)):
            for attribute in _lists_for(value):
                others = [other for other in self.__dict__[attribute] if other is not value]
                self.__dict__[attribute] = others
        super().__delattr__(name)

    def _track(self, value: object) -> None:
        """Add a variable, a layer and the like to its list, unless it is there.

        A variable stays in its list when it is frozen, since the order of variables in files
        depends on whether they were trainable at first.
        """
        attributes = _lists_for(value)
        tracked_values = [other for name in attributes for other in self.__dict__[name]]
        if attributes and all(value is not other for other in tracked_values):
            self.__dict__[attributes[0]].append(value)
            note_change()

    def _flatten_layers(self, include_self: bool = True, recursive: bool = True) -> list[Any]:
        """Return this layer and those inside it, each once, in depth-first order."""
        layers: dict[int, LayerState] = {id(self): self} if include_self else {}
        stack: list[LayerState] = list(reversed(self._layers))
        while stack:
            layer = stack.pop()
            if id(layer) not in layers and layer is not self:
                layers[id(layer)] = layer
                if recursive:
                    stack.extend(reversed(layer._layers))
        return list(layers.values())

    @property
    def metrics(self) -> list[Metric]:
        """Metrics of this layer and those inside it."""
        return [metric for layer in self._flatten_layers() for metric in layer._metrics]

    @property
    def metrics_variables(self) -> list[Any]:
        """Variables of the metrics."""
        return [variable for metric in self.metrics for variable in metric.variables]

    # -- variables ----------------------------------------------------------------------------

    def add_weight(
        self,
        *args: Any,
        shape: Any = None,
        initializer: InitializerLike = None,
        dtype: DTypeLike = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: RegularizerLike = None,
        constraint: ConstraintLike = None,
        aggregation: str = "none",
        overwrite_with_gradient: bool = False,
        name: str | None = None,
    ) -> Variable:
        """Make a variable of this layer.

        The default initializer of floats is "glorot_uniform", that of other dtypes "zeros".

        Raises:
            ValueError: it is called by ``call``, which would make a variable each time.
        """
        if self._is_called:
            raise ValueError(
                f"{type(self).__name__}: call must not make variables, as it would make others "
                "each time; make them in __init__ or in build"
            )
        if args:
            if isinstance(args[0], str) or shape is not None:
                raise ValueError("add_weight: pass shape once, and name by keyword")
            if len(args) > 3:
                raise TypeError("add_weight: pass all after dtype by keyword")
            args += (shape, initializer, dtype)[len(args) :]
            shape, initializer, dtype = args
        weight_dtype = self.variable_dtype if dtype is None else storage_dtype(dtype)
        if initializer is None:
            initializer = "glorot_uniform" if weight_dtype is float32 else "zeros"
        with name_scope(self.name, self):
            weight = Variable(
                initializers.get(initializer),
                shape=() if shape is None else standardize_shape(shape),
                dtype=weight_dtype,
                trainable=trainable,
                autocast=autocast,
                aggregation=aggregation,
                name=name,
            )
        weight.regularizer = object_of("regularizer", regularizer)
        weight.constraint = object_of("constraint", constraint)
        weight.overwrite_with_gradient = overwrite_with_gradient
        self._track(weight)
        if not self._trainable:
            weight.trainable = False
        return weight

    def add_variable(
        self,
        shape: Any,
        initializer: InitializerLike,
        dtype: DTypeLike = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: RegularizerLike = None,
        constraint: ConstraintLike = None,
        name: str | None = None,
    ) -> Variable:
        """Make a variable of this layer, by ``add_weight``."""
        return self.add_weight(
            shape,
            initializer,
            dtype,
            trainable=trainable,
            autocast=autocast,
            regularizer=regularizer,
            constraint=constraint,
            name=name,
        )

    def _all_variables(self, with_state: bool) -> list[Any]:
        variables: dict[int, EngineVariable] = {}
        for layer in self._flatten_layers():
            for variable in (*layer._trainable_variables, *layer._non_trainable_variables):
                variables.setdefault(id(variable), variable)
            if with_state:
                for generator in layer._seed_generators:
                    variables.setdefault(id(generator.state), generator.state)
        return list(variables.values())

    @property
    def weights(self) -> list[Any]:
        """Variables of this layer and those inside it."""
        return self._all_variables(with_state=False)

    @property
    def variables(self) -> list[Any]:
        """The weights, and the states of random number generators."""
        return self._all_variables(with_state=True)

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that training changes."""
        return [weight for weight in self.weights if self._trains(weight)]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that training does not change."""
        return [weight for weight in self.weights if not self._trains(weight)]

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables that training changes."""
        return [variable for variable in self.variables if self._trains(variable)]

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables that training does not change."""
        return [variable for variable in self.variables if not self._trains(variable)]

    def _trains(self, variable: EngineVariable) -> bool:
        return self.trainable and variable.trainable

    @property
    def trainable(self) -> bool:
        """Whether training changes it; the setter sets that of the layers inside, too."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)
        for variable in self._trainable_variables:
            variable.trainable = self._trainable
        for layer in self._layers:
            layer.trainable = value

    @property
    def path(self) -> str:
        """The name, after the names of the layers around it when it was built."""
        return self._path or self.name

    def get_weights(self) -> list[Any]:
        """Return the values of the weights: NumPy arrays, or tensors where there is no NumPy."""
        return [as_array(weight.value) for weight in self.weights]

    def set_weights(self, weights: Iterable[TensorLike]) -> None:
        """Assign other values to the weights.

        Raises:
            ValueError: their number or their shapes differ.
        """
        arrays, variables = list(weights), self.weights
        if len(arrays) != len(variables):
            raise ValueError(
                f"set_weights: layer {self.name!r} has {len(variables)} weights, but got "
                f"{len(arrays)}"
            )
        values = [
            tensor(array, dtype=variable.dtype)
            for array, variable in zip(arrays, variables, strict=True)
        ]
        for value, variable in zip(values, variables, strict=True):
            if value.shape != variable.shape:
                raise ValueError(
                    f"set_weights: weight {variable.name!r} of layer {self.name!r} has shape "
                    f"{variable.shape}, but got {value.shape}"
                )
        for value, variable in zip(values, variables, strict=True):
            variable.assign(value)

    def count_params(self) -> int:
        """Return the number of elements of all weights.

        Raises:
            ValueError: the layer is not built.
        """
        if not self.built:
            raise ValueError(
                f"count_params: layer {self.name!r} has no weights yet, as it is not built: call "
                "it, or build it with a shape"
            )
        return sum(prod(weight.shape) for weight in self.weights)

    def _own_variables(self) -> list[EngineVariable]:
        """This layer's own variables, as files have them."""
        return [*self._trainable_variables, *self._non_trainable_variables]

    def save_own_variables(self, store: _Store) -> None:
        """Put the values of this layer's own variables into a mapping."""
        for index, variable in enumerate(self._own_variables()):
            store[str(index)] = variable

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """Take the values of this layer's own variables from a mapping.

        Raises:
            ValueError: the number of values, or a shape, differs.
        """
        variables = self._own_variables()
        if len(store) != len(variables):
            hint = "" if self.built else "; the layer is not built"
            raise ValueError(
                f"layer {self.name!r} has {len(variables)} variables, but the file has "
                f"{len(store)}{hint}"
            )
        for index, variable in enumerate(variables):
            variable.assign(tensor(store[str(index)], dtype=variable.dtype))

    # -- dtypes -------------------------------------------------------------------------------

    @property
    def dtype_policy(self) -> dtype_policies.DTypePolicy:
        """The policy that names the dtypes of the weights and of what is computed."""
        return self._dtype_policy

    @dtype_policy.setter
    def dtype_policy(self, value: DTypeLike) -> None:
        policy = dtype_policies.get(value)
        previous = self.__dict__.get("_dtype_policy")
        self._dtype_policy = previous.changed(self.path, policy) if previous else policy

    @property
    def _own_policy(self) -> dtype_policies.DTypePolicy:
        """This layer's policy, also where the argument maps the paths of layers to policies."""
        return self._dtype_policy.of_layer(self.path)

    @property
    def dtype(self) -> DType:
        """The dtype of the weights."""
        return storage_dtype(self._own_policy.variable_dtype)

    @property
    def variable_dtype(self) -> DType:
        """The dtype of the weights."""
        return self.dtype

    @property
    def compute_dtype(self) -> DType:
        """The dtype of what is computed."""
        return storage_dtype(self._own_policy.compute_dtype)

    @property
    def input_dtype(self) -> DType:
        """The dtype of what is computed."""
        return self.compute_dtype

    @property
    def quantization_mode(self) -> str | None:
        """None, as weights are not quantized."""
        return self._own_policy.quantization_mode

    # -- losses -------------------------------------------------------------------------------

    def add_loss(self, loss: Nested[Tensor | None]) -> None:
        """Add scalars to the loss that training minimizes, for the current call.

        Raises:
            ValueError: a loss is not a tensor.
        """
        terms = [term for term in flatten(loss) if term is not None]
        for term in terms:
            if not hasattr(term, "shape"):
                raise ValueError(f"add_loss: a loss must be a tensor, but got {term!r}")
        losses = stateless_scopes.top.losses if stateless_scopes else self._losses
        losses.extend(terms)

    def _clear_losses(self) -> None:
        for layer in self._flatten_layers():
            if layer._losses:
                layer._losses.clear()

    @property
    def losses(self) -> list[Any]:
        """Losses added by the last call, then those of regularized weights.

        Within a StatelessScope, those added in the scope.
        """
        if stateless_scopes:
            added = stateless_scopes.top.losses
        else:
            added = [loss for layer in self._flatten_layers() for loss in layer._losses]
        return [*added, *self._losses_of_weights()]

    def _losses_of_weights(self) -> list[Tensor]:
        return [
            variable.regularizer(variable.value)
            for variable in self.trainable_weights
            if getattr(variable, "regularizer", None) is not None
        ]
