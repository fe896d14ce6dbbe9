"""The backend on a context of the page's own, whose scene must not notice."""

from tests_browser.python_page import UNTIL, PythonPage

#: A page that draws a textured triangle in pieces, with all sorts of state that it sets only once.
SCENE = """
import js
import webtensor as wt
from pyodide.code import run_js

scene = run_js('''(() => {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { antialias: false });
  [canvas.width, canvas.height] = [16, 16];
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, `#version 300 es
      in vec2 at; out vec2 uv;
      void main() { uv = at; gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0); }`],
    [gl.FRAGMENT_SHADER, `#version 300 es
      precision highp float; uniform sampler2D image; in vec2 uv; out vec4 color;
      void main() { color = texture(image, uv); }`],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  const vertices = gl.createVertexArray();
  gl.bindVertexArray(vertices);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, Float32Array.of(0, 0, 1, 0, 0, 1), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(gl.getAttribLocation(program, "at"));
  gl.vertexAttribPointer(gl.getAttribLocation(program, "at"), 2, gl.FLOAT, false, 0, 0);
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
  gl.pixelStorei(gl.UNPACK_SKIP_PIXELS, 0);
  gl.activeTexture(gl.TEXTURE0 + 3);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 2, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE,
    Uint8Array.of(255, 0, 0, 255, 0, 255, 0, 128, 0, 0, 255, 255, 9, 9, 9, 255));
  gl.pixelStorei(gl.UNPACK_ROW_LENGTH, 5);
  gl.pixelStorei(gl.PACK_ALIGNMENT, 2);
  const sampler = gl.createSampler();
  gl.samplerParameteri(sampler, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.samplerParameteri(sampler, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  gl.bindSampler(3, sampler);
  gl.bindSampler(0, sampler);
  gl.useProgram(program);
  gl.uniform1i(gl.getUniformLocation(program, "image"), 3);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.enable(gl.CULL_FACE);
  gl.frontFace(gl.CCW);
  gl.enable(gl.SCISSOR_TEST);
  gl.scissor(2, 3, 9, 11);
  gl.colorMask(true, false, true, true);
  gl.viewport(1, 0, 15, 14);
  const packing = gl.createBuffer();
  gl.bindBuffer(gl.PIXEL_PACK_BUFFER, packing);
  gl.bufferData(gl.PIXEL_PACK_BUFFER, 1024, gl.STREAM_READ);
  gl.clearColor(0.25, 0.5, 0.75, 1);

  const NAMES = Object.getOwnPropertyNames(WebGL2RenderingContext.prototype).filter((name) =>
    /^(BLEND|CULL_FACE|DEPTH_TEST|DITHER|SCISSOR_TEST|STENCIL_TEST|RASTERIZER_DISCARD)$/.test(name)
    || /_BINDING(_2D)?$|^(UN)?PACK_|^CURRENT_PROGRAM$|^ACTIVE_TEXTURE$|^VIEWPORT$/.test(name)
    || /^SCISSOR_BOX$|^COLOR_WRITEMASK$|^COLOR_CLEAR_VALUE$/.test(name)
    || /^READ_BUFFER$|^DRAW_BUFFER0$/.test(name)
  ).filter((name) => [gl.getParameter(gl[name]), gl.getError()][1] === 0);
  const numbers = new Map();
  const plain = (value) => {
    if (value === null || typeof value !== "object") return value;
    if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value);
    if (!numbers.has(value)) numbers.set(value, numbers.size);
    return `object ${numbers.get(value)}`;
  };
  return {
    gl,
    state: () => {
      const seen = NAMES.map((name) => [name, plain(gl.getParameter(gl[name]))]);
      const active = gl.getParameter(gl.ACTIVE_TEXTURE);
      for (let unit = 0; unit < 8; unit++) {
        gl.activeTexture(gl.TEXTURE0 + unit);
        seen.push([unit, plain(gl.getParameter(gl.TEXTURE_BINDING_2D))]);
        seen.push([unit, plain(gl.getParameter(gl.SAMPLER_BINDING))]);
      }
      gl.activeTexture(active);
      return JSON.stringify(seen);
    },
    draw: () => {
      gl.colorMask(true, true, true, true);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      gl.colorMask(true, false, true, true);
      const pixels = new Uint8Array(1024);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      gl.readPixels(0, 0, 16, 16, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, packing);
      return String(pixels);
    },
  };
})()''')
"""


def test_the_scene_does_not_notice(fresh_python_page: PythonPage):
    code = """
state, picture = scene.state(), scene.draw()
changes = []
def watch(what):
    if scene.state() != state:
        changes.append([what, state, scene.state()])
    if scene.draw() != picture:
        changes.append([what, "another picture"])

wt.webgl.set_context(scene.gl)
wt.set_backend("webgl")
watch("start")
x = wt.random_normal((2, 9, 9, 3), seed=1)
filter = wt.random_normal((3, 3, 3, 5), seed=2)
data = js.ImageData.new(3, 2)
data.data.assign(bytes(range(24)))

async def compute():
    kept = []
    for step in (
        lambda: wt.conv2d(x, filter, 1, "same"),
        lambda: wt.matmul(wt.reshape(x, (54, 9)), wt.ones((9, 7))),
        lambda: wt.sort(wt.reshape(x, (6, 81))),
        lambda: wt.browser.from_pixels(data, 4),
        lambda: wt.sum(wt.tensor([True, False, True])),
    ):
        kept.append(step())
        wt.backend().flush()
        watch("draw")
        kept[-1].data_sync()
        watch("read")
        kept[-1] = kept[-1] * 2
        await kept[-1].data()
        watch("awaited read")
    await wt.warm_up(lambda x: wt.sinh(x) / 3, (4, 4))
    watch("programs compiled ahead")
    canvas = js.document.createElement("canvas")
    wt.browser.draw(kept[3] / 2 / 255, canvas)
    watch("picture")
    numbers = [n for one in kept for n in one.flatten().tolist()]
    return numbers, (scene.gl.canvas.width, canvas.width)

given, sizes = await compute()
used = str(wt.backend().gl) == str(scene.gl) and wt.backend().gl.canvas.width == 16
timed = wt.backend().has_timer
del x, filter
wt.remove_backend("webgl")
watch("end")
lost, error = scene.gl.isContextLost(), scene.gl.getError()
wt.set_backend("wasm")
x = wt.random_normal((2, 9, 9, 3), seed=1)
filter = wt.random_normal((3, 3, 3, 5), seed=2)
expected, _ = await compute()
worst = max(abs(p - q) for p, q in zip(given, expected, strict=True))
[changes, used, timed, lost, error, sizes, worst]
"""
    changes, used, timed, lost, error, sizes, worst = fresh_python_page.run(SCENE + code)
    assert changes == []
    assert used
    assert not timed
    assert not lost
    assert error == 0
    assert sizes == [16, 3]
    assert worst < 1e-3


def test_what_is_no_context_to_compute_on(fresh_python_page: PythonPage):
    code = """
import js
import webtensor as wt
from pyodide.code import run_js
said = []
def attempt(gl):
    try:
        wt.webgl.set_context(gl)
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
def context(kind):
    return js.document.createElement("canvas").getContext(kind)
attempt(context("2d"))
attempt(context("webgl"))
attempt(3)
lost = context("webgl2")
lost.getExtension("WEBGL_lose_context").loseContext()
attempt(lost)
good = context("webgl2")
attempt(good)
attempt(None)
wt.set_backend("webgl")
attempt(good)
said, run_js('(a, b) => a === b')(wt.backend().gl, good), (wt.ones((2,)) + 1).tolist()
"""
    said, is_good, values = fresh_python_page.run(code)
    assert [message.split(":")[0] for message in said] == [
        *["TypeError"] * 3,
        "BackendUnavailableError",
        "RuntimeError",
    ]
    assert "taken the graphics device away" in said[3]
    assert not is_good
    assert values == [2, 2]


def test_a_context_that_was_lost_comes_back(fresh_python_page: PythonPage):
    code = (
        UNTIL
        + """
import js
import webtensor as wt
from pyodide.code import run_js
gl = js.document.createElement("canvas").getContext("webgl2")
lost = run_js('''(canvas) => {
  const lost = [];
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    lost.push(event);
  });
  return lost;
}''')(gl.canvas)
wt.webgl.set_context(gl)
wt.set_backend("webgl")
x = wt.tensor([1.0, 2.0])
def where(y):
    return [y.tolist(), y.storage.backend.name]
answers = [where(x + 1)]
extension = gl.getExtension("WEBGL_lose_context")
extension.loseContext()
await until(lambda: lost.length)
answers.append(where(x + 1))
extension.restoreContext()
await until(lambda: not gl.isContextLost())
answers.append(where(x + 1))
answers, wt.get_backend()
"""
    )
    answers, active = fresh_python_page.run(code)
    assert [values for values, _ in answers] == [[2, 3]] * 3
    assert [name for _, name in answers] == ["webgl", "wasm", "webgl"]
    assert active == "webgl"
