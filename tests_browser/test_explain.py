"""`wt.webgl.explain` tells what is drawn, and `wt.memory` what is held for it."""

from tests_browser.python_page import PythonPage

EXPLAIN = """
import webtensor as wt

wt.set_backend("wasm")
x = wt.ones((6, 8))
weights = wt.Variable([[0.5] * 4] * 8)

def layer(x):
    return wt.reshape(wt.relu(wt.matmul(x, weights) + 1), (24,))

before = wt.memory()["num_tensors"]
seen = wt.webgl.explain(layer, x)
left = wt.memory()["num_tensors"] - before
matmul, add, relu, reshape = seen.operations
{
    "names": [operation.name for operation in seen.operations],
    "matmul": [str(matmul.output), [str(layout) for draw in matmul.draws for layout in draw.inputs],
               [str(layout) for draw in matmul.draws for layout in draw.outputs]],
    "reshaped": [len(reshape.draws), reshape.device, str(reshape)],
    "text": repr(seen),
    "glsl": seen.glsl(),
    "programs": len(seen.programs),
    "draws": len(seen.draws),
    "same": wt.backend().name,
    "left": left,
    "untraced": wt.find_backend("webgl").trace is None,
}
"""


def test_explain_shows_programs_shapes_and_textures(any_python_page: PythonPage):
    answer = any_python_page.run(EXPLAIN)
    assert answer["names"] == ["matmul", "add", "relu", "reshape"]
    output, read, written = answer["matmul"]
    assert "(6, 4)" in output
    assert read == ["4×3 RGBA32F", "4×2 RGBA32F"]  # 12 and 8 texels
    assert written == ["4×2 RGBA32F"]  # 6 texels
    assert answer["reshaped"][:2] == [0, "webgl"]
    assert "no draw" in answer["reshaped"][2]
    assert "matmul(float32 (6, 8), float32 (8, 4)) -> float32 (6, 4)" in answer["text"]
    assert "4×3 RGBA32F, 4×2 RGBA32F -> 4×2 RGBA32F" in answer["text"]
    assert answer["text"].endswith(f"{answer['draws']} draws with {answer['programs']} programs")
    assert answer["glsl"].count("#version 300 es") == answer["programs"] == 3
    assert "getX(" in answer["glsl"]
    assert answer["same"] == "wasm"
    assert answer["left"] == 0
    assert answer["untraced"]


SEVERAL = """
import webtensor as wt

wt.set_backend("webgl")
x = wt.ones((256, 256))
seen = wt.webgl.explain(lambda: wt.matmul(x, x))
try:
    wt.webgl.explain(lambda: wt.exp(wt.zeros((2,))) / "x")
except Exception as error:
    failed = type(error).__name__
[[len(draw.outputs) for draw in seen.draws], list(map(str, seen.draws)), len(seen.programs), failed,
 wt.backend().trace is None]
"""


def test_explain_shows_draws_to_several_textures(python_page: PythonPage):
    outputs, (tiles, copies), programs, failed, untraced = python_page.run(SEVERAL)
    assert outputs == [8, 1]
    assert "matmul: 64×256 RGBA32F, 64×256 RGBA32F -> 64×32 RGBA32F, " in tiles
    assert copies.startswith("copy: 64×32 RGBA32F, ")
    assert copies.endswith(" -> 64×256 RGBA32F")
    assert programs == 1
    assert failed in ("TypeError", "ValueError")
    assert untraced


MEMORY = """
import webtensor as wt

wt.set_backend("webgl")
wt.backend()

def counts():
    held = wt.memory()
    return [
        *[held[f"num_bytes_in_gpu{part}"] for part in ("", "_allocated", "_free")],
        *[held["backends"]["webgl"][name] for name in ("textures", "free_textures", "programs")],
    ]

seen = [counts()]
x = wt.full((4096,), 2.5)  # 32 × 32 texels of 16 bytes
seen.append(counts())
y = wt.full((4096,), True, dtype="bool")
seen.append(counts())
del x
seen.append(counts())
z = wt.full((32, 128), 1.5)
seen.append(counts())
seen
"""


def test_memory_counts_bytes_on_the_gpu(python_page: PythonPage):
    python_page.reload()
    empty, one, two, freed, reused = python_page.run(MEMORY)
    assert empty == [0, 0, 0, 0, 0, 0]
    assert one[:5] == [16384, 16384, 0, 1, 0]
    assert two[:5] == [20480, 20480, 0, 2, 0]
    assert two[5] > one[5] > 0
    assert freed[:5] == [4096, 20480, 16384, 1, 1]
    assert reused == two
