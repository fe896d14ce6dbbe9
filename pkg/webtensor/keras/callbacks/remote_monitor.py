"""Callbacks that send the logs of training to a server."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any, TypeAlias
from urllib.parse import urlencode
from warnings import warn

from webtensor.environment import IN_BROWSER
from webtensor.keras.callbacks.callback import Callback, Logs

__all__ = ["RemoteMonitor"]

_Results: TypeAlias = dict[str, Any]


class RemoteMonitor(Callback):
    """Send the logs of each epoch by HTTP to ``root + path``.

    In a page, the browser sends them, and ``fit_async`` waits for that; elsewhere, the package
    ``requests`` does.

    Args:
        root: a string, the URL of the server.
        path: a string, the path that is added to ``root``.
        field: a string, the form's field that contains the logs as JSON.
        headers: a dictionary of HTTP headers, or None.
        send_as_json: a boolean, whether to send the logs as JSON instead of a form.

    Raises:
        ImportError: ``requests`` is not installed; the end of an epoch raises it.
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

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> Awaitable[None] | None:
        """Send the logs."""
        results: _Results = {
            name: value.tolist() if hasattr(value, "tolist") else value
            for name, value in (logs or {}).items()
        }
        for name, value in results.items():
            if isinstance(value, list) and len(value) == 1:
                results[name] = value[0]
        results["epoch"] = epoch
        if IN_BROWSER:
            return self._fetch(results)
        self._post(results)
        return None

    def _post(self, results: _Results) -> None:
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

    async def _fetch(self, results: _Results) -> None:
        from webtensor.io.fetching import send

        headers = dict(self.headers or {})
        if self.send_as_json:
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(results)
        else:
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
            body = urlencode(self._form(results))
        try:
            await send(self.root + self.path, {"method": "POST", "headers": headers}, body.encode())
        except OSError:
            self._warn()

    def _form(self, results: _Results) -> dict[str, str]:
        return {self.field: json.dumps(results)}

    def _warn(self) -> None:
        warn(f"RemoteMonitor: {self.root}{self.path} cannot be reached", stacklevel=4)
