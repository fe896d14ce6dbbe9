"""The sides of a comparison that run in Python: ours, and the peers that are in the same Pyodide.

`Side` here and `Theirs` in `tensorflow.js` are mirror images: change one only with the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from math import inf, prod
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from js import peer
from pyodide.ffi import to_js

import webtensor as wt
from tests_browser.bench.workload import Input, Timed, Workload

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["PYTHON_PEERS", "Ours", "Side"]


class Side:
    """One side of a workload; what each library has of its own is in the subclasses."""

    def __init__(self, workload: Workload, function: Callable[..., Any]) -> None:
        """Make the inputs and, where the workload wants it, the step."""
        inputs = {
            name: peer.numbers(seed, prod(spec.shape), spec.low, spec.high, spec.dtype).to_py()
            for seed, (name, spec) in enumerate(workload.inputs.items())
        }
        if not workload.from_host:
            inputs = {
                name: self.operand(values, workload.inputs[name]) for name, values in inputs.items()
            }
        self.call: Callable[[], Any] = (
            function(**inputs) if workload.makes_step else partial(function, *inputs.values())
        )
        self.timed, self.awaited = workload.timed, workload.awaited

    def operand(self, values: memoryview, drawn: Input) -> Any:
        """Return an operand with these elements."""
        raise NotImplementedError

    async def read(self, result: Any) -> Any:
        """Return the elements of a result as a JavaScript array."""
        raise NotImplementedError

    async def wait(self, result: Any) -> None:
        """Wait for a result, and thereby for all before it."""

    def flush(self) -> None:
        """Hand over commands that wait to be handed over together."""

    async def close(self) -> None:
        """Free what was not freed with the references to it."""

    async def values(self, calls: int) -> Any:
        """Return the elements of the result of the last of `calls` calls."""
        for _ in range(calls):
            result = await self.call() if self.awaited else self.call()
        return await self.read(result)

    async def sample(self, count: int) -> tuple[float, float]:
        """Time `count` calls; returns milliseconds per call, in all and without the wait."""
        if self.timed is Timed.READ:
            return await self._sample_reads(count)
        call, awaited = self.call, self.awaited
        result = None
        start = perf_counter()
        for _ in range(count):
            result = None  # its memory serves the next, as where peers dispose of theirs
            result = await call() if awaited else call()
        if self.timed is Timed.ENQUEUE:
            self.flush()
        enqueued = perf_counter()
        await self.wait(result)
        end = enqueued if self.timed is Timed.ENQUEUE else perf_counter()
        return (end - start) * 1000 / count, (enqueued - start) * 1000 / count

    async def _sample_reads(self, count: int) -> tuple[float, float]:
        results = [self.call() for _ in range(count)]
        await self.wait(results[-1])
        start = perf_counter()
        for result in results:
            await result.data()
        taken = (perf_counter() - start) * 1000 / count
        return taken, taken


class Ours(Side):
    """Ours."""

    def __init__(self, workload: Workload) -> None:
        """Make tensors, and the step."""
        super().__init__(workload, workload.ours)

    def operand(self, values: memoryview, drawn: Input) -> wt.Tensor:
        """Return a tensor."""
        return wt.tensor(values, shape=drawn.shape, dtype=drawn.dtype)

    async def read(self, result: wt.Tensor) -> Any:
        """Read all elements."""
        return to_js(await result.data())

    async def wait(self, result: wt.Tensor) -> None:
        """Read one element."""
        rank = result.ndim
        corner = wt.slice(result, (0,) * rank, (1,) * rank) if rank else result
        await corner.data()

    def flush(self) -> None:
        """Hand queued draws to the browser; otherwise only theirs would be timed."""
        wt.backend().flush()


class OnOneThread(Ours):
    """Ours again; threads that were started meanwhile sleep."""

    async def values(self, calls: int) -> Any:
        """Call on one thread."""
        with _one_thread():
            return await super().values(calls)

    async def sample(self, count: int) -> tuple[float, float]:
        """Time on one thread."""
        with _one_thread():
            return await super().sample(count)


@contextmanager
def _one_thread() -> Iterator[None]:
    # Starting the threads anew for each sample would take as long as some samples.
    threads = cast("WasmBackend", wt.backend()).threads
    grain, threads.grain = threads.grain, inf
    try:
        yield
    finally:
        threads.grain = grain


class Uncaptured(Ours):
    """Ours, without a capture."""

    def __init__(self, workload: Workload) -> None:
        """Make tensors, and the step."""
        assert workload.uncaptured is not None
        Side.__init__(self, workload, workload.uncaptured)


class NumPy(Side):
    """NumPy, in pages where it was loaded."""

    def __init__(self, workload: Workload) -> None:
        """Make arrays."""
        if workload.numpy is None:
            raise ValueError(f"{workload.name} doesn't say what NumPy computes")
        super().__init__(workload, partial(workload.numpy, import_module("numpy")))

    def operand(self, values: memoryview, drawn: Input) -> Any:
        """Return an array."""
        return import_module("numpy").array(values, drawn.dtype).reshape(drawn.shape)

    async def read(self, result: Any) -> Any:
        """Return the elements of an array or a number."""
        return to_js(result.ravel())


#: By the names that rows call their backends.
PYTHON_PEERS: Mapping[str, Callable[[Workload], Side]] = {
    "one thread": OnOneThread,
    "numpy": NumPy,
    "uncaptured": Uncaptured,
}
