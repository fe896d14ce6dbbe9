"""What threads need of the kernels: parts that make up the whole, and a module without data."""

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.cases import FAMILIES, failures, run_cases
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.binary import shareable
from webtensor.backends.wasm.host import module_bytes

#: Families of the table whose kernels threads share.
SHARED = [
    "unary",
    "binary",
    "where and clip",
    "matmul",
    "matmul gradients",
    "conv2d",
    "depthwise_conv2d",
    "convolution gradients",
    "pooling",
    "reductions",
    "softmax and one_hot",
    "normalization",
    "dilation2d",
]


class InParts:
    """Stands for threads: runs every kernel that can be shared in parts, one after another."""

    least_work = 1e-9
    queued_work = 0

    def __init__(self, backend: WasmBackend, parts: int) -> None:
        self.backend = backend
        self.parts = parts
        self.runs = 0

    def run(self, key: tuple[str, ...], work: float, *arguments: float) -> None:
        self.runs += 1
        for part in reversed(range(self.parts)):
            self.backend.functions[key](*arguments, part, self.parts)

    def close(self) -> None:
        """Nothing was started."""


@pytest.fixture(params=[2, 3, 7])
def in_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[InParts]:
    wt.set_backend("wasm")
    backend: Any = wt.backend()
    threads = InParts(backend, request.param)
    monkeypatch.setattr(backend, "threads", threads)
    backend.begin_epoch()
    yield threads
    backend.begin_epoch()


def floats(*shape: int) -> Any:
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)


MATRICES = [(2, 3, 2), (5, 7, 61), (61, 7, 5), (67, 300, 33), (13, 2, 99)]
NARROW = [(20, 300, 3), (98, 600, 12)]
VECTORS = [(1, 20, 7), (1, 33, 100), (7, 20, 1), (100, 33, 1), (1, 9, 1)]


@pytest.mark.parametrize("m, k, n", [*MATRICES, *NARROW, *VECTORS])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_matmul(
    in_parts: InParts, m: int, k: int, n: int, transpose_a: bool, transpose_b: bool
) -> None:
    a, b, bias = floats(m, k), floats(k, n), floats(n)
    left = wt.tensor(a.T.copy() if transpose_a else a)
    right = wt.tensor(b.T.copy() if transpose_b else b)

    def product() -> Any:
        return wt.fused.mat_mul(
            left, right, transpose_a, transpose_b, bias=wt.tensor(bias), activation="elu"
        ).numpy()

    shared, expected = product(), a @ b + bias
    assert np.allclose(shared, np.where(expected > 0, expected, np.expm1(expected)), atol=1e-4)
    assert in_parts.runs == 1
    in_parts.least_work = 10**9
    assert np.array_equal(shared, product())


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_batches(in_parts: InParts, batch: int) -> None:
    a, b = floats(batch, 9, 4), floats(4, 11)
    assert np.allclose(wt.matmul(wt.tensor(a), wt.tensor(b)).numpy(), a @ b, atol=1e-5)
    assert in_parts.runs == 1


@pytest.mark.parametrize("length", [1, 5, 16, 17, 63, 64, 65, 1000])
def test_elementwise(in_parts: InParts, length: int) -> None:
    x, y = floats(length), floats(length)
    assert np.array_equal(wt.add(wt.tensor(x), wt.tensor(y)).numpy(), x + y)
    assert np.array_equal(wt.relu(wt.tensor(x)).numpy(), np.maximum(x, 0))
    assert np.array_equal(wt.greater(wt.tensor(x), wt.tensor(y)).numpy(), x > y)
    assert in_parts.runs == 3


@pytest.mark.parametrize("size, channels, outputs", [(1, 1, 1), (5, 3, 4), (9, 8, 40), (16, 4, 7)])
@pytest.mark.parametrize("stride", [1, 2])
def test_convolutions(
    in_parts: InParts, size: int, channels: int, outputs: int, stride: int
) -> None:
    x, filter = (
        wt.tensor(floats(2, size, size, channels)),
        wt.tensor(floats(3, 3, channels, outputs)),
    )
    single = wt.tensor(floats(3, 3, channels, 1))

    def results() -> list[Any]:
        y, gradients = wt.value_and_grads(lambda x, w: wt.conv2d(x, w, stride, "same"))(x, filter)
        parts = [y, *gradients, wt.depthwise_conv2d(x, single, stride, "same")]
        return [part.numpy() for part in parts]

    shared = results()
    assert in_parts.runs
    in_parts.least_work = 10**9
    whole = results()
    assert all(np.array_equal(value, other) for value, other in zip(shared, whole, strict=True))


@pytest.mark.parametrize("height", [1, 2, 5, 40])
def test_separable_convolutions(in_parts: InParts, height: int) -> None:
    x, filters = wt.tensor(floats(1, height, 1000, 4)), wt.tensor(floats(3, 3, 4, 32 // 4))
    mixing = wt.tensor(floats(1, 1, 32, 6))

    def convolved(x: wt.Tensor) -> wt.Tensor:
        return wt.conv2d(wt.depthwise_conv2d(x, filters, 1, "same"), mixing, 1, "valid")

    expected = convolved(x).numpy()
    in_parts.runs = 0
    captured = wt.function(convolved)
    captured(x)
    assert np.array_equal(captured(x).numpy(), expected)
    assert in_parts.runs


@pytest.mark.parametrize("family", SHARED)
def test_family(in_parts: InParts, family: str) -> None:
    cases = FAMILIES[family]
    answer = asyncio.run(run_cases([case.encoded() for case in cases], "wasm"))
    wrong = failures(cases, answer, "wasm")
    assert not wrong, "\n".join(wrong)
    assert in_parts.runs


@pytest.mark.parametrize("variant", ["simd", "relaxed"])
def test_a_shareable_module_has_its_data_apart(variant: str) -> None:
    module = module_bytes("kernels", variant)
    shared, data = shareable(module)
    assert len(module) > len(shared) > len(module) - 10_000
    assert shared.count(b"\x03env\x06memory\x02\x03") == 1
    assert all(any(content) and content in module for _, content in data)
    assert 0 < sum(len(content) for _, content in data) < 10_000


@pytest.mark.parametrize(
    "count, error",
    [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError)],
)
def test_a_bad_count_is_refused(count: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"set_threads_count: count must be (positive|an integer)"):
        wt.wasm.set_threads_count(count)


def test_one_thread_outside_browsers() -> None:
    wt.wasm.set_threads_count(4)
    assert wt.wasm.get_threads_count() == 1
