"""Each browser starts Python, and offers what the backends need."""

from tests_browser.python_page import PythonPage

WEBGL2_WORKS = """
(() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  return gl !== null && gl.getExtension("EXT_color_buffer_float") !== null;
})()
"""

# (module (func (drop (v128.const i32x4 0 0 0 0))))
WASM_SIMD_WORKS = """
WebAssembly.validate(new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 23, 1, 21, 0, 253, 12,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 11,
]))
"""


def test_python_runs(any_python_page: PythonPage):
    assert any_python_page.run("1 + 1") == 2


def test_values_pass_both_ways(any_python_page: PythonPage):
    assert any_python_page.run("[x * 2 for x in numbers]", numbers=[1, 2.5]) == [2, 5.0]


def test_python_may_await(any_python_page: PythonPage):
    source = "import asyncio\nawait asyncio.sleep(0.001)\n'awake'"
    assert any_python_page.run(source) == "awake"


def test_webgl_2_renders_to_floats(any_python_page: PythonPage):
    assert any_python_page.evaluate(WEBGL2_WORKS) is True


def test_wasm_has_simd(any_python_page: PythonPage):
    assert any_python_page.evaluate(WASM_SIMD_WORKS) is True


def test_webtensor_is_installed(any_python_page: PythonPage):
    source = "import importlib.metadata\nimportlib.metadata.version('webtensor')"
    assert any_python_page.run(source)


def test_page_is_cross_origin_isolated(python_page: PythonPage):
    assert python_page.evaluate("crossOriginIsolated") is True


def test_numpy_can_be_had_in_pyodide(numpy_python: PythonPage):
    assert numpy_python.run("import numpy\nfloat(numpy.arange(4).sum())") == 6.0


def test_python_has_no_numpy_by_default(any_python_page: PythonPage):
    source = "import importlib.util\nimportlib.util.find_spec('numpy') is None"
    assert any_python_page.run(source)
