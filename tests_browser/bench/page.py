"""Runs workloads inside the page: both sides in turns, and their results compared.

`Ours` here and `Theirs` in `peer.js` are mirror images: change one only with the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from math import ceil, prod
from time import perf_counter
from typing import Any

import pyodide
from js import peer
from pyodide.ffi import to_js

import webtensor as wt
from tests_browser.bench.workload import Effort, Timed, Workload, specified
from tests_browser.bench.workloads import WORKLOADS
from webtensor.engine.dispatch import fallbacks

__all__ = ["describe", "run_workload"]

_BY_KEY = {workload.key: workload for workload in WORKLOADS}
_MOST_CALLS = 5000
_MOST_READS = 10


class Ours:
    """Our side of a workload."""

    def __init__(self, workload: Workload) -> None:
        """Make the inputs and, where the workload wants it, the step."""
        inputs: dict[str, Any] = {
            name: peer.numbers(seed, prod(one.shape), one.low, one.high, one.dtype).to_py()
            for seed, (name, one) in enumerate(workload.inputs.items())
        }
        if not workload.from_host:
            inputs = {
                name: wt.tensor(
                    values, shape=workload.inputs[name].shape, dtype=workload.inputs[name].dtype
                )
                for name, values in inputs.items()
            }
        self.call: Callable[[], Any] = (
            workload.ours(**inputs)
            if workload.makes_step
            else partial(workload.ours, *inputs.values())
        )
        self.timed, self.awaited = workload.timed, workload.awaited

    async def result(self) -> wt.Tensor:
        """Call once."""
        result: wt.Tensor = await self.call() if self.awaited else self.call()
        return result

    async def sample(self, count: int) -> tuple[float, float]:
        """Time `count` calls; returns milliseconds per call, in all and without the wait."""
        if self.timed is Timed.READ:
            return await self._sample_reads(count)
        call, awaited = self.call, self.awaited
        start = perf_counter()
        for _ in range(count):
            result = await call() if awaited else call()
        if self.timed is Timed.ENQUEUE:
            _flush()
        enqueued = perf_counter()
        await _wait(result)
        end = enqueued if self.timed is Timed.ENQUEUE else perf_counter()
        return (end - start) * 1000 / count, (enqueued - start) * 1000 / count

    async def _sample_reads(self, count: int) -> tuple[float, float]:
        results = [self.call() for _ in range(count)]
        await _wait(results[-1])
        start = perf_counter()
        for result in results:
            await result.data()
        taken = (perf_counter() - start) * 1000 / count
        return taken, taken


def _flush() -> None:
    """Hand queued draws to the browser; otherwise only theirs would be timed."""
    queue = getattr(wt.backend(), "_queue", None)
    if queue is not None:
        queue.flush()


async def _wait(result: wt.Tensor) -> None:
    rank = result.ndim
    corner = wt.slice(result, (0,) * rank, (1,) * rank) if rank else result
    await corner.data()


def _specification(workload: Workload) -> str:
    return json.dumps(
        {
            "theirs": workload.theirs,
            "inputs": specified(workload.inputs),
            "timed": workload.timed,
            "fromHost": workload.from_host,
            "makesStep": workload.makes_step,
            "awaited": workload.awaited,
            "comparesMeans": workload.compares_means,
            "onnx": workload.onnx,
        }
    )


async def _largest_difference(workload: Workload, ours: Ours, theirs: Any) -> float:
    for _ in range(workload.calls_before_comparing):
        result = await ours.result()
    values = to_js(await result.data())
    return float(await theirs.compare(values, workload.calls_before_comparing))


async def _batch_size(side: Any, workload: Workload, effort: Effort) -> int:
    """Warm up, and find how many calls make a batch long enough."""
    if workload.timed is Timed.ENQUEUE:
        for _ in range(3):
            await side.sample(effort.enqueued_calls)
        return effort.enqueued_calls
    count = 1
    for _ in range(3):  # each knows better, as the code warms up
        taken, _ = await side.sample(count)
        count = min(max(1, ceil(effort.sample_ms / max(taken, 1e-3))), _MOST_CALLS)
        if workload.timed is Timed.READ:
            count = min(count, _MOST_READS)
    return count


async def run_workload(key: str, backend: str, peer_backend: str, effort: str) -> str:
    """Time a workload on both sides in turns; `effort` and the result are JSON."""
    workload, how = _BY_KEY[key], Effort(**json.loads(effort))
    wt.set_backend(backend)
    await wt.ready()
    if backend == "wasm":
        wt.wasm.set_threads_count(1)  # as theirs
    ran_elsewhere = dict(fallbacks)
    ours = Ours(workload)
    theirs = await peer.open(_specification(workload), peer_backend)
    try:
        difference = await _largest_difference(workload, ours, theirs)
        our_count = await _batch_size(ours, workload, how)
        their_count = await _batch_size(theirs, workload, how)

        our_samples: list[tuple[float, float]] = []
        their_samples: list[tuple[float, float]] = []
        start = perf_counter()
        while len(our_samples) < how.most_rounds:
            our_samples.append(await ours.sample(our_count))
            their_samples.append(tuple(await theirs.sample(their_count)))
            spent = perf_counter() - start
            rounds = len(our_samples)
            if rounds >= how.least_rounds and spent * (1 + 1 / rounds) > how.budget_s:
                break
    finally:
        await theirs.close()
    return json.dumps(
        {
            "ours": [total for total, _ in our_samples],
            "theirs": [total for total, _ in their_samples],
            "ours_enqueue": [enqueue for _, enqueue in our_samples],
            "theirs_enqueue": [enqueue for _, enqueue in their_samples],
            "agree": difference,
            "fallbacks": sorted(
                f"{kernel} ran on {where}"
                for (kernel, _, where), times in fallbacks.items()
                if times != ran_elsewhere.get((kernel, _, where), 0)
            ),
        }
    )


def describe() -> str:
    """Say what runs here, as JSON."""
    compared = {backend for workload in WORKLOADS for backend in workload.peers}
    reasons = {backend: wt.unavailable_reason(backend) for backend in sorted(compared)}
    return json.dumps(
        {
            "webtensor": wt.__version__,
            "pyodide": pyodide.__version__,
            "unavailable": {backend: why for backend, why in reasons.items() if why},
        }
    )
