"""Elements handed out as textures, read by the page itself on the context that it shares."""

from tests_browser.python_page import PlaywrightPythonPage, PythonPage

START = """
import js
import webtensor as wt
from pyodide.code import run_js

gl = js.document.createElement("canvas").getContext("webgl2")
texels = run_js('''(gl, texture, [height, width]) => {
  const framebuffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  const values = new Float32Array(4 * height * width);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, values);
  gl.deleteFramebuffer(framebuffer);
  return Array.from(values);
}''')
wt.webgl.set_context(gl)
wt.set_backend("webgl")

def read(data):
    return texels(gl, data.texture, data.tex_shape).to_py()
"""


def test_texels_hold_the_elements_in_their_order(fresh_python_page: PythonPage):
    code = """
x = wt.reshape(wt.arange(21, dtype="float32"), (3, 7)) / 4
results = []
for shape in (None, (2, 3), (1, 6), (7, 1), (40, 3)):
    with (x + 0).data_to_gpu(shape) as data:
        results.append([list(data.tex_shape), read(data)])
results
"""
    results = fresh_python_page.run(START + code)
    elements = [index / 4 for index in range(21)]
    assert [shape for shape, _ in results[1:]] == [[2, 3], [1, 6], [7, 1], [40, 3]]
    for (height, width), values in results:
        assert values == elements + [0] * (4 * height * width - 21)


SHAPES = [(2, 3), (1, 6), (7, 1), (5, 4)]

READ_THEIRS = """async ([values, customTexShape]) => {
  await tf.setBackend("webgl");
  const forwards = tf.env().getBool("WEBGL_CPU_FORWARD");
  tf.env().set("WEBGL_CPU_FORWARD", false); // so that few elements are on the GPU, too
  const x = tf.tensor(values).add(0);
  tf.env().set("WEBGL_CPU_FORWARD", forwards);
  const data = x.dataToGPU({ customTexShape });
  const { gl } = tf.backend().gpgpu;
  const framebuffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, data.texture, 0);
  const [height, width] = data.texShape;
  const texels = new Float32Array(4 * height * width);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, texels);
  gl.deleteFramebuffer(framebuffer);
  tf.dispose([x, data.tensorRef]);
  return [data.texShape, Array.from(texels).slice(0, values.length)];
}"""


def test_texels_are_those_of_tensorflow_js(
    fresh_python_page: PythonPage, tensorflow_page: PlaywrightPythonPage
):
    values = [index / 4 for index in range(21)]
    theirs = [tensorflow_page.page.evaluate(READ_THEIRS, [values, shape]) for shape in SHAPES]
    code = """
results = []
for shape in shapes:
    with wt.tensor(values).data_to_gpu(tuple(shape)) as data:
        results.append([list(data.tex_shape), read(data)[: len(values)]])
results
"""
    assert fresh_python_page.run(START + code, values=values, shapes=SHAPES) == theirs


def test_integers_and_truth_values_become_floats(fresh_python_page: PythonPage):
    code = """
[
    read(wt.tensor([1, -2, 3_000_000]).data_to_gpu((1, 1))),
    read(wt.tensor([True, False, True]).data_to_gpu((1, 1))),
    read((wt.tensor([1, 2]) > 1).data_to_gpu((1, 1))),
]
"""
    assert fresh_python_page.run(START + code) == [
        [1, -2, 3_000_000, 0],
        [1, 0, 1, 0],
        [0, 1, 0, 0],
    ]


def test_a_copy_outlives_its_tensor_and_is_given_back(fresh_python_page: PythonPage):
    code = """
first, second = wt.tensor(1.0), wt.tensor(5.0)
ones = wt.ones((8, 8))
(ones + first + second).dispose()
before = wt.memory()["num_bytes_in_gpu"]
x = ones + first
data = x.data_to_gpu((4, 4))
x.dispose()
y = ones + second  # takes the texture that x had
values = read(data)
during = wt.memory()["num_bytes_in_gpu"] - before
data.dispose()
data.dispose()
y.dispose()
values, during, wt.memory()["num_bytes_in_gpu"] - before, data.texture
"""
    values, during, after, texture = fresh_python_page.run(START + code)
    assert values == [2] * 64
    assert during == 2 * 256
    assert after == 0
    assert texture is None


def test_a_texture_of_the_page_stays_on_the_gpu(fresh_python_page: PythonPage):
    code = """
name = "WEBGL_DELETE_TEXTURE_THRESHOLD"
threshold = wt.env().get(name)
data = (wt.ones((64, 64)) + 1).data_to_gpu()
wt.env().set(name, 4096)
kept = [wt.ones((64, 64)) + n for n in range(4)]
totals = [float(wt.sum(x)) for x in kept]
paged = wt.memory()["backends"]["webgl"]["paged_textures"]
values = set(read(data))
wt.env().set(name, threshold)
paged > 0, totals, sorted(values)
"""
    assert fresh_python_page.run(START + code) == [True, [4096, 8192, 12288, 16384], [2]]


def test_what_cannot_be_handed_out(fresh_python_page: PythonPage):
    code = """
said = []
def attempt(x, *arguments):
    try:
        x.data_to_gpu(*arguments)
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
x = wt.ones((20,))
attempt(x, (2, 2))
attempt(x, (5,))
attempt(x, (0, 9))
attempt(x, (2.0, 4))
attempt(x, (1, 100_000))
attempt(wt.tensor(["a"]))
attempt(wt.complex([1.0], [2.0]))
attempt(wt.zeros((0,)))
wt.set_backend("wasm")
attempt(wt.ones((4,)))
wt.set_backend("webgl")
said
"""
    expected = [
        ("ValueError", "has room for 16 elements, but the tensor has 20"),
        ("ValueError", "custom_tex_shape must be two positive integers, not"),
        ("ValueError", "custom_tex_shape must be two positive integers, not"),
        ("TypeError", "custom_tex_shape must be two integers"),
        ("ValueError", "texels in a row or column, but custom_tex_shape is (1, 100000)"),
        ("TypeError", "must be real numbers, but they are string"),
        ("TypeError", "must be real numbers, but they are complex64"),
        ("ValueError", "the tensor has no elements; its shape is (0,)"),
        ("BackendUnavailableError", "backend 'wasm' has no textures to hand out"),
    ]
    said = fresh_python_page.run(START + code)
    assert len(said) == len(expected)
    for sentence, (kind, text) in zip(said, expected, strict=True):
        assert sentence.startswith(f"{kind}: data_to_gpu: ")
        assert text in sentence
