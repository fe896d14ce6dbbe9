"""A static server for the built site, with the headers that browsers ask for.

Threads in WebAssembly need a cross-origin isolated page, so responses carry COOP and COEP unless
`isolated=False`. Tests use `serve(...)` as a context manager and may mount further folders beside
the site; people use `python -m web.serve` (or `make demo`).
"""

import argparse
import contextlib
import errno
import sys
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from os import environ
from pathlib import Path
from typing import Any

SITE = Path(__file__).resolve().parent.parent / "dist" / "site"

ISOLATION_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}


class SiteRequestHandler(SimpleHTTPRequestHandler):
    """Serves one site; `folders` maps URL prefixes to folders, and the longest prefix wins."""

    protocol_version = "HTTP/1.1"
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
        ".wasm": "application/wasm",
        ".whl": "application/zip",
        ".zip": "application/zip",
    }

    def __init__(
        self, *arguments: Any, folders: Mapping[str, Path], isolated: bool, quiet: bool
    ) -> None:
        """Remember the site; the base class answers the request from inside its constructor."""
        self.folders = sorted(folders.items(), key=lambda item: len(item[0]), reverse=True)
        self.isolated = isolated
        self.quiet = quiet
        super().__init__(*arguments)

    def translate_path(self, path: str) -> str:
        """Find the file for a URL path in the folder mounted at its longest matching prefix."""
        for prefix, folder in self.folders:
            if path.startswith(prefix):
                self.directory = str(folder)
                return super().translate_path("/" + path[len(prefix) :])
        return super().translate_path(path)

    def end_headers(self) -> None:
        """Add the headers that every response carries."""
        if self.isolated:
            for name, value in ISOLATION_HEADERS.items():
                self.send_header(name, value)
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-cache")
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
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def create_server(
    directory: Path,
    port: int,
    isolated: bool,
    mounts: Mapping[str, Path] | None = None,
    quiet: bool = True,
) -> SiteServer:
    """Bind a server for `directory`; port 0 takes any free port."""
    folders = {"/": Path(directory), **(mounts or {})}

    def handler(*arguments: Any) -> SiteRequestHandler:
        return SiteRequestHandler(*arguments, folders=folders, isolated=isolated, quiet=quiet)

    return SiteServer(("127.0.0.1", port), handler)


@contextlib.contextmanager
def serve(
    directory: Path = SITE,
    port: int = 0,
    isolated: bool = True,
    mounts: Mapping[str, Path] | None = None,
) -> Iterator[str]:
    """Serve `directory` from a background thread and yield its base URL, without a final slash.

    `mounts` maps URL prefixes such as "/tests/" to further folders.
    """
    server = create_server(directory, port, isolated, mounts)
    thread = threading.Thread(target=server.serve_forever, name="web.serve", daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


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
