"""Loads every kernel module, and with them the table."""

from webtensor.backends.webgl.backend import kernel

__all__ = ["TABLE"]

TABLE = kernel
