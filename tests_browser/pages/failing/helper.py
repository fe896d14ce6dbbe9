"""Raises, for the tests of how errors are shown."""


def fail() -> None:
    """Raise an error with a message to look for."""
    raise ValueError("x has 3 axes")
