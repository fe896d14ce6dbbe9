"""Running in a page: yielding to the event loop, and exchanging pixels.

``frames`` waits for the page to paint; ``pixels`` turns images into tensors and back.
"""

from typing import TYPE_CHECKING

from webtensor.browser.frames import next_frame
from webtensor.lazy_contents import lazy_contents

__all__ = ["draw", "from_pixels", "from_pixels_async", "next_frame", "to_pixels"]

if TYPE_CHECKING:
    from webtensor.browser.pixels import draw, from_pixels, from_pixels_async, to_pixels
else:
    __getattr__, __dir__ = lazy_contents(
        __name__, {"pixels": ["draw", "from_pixels", "from_pixels_async", "to_pixels"]}
    )
