"""Our side of a comparison with onnxruntime-web; it runs in the page."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import js
from pyodide.ffi import create_proxy, to_js

import webtensor as wt


class PageModel:
    """A model, and its inputs."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._inputs: dict[str, wt.Tensor] = {}

    def give(self, inputs: list[dict[str, Any]]) -> None:
        """Keep inputs as tensors."""
        self._inputs = {
            row["name"]: wt.tensor(row["values"], shape=tuple(row["shape"]), dtype=row["dtype"])
            for row in inputs
        }

    async def run(self) -> list[dict[str, Any]]:
        """Compute all outputs, and read them."""
        results = await self._model.execute_async(self._inputs, self._model.output_names)
        return [
            {"shape": list(result.shape), "data": to_js(await result.data())} for result in results
        ]

    async def milliseconds(self) -> float:
        """Measure a prediction in Python, whose results are read there."""
        start = perf_counter()
        results = self._model.predict(self._inputs)
        for result in results if isinstance(results, list) else [results]:
            await result.data()
        return 1000 * (perf_counter() - start)

    def dispose(self) -> None:
        """Free the weights and the inputs."""
        self._inputs.clear()
        self._model.dispose()


async def load(url: str, backend: str, threads: int) -> PageModel:
    """Load a model."""
    wt.set_backend(backend)
    if backend == "wasm":
        wt.wasm.set_threads_count(threads)
    return PageModel(await wt.load_onnx_async(url))


js.loadOurModel = create_proxy(load)
