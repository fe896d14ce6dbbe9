"""Cameras and microphones of a page: permission, errors, and devices that go away."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, Self

from webtensor.data.dataset import Dataset
from webtensor.data.iteration import Elements, Iteration, waited
from webtensor.environment import IN_BROWSER
from webtensor.javascript import function_of
from webtensor.transfer import javascript_text

__all__ = ["MediaDevice", "constraints_text", "functions", "opened"]

_DENIED = ("NotAllowedError", "SecurityError")
_MISSING = ("NotFoundError", "OverconstrainedError", "DevicesNotFoundError")


@cache
def functions() -> Any:
    """Return the functions of JavaScript that open devices."""
    return function_of("data/media.js")()


def constraints_text(constraints: Mapping[str, Any]) -> Any:
    """Return constraints of a device, without those that are None, as JSON for JavaScript."""
    return javascript_text(
        json.dumps({name: value for name, value in constraints.items() if value is not None})
    )


async def opened(name: str, device: str, open_device: Callable[[], Awaitable[Any]]) -> Any:
    """Return an open device.

    Raises:
        OSError: there is no such device, it is in use, or this is no page.
        PermissionError: the visitor or the page's policy does not allow it.
    """
    if not IN_BROWSER:
        raise OSError(f"{name}: a {device} needs a page, and this is not one")
    import js

    if not hasattr(js, "document"):
        raise OSError(f"{name}: a {device} needs a page, and this is a worker")
    if not hasattr(js.navigator, "mediaDevices"):
        raise OSError(
            f"{name}: the browser gives no {device} here; pages must come by https, or from "
            "localhost"
        )
    answer = await open_device()
    if hasattr(answer, "value"):
        return answer.value
    reason = f"({answer.name}: {answer.message})"
    if answer.name in _DENIED:
        raise PermissionError(
            f"{name}: the {device} was not allowed, by the visitor or by the page's policy {reason}"
        )
    if answer.name in _MISSING:
        raise OSError(f"{name}: there is no {device} of this kind {reason}")
    raise OSError(
        f"{name}: the {device} cannot be used, perhaps as another program uses it {reason}"
    )


class MediaDevice(Dataset):
    """The endless recording of an open camera or microphone.

    ``stop`` gives the device back; so does the end of a ``with`` block.
    """

    _kind: str

    def __init__(self, device: Any, size: float) -> None:
        super().__init__(self._recorded, size, is_async=True)
        self._device = device

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def is_live(self) -> bool:
        """Whether the device records: it was not stopped, and not taken away."""
        return bool(self._device.state() == "live")

    def stop(self) -> None:
        """Give the device back; iterations end."""
        self._device.stop()

    @abstractmethod
    async def _next(self) -> Any:
        """Return what is recorded next, or None if the recording ends before."""

    def _recorded(self, _: Iteration) -> Elements:
        while (element := (yield from waited(self._next()))) is not None:
            yield element
        self._check_not_lost()

    def _check_not_lost(self) -> None:
        if self._device.state() == "lost":
            raise OSError(f"the {self._kind} was taken away")

    def _ended(self) -> Exception:
        self._check_not_lost()
        return RuntimeError(f"the {self._kind} was stopped")

    def capture(self) -> Any:
        """Return what is recorded next, as an iteration does.

        Raises:
            OSError: the device was taken away.
            RuntimeError: it was stopped, or waiting is impossible here.
        """
        for element in self.take(1):
            return element
        raise self._ended()

    async def capture_async(self) -> Any:
        """Return what is recorded next, without blocking.

        Raises:
            OSError: the device was taken away.
            RuntimeError: it was stopped.
        """
        element = await self._next()
        if element is None:
            raise self._ended()
        return element
