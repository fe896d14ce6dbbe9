"""Training for long, while contexts are lost, and while threads are killed.

All train the same small network on the same numbers, so its weights must be the same whatever
happens on the way.
"""

from tests_browser.prove.trials import Stage, Trial

#: Defines a network and `train`, which are kept from one run in the page to the next.
NETWORK = """
import asyncio
import gc
import sys
from types import SimpleNamespace

import js
import webtensor as wt

wt.set_backend(backend)

def batches():
    '''Batches made of the host's numbers, which outlive a lost context.'''
    inputs = wt.random_normal((128, width), seed=1)
    targets = wt.sin(wt.sum(inputs, 1, keepdims=True))
    x, y = inputs.tolist(), targets.tolist()
    return [(wt.tensor(x[n : n + 32]), wt.tensor(y[n : n + 32])) for n in range(0, 128, 32)]

BATCHES = batches()

class Training:
    '''A network of two layers, its optimizer, and the number of steps that it has made.'''

    def __init__(self):
        self.weights = [
            wt.Variable(wt.random_normal((width, width), stddev=0.2, seed=2)),
            wt.Variable(wt.zeros((width,))),
            wt.Variable(wt.random_normal((width, 1), stddev=0.2, seed=3)),
        ]
        self.optimizer = wt.optimizers.Adam(0.01)
        self.steps = 0

    def step(self):
        x, y = BATCHES[self.steps % len(BATCHES)]
        first, bias, second = self.weights
        loss = self.optimizer.minimize(
            lambda: wt.mean(wt.square(wt.tanh(x @ first + bias) @ second - y))
        )
        self.steps += 1
        return loss

    async def run(self, count):
        '''Make steps, and wait for a loss now and then as a page does.'''
        for number in range(count):
            loss = self.step()
            if number % 50 == 49:
                await loss.data()
        return float((await loss.data())[0])

    async def read(self):
        '''The elements of all variables.'''
        variables = [*self.weights, *self.optimizer.variables]
        return [(await one.value.flatten().data()).tolist() for one in variables]

def memory():
    '''What must stay as it is, and what may grow within bounds.'''
    gc.collect()
    memory = wt.memory()
    counts = memory["backends"][backend]
    exact = {name: memory[name] for name in ("num_tensors", "num_storages", "num_bytes")}
    exact |= {name: counts[name] for name in ("bytes", "textures", "programs") if name in counts}
    bounded = {name: counts[name] for name in BOUNDED if name in counts}
    bounded["python_objects"] = len(gc.get_objects())
    bounded["python_heap_bytes"] = js.pyodide._module.HEAPU8.length
    return exact, bounded

BOUNDED = ("free_textures", "free_bytes", "heap_bytes")
"""

KEEP = "sys.modules['kept_training'] = SimpleNamespace(training=Training(), memory=memory)\n"
KEPT = "from kept_training import training, memory\n"

#: Steps in one call to the page, between which the figures are looked at.
CHUNK = 1000


def memory_stays_flat(stage: Stage, trial: Trial, steps: int) -> str:
    """Train for many steps, and compare what is allocated at the end with a tenth of the way."""
    page = stage.python(trial.browser)
    page.run(NETWORK + KEEP, backend=trial.backend, width=16)
    run = KEPT + "[await training.run(count), *memory()]"
    # Each step of Adam has attributes of its own, so the cache of described calls fills up first.
    warm_up = max(steps // 10, 300)
    first_loss = page.run(KEPT + "await training.run(1)")
    _, exact, bounded = page.run(run, count=warm_up - 1)
    for start in range(warm_up, steps, CHUNK):
        loss, *after = page.run(run, count=min(CHUNK, steps - start))
        assert after[0] == exact, f"after {start + CHUNK} steps"
        for name, before in bounded.items():
            assert after[1][name] <= 1.25 * before, f"{name} after {start + CHUNK} steps"
    assert loss < first_loss, f"the loss was {first_loss} and is {loss}"
    assert page.run(KEPT + "training.steps") == steps
    page.run("import sys; del sys.modules['kept_training']")
    heap = after[1]["python_heap_bytes"] / 2**20
    return (
        f"{exact['num_tensors']} tensors and {exact['num_bytes']:,} bytes after a tenth and at the"
        f" end; {bounded['python_objects']:,} Python objects became"
        f" {after[1]['python_objects']:,}; Python's heap has {heap:.0f} MiB"
    )


LOSE_CONTEXTS = (
    NETWORK
    + """
def lose():
    wt.find_backend("webgl").gl.getExtension("WEBGL_lose_context").loseContext()

async def train(steps, lose_every=None):
    '''Train; restore the variables that were last read where the context was lost.'''
    training, lost = Training(), 0
    lost_at = saved_at = 0
    saved = await training.read()
    while training.steps < steps:
        try:
            training.step()
            if lose_every and training.steps % lose_every == 0 and training.steps > lost_at:
                lost_at, lost = training.steps, lost + 1
                lose()
            if training.steps % 10 == 0:
                saved, saved_at = await training.read(), training.steps
        except wt.ContextLostError:
            training.steps = training.optimizer.iterations = saved_at
            for variable, values in zip(
                [*training.weights, *training.optimizer.variables], saved, strict=True
            ):
                variable.assign(wt.tensor(values, shape=variable.shape))
    return await training.read(), lost

whole, interrupted = await train(steps), await train(steps, 50)
[whole[0] == interrupted[0], interrupted[1]]
"""
)


def weights_survive_lost_contexts(stage: Stage, trial: Trial, steps: int) -> str:
    """Train twice, once losing the context every 50 steps; the weights are the same."""
    page = stage.python(trial.browser)
    is_same, lost = page.run(LOSE_CONTEXTS, backend="webgl", width=16, steps=steps)
    page.spoil()
    assert is_same, "the weights differ"
    assert lost == steps // 50
    return f"{lost} contexts were lost; weights and the optimizer's state are identical"


KILL_THREADS = (
    NETWORK
    + """
async def train(steps, kill_every=None):
    training, killed = Training(), 0
    wt.wasm.set_threads_count(2)
    for number in range(steps):
        training.step()
        if kill_every and number % kill_every == 0:
            while js.startedWorkers.length:
                js.startedWorkers.pop().terminate()
                killed += 1
        if kill_every and number % kill_every == kill_every // 2:
            wt.wasm.set_threads_count(1)
            wt.wasm.set_threads_count(2)
            await asyncio.sleep(0)
    return await training.read(), killed

threads = wt.wasm.get_threads_count()
whole, interrupted = await train(steps), await train(steps, 20)
wt.wasm.set_threads_count(threads)
[whole[0] == interrupted[0], interrupted[1]]
"""
)
NOTE_WORKERS = """(() => {
  globalThis.startedWorkers = [];
  globalThis.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      startedWorkers.push(this);
    }
  };
})()"""


def weights_survive_killed_threads(stage: Stage, trial: Trial, steps: int) -> str:
    """Train twice on two threads, once killing the second again and again; the weights agree."""
    page = stage.python(trial.browser)
    page.evaluate(NOTE_WORKERS)
    is_same, killed = page.run(KILL_THREADS, backend="wasm", width=192, steps=steps)
    page.spoil()
    assert is_same, "the weights differ"
    assert killed >= steps // 20
    return f"{killed} workers were killed; weights and the optimizer's state are identical"


TRAINING_TRIALS = [
    *(
        Trial("training", memory_stays_flat, "steps", length, browser, backend)
        for browser in ("chromium", "firefox", "webkit")
        for backend, length in (("wasm", 100_000), ("webgl", 20_000))
    ),
    *(
        Trial("contexts", weights_survive_lost_contexts, "steps", 2_000, browser, "webgl")
        for browser in ("chromium", "firefox", "webkit")
    ),
    *(
        Trial("threads", weights_survive_killed_threads, "steps", 4_000, browser, "wasm")
        for browser in ("chromium", "firefox")
    ),
]
