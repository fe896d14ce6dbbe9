"""Making a model of a file within the file's budget.

Layers claim what they allocate (``allocations``); kernels check the sizes of their results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.engine import backend_registry
from webtensor.engine.state import state
from webtensor.formats.budgets import Budget
from webtensor.keras.allocations import ModelBudget, active_budgets, check_tensor

__all__ = ["making_model"]


@contextmanager
def making_model(budget: Budget, elements: int) -> Iterator[None]:
    """Limit what layers allocate within the ``with``.

    Args:
        budget: that of the file, from which other memory than that of variables is spent.
        elements: the number of elements that all variables may have together.
    """
    with active_budgets.holding(ModelBudget(budget, elements)), _limited_kernels():
        yield


class _LimitedKernels(dict[str, Callable[..., Handle]]):
    """The kernels of a backend, which check the sizes of their results before they compute."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend.kernels)
        self._backend = backend

    def __getitem__(self, name: str) -> Callable[..., Handle]:
        kernel = super().__getitem__(name)
        if isinstance(kernel, partial):
            kernel = self[name] = self._backend.load_kernel(name)
        label = f"{name}: a tensor"

        def limited(inputs: Sequence[Operand], shape: Sequence[int], *attributes: object) -> Handle:
            check_tensor(shape, label)
            return kernel(inputs, shape, *attributes)

        return limited


@contextmanager
def _limited_kernels() -> Iterator[None]:
    """Check the results of the active backend within the ``with``, and only there."""
    backend = state.backend or backend_registry.activate_default()
    kernels = backend.kernels
    backend.kernels = _LimitedKernels(backend)
    try:
        yield
    finally:
        backend.kernels = kernels
