"""Living in a page: giving the event loop its turn."""

from webtensor.browser.frames import next_frame

__all__ = ["next_frame"]
