"""The development server: its host's headers, parts of files, and requests that make no sense."""

import gzip
import http.client
import re
import socket
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from web.serve import SECONDS_IDLE, SiteRequestHandler, requested_range, serve, site_headers

ROOT = Path(__file__).resolve().parent.parent
CONTENT = bytes(range(100))
LARGE = "const a = 1;\n" * 1000


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site that has a folder mounted, and a file beside it that is not its own."""
    tmp_path = tmp_path_factory.mktemp("served")
    (tmp_path / "secret.txt").write_text("no")
    site = tmp_path / "site"
    for name in ("page", "data", "more"):
        (site / name).mkdir(parents=True)
    (site / "page" / "index.html").write_text(f"<title>A page</title>{LARGE}")
    (site / "data" / "file.bin").write_bytes(CONTENT)
    (site / "data" / "empty").touch()
    (site / "large.js").write_text(LARGE)
    for name in ("script.js", "notes.md", "kernels.wasm", "runtime.mjs"):
        (site / name).write_text("")
    with serve(site, mounts={"/mounted/": site / "data"}) as url:
        yield url


Answer = tuple[int, http.client.HTTPMessage, bytes]


def ask(url: str, path: str, method: str = "GET", **headers: str) -> Answer:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=names)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def send(url: str, request: bytes) -> bytes:
    """Send bytes as they are, and return all that comes until the server hangs up.

    Raises:
        TimeoutError: it does not do so before an idle connection ends.
    """
    parts = urlsplit(url)
    assert parts.hostname is not None
    address = (parts.hostname, parts.port or 80)
    with socket.create_connection(address, timeout=SECONDS_IDLE - 5) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            return answer.read()


# -- headers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/page/", "/script.js", "/missing", "/%00", "/data"])
def test_every_response_has_the_headers_of_the_host(url: str, path: str) -> None:
    rules = tomllib.loads((ROOT / "netlify.toml").read_text("utf-8"))["headers"]
    (everywhere,) = [rule["values"] for rule in rules if rule["for"] == "/*"]
    _, headers, _ = ask(url, path)
    assert {name: headers.get_all(name) for name in everywhere} == {
        name: [value] for name, value in everywhere.items()
    }


@pytest.mark.parametrize("path", ["/notes.md", "/kernels.wasm", "/runtime.mjs"])
def test_types_are_those_of_the_host(url: str, path: str) -> None:
    _, headers, _ = ask(url, path)
    assert headers.get_all("Content-Type") == [site_headers(path)["Content-Type"]]


def test_what_never_changes_may_be_kept() -> None:
    assert "immutable" in site_headers("/wheels/0123/webtensor/javascript.js")["Cache-Control"]
    assert "Cache-Control" not in site_headers("/page/")


def test_policy_grants_scripts_nothing_but_webassembly() -> None:
    text = site_headers("/")["Content-Security-Policy"]
    directives = {
        name: values.split()
        for name, _, values in (part.strip().partition(" ") for part in text.split(";"))
    }
    assert directives["script-src"] == ["'self'", "'wasm-unsafe-eval'"]
    assert directives["style-src"] == directives["worker-src"] == ["'self'"]
    assert directives["object-src"] == directives["base-uri"] == ["'none'"]
    assert directives["frame-ancestors"] == ["'none'"]
    assert "\n" not in text


def test_policy_of_the_site_is_not_that_of_folders_beside_it(url: str) -> None:
    _, headers, content = ask(url, "/mounted/file.bin")
    assert content == CONTENT
    assert "Content-Security-Policy" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"


# -- parts of files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header, part",
    [
        ("bytes=0-0", range(1)),
        ("bytes=10-19", range(10, 20)),
        ("bytes=90-", range(90, 100)),
        ("bytes=90-1000", range(90, 100)),
        (f"bytes=90-{10**17}", range(90, 100)),
        ("bytes=-7", range(93, 100)),
        ("bytes=-1000", range(100)),
    ],
)
@pytest.mark.parametrize("path", ["/data/file.bin", "/mounted/file.bin"])
def test_a_part_of_a_file(url: str, path: str, header: str, part: range) -> None:
    status, headers, content = ask(url, path, Range=header)
    assert status == 206
    assert content == CONTENT[part.start : part.stop]
    assert headers["Content-Range"] == f"bytes {part[0]}-{part[-1]}/100"
    assert headers["Accept-Ranges"] == "bytes"


@pytest.mark.parametrize(
    "path, header",
    [
        ("/data/file.bin", "bytes=100-"),
        ("/data/file.bin", "bytes=500-600"),
        ("/data/file.bin", "bytes=-0"),
        ("/data/empty", "bytes=0-"),
        ("/data/empty", "bytes=-5"),
    ],
)
def test_a_part_beyond_the_end_is_refused(url: str, path: str, header: str) -> None:
    status, headers, content = ask(url, path, Range=header)
    size = 0 if path.endswith("empty") else 100
    assert (status, headers["Content-Range"], content) == (416, f"bytes */{size}", b"")


@pytest.mark.parametrize(
    "header",
    [
        "bytes=5-4",
        "bytes=-",
        "bytes=a-b",
        "bytes=1-2,5-6",
        "lines=1-2",
        "bytes",
        "bytes=٣-٤",
        "bytes=1-" + "9" * 5000,
    ],
)
def test_ranges_without_sense_are_ignored(url: str, header: str) -> None:
    if header.isascii():
        status, _, content = ask(url, "/data/file.bin", Range=header)
        assert (status, content) == (200, CONTENT)
    assert requested_range(header, 100) is None


def test_ranges_are_for_getting(url: str) -> None:
    status, headers, content = ask(url, "/data/file.bin", "HEAD", Range="bytes=1-2")
    assert (status, headers["Content-Length"], content) == (200, "100", b"")


def test_a_part_of_a_file_that_has_changed_is_all_of_it(url: str) -> None:
    _, headers, _ = ask(url, "/data/file.bin")
    same = headers["Last-Modified"]
    assert ask(url, "/data/file.bin", Range="bytes=1-2", If_Range=same)[0] == 206
    for other in ("Mon, 01 Jan 2001 00:00:00 GMT", '"tag"'):
        status, _, content = ask(url, "/data/file.bin", Range="bytes=1-2", If_Range=other)
        assert (status, content) == (200, CONTENT)


def test_a_folders_page_has_parts_too(url: str) -> None:
    status, headers, content = ask(url, "/page/", Range="bytes=0-6")
    assert (status, content) == (206, b"<title>")
    assert headers["Content-Type"] == "text/html; charset=utf-8"


# -- what is not there, and what makes no sense ----------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/data", "/data/", "/more/", "/mounted/", "/data/file.bin/"])
def test_folders_are_not_listed(url: str, path: str) -> None:
    status, _, content = ask(url, path)
    assert status == 404
    assert b"file.bin" not in content


def test_a_folder_with_a_page_is_found(url: str) -> None:
    for request in ({}, {"Accept_Encoding": "gzip"}, {"Range": "bytes=0-9"}):
        status, headers, _ = ask(url, "/page?query=1", **request)
        assert (status, headers["Location"]) == (301, "/page/?query=1")
    assert ask(url, "/page/")[0] == 200


@pytest.fixture(scope="module")
def site_with_answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site that has answers for what is missing, at the root and below a path."""
    site = tmp_path_factory.mktemp("site")
    (site / "404.html").write_text("<title>No such page</title>")
    (site / "404.txt").write_text("No such file")
    (site / "data").mkdir()
    with serve(site, mounts={"/below/a/path/": site, "/beside/": site / "data"}) as url:
        yield url


@pytest.mark.parametrize("root", ["", "/below/a/path"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "path, content_type, content",
    [
        *(
            (path, "text/html; charset=utf-8", b"<title>No such page</title>")
            for path in (
                "/",
                "/missing",
                "/missing/",
                "/a/b/c.html",
                "/data",
                "/x?from=a.js",
                "/%2e",
            )
        ),
        *(
            (path, "text/plain; charset=utf-8", b"No such file")
            for path in (
                "/missing.js",
                "/a/b.py",
                "/c.wasm",
                "/wheels/x",
                "/pyodide/1.0/",
                "/start/0",
            )
        ),
    ],
)
def test_the_site_answers_for_what_is_missing(
    site_with_answers: str, root: str, path: str, method: str, content_type: str, content: bytes
) -> None:
    status, headers, received = ask(site_with_answers, root + path, method)
    assert (status, headers["Content-Type"]) == (404, content_type)
    assert int(headers["Content-Length"]) == len(content)
    assert received == (content if method == "GET" else b"")


def test_a_folder_without_answers_has_none(site_with_answers: str) -> None:
    status, _, content = ask(site_with_answers, "/beside/missing")
    assert status == 404
    assert b"No such" not in content


def test_the_host_answers_with_files_of_the_site() -> None:
    rules = tomllib.loads((ROOT / "netlify.toml").read_text("utf-8"))["redirects"]
    assert rules[-1] == {"from": "/*", "to": "/404.html", "status": 404}
    for rule in rules:
        assert (ROOT / "web" / rule["to"].removeprefix("/")).is_file()
        assert rule["status"] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/%00",
        "/data/file.bin%00.html",
        "/%0d%0aSet-Cookie:x",
        "/%zz",
        "/%",
        "/%4",
        "/%ff",
        "/%C3",
        "*",
        "data",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_malformed_paths_are_refused(url: str, method: str, path: str) -> None:
    request = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = send(url, request.encode())
    assert re.match(rb"HTTP/1.1 400 ", answer)
    assert b"Set-Cookie" not in answer.partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/%2e%2e%2fsecret.txt",
        "/data/..%2f..%2f..%2fsecret.txt",
        "/mounted/../../secret.txt",
        "/mounted/%2e%2e/%2e%2e/secret.txt",
        "/..%5csecret.txt",
        "//secret.txt",
        "/" + "a" * 5000,
        "/%2e%2e%2f" * 50 + "etc/passwd",
    ],
)
def test_nothing_outside_the_site_is_found(url: str, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert re.match(rb"HTTP/1.1 404 ", send(url, request.encode()))


@pytest.mark.parametrize(
    "request_, status",
    [
        (b"\x00\x01\x02\r\n\r\n", b" 400 "),
        (b"GET\r\n\r\n", b" 400 "),
        (b"GET / HTTP/9.9\r\n\r\n", b" 505 "),
        (b"GET /\xff\xfe HTTP/1.1\r\nConnection: close\r\n\r\n", b" 400 "),
        (b"BREW / HTTP/1.1\r\n\r\n", b" 501 "),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b" 414 "),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b" 431 "),
    ],
)
def test_requests_that_make_no_sense_are_answered(url: str, request_: bytes, status: bytes) -> None:
    assert status in send(url, request_).partition(b"\r\n")[0] + b" "


def test_idle_connections_are_closed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SiteRequestHandler, "timeout", 0.2)
    for request in (b"", b"GET /script.js HTTP/1.1\r\n", b"GET /script.js HTTP/1.1\r\n\r\n"):
        send(url, request)


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.8", "GZIP", "*"])
def test_text_is_compressed_where_the_browser_accepts_that(url: str, accepted: str) -> None:
    for method in ("GET", "HEAD"):
        status, headers, content = ask(url, "/large.js", method, Accept_Encoding=accepted)
        assert (status, headers["Content-Encoding"], headers["Vary"]) == (
            200,
            "gzip",
            "Accept-Encoding",
        )
        assert headers["Content-Type"] == "text/javascript; charset=utf-8"
        if method == "GET":
            assert int(headers["Content-Length"]) == len(content) < len(LARGE) // 10
            assert gzip.decompress(content).decode() == LARGE


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "gzip; q=0.00, br"])
def test_text_is_sent_as_it_is_elsewhere(url: str, accepted: str) -> None:
    _, headers, content = ask(url, "/large.js", Accept_Encoding=accepted)
    assert headers["Content-Encoding"] is None
    assert content.decode() == LARGE


def test_a_part_of_a_text_is_not_compressed(url: str) -> None:
    status, headers, content = ask(url, "/large.js", Accept_Encoding="gzip", Range="bytes=0-9")
    assert (status, headers["Content-Encoding"]) == (206, None)
    assert content.decode() == LARGE[:10]


@pytest.mark.parametrize("path", ["/data/file.bin", "/script.js"])
def test_what_gains_nothing_is_not_compressed(url: str, path: str) -> None:
    _, headers, _ = ask(url, path, Accept_Encoding="gzip")
    assert headers["Content-Encoding"] is None


def test_what_the_browser_has_is_not_sent_again(url: str) -> None:
    _, headers, _ = ask(url, "/large.js", Accept_Encoding="gzip")
    status, _, content = ask(
        url, "/large.js", Accept_Encoding="gzip", If_Modified_Since=headers["Last-Modified"]
    )
    assert (status, content) == (304, b"")
