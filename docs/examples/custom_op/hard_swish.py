"""An op of your own: hard swish (Howard et al., 2019), with a kernel for each backend.

``install(module)`` registers the op and returns the function; ``module`` is the compiled
``hard_swish.c``, as bytes or a path.
"""

from __future__ import annotations

from typing import Any

import webtensor as wt

__all__ = ["install"]

NAME = "hard_swish"


def infer(x: wt.Tensor) -> tuple[tuple[int, ...], wt.DType]:
    """The shape and the dtype of the result."""
    if x.dtype != wt.float32:
        raise TypeError(f"{NAME}: x must be float32, but got {x.dtype}")
    return x.shape, x.dtype


def on_numpy(backend: Any, inputs: Any, shape: Any, dtype: Any) -> Any:
    """A handle of this backend is a NumPy array."""
    import numpy as np

    x = inputs[0].storage.handle
    return x * np.clip(x + np.float32(3), 0, 6) / np.float32(6)


GLSL = """
V compute(int t) {
  vec4 x = getX(t);
  return x * clamp(x + 3.0, 0.0, 6.0) / 6.0;
}
"""


def on_webgl(backend: Any, inputs: Any, shape: Any, dtype: Any) -> Any:
    """A handle of this backend is a texture; ``compute`` gives one texel of four elements."""
    from webtensor.backends.webgl.compiler import Input, Shader

    shader = Shader(NAME, [Input("x", wt.float32, 4)], wt.float32, 4, [], GLSL)
    (x,) = inputs
    return backend.run(NAME, lambda: shader, inputs, x.size, wt.float32)


def on_wasm_with(module: wt.wasm.KernelModule) -> Any:
    """A handle of this backend is an address in the memory that the module shares."""
    run = module.function(NAME)

    def on_wasm(backend: Any, inputs: Any, shape: Any, dtype: Any) -> Any:
        (x,) = inputs
        out = backend.allocate(x.size * 4)
        run(x.storage.handle, out, x.size)
        return out

    return on_wasm


def gradient(dy: wt.Tensor, y: wt.Tensor, x: wt.Tensor) -> wt.Tensor:
    """Gradients are made of ops, so they run everywhere and can be differentiated again."""
    inside = wt.where(x > -3.0, (2.0 * x + 3.0) / 6.0, 0.0)
    return dy * wt.where(x >= 3.0, 1.0, inside)


def install(module: bytes | str) -> Any:
    """Register the op, and return the function that runs it."""
    op = wt.register_op(NAME, infer)
    wt.register_gradient(NAME, [gradient])
    wt.register_kernel(NAME, "numpy", on_numpy)
    if "webgl" in wt.registered_backends():
        wt.register_kernel(NAME, "webgl", on_webgl)
    wt.register_kernel(NAME, "wasm", on_wasm_with(wt.wasm.load_module(module)))
    return op
