"""A static server for the built site, with the headers that its host sends (`netlify.toml`).

Text and WebAssembly are compressed where the browser accepts that, as hosts do. Threads in
WebAssembly need a cross-origin isolated page, so responses carry COOP and COEP unless
`isolated=False`. Tests use `serve(...)` as a context manager and may mount further folders beside
the site, to which its Content-Security-Policy does not apply; people use `python -m web.serve` (or
`make demo`).
"""

import argparse
import contextlib
import errno
import re
import sys
import threading
import tomllib
import webbrowser
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from gzip import compress
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from os import environ
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "dist" / "site"
SECONDS_IDLE = 30

ISOLATION_HEADERS = ("Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy")

Headers = dict[str, str]

MISSING_FILE = "/404.txt"

#: The beginnings of the types of files that are worth compressing.
COMPRESSIBLE = ("text/", "application/json", "application/wasm", "image/svg+xml")
#: Smaller files fit a packet or two.
SMALLEST_COMPRESSED = 1500
COMPRESSED_FILES_KEPT = 128
COMPRESSION_LEVEL = 6


@cache
def header_rules() -> list[tuple[str, Headers]]:
    """Return the host's rules: patterns of paths, and the headers of responses to them."""
    rules = tomllib.loads((ROOT / "netlify.toml").read_text("utf-8"))["headers"]
    return [(rule["for"], rule["values"]) for rule in rules]


def site_headers(path: str) -> Headers:
    """Return the headers that the host sends with a path, later rules before earlier ones."""
    headers: Headers = {}
    for pattern, values in header_rules():
        if fnmatchcase(path, pattern):
            headers |= values
    return headers


@cache
def missing_rules() -> list[tuple[str, str]]:
    """Return the host's rules for what is missing: patterns of paths, and paths of answers."""
    rules = tomllib.loads((ROOT / "netlify.toml").read_text("utf-8"))["redirects"]
    return [(rule["from"], rule["to"]) for rule in rules if rule["status"] == HTTPStatus.NOT_FOUND]


def missing_answer(path: str) -> str:
    """Return the path of the file that answers for a missing one, both in the site.

    The host's rules tell code from pages by its folder. Here every file counts as code whose name
    has another ending than a page's.
    """
    answer = next(to for pattern, to in missing_rules() if fnmatchcase(path, pattern))
    is_page = PurePosixPath(path).suffix in ("", ".html")
    return answer if is_page or not answer.endswith(".html") else MISSING_FILE


def accepts_gzip(header: str) -> bool:
    """Tell whether an Accept-Encoding header accepts gzip."""
    for choice in header.lower().split(","):
        coding, _, parameters = choice.partition(";")
        if coding.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", parameters)
    return False


@lru_cache(COMPRESSED_FILES_KEPT)
def compressed(file: Path, modified: int) -> bytes:
    """Return a file's content, compressed; `modified` tells the versions of a file apart."""
    return compress(file.read_bytes(), COMPRESSION_LEVEL, mtime=0)


class RangeError(ValueError):
    """The start of a request's range is beyond the end of the file."""


def requested_range(header: str, size: int) -> range | None:
    """Return the bytes of a file that a Range header asks for; None stands for the whole file.

    Headers that ask for several ranges, in other units or in no valid form count as none.

    Raises:
        RangeError: there are no such bytes.
    """
    match = re.fullmatch(r"bytes=([0-9]{0,18})-([0-9]{0,18})", header.strip())
    if match is None or match[0].endswith("=-"):
        return None
    first, last = match.groups()
    if not first:  # the last bytes of the file
        requested = range(max(size - int(last), 0), size)
    elif last and int(last) < int(first):
        return None
    else:
        requested = range(int(first), min(int(last) + 1, size) if last else size)
    if not requested:
        raise RangeError(header)
    return requested


def is_well_formed(path: str) -> bool:
    """Tell whether a request's path is one of a URL, with text in UTF-8 that has no controls."""
    if not path.startswith("/") or not path.isascii() or re.search("%(?![0-9A-Fa-f]{2})", path):
        return False
    try:
        return unquote(path, errors="strict").isprintable()
    except UnicodeDecodeError:
        return False


class SiteRequestHandler(SimpleHTTPRequestHandler):
    """Serves one site; `folders` maps URL prefixes to folders, and the longest prefix wins."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS_IDLE
    disable_nagle_algorithm = True  # else short answers wait 40 ms for the headers' acknowledgment
    extensions_map = {  # noqa: RUF012 - the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".json": "application/json; charset=utf-8",
        ".md": "text/plain; charset=utf-8",  # browsers show it, and download text/markdown
        ".py": "text/x-python; charset=utf-8",
        ".svg": "image/svg+xml",
        ".txt": "text/plain; charset=utf-8",
        ".toml": "text/plain; charset=utf-8",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
        ".zip": "application/zip",
    }

    def __init__(
        self,
        *arguments: Any,
        folders: Mapping[str, Path],
        isolated: bool,
        headers: Headers,
        quiet: bool,
    ) -> None:
        """Remember the site; the base class answers the request from inside its constructor."""
        self.folders = sorted(folders.items(), key=lambda item: len(item[0]), reverse=True)
        self.isolated = isolated
        self.own_headers = headers
        self.quiet = quiet
        super().__init__(*arguments)

    def translate_path(self, path: str) -> str:
        """Find the file for a URL path in the folder mounted at its longest matching prefix."""
        folder, path_in_folder = self._mounted(path)
        self.directory = str(folder)
        return super().translate_path(path_in_folder)

    def _mounted(self, path: str) -> tuple[Path, str]:
        """Return the folder mounted at the longest prefix of a path, and the path in it."""
        return next(
            (folder, "/" + path[len(prefix) :])
            for prefix, folder in self.folders
            if path.startswith(prefix)
        )

    def send_head(self) -> BinaryIO | None:
        """Answer with a file, or with the requested part of it; return what to copy."""
        if not is_well_formed(self.path):
            self.send_error(HTTPStatus.BAD_REQUEST, "Malformed path")
            return None
        file = self._file()
        if file is None:
            return self._send_missing()
        path = self.translate_path(self.path)
        if Path(path).is_dir() and not path.endswith("/"):
            return super().send_head()  # which redirects, as the page's own links need the slash
        header = self.headers.get("Range")
        if header is None or self.command != "GET" or not self._is_current(file):
            return self._send_compressed(file) or super().send_head()
        size = file.stat().st_size
        try:
            part = requested_range(header, size)
        except RangeError:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        if part is None:
            return super().send_head()
        self.send_response(HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {part[0]}-{part[-1]}/{size}")
        self.send_header("Last-Modified", self.date_time_string(file.stat().st_mtime))
        self.end_headers()
        with file.open("rb") as content:
            content.seek(part.start)
            return BytesIO(content.read(len(part)))

    def _send_missing(self) -> BinaryIO | None:
        """Answer as the site does for what is missing, if it has such a file."""
        folder, path = self._mounted(self.path.partition("?")[0])
        file = folder / missing_answer(path).removeprefix("/")
        if not file.is_file():
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        content = file.read_bytes()
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return BytesIO(content)

    def _send_compressed(self, file: Path) -> BinaryIO | None:
        """Answer with a file's compressed content; None where it is to be sent as it is, or not."""
        kind, status = self.guess_type(str(file)), file.stat()
        modified = self.date_time_string(status.st_mtime)
        if (
            not kind.startswith(COMPRESSIBLE)
            or status.st_size < SMALLEST_COMPRESSED
            or not accepts_gzip(self.headers.get("Accept-Encoding", ""))
            or self.headers.get("If-Modified-Since") == modified
        ):
            return None
        content = compressed(file, status.st_mtime_ns)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", modified)
        self.end_headers()
        return BytesIO(content)

    def _file(self) -> Path | None:
        """Find the file that a path means, a folder's being its `index.html`."""
        path = self.translate_path(self.path)
        with contextlib.suppress(OSError):  # a name that is too long
            if Path(path).is_dir():
                path = f"{path}/index.html"
            if not path.endswith("/") and Path(path).is_file():
                return Path(path)
        return None

    def _is_current(self, file: Path) -> bool:
        """Whether a part of the file fits to what the browser has of it, as `If-Range` says."""
        condition = self.headers.get("If-Range")
        return condition in (None, self.date_time_string(file.stat().st_mtime))

    def end_headers(self) -> None:
        """Add the headers of the site's host, save for types, which `extensions_map` knows."""
        path = getattr(self, "path", "/").partition("?")[0]
        headers = {
            "Accept-Ranges": "bytes",
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
            **site_headers(path),
        }
        left_out = {"Content-Type"}
        if not self.isolated:
            left_out.update(ISOLATION_HEADERS)
        if any(path.startswith(prefix) for prefix, _ in self.folders if prefix != "/"):
            left_out.add("Content-Security-Policy")
        remaining = {name: value for name, value in headers.items() if name not in left_out}
        for name, value in (remaining | self.own_headers).items():
            self.send_header(name, value)
        super().end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log only what went wrong: a served file is no news."""
        if int(code) >= HTTPStatus.BAD_REQUEST:
            super().log_request(code, size)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write a line to standard error, unless the server is quiet."""
        if not self.quiet:
            super().log_message(format, *arguments)


class SiteServer(ThreadingHTTPServer):
    """One thread per connection; a browser that hangs up in the middle is no error."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over broken connections, and report everything else."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def create_server(
    directory: Path,
    port: int,
    isolated: bool,
    mounts: Mapping[str, Path] | None = None,
    headers: Headers | None = None,
    quiet: bool = True,
) -> SiteServer:
    """Bind a server for `directory`; port 0 takes any free port."""
    folders = {"/": Path(directory), **(mounts or {})}

    def handler(*arguments: Any) -> SiteRequestHandler:
        return SiteRequestHandler(
            *arguments, folders=folders, isolated=isolated, headers=headers or {}, quiet=quiet
        )

    return SiteServer(("127.0.0.1", port), handler)


@contextlib.contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    """Run a server in a background thread and yield its base URL, without a final slash."""
    thread = threading.Thread(target=server.serve_forever, name="web.serve", daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def serve(
    directory: Path = SITE,
    port: int = 0,
    isolated: bool = True,
    mounts: Mapping[str, Path] | None = None,
    headers: Headers | None = None,
) -> Iterator[str]:
    """Serve `directory` from a background thread and yield its base URL, without a final slash.

    `mounts` maps URL prefixes such as "/tests/" to further folders; `headers` replace the host's.
    """
    with running(create_server(directory, port, isolated, mounts, headers)) as url:
        yield url


def has_desktop() -> bool:
    """Tell whether opening a browser window makes sense on this machine."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def main() -> None:
    """Serve the built site until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, default=SITE)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument(
        "--no-isolation", action="store_true", help="leave out COOP and COEP, as plain hosts do"
    )
    parser.add_argument("--open", action="store_true", help="open a browser if there is a desktop")
    options = parser.parse_args()

    if not (options.directory / "build.json").exists():
        sys.exit(f"{options.directory} holds no built site: run `make site` first.")
    try:
        server = create_server(
            options.directory, options.port, not options.no_isolation, quiet=False
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        sys.exit(
            f"Port {options.port} is in use. Stop what runs there, or choose another port:"
            f" make demo PORT={options.port + 1}"
        )
    url = f"http://localhost:{options.port}/"
    print(f"webtensor's pages are at {url}  (Ctrl+C stops)", flush=True)
    if options.open and has_desktop():
        webbrowser.open(url)
    with contextlib.suppress(KeyboardInterrupt), server:
        server.serve_forever()


if __name__ == "__main__":
    main()
