"""Fails while the page starts."""

from helper import fail

fail()
