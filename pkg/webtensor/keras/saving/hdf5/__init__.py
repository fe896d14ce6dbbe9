"""HDF5 files: ``tree`` is what they hold, ``reader`` and ``writer`` are in Python alone.

Whatever ``reader`` is too small for, such as compressed arrays, is read by h5py where it is
installed (``library``).
"""

from __future__ import annotations

from typing import Any

from webtensor.keras.saving.hdf5.reader import SIGNATURE, UnsupportedError, read
from webtensor.keras.saving.hdf5.tree import Group
from webtensor.keras.saving.hdf5.writer import pieces

__all__ = ["SIGNATURE", "Group", "pieces", "read_hdf5"]


def read_hdf5(data: Any, file: str) -> Group:
    """Return what the bytes of a file hold.

    Raises:
        ValueError: they are broken, or no HDF5, or need h5py, which is not installed.
    """
    try:
        return read(data, file)
    except UnsupportedError:
        try:
            import h5py
        except ImportError:
            h5py = None
        if h5py is None:
            raise
    from webtensor.keras.saving.hdf5.library import read_with_h5py

    return read_with_h5py(h5py, data, file)
