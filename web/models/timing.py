"""Times a model on each backend, in turns with TensorFlow.js where that can read it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import js
from js import peer
from opening import Artifacts, OpenModel, Tensors
from pyodide.ffi import to_js

import webtensor as wt
from webtensor.formats.model_artifacts import json_fields
from webtensor.transfer import javascript_bytes

BUDGET_S = 0.5
MIN_TURNS, MAX_TURNS = 5, 50


@dataclass
class Times:
    """The milliseconds of a prediction with its outputs read: medians, and our first one."""

    ours: float
    first: float
    theirs: float | None = None
    #: The largest difference of the outputs, relative to the largest magnitude of each.
    difference: float | None = None


async def measure(model: OpenModel, inputs: Tensors, backend: str, *, with_peer: bool) -> Times:
    """Time predictions on a backend, on one thread.

    Raises:
        JsException: TensorFlow.js failed.
    """
    wt.set_backend(backend)
    await wt.ready()
    with one_thread() if backend == "wasm" else nullcontext():
        side = await _peer(backend, model, inputs) if with_peer and model.artifacts else None
        try:
            return await _in_turns(model, inputs, side)
        finally:
            if side is not None:
                side.close()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread of WebAssembly, as TensorFlow.js does here."""
    count = wt.wasm.get_threads_count()
    wt.wasm.set_threads_count(1)
    try:
        yield
    finally:
        wt.wasm.set_threads_count(count)


async def _in_turns(model: OpenModel, inputs: Tensors, side: Any) -> Times:
    """Time predictions in turns with TensorFlow.js's side, or alone where that is None."""
    first, outputs = await _timed(model, inputs)
    times = Times(ours=first, first=first)
    names = to_js([output.name for output in model.outputs])
    if side is not None:
        _, theirs = await side.run(names)
        ours = [await _javascript_values(output) for output in outputs]
        times.difference = float(peer.largestDifference(to_js(ours), theirs))
    our_times: list[float] = []
    their_times: list[float] = []
    began = perf_counter()
    while len(our_times) < MIN_TURNS or (
        len(our_times) < MAX_TURNS and perf_counter() - began < BUDGET_S
    ):
        our_times.append((await _timed(model, inputs))[0])
        if side is not None:
            their_times.append(float((await side.run(names))[0]))
    times.ours = median(our_times)
    times.theirs = median(their_times) if their_times else None
    return times


async def _timed(model: OpenModel, inputs: Tensors) -> tuple[float, Tensors]:
    """Return the milliseconds of a prediction, and its outputs, whose elements were read."""
    began = perf_counter()
    outputs = await model.run(inputs)
    for output in outputs:
        await output.data()
    return (perf_counter() - began) * 1000, outputs


async def _peer(backend: str, model: OpenModel, inputs: Tensors) -> Any:
    """Return TensorFlow.js's side of a model."""
    assert model.artifacts is not None
    parts = await _parts(model.artifacts)
    descriptions = [
        {
            "name": spec.name,
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype),
            "values": await _javascript_values(tensor),
        }
        for spec, tensor in zip(model.inputs, inputs, strict=True)
    ]
    return await peer.open(backend, _object(parts), _object(descriptions))


async def _parts(artifacts: Artifacts) -> dict[str, Any]:
    """Return a model's parts as TensorFlow.js takes them."""
    parts = await artifacts()
    description = {**json_fields(parts), "weightSpecs": parts.weight_specs or []}
    weights = wt.io.concatenate_array_buffers(parts.weight_data or b"")
    return {"description": json.dumps(description), "weights": javascript_bytes(weights)}


async def _javascript_values(tensor: wt.Tensor) -> Any:
    values = await tensor.data()
    if str(tensor.dtype) == "string":
        return [value.decode() for value in values]
    return to_js(values)


def _object(value: Any) -> Any:
    return to_js(value, dict_converter=js.Object.fromEntries)
