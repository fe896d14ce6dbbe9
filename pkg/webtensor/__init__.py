"""webtensor: tensors, automatic differentiation and training in the browser, from Python.

The names here are the public API; import it as ``wt``.
"""

from importlib import import_module as _import_module
from sys import modules as _modules
from typing import TYPE_CHECKING as _TYPE_CHECKING

from webtensor import (
    backends as _backends,
    browser as browser,
    keras as keras,
    ops as _ops,
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
    TensorBuffer as TensorBuffer,
    Variable as Variable,
    available_backends as available_backends,
    backend as backend,
    buffer as buffer,
    copy_registered_kernels as copy_registered_kernels,
    deregister_op as deregister_op,
    disable_debug_mode as disable_debug_mode,
    dispose as dispose,
    enable_debug_mode as enable_debug_mode,
    find_backend as find_backend,
    get_backend as get_backend,
    get_gradient as get_gradient,
    get_kernel as get_kernel,
    get_kernels_for_backend as get_kernels_for_backend,
    keep as keep,
    memory as memory,
    priority_reason as priority_reason,
    profile as profile,
    profile_async as profile_async,
    ready as ready,
    register_backend as register_backend,
    register_gradient as register_gradient,
    register_kernel as register_kernel,
    register_op as register_op,
    registered_backends as registered_backends,
    remove_backend as remove_backend,
    set_backend as set_backend,
    tidy as tidy,
    time as time,
    time_async as time_async,
    unavailable_reason as unavailable_reason,
    unregister_gradient as unregister_gradient,
    unregister_kernel as unregister_kernel,
    warm_up as warm_up,
)
from webtensor.environment import env as env
from webtensor.errors import (
    AxisError as AxisError,
    BackendError as BackendError,
    BackendUnavailableError as BackendUnavailableError,
    ContextLostError as ContextLostError,
    KernelNotFoundError as KernelNotFoundError,
    ModelFormatError as ModelFormatError,
    OutOfMemoryError as OutOfMemoryError,
    TensorSizeError as TensorSizeError,
)
from webtensor.explanation import explained_functions as _explained_functions
from webtensor.ops import *
from webtensor.ops.array_api import (
    __array_api_version__ as __array_api_version__,
    __array_namespace_info__ as __array_namespace_info__,
)
from webtensor.ops.tfjs_methods import print as print
from webtensor.version import __version__ as __version__

bool = bool_

#: Names of the Layers API, of which each module is imported when it is first used.
_LAYERS_API = (
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
)

if _TYPE_CHECKING:
    from webtensor import train as train
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
else:

    def __getattr__(name: str) -> object:
        if name in _LAYERS_API:
            return getattr(keras, name)
        if name == "train":
            return _import_module("webtensor.train")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


for _namespace in (
    _ops.fft,
    _ops.fused,
    _ops.image,
    _ops.linalg,
    _ops.losses,
    _ops.math,
    _ops.signal,
    _ops.sparse,
    _ops.spectral,
    _ops.string,
):
    vars(_namespace).update(_explained_functions(_namespace))
globals().update(_explained_functions(_modules[__name__]))

for _name, _factory, _priority in _backends.builtin_backends():
    register_backend(_name, _factory, _priority)
