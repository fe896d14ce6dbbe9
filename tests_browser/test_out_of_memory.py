"""Results that have no room in a page are refused by one error, and leave nothing behind."""

import re

import pytest

from tests_browser.python_page import PythonPage

TOO_LARGE = {
    "wt.ones((1 << 20, 1 << 12))": ("fill", "float32", "(1048576, 4096)"),
    "wt.zeros((10**6, 10**6))": ("fill", "float32", "(1000000, 1000000)"),
    "wt.full((1 << 20, 1 << 13), 1, 'int32')": ("fill", "int32", "(1048576, 8192)"),
    "wt.full((1 << 40, 3), True)": ("fill", "bool", "(1099511627776, 3)"),
    "wt.broadcast_to(x, (1 << 31, 3))": ("broadcast_to", "float32", "(2147483648, 3)"),
    "wt.broadcast_to(x, (1 << 62, 3))": ("broadcast_to", "float32", f"({1 << 62}, 3)"),
    "wt.tile(x, (1 << 31,))": ("broadcast_to", "float32", "(2147483648, 3)"),
    "wt.pad(x, [(0, 1 << 31)])": ("pad", "float32", "(2147483651,)"),
    "wt.pad(x, [(1 << 40, 1 << 70)])": ("pad", "float32", f"({3 + (1 << 40) + (1 << 70)},)"),
    "wt.concat([row] * 1100, 0)": ("concat", "float32", "(1100, 1048576)"),
    "wt.stack([row] * 1100)": ("stack", "float32", "(1100, 1, 1048576)"),
    "wt.matmul(column, row)": ("matmul", "float32", "(1048576, 1048576)"),
    "column + row": ("add", "float32", "(1048576, 1048576)"),
    "wt.equal(column, row)": ("equal", "bool", "(1048576, 1048576)"),
    "wt.where(wt.greater(column, 0.0), row, column)": ("where", "float32", "(1048576, 1048576)"),
    "wt.one_hot(wt.tensor([1, 2]), 1 << 33)": ("one_hot", "int32", "(2, 8589934592)"),
    "wt.random_uniform((1 << 33,))": ("random_bits", "int32", "(8589934592,)"),
    "wt.image.resize_bilinear(pixel, (1 << 18, 1 << 18))": (
        "resize_bilinear",
        "float32",
        "(1, 262144, 262144, 1)",
    ),
}

CODE = """
import gc
import webtensor as wt

wt.set_backend(backend)
x, row, column = wt.tensor([1.0, 2.0, 3.0]), wt.ones((1, 1 << 20)), wt.ones((1 << 20, 1))
pixel = wt.ones((1, 1, 1, 1))
(x * 2.0 + wt.sum(row) + wt.sum(column) + wt.sum(pixel)).tolist()

def held():
    gc.collect()
    memory = wt.memory()
    counts = [memory[name] for name in ("num_tensors", "num_storages", "num_bytes")]
    return [*counts, memory["backends"]["wasm"]["blocks"] if backend == "wasm" else 0]

def refused(call):
    try:
        eval(call)
    except Exception as error:
        kinds = (wt.OutOfMemoryError, wt.BackendError, MemoryError)
        return f"{type(error).__name__}: {error}", all(isinstance(error, one) for one in kinds)
    return "no error", False

for call in calls:  # constants stay
    refused(call)
before = held()
answers = [refused(call) for call in calls]
[answers, before, held(), (x * 2.0).tolist(), wt.get_backend()]
"""


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_results_that_are_too_large(python_page: PythonPage, backend: str):
    answers, before, after, values, active = python_page.run(
        CODE, backend=backend, calls=list(TOO_LARGE)
    )
    for (message, is_known), (op, dtype, shape) in zip(answers, TOO_LARGE.values(), strict=True):
        result = re.escape(f"{dtype} tensor of shape {shape}: ")
        named = rf"\w+: no room for a {result}|\w+: \w+=.* asks for"
        assert re.match(rf"(OutOfMemory|TensorSize)Error: ({named})", message), op
        assert is_known
    assert after == before
    assert values == [2, 4, 6]
    assert active == backend
