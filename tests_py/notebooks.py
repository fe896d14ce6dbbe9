"""A shell of IPython, which publishes what a notebook's kernel does."""

from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell


@contextmanager
def ipython_publisher() -> Iterator[CapturingDisplayPublisher]:
    """Start a shell whose publisher keeps what it is given, and end it afterwards."""
    shell = InteractiveShell.instance()
    publisher = CapturingDisplayPublisher(shell=shell)
    plain, shell.display_pub = shell.display_pub, publisher
    yield publisher
    shell.display_pub = plain
    InteractiveShell.clear_instance()
