"""Models from a server whose answers break off, are cut short or fail."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests_browser.prove.trials import Stage, Trial
from web.serve import running
from webtensor import keras

#: `cut`: the connection ends before all the bytes that the answer announced; `short`: the answer
#: announces and has fewer bytes; `error`: the server has a fault.
FAULTS = ("cut", "short", "error")


def files_of_model() -> dict[str, bytes]:
    """Return the files of a small model."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5), keras.layers.Dense(2)])
    return keras.saving.layers_model_files(model)


class FaultyRequestHandler(BaseHTTPRequestHandler):
    """Serves the files of one model at `/<fault>/<number of bytes>/<faulty file>/<file>`."""

    protocol_version = "HTTP/1.1"
    files: dict[str, bytes]

    def do_GET(self) -> None:
        """Answer with a file, which is broken if it is the faulty one."""
        fault, count, faulty, name = urlsplit(self.path).path.split("/")[1:]
        data = self.files[name]
        sent = data[: int(count)] if name == faulty else data
        failed = name == faulty and fault == "error"
        self.send_response(HTTPStatus.SERVICE_UNAVAILABLE if failed else HTTPStatus.OK)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cross-Origin-Resource-Policy", "cross-origin")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(data if fault == "cut" else sent)))
        self.end_headers()
        self.wfile.write(sent)
        self.close_connection = len(sent) < len(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing: the faults are meant."""


@contextmanager
def faulty_server(files: dict[str, bytes]) -> Iterator[str]:
    """Serve the files of a model with faults, and yield the server's URL."""
    handler = type("Handler", (FaultyRequestHandler,), {"files": files})
    with running(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as url:
        yield url


LOAD = """
import gc
import webtensor as wt
from webtensor import keras

wt.set_backend(backend)

def counts():
    gc.collect()
    memory = wt.memory()
    return [memory[name] for name in ("num_tensors", "num_storages", "num_bytes")]

async def outcome(address):
    try:
        await keras.saving.load_layers_model_async(address)
    except (OSError, wt.ModelFormatError) as error:
        return type(error).__name__, str(error)
    except BaseException as error:
        return "unexpected " + type(error).__name__, str(error)
    return None

await outcome(whole)
before = counts()
outcomes = [await outcome(address) for address in addresses]
[outcomes, before == counts(), await outcome(whole)]
"""
#: Addresses of one call to the page.
CHUNK = 200


def faults_of(files: dict[str, bytes], count: int) -> list[str]:
    """Return the paths of about `count` faulty answers, spread over the bytes of all files."""
    total = sum(map(len, files.values()))
    step = max(1, total * len(FAULTS) // count)
    paths = []
    for name, data in sorted(files.items()):
        for fault in FAULTS:
            cuts = range(0, len(data), step * len(FAULTS) if fault == "error" else step)
            paths += [f"{fault}/{cut}/{name}/model.json" for cut in cuts]
    return paths


def broken_downloads_are_told_of(stage: Stage, trial: Trial, count: int) -> str:
    """Load a model whose files break off at each of their bytes: an error each, and no leak."""
    page = stage.python(trial.browser)
    files = files_of_model()
    paths = faults_of(files, count)
    with faulty_server(files) as url:
        whole = f"{url}/cut/0/none/model.json"
        for start in range(0, len(paths), CHUNK):
            addresses = [f"{url}/{path}" for path in paths[start : start + CHUNK]]
            outcomes, is_level, last = page.run(
                LOAD, backend=trial.backend, addresses=addresses, whole=whole
            )
            page.take_errors()  # browsers write the failed requests there
            for address, outcome in zip(addresses, outcomes, strict=True):
                assert outcome is not None, f"{address} was loaded"
                kind, message = outcome
                assert not kind.startswith("unexpected"), f"{address}: {kind}: {message}"
                assert re.search(r"model\.json|\.bin", message), f"{address}: {message}"
            assert is_level, "tensors leaked"
            assert last is None, f"a whole model was refused after the faults: {last}"
    total = sum(map(len, files.values()))
    return f"{len(paths)} faults over {total:,} bytes of {len(files)} files; each raised an error"


NETWORK_TRIALS = [
    Trial("network", broken_downloads_are_told_of, "faults", 5_000, browser, "wasm")
    for browser in ("chromium", "firefox", "webkit")
]
