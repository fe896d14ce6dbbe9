"""What a row of the table of workloads says. The rows themselves are in `workloads`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import inf
from typing import Any

__all__ = [
    "AND_CPU",
    "AND_NUMPY",
    "AND_ONNXRUNTIME",
    "BESIDE_JAX",
    "BESIDE_POSE_DETECTION",
    "CPU_FOR_WASM",
    "ONLY_NUMPY",
    "ONLY_WASM",
    "ON_THREADS",
    "QUICK",
    "SAME_BACKEND",
    "SINES",
    "UNCAPTURED",
    "Effort",
    "Input",
    "Shape",
    "Timed",
    "Workload",
    "specified",
]

Shape = tuple[int, ...]

#: Our backends, and theirs that each is compared with.
SAME_BACKEND = {"webgl": ("webgl",), "wasm": ("wasm",)}
#: Tiny tensors are where their plain JavaScript backend is at its best.
AND_CPU = {"webgl": ("webgl",), "wasm": ("wasm", "cpu")}
#: NumPy is what a user of Pyodide computes with today.
AND_NUMPY = {"webgl": ("webgl",), "wasm": ("wasm", "numpy")}
ONLY_NUMPY = {"wasm": ("numpy",)}
#: Whole networks are what onnxruntime-web runs; its kernels for WebAssembly are compared.
AND_ONNXRUNTIME = {"webgl": ("webgl",), "wasm": ("wasm", "onnxruntime")}
#: Of ours, only WebAssembly has threads; ours on one stands beside ours on several.
ON_THREADS = {"wasm": ("wasm", "onnxruntime", "one thread")}
#: Captured functions are compared with the functions themselves.
UNCAPTURED = {"webgl": ("uncaptured",), "wasm": ("uncaptured",)}
#: jax-js compiles steps of training, as captured functions are.
BESIDE_JAX = {"webgl": ("jax webgl",), "wasm": ("jax wasm",)}
#: The ready-made models of TensorFlow.js have packages of their own.
BESIDE_POSE_DETECTION = {
    "webgl": ("pose-detection webgl",),
    "wasm": ("pose-detection wasm",),
}
#: Rows that theirs cannot be compared in on WebGL. Where updates are put at indices, it compares
#: each element of the result with all of them, which takes minutes.
ONLY_WASM = {"wasm": ("wasm",)}
#: Their WebAssembly backend has no gradient of a convolution's filter.
CPU_FOR_WASM = {"webgl": ("webgl",), "wasm": ("cpu",)}
#: Tolerance where theirs take sines and cosines from the device on WebGL: emulated ones are off by
#: some 1e-4.
SINES = 1e-3


@dataclass(frozen=True)
class Effort:
    """How long to time a workload."""

    #: Batches of calls take about this long.
    sample_ms: float = 50.0
    #: Calls per batch of overhead rows.
    enqueued_calls: int = 500
    #: Time for all rounds of one workload, if the fewest rounds allow it.
    budget_s: float = 3.0
    min_rounds: int = 3
    max_rounds: int = 15
    #: What takes longer than this for the first calls is not warmed up.
    patience_s: float = inf
    #: Loads of each page that is timed from its navigation.
    page_loads: int = 5


#: Enough to see that everything works.
QUICK = Effort(
    sample_ms=2.0,
    enqueued_calls=20,
    budget_s=0.2,
    min_rounds=1,
    max_rounds=2,
    patience_s=2.0,
    page_loads=1,
)


class Timed(StrEnum):
    """What of a batch of calls is timed."""

    RUN = "run"  # the calls, and waiting for the last result
    ENQUEUE = "enqueue"  # the calls, until the browser has all their commands
    READ = "read"  # reading whole results that were computed before


@dataclass(frozen=True)
class Input:
    """Numbers drawn uniformly from an interval, the same for both libraries."""

    shape: Shape
    low: float = -1.0
    high: float = 1.0
    #: Others than float32 get the integer part of the numbers.
    dtype: str = "float32"

    def __str__(self) -> str:
        """Write the shape."""
        return "×".join(map(str, self.shape))


def specified(inputs: Mapping[str, Input]) -> list[dict[str, Any]]:
    """Write inputs as JSON's values, for the JavaScript that makes their numbers."""
    return [{"name": name, **asdict(spec)} for name, spec in inputs.items()]


@dataclass(frozen=True)
class Workload:
    """One thing that both libraries do.

    `ours` is called with a tensor per input; `theirs` is a JavaScript expression in which `tf` and
    the inputs' names stand for theirs.
    """

    name: str
    ours: Callable[..., Any]
    theirs: str
    inputs: Mapping[str, Input]
    #: The amount of work where the inputs' shapes don't tell it.
    described: str = ""
    timed: Timed = Timed.RUN
    peers: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: SAME_BACKEND)
    #: Largest difference allowed, relative to the largest magnitude of their result.
    tolerance: float = 1e-4
    #: The functions take host data instead of tensors.
    from_host: bool = False
    #: The functions are called once, and return the step that is timed.
    makes_step: bool = False
    #: The calls return what must be awaited.
    awaited: bool = False
    #: Single elements depend on chance; the means of the results are compared.
    compares_means: bool = False
    #: It is told, of WebGL, how long the page's thread was busy at a time.
    watches_tasks: bool = False
    #: Results are compared after this many calls.
    calls_before_comparing: int = 1
    #: The network of `models` whose file onnxruntime-web runs, where that is a peer.
    onnx: str = ""
    #: The network of `jax.js` that jax-js trains, where that is a peer.
    jax: str = ""
    #: The same with NumPy, called with its module and an array per input, where that is a peer.
    numpy: Callable[..., Any] | None = None
    #: The same without a capture, where that is a peer.
    uncaptured: Callable[..., Any] | None = None
    #: How many threads compute, on both sides.
    threads: int = 1
    #: The multiplications that the numbers of one call's result need, and as many additions, where
    #: they are counted.
    multiplications: int = 0

    @property
    def sizes(self) -> str:
        """The amount of work."""
        return self.described or " ".join(map(str, self.inputs.values()))

    @property
    def key(self) -> str:
        """Tells the row from all others."""
        return f"{self.name} {self.sizes} {self.threads}"

    def pairs(self) -> Iterable[tuple[str, str]]:
        """The pairs of our backend and theirs that the row compares."""
        return ((ours, peer) for ours, peers in self.peers.items() for peer in peers)
