"""webtensor: tensors, automatic differentiation and training in the browser, from Python.

The names here are the public API; import it as ``wt``.
"""

from webtensor import backends as _backends
from webtensor import optimizers as optimizers
from webtensor.autodiff import (
    custom_grad,
    grad,
    grads,
    value_and_grad,
    value_and_grads,
    variable_grads,
)
from webtensor.browser import next_frame
from webtensor.dtypes import DType, bool_, float32, int32
from webtensor.engine import (
    Tensor,
    Variable,
    available_backends,
    backend,
    disable_debug_mode,
    dispose,
    enable_debug_mode,
    find_backend,
    get_backend,
    keep,
    memory,
    profile,
    ready,
    register_backend,
    registered_backends,
    remove_backend,
    set_backend,
    tidy,
    time,
    unavailable_reason,
)
from webtensor.environment import env
from webtensor.errors import (
    BackendError,
    BackendUnavailableError,
    ContextLostError,
    KernelNotFoundError,
)
from webtensor.ops import *

bool = bool_

__version__ = "0.1.0"

for _name, _factory, _priority in _backends.builtin_backends():
    register_backend(_name, _factory, _priority)
