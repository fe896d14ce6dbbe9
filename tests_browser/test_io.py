"""Places of models in pages: servers, storages and files, shared with TensorFlow.js.

What is the same outside of pages is tested in `tests_py/io`, here is what JavaScript does.
"""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Download, Route

import webtensor as wt
from tests_browser.prove.storage import in_worker
from tests_browser.python_page import PlaywrightPythonPage, PythonPage
from tests_py.io.example_model import FILES, SHARDS, SIZE, changed
from tests_py.io.web_server import Answer, Server, serving

#: Tells pages of other origins that they may read the answers.
SHARED = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}

COMMON = """
import asyncio
import gc

import js
import webtensor as wt

wt.set_backend("wasm")

def counts():
    gc.collect()
    memory = wt.memory()
    return [memory[name] for name in ("num_tensors", "num_storages", "num_bytes")]

def described(artifacts):
    weights = wt.io.decode_weights(artifacts.weight_data or b"", artifacts.weight_specs or [])
    return {
        "topology": artifacts.model_topology,
        "format": artifacts.format,
        "pieces": len(artifacts.weight_data) if isinstance(artifacts.weight_data, list) else 0,
        "sums": {name: [value.size, value.tolist()[-1]] for name, value in weights.items()},
    }

async def outcome(awaitable):
    try:
        return described(await awaitable)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""
MODEL = {
    "topology": {"class_name": "Sequential"},
    "format": "layers-model",
    "sums": {"a": [SIZE - 5, SIZE - 6], "b": [5, SIZE - 1]},
}


def shared(files: Any) -> dict[str, Answer]:
    """Answers that pages of other origins may read."""
    answers = {}
    for path, answer in files.items():
        answer = answer if isinstance(answer, Answer) else Answer(answer)
        answer.headers = {**SHARED, **answer.headers}
        answers[path] = answer
    return answers


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(shared(FILES)) as served:
        yield served


# -- servers -----------------------------------------------------------------------------------

LOAD = (
    COMMON
    + """
await wt.io.load_artifacts_async(url)
before = counts()
fractions = []
artifacts = await wt.io.load_artifacts_async(url, on_progress=fractions.append)
answer = described(artifacts)
del artifacts
{
    **answer,
    "is_level": counts() == before,
    "fractions": [fractions[0], fractions[-1], fractions == sorted({*fractions}), len(fractions)],
}
"""
)


def test_a_model_is_loaded(any_python_page: PythonPage, server: Server) -> None:
    answer = any_python_page.run(LOAD, url=f"{server.url}/m/model.json")
    first, last, ascends, count = answer.pop("fractions")
    assert (first, last, ascends) == (0.0, 1.0, True)
    assert count >= len(SHARDS)
    assert answer == {**MODEL, "pieces": len(SHARDS), "is_level": True}


def test_a_model_of_the_converters_file_size_is_one_buffer(python_page: PythonPage) -> None:
    whole = b"".join(FILES[path] for path in SHARDS)
    files = changed({**FILES, "/m/a.bin": whole}, paths=["a.bin"])
    with serving(shared(files)) as server:
        answer = python_page.run(LOAD, url=f"{server.url}/m/model.json")
    assert answer["pieces"] == 0
    assert answer["sums"] == MODEL["sums"]


def test_python_may_wait_where_the_browser_suspends_it(chromium_python: PythonPage) -> None:
    with serving(shared(FILES)) as server:
        answer = chromium_python.run(
            COMMON + "described(wt.io.load_artifacts(url))", url=f"{server.url}/m/model.json"
        )
    assert answer == {**MODEL, "pieces": len(SHARDS)}


FUNCTION = (
    COMMON
    + """
from pyodide.http import pyfetch

asked = []

async def fetch(address, options):
    asked.append([address.rpartition("/")[2], options])
    return await pyfetch(address)

def fetch_in_javascript(address, options):
    return js.fetch(address)

options = {"headers": {"X-Key": "1"}}
answers = []
for function in (fetch, fetch_in_javascript):
    handler = wt.io.http(url, fetch_func=function, request_init=options)
    answers.append(described(await handler.load_async()))
[answers, asked]
"""
)


def test_functions_in_place_of_fetch(python_page: PythonPage, server: Server) -> None:
    answers, asked = python_page.run(FUNCTION, url=f"{server.url}/m/model.json")
    assert answers == [{**MODEL, "pieces": len(SHARDS)}] * 2
    assert sorted(name for name, _ in asked) == sorted(path[3:] for path in FILES)
    assert all(options == {"headers": {"X-Key": "1"}} for _, options in asked)


WRONG: dict[str, tuple[Any, str]] = {
    "missing": ({SHARDS[0]: Answer(status=404)}, r"OSError: .*1of3.bin: the server answered 404"),
    "error": ({"/m/model.json": Answer(status=500)}, "OSError: .*model.json: .* answered 500"),
    "no JSON": ({"/m/model.json": Answer(b"{")}, "ModelFormatError: .*/m/model.json: Expecting"),
    "cut off": (
        {SHARDS[1]: Answer(FILES[SHARDS[1]][:-9], headers={"Content-Length": "500000"})},
        "(OSError|ModelFormatError): .*(2of3.bin|model.json): .*(broke off|are left|checksum)",
    ),
    "too long": (
        changed({**FILES, SHARDS[2]: bytes(2_000_000)}),
        "ModelFormatError: .* is larger than its weights, which need 1200000 bytes",
    ),
    "too short": (
        changed({**FILES, SHARDS[2]: b""}),
        "ModelFormatError: .*weight 'a' needs 1199980 bytes, but 1000000 are left",
    ),
    "changed": (
        {SHARDS[1]: Answer(bytes(500_000))},
        "ModelFormatError: .*2of3.bin' is not what was written",
    ),
    "elsewhere": (changed(FILES, paths=["../a"]), "ModelFormatError: .*lies elsewhere: '../a'"),
    "circles": (
        {"/m/model.json": Answer(status=302, headers={"Location": "/m/model.json"})},
        "OSError: .*model.json: the server cannot be reached",
    ),
}


BREAK = (
    COMMON
    + """
before = counts()
[await outcome(wt.io.load_artifacts_async(url)), counts() == before]
"""
)


@pytest.mark.parametrize("case", WRONG)
def test_broken_models(any_python_page: PythonPage, case: str) -> None:
    files, message = WRONG[case]
    with serving(shared({**FILES, **files})) as server:
        answer, is_level = any_python_page.run(BREAK, url=f"{server.url}/m/model.json")
    any_python_page.take_errors()  # browsers write the failed requests there
    assert is_level
    assert re.search(message, answer, re.DOTALL), answer


#: Seconds; no other file takes as long, however busy the machine is.
TIMEOUT = 5
SLOW = (
    COMMON
    + f"""
before = counts()
loading = [outcome(wt.io.load_artifacts_async(url, timeout={TIMEOUT})) for url in urls]
[await asyncio.gather(*loading), counts() == before]
"""
)


def stalled(path: str) -> dict[str, Answer]:
    """Files of which one does not end."""
    headers = {"Content-Length": str(len(FILES[path]))}
    return shared({**FILES, path: Answer(FILES[path][:100], headers=headers, stalls=True)})


def test_servers_that_are_too_slow(any_python_page: PythonPage) -> None:
    paths = ["/m/model.json", SHARDS[1]]
    with serving(stalled(paths[0])) as first, serving(stalled(paths[1])) as second:
        addresses = [first.url, second.url]
        answers, is_level = any_python_page.run(
            SLOW, urls=[f"{address}/m/model.json" for address in addresses]
        )
    for answer, address, path in zip(answers, addresses, paths, strict=True):
        assert answer.startswith(f"OSError: {address}{path}: the server cannot be reached")
        assert f"no bytes for {TIMEOUT} s" in answer
    assert is_level


#: The two runs in a page have no variables in common.
START = (
    COMMON
    + """
before = counts()
wt.loading = asyncio.ensure_future(wt.io.load_artifacts_async(url)), before
"""
)
CANCEL = (
    COMMON
    + """
task, before = wt.loading
del wt.loading
task.cancel()
try:
    await task
    answer = "ended"
except asyncio.CancelledError:
    answer = "cancelled"
del task
[answer, counts() == before]
"""
)


@pytest.mark.parametrize("path", ["/m/model.json", SHARDS[1]])
def test_loading_can_be_cancelled(python_page: PythonPage, path: str) -> None:
    """The server sees that the connection ends."""
    with serving(stalled(path)) as server:
        python_page.run(START, url=f"{server.url}/m/model.json")
        assert server.was_asked_for(path)
        assert python_page.run(CANCEL) == ["cancelled", True]
        assert server.has_lost(path)


RAISING = (
    COMMON
    + """
def on_progress(fraction):
    if fraction > 0:
        raise ZeroDivisionError("in the function")

await outcome(wt.io.load_artifacts_async(url, on_progress=on_progress))
"""
)


def test_an_error_in_the_progress_function(python_page: PythonPage, server: Server) -> None:
    answer = python_page.run(RAISING, url=f"{server.url}/m/model.json")
    assert answer == "ZeroDivisionError: in the function"


CACHE = (
    COMMON
    + """
answers = [await outcome(wt.io.load_artifacts_async(url, cache="models")) for _ in range(count)]
kept = [request.url.rpartition("/")[2] for request in await (await js.caches.open("models")).keys()]
[answers, sorted(kept)]
"""
)


def test_the_cache_keeps_files(python_page: PythonPage, server: Server) -> None:
    url = f"{server.url}/m/model.json"
    answers, kept = python_page.run(CACHE, url=url, count=2)
    assert answers == [{**MODEL, "pieces": len(SHARDS)}] * 2
    assert sorted(server.paths) == sorted(FILES)
    assert kept == sorted(path[3:] for path in FILES)
    # What is broken in the cache is removed from it, so that the next load succeeds.
    spoil = f"""
    import js
    cache = await js.caches.open("models")
    await cache.put("{server.url}{SHARDS[0]}", js.Response.new("broken"))
    """
    python_page.run(spoil)
    answers, kept = python_page.run(CACHE, url=url, count=2)
    assert answers[0].startswith("ModelFormatError: ")
    assert "is not what was written" in answers[0]
    assert answers[1] == {**MODEL, "pieces": len(SHARDS)}
    server.answers[SHARDS[0]] = Answer(status=404, headers=SHARED)
    python_page.run("import js\nawait js.caches.delete('models')")
    answers, kept = python_page.run(CACHE, url=url, count=1)
    python_page.take_errors()
    assert "answered 404" in answers[0]
    assert kept == []
    python_page.run("import js\nawait js.caches.delete('models')")


SEND = (
    COMMON
    + """
artifacts = await wt.io.load_artifacts_async(url)
result = await wt.io.http(upload).save_async(artifacts)
[result.responses[0].status, result.responses[0].body.decode()]
"""
)


def test_a_model_is_sent(any_python_page: PythonPage, server: Server) -> None:
    server.answers["/upload"] = Answer(b"thanks", headers=SHARED)
    answer = any_python_page.run(
        SEND, url=f"{server.url}/m/model.json", upload=f"{server.url}/upload"
    )
    assert answer == [200, "thanks"]
    request = server.requests[-1]
    assert request.method == "POST"
    assert request.headers["Content-Type"].startswith("multipart/form-data; boundary=")
    assert b"".join(FILES[path] for path in SHARDS) in request.body


# -- numbers -----------------------------------------------------------------------------------

QUANTIZE = (
    COMMON
    + """
values = wt.tensor(numbers)
encoded = {
    dtype: wt.io.encode_weights({"w": values}, quantization={dtype: True})
    for dtype in ("float16", "uint8", "uint16")
}
integers = wt.io.encode_weights({"w": wt.tensor([-5, 0, 900, 77])}, quantization={"uint8": True})
halves = wt.io.decode_weights(
    b"".join(bits.to_bytes(2, "little") for bits in range(1 << 16)),
    [{"name": "w", "shape": [1 << 16], "dtype": "float32", "quantization": {"dtype": "float16"}}],
)["w"]
{
    "encoded": {
        dtype: [list(one.data), one.specs[0]["quantization"],
                wt.io.decode_weights(one.data, one.specs)["w"].tolist()]
        for dtype, one in encoded.items()
    },
    "integers": [list(integers.data), wt.io.decode_weights(*integers)["w"].tolist()],
    "halves": list(halves.bytes_sync()),
}
"""
)


def test_quantization_is_that_of_numpy(any_python_page: PythonPage) -> None:
    """JavaScript computes here, NumPy outside of pages: results are equal to the last bit."""
    values = np.random.default_rng(1).normal(0, 3, 500).astype("float32")
    values = np.concatenate([values, [0, 6e-8, 1e-5, 65504, -65504, 1 + 2**-11]])
    answer = any_python_page.run(QUANTIZE, numbers=values.tolist())
    for dtype, (data, quantization, decoded) in answer["encoded"].items():
        expected = wt.io.encode_weights({"w": values}, quantization={dtype: True})
        assert bytes(data) == expected.data
        assert quantization == expected.specs[0]["quantization"]
        assert decoded == wt.io.decode_weights(*expected)["w"].tolist()
    expected = wt.io.encode_weights({"w": [-5, 0, 900, 77]}, quantization={"uint8": True})
    assert answer["integers"] == [
        list(expected.data),
        wt.io.decode_weights(*expected)["w"].tolist(),
    ]
    with np.errstate(invalid="ignore"):
        halves = np.arange(1 << 16, dtype="uint16").view("float16").astype("float32")
    received = np.frombuffer(bytes(answer["halves"]), "float32")
    np.testing.assert_array_equal(received, halves)


# -- with TensorFlow.js ------------------------------------------------------------------------

THEIRS = """async (address) => {
  const specs = [
    { name: "f", shape: [2, 2], dtype: "float32" },
    { name: "i", shape: [2], dtype: "int32" },
    { name: "b", shape: [3], dtype: "bool" },
    { name: "c", shape: [1], dtype: "complex64" },
    { name: "s", shape: [2], dtype: "string" },
    {
      name: "q", shape: [3], dtype: "float32",
      quantization: { dtype: "uint8", scale: 0.5, min: -1 },
    },
    { name: "h", shape: [2], dtype: "float32", quantization: { dtype: "float16" } },
    { name: "w", shape: [2], dtype: "int32", quantization: { dtype: "uint16", scale: 3, min: -7 } },
  ];
  const bytes = (array) => new Uint8Array(array.buffer);
  const parts = [
    bytes(new Float32Array([1, -2.5, 3, 4])), bytes(new Int32Array([-1, 1 << 30])),
    new Uint8Array([1, 0, 1]), bytes(new Float32Array([1.5, -2])),
    new Uint8Array([1, 0, 0, 0, 97, 2, 0, 0, 0, 195, 169]), new Uint8Array([0, 1, 255]),
    bytes(new Uint16Array([0x3c00, 0xc100])), bytes(new Uint16Array([0, 60000])),
  ];
  const weightData = await new Blob(parts).arrayBuffer();
  const handler = tf.io.getSaveHandlers(address)[0];
  await handler.save({
    modelTopology: { node: [{ name: "é" }] }, format: "graph-model", generatedBy: "x",
    convertedBy: null, signature: { inputs: {} }, userDefinedMetadata: { a: 1 },
    modelInitializer: { node: [] }, initializerSignature: { outputs: {} },
    weightSpecs: specs, weightData,
  });
}"""
DECODED = {
    "f": [[1, -2.5], [3, 4]],
    "i": [-1, 1 << 30],
    "b": [True, False, True],
    "c": [[1.5, -2.0]],
    "s": ["a", "é"],
    "q": [-1, -0.5, 126.5],
    "h": [1, -2.5],
    "w": [-7, 179993],
}
MINE = (
    COMMON
    + """
artifacts = await wt.io.load_artifacts_async(theirs)
await wt.io.save_artifacts_async(artifacts, mine)
listed = {address: facts.to_json() for address, facts in (await wt.io.list_models_async()).items()}
def plain(value):
    return [value.real, value.imag] if isinstance(value, complex) else value
weights = wt.io.decode_weights(artifacts.weight_data, artifacts.weight_specs)
{
    "fields": {
        name: value for name, value in vars(artifacts).items()
        if not name.startswith("weight") and name not in ("label", "budget", "parsed_specs")
    },
    "weights": {
        name: [*map(plain, value.tolist())] for name, value in weights.items()
    },
    "listed": listed,
}
"""
)
READ = """async ([theirs, mine]) => {
  const read = async (address) => {
    const [handler] = tf.io.getLoadHandlers(address);
    const { weightData, weightSpecs, ...fields } = await handler.load();
    const weights = tf.io.decodeWeights(weightData, weightSpecs);
    const values = {};
    for (const [name, value] of Object.entries(weights)) {
      values[name] = value.dtype === "complex64"
        ? [[...(await tf.real(value).data()), ...(await tf.imag(value).data())]]
        : await value.array();
    }
    return { fields, values };
  };
  return {
    theirs: await read(theirs), mine: await read(mine), listed: await tf.io.listModels(),
  };
}"""


@pytest.mark.parametrize("scheme", ["indexeddb", "localstorage"])
def test_storages_are_shared_with_tensorflow_js(
    tensorflow_page: PlaywrightPythonPage, scheme: str
) -> None:
    page = tensorflow_page
    addresses = [f"{scheme}://their/models/1", f"{scheme}://mine"]
    page.page.evaluate(THEIRS, addresses[0])
    mine = page.run(MINE, theirs=addresses[0], mine=addresses[1])
    assert mine["weights"] == DECODED
    assert mine["fields"] == {
        "model_topology": {"node": [{"name": "é"}]},
        "format": "graph-model",
        "generated_by": "x",
        "converted_by": None,
        "signature": {"inputs": {}},
        "user_defined_metadata": {"a": 1},
        "model_initializer": {"node": []},
        "initializer_signature": {"outputs": {}},
        "training_config": None,
    }
    theirs = page.page.evaluate(READ, addresses)
    for saved in ("theirs", "mine"):
        values = theirs[saved]["values"]
        assert values["b"] in ([1, 0, 1], [True, False, True])
        assert {**values, "b": DECODED["b"]} == DECODED
    fields = theirs["mine"]["fields"]
    fields.pop("checksums", None)
    assert fields == theirs["theirs"]["fields"]
    sizes = ("modelTopologyType", "modelTopologyBytes", "weightSpecsBytes", "weightDataBytes")
    for address in addresses:
        expected = {name: theirs["listed"][addresses[0]][name] for name in sizes}
        for listed in (mine["listed"], theirs["listed"]):
            assert {name: listed[address][name] for name in sizes} == expected
    remove = "[await wt.io.remove_model_async(address) for address in addresses]"
    page.run(f"{COMMON}\n{remove}\nNone", addresses=addresses)
    assert page.page.evaluate("() => tf.io.listModels()") == {}


MANAGE = (
    COMMON
    + """
artifacts = wt.io.ModelArtifacts({"a": 1}, weight_specs=[], weight_data=b"")
async def addresses():
    return sorted(await wt.io.list_models_async())
steps = []
await wt.io.save_artifacts_async(artifacts, "indexeddb://a")
await wt.io.copy_model_async("indexeddb://a", "localstorage://b")
steps.append(await addresses())
await wt.io.move_model_async("indexeddb://a", "localstorage://a")
steps.append(await addresses())
wt.io.move_model("localstorage://b", "indexeddb://b")
wt.io.copy_model("indexeddb://b", "indexeddb://c")
steps.append(sorted(wt.io.list_models()))
removed = wt.io.remove_model("indexeddb://c")
loaded = [
    (await wt.io.load_artifacts_async(address)).model_topology for address in await addresses()
]
for address in await addresses():
    await wt.io.remove_model_async(address)
errors = []
for action in (
    lambda: wt.io.remove_model_async("localstorage://a"),
    lambda: wt.io.copy_model_async("localstorage://a", "indexeddb://a"),
    lambda: wt.io.move_model_async("downloads://a", "indexeddb://a"),
    lambda: wt.io.move_model_async("localstorage://a", "localstorage://a"),
    lambda: wt.io.move_model_async("localstorage://a", "a"),
):
    try:
        await action()
    except ValueError as error:
        errors.append(str(error))
[steps, removed.model_topology_bytes, loaded, errors, await addresses()]
"""
)


def test_models_are_managed_across_storages(chromium_python: PythonPage) -> None:
    steps, size, loaded, errors, left = chromium_python.run(MANAGE)
    assert steps == [
        ["indexeddb://a", "localstorage://b"],
        ["localstorage://a", "localstorage://b"],
        ["indexeddb://b", "indexeddb://c", "localstorage://a"],
    ]
    assert size == len('{"a":1}')
    assert loaded == [{"a": 1}, {"a": 1}]
    assert errors == [
        "remove_model_async: there is no model 'localstorage://a'",
        "localstorage://a: there is no such model",
        "move_model_async: an address begins with 'indexeddb://' or 'localstorage://', but got "
        "'downloads://a'",
        "move_model_async: the addresses are the same, 'localstorage://a'",
        "move_model_async: dest_url must be an address such as 'indexeddb://name', but is 'a'",
    ]
    assert left == []


#: In base64, more than the 10 MB of text that browsers store for a page at most.
FULL = (
    COMMON
    + """
small = wt.io.ModelArtifacts({"a": 1}, weight_specs=[], weight_data=b"")
specs = [{"name": "w", "shape": [9_000_000], "dtype": "bool"}]
large = wt.io.ModelArtifacts({"a": 2}, weight_specs=specs, weight_data=bytes(9_000_000))
await wt.io.save_artifacts_async(small, "localstorage://m")
before = {js.localStorage.key(n): js.localStorage.getItem(js.localStorage.key(n))
          for n in range(js.localStorage.length)}
errors = []
for name in ("m", "new"):
    try:
        await wt.io.save_artifacts_async(large, f"localstorage://{name}")
    except OSError as error:
        errors.append(str(error))
after = {js.localStorage.key(n): js.localStorage.getItem(js.localStorage.key(n))
         for n in range(js.localStorage.length)}
js.localStorage.clear()
[errors, after == before, len(before)]
"""
)


def test_a_full_local_storage_keeps_what_it_has(any_python_page: PythonPage) -> None:
    errors, is_same, count = any_python_page.run(FULL)
    assert [error[:30] for error in errors] == [
        "localstorage://m: there is too",
        "localstorage://new: there is t",
    ]
    assert is_same
    assert count == 5


BROKEN = (
    COMMON
    + """
prefix = "tensorflowjs_models/m/"
outcomes = []
for key, text in changes:
    await wt.io.save_artifacts_async(
        wt.io.ModelArtifacts({}, weight_specs=[], weight_data=b""), "localstorage://m"
    )
    if text is None:
        js.localStorage.removeItem(prefix + key)
    else:
        js.localStorage.setItem(prefix + key, text)
    outcomes.append(await outcome(wt.io.load_artifacts_async("localstorage://m")))
js.localStorage.clear()
outcomes
"""
)


def test_broken_models_in_local_storage(chromium_python: PythonPage) -> None:
    changes = [
        ["model_topology", "{"],
        ["weight_specs", None],
        ["weight_data", "no base64!"],
        ["model_metadata", "[]"],
        ["info", None],
    ]
    topology, specs, data, metadata, info = chromium_python.run(BROKEN, changes=changes)
    assert topology.startswith("ModelFormatError: localstorage://m: model_topology: Expecting")
    assert specs == "ModelFormatError: localstorage://m: its weight_specs is missing"
    assert data.startswith("ModelFormatError: localstorage://m: ")
    assert isinstance(metadata, dict)
    assert info == "ValueError: localstorage://m: there is no such model"


SERVED_BY_US = (
    COMMON
    + """
from webtensor import keras
import base64
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5), keras.layers.Dense(2)])
files = keras.saving.layers_model_files(
    model, quantization={"uint8": "dense/*", "float16": "dense_1/kernel"}
)
loaded = keras.saving.load_layers_model(files)
{
    "files": {name: base64.b64encode(data).decode() for name, data in files.items()},
    "outputs": loaded(wt.tensor([[1.0, -2.0, 0.5]])).tolist(),
}
"""
)


def test_tensorflow_js_loads_our_quantized_files_from_a_server(
    tensorflow_page: PlaywrightPythonPage,
) -> None:
    mine = tensorflow_page.run(SERVED_BY_US)

    def answer(route: Route) -> None:
        route.fulfill(body=base64.b64decode(mine["files"][route.request.url.rpartition("/")[2]]))

    tensorflow_page.page.route("**/quantized/*", answer)
    script = """async () => {
        await tf.setBackend("cpu");
        const model = await tf.loadLayersModel("/quantized/model.json");
        return model.predict(tf.tensor([[1, -2, 0.5]])).array();
    }"""
    theirs = tensorflow_page.page.evaluate(script)
    tensorflow_page.page.unroute("**/quantized/*")
    np.testing.assert_allclose(mine["outputs"], theirs, rtol=1e-5)


def test_a_server_gets_the_same_form_from_both(
    tensorflow_page: PlaywrightPythonPage, server: Server
) -> None:
    server.answers["/upload"] = Answer(headers=SHARED)
    page = tensorflow_page
    page.run(SEND, url=f"{server.url}/m/model.json", upload=f"{server.url}/upload")
    script = """async ([url, upload]) => {
        const artifacts = await tf.io.http(url).load();
        await tf.io.http(upload).save(artifacts);
    }"""
    page.page.evaluate(script, [f"{server.url}/m/model.json", f"{server.url}/upload"])
    forms = []
    for request in server.requests:
        if request.method == "POST":
            boundary = b"--" + request.headers["Content-Type"].partition("boundary=")[2].encode()
            parts = [part.partition(b"\r\n\r\n") for part in request.body.split(boundary)[1:-1]]
            forms.append([(header.strip().lower(), body[:-2]) for header, _, body in parts])
    mine, theirs = forms
    assert [header for header, _ in mine] == [header for header, _ in theirs]
    assert mine[1] == theirs[1]
    fields, other = json.loads(mine[0][1]), json.loads(theirs[0][1])
    fields["weightsManifest"][0].pop("checksums")
    other["weightsManifest"][0]["paths"] = ["model.weights.bin"]
    assert fields == other


TOPOLOGY = (
    COMMON
    + """
await wt.io.save_artifacts_async(wt.io.ModelArtifacts({"a": 1}), "indexeddb://topology")
artifacts = await wt.io.load_artifacts_async("indexeddb://topology")
await wt.io.remove_model_async("indexeddb://topology")
[artifacts.model_topology, artifacts.weight_specs, len(artifacts.weight_data)]
"""
)


def test_a_topology_alone_is_kept(chromium_python: PythonPage) -> None:
    assert chromium_python.run(TOPOLOGY) == [{"a": 1}, None, 0]


IN_A_WORKER = """
import json
import webtensor as wt
artifacts = wt.io.ModelArtifacts({"a": 1}, weight_specs=[], weight_data=b"")
await wt.io.save_artifacts_async(artifacts, "indexeddb://of-a-worker")
try:
    await wt.io.save_artifacts_async(artifacts, "localstorage://of-a-worker")
except OSError as error:
    message = str(error)
listed = [*await wt.io.list_models_async()]
await wt.io.remove_model_async("indexeddb://of-a-worker")
json.dumps([listed, message])
"""


def test_workers_have_indexed_db_alone(chromium_python: PythonPage) -> None:
    listed, message = json.loads(in_worker(chromium_python, IN_A_WORKER, "wasm"))
    assert listed == ["indexeddb://of-a-worker"]
    assert message == ("localstorage://of-a-worker: workers have no LocalStorage; use indexeddb://")


# -- files of visitors -------------------------------------------------------------------------

PICKED = (
    COMMON
    + """
picked = js.document.getElementById("picked").files
fractions = []
for source in (picked, list(picked)):
    answer = described(await wt.io.load_artifacts_async(source, on_progress=fractions.append))
js.document.getElementById("picked").remove()
[answer, fractions[-1]]
"""
)


def test_files_that_a_visitor_picked(tensorflow_page: PlaywrightPythonPage) -> None:
    page = tensorflow_page.page
    page.evaluate("""() => {
        const input = document.createElement("input");
        Object.assign(input, { id: "picked", type: "file", multiple: true });
        document.body.append(input);
    }""")
    files = [
        {"name": path[3:], "mimeType": "application/octet-stream", "buffer": data}
        for path, data in {**FILES, "/m/README.md": b"ignored"}.items()
    ]
    page.set_input_files("#picked", files)  # type: ignore[arg-type]
    answer, fraction = tensorflow_page.run(PICKED)
    assert answer == {**MODEL, "pieces": 0}
    assert fraction == 1.0


DROP_TARGET = """() => {
    window.dropped = [];
    document.body.style.minHeight = "100vh";
    document.ondragover = (event) => event.preventDefault();
}"""
LISTEN = """
import js
import sys
from pyodide.ffi import create_proxy
import webtensor as wt

def on_drop(event):
    event.preventDefault()
    sys.modules["dropped"] = wt.io.browser_files(event.dataTransfer.items)

sys.modules["on_drop"] = create_proxy(on_drop)
js.document.addEventListener("drop", sys.modules["on_drop"])
"""
DROPPED = (
    COMMON
    + """
import sys
answer = await outcome(sys.modules.pop("dropped").load_async())
js.document.removeEventListener("drop", sys.modules["on_drop"])
sys.modules.pop("on_drop").destroy()
answer
"""
)


@pytest.mark.parametrize("is_folder", [False, True])
def test_files_that_a_visitor_dropped(
    chromium_python: PythonPage, tmp_path: Path, is_folder: bool
) -> None:
    """Also a folder with further files, some of them of the same name."""
    assert isinstance(chromium_python, PlaywrightPythonPage)
    page = chromium_python.page
    folder = tmp_path / "model"
    (folder / "more").mkdir(parents=True)
    for path, data in FILES.items():
        (folder / path[3:]).write_bytes(data)
    for name in ("README.md", "more/README.md", "more/labels.json"):
        (folder / name).write_text("[]")
    page.evaluate(DROP_TARGET)
    chromium_python.run(LISTEN)
    files = [folder] if is_folder else [folder / path[3:] for path in FILES]
    session = page.context.new_cdp_session(page)
    for event in ("dragEnter", "dragOver", "drop"):
        session.send(
            "Input.dispatchDragEvent",
            {
                "type": event,
                "x": 20,
                "y": 20,
                "data": {"items": [], "files": [*map(str, files)], "dragOperationsMask": 1},
            },
        )
    answer = chromium_python.run(DROPPED)
    assert answer == {**MODEL, "pieces": 0}


LACKING = (
    COMMON
    + """
def file(name, text):
    return js.File.new(js.Array.of(text), name)

[
    await outcome(wt.io.browser_files(files).load_async())
    for files in (
        [file("model.json", model_json)],
        [],
        [file("a.bin", "")],
        [file("a.json", "{}"), file("a.json", "{}")],
        [file("a.json", in_folders), file("w.bin", "1")],
    )
]
"""
)


def test_files_that_are_no_model(chromium_python: PythonPage) -> None:
    weights = [{"name": name, "shape": [1], "dtype": "bool"} for name in ("a", "b")]
    group = {"paths": ["a/w.bin", "b/w.bin"], "weights": weights}
    missing, none, no_json, twice, in_folders = chromium_python.run(
        LACKING,
        model_json=FILES["/m/model.json"].decode(),
        in_folders=json.dumps({"modelTopology": {}, "weightsManifest": [group]}),
    )
    assert missing == (
        "ModelFormatError: model.json names the file 'group1-shard1of3.bin', which is missing"
    )
    assert none == "ValueError: one of the files must be model.json, but there are []"
    assert no_json == "ValueError: one of the files must be model.json, but there are ['a.bin']"
    assert twice == "ValueError: browser_files: 2 of the files have the name 'a.json'"
    assert in_folders == (
        "ModelFormatError: a.json names several files of one name, ['w.bin', 'w.bin']"
    )


def test_a_model_is_downloaded(chromium_python: PythonPage, server: Server) -> None:
    assert isinstance(chromium_python, PlaywrightPythonPage)
    downloads: list[Download] = []

    def is_last(download: Download) -> bool:
        downloads.append(download)
        return len(downloads) == 2

    source = f"""{COMMON}
artifacts = await wt.io.load_artifacts_async(url)
result = await wt.io.save_artifacts_async(artifacts, "downloads://mine")
result.model_artifacts_info.weight_data_bytes
"""
    with chromium_python.page.expect_download(is_last):
        assert chromium_python.run(source, url=f"{server.url}/m/model.json") == 4 * SIZE
    contents = {download.suggested_filename: download.path().read_bytes() for download in downloads}
    assert sorted(contents) == ["mine.json", "mine.weights.bin"]
    assert contents["mine.weights.bin"] == b"".join(FILES[path] for path in SHARDS)
    group = json.loads(contents["mine.json"])["weightsManifest"][0]
    assert group["paths"] == ["mine.weights.bin"]
