"""When the browser takes the WebGL context away, what the host knows goes on by itself."""

from collections.abc import Iterator

import pytest

from tests_browser.python_page import UNTIL, PythonPage

START = (
    UNTIL
    + """
import js
import webtensor as wt

wt.set_backend("webgl")

def lose():
    wt.find_backend("webgl").gl.getExtension("WEBGL_lose_context").loseContext()

async def lose_and_wait():
    lost = wt.backend()
    lose()
    await until(lambda: wt.backend() is not lost)

def refused(function):
    try:
        function()
    except wt.ContextLostError as error:
        return str(error)
    return None

def counts():
    memory = wt.memory()
    return [memory[name] for name in ("num_tensors", "num_storages", "num_bytes")]
"""
)

ADVICE = (
    "webgl: the context was lost, and with it this tensor, which only the GPU had. Tensors that "
    "were made from the host's values, or read before, go on by themselves: compute this one again "
    "from them. Give variables that training has changed the values of a tensor that was read."
)


@pytest.fixture
def page(any_python_page: PythonPage) -> Iterator[PythonPage]:
    """A page of each browser, for a test that leaves it with other functions or backends."""
    yield any_python_page
    any_python_page.spoil()


MODEL = """
weights = wt.Variable([[0.5, -1.0], [2.0, 1.0], [1.0, 1.0]])
x = wt.tensor([[1.0, 2.0, 3.0]])

def model(x):
    return wt.relu(wt.matmul(x, weights) * 2 + 1)

expected = model(x).tolist()
before = counts()
"""


def test_inference_goes_on_by_itself(any_python_page: PythonPage):
    answer = any_python_page.run(
        START
        + MODEL
        + """
await lose_and_wait()
after_event = model(x).tolist()
seen = wt.profile(lambda: model(x))
fallbacks = [list(key) for key in seen.fallbacks]
del seen
memory = wt.memory()["backends"]["webgl"]["textures"]
await lose_and_wait()
awaited = [list(await model(x).data())]
await wt.warm_up(model, (1, 3))
[expected, after_event, awaited, fallbacks, before, counts(), memory, wt.get_backend()]
"""
    )
    expected, after_event, awaited, fallbacks, before, after, textures, active = answer
    assert after_event == awaited == expected == [[16, 9]]
    assert fallbacks == []
    assert after == before
    assert textures >= 2
    assert active == "webgl"


def test_a_loss_that_nobody_was_told_of(any_python_page: PythonPage):
    # Before the event: the first draw, the first upload and the first read find out.
    answer = any_python_page.run(
        START
        + MODEL
        + """
lose()
by_draw = model(x).tolist()
lose()
by_upload = model(wt.tensor([[1.0, 2.0, 3.0]])).tolist()
y = model(x)
lose()
by_read = refused(y.tolist)
again = model(x).tolist()
del y
await asyncio.sleep(0.1)  # the events come now, for contexts that nobody uses any more
[[by_draw, by_upload, again], by_read, before, counts(), model(x).tolist()]
"""
    )
    computed, by_read, before, after, last = answer
    assert computed == [[[16, 9]]] * 3
    assert by_read.replace(" during a read", "") == ADVICE
    assert after == before
    assert last == [[16, 9]]


def test_a_lost_tensor_says_what_to_do(any_python_page: PythonPage):
    answer = any_python_page.run(
        START
        + """
x = wt.tensor([1.0, 2.0])
lost, read = x * 3, x * 5
read.tolist()
await lose_and_wait()
errors = [refused(lost.tolist), refused(lambda: lost + 1), refused(lambda: wt.matmul(lost, x))]
try:
    await lost.data()
except wt.ContextLostError as error:
    errors.append(str(error))
[errors, repr(lost), (read + x).tolist()]
"""
    )
    errors, shown, computed = answer
    assert errors == [ADVICE] * 4
    assert shown == "Tensor(lost, shape=(2,), dtype=float32, device=webgl)"
    assert computed == [6, 12]


def test_what_is_awaited_when_the_context_goes(any_python_page: PythonPage):
    answer = any_python_page.run(
        START
        + """
# The GPU is at it for as long as the context lives.
js.Function.new("gl", "gl.clientWaitSync = () => gl.TIMEOUT_EXPIRED")(wt.backend().gl)
x = wt.ones((256, 256))
reads = [asyncio.ensure_future(wt.matmul(x, x * float(n)).data()) for n in range(5)]
finish = asyncio.ensure_future(wt.backend().finish())
await asyncio.sleep(0)
lose()
results = await asyncio.gather(*reads, finish, return_exceptions=True)
kinds = {type(result).__name__ for result in results}
said = {str(result).partition(",")[0] for result in results}
host = wt.tensor([1.0, 2.0])
pending = wt.memory()["backends"]["webgl"]["pending_reads"]
[sorted(kinds), sorted(said), (host + 1).tolist(), pending]
"""
    )
    kinds, said, computed, pending = answer
    assert kinds == ["ContextLostError"]
    assert set(said) <= {
        "webgl: the context was lost",
        "webgl: the context was lost during a read",
    }
    assert computed == [2, 3]
    assert pending == 0


def test_while_no_context_can_be_had_another_backend_computes(page: PythonPage):
    answer = page.run(
        START
        + MODEL
        + """
js.eval('''
  window.kept = [OffscreenCanvas, HTMLCanvasElement].map((canvas) => canvas.prototype.getContext);
  OffscreenCanvas.prototype.getContext = HTMLCanvasElement.prototype.getContext = () => null;
''')
lose()
await asyncio.sleep(0.1)
seen = wt.profile(lambda: model(x))
without = seen.result.tolist(), sorted({key[1:] for key in seen.fallbacks}), wt.get_backend()
js.eval('''
  [OffscreenCanvas, HTMLCanvasElement].forEach(
    (canvas, index) => (canvas.prototype.getContext = kept[index]));
''')
model(x).tolist()
seen = wt.profile(lambda: model(x))
[without, [seen.result.tolist(), list(seen.fallbacks), wt.get_backend()]]
"""
    )
    without, restored = answer
    assert without == [[[16, 9]], [["webgl", "wasm"]], "webgl"]
    assert restored == [[[16, 9]], [], "webgl"]


TRAINING = """
inputs = wt.random_normal((32, 4), seed=1).tolist()
targets = [[sum(row)] for row in inputs]

def fresh():
    return (
        [wt.Variable([[0.0]] * 4), wt.Variable([0.0])],
        wt.optimizers.Adam(0.1),
    )

def step(variables, optimizer, batch):
    weights, bias = variables
    x = wt.tensor(inputs[batch * 8 : batch * 8 + 8])
    y = wt.tensor(targets[batch * 8 : batch * 8 + 8])
    return optimizer.minimize(lambda: wt.mean(wt.square(wt.matmul(x, weights) + bias - y)))

async def train(lose_at):
    # Save after each epoch; where the context goes, take up the epoch again.
    variables, optimizer = fresh()
    epoch, losses, resumed = 0, [], 0
    while epoch < 4:
        try:
            for batch in range(4):
                loss = step(variables, optimizer, batch)
                if (epoch, batch) == lose_at:
                    lose_at = None
                    lose()
                if batch % 2:
                    await loss.data()
            losses.append(float(loss))
            saved = [(one, one.value) for one in [*variables, *optimizer.variables]]
            steps = optimizer.iterations
            for _, value in saved:
                await value.data()
            epoch += 1
        except wt.ContextLostError:
            resumed += 1
            for variable, value in saved:
                variable.assign(value)
            optimizer.iterations = steps
    return losses, resumed, [one.tolist() for one in variables]
"""


@pytest.mark.parametrize("batch", [0, 1, 3])
def test_training_resumes_after_the_context_was_lost(python_page: PythonPage, batch: int):
    whole, interrupted = python_page.run(
        START + TRAINING + "[await train(None), await train((2, batch))]", batch=batch
    )
    assert whole[1] == 0
    assert interrupted[1] == 1
    assert interrupted[0] == whole[0]
    assert interrupted[2] == whole[2]
    assert whole[0][-1] < whole[0][0]


def test_a_context_that_was_given_up_is_not_replaced(page: PythonPage):
    answer = page.run(
        START
        + """
x = wt.tensor([1.0]) + 1
wt.remove_backend("webgl")
await asyncio.sleep(0.1)
computed = (wt.ones(1) + 1).tolist()
[wt.registered_backends(), wt.get_backend(), refused(x.tolist) is not None, computed]
"""
    )
    registered, active, lost, computed = answer
    assert "webgl" not in registered
    assert active == "wasm"
    assert lost
    assert computed == [2]
