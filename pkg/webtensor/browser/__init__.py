"""Running in a page: yielding to the event loop, and exchanging pixels.

``frames`` waits for the page to paint; ``pixels`` turns images into tensors and back.
"""

from webtensor.browser.frames import next_frame
from webtensor.browser.pixels import draw, from_pixels, from_pixels_async, to_pixels

__all__ = ["draw", "from_pixels", "from_pixels_async", "next_frame", "to_pixels"]
