"""A virtual X display for the browsers whose WebGL needs one, on machines without a screen."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def virtual_display() -> Iterator[None]:
    """Set DISPLAY to a private Xvfb while the context lasts, unless there is a display already."""
    if sys.platform != "linux" or os.environ.get("DISPLAY"):
        yield
        return
    executable = shutil.which("Xvfb")
    if executable is None:
        raise RuntimeError("no display, and Xvfb isn't installed: run `make browsers`")

    # Xvfb picks a free display and writes its number to the pipe once it is ready.
    read_end, write_end = os.pipe()
    screen = ("-screen", "0", "1280x1024x24")
    server = subprocess.Popen(
        [executable, "-displayfd", str(write_end), *screen, "-nolisten", "tcp"],
        pass_fds=[write_end],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        number = pipe.readline().strip()
    if not number:
        raise RuntimeError(f"Xvfb ended with exit status {server.wait()}")
    os.environ["DISPLAY"] = f":{number}"
    try:
        yield
    finally:
        del os.environ["DISPLAY"]
        server.terminate()
        server.wait()
