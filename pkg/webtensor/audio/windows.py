"""What a model looks at while a microphone records: the last frames, once in a while."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

__all__ = ["FrameWindow"]

#: The levels of each frequency.
Frame = Sequence[float]


class FrameWindow:
    """The last frames of a stream, and when a model looks at them.

    Args:
        size: the number of frames that the model sees.
        period: after how many frames it looks again.
        suppression: how many frames it waits after it heard something.

    Example:
        >>> from webtensor.audio.windows import FrameWindow
        >>> window = FrameWindow(size=3, period=2, suppression=0)
        >>> [window.add([level]) for level in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]
        [False, False, False, True, False, True]
        >>> window.frames()
        [[4.0], [5.0], [6.0]]
    """

    def __init__(self, size: int, period: int, suppression: int) -> None:
        self._frames: deque[Frame] = deque(maxlen=size)
        self._size, self._period, self._suppression = size, period, suppression
        self._count = 0
        #: The number of frames when something was heard last.
        self._heard: int | None = None

    def add(self, frame: Frame) -> bool:
        """Add a frame, and return whether it is time to look."""
        self._frames.append(frame)
        self._count += 1
        if len(self._frames) < self._size or self._count % self._period:
            return False
        return self._heard is None or self._count - self._heard > self._suppression

    def frames(self) -> list[Frame]:
        """Return the last frames, the oldest first."""
        return list(self._frames)

    def suppress(self) -> None:
        """Begin to wait, as something was heard."""
        self._heard = self._count
