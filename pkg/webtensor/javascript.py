"""The library's JavaScript: modules that the page registered, else text of the wheel.

A page registers them under the name ``webtensor_javascript`` (``docs/content_security.md``), and
then needs no permission to evaluate text. Without that, as in a console where the wheel was
installed, the text of the files is evaluated. Each file exports one function, except those of
workers.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePosixPath
from pkgutil import get_data
from typing import Any, Final

from webtensor.errors import BackendUnavailableError
from webtensor.transfer import javascript_text
from webtensor.version import __version__

__all__ = ["function_of", "worker_url"]

_MODULE: Final = "webtensor_javascript"
_HOW_TO_REGISTER: Final = f"""\
Serve the files of webtensor-{__version__}-py3-none-any.whl, unzipped, and register them where the
page loads Pyodide:

import * as javascript from "/webtensor-{__version__}/webtensor/javascript.js";
pyodide.registerJsModule("{_MODULE}", javascript);

Its policy must allow: script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"""


def function_of(path: str) -> Any:
    """Return the function that a JavaScript file, such as "backends/wasm/calls.js", exports.

    Raises:
        BackendUnavailableError: the page neither registered the files nor lets text be evaluated,
            or registered those of another version.
    """
    registered = _registered()
    if registered is not None:
        return getattr(registered, PurePosixPath(path).stem)
    return _evaluate(_text(path))


def worker_url(path: str) -> str:
    """Return a URL from which a worker can start a file, to be revoked after use."""
    import js

    registered = _registered()
    if registered is not None and registered.folder.startswith(f"{js.location.origin}/"):
        return f"{registered.folder}{path}"
    parts = js.Array.of(javascript_text(_text(path)))
    return str(js.URL.createObjectURL(js.Blob.new(parts, type="text/javascript")))


def _registered() -> Any:
    """Return the modules that the page registered, or None."""
    try:
        registered = import_module(_MODULE)
    except ModuleNotFoundError:
        return None
    version = getattr(registered, "version", "?")
    if version != __version__:
        raise BackendUnavailableError(
            f"the page registered the JavaScript of webtensor {version}, but Python imported "
            f"webtensor {__version__}. {_HOW_TO_REGISTER}"
        )
    return registered


def _text(path: str) -> str:
    content = get_data("webtensor", path)
    assert content is not None  # None stands for importers that have no files
    return content.decode()


def _evaluate(module: str) -> Any:
    """Return the function that a module exports, without importing the module."""
    from pyodide.code import run_js
    from pyodide.ffi import JsException

    body = module.replace("export default ", "return ", 1)
    try:
        evaluate = run_js("(source) => (0, eval)(String(source))")
        return evaluate(javascript_text(f"(() => {{ 'use strict'; {body} }})()"))
    except JsException as error:
        if error.name != "EvalError":
            raise
        raise BackendUnavailableError(
            "this page's Content-Security-Policy forbids to evaluate JavaScript, and webtensor's "
            f"own was not registered. {_HOW_TO_REGISTER}"
        ) from error
