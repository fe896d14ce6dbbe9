"""Training in a hidden tab, whose frames and timers the browser holds back."""

from tests_browser.prove.trials import Stage, Trial
from tests_browser.python_page import PlaywrightPythonPage

#: What browsers do to a tab when it becomes hidden, before the page is told: no frames.
NO_FRAMES = "void (globalThis.requestAnimationFrame = () => 0)"
#: And what they do then: timers end at most once a second.
HIDE = """
(() => {
  const MINIMUM_MS = 1000;
  Object.defineProperty(Document.prototype, "hidden", { get: () => true });
  Object.defineProperty(Document.prototype, "visibilityState", { get: () => "hidden" });
  const later = globalThis.setTimeout;
  globalThis.throttled = 0;
  globalThis.setTimeout = (callback, delay = 0, ...rest) => {
    throttled++;
    return later(callback, Math.max(delay, MINIMUM_MS), ...rest);
  };
})()
"""
TRAIN = """
import js
import webtensor as wt
from webtensor import keras

wt.set_backend(backend)
x = wt.random_normal((64, 4), seed=1)
y = wt.sum(x, 1, keepdims=True)
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("adam", "mse")
history = await model.fit_async(x, y, epochs=epochs, batch_size=16, shuffle=False, verbose=0)
[js.document.hidden, history.history["loss"], (await model.predict_async(x[:2])).tolist()]
"""


def hidden_tab_trains(stage: Stage, trial: Trial, epochs: int) -> str:
    """Train in a hidden tab, whose timers wait a second each, and in a visible one."""
    options = {"backend": trial.backend, "epochs": epochs}
    is_hidden, losses, predictions = stage.python(trial.browser).run(TRAIN, **options)
    assert is_hidden is False
    context = stage.browser(trial.browser).new_context()
    python = PlaywrightPythonPage(trial.browser, stage.site_url, context.new_page())
    python.evaluate(NO_FRAMES)
    python.run("import webtensor as wt\nawait wt.next_frame()")
    python.evaluate(HIDE)
    hidden = python.run(TRAIN, **options)
    timers = python.evaluate("throttled")
    context.close()
    assert hidden == [True, losses, predictions]
    return f"{epochs} epochs with {timers} timers of a second each; losses are identical"


VISIBILITY_TRIALS = [
    Trial("hidden", hidden_tab_trains, "epochs", 10, browser, backend)
    for browser in ("chromium", "firefox")
    for backend in ("wasm", "webgl")
]
