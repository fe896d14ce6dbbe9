"""Callbacks that tell other machines of training."""

from __future__ import annotations

import json
from typing import Any
from warnings import warn

from webtensor.environment import IN_BROWSER
from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.transfer import javascript_text

__all__ = ["RemoteMonitor"]


class RemoteMonitor(Callback):
    """Send what each epoch came to by HTTP, to ``root + path``.

    It goes as JSON, or as a form with the JSON in ``field``. In a page the browser sends it, and
    ``fit_async`` waits for that; elsewhere the package ``requests`` does.

    Raises:
        ImportError: ``requests`` is needed, and is not there.
    """

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: dict[str, str] | None = None,
        send_as_json: bool = False,
    ) -> None:
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> Any:
        """Send the epoch's results."""
        results = {
            name: value.tolist() if hasattr(value, "tolist") else value
            for name, value in (logs or {}).items()
        }
        for name, value in results.items():
            if isinstance(value, list) and len(value) == 1:
                results[name] = value[0]
        results["epoch"] = epoch
        if IN_BROWSER:
            return self._fetch(results)
        return self._post(results)

    def _post(self, results: dict[str, Any]) -> None:
        try:
            import requests
        except ImportError:
            raise ImportError(
                "RemoteMonitor needs the package requests, which is not installed"
            ) from None
        body = {"json": results} if self.send_as_json else {"data": self._form(results)}
        try:
            requests.post(self.root + self.path, headers=self.headers, **body)
        except requests.exceptions.RequestException:
            self._warn()

    async def _fetch(self, results: dict[str, Any]) -> None:
        from js import Request
        from pyodide.http import pyfetch

        headers = dict(self.headers or {})
        if self.send_as_json:
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(results)
        else:
            from urllib.parse import urlencode

            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
            body = urlencode(self._form(results))
        try:
            request = Request.new(javascript_text(self.root + self.path))
            await pyfetch(request, method="POST", headers=headers, body=javascript_text(body))
        except OSError:
            self._warn()

    def _form(self, results: dict[str, Any]) -> dict[str, str]:
        return {self.field: json.dumps(results)}

    def _warn(self) -> None:
        warn(f"RemoteMonitor: {self.root}{self.path} cannot be reached", stacklevel=4)
