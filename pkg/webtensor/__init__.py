"""webtensor: tensors, automatic differentiation and training in the browser, from Python.

The names here are the public API; import it as ``wt``.
"""

import typing as _typing
from functools import partial as _partial
from importlib import import_module as _import_module
from inspect import isfunction as _isfunction, ismodule as _ismodule
from sys import modules as _modules

from webtensor import backends as _backends, ops as _ops
from webtensor.dtypes import (
    DType as DType,
    bool_ as bool_,
    complex64 as complex64,
    complex128 as complex128,
    float32 as float32,
    float64 as float64,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    string_ as string_,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)
from webtensor.engine import (
    Tensor as Tensor,
    Variable as Variable,
    available_backends as available_backends,
    backend as backend,
    dispose as dispose,
    find_backend as find_backend,
    get_backend as get_backend,
    keep as keep,
    priority_reason as priority_reason,
    ready as ready,
    register_backend as register_backend,
    registered_backends as registered_backends,
    remove_backend as remove_backend,
    set_backend as set_backend,
    tidy as tidy,
    unavailable_reason as unavailable_reason,
)
from webtensor.environment import env as env
from webtensor.errors import (
    AxisError as AxisError,
    BackendError as BackendError,
    BackendUnavailableError as BackendUnavailableError,
    CaptureError as CaptureError,
    ContextLostError as ContextLostError,
    KernelNotFoundError as KernelNotFoundError,
    ModelFormatError as ModelFormatError,
    OutOfMemoryError as OutOfMemoryError,
    TensorSizeError as TensorSizeError,
)
from webtensor.explanation import (
    explained as _explained,
    explained_functions as _explained_functions,
)
from webtensor.ops.contents import NAMESPACES as _NAMESPACES
from webtensor.version import __version__ as __version__

bool = bool_
globals().update(_explained_functions(_modules[__name__]))

if _typing.TYPE_CHECKING:
    from webtensor import (
        audio as audio,
        browser as browser,
        data as data,
        io as io,
        keras as keras,
        nn as nn,
        random as random,
        text as text,
        train as train,
        vision as vision,
        visor as visor,
        wasm as wasm,
        webgl as webgl,
    )
    from webtensor.autodiff import (
        GradientTape as GradientTape,
        custom_grad as custom_grad,
        grad as grad,
        grads as grads,
        value_and_grad as value_and_grad,
        value_and_grads as value_and_grads,
        variable_grads as variable_grads,
    )
    from webtensor.browser import next_frame as next_frame
    from webtensor.convert import convert_model as convert_model
    from webtensor.data import TensorSpec as TensorSpec
    from webtensor.engine import (
        TensorBuffer as TensorBuffer,
        buffer as buffer,
        copy_registered_kernels as copy_registered_kernels,
        deregister_op as deregister_op,
        disable_debug_mode as disable_debug_mode,
        enable_debug_mode as enable_debug_mode,
        get_gradient as get_gradient,
        get_kernel as get_kernel,
        get_kernels_for_backend as get_kernels_for_backend,
        memory as memory,
        profile as profile,
        profile_async as profile_async,
        register_gradient as register_gradient,
        register_kernel as register_kernel,
        register_op as register_op,
        time as time,
        time_async as time_async,
        unregister_gradient as unregister_gradient,
        unregister_kernel as unregister_kernel,
        warm_up as warm_up,
    )
    from webtensor.graph import (
        GraphModel as GraphModel,
        deregister_graph_op as deregister_graph_op,
        load_graph_model as load_graph_model,
        load_graph_model_async as load_graph_model_async,
        register_graph_op as register_graph_op,
    )
    from webtensor.keras import (
        activations as activations,
        callbacks as callbacks,
        constraints as constraints,
        initializers as initializers,
        layers as layers,
        metrics as metrics,
        models as models,
        optimizers as optimizers,
        regularizers as regularizers,
    )
    from webtensor.keras.layers import Input as Input, Layer as Layer
    from webtensor.keras.models import Model as Model, Sequential as Sequential
    from webtensor.onnx import (
        OnnxModel as OnnxModel,
        load_onnx as load_onnx,
        load_onnx_async as load_onnx_async,
    )
    from webtensor.ops import *
    from webtensor.ops.array_api import (
        __array_api_version__ as __array_api_version__,
        __array_namespace_info__ as __array_namespace_info__,
    )
    from webtensor.ops.tfjs_methods import print as print
    from webtensor.programs import Function as Function, function as function
    from webtensor.tflite import (
        TFLiteModel as TFLiteModel,
        load_tflite as load_tflite,
        load_tflite_async as load_tflite_async,
    )
    from webtensor.transforms import (
        cond as cond,
        hessian as hessian,
        jacobian as jacobian,
        jvp as jvp,
        scan as scan,
        vjp as vjp,
        vmap as vmap,
        while_loop as while_loop,
    )
else:
    #: The public names of each module that are imported when they are first used.
    _HOMES = {
        name: module
        for module, names in {
            "autodiff": [
                "GradientTape",
                "custom_grad",
                "grad",
                "grads",
                "value_and_grad",
                "value_and_grads",
                "variable_grads",
            ],
            "browser": ["next_frame"],
            "convert": ["convert_model"],
            "data": ["TensorSpec"],
            "engine": [
                "TensorBuffer",
                "buffer",
                "copy_registered_kernels",
                "deregister_op",
                "disable_debug_mode",
                "enable_debug_mode",
                "get_gradient",
                "get_kernel",
                "get_kernels_for_backend",
                "memory",
                "profile",
                "profile_async",
                "register_gradient",
                "register_kernel",
                "register_op",
                "time",
                "time_async",
                "unregister_gradient",
                "unregister_kernel",
                "warm_up",
            ],
            "graph": [
                "GraphModel",
                "deregister_graph_op",
                "load_graph_model",
                "load_graph_model_async",
                "register_graph_op",
            ],
            "keras": [
                "Input",
                "Layer",
                "Model",
                "Sequential",
                "activations",
                "callbacks",
                "constraints",
                "initializers",
                "layers",
                "metrics",
                "models",
                "optimizers",
                "regularizers",
            ],
            "onnx": ["OnnxModel", "load_onnx", "load_onnx_async"],
            "ops": _ops.__all__,
            "ops.tfjs_methods": ["print"],
            "programs": ["Function", "function"],
            "tflite": ["TFLiteModel", "load_tflite", "load_tflite_async"],
            "transforms": [
                "cond",
                "hessian",
                "jacobian",
                "jvp",
                "scan",
                "vjp",
                "vmap",
                "while_loop",
            ],
        }.items()
        for name in names
    }
    #: Their functions are no ops, and their errors name what they are about.
    _WITHOUT_OPS = ("convert", "data", "graph", "keras", "onnx", "tflite")
    _MODULES = (
        *("audio", "browser", "data", "io", "keras", "nn", "random", "text", "train"),
        *("vision", "visor", "wasm", "webgl"),
    )

    def _refuse(module: object, name: str) -> _typing.NoReturn:
        from webtensor.peer_names import missing_attribute

        raise missing_attribute(module, name)

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            value = getattr(_import_module(f"webtensor.{_HOMES[name]}"), name)
        elif name in _MODULES:
            value = _import_module(f"webtensor.{name}")
        else:
            _refuse(_modules[__name__], name)
        if name in _NAMESPACES:
            refuse = _partial(_refuse, value)
            vars(value).update(_explained_functions(value), __getattr__=refuse)
        elif _isfunction(value) and _HOMES[name] not in _WITHOUT_OPS:
            value = _explained(value)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return __all__

    #: The names imported above, without those of modules, and the names imported later.
    __all__ = [  # noqa: PLE0604  (they are strings)
        "__version__",
        *(
            name
            for name, value in globals().items()
            if not name.startswith("_") and not _ismodule(value)
        ),
        *_HOMES,
        *_MODULES,
    ]


for _name, _factory, _priority in _backends.builtin_backends():
    register_backend(_name, _factory, _priority)
