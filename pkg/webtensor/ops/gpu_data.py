"""Elements of tensors in textures that a page draws with: ``Tensor.data_to_gpu``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from webtensor.backends.api import Backend, Handle
from webtensor.dtypes import bool_, float32, int32
from webtensor.engine import TensorLike, as_operand, backend
from webtensor.errors import BackendUnavailableError

__all__ = ["GPUData", "data_to_gpu"]

_ELEMENTS_PER_TEXEL = 4


class GPUData:
    """A copy of a tensor's elements in a texture, which lives until it is disposed of.

    It is also given back with its last reference, and at the end of ``with`` where it is used so.

    Attributes:
        texture: the ``WebGLTexture``, of format RGBA32F (RGBA16F on devices of 16-bit floats). The
            elements fill texels of four in row-major order, row by row; 0 follows the last one. It
            is None after ``dispose``.
        tex_shape: the texture's height and width in texels.
    """

    __slots__ = ("_backend", "_handle", "tex_shape", "texture")

    def __init__(
        self, texture: Any, tex_shape: tuple[int, int], backend: Backend, handle: Handle
    ) -> None:
        self.texture = texture
        self.tex_shape = tex_shape
        self._backend = backend
        self._handle = handle

    def dispose(self) -> None:
        """Give the texture back; what else refers to it must not use it any more."""
        if self.texture is not None:
            self.texture = None
            self._backend.release(self._handle)

    __del__ = dispose

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()


def data_to_gpu(self: TensorLike, custom_tex_shape: Sequence[int] | None = None) -> GPUData:
    """Return a copy of the elements in a texture of the WebGL backend's context.

    A page draws with it if it draws on the same context, which ``wt.webgl.set_context`` gives to
    the backend. Nothing is read, and nothing waits for the GPU. Elements become floats.

    Args:
        custom_tex_shape: the height and the width of the texture in texels, which hold four
            elements each; by default as the backend has it, with a power of two as width.

    Raises:
        BackendUnavailableError: the active backend has no textures, or those of WebGL 1.
        TypeError: the elements are no numbers, or complex ones; a length is no integer.
        ValueError: the tensor has no elements, the texture has no room for them, or it is larger
            than this device has them.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> if wt.get_backend() == "webgl":
        ...     with x.data_to_gpu(custom_tex_shape=(1, 2)) as data:
        ...         print(data.tex_shape)
    """
    name = "data_to_gpu"
    x = as_operand(name, self)
    if x.dtype not in (float32, int32, bool_):
        raise TypeError(f"{name}: the elements must be real numbers, but they are {x.dtype}")
    if x.size == 0:
        raise ValueError(f"{name}: the tensor has no elements; its shape is {x.shape}")
    tex_shape = None if custom_tex_shape is None else _checked(name, custom_tex_shape, x.size)
    active = backend()
    if x.storage.backend is not active:
        x.storage.move_to(active, name)
    handed = active.hand_out(x, tex_shape)
    if handed is None:
        raise BackendUnavailableError(
            f"{name}: backend {active.name!r} has no textures to hand out; 'webgl' has on WebGL 2"
        )
    return GPUData(*handed[:2], active, handed[2])


def _checked(name: str, shape: Sequence[int], size: int) -> tuple[int, int]:
    sizes = tuple(shape)
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in sizes):
        raise TypeError(f"{name}: custom_tex_shape must be two integers, but is {shape!r}")
    if len(sizes) != 2 or min(sizes) < 1:
        raise ValueError(f"{name}: custom_tex_shape must be two positive integers, not {shape!r}")
    height, width = sizes
    room = _ELEMENTS_PER_TEXEL * height * width
    if room < size:
        raise ValueError(
            f"{name}: custom_tex_shape {sizes} has room for {room} elements, but the tensor has "
            f"{size}"
        )
    return height, width
