"""Every browser, in a page and in a worker, cross-origin isolated and not, on each backend."""

from __future__ import annotations

from tests_browser.prove.storage import in_worker
from tests_browser.prove.trials import Stage, Trial

CONTEXTS = ("page", "worker")
HOSTS = ("isolated", "plain")

TRAIN = """
import webtensor as wt

wt.set_backend(backend)
x = wt.reshape(wt.arange(600.0 * 300) % 13.0, (600, 300)) / 13.0
weights = wt.Variable(wt.zeros((300, 1)))
y = wt.sum(x, 1, keepdims=True) / 300
optimizer = wt.optimizers.Adam(0.01)
losses = []
for _ in range(epochs):
    loss = optimizer.minimize(lambda: wt.mean(wt.square(x @ weights - y)))
    losses.append(float((await loss.data())[0]))
assert losses[-1] < losses[0] / 2, losses
wide = wt.matmul(x, wt.matrix_transpose(x))
assert wide.shape == (600, 600)
has_threads = backend == "wasm" and wt.wasm.get_threads_count() > 1
f"{backend} {'threads' if has_threads else 'one thread' if backend == 'wasm' else 'GPU'}"
"""


def cell_computes(stage: Stage, trial: Trial, steps: int) -> str:
    """Train in one cell of the matrix."""
    page = stage.python(trial.browser)
    context, host = trial.variant.split("-")
    usual = page.base_url
    page.base_url = stage.site_url if host == "isolated" else stage.plain_site_url
    try:
        if page.base_url != usual:
            page.reload()
        is_isolated = bool(page.evaluate("globalThis.crossOriginIsolated === true"))
        answer = (
            in_worker(page, TRAIN, trial.backend, steps)
            if context == "worker"
            else page.run(TRAIN, backend=trial.backend, epochs=steps)
        )
    finally:
        if page.base_url != usual:
            page.base_url = usual
            page.spoil()
    name, _, how = str(answer).partition(" ")
    assert name == trial.backend
    assert how != "threads" or is_isolated
    return how


MATRIX_TRIALS = [
    Trial("matrix", cell_computes, "steps", 50, browser, backend, f"{context}-{host}")
    for host in HOSTS
    for browser in ("chromium", "firefox", "webkit")
    for context in CONTEXTS
    for backend in ("wasm", "webgl")
]
