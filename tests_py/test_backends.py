"""The registry of backends, moving between them, and kernels that one of them lacks."""

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.backends.api import Backend, Priority
from webtensor.backends.numpy.backend import NumpyBackend
from webtensor.backends.webgl.context import Device
from webtensor.engine import backend_registry, state


@pytest.fixture(autouse=True)
def registered_before() -> Iterator[None]:
    """Remove what a test registered."""
    before = set(wt.registered_backends())
    yield
    wt.set_backend("numpy")
    for name in set(wt.registered_backends()) - before:
        wt.remove_backend(name)


def named(name: str, without: tuple[str, ...] = ()) -> Backend:
    """A NumPy backend of another name that lacks some kernels."""
    backend = NumpyBackend()
    backend.name = name
    for kernel in without:
        del backend.kernels[kernel]
    return backend


def refuse() -> Backend:
    raise wt.BackendUnavailableError("it needs a flux capacitor")


# -- choosing -----------------------------------------------------------------------------------


def test_the_built_in_backends_are_registered() -> None:
    assert {"numpy", "wasm", "webgl"} <= set(wt.registered_backends())


def test_numpy_comes_first_outside_browsers() -> None:
    assert wt.registered_backends()[0] == "numpy"


def test_wasm_and_numpy_run_in_cpython_and_webgl_does_not() -> None:
    available = wt.available_backends()
    assert "numpy" in available
    assert "wasm" in available
    assert "webgl" not in available


def test_webgl_says_why_it_cannot_start() -> None:
    reason = wt.unavailable_reason("webgl")
    assert reason is not None
    assert "webgl" in reason.lower()
    with pytest.raises(wt.BackendUnavailableError):
        wt.set_backend("webgl")


def test_setting_a_backend_makes_it_active() -> None:
    assert wt.set_backend("wasm")
    assert wt.get_backend() == "wasm"
    assert wt.backend().name == "wasm"
    assert asyncio.run(wt.ready()) == "wasm"


def test_a_backend_is_started_once() -> None:
    assert wt.find_backend("wasm") is wt.find_backend("wasm")


@pytest.mark.parametrize("name", ["tpu", "", "NumPy", None, 3])
def test_an_unknown_backend_is_an_error_that_names_the_known_ones(name: Any) -> None:
    with pytest.raises(ValueError, match=r"is not registered; there are .*numpy"):
        wt.set_backend(name)
    assert wt.get_backend() == "numpy"


def test_registering_and_removing() -> None:
    assert wt.register_backend("mine", lambda: named("mine"), priority=0)
    assert "mine" in wt.available_backends()
    assert wt.set_backend("mine")
    assert (wt.tensor([1.0]) + 1).device == "mine"
    wt.remove_backend("mine")
    assert "mine" not in wt.registered_backends()
    assert wt.get_backend() == "numpy"
    with pytest.raises(ValueError, match="not registered"):
        wt.remove_backend("mine")


def test_a_name_is_registered_once() -> None:
    assert not wt.register_backend("numpy", lambda: named("other"), priority=9)
    assert wt.backend().name == "numpy"


def test_the_highest_priority_that_can_start_is_the_default(monkeypatch: Any) -> None:
    wt.register_backend("best", refuse, priority=100)
    wt.register_backend("second", lambda: named("second"), priority=99)
    assert wt.registered_backends()[:2] == ["best", "second"]
    monkeypatch.setattr(state, "backend", None)
    assert wt.get_backend() == "second"


def test_a_priority_may_depend_on_the_device() -> None:
    priority = Priority(100)
    wt.register_backend("fast", lambda: named("fast"), priority=lambda: priority)
    wt.register_backend("steady", lambda: named("steady"), priority=99)
    assert wt.registered_backends()[:2] == ["fast", "steady"]
    assert wt.priority_reason("fast") is None
    priority = Priority(98, "its fan stands still")
    assert wt.registered_backends()[:2] == ["steady", "fast"]
    assert wt.priority_reason("fast") == "its fan stands still"
    assert wt.priority_reason("steady") is None
    with pytest.raises(ValueError, match="'unknown' is not registered; there are webgl, wasm"):
        wt.priority_reason("unknown")


class Context:
    """Stands for a WebGL context: it has all extensions that a browser does not mask."""

    RENDERER, MAX_TEXTURE_SIZE, UNMASKED_RENDERER_WEBGL = range(3)

    def __init__(self, renderer: str, unmasked: str = "") -> None:
        self._answers = [renderer, 4096, unmasked]

    def isContextLost(self) -> bool:  # noqa: N802
        return False

    def getExtension(self, name: str) -> Any:  # noqa: N802
        return self

    def getParameter(self, name: int) -> Any:  # noqa: N802
        return self._answers[name]


@pytest.mark.parametrize(
    "renderer, is_slow",
    [
        ("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)))", True),
        ("Google SwiftShader", True),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", True),
        ("ANGLE (Mesa, llvmpipe (LLVM 15.0.7 256 bits), OpenGL 4.5)", True),
        ("virgl (LLVMPIPE (LLVM 14.0.0 256 bits))", True),
        ("softpipe", True),
        ("SWR (LLVM 11.0.0, 256 bits)", True),
        ("Software Rasterizer", True),
        ("Apple Software Renderer", True),
        ("ANGLE (Microsoft, Microsoft Basic Render Driver Direct3D11 vs_5_0 ps_5_0)", True),
        ("GDI Generic", True),
        ("ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 Direct3D11 vs_5_0 ps_5_0, D3D11)", False),
        ("AMD Radeon RX 580 (polaris10, LLVM 15.0.7, DRM 3.49)", False),
        ("ANGLE (Intel, Mesa Intel(R) UHD Graphics 620 (KBL GT2), OpenGL 4.6)", False),
        ("Apple GPU", False),
        ("Mali-G78", False),
        ("Adreno (TM) 650", False),
    ],
)
def test_software_is_told_by_the_name_of_the_renderer(renderer: str, is_slow: bool) -> None:
    for context in (Context(renderer), Context("WebKit WebGL", renderer)):
        slowness = Device(context, version=2).slowness
        assert (slowness is not None) == is_slow
        assert slowness is None or renderer in slowness


def test_a_browser_may_say_that_a_device_is_slow() -> None:
    slowness = Device(Context("A GPU"), version=2, is_slow=True).slowness
    assert slowness == "the browser says that WebGL is slow here (A GPU)"


def test_a_backend_that_refuses_leaves_the_active_one() -> None:
    wt.register_backend("refusing", refuse)
    with pytest.raises(wt.BackendUnavailableError, match="flux capacitor"):
        wt.set_backend("refusing")
    assert wt.get_backend() == "numpy"
    assert wt.unavailable_reason("refusing") == "it needs a flux capacitor"
    assert wt.find_backend("refusing") is None
    assert "refusing" not in wt.available_backends()
    assert wt.unavailable_reason("numpy") is None


def test_a_backend_may_start_at_a_second_attempt() -> None:
    attempts = iter([refuse, lambda: named("late")])
    wt.register_backend("late", lambda: next(attempts)())  # noqa: PLW0108
    assert wt.find_backend("late") is None
    assert wt.find_backend("late") is not None
    assert wt.unavailable_reason("late") is None


def test_no_backend_at_all_is_an_error_with_the_reasons(monkeypatch: Any) -> None:
    monkeypatch.setattr(backend_registry, "_entries", {})
    monkeypatch.setattr(backend_registry, "_started", {})
    monkeypatch.setattr(backend_registry, "_refused", {})
    monkeypatch.setattr(state, "backend", None)
    with pytest.raises(wt.BackendUnavailableError, match="none is registered"):
        wt.get_backend()
    wt.register_backend("refusing", refuse)
    with pytest.raises(wt.BackendUnavailableError, match="refusing: it needs a flux capacitor"):
        wt.get_backend()


# -- moving between backends --------------------------------------------------------------------


def backend_bytes(name: str) -> int:
    bytes_in_use: int = wt.memory()["backends"][name]["bytes"]
    return bytes_in_use


def test_host_data_is_uploaded_at_first_use() -> None:
    x = wt.tensor([1.0, 2.0])
    assert "device=host" in repr(x)
    assert (x + 1).device == "numpy"
    assert "device=numpy" in repr(x)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_tensors_move_to_the_active_backend_when_used(dtype: str) -> None:
    x = wt.tensor([[0, 1, 2], [3, 0, 5]], dtype=dtype)
    values = x.tolist()
    for name in ("numpy", "wasm", "numpy", "wasm"):
        wt.set_backend(name)
        y = wt.flip(wt.flip(x, 1), 1)
        assert x.device == y.device == name
        assert x.tolist() == y.tolist() == values


def test_moving_leaves_nothing_behind() -> None:
    wt.set_backend("wasm")
    x = wt.ones((100,)) * 2
    before = {name: backend_bytes(name) for name in ("numpy", "wasm")}
    wt.set_backend("numpy")
    assert wt.sum(x).tolist() == 200
    assert backend_bytes("wasm") <= before["wasm"] - 400
    assert backend_bytes("numpy") >= before["numpy"] + 400


def test_results_of_one_backend_feed_another() -> None:
    wt.set_backend("wasm")
    x = wt.matmul(wt.ones((3, 4)), wt.ones((4, 2)))
    wt.set_backend("numpy")
    y = x + wt.ones((3, 2))
    wt.set_backend("wasm")
    assert (x * y).tolist() == [[20.0, 20.0]] * 3


def test_variables_and_optimizers_move(no_leak: None) -> None:
    w = wt.Variable([1.0, 2.0])
    optimizer = wt.optimizers.Adam(0.1)
    for name in ("numpy", "wasm", "numpy"):
        wt.set_backend(name)
        optimizer.minimize(lambda: wt.sum(w * w))
    assert np.allclose(w.numpy(), [0.70159, 1.70062], atol=1e-5)


def test_empty_tensors_are_on_no_backend() -> None:
    x = wt.zeros((0, 3))
    assert x.storage.backend is None
    wt.set_backend("wasm")
    assert (x + 1).shape == (0, 3)


def test_removing_a_backend_that_holds_tensors_is_survived() -> None:
    wt.register_backend("mine", lambda: named("mine"))
    wt.set_backend("mine")
    x = wt.ones((3,)) + 1
    wt.remove_backend("mine")
    del x
    assert (wt.ones((3,)) + 1).tolist() == [2.0] * 3


# -- a kernel that is missing -------------------------------------------------------------------


def test_a_missing_kernel_runs_elsewhere_and_is_seen(no_leak: None) -> None:
    wt.register_backend("partial", lambda: named("partial", without=("softmax",)))
    wt.set_backend("partial")
    x = wt.tensor([0.0, 0.0])
    seen = wt.profile(lambda: wt.softmax(x) * 2)
    assert seen.result.tolist() == [1.0, 1.0]
    assert seen.fallbacks == {("softmax", "partial", "numpy"): 1}
    seen.result = None


def test_a_profile_without_fallbacks_says_so() -> None:
    assert wt.profile(lambda: wt.ones(2) + 1).fallbacks == {}


def test_a_kernel_may_decline() -> None:
    backend = named("declining")

    def decline(*_: Any) -> Any:
        raise wt.KernelNotFoundError("not for this shape")

    backend.kernels["unary"] = decline
    wt.register_backend("declining", lambda: backend)
    wt.set_backend("declining")
    seen = wt.profile(lambda: wt.exp([0.0]))
    assert seen.result.tolist() == [1.0]
    assert seen.fallbacks == {("unary", "declining", "numpy"): 1}


def test_gradients_flow_through_a_kernel_that_ran_elsewhere() -> None:
    wt.register_backend("partial", lambda: named("partial", without=("unary", "reduce")))
    wt.set_backend("partial")
    assert wt.grad(lambda x: wt.sum(wt.square(x)))([1.0, 2.0]).tolist() == [2.0, 4.0]


def test_operands_that_do_not_fit_stay_elsewhere(no_leak: None, monkeypatch: Any) -> None:
    small = named("small")
    small.most_elements, small.others_may_have_room = 4, True
    wt.register_backend("small", lambda: small)
    wt.set_backend("small")
    uploads: list[int] = []
    elsewhere = wt.find_backend("numpy")
    assert isinstance(elsewhere, NumpyBackend)
    upload = elsewhere.upload

    def counted_upload(*arguments: Any) -> Any:
        uploads.append(1)
        return upload(*arguments)

    monkeypatch.setattr(elsewhere, "upload", counted_upload)
    x = wt.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    for _ in range(2):  # the second call is planned
        seen = wt.profile(lambda: wt.sum(wt.negative(wt.exp(wt.log(x)))) * 2)
        assert seen.result.item() == pytest.approx(-30)
        assert seen.result.device == "small"
        assert seen.fallbacks == {("unary", "small", "numpy"): 3, ("reduce", "small", "numpy"): 1}
    assert len(uploads) == 1
    with pytest.raises(wt.BackendError, match="to_device: an operand of 5 elements does not fit"):
        x.to_device("small")
    del seen


def test_a_kernel_that_no_backend_has_is_an_error(no_leak: None) -> None:
    removed = {}
    for name in ("numpy", "wasm"):
        kernels = wt.find_backend(name).kernels  # type: ignore[union-attr]
        removed[name] = (kernels, kernels.pop("softmax"))
    try:
        with pytest.raises(wt.KernelNotFoundError, match="softmax: neither backend 'numpy' nor"):
            wt.softmax([0.0, 1.0])
    finally:
        for kernels, kernel in removed.values():
            kernels["softmax"] = kernel


def test_an_error_in_a_kernel_is_not_taken_for_a_missing_one() -> None:
    backend = named("broken")

    def fail(*_: Any) -> Any:
        raise KeyError("inside the kernel")

    backend.kernels["unary"] = fail
    wt.register_backend("broken", lambda: backend)
    wt.set_backend("broken")
    with pytest.raises(KeyError, match="inside the kernel"):
        wt.exp([1.0])


# -- operands that are on the host ----------------------------------------------------------------


def test_operands_that_are_on_the_host_are_not_moved_to_a_gpu() -> None:
    gpu = named("gpu")
    gpu.computes_on_host = False
    wt.register_backend("gpu", lambda: gpu)
    wt.set_backend("gpu")
    on_host, on_gpu = wt.tensor([3.0, 1.0]), wt.tensor([3.0, 1.0]) + 0

    def fallbacks(x: wt.Tensor, times: int = 1) -> dict[tuple[str, str, str], int]:
        return wt.profile(lambda: [wt.topk(x) for _ in range(times)]).fallbacks

    assert fallbacks(on_host, times=3) == {("topk", "gpu", "numpy"): 3}
    assert fallbacks(on_gpu) == {}
    assert fallbacks(wt.ones((1,)) + 0) == {}
    wt.env().set("WEBGL_CPU_FORWARD", False)
    try:
        assert fallbacks(on_host) == {}
    finally:
        wt.env().set("WEBGL_CPU_FORWARD", True)
    assert wt.get_backend() == "gpu"
