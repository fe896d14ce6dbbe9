"""Layer: variables, and a computation with them.

A layer's life: ``__init__`` takes the configuration; ``build`` makes the variables, as soon as
shapes are known; ``call`` computes. ``__call__`` sees to the rest: it converts arrays, checks
``input_spec``, builds, finds out whether this is training, hands masks on, and, given symbolic
tensors, makes a node of a functional model instead of computing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from math import prod
from sys import modules
from typing import Any, ClassVar, NamedTuple
from warnings import warn

from webtensor.dtypes import DType, float32
from webtensor.engine import Tensor, Variable as EngineVariable
from webtensor.keras import constraints, dtype_policies, initializers, regularizers
from webtensor.keras.arguments import (
    ALWAYS,
    Configurable,
    accepted_arguments,
    declared_config,
    is_library_class,
    unknown_argument,
)
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.layers.call_context import call_context
from webtensor.keras.layers.input_spec import check_inputs
from webtensor.keras.masks import mask_of
from webtensor.keras.names import current_path, name_scope
from webtensor.keras.nest import flatten, is_nested, map_structure
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.stateless_scopes import StatelessScope, stateless_scopes
from webtensor.keras.symbols import (
    KerasTensor,
    any_symbolic,
    as_tensor,
    map_shapes,
    standardize_shape,
)
from webtensor.keras.tracking import follow, tracked
from webtensor.keras.types import (
    Config,
    ConstraintLike,
    DTypeLike,
    InitializerLike,
    RegularizerLike,
)
from webtensor.keras.variables import Variable
from webtensor.ops import tensor

__all__ = ["Layer"]

_PLAIN = (str, int, float, bool, type(None), DType)
#: Attributes of models that copies and pickles leave out: they are made anew when they are needed.
_MADE_ANEW = frozenset({"_inference", "train_function", "test_function", "predict_function"})


class _Signature(NamedTuple):
    """What ``call`` takes."""

    names: tuple[str, ...]
    takes_training: bool
    training: Any
    masks: frozenset[str]


@cache
def _signature(call: Any) -> _Signature:
    parameters = signature(call).parameters
    named = {
        name: one
        for name, one in parameters.items()
        if one.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY) and name != "self"
    }
    takes_all = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    training = named.get("training")
    default = None if training is None or training.default is Parameter.empty else training.default
    masks = frozenset(name for name in named if name == "mask" or name.endswith("_mask"))
    names = tuple(name for name in named if name != "training")
    return _Signature(names, training is not None or takes_all, default, masks)


#: Kinds of attributes that a layer keeps lists of, and where they are defined.
_TRACKED = {
    "_metrics": ("webtensor.keras.metrics", "Metric"),
    "_seed_generators": ("webtensor.keras.random", "SeedGenerator"),
}


#: The lists of what a layer is made of, and of its losses.
_LISTS = ("_trainable_variables", "_non_trainable_variables", "_layers", *_TRACKED, "_losses")


def _lists_for(value: Any) -> tuple[str, ...]:
    """Names of the lists that things like ``value`` may be in; a new one joins the first."""
    if isinstance(value, EngineVariable):
        names = ("_trainable_variables", "_non_trainable_variables")
        return names if value.trainable else names[::-1]
    if isinstance(value, Layer):
        return ("_layers",)
    for name, (module, kind) in _TRACKED.items():
        # Nothing can be of a kind whose module was never imported.
        if module in modules and isinstance(value, getattr(modules[module], kind, ())):
            return (name,)
    return ()


class Layer(Operation, Configurable):
    """The base of all layers, with Keras 3's methods.

    Example:
        >>> from webtensor import keras
        >>> class Scale(keras.Layer):
        ...     def build(self, input_shape):
        ...         self.scale = self.add_weight(shape=input_shape[-1:], initializer="ones")
        ...     def call(self, inputs):
        ...         return inputs * self.scale
        >>> Scale()([[1.0, 2.0]]).tolist()
        [[1.0, 2.0]]
    """

    _refuses_unknown = False
    #: Arguments that configurations omit (see ``Configurable``).
    _config_omits: ClassVar[Mapping[str, Any]] = {
        "activity_regularizer": None,
        "autocast": ALWAYS,
    }
    #: Whether ``__call__`` converts its arguments; functional models do so themselves.
    _converts_inputs = True

    _trainable_variables: list[EngineVariable]
    _non_trainable_variables: list[EngineVariable]
    _layers: list[Layer]
    _metrics: list[Any]
    _seed_generators: list[Any]
    _losses: list[Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        _check_required(cls, args, kwargs)
        made = super().__new__(cls, *args, **kwargs)
        for name in _LISTS:
            made.__dict__[name] = []
        return made

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in cls.__dict__:
            cls.build = _noted(cls.__dict__["build"])  # type: ignore[method-assign]

    def __init__(
        self,
        *,
        activity_regularizer: RegularizerLike = None,
        trainable: bool = True,
        dtype: DTypeLike = None,
        autocast: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name)
        #: The shape that a Sequential model begins with, where a layer was given one.
        self._given_shape = _given_shape(kwargs)
        if kwargs:
            raise ValueError(unknown_argument(type(self), min(kwargs)))
        self.activity_regularizer = regularizers.get(activity_regularizer)
        if not isinstance(trainable, bool):
            raise ValueError(
                f"{type(self).__name__}: trainable must be a boolean, but got {trainable!r}"
            )
        self._trainable = trainable
        self.dtype_policy = dtype
        self.autocast = autocast
        self.supports_masking = type(self).compute_mask is not Layer.compute_mask
        self.input_spec: Any = None
        self.built = False
        self._build_shapes: dict[str, Any] = {}
        self._path = ""

    # -- what it is made of -------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, _PLAIN) and name not in _LISTS:
            value = tracked(value, self._track)
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _MADE_ANEW}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            follow(value, self._track)

    def __delattr__(self, name: str) -> None:
        for value in flatten(getattr(self, name)):
            for attribute in _lists_for(value):
                kept = [other for other in self.__dict__[attribute] if other is not value]
                self.__dict__[attribute] = kept
        super().__delattr__(name)

    def _track(self, value: Any) -> None:
        """Note a variable, a layer and the like, once.

        A variable stays in its list when it is frozen: the order of variables in files depends on
        what they were made as.
        """
        attributes = _lists_for(value)
        tracked_values = [other for name in attributes for other in self.__dict__[name]]
        if attributes and all(value is not other for other in tracked_values):
            self.__dict__[attributes[0]].append(value)

    def add_weight(
        self,
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
        """Make a variable of this layer; floats begin as "glorot_uniform", others as zeros."""
        kind = self.variable_dtype if dtype is None else held_dtype(dtype)
        if initializer is None:
            initializer = "glorot_uniform" if kind is float32 else "zeros"
        with name_scope(self.name, self):
            made = Variable(
                initializers.get(initializer),
                shape=() if shape is None else standardize_shape(shape),
                dtype=kind,
                trainable=trainable,
                autocast=autocast,
                aggregation=aggregation,
                name=name,
            )
        made.regularizer = regularizers.get(regularizer)
        made.constraint = constraints.get(constraint)
        made.overwrite_with_gradient = overwrite_with_gradient
        self._track(made)
        if not self._trainable:
            made.trainable = False
        return made

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
            shape, initializer, dtype, trainable, autocast, regularizer, constraint, name=name
        )

    def _flatten_layers(self, include_self: bool = True, recursive: bool = True) -> list[Layer]:
        """This layer and those inside it, each once, in order."""
        found: dict[int, Layer] = {id(self): self} if include_self else {}
        waiting = list(reversed(self._layers))
        while waiting:
            layer = waiting.pop()
            if id(layer) not in found and layer is not self:
                found[id(layer)] = layer
                if recursive:
                    waiting.extend(reversed(layer._layers))
        return list(found.values())

    def _all_variables(self, with_state: bool) -> list[Any]:
        found: dict[int, Any] = {}
        for layer in self._flatten_layers():
            for one in (*layer._trainable_variables, *layer._non_trainable_variables):
                found.setdefault(id(one), one)
            if with_state:
                for generator in layer._seed_generators:
                    found.setdefault(id(generator.state), generator.state)
        return list(found.values())

    @property
    def weights(self) -> list[Any]:
        """Variables of this layer and those inside it."""
        return self._all_variables(with_state=False)

    @property
    def variables(self) -> list[Any]:
        """The weights, and the state of random numbers."""
        return self._all_variables(with_state=True)

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that training changes."""
        return [one for one in self.weights if one.trainable] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that training leaves."""
        return [one for one in self.weights if not (self.trainable and one.trainable)]

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables that training changes."""
        return [one for one in self.variables if one.trainable] if self.trainable else []

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables that training leaves."""
        return [one for one in self.variables if not (self.trainable and one.trainable)]

    @property
    def trainable(self) -> bool:
        """Whether training changes it; setting it does so for the layers inside, too."""
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
        """The name after those of the layers that it was built in."""
        return self._path or self.name

    def get_weights(self) -> list[Any]:
        """Return the weights' values, as NumPy arrays."""
        return [one.numpy() for one in self.weights]

    def set_weights(self, weights: Iterable[Any]) -> None:
        """Give the weights other values.

        Raises:
            ValueError: their number or their shapes differ.
        """
        given, own = list(weights), self.weights
        if len(given) != len(own):
            raise ValueError(
                f"set_weights: layer {self.name!r} has {len(own)} weights, but got {len(given)}"
            )
        held = [tensor(value, dtype=one.dtype) for value, one in zip(given, own, strict=True)]
        for value, one in zip(held, own, strict=True):
            if value.shape != one.shape:
                raise ValueError(
                    f"set_weights: weight {one.name!r} of layer {self.name!r} has shape "
                    f"{one.shape}, but got {value.shape}"
                )
        for value, one in zip(held, own, strict=True):
            one.assign(value)

    def count_params(self) -> int:
        """Return how many numbers the weights are.

        Raises:
            ValueError: the layer is not built.
        """
        if not self.built:
            raise ValueError(
                f"count_params: layer {self.name!r} has no weights yet, as it is not built: call "
                "it, or build it with a shape"
            )
        return sum(prod(one.shape) for one in self.weights)

    @property
    def dtype_policy(self) -> dtype_policies.DTypePolicy:
        """What the dtypes of the weights and of what is computed are called."""
        return self._dtype_policy

    @dtype_policy.setter
    def dtype_policy(self, value: Any) -> None:
        policy = dtype_policies.get(value)
        known = self.__dict__.get("_dtype_policy")
        if isinstance(known, dtype_policies.DTypePolicyMap) and not isinstance(policy, type(known)):
            policy = known.changed(self.path, policy)
        self._dtype_policy = policy

    @property
    def _own_policy(self) -> dtype_policies.DTypePolicy:
        """The layer's policy, where there is one for each of several layers."""
        policy = self._dtype_policy
        return policy[self.path] if isinstance(policy, dtype_policies.DTypePolicyMap) else policy

    @property
    def dtype(self) -> DType:
        """Dtype that the weights are held in."""
        return held_dtype(self._own_policy.variable_dtype)

    @property
    def compute_dtype(self) -> DType:
        """Dtype that what is computed is held in."""
        return held_dtype(self._own_policy.compute_dtype)

    @property
    def variable_dtype(self) -> DType:
        """Dtype that the weights are held in."""
        return self.dtype

    @property
    def quantization_mode(self) -> str | None:
        """How the weights are quantized: never."""
        return self._own_policy.quantization_mode

    @property
    def input_dtype(self) -> DType:
        """Dtype of what is computed."""
        return self.compute_dtype

    @property
    def metrics(self) -> list[Any]:
        """Metrics of this layer and those inside it."""
        return [one for layer in self._flatten_layers() for one in layer._metrics]

    @property
    def metrics_variables(self) -> list[Any]:
        """Variables of the metrics."""
        return [variable for metric in self.metrics for variable in metric.variables]

    # -- build --------------------------------------------------------------------------------

    def build(self, *shapes: Any, **named_shapes: Any) -> None:
        """Make the variables; layers with variables have a ``build`` of their own."""
        if shapes and shapes[0] is not None and not self.built:
            self._build_shapes = {"input_shape": shapes[0]}
        self.built = True

    def _build_at_init(self) -> None:
        """Count as built from the beginning, unless a subclass has something to build."""
        self.built = type(self).build is Layer.build

    def get_build_config(self) -> Config | None:
        """Return the shapes that it was built with."""
        shapes = self._build_shapes
        if not shapes:
            return None
        return (
            {"input_shape": next(iter(shapes.values()))}
            if len(shapes) == 1
            else {"shapes_dict": dict(shapes)}
        )

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build with the shapes that ``get_build_config`` returned."""
        if "shapes_dict" in config:
            shapes = {name: _as_shapes(one) for name, one in config["shapes_dict"].items()}
            self._build(shapes)
        elif config.get("input_shape") is not None:
            self.build(_as_shapes(config["input_shape"]))

    def _build(self, shapes: dict[str, Any]) -> None:
        """Build with the shapes of ``call``'s inputs, each under its name with ``_shape`` added."""
        build = type(self).build
        taken = _build_parameters(build)
        if taken is None or len(taken) == 1:
            self.build(next(iter(shapes.values()), None))
        else:
            known = {name: shape for name, shape in shapes.items() if name in taken}
            try:
                signature(build).bind(self, **known)
            except TypeError as error:
                raise ValueError(
                    f"{type(self).__name__}: build must take the shapes of inputs of call, by "
                    f"their names with _shape added, such as {[*shapes]}; {error}"
                ) from None
            self.build(**known)

    # -- call ---------------------------------------------------------------------------------

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute; layers have their own."""
        raise NotImplementedError(f"{type(self).__name__} has no method call")

    @property
    def _call_has_training_arg(self) -> bool:
        return _signature(type(self).call).takes_training

    @property
    def _call_has_mask_arg(self) -> bool:
        return "mask" in _signature(type(self).call).masks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_path" not in self.__dict__:
            raise RuntimeError(f"{type(self).__name__}: __init__ must call super().__init__()")
        facts = _signature(type(self).call)
        if not (len(args) == 1 and type(args[0]) is Tensor and not kwargs):
            args, kwargs = self._converted(args, kwargs)
        inputs = args[0] if args else next(iter(kwargs.values()), None)
        if self.input_spec is not None:
            check_inputs(self.input_spec, inputs, self.name)
        node_kwargs = dict(kwargs) if any_symbolic(args, kwargs) else None
        outer = call_context.get()
        entry, trains = outer
        training = kwargs.pop("training", None)
        if training is None:
            training = trains if trains is not None else facts.training
        call_context.set((self if entry is None else entry, training))
        try:
            if entry is None and not stateless_scopes.get():
                self._clear_losses()
            with name_scope(self.name, self):
                if not self.built:
                    self._path = current_path()
                    self._build(self._shapes_of(facts, args, kwargs))
                    self.built = True
                if facts.masks:
                    kwargs = {**kwargs, **self._masks_of_inputs(facts, args, kwargs)}
                previous_mask = kwargs.get("mask")
                if previous_mask is None:
                    previous_mask = _masks_of(inputs)
                if node_kwargs is not None:
                    outputs = self.compute_output_spec(*args, **kwargs)
                    self._hand_masks_on(inputs, outputs, previous_mask)
                    if self._calls_with_own_kwargs(args, node_kwargs):
                        node_kwargs = self._completed(facts, node_kwargs, kwargs, training)
                    Node(self, args, node_kwargs, outputs)
                    return outputs
                if facts.takes_training:
                    kwargs = {**kwargs, "training": training}
                outputs = self.call(*args, **kwargs)
            self._add_loss_of(outputs)
            self._hand_masks_on(inputs, outputs, previous_mask)
            return outputs
        finally:
            call_context.set(outer)

    def _converted(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Make tensors of arrays, and of lists of numbers as the first argument."""
        if args and isinstance(args[0], (list, tuple)):
            parts = flatten(args[0])
            if parts and all(isinstance(one, (int, float, str)) for one in parts):
                args = (tensor(args[0]), *args[1:])
        for one in flatten(args[1:]):
            if isinstance(one, (int, float, str)):
                raise ValueError(
                    f"{type(self).__name__}: only tensors may be positional arguments after the "
                    f"first; give {one!r} by its argument's name"
                )
        return (
            map_structure(as_tensor, args),
            {key: map_structure(as_tensor, value) for key, value in kwargs.items()},
        )

    def _shapes_of(
        self, facts: _Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        """The shapes of inputs, by the names of arguments with ``_shape`` added."""
        given = {**dict(zip(facts.names, args, strict=False)), **kwargs}
        shapes = {}
        for name, value in given.items():
            parts = flatten(value)
            if name != "mask" and parts and all(hasattr(one, "shape") for one in parts):
                shapes[f"{name}_shape"] = map_structure(lambda one: tuple(one.shape), value)
        return shapes

    # -- nodes --------------------------------------------------------------------------------

    def _calls_with_own_kwargs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a node has the arguments that were added to those of its call.

        In Keras it does where no argument needed to be converted: the node's arguments are then
        the very dictionary that ``__call__`` adds to.
        """
        return not self._converts_inputs or (
            not kwargs
            and len(args) == 1
            and type(args[0]) is KerasTensor
            and args[0].dtype is self.input_dtype
        )

    def _completed(
        self, facts: _Signature, node_kwargs: dict[str, Any], kwargs: dict[str, Any], training: Any
    ) -> dict[str, Any]:
        """The arguments of a node together with masks and whether this is training."""
        masks = {name: value for name, value in kwargs.items() if name in facts.masks}
        completed = {**node_kwargs, **masks}
        if training is not None and facts.takes_training and call_context.get()[0] is self:
            completed["training"] = training
        return completed

    # -- masks --------------------------------------------------------------------------------

    def _masks_of_inputs(
        self, facts: _Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        """Masks that inputs carry, by arguments of ``call`` that were not given.

        The mask of the only input is ``mask``; that of one of several has its name before it.
        """
        named = {**dict(zip(facts.names, args, strict=False)), **kwargs}
        inputs = {name: value for name, value in named.items() if _has_tensors_alone(value)}
        prefixes = dict.fromkeys(inputs, "") if len(inputs) == 1 else {x: f"{x}_" for x in inputs}
        return {
            f"{prefixes[name]}mask": _masks_of(value)
            for name, value in inputs.items()
            if f"{prefixes[name]}mask" in facts.masks and named.get(f"{prefixes[name]}mask") is None
        }

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return which steps of the outputs count; by default those of the inputs."""
        return previous_mask

    def _hand_masks_on(self, inputs: Any, outputs: Any, previous_mask: Any) -> None:
        """Give outputs the mask that ``compute_mask`` makes of that of the inputs."""
        has_masks = previous_mask is not None and (
            type(previous_mask) is Tensor or any(one is not None for one in flatten(previous_mask))
        )
        if not self.supports_masking:
            if has_masks:
                warn(
                    f"Layer {self.name!r} (of type {type(self).__name__}) was passed an input with "
                    "a mask attached to it. However, this layer does not support masking and will "
                    "therefore destroy the mask information.",
                    stacklevel=4,
                )
            return
        if not has_masks and type(self).compute_mask is Layer.compute_mask:
            return
        if all(mask_of(output) is not None for output in flatten(outputs)):
            return
        masks = self.compute_mask(inputs, previous_mask)
        if masks is None:
            return
        # There may be fewer masks than outputs: what follows those has none.
        for output, mask in zip(flatten(outputs), flatten(masks), strict=False):
            if mask is not None and mask_of(output) is None:
                output._keras_mask = mask

    # -- shapes -------------------------------------------------------------------------------

    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shape of what ``call`` returns, given the shapes of its inputs."""

        def symbol(shape: Any) -> Any:
            return KerasTensor(shape, self.compute_dtype)

        inputs = [map_shapes(symbol, one) for one in args]
        named = {
            name.removesuffix("_shape"): map_shapes(symbol, one) for name, one in kwargs.items()
        }
        if args and not self.built:
            self._build({"input_shape": args[0]})
        return map_structure(lambda one: one.shape, self._outcome(tuple(inputs), named))

    def _outcome(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Symbolic tensors like what ``call`` returns, which is tried out without a trace."""
        with StatelessScope():
            return outcome_of_trial(self.call, args, kwargs)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return symbolic tensors like what ``call`` returns."""
        if type(self).compute_output_shape is Layer.compute_output_shape:
            return self._outcome(args, kwargs)
        inputs = args[0] if args else next(iter(kwargs.values()))
        shapes = self._shapes_of(_signature(type(self).call), args, kwargs)
        taken = _build_parameters(type(self).compute_output_shape)
        if taken is None or len(taken) == 1:
            found = self.compute_output_shape(map_structure(lambda one: one.shape, inputs))
        else:
            found = self.compute_output_shape(
                **{name: shape for name, shape in shapes.items() if name in taken}
            )
        return map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), found)

    # -- losses -------------------------------------------------------------------------------

    def _add_loss_of(self, outputs: Any) -> None:
        """Add what the activity regularizer says of outputs, for each example."""
        if self.activity_regularizer is not None:
            for one in flatten(outputs):
                loss = self.activity_regularizer(one)
                self.add_loss(loss / max(one.shape[0], 1) if one.shape else loss)

    def add_loss(self, loss: Any) -> None:
        """Add scalars to the loss that training lowers, for the call under way."""
        kept = stateless_scopes.top.losses if stateless_scopes else self._losses
        kept.extend(one for one in flatten(loss) if one is not None)

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

    def _losses_of_weights(self) -> list[Any]:
        found = []
        for variable in self.trainable_weights:
            regularizer = getattr(variable, "regularizer", None)
            if regularizer is not None:
                found.append(regularizer(variable.value))
        return found

    def stateless_call(
        self,
        trainable_variables: Iterable[Any],
        non_trainable_variables: Iterable[Any],
        *args: Any,
        return_losses: bool = False,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Call with other values of the variables, which stay what they are.

        Returns the outputs and the values that the variables which training leaves would have then;
        with ``return_losses``, the losses, too.

        Raises:
            ValueError: the layer is not built, or there are more or fewer values than variables.

        Example:
            >>> import webtensor as wt
            >>> from webtensor import keras
            >>> layer = keras.layers.Dense(1, use_bias=False)
            >>> layer.build((None, 2))
            >>> layer.stateless_call([wt.ones((2, 1))], [], [[1.0, 2.0]])[0].tolist()
            [[3.0]]
        """
        if not self.built:
            raise ValueError(f"stateless_call: layer {self.name!r} is not built; build it first")
        state = self.non_trainable_variables
        pairs: list[tuple[Any, Any]] = []
        for argument, own, given in (
            ("trainable_variables", self.trainable_variables, list(trainable_variables)),
            ("non_trainable_variables", state, list(non_trainable_variables)),
        ):
            if len(own) != len(given):
                raise ValueError(
                    f"stateless_call: {argument} must be {len(own)} values, one for each variable, "
                    f"but got {len(given)}"
                )
            pairs += zip(own, given, strict=True)
        with StatelessScope(pairs) as scope:
            outputs = self(*args, **kwargs)
            found = (outputs, [scope.get_current_value(one) for one in state])
            return (*found, self.losses) if return_losses else found

    # -- configurations -----------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        given = self._given_arguments() if _keeps_arguments(type(self)) else {}
        return {**given, **declared_config(self)}

    def _config_value(self, name: str) -> Any:
        if name == "dtype":
            return dtype_policies.serialize(self.dtype_policy)
        return super()._config_value(name)

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dict(config)
        if isinstance(config.get("dtype"), dict):
            config["dtype"] = dtype_policies.deserialize(config["dtype"])
        if _keeps_arguments(cls):
            config = {
                key: deserialize_keras_object(value) if isinstance(value, dict) else value
                for key, value in config.items()
            }
        try:
            return cls(**config)
        except TypeError as error:
            raise TypeError(
                f"{cls.__name__} cannot be made of its configuration {config}: {error}"
            ) from error

    # -- saving -------------------------------------------------------------------------------

    def _own_variables(self) -> list[Any]:
        """This layer's own variables, as files have them."""
        return [*self._trainable_variables, *self._non_trainable_variables]

    def save_own_variables(self, store: Any) -> None:
        """Put the values of this layer's own variables into a mapping."""
        for index, one in enumerate(self._own_variables()):
            store[str(index)] = one

    def load_own_variables(self, store: Any) -> None:
        """Take the values of this layer's own variables from a mapping.

        Raises:
            ValueError: the number of values, or a shape, differs.
        """
        own = self._own_variables()
        if len(store) != len(own):
            hint = "" if self.built else "; the layer is not built"
            raise ValueError(
                f"layer {self.name!r} has {len(own)} variables, but the file has {len(store)}{hint}"
            )
        for index, one in enumerate(own):
            one.assign(tensor(store[str(index)], dtype=one.dtype))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


# -- helpers -----------------------------------------------------------------------------------


def _masks_of(inputs: Any) -> Any:
    """The masks of a structure of tensors, in the same structure."""
    return mask_of(inputs) if type(inputs) is Tensor else map_structure(mask_of, inputs)


def _has_tensors_alone(value: Any) -> bool:
    """Whether a value is a tensor, or a structure of tensors and None."""
    if isinstance(value, (Tensor, KerasTensor)):
        return True
    parts = flatten(value) if is_nested(value) else []
    return bool(parts) and all(
        one is None or isinstance(one, (Tensor, KerasTensor)) for one in parts
    )


def _noted(build: Callable[..., None]) -> Callable[..., None]:
    """Let a ``build`` note its shapes, and name its variables after the layer."""

    @wraps(build)
    def noted(self: Layer, *args: Any, **kwargs: Any) -> None:
        outermost = not self.built and not self._build_shapes
        if outermost:
            names = _build_parameters(noted) or ("input_shape",)
            self._build_shapes = {**dict(zip(names, args, strict=False)), **kwargs}
        with name_scope(self.name, self):
            self._path = current_path()
            build(self, *args, **kwargs)
        self.built = True

    return noted


@cache
def _build_parameters(function: Any) -> tuple[str, ...] | None:
    """Names of the shapes that a method takes; None where it takes any."""
    parameters = [one for name, one in signature(function).parameters.items() if name != "self"]
    if any(one.kind is Parameter.VAR_POSITIONAL for one in parameters):
        return None
    return tuple(one.name for one in parameters if one.kind is not Parameter.VAR_KEYWORD)


def _keeps_arguments(cls: type) -> bool:
    """Whether a configuration has the arguments that the object was created with.

    That is so for users' classes without a ``get_config``, unless they derive from a class of the
    library with arguments of its own.
    """
    library_class = next(base for base in cls.__mro__ if is_library_class(base))
    return getattr(cls, "get_config", None) is Layer.get_config and (
        accepted_arguments(library_class) == accepted_arguments(Layer)
    )


def _check_required(layer: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Name the misspelt argument where Python would say that a required one is missing.

    Raises:
        TypeError: a required argument is missing, and another is unknown.
    """
    unknown = kwargs.keys() - set(accepted_arguments(layer)) - _SHAPE_ARGUMENTS
    if unknown:
        try:
            signature(layer.__init__).bind(None, *args, **kwargs)  # type: ignore[misc]
        except TypeError:
            raise TypeError(unknown_argument(layer, min(unknown))) from None


#: What a Sequential model's first layer may be given besides its own arguments.
_SHAPE_ARGUMENTS = frozenset(
    {"batch_input_shape", "batch_shape", "batch_size", "input_dim", "input_shape"}
)


def _given_shape(kwargs: dict[str, Any]) -> Any:
    """Take the arguments out that say what a model begins with."""
    input_dim = kwargs.pop("input_dim", None)
    input_shape = kwargs.pop("input_shape", None if input_dim is None else (input_dim,))
    batch_size = kwargs.pop("batch_size", None) if input_shape is not None else None
    batch_shape = kwargs.pop("batch_input_shape", None)
    batch_shape = kwargs.pop("batch_shape", batch_shape)
    if batch_shape is None and input_shape is not None:
        batch_shape = (batch_size, *standardize_shape(input_shape))
    return None if batch_shape is None else standardize_shape(batch_shape)


def _as_shapes(shapes: Any) -> Any:
    """Shapes of a configuration, where JSON has made lists of tuples."""
    return None if shapes is None else map_shapes(tuple, shapes)
