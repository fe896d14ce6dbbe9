"""A backend whose device goes away: another takes its place, with what is on the host."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import webtensor as wt
from webtensor.backends.numpy.backend import NumpyBackend
from webtensor.errors import KernelNotFoundError


class Fragile(NumpyBackend):
    """Computes like NumPy, until its device is lost."""

    name = "fragile"
    reads_are_copies = True
    computes_on_host = False

    def lose(self) -> None:
        """Take the device away."""
        self.kernels.update(dict.fromkeys(self.kernels, self._refuse))
        assert self.on_lost is not None
        self.on_lost()

    def _refuse(self, *_: Any) -> None:
        raise KernelNotFoundError("fragile: lost")

    def read(self, *arguments: Any) -> Any:
        if self.kernels["matmul"] == self._refuse:
            raise wt.ContextLostError("fragile: lost")
        return super().read(*arguments)


@pytest.fixture
def devices() -> Iterator[list[bool]]:
    """Whether there is a device, for each start of the backend; there is one by default."""
    there: list[bool] = []

    def create() -> Fragile:
        if there and not there.pop(0):
            raise wt.BackendUnavailableError("no device")
        return Fragile()

    active = wt.get_backend()
    wt.register_backend("fragile", create)
    wt.set_backend("fragile")
    yield there
    wt.remove_backend("fragile")
    wt.set_backend(active)


def fragile() -> Fragile:
    backend = wt.backend()
    assert isinstance(backend, Fragile)
    return backend


def model() -> tuple[wt.Variable, Callable[[], wt.Tensor]]:
    weights = wt.Variable([[1.0, 2.0]])
    return weights, lambda: wt.matmul(weights, [[3.0], [4.0]]) + 1


def test_what_the_host_knows_goes_on(devices: list[bool]) -> None:
    weights, predict = model()
    assert predict().tolist() == [[12]]
    lost = fragile()
    lost.lose()
    assert fragile() is not lost
    seen = wt.profile(predict)
    assert seen.result.tolist() == [[12]]
    assert seen.fallbacks == {}
    assert weights.storage.backend is fragile()


def test_what_only_the_device_had_is_lost(devices: list[bool]) -> None:
    x = wt.tensor([1.0])
    lost, read = x + 1, x + 2
    read.tolist()
    fragile().lose()
    with pytest.raises(wt.ContextLostError):
        lost.tolist()
    with pytest.raises(wt.ContextLostError):
        lost * 2
    assert (read * 2).tolist() == [6]


def test_another_backend_computes_while_there_is_no_device(devices: list[bool]) -> None:
    _, predict = model()
    lost = fragile()
    devices += [False] * 20
    lost.lose()
    assert wt.backend() is lost
    seen = wt.profile(predict)
    assert seen.result.tolist() == [[12]]
    assert {key[1] for key in seen.fallbacks} == {"fragile"}
    assert "fragile" not in {key[2] for key in seen.fallbacks}

    devices.clear()
    assert predict().tolist() == [[12]]
    assert fragile() is not lost
    assert wt.profile(predict).fallbacks == {}


def test_nothing_is_left_behind(devices: list[bool], no_leak: None) -> None:
    _, predict = model()
    predict().tolist()
    fragile().lose()
    predict().tolist()
