"""Layer: the base of all layers.

``__init__`` takes the configuration; ``build`` makes the variables, once the shapes of inputs are
known; ``call`` computes. ``__call__`` does the rest: it converts arrays, checks ``input_spec``,
builds, passes on whether this is training, and passes masks on. Called with symbolic tensors, it
makes a node of a functional model instead of computing.

The variables, dtypes and losses of layers are in ``layer_state``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, TypeAlias
from warnings import warn

from webtensor.engine import Tensor, Variable as EngineVariable
from webtensor.explanation import MISUSE, raise_explained
from webtensor.keras import dtype_policies
from webtensor.keras.arguments import (
    ALWAYS,
    accepted_arguments,
    declared_config,
    is_library_class,
    object_of,
    unknown_argument,
)
from webtensor.keras.layers.call_signature import CallSignature, call_signature, shape_parameters
from webtensor.keras.layers.construction import take_input_shape
from webtensor.keras.layers.input_spec import InputSpecs, check_inputs
from webtensor.keras.layers.layer_state import LayerState
from webtensor.keras.masks import mask_of
from webtensor.keras.names import current_path, name_scope
from webtensor.keras.nodes import Node
from webtensor.keras.stateless_scopes import StatelessScope, stateless_scopes
from webtensor.keras.symbols import (
    KerasTensor,
    any_symbolic,
    as_tensor,
    map_shapes,
)
from webtensor.keras.types import (
    Config,
    DTypeLike,
    Nested,
    RegularizerLike,
    Shape,
    SymbolicOrTensor,
)
from webtensor.nest import flatten, is_nested, map_structure
from webtensor.ops import tensor

__all__ = ["Layer"]

_Masks: TypeAlias = "Nested[SymbolicOrTensor | None]"
_Context: TypeAlias = "tuple[Layer | None, bool | None]"

#: The outermost layer of the current call, and the value of ``training``; None outside of calls.
#: Each task has its own: while a layer waits for a value, another task may call layers.
call_context: ContextVar[_Context] = ContextVar("call_context", default=(None, None))


class Layer(LayerState):
    """The base of all layers, with Keras 3's methods.

    A first layer of a Sequential model may also be created with ``input_shape``, ``batch_shape``,
    ``input_dim`` or ``batch_size``, which describe the model's input.

    Raises:
        ValueError: an argument is unknown, or ``trainable`` is not a boolean.

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
    _config_omits: ClassVar[Mapping[str, Any]] = {
        "activity_regularizer": None,
        "autocast": ALWAYS,
    }
    #: Whether ``__call__`` converts its arguments; functional models convert them themselves.
    _converts_inputs = True
    #: Whether calling the layer may run functions that are not the library's.
    _runs_code_of_others: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in cls.__dict__:
            cls.build = _recorded(cls.__dict__["build"])  # type: ignore[method-assign]

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
        #: The shape of a Sequential model's inputs, if the arguments describe it.
        self._batch_input_shape = take_input_shape(kwargs)
        if kwargs:
            raise ValueError(unknown_argument(type(self), min(kwargs)))
        self.activity_regularizer = object_of("regularizer", activity_regularizer)
        if not isinstance(trainable, bool):
            raise ValueError(
                f"{type(self).__name__}: trainable must be a boolean, but got {trainable!r}"
            )
        self._trainable = trainable
        self.dtype_policy = dtype
        self.autocast = autocast
        self.supports_masking = type(self).compute_mask is not Layer.compute_mask
        self.input_spec: InputSpecs = None
        self.built = False
        self._build_shapes: dict[str, Nested[Shape]] = {}
        self._path = ""

    # -- build --------------------------------------------------------------------------------

    def build(self, *shapes: Any, **named_shapes: Any) -> None:
        """Make the variables; layers with variables have a ``build`` of their own."""
        if shapes and shapes[0] is not None and not self.built:
            self._build_shapes = {"input_shape": shapes[0]}
        self.built = True

    def _build_at_init(self) -> None:
        """Mark the layer as built, unless a subclass has something to build."""
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
            shapes = {name: _as_shapes(shape) for name, shape in config["shapes_dict"].items()}
            self._build(shapes)
        elif config.get("input_shape") is not None:
            self.build(_as_shapes(config["input_shape"]))

    def _build(self, shapes: dict[str, Nested[Shape]]) -> None:
        """Build with the shapes of ``call``'s inputs, each under its name with ``_shape`` added."""
        build = type(self).build
        parameters = shape_parameters(build, False)
        if parameters is None or len(parameters) == 1:
            self.build(next(iter(shapes.values()), None))
        else:
            accepted = {name: shape for name, shape in shapes.items() if name in parameters}
            try:
                signature(build).bind(self, **accepted)
            except TypeError as error:
                raise ValueError(
                    f"{type(self).__name__}: build must take the shapes of inputs of call, by "
                    f"their names with _shape added, such as {[*shapes]}; {error}"
                ) from None
            self.build(**accepted)

    # -- call ---------------------------------------------------------------------------------

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; each layer has its own."""
        raise NotImplementedError(f"{type(self).__name__} has no method call")

    @property
    def _call_has_training_arg(self) -> bool:
        return call_signature(self).takes_training

    @property
    def _call_has_mask_arg(self) -> bool:
        return "mask" in call_signature(self).mask_names

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_path" not in self.__dict__:
            raise RuntimeError(f"{type(self).__name__}: __init__ must call super().__init__()")
        parameters = call_signature(self)
        if not (len(args) == 1 and type(args[0]) is Tensor and not kwargs):
            args, kwargs = self._converted(args, kwargs)
        if self.input_spec is not None:
            check_inputs(self.input_spec, _first_input(args, kwargs), self.name)
        outer_context = call_context.get()
        outermost, outer_training = outer_context
        training = kwargs.get("training")
        if training is None:
            training = parameters.default_training if outer_training is None else outer_training
        call_context.set((self if outermost is None else outermost, training))
        try:
            if outermost is None and not stateless_scopes.get():
                self._clear_losses()
            with name_scope(self.name, self):
                return self._call_in_scope(parameters, args, kwargs, training)
        except MISUSE as error:
            if ": " in str(error):
                raise
            raise_explained(type(self), error, *self.__dict__["_arguments"])
        finally:
            self.__dict__["_is_called"] = False
            call_context.set(outer_context)

    def _call_in_scope(
        self,
        parameters: CallSignature,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        training: bool | None,
    ) -> Any:
        """Build the layer if necessary; return the outputs, symbolic ones for symbolic inputs."""
        inputs = _first_input(args, kwargs)
        node_kwargs = dict(kwargs) if any_symbolic(args, kwargs) else None
        kwargs.pop("training", None)
        if not self.built:
            self._path = current_path()
            self._build(parameters.input_shapes(args, kwargs))
            self.built = True
        self.__dict__["_is_called"] = True
        if parameters.mask_names:
            kwargs = {**kwargs, **_carried_masks(parameters, args, kwargs)}
        previous_mask = kwargs.get("mask")
        if previous_mask is None:
            previous_mask = _masks_of(inputs)
        if node_kwargs is None:
            if parameters.takes_training:
                kwargs["training"] = training
            outputs = self.call(*args, **kwargs)
            self._add_loss_of(outputs)
        else:
            outputs = self.compute_output_spec(*args, **kwargs)
        self._pass_masks_on(inputs, outputs, previous_mask)
        if node_kwargs is not None:
            if self._shares_kwargs_with_node(args, node_kwargs):
                node_kwargs = self._with_context(parameters, node_kwargs, kwargs, training)
            Node(self, args, node_kwargs, outputs)
        return outputs

    def _converted(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Make tensors of arrays, and of lists of numbers as the first argument."""
        if args and isinstance(args[0], (list, tuple)):
            leaves = flatten(args[0])
            if leaves and all(isinstance(leaf, (int, float, str)) for leaf in leaves):
                args = (tensor(args[0]), *args[1:])
        for leaf in flatten(args[1:]):
            if isinstance(leaf, (int, float, str)):
                raise ValueError(
                    f"{type(self).__name__}: only tensors may be positional arguments after the "
                    f"first; pass {leaf!r} by its argument's name"
                )
        return (
            map_structure(as_tensor, args),
            {name: map_structure(as_tensor, value) for name, value in kwargs.items()},
        )

    def _add_loss_of(self, outputs: Nested[Tensor]) -> None:
        """Add the activity regularizer's penalty for outputs, divided by the batch size."""
        if self.activity_regularizer is not None:
            for output in flatten(outputs):
                loss = self.activity_regularizer(output)
                self.add_loss(loss / max(output.shape[0], 1) if output.shape else loss)

    def stateless_call(
        self,
        trainable_variables: Iterable[Tensor],
        non_trainable_variables: Iterable[Tensor],
        *args: Any,
        return_losses: bool = False,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Call with other values of the variables, which do not change.

        Returns the outputs, then the values that the non-trainable variables would have after the
        call, then the losses with ``return_losses``.

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
        pairs: list[tuple[EngineVariable, Tensor]] = []
        for argument, variables, values in (
            ("trainable_variables", self.trainable_variables, list(trainable_variables)),
            ("non_trainable_variables", state, list(non_trainable_variables)),
        ):
            if len(variables) != len(values):
                raise ValueError(
                    f"stateless_call: {argument} must be {len(variables)} values, one for each "
                    f"variable, but got {len(values)}"
                )
            pairs += zip(variables, values, strict=True)
        with StatelessScope(pairs) as scope:
            outputs = self(*args, **kwargs)
            next_state = [scope.get_current_value(variable) for variable in state]
            losses = (self.losses,) if return_losses else ()
            return (outputs, next_state, *losses)

    # -- nodes --------------------------------------------------------------------------------

    def _shares_kwargs_with_node(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a node has the arguments that ``__call__`` adds to those of the call.

        In Keras it does where no argument needed to be converted: the node's arguments are then
        the very dictionary that ``__call__`` adds to.
        """
        return not self._converts_inputs or (
            not kwargs
            and len(args) == 1
            and type(args[0]) is KerasTensor
            and args[0].dtype is self.input_dtype
        )

    def _with_context(
        self,
        parameters: CallSignature,
        node_kwargs: dict[str, Any],
        kwargs: dict[str, Any],
        training: bool | None,
    ) -> dict[str, Any]:
        """Return the keyword arguments of a node, with masks and ``training`` added."""
        masks = {name: value for name, value in kwargs.items() if name in parameters.mask_names}
        completed = {**node_kwargs, **masks}
        if training is not None and parameters.takes_training and call_context.get()[0] is self:
            completed["training"] = training
        return completed

    # -- masks --------------------------------------------------------------------------------

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return the mask of the outputs; by default that of the inputs."""
        return previous_mask

    def _pass_masks_on(
        self,
        inputs: Nested[SymbolicOrTensor] | None,
        outputs: Nested[SymbolicOrTensor],
        previous_mask: _Masks,
    ) -> None:
        """Attach the mask that ``compute_mask`` returns to outputs without one."""
        has_masks = previous_mask is not None and (
            type(previous_mask) is Tensor
            or any(mask is not None for mask in flatten(previous_mask))
        )
        if not self.supports_masking:
            if has_masks:
                warn(
                    f"Layer {self.name!r} (of type {type(self).__name__}) was passed an input with "
                    "a mask attached to it. However, this layer does not support masking and will "
                    "therefore destroy the mask information.",
                    stacklevel=5,
                )
            return
        if not has_masks and type(self).compute_mask is Layer.compute_mask:
            return
        if all(mask_of(output) is not None for output in flatten(outputs)):
            return
        masks = self.compute_mask(inputs, previous_mask)
        if masks is None:
            return
        # There may be fewer masks than outputs: the remaining outputs have none.
        for output, mask in zip(flatten(outputs), flatten(masks), strict=False):
            if mask is not None and mask_of(output) is None:
                output._keras_mask = mask

    # -- shapes -------------------------------------------------------------------------------

    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shape of the outputs for the shapes of inputs."""

        def symbol(shape: Shape) -> KerasTensor:
            return KerasTensor(shape, self.compute_dtype)

        inputs = [map_shapes(symbol, shape) for shape in args]
        named_inputs = {
            name.removesuffix("_shape"): map_shapes(symbol, shape) for name, shape in kwargs.items()
        }
        if args and not self.built:
            self._build({"input_shape": args[0]})
        outputs = super().compute_output_spec(*inputs, **named_inputs)
        return map_structure(lambda output: output.shape, outputs)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return symbolic tensors like the outputs of ``call``."""
        if type(self).compute_output_shape is Layer.compute_output_shape:
            return super().compute_output_spec(*args, **kwargs)
        if type(self).build is Layer.build and not all(layer.built for layer in self._layers):
            with suppress(Exception):  # where it cannot be traced, the first call builds them
                super().compute_output_spec(*args, **kwargs)
        method = type(self).compute_output_shape
        parameters = shape_parameters(method, self.compute_output_shape is method)
        if parameters is None or len(parameters) == 1:
            inputs = args[0] if args else next(iter(kwargs.values()))
            output_shape = self.compute_output_shape(
                map_structure(lambda symbol: symbol.shape, inputs)
            )
        else:
            shapes = call_signature(self).input_shapes(args, kwargs)
            output_shape = self.compute_output_shape(
                **{name: shape for name, shape in shapes.items() if name in parameters}
            )
        return map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), output_shape)

    # -- configurations -----------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        if not _keeps_arguments(type(self)):
            return declared_config(self)
        config = {**self._init_arguments(), **declared_config(self)}
        if "name" not in accepted_arguments(type(self)):
            del config["name"]
        return config

    def _config_value(self, name: str) -> Any:
        if name == "dtype":
            return dtype_policies.serialize(self.dtype_policy)
        return super()._config_value(name)

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dtype_policies.without_quantization(config)
        if isinstance(config.get("dtype"), dict):
            config["dtype"] = dtype_policies.deserialize(config["dtype"])
        try:
            return super().from_config(config) if _keeps_arguments(cls) else cls(**config)
        except (TypeError, ValueError) as error:
            reason = getattr(error, "unexplained", error)
            raise TypeError(
                f"{cls.__name__} cannot be made of its configuration {config}: {reason}. Let "
                "__init__ take **kwargs for super().__init__, or override from_config"
            ) from error

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def _first_input(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the first argument of a call, or None."""
    return args[0] if args else next(iter(kwargs.values()), None)


# -- masks of calls ----------------------------------------------------------------------------


def _masks_of(inputs: Any) -> _Masks:
    """Return the masks of a structure of tensors, in the same structure."""
    masks: _Masks = mask_of(inputs) if type(inputs) is Tensor else map_structure(mask_of, inputs)
    return masks


def _carried_masks(
    parameters: CallSignature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, _Masks]:
    """Return the masks that inputs carry, for the arguments of ``call`` that were not passed.

    The argument for the mask of a single input is ``mask``; with several inputs it is the name of
    the input with ``_mask`` added.
    """
    arguments = parameters.named(args, kwargs)
    inputs = {name: value for name, value in arguments.items() if _is_input(value)}
    carried: dict[str, _Masks] = {}
    for name, value in inputs.items():
        mask_name = "mask" if len(inputs) == 1 else f"{name}_mask"
        if mask_name in parameters.mask_names and arguments.get(mask_name) is None:
            carried[mask_name] = _masks_of(value)
    return carried


def _is_input(value: object) -> bool:
    """Whether a value is a tensor, or a structure of tensors and None."""
    if isinstance(value, (Tensor, KerasTensor)):
        return True
    leaves = flatten(value) if is_nested(value) else []
    return bool(leaves) and all(
        leaf is None or isinstance(leaf, (Tensor, KerasTensor)) for leaf in leaves
    )


# -- shapes of builds --------------------------------------------------------------------------


def _recorded(build: Callable[..., None]) -> Callable[..., None]:
    """Wrap a ``build``, to record its shapes and to name its variables after the layer."""

    @wraps(build)
    def recorded(self: Layer, *args: Any, **kwargs: Any) -> None:
        is_outermost = not self.built and not self._build_shapes
        if is_outermost:
            names = shape_parameters(recorded, False) or ("input_shape",)
            self._build_shapes = {**dict(zip(names, args, strict=False)), **kwargs}
        with name_scope(self.name, self):
            self._path = current_path()
            build(self, *args, **kwargs)
        self.built = True

    return recorded


def _as_shapes(shapes: Any) -> Any:
    """Return the shapes of a configuration as tuples, since JSON has lists."""
    return None if shapes is None else map_shapes(tuple, shapes)


# -- configurations ----------------------------------------------------------------------------


def _keeps_arguments(cls: type) -> bool:
    """Whether a configuration has the arguments that the object was created with.

    That is so for users' classes without a ``get_config``, unless they derive from a class of the
    library with arguments of its own.
    """
    library_class = next(base for base in cls.__mro__ if is_library_class(base))
    return getattr(cls, "get_config", None) is Layer.get_config and (
        accepted_arguments(library_class) == accepted_arguments(Layer)
    )
