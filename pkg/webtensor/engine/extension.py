"""Users' own ops: kernels for any backend, gradients, and the function that runs them.

A kernel is called as ``kernel(backend, inputs, shape, dtype, *attributes)`` with operands on its
backend, and returns the handle of its result (see ``backends/api.py``). A gradient rule is
``rule(dy, y, *inputs, *attributes)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor.arguments import check_callable
from webtensor.backends.api import Kernel
from webtensor.dtypes import as_dtype
from webtensor.engine import backend_registry
from webtensor.engine.dispatch import run
from webtensor.engine.operands import TensorLike, as_operand
from webtensor.engine.primitive import Gradient, Primitive
from webtensor.engine.tensor import Tensor
from webtensor.shapes import Shape, as_shape

__all__ = [
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
]

#: ``infer(*inputs, *attributes)`` returns the shape and the dtype of the result.
Inference = Callable[..., tuple[Shape, Any]]

_ops: dict[str, Primitive] = {}
_gradients: dict[str, tuple[Gradient | None, ...]] = {}


def register_kernel(name: str, backend: str, kernel: Kernel) -> None:
    """Give a backend a kernel, or replace the one it has.

    Raises:
        TypeError: the kernel is not callable.
        ValueError: the backend is not registered.

    Example:
        >>> import webtensor as wt
        >>> kernel = lambda backend, inputs, shape, dtype: inputs[0] * 3
        >>> wt.register_kernel("thrice", "numpy", kernel)
        >>> callable(wt.get_kernel("thrice", "numpy"))
        True
        >>> wt.unregister_kernel("thrice", "numpy")
    """
    check_callable("register_kernel", "kernel", kernel)
    backend_registry.add_kernel(backend, name, kernel)


def unregister_kernel(name: str, backend: str) -> None:
    """Remove a backend's kernel.

    Raises:
        ValueError: the backend has no such kernel.

    Example:
        >>> import webtensor as wt
        >>> kernel = lambda backend, inputs, shape, dtype: inputs[0] * 3
        >>> wt.register_kernel("thrice", "numpy", kernel)
        >>> wt.unregister_kernel("thrice", "numpy")
        >>> print(wt.get_kernel("thrice", "numpy"))
        None
    """
    backend_registry.remove_kernel(backend, name)


def get_kernel(name: str, backend: str) -> Callable[..., Any] | None:
    """Return a backend's kernel, or None if it has no such kernel or cannot start here.

    Example:
        >>> import webtensor as wt
        >>> callable(wt.get_kernel("cast", "numpy"))
        True
    """
    started = backend_registry.find_backend(backend)
    return None if started is None else started.kernels.get(name)


def get_kernels_for_backend(backend: str) -> list[str]:
    """Names of a backend's kernels, sorted; empty if it cannot start here.

    Example:
        >>> import webtensor as wt
        >>> "cast" in wt.get_kernels_for_backend("numpy")
        True
    """
    started = backend_registry.find_backend(backend)
    return [] if started is None else sorted(started.kernels)


def copy_registered_kernels(source: str, destination: str) -> None:
    """Register for one backend all kernels that ``register_kernel`` registered for another.

    Raises:
        ValueError: the destination is not registered.

    Example:
        >>> import webtensor as wt
        >>> wt.copy_registered_kernels("numpy", "wasm")
    """
    for name, kernel in backend_registry.added_kernels(source).items():
        backend_registry.add_kernel(destination, name, kernel)


def register_gradient(name: str, rules: Sequence[Gradient | None]) -> None:
    """Set the gradient of an op made by ``register_op``: one rule for each input, or None.

    It may be registered before the op.

    Example:
        >>> import webtensor as wt
        >>> wt.register_gradient("thrice", [lambda dy, y, x: dy * 3])
        >>> len(wt.get_gradient("thrice"))
        1
        >>> wt.unregister_gradient("thrice")
    """
    _gradients[name] = tuple(rules)
    if name in _ops:
        _ops[name].gradients = _gradients[name]


def unregister_gradient(name: str) -> None:
    """Remove a registered gradient.

    Raises:
        ValueError: there is none.

    Example:
        >>> import webtensor as wt
        >>> wt.register_gradient("thrice", [lambda dy, y, x: dy * 3])
        >>> wt.unregister_gradient("thrice")
        >>> print(wt.get_gradient("thrice"))
        None
    """
    if _gradients.pop(name, None) is None:
        raise ValueError(f"unregister_gradient: no gradient is registered for {name!r}")
    if name in _ops:
        _ops[name].gradients = None


def get_gradient(name: str) -> tuple[Gradient | None, ...] | None:
    """Return the rules registered for an op, or None.

    Example:
        >>> import webtensor as wt
        >>> wt.register_gradient("thrice", [lambda dy, y, x: dy * 3])
        >>> len(wt.get_gradient("thrice"))
        1
        >>> wt.unregister_gradient("thrice")
    """
    return _gradients.get(name)


def register_op(name: str, infer: Inference, inputs: int = 1) -> Callable[..., Tensor]:
    """Make an op of your own and return the function that runs it.

    ``infer(*inputs, *attributes)`` checks the tensors and returns the result's shape and dtype.
    The function takes ``inputs`` tensors, then attributes, which kernels and gradient rules get.

    Raises:
        ValueError: an op of this name is registered.

    Example:
        >>> import webtensor as wt
        >>> twice = wt.register_op("twice", lambda x: (x.shape, x.dtype))
        >>> wt.register_kernel("twice", "numpy", lambda backend, inputs, shape, dtype:
        ...     inputs[0].storage.handle * 2)
        >>> wt.register_gradient("twice", [lambda dy, y, x: dy * 2])
        >>> twice([1.0, 2.0]).tolist(), wt.grad(twice)([1.0, 2.0]).tolist()
        ([2.0, 4.0], [2.0, 2.0])
        >>> wt.deregister_op("twice")
    """
    if name in _ops:
        raise ValueError(f"register_op: an op named {name!r} is registered")
    primitive = _ops[name] = Primitive(name, gradients=_gradients.get(name))

    def op(*arguments: TensorLike) -> Tensor:
        if len(arguments) < inputs:
            raise TypeError(f"{name}: wanted {inputs} tensors, but got {len(arguments)} arguments")
        operands = tuple(as_operand(name, argument) for argument in arguments[:inputs])
        attributes = arguments[inputs:]
        shape, dtype = infer(*operands, *attributes)
        return run(primitive, operands, as_shape(name, shape), as_dtype(dtype), *attributes)

    op.__name__ = name
    return op


def deregister_op(name: str) -> None:
    """Remove an op, its gradient and its kernels.

    Raises:
        ValueError: no op of this name is registered.

    Example:
        >>> import webtensor as wt
        >>> op = wt.register_op("thrice", lambda x: (x.shape, x.dtype))
        >>> wt.deregister_op("thrice")
    """
    if _ops.pop(name, None) is None:
        raise ValueError(f"deregister_op: no op named {name!r} is registered")
    _gradients.pop(name, None)
    for backend in backend_registry.registered_backends():
        if name in backend_registry.added_kernels(backend):
            backend_registry.remove_kernel(backend, name)
