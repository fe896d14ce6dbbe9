"""Runs workloads inside the page: both sides in turns, and their results compared."""

from __future__ import annotations

import json
from asyncio import sleep
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from math import ceil
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import pyodide
from js import measureRate, peer

import webtensor as wt
from tests_browser.bench.sides import PYTHON_PEERS, Ours
from tests_browser.bench.workload import Effort, Timed, Workload, specified
from tests_browser.bench.workloads import WORKLOADS
from webtensor.engine.dispatch import fallbacks

__all__ = ["describe", "predict_first", "run_workload"]

_BY_KEY = {workload.key: workload for workload in WORKLOADS}
_MAX_CALLS = 5000
_MAX_READS = 10
#: Milliseconds per call, in all and without the wait for the result.
_Sample: TypeAlias = tuple[float, float]
#: Threads spin for a while after their work, which would slow the other side's down.
_SPINNING_S = 0.05


class _Rounds(NamedTuple):
    """Samples of both sides, and what one thread could do at best in each round, in GFLOP/s."""

    ours: list[_Sample]
    theirs: list[_Sample]
    peaks: list[float]


def _specification(workload: Workload, threads: int) -> str:
    return json.dumps(
        {
            "key": workload.key,
            "inputs": specified(workload.inputs),
            "threads": threads,
            "timed": workload.timed,
            "fromHost": workload.from_host,
            "makesStep": workload.makes_step,
            "awaited": workload.awaited,
            "onnx": workload.onnx,
            "jax": workload.jax,
        }
    )


async def _open_peer(workload: Workload, backend: str, threads: int) -> Any:
    if backend in PYTHON_PEERS:
        return PYTHON_PEERS[backend](workload)
    return await peer.open(_specification(workload, threads), backend)


async def _first_values(side: Any, workload: Workload) -> tuple[Any, float]:
    """Return what is compared, and the seconds that it took."""
    start = perf_counter()
    values = await side.values(workload.calls_before_comparing)
    return values, perf_counter() - start


async def _batch_size(side: Any, workload: Workload, effort: Effort, first_s: float) -> int:
    """Warm up, and find how many calls make a batch long enough."""
    if workload.timed is Timed.ENQUEUE:
        for _ in range(3):
            await side.sample(effort.enqueued_calls)
        return effort.enqueued_calls
    count = 1
    if first_s > effort.patience_s:
        return count
    for _ in range(3):  # each knows better, as the code warms up
        taken, _ = await side.sample(count)
        if taken > effort.budget_s * 1000:
            break  # it has been running for long
        count = min(max(1, ceil(effort.sample_ms / max(taken, 1e-3))), _MAX_CALLS)
        if workload.timed is Timed.READ:
            count = min(count, _MAX_READS)
    return count


async def _settle(threads: int) -> None:
    if threads > 1:
        await sleep(_SPINNING_S)


async def _in_turns(
    sides: tuple[Any, Any], counts: tuple[int, int], threads: int, effort: Effort, counts_work: bool
) -> _Rounds:
    """Time batches of both sides in turns, until the budget is spent.

    Where work is counted, the processor's peak is measured in each round.
    """
    samples: tuple[list[_Sample], list[_Sample]] = ([], [])
    peaks: list[float] = []
    start = perf_counter()
    for rounds in range(1, effort.max_rounds + 1):
        for side, count, times in zip(sides, counts, samples, strict=True):
            await _settle(threads)
            times.append(tuple(await side.sample(count)))
        if counts_work:
            await _settle(threads)
            peaks.append(measureRate(effort.sample_ms))
        spent = perf_counter() - start
        if rounds >= effort.min_rounds and spent * (1 + 1 / rounds) > effort.budget_s:
            break
    return _Rounds(*samples, peaks)


async def run_workload(key: str, backend: str, threads: int, peer_backend: str, effort: str) -> str:
    """Time a workload on both sides in turns; `effort` and the result are JSON."""
    workload, how = _BY_KEY[key], Effort(**json.loads(effort))
    wt.set_backend(backend)
    await wt.ready()
    if backend == "wasm":
        wt.wasm.set_threads_count(threads)
        if wt.wasm.get_threads_count() != threads:
            raise RuntimeError(f"{threads} threads can't be had here")
    ran_elsewhere = dict(fallbacks)
    ours = Ours(workload)
    theirs = await _open_peer(workload, peer_backend, threads)
    try:
        our_values, our_first_s = await _first_values(ours, workload)
        their_values, their_first_s = await _first_values(theirs, workload)
        difference = float(peer.difference(our_values, their_values, workload.compares_means))
        our_count = await _batch_size(ours, workload, how, our_first_s)
        their_count = await _batch_size(theirs, workload, how, their_first_s)
        counts_work = backend == "wasm" and workload.multiplications > 0
        rounds = await _in_turns(
            (ours, theirs), (our_count, their_count), threads, how, counts_work
        )
        tasks = {}
        if workload.watches_tasks and backend == "webgl":
            for name, side in {"ours": ours, "theirs": theirs}.items():
                tasks[name] = [await _longest_task(side) for _ in range(how.min_rounds)]
    finally:
        await theirs.close()
    return json.dumps(
        {
            "ours": [total for total, _ in rounds.ours],
            "theirs": [total for total, _ in rounds.theirs],
            "ours_enqueue": [enqueue for _, enqueue in rounds.ours],
            "theirs_enqueue": [enqueue for _, enqueue in rounds.theirs],
            "peaks": rounds.peaks,
            "longest_task": tasks,
            "agree": difference,
            "fallbacks": sorted(
                f"{kernel} ran on {where}"
                for (kernel, _, where), times in fallbacks.items()
                if times != ran_elsewhere.get((kernel, _, where), 0)
            ),
        }
    )


async def predict_first(key: str, backend: str, peer_backend: str) -> str:
    """Call a workload for the first time, ours or the peer's; what that took, as JSON."""
    workload = _BY_KEY[key]
    if peer_backend:
        await peer.setBackend(peer_backend)
    else:
        wt.set_backend(backend)
        await wt.ready()
    start = perf_counter()
    side = await _open_peer(workload, peer_backend, 1) if peer_backend else Ours(workload)
    values = await side.values(1)
    taken = (perf_counter() - start) * 1000
    facts = peer.onTheGpu().to_py() if peer_backend else _on_the_gpu(backend)
    return json.dumps({"ms": taken, "values": list(values), **facts})


def _on_the_gpu(backend: str) -> dict[str, float]:
    memory = wt.memory()
    return {
        "programs": memory["backends"][backend]["programs"],
        "gpu_bytes": memory["num_bytes_in_gpu_allocated"],
    }


async def _longest_task(side: Any) -> float:
    """Milliseconds that the page's thread was busy at a time while a result was waited for."""
    watched = peer.watchTasks()
    try:
        await side.sample(1)
    finally:
        longest = float(watched.stop())
    return longest


def describe() -> str:
    """Say what runs here, as JSON."""
    compared = {backend for workload in WORKLOADS for backend in workload.peers}
    reasons = {backend: wt.unavailable_reason(backend) for backend in sorted(compared)}
    return json.dumps(
        {
            "webtensor": wt.__version__,
            "pyodide": pyodide.__version__,
            "unavailable": {backend: why for backend, why in reasons.items() if why},
            "peers": _peers_in_python(),
        }
    )


def _peers_in_python() -> dict[str, str]:
    versions = {"webtensor": wt.__version__}
    with suppress(PackageNotFoundError):  # only some pages have it
        versions["numpy"] = version("numpy")
    return versions
