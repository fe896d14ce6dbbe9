"""The documented example of an op of one's own, in pages: its GLSL and its WebAssembly kernel."""

from base64 import b64encode
from pathlib import Path

import pytest

from tests_browser.python_page import PythonPage
from wasm_build.build import VARIANTS, compile_module

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "custom_op"

RUN = """
from base64 import b64decode

wt.set_backend(backend)
hard_swish = install(b64decode(module))
try:
    x = wt.linspace(-5, 5, 101)
    seen = wt.profile(lambda: hard_swish(x))
    expected = x * wt.clip(x + 3.0, 0.0, 6.0) / 6.0
    slopes = wt.grad(lambda x: wt.sum(hard_swish(x)))(x)
    inside = wt.where(x > -3.0, (2.0 * x + 3.0) / 6.0, 0.0)
    answer = [
        list(map(list, seen.fallbacks)),
        float(await wt.max(wt.abs(seen.result - expected)).array()),
        float(await wt.max(wt.abs(slopes - wt.where(x >= 3.0, 1.0, inside))).array()),
    ]
finally:
    wt.deregister_op("hard_swish")
answer
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The compiled kernel, for JSON."""
    output = tmp_path_factory.mktemp("module") / "hard_swish.wasm"
    compile_module([EXAMPLE / "hard_swish.c"], VARIANTS["simd"], output)
    return b64encode(output.read_bytes()).decode()


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_example(python_page: PythonPage, backend: str, module: str):
    source = (EXAMPLE / "hard_swish.py").read_text() + RUN
    fallbacks, error, slope_error = python_page.run(source, backend=backend, module=module)
    assert not fallbacks
    assert error < 2e-6
    assert slope_error < 2e-6
