"""Frames of a camera as elements of a data set."""

from __future__ import annotations

from math import inf
from typing import Any

from webtensor.arguments import as_integer, check_choice
from webtensor.browser import from_pixels
from webtensor.data.media_devices import MediaDevice, constraints_text, functions, opened
from webtensor.engine import Tensor
from webtensor.ops import astype, expand_dims, squeeze
from webtensor.ops.image import crop_and_resize

__all__ = ["Webcam", "webcam"]

_FACING_MODES = ("user", "environment")


class Webcam(MediaDevice):
    """The frames of a camera: ``webcam`` opens one.

    Each iteration gives the newest frame, once; frames that arrive meanwhile are left out.

    Attributes:
        video: the video element that shows the camera.
    """

    _kind = "camera"

    def __init__(self, device: Any, size: tuple[int, int] | None, center_crop: bool) -> None:
        super().__init__(device, inf)
        self.video = device.video
        self._size, self._center_crop = size, center_crop

    async def _next(self) -> Tensor | None:
        has_arrived = await self._device.nextFrame()
        # The camera may be stopped between the frame's arrival and this.
        return self._frame() if has_arrived and self.is_live else None

    def _frame(self) -> Tensor:
        frame = from_pixels(self.video)
        if self._size is None:
            return frame
        box = self._crop(*frame.shape[:2]) if self._center_crop else [0.0, 0.0, 1.0, 1.0]
        images = expand_dims(astype(frame, "float32"), 0)
        return squeeze(crop_and_resize(images, [box], [0], self._size), [0])

    def _crop(self, height: int, width: int) -> list[float]:
        """Return the largest box of the target's proportions in the middle of a frame."""
        target_height, target_width = self._size or (height, width)
        scale = min(height / target_height, width / target_width)
        rows, columns = target_height * scale / height, target_width * scale / width
        return [(1 - rows) / 2, (1 - columns) / 2, (1 + rows) / 2, (1 + columns) / 2]


async def webcam(
    webcam_video_element: Any = None,
    *,
    facing_mode: str = "user",
    device_id: str | None = None,
    resize_width: int | None = None,
    resize_height: int | None = None,
    center_crop: bool = False,
) -> Webcam:
    """Ask the visitor for a camera, and return the data set of its frames.

    Frames are int32 tensors of (height, width, 3) from 0 to 255, or float32 ones where they are
    resized. On WebGL they never leave the GPU.

    Args:
        webcam_video_element: a video element of the page that shows the camera; by default one that
            the page does not show.
        facing_mode: "user", or "environment" for a camera at the back.
        device_id: the camera's identifier, in place of ``facing_mode``.
        resize_width: the width of frames; by default the camera's.
        resize_height: the height of frames, given together with the width.
        center_crop: keep the proportions, and cut the sides off, where frames are resized.

    Raises:
        OSError: there is no camera, it is in use, or this is no page.
        PermissionError: the visitor or the page's policy does not allow it.
        ValueError: an argument is invalid.

    Example:
        In a page::

            with await wt.data.webcam(resize_width=224, resize_height=224) as camera:
                async for frame in camera.take(10):
                    print(frame.shape)
    """
    check_choice("webcam", "facing_mode", facing_mode, _FACING_MODES)
    if (resize_width is None) != (resize_height is None):
        raise ValueError(
            "webcam: resize_width and resize_height must be given together, but are "
            f"{resize_width} and {resize_height}"
        )
    if center_crop and resize_width is None:
        raise ValueError("webcam: center_crop needs resize_width and resize_height")
    size = None
    if resize_width is not None:
        size = (
            as_integer("webcam", "resize_height", resize_height),
            as_integer("webcam", "resize_width", resize_width),
        )
        if min(size) <= 0:
            raise ValueError(f"webcam: frames must have a positive size, but {size} is wanted")

    def open_device() -> Any:
        constraints = constraints_text(
            {
                "deviceId": None if device_id is None else {"exact": device_id},
                "facingMode": facing_mode if device_id is None else None,
            }
        )
        return functions().openCamera(constraints, webcam_video_element)

    return Webcam(await opened("webcam", "camera", open_device), size, center_crop)
