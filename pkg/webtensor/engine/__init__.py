"""The engine: tensors and their storage, running primitives on backends, scopes, inspection.

``tensor``, ``variable``, ``tensor_buffers`` and ``storage`` define tensors; ``operands`` and
``convert`` make them of users' values; ``primitive``, ``dispatch`` and ``backend_registry`` run
operations on them, ``placement`` on the host if that is nearer; ``plans`` repeats calls without
inferring anything again; ``extension`` is for users' own ops; ``warmup`` prepares a function's
programs; ``scopes``, ``inspection`` and ``profiling`` are TensorFlow.js's tidy, keep, memory,
profile and time. ``state`` has what is active now.
"""

from typing import TYPE_CHECKING

from webtensor.engine.backend_registry import (
    available_backends,
    backend,
    find_backend,
    get_backend,
    priority_reason,
    ready,
    register_backend,
    registered_backends,
    remove_backend,
    set_backend,
    unavailable_reason,
)
from webtensor.engine.dispatch import alias, run
from webtensor.engine.inspection import disable_debug_mode, enable_debug_mode, memory
from webtensor.engine.operands import TensorLike, as_operand, as_operands, constant, from_host
from webtensor.engine.placement import near_its_operands, where_integers_are_whole
from webtensor.engine.plans import Plans, keep_plan, planned, run_plan
from webtensor.engine.primitive import Gradient, Primitive
from webtensor.engine.scopes import dispose, keep, tidy
from webtensor.engine.state import state
from webtensor.engine.storage import Storage
from webtensor.engine.tensor import Tensor
from webtensor.engine.variable import Variable
from webtensor.lazy_contents import lazy_contents

__all__ = [
    "Gradient",
    "KernelRecord",
    "Plans",
    "Primitive",
    "Profile",
    "Storage",
    "Tensor",
    "TensorBuffer",
    "TensorLike",
    "TimingResult",
    "Variable",
    "alias",
    "as_operand",
    "as_operands",
    "available_backends",
    "backend",
    "buffer",
    "constant",
    "copy_registered_kernels",
    "deregister_op",
    "disable_debug_mode",
    "dispose",
    "enable_debug_mode",
    "find_backend",
    "from_host",
    "get_backend",
    "get_gradient",
    "get_kernel",
    "get_kernels_for_backend",
    "keep",
    "keep_plan",
    "memory",
    "near_its_operands",
    "planned",
    "priority_reason",
    "profile",
    "profile_async",
    "ready",
    "register_backend",
    "register_gradient",
    "register_kernel",
    "register_op",
    "registered_backends",
    "remove_backend",
    "run",
    "run_plan",
    "set_backend",
    "state",
    "tidy",
    "time",
    "time_async",
    "unavailable_reason",
    "unregister_gradient",
    "unregister_kernel",
    "warm_up",
    "where_integers_are_whole",
]

if TYPE_CHECKING:
    from webtensor.engine.extension import (
        copy_registered_kernels,
        deregister_op,
        get_gradient,
        get_kernel,
        get_kernels_for_backend,
        register_gradient,
        register_kernel,
        register_op,
        unregister_gradient,
        unregister_kernel,
    )
    from webtensor.engine.profiling import (
        KernelRecord,
        Profile,
        TimingResult,
        profile,
        profile_async,
        time,
        time_async,
    )
    from webtensor.engine.tensor_buffers import TensorBuffer, buffer
    from webtensor.engine.warmup import warm_up
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        {
            "extension": [
                "copy_registered_kernels",
                "deregister_op",
                "get_gradient",
                "get_kernel",
                "get_kernels_for_backend",
                "register_gradient",
                "register_kernel",
                "register_op",
                "unregister_gradient",
                "unregister_kernel",
            ],
            "profiling": [
                "KernelRecord",
                "Profile",
                "TimingResult",
                "profile",
                "profile_async",
                "time",
                "time_async",
            ],
            "tensor_buffers": ["TensorBuffer", "buffer"],
            "warmup": ["warm_up"],
        },
    )
