"""What has no room is refused by one error that names the op, and leaves nothing behind."""

import gc
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import webtensor as wt
from tests_py.cases import FAMILIES, Case
from tests_py.cases.runner import evaluate
from tests_py.conftest import counts

# -- results that no machine has room for ---------------------------------------------------------

#: 2**48 elements and more: beyond the addresses that processors have.
MUCH = 1 << 24
#: Beyond what numbers of 64 bits count.
BEYOND = 1 << 40


def small() -> wt.Tensor:
    """Three elements."""
    return wt.tensor([1.0, 2.0, 3.0])


def column() -> wt.Tensor:
    """A column whose product with a row of as many is too large."""
    return wt.ones((MUCH, 1))


#: The op, its primitive, and the result that its error names where no argument asked for so much.
TOO_LARGE: dict[str, tuple[Callable[[], Any], str, str]] = {
    "ones": (lambda: wt.ones((MUCH, MUCH)), "fill", f"float32 tensor of shape ({MUCH}, {MUCH})"),
    "ones, beyond": (lambda: wt.ones((BEYOND, BEYOND)), "fill", f"shape ({BEYOND}, {BEYOND})"),
    "zeros": (lambda: wt.zeros((MUCH, MUCH), "int32"), "fill", "int32 tensor of shape"),
    "full": (lambda: wt.full((BEYOND, 4), True), "fill", f"bool tensor of shape ({BEYOND}, 4)"),
    "broadcast_to": (lambda: wt.broadcast_to(small(), (MUCH, MUCH, 3)), "broadcast_to", "float32"),
    "broadcast_to, beyond": (
        lambda: wt.broadcast_to(small(), (BEYOND, BEYOND, 3)),
        "broadcast_to",
        f"({BEYOND}, {BEYOND}, 3)",
    ),
    "tile": (lambda: wt.tile(small(), (1 << 60,)), "broadcast_to", f"({1 << 60}, 3)"),
    "pad": (lambda: wt.pad(small(), [(0, 1 << 50)]), "pad", f"({3 + (1 << 50)},)"),
    "pad, beyond": (lambda: wt.pad(small(), [(1 << 70, 1 << 70)]), "pad", f"({3 + (2 << 70)},)"),
    "broadcast_to, bool": (
        lambda: wt.broadcast_to(wt.tensor([True]), (1 << 60,)),
        "broadcast_to",
        f"bool tensor of shape ({1 << 60},)",
    ),
    "add": (lambda: column() + wt.ones((1, MUCH)), "add", f"({MUCH}, {MUCH})"),
    "equal": (
        lambda: wt.equal(column(), wt.ones((1, MUCH))),
        "equal",
        f"bool tensor of shape ({MUCH}, {MUCH})",
    ),
    "where": (lambda: wt.where(column() > 0, wt.ones((1, MUCH)), 0.0), "where", "float32"),
    "matmul": (lambda: wt.matmul(column(), wt.ones((1, MUCH))), "matmul", f"({MUCH}, {MUCH})"),
    "one_hot": (lambda: wt.one_hot(wt.tensor([1, 2]), 1 << 60), "one_hot", f"(2, {1 << 60})"),
    "resize": (
        lambda: wt.image.resize_bilinear(wt.ones((1, 2, 2, 1)), (1 << 50, 2)),
        "resize_bilinear",
        f"(1, {1 << 50}, 2, 1)",
    ),
    "conv2d": (
        lambda: wt.conv2d(
            wt.ones((1, 2, 2, 1)), wt.ones((1, 1, 1, 2)), 1, [[0, 0], *[[MUCH] * 2] * 2, [0, 0]]
        ),
        "conv2d",
        "float32",
    ),
    "scatter_nd": (
        lambda: wt.scatter_nd(wt.tensor([[1, 2]]), wt.tensor([1.0]), (BEYOND, BEYOND)),
        "scatter_nd",
        f"({BEYOND}, {BEYOND})",
    ),
    "unsorted_segment_sum": (
        lambda: wt.unsorted_segment_sum(small(), wt.tensor([0, 1, 2]), 1 << 60),
        "scatter_add",
        f"({1 << 60},)",
    ),
    "bincount": (
        lambda: wt.bincount(wt.tensor([0, 1]), wt.ones((2,)), 1 << 60),
        "scatter_add",
        f"({1 << 60},)",
    ),
    "random_uniform": (lambda: wt.random_uniform((MUCH, MUCH)), "random_bits", f"({MUCH}, {MUCH})"),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_results_that_are_too_large(backend: str, no_leak: None, name: str) -> None:
    call, primitive, shape = TOO_LARGE[name]
    with pytest.raises(wt.OutOfMemoryError) as caught:
        call()
    message = str(caught.value)
    assert message.startswith((f"{name.partition(',')[0]}: ", f"{primitive}: "))
    if ": no room for a " in message:
        assert shape in message
    else:
        assert re.match(r"\w+: \w+=.* asks for .* elements, but arguments may ask for", message)
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, wt.BackendError)
    assert (small() * 2.0).tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: wt.max_pool(x, 2, BEYOND, "same"),
        lambda x: wt.avg_pool(x, BEYOND, 1, "same"),
        lambda x: wt.max_pool(x, 2, 1, [[0, 0], [0, BEYOND], [0, 0], [0, 0]]),
        lambda x: wt.conv2d(x, wt.ones((2, 2, 2, 1)), BEYOND, "same"),
        lambda x: wt.conv2d(x, wt.ones((2, 2, 2, 1)), 1, "same", dilations=(1 << 31) - 1),
        lambda x: wt.depthwise_conv2d(x, wt.ones((2, 2, 2, 1)), BEYOND, "same"),
        lambda x: wt.dilation2d(x, wt.ones((2, 2, 2)), BEYOND, "same"),
        lambda x: wt.conv1d(x[0], wt.ones((2, 2, 1)), BEYOND, "same"),
        lambda x: wt.avg_pool3d(wt.expand_dims(x, 1), 2, BEYOND, "same"),
    ],
)
def test_windows_beyond_32_bits(
    backend: str, no_leak: None, call: Callable[[wt.Tensor], wt.Tensor]
) -> None:
    with pytest.raises(ValueError, match=r"^\w+: strides of .* must not exceed 2\*\*30"):
        call(wt.ones((1, 5, 5, 2)))


def test_operands_that_have_no_room(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise MemoryError

    x = small()
    with monkeypatch.context() as patch:
        patch.setattr(wt.backend(), "upload", refuse)
        with pytest.raises(wt.OutOfMemoryError, match=r"^multiply: .* operand of 3 float32 elem"):
            x * x
    assert (x * x).tolist() == [1, 4, 9]


def test_copies_for_uploads_that_have_no_room(
    no_leak: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise MemoryError

    wt.set_backend("wasm")
    before = in_use()
    x = small()
    with monkeypatch.context() as patch:
        patch.setattr(wt.backend().host, "write", refuse)  # type: ignore[attr-defined]
        with pytest.raises(wt.OutOfMemoryError, match=r"^multiply: .* operand of 3 float32 elem"):
            x * x
    del x
    assert in_use() == before


def test_reads_that_have_no_room(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise OverflowError("cannot fit 'int' into an index-sized integer")

    x = small() * 2.0
    with monkeypatch.context() as patch:
        patch.setattr(wt.backend(), "read", refuse)
        with pytest.raises(wt.OutOfMemoryError, match="no room for a copy of 3 float32 elements"):
            x.tolist()
    assert x.tolist() == [2, 4, 6]


# -- memory that ends in the middle of an op ------------------------------------------------------


class Shortage:
    """Lets a number of allocations of the active backend succeed, and the next ones fail."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left = 0
        self.has_refused = False
        active: Any = wt.backend()
        if active.name == "wasm":
            find = active.pool._find
            patch.setattr(active.pool, "_find", lambda size: 0 if self.refuses() else find(size))
        else:
            for name, kernel in active.kernels.items():
                patch.setitem(active.kernels, name, self.limited(kernel))

    def limited(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Return a kernel of NumPy that fails as NumPy does."""

        def call(*arguments: Any) -> Any:
            if self.refuses():
                raise MemoryError
            return kernel(*arguments)

        return call

    def refuses(self) -> bool:
        """Count an allocation."""
        self.left -= 1
        self.has_refused |= self.left < 0
        return self.left < 0

    def begin(self, left: int) -> None:
        """Let ``left`` allocations succeed."""
        if wt.backend().name == "wasm":
            wt.backend().pool.trim()  # type: ignore[attr-defined]
        self.left = left
        self.has_refused = False


#: Each is run again for each of its allocations, so only every twelfth of the sample is.
SAMPLES = [
    pytest.param(case, id=f"{family}: {case.name}")
    for family, cases in FAMILIES.items()
    for case in cases
    if case.sample
][::12]


def in_use() -> tuple[dict[str, int], dict[str, int]]:
    """What the engine and the active backend hold."""
    gc.collect()
    memory = wt.backend().memory()
    return counts(), {name: memory[name] for name in ("bytes", "blocks") if name in memory}


@pytest.mark.parametrize("case", SAMPLES)
def test_memory_ends_at_each_allocation(
    backend: str, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded = case.encoded()
    for _ in range(2):  # afterwards plans, constants and packed weights stay
        evaluate(encoded)
    before = in_use()
    with monkeypatch.context() as patch:
        shortage = Shortage(patch)
        for left in range(100):
            shortage.begin(left)
            with suppress(wt.OutOfMemoryError):
                evaluate(encoded)
            if not shortage.has_refused:
                break
    assert in_use() == before


def test_products_do_without_packed_weights(no_leak: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are packed when they are used for the second time, if there is room."""
    wt.set_backend("wasm")
    x, weights = wt.ones((3, 40)), wt.ones((40, 40))
    wt.matmul(x, weights)
    before = in_use()
    with monkeypatch.context() as patch:
        shortage = Shortage(patch)
        shortage.begin(1)
        product = wt.matmul(x, weights)
        assert shortage.has_refused
    assert float(wt.max(product)) == float(wt.min(product)) == 40
    del product
    assert in_use() == before
