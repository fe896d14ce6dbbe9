"""Models on a server, loaded by the standard library; ``tests_browser/test_io.py`` has pages."""

import asyncio
import base64
import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.io.example_model import (
    FILES,
    SHARD_BYTES,
    SHARDS,
    SIZE,
    artifacts,
    assert_model,
    changed,
    files_of,
)
from tests_py.io.web_server import Answer, Server, serving
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.io.shard_buffers import ModelReader


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(FILES) as served:
        yield served


# -- loading -----------------------------------------------------------------------------------


def test_a_model_is_loaded(server: Server, no_leak: None) -> None:
    assert len(SHARDS) == 3
    loaded = wt.io.http(f"{server.url}/m/model.json").load()
    assert_model(loaded)
    assert loaded.label == f"{server.url}/m/model.json"
    assert server.paths[0] == "/m/model.json"
    assert sorted(server.paths[1:]) == SHARDS


def test_a_model_is_loaded_while_an_event_loop_runs(server: Server) -> None:
    async def load() -> ModelArtifacts:
        return wt.io.http(f"{server.url}/m/model.json").load()

    assert_model(asyncio.run(load()))


def test_a_model_is_awaited(server: Server) -> None:
    assert_model(asyncio.run(wt.io.load_artifacts_async(f"{server.url}/m/model.json")))


def test_files_of_the_converters_size_arrive_in_one_buffer() -> None:
    count = 1_100_000
    with serving(files_of(artifacts(count))) as server:
        loaded = wt.io.load_artifacts(f"{server.url}/m/model.json")
    assert isinstance(loaded.weight_data, memoryview)
    assert loaded.weight_data.readonly
    assert_model(loaded, count)


def test_files_of_other_sizes_arrive_in_pieces() -> None:
    """As many as of the converter's size, but of other lengths: bytes overflow their places."""
    count = 1_100_000
    files = files_of(artifacts(count))
    first, second = (f"/m/group1-shard{number}of2.bin" for number in (1, 2))
    whole = files[first] + files[second]
    with serving(changed({**files, first: whole[:1000], second: whole[1000:]})) as server:
        loaded = wt.io.load_artifacts(f"{server.url}/m/model.json")
    assert isinstance(loaded.weight_data, list)
    assert_model(loaded, count)


def test_several_groups_of_weights() -> None:
    model_json = json.loads(FILES["/m/model.json"])
    weights = artifacts().weight_specs or []
    data = bytes(artifacts().weight_data)  # type: ignore[arg-type]
    model_json["weightsManifest"] = [
        {"paths": ["a.bin"], "weights": weights[:1]},
        {"paths": ["b/c.bin"], "weights": weights[1:]},
    ]
    files = {
        "/m/model.json": json.dumps(model_json).encode(),
        "/m/a.bin": data[:-20],
        "/m/b/c.bin": data[-20:],
    }
    with serving(files) as server:
        assert_model(wt.io.load_artifacts(f"{server.url}/m/model.json"))


def test_texts_whose_size_is_not_declared() -> None:
    encoded = wt.io.encode_weights({"t": ["some", "text"], "n": [1.0]})
    model = ModelArtifacts({}, weight_specs=encoded.specs, weight_data=encoded.data)
    fractions: list[float] = []
    with serving(files_of(model, shard_bytes=7)) as server:
        loaded = wt.io.load_artifacts(f"{server.url}/m/model.json", on_progress=fractions.append)
    assert wt.io.decode_weights(loaded.weight_data or b"", encoded.specs)["t"].tolist() == [
        "some",
        "text",
    ]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_a_topology_alone() -> None:
    with serving({"/model.json": b'{"modelTopology": {"node": []}}'}) as server:
        loaded = wt.io.load_artifacts(f"{server.url}/model.json")
    assert loaded == ModelArtifacts({"node": []})


def test_what_the_file_says_becomes_the_artifacts() -> None:
    fields: dict[str, Any] = {
        "modelTopology": {"node": []},
        "format": "graph-model",
        "generatedBy": "2.21",
        "convertedBy": "a converter",
        "signature": {"inputs": {}},
        "userDefinedMetadata": {"classes": ["a"]},
        "modelInitializer": {"node": [{}]},
        "initializerSignature": {"outputs": {}},
        "trainingConfig": {"loss": "mse"},
    }
    with serving({"/model.json": json.dumps(fields).encode()}) as server:
        loaded = wt.io.load_artifacts(f"{server.url}/model.json")
    assert loaded == ModelArtifacts(*fields.values())


def test_bodies_of_unannounced_length() -> None:
    files = {path: Answer(data, is_chunked=True) for path, data in FILES.items()}
    with serving(files) as server:
        assert_model(wt.io.load_artifacts(f"{server.url}/m/model.json"))


def test_progress_is_reported(server: Server) -> None:
    fractions: list[float] = []
    threads: set[int] = set()

    def on_progress(fraction: float) -> None:
        fractions.append(fraction)
        threads.add(threading.get_ident())

    wt.io.load_artifacts(f"{server.url}/m/model.json", on_progress=on_progress)
    assert fractions[0] == 0.0
    assert fractions[-1] == 1.0
    assert len(fractions) > len(SHARDS)
    assert fractions == sorted({*fractions})
    assert threads == {threading.get_ident()}


def test_an_error_in_the_progress_function_ends_loading(server: Server, no_leak: None) -> None:
    def on_progress(fraction: float) -> None:
        if fraction > 0:
            raise ZeroDivisionError("in the function")

    with pytest.raises(ZeroDivisionError, match="in the function"):
        wt.io.load_artifacts(f"{server.url}/m/model.json", on_progress=on_progress)


# -- addresses ---------------------------------------------------------------------------------


def test_the_query_is_that_of_all_files(server: Server) -> None:
    wt.io.load_artifacts(f"{server.url}/m/model.json?key=a/b#part")
    assert {path.partition("?")[2] for path in server.paths} == {"key=a/b"}


@pytest.mark.parametrize(
    "address, of_weights",
    [
        ("?url=https://example.org/m/model.json", "?url=https://example.org/m/w.bin"),
        ("/get?x=1/model?key=2#part", "/get?x=1/w.bin?key=2"),
        ("/m/model.json?key=a/b", "/m/w.bin?key=a/b"),
        ("/m/model.json?path=a/b.c&key=2", "/m/w.bin?path=a/b.c&key=2"),
    ],
)
def test_files_that_a_query_names(address: str, of_weights: str) -> None:
    """As of a proxy, or of TensorFlow.js's own tests; other queries are those of all files."""
    addresses = []

    def fetch(url: str, _: object) -> bytes:
        addresses.append(url.removeprefix("https://proxy"))
        weights = [{"name": "a", "shape": [1], "dtype": "bool"}]
        model = {"modelTopology": {}, "weightsManifest": [{"paths": ["w.bin"], "weights": weights}]}
        return b"1" if len(addresses) == 2 else json.dumps(model).encode()

    wt.io.http(f"https://proxy{address}", fetch_func=fetch).load()
    assert addresses == [address, of_weights]


def test_weights_in_another_folder(server: Server) -> None:
    for prefix in ("other", "other/"):
        files = {path.replace("/m/", "/other/"): data for path, data in FILES.items()}
        server.answers |= {path: Answer(data) for path, data in files.items()}
        server.requests.clear()
        url = f"{server.url}/m/model.json?key=a#part"
        wt.io.http(url, weight_path_prefix=f"{server.url}/{prefix}").load()
        names = {path.rpartition("/")[2] for path in SHARDS}
        assert {*server.paths[1:]} == {f"/other/{name}?key=a" for name in names}


def test_an_empty_prefix_is_none(server: Server) -> None:
    assert_model(wt.io.http(f"{server.url}/m/model.json", weight_path_prefix="").load())


def test_addresses_of_weights_by_a_function(server: Server) -> None:
    def address(path: str) -> str:
        return f"{server.url}/m/{path}?converted"

    async def address_async(path: str) -> str:
        await asyncio.sleep(0)
        return address(path)

    for converter in (address, address_async):
        server.requests.clear()
        handler = wt.io.http(f"{server.url}/m/model.json", weight_url_converter=converter)
        assert_model(handler.load())
        assert sorted(server.paths[1:]) == [f"{path}?converted" for path in SHARDS]


def test_addresses_with_letters_that_must_be_quoted(server: Server) -> None:
    for path, data in FILES.items():
        server.answers[path.replace("/m/", "/m%20%C3%A9/")] = Answer(data)
    assert_model(wt.io.load_artifacts(f"{server.url}/m é/model.json"))


def test_redirects_are_followed(server: Server) -> None:
    for path in FILES:
        moved = {"Location": f"{server.url}{path}"}
        server.answers[path.replace("/m/", "/old/")] = Answer(status=302, headers=moved)
    assert_model(wt.io.load_artifacts(f"{server.url}/old/model.json"))


CREDENTIALS = {"Authorization": "Bearer secret", "Cookie": "id=secret"}


def test_credentials_are_not_sent_where_another_server_is_redirected_to(server: Server) -> None:
    def moved(url: str) -> dict[str, Answer]:
        return {"/moved": Answer(status=302, headers={"Location": f"{url}/m/model.json"})}

    headers = {**CREDENTIALS, "X-Key": "1"}
    server.answers |= moved(server.url)
    with serving(moved(server.url)) as other:
        for origin, expected in ((server, [*headers]), (other, ["X-Key"])):
            with pytest.raises(OSError, match=r"shard\S* the server answered 404"):
                wt.io.http(f"{origin.url}/moved", request_init={"headers": headers}).load()
            # Requests for weights may arrive after the error of another one.
            redirected = [sent for sent in server.requests if sent.path == "/m/model.json"][-1]
            assert [name for name in headers if name in redirected.headers] == expected


def test_weights_lie_on_the_server_of_a_model_without_a_path() -> None:
    files = {path.replace("/m/model.json", "/").replace("/m/", "/"): FILES[path] for path in FILES}
    with serving(files) as server:
        assert_model(wt.io.load_artifacts(f"{server.url}?key=1"))
        assert all(path.endswith("?key=1") for path in server.paths)


@pytest.mark.parametrize("url", ["http://[::1", f"http://{'a' * 70}.org/model.json"])
def test_malformed_addresses(url: str) -> None:
    with pytest.raises(OSError, match=re.escape(url)):
        wt.io.load_artifacts(url)


@pytest.mark.parametrize(
    "target, message",
    [
        ("file:///etc/hostname", "the server answered 302"),
        ("ftp://localhost/model.json", "unknown url type"),
        ("/old", "the server answered 302"),
    ],
)
def test_redirects_that_lead_nowhere(target: str, message: str) -> None:
    """A server must not make us read files, nor send us round in circles."""
    with (
        serving({"/old": Answer(status=302, headers={"Location": target})}) as server,
        pytest.raises(OSError, match=message),
    ):
        wt.io.load_artifacts(f"{server.url}/old")


def test_headers_of_requests(server: Server) -> None:
    wt.io.http(f"{server.url}/m/model.json", request_init={"headers": {"X-Key": "1"}}).load()
    assert {request.headers.get("X-Key") for request in server.requests} == {"1"}


@pytest.mark.parametrize("path", ["", 3, None, "model.json"])
def test_what_is_no_address(path: Any) -> None:
    with pytest.raises(ValueError, match=r"http: path must"):
        wt.io.http(path)


def test_options_that_mean_nothing_here() -> None:
    with pytest.raises(ValueError, match="only pages have caches"):
        wt.io.http("https://example.org/model.json", cache="models")
    with pytest.raises(ValueError, match="must have no body"):
        wt.io.http("https://example.org/model.json", request_init={"body": ""})


# -- functions in place of fetch ---------------------------------------------------------------


class Response:
    """A response like that of a library: its content is named and read as given."""

    def __init__(self, name: str, content: Any, status: Any) -> None:
        setattr(self, name, content)
        setattr(self, *status)


def responses(data: bytes) -> Iterator[Any]:
    """The forms in which libraries answer."""

    async def awaited() -> bytes:
        return data

    yield data
    yield awaited()
    yield Response("content", data, ("status_code", 200))
    yield Response("read", lambda: data, ("status", 200))
    yield Response("bytes", awaited, ("status", 200))


@pytest.mark.parametrize("form", range(5))
def test_a_function_in_place_of_fetch(form: int) -> None:
    asked = []

    def fetch(url: str, options: Mapping[str, Any]) -> Any:
        asked.append((url, dict(options)))
        answers = list(responses(FILES[url.removeprefix("far:/")]))
        for answer in answers:
            if asyncio.iscoroutine(answer) and answer is not answers[form]:
                answer.close()
        return answers[form]

    options = {"headers": {"X-Key": "1"}}
    handler = wt.io.http("far://m/model.json", fetch_func=fetch, request_init=options)
    assert_model(handler.load())
    assert {url for url, _ in asked} == {f"far:/{path}" for path in FILES}
    assert all(passed == options for _, passed in asked)


@pytest.mark.parametrize(
    "answer, message",
    [
        (Response("content", b"", ("status_code", 403)), "the server answered 403"),
        (Response("name", b"", ("status", 200)), "fetch_func must return bytes or a response"),
    ],
)
def test_a_function_that_fails(answer: Response, message: str) -> None:
    handler = wt.io.http("far://model.json", fetch_func=lambda url, options: answer)
    with pytest.raises((OSError, TypeError), match=message):
        handler.load()


# -- integrity ---------------------------------------------------------------------------------


def test_checksums_are_compared(server: Server) -> None:
    path = SHARDS[1]
    server.answers[path].body = bytes(len(FILES[path]))
    name = path.removeprefix("/m/")
    with pytest.raises(
        wt.ModelFormatError, match=rf"model\.json: '{name}' is not what was written"
    ):
        wt.io.load_artifacts(f"{server.url}/m/model.json")


def test_checksums_of_sha256(server: Server) -> None:
    files = files_of(artifacts(), shard_bytes=SHARD_BYTES, checksum="sha256")
    server.answers |= {path: Answer(data) for path, data in files.items()}
    digest = hashlib.sha256(files["/m/model.json"]).digest()
    for integrity in (
        f"sha256:{digest.hex()}",
        f"sha256-{base64.b64encode(digest).decode()}",
        {"model.json": f"sha256:{digest.hex()}"},
    ):
        assert_model(wt.io.load_artifacts(f"{server.url}/m/model.json", integrity=integrity))
    server.answers[SHARDS[0]].body = bytes(len(files[SHARDS[0]]))
    with pytest.raises(wt.ModelFormatError, match="its checksum is sha256:"):
        wt.io.load_artifacts(f"{server.url}/m/model.json")


@pytest.mark.parametrize(
    "integrity, message",
    [
        (f"sha256:{'0' * 64}", r"model\.json is not what was written"),
        ({"group1-shard1of3.bin": "crc32:00000000"}, r"shard1of3\.bin' is not what was written"),
        ({"other.bin": "crc32:00000000"}, r"integrity names 'other\.bin', which is no file"),
        ("sha256-no base64", "not sha256:no base64"),
        ("sha512-AAAA", r"integrity must be 'sha256-' and base64, .* but is 'sha512-AAAA'"),
        ({"group1-shard1of3.bin": None}, r"integrity must be .* but is None"),
    ],
)
def test_files_that_are_not_those_that_were_expected(
    server: Server, integrity: Any, message: str
) -> None:
    with pytest.raises(wt.ModelFormatError, match=message):
        wt.io.load_artifacts(f"{server.url}/m/model.json", integrity=integrity)


# -- what goes wrong ---------------------------------------------------------------------------


def faulty(answers: Mapping[str, Any]) -> Any:
    return {**FILES, **answers}


#: Paths that lead out of the folder, as files or as addresses.
ELSEWHERE = (
    "../a", "a/../b", "/a", "a//b", "..\\a", "http://a/b", "", ".", "a\0b", "./.", "%2e%2E/a",
    ".\t./a", " ../a", "a%2f..%2fb", "..?a", "a\n",
)  # fmt: skip
WRONG: dict[str, tuple[Mapping[str, Any], type[Exception], str]] = {
    "no model": (
        {"/m/model.json": Answer(status=404)},
        OSError,
        r"/m/model\.json: .* answered 404",
    ),
    "error": ({SHARDS[2]: Answer(status=500)}, OSError, r"3of3\.bin: the server answered 500"),
    "missing file": ({SHARDS[0]: Answer(status=404)}, OSError, r"1of3\.bin: .* answered 404"),
    "no JSON": ({"/m/model.json": b"{"}, wt.ModelFormatError, r"/m/model\.json: Expecting"),
    "no UTF-8": ({"/m/model.json": b"{\xff"}, wt.ModelFormatError, r"/m/model\.json: .*utf-8"),
    "a list": ({"/m/model.json": b"[]"}, wt.ModelFormatError, "describes no model"),
    "a page": ({"/m/model.json": b"<!doctype html>"}, wt.ModelFormatError, r"model\.json: Expect"),
    "nested": ({"/m/model.json": b"[" * 9999}, wt.ModelFormatError, "levels deep"),
    "cut off": (
        {SHARDS[1]: Answer(FILES[SHARDS[1]][:-9], headers={"Content-Length": "500000"})},
        OSError,
        r"2of3\.bin: the server's answer broke off after 499991 bytes",
    ),
    "JSON cut off": (
        {"/m/model.json": Answer(b"{}", headers={"Content-Length": "9"})},
        OSError,
        r"model\.json: the server's answer broke off after 2 bytes",
    ),
    "no HTTP": (
        {SHARDS[1]: Answer(status=99)},
        OSError,
        r"2of3\.bin: the server cannot be reached",
    ),
    "compressed": (
        {SHARDS[1]: Answer(b"x", headers={"Content-Encoding": "gzip"})},
        OSError,
        "encodes the file as 'gzip'",
    ),
    "too short": (
        changed({**FILES, SHARDS[2]: b""}),
        wt.ModelFormatError,
        r"model\.json: weight 'a' needs 1199980 bytes, but 1000000 are left",
    ),
    "too long": (
        changed({**FILES, SHARDS[2]: bytes(2_000_000)}),
        wt.ModelFormatError,
        "is larger than its weights, which need 1200000 bytes",
    ),
    "a bit too long": (
        changed({**FILES, SHARDS[2]: bytes(200_001)}),
        wt.ModelFormatError,
        "1 bytes belong to no weight",
    ),
    "too many": (
        changed(FILES, paths=[f"{number}.bin" for number in range(10_001)]),
        wt.ModelFormatError,
        "names 10001 files, which are too many",
    ),
    "huge": (
        changed(FILES, weights=[{"name": "w", "shape": [10**12], "dtype": "float32"}]),
        wt.ModelFormatError,
        "weight 'w' needs 4000000000000 bytes, but 1200000 are left",
    ),
    "no manifest": (
        {"/m/model.json": b'{"weightsManifest": 7}'},
        wt.ModelFormatError,
        "no weightsManifest, or a malformed one",
    ),
    **{
        f"path {path!r}": (changed(FILES, paths=[path]), wt.ModelFormatError, "lies elsewhere")
        for path in ELSEWHERE
    },
    **{
        f"twice {paths[1]!r}": (changed(FILES, paths=paths), wt.ModelFormatError, "'a' twice")
        for paths in (["a", "a"], ["a", "./a"])
    },
}


@pytest.mark.parametrize("files, error, message", WRONG.values(), ids=WRONG)
def test_broken_models(
    files: Mapping[str, Any], error: type[Exception], message: str, no_leak: None
) -> None:
    with serving(faulty(files)) as server:
        with pytest.raises(error, match=message):
            wt.io.load_artifacts(f"{server.url}/m/model.json")
        if error is OSError:
            with pytest.raises(OSError, match=message):
                asyncio.run(wt.io.load_artifacts_async(f"{server.url}/m/model.json"))


def test_a_server_that_cannot_be_reached() -> None:
    with socket.socket() as idle:
        idle.bind(("127.0.0.1", 0))  # nobody else gets the port meanwhile
        url = f"http://127.0.0.1:{idle.getsockname()[1]}/model.json"
        with pytest.raises(OSError, match=r"model\.json: the server cannot be reached"):
            wt.io.load_artifacts(url)


def stalled(path: str) -> dict[str, Any]:
    """Files of which one does not end."""
    headers = {"Content-Length": str(len(FILES[path]))}
    return {**FILES, path: Answer(FILES[path][:100], headers=headers, stalls=True)}


@pytest.mark.parametrize(
    "path, timeout",
    [
        ("/m/model.json", 1),
        (SHARDS[1], 10),  # the other files must come within this time, also on a busy machine
    ],
)
def test_a_server_that_is_too_slow(path: str, timeout: float) -> None:
    with serving(stalled(path)) as server:
        start = time.perf_counter()
        with pytest.raises(OSError, match=rf"{path}: the server cannot be reached.*timed out"):
            wt.io.load_artifacts(f"{server.url}/m/model.json", timeout=timeout)
        assert time.perf_counter() - start < 60  # which is the default


@pytest.mark.parametrize("path", ["/m/model.json", SHARDS[1]])
def test_loading_can_be_cancelled(path: str, no_leak: None) -> None:
    """The threads that wait for the server end at once."""

    async def cancel(server: Server) -> None:
        task = asyncio.ensure_future(wt.io.load_artifacts_async(f"{server.url}/m/model.json"))
        while path not in server.paths:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with serving(stalled(path)) as server:
        asyncio.run(cancel(server))
        assert server.has_lost(path)
        for thread in downloading():
            thread.join(120)
        assert not downloading()


def downloading() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "download" in thread.name]


def test_declared_sizes_reserve_little_memory() -> None:
    """Memory is reserved for files of the declared size only if that is moderate."""
    files = changed(
        FILES,
        paths=[f"{number}.bin" for number in range(256)],
        weights=[{"name": "w", "shape": [1 << 28], "dtype": "float32"}],
    )
    reader = ModelReader(files["/m/model.json"], "model.json")
    reader.reserve()
    assert {len(shard.region) for shard in reader.shards} == {0}


# -- saving ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"method": "PUT", "headers": {"X-Key": "1"}}])
def test_a_model_is_sent_as_a_form(options: dict[str, Any]) -> None:
    with serving({"/upload": Answer(b"thanks")}) as server:
        result = wt.io.http(f"{server.url}/upload", request_init=options).save(artifacts())
    request = server.requests[0]
    assert request.method == options.get("method", "POST")
    assert request.headers.get("X-Key") == options.get("headers", {}).get("X-Key")
    assert [(response.status, response.body) for response in result.responses] == [(200, b"thanks")]
    assert result.model_artifacts_info.weight_data_bytes == 4 * SIZE
    content_type = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts: Any = message_from_bytes(content_type + request.body).get_payload()
    bodies = {part.get_filename(): part.get_payload(decode=True) for part in parts}
    assert [part.get_content_type() for part in parts] == [
        "application/json",
        "application/octet-stream",
    ]
    assert wt.io.from_files(bodies).load() == ModelArtifacts(
        **{**vars(artifacts()), "weight_data": [bodies["model.weights.bin"]]}
    )


def test_a_model_is_sent_by_a_function() -> None:
    sent = []

    async def fetch(url: str, options: Mapping[str, Any]) -> bytes:
        sent.append((url, options))
        return b"thanks"

    result = wt.io.http("far://upload", fetch_func=fetch).save(artifacts())
    assert result.responses[0].body == b"thanks"
    url, options = sent[0]
    assert url == "far://upload"
    assert options["method"] == "POST"
    assert options["headers"]["Content-Type"].startswith("multipart/form-data; boundary=")
    assert b"model.weights.bin" in options["body"]


def test_a_server_that_takes_no_models() -> None:
    with (
        serving({"/upload": Answer(status=507)}) as server,
        pytest.raises(OSError, match="/upload: the server answered 507"),
    ):
        wt.io.save_artifacts(artifacts(), f"{server.url}/upload")


# -- weights alone -----------------------------------------------------------------------------


def test_weights_are_loaded_by_their_names(server: Server, no_leak: None) -> None:
    manifest = json.loads(FILES["/m/model.json"])["weightsManifest"]
    manifest.append({"paths": ["c.bin"], "weights": [{"name": "c", "shape": [2], "dtype": "bool"}]})
    server.answers["/m/c.bin"] = Answer(bytes([1, 0]))
    options = {"headers": {"X-Key": "1"}}
    weights = wt.io.load_weights(manifest, f"{server.url}/m", ["c"], options)
    assert {name: value.tolist() for name, value in weights.items()} == {"c": [True, False]}
    assert server.paths == ["/m/c.bin"]
    assert server.requests[0].headers["X-Key"] == "1"
    weights = asyncio.run(wt.io.load_weights_async(manifest, f"{server.url}/m/"))
    assert [*weights] == ["a", "b", "c"]
    np.testing.assert_array_equal(weights["b"].numpy(), np.arange(SIZE - 5, SIZE))
    with pytest.raises(ValueError, match=r"there is no weight 'd'; there are \['a', 'b', 'c'\]"):
        wt.io.load_weights(manifest, f"{server.url}/m", ["d"])
