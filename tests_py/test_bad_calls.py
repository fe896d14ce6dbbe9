"""A bad value for every argument of every public op: a clear error, and nothing left behind.

Each row takes a good call, from the table of op cases or from ``GOOD_CALLS``, and puts a value that
no op accepts in place of one argument. What is wrong with particular shapes, axes, indices and
options is in the ``test_bad_input`` modules.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import cache, reduce
from inspect import BoundArguments, Parameter, iscoroutine, isfunction, signature
from typing import Any

import pytest

import webtensor as wt
from tests_py.cases import FAMILIES
from tests_py.cases.runner import as_argument, as_tensor
from tests_py.completeness import NAMES_OF_NO_OP

NAMESPACES = (
    "image",
    "linalg",
    "signal",
    "spectral",
    "sparse",
    "string",
    "math",
    "fused",
    "losses",
    "train",
    "fft",
)

#: Functions that compute no tensors from tensors; their own modules test their bad input.
NO_OPS = NAMES_OF_NO_OP | {
    "available_backends",
    "broadcast_shapes",
    "can_cast",
    "convert_model",
    "deregister_graph_op",
    "disable_debug_mode",
    "finfo",
    "from_dlpack",
    "iinfo",
    "isdtype",
    "load_graph_model",
    "load_graph_model_async",
    "load_onnx",
    "load_onnx_async",
    "load_tflite",
    "load_tflite_async",
    "priority_reason",
    "profile_async",
    "register_graph_op",
    "registered_backends",
    "result_type",
    "set_random_seed",
    "signal.enclosing_power_of_two",
    "time_async",
    "unavailable_reason",
    "warm_up",
}

MATRIX = [[2.0, 1.0], [1.0, 3.0]]
BOXES, SCORES = [[0.0, 0.0, 1.0, 1.0]], [0.5]


def cell(x: wt.Tensor, c: wt.Tensor, h: wt.Tensor) -> tuple[wt.Tensor, wt.Tensor]:
    return c + x, h + x


#: Arguments of good calls, for functions without rows in the table, or whose rows leave out
#: arguments that are only read together with others.
GOOD_CALLS: dict[str, tuple[Any, ...]] = {
    "array": ([1.0, 2.0],),
    "asarray": ([1.0, 2.0],),
    "dropout": ([1.0, 2.0], 0.5),
    "empty": ((2, 3),),
    "empty_like": (MATRIX,),
    "function": (wt.exp,),
    "cond": (True, lambda: wt.ones(()), lambda: wt.zeros(())),
    "hessian": (wt.sum,),
    "jacobian": (wt.sin,),
    "jvp": (wt.sin, [wt.ones((2,))], [wt.ones((2,))]),
    "scan": (lambda carry, x: (carry, x), 0.0, [1.0, 2.0]),
    "vjp": (wt.sin, [1.0, 2.0]),
    "vmap": (wt.sin,),
    "while_loop": (lambda x: False, lambda x: x, 0.0, 9),
    "positive": (MATRIX,),
    "rand": ((2, 3), lambda: 0.5),
    "multi_rnn_cell": ([cell], [[1.0]], [[[0.0]]], [[[0.0]]]),
    "moving_average": ([1.0], [2.0], 0.5, 3),
    "signal.frame": ([1.0, 2.0, 3.0], 2, 1, True, 0.0),
    "linalg.eigh": (MATRIX,),
    "linalg.slogdet": (MATRIX,),
    "linalg.svd": (MATRIX,),
    "image.non_max_suppression_async": (BOXES, SCORES, 1),
    "image.non_max_suppression_padded_async": (BOXES, SCORES, 1),
    "image.non_max_suppression_with_score_async": (BOXES, SCORES, 1),
    "train.sgd": (0.1,),
    "train.momentum": (0.1, 0.9),
    "train.adagrad": (0.1,),
    "train.adadelta": (),
    "train.adam": (),
    "train.adamax": (),
    "train.rmsprop": (0.1,),
}

#: Options without which an argument is not read.
WITH_OPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    (f"fused.{name}", argument): {"activation": activation}
    for name in ("conv2d", "depthwise_conv2d", "mat_mul")
    for argument, activation in (
        ("prelu_activation_weights", "prelu"),
        ("leakyrelu_alpha", "leakyrelu"),
    )
}

#: Arguments that have no bad value, and why.
WITHOUT_BAD_VALUE = {
    "fft.fftfreq.device": "taken for the array API standard: tensors move to where they are used",
    "fft.rfftfreq.device": "taken for the array API standard: tensors move to where they are used",
    "asarray.copy": "a truth value or None, as reshape.copy",
    "reshape.copy": "a truth value or None",
}

#: What an error says instead of an argument's name.
WORDINGS = {
    "beta1": "beta_1",
    "beta2": "beta_2",
    "decay": "rho",
    "dtype": "dtype",
    "device": "device must be",
    "axes": "axis must be",
    "s": "must be",
}


#: Functions that are another one with defaults of their own, or a chain of others, and who reads
#: their arguments: its name stands in errors.
READ_BY = {
    "dropout": ("random_uniform",),
    "in_top_k_async": ("in_top_k",),
    "linalg.trace": ("diagonal",),
    "random_standard_normal": ("random_normal",),
    "separable_conv2d": ("depthwise_conv2d",),
    "signal.frame": ("pad",),
    "signal.hamming_window": ("cosine_window",),
    "signal.hann_window": ("cosine_window",),
    "train.adadelta": ("Adadelta",),
    "train.adagrad": ("Adagrad",),
    "train.adam": ("Adam",),
    "train.adamax": ("Adamax",),
    "train.momentum": ("Momentum",),
    "train.rmsprop": ("RMSprop",),
    "train.sgd": ("SGD",),
}

#: Arguments that one reader reads for all functions.
READ_FOR_ALL = {"dtype": "dtype <wrong> is not supported", "device": "to_device: "}


class Wrong:
    """What no op accepts."""

    def __repr__(self) -> str:
        return "<wrong>"


def names_of(module: Any) -> list[str]:
    """Names of a module's own functions."""
    inside = module.__name__
    own = [name for name, member in vars(module).items() if isfunction(member)]
    return getattr(module, "__all__", None) or [
        name for name in own if getattr(module, name).__module__.startswith(inside)
    ]


def public_ops() -> dict[str, Callable[..., Any]]:
    """Every function of the public namespaces by its first name, save for those that are no ops."""
    members = {name: getattr(wt, name) for name in dir(wt) if not name.startswith("_")}
    for namespace in NAMESPACES:
        module = getattr(wt, namespace)
        members |= {f"{namespace}.{name}": getattr(module, name) for name in names_of(module)}
    functions: dict[int, tuple[str, Callable[..., Any]]] = {}
    for name, function in members.items():
        if isfunction(function) and name not in NO_OPS:
            functions.setdefault(id(function), (name, function))
    return dict(functions.values())


OPS = public_ops()


def is_flag(parameter: Parameter) -> bool:
    """Whether an argument is taken by its truth value, which everything in Python has."""
    return str(parameter.annotation) == "bool"


def rows() -> Iterator[Any]:
    for name, function in OPS.items():
        for parameter in signature(function).parameters.values():
            if not is_flag(parameter) and f"{name}.{parameter.name}" not in WITHOUT_BAD_VALUE:
                yield pytest.param(name, parameter.name, id=f"{name}-{parameter.name}")


@cache
def good_case(name: str) -> dict[str, Any] | None:
    """Encode a good call of the table of op cases; None where there is none."""
    cases = [
        case
        for family in FAMILIES.values()
        for case in family
        if case.function == name and not case.derivative
    ]
    return cases[min(1, len(cases) - 1)].encoded() if cases else None


def good_arguments(name: str) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a good call."""
    if name in GOOD_CALLS:
        return list(GOOD_CALLS[name]), {}
    encoded = good_case(name)
    assert encoded is not None, f"no good call of {name}"
    tensors = [as_tensor(tensor) for tensor in encoded["tensors"]]
    args = [as_argument(argument, tensors) for argument in encoded["args"]]
    return args, {key: as_argument(value, tensors) for key, value in encoded["kwargs"].items()}


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = function(*args, **kwargs)
    return asyncio.run(result) if iscoroutine(result) else result


def speakers(name: str, argument: str) -> tuple[str, ...]:
    """How an error about an argument may begin."""
    own = name.rpartition(".")[2]
    names = (own, name, *READ_BY.get(name, ()))
    return (*(f"{public_name}: " for public_name in names), READ_FOR_ALL.get(argument, f"{own}: "))


def message_of_error(function: Callable[..., Any], arguments: BoundArguments) -> str:
    """What the error of a bad call says; the call is made on a tape, in a scope, as in training."""
    try:
        wt.grad(lambda _: call(function, *arguments.args, **arguments.kwargs))(1.0)
    except (TypeError, ValueError, IndexError) as error:
        return str(error)
    return "no error"


@pytest.mark.usefixtures("no_leak")
@pytest.mark.parametrize("name, argument", list(rows()))
def test_a_wrong_argument_is_named_and_nothing_leaks(name: str, argument: str) -> None:
    function = OPS[name]
    args, kwargs = good_arguments(name)
    bound = signature(function).bind(*args, **kwargs)
    bound.arguments |= WITH_OPTIONS.get((name, argument), {})
    variadic = signature(function).parameters[argument].kind is Parameter.VAR_POSITIONAL
    bound.arguments[argument] = (Wrong(),) if variadic else Wrong()
    message = message_of_error(function, bound)
    assert "<wrong>" in message
    elements = "elements must be " in message
    assert elements or argument in message or WORDINGS.get(argument, argument) in message, message
    assert message.startswith(speakers(name, argument)), message


@pytest.mark.parametrize("name", OPS)
def test_the_good_calls_are_good(name: str) -> None:
    args, kwargs = good_arguments(name)
    call(OPS[name], *args, **kwargs)


def test_exceptions_concern_arguments_there_are() -> None:
    for path in WITHOUT_BAD_VALUE:
        name, _, argument = path.rpartition(".")
        function: Any = reduce(getattr, name.split("."), wt)
        assert argument in signature(function).parameters
