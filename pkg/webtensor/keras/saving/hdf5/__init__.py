"""HDF5 files: ``tree`` is what they hold, ``reader`` and ``writer`` are in Python alone.

Whatever ``reader`` is too small for, such as compressed arrays, is read by h5py where it is
installed (``library``).
"""

from __future__ import annotations

from typing import Any

from webtensor.keras.budgets import Budget, reading
from webtensor.keras.saving.hdf5.checksums import without_checksum
from webtensor.keras.saving.hdf5.reader import MAX_GROUPS, SIGNATURE, UnsupportedError, read
from webtensor.keras.saving.hdf5.tree import Group
from webtensor.keras.saving.hdf5.writer import pieces

__all__ = ["MAX_GROUPS", "SIGNATURE", "Group", "pieces", "read_hdf5"]


def read_hdf5(data: Any, file: str, budget: Budget | None = None) -> Group:
    """Return what the bytes of a file hold.

    Raises:
        ModelFormatError: they are broken, or no HDF5, or need h5py, which is not installed.
    """
    budget = budget or Budget(file, len(data))
    with reading(file):
        return without_checksum(_read(data, file, budget), file)


def _read(data: Any, file: str, budget: Budget) -> Group:
    try:
        return read(data, file, budget)
    except UnsupportedError:
        try:
            import h5py
        except ImportError:
            h5py = None
        if h5py is None:
            raise
    from webtensor.keras.saving.hdf5.library import read_with_h5py

    return read_with_h5py(h5py, data, file, budget)
