"""HDF5 files: their contents (``tree``), and a ``reader`` and a ``writer`` in plain Python.

What ``reader`` does not support, such as compressed arrays, is read with h5py if it is installed
(``library``).
"""

from __future__ import annotations

from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer
from webtensor.keras.saving.hdf5.checksums import without_checksum
from webtensor.keras.saving.hdf5.library import read_with_h5py
from webtensor.keras.saving.hdf5.reader import MAX_GROUPS, UnsupportedError, read
from webtensor.keras.saving.hdf5.specification import SIGNATURE
from webtensor.keras.saving.hdf5.tree import Group
from webtensor.keras.saving.hdf5.writer import pieces

__all__ = ["MAX_GROUPS", "SIGNATURE", "Group", "pieces", "read_hdf5"]


def read_hdf5(data: Buffer, file: str, budget: Budget | None = None) -> Group:
    """Return the contents of a file.

    Args:
        data: the bytes of the file.
        file: what errors call the file.
        budget: limits what reading it may cost; None is that of a file of its size.

    Raises:
        ModelFormatError: the file is broken, is no HDF5 file, or needs h5py, which is not
            installed.
    """
    budget = budget or Budget(file, len(data))
    with reading(file):
        return without_checksum(_read(data, file, budget), file)


def _read(data: Buffer, file: str, budget: Budget) -> Group:
    try:
        return read(data, file, budget)
    except UnsupportedError:
        try:
            import h5py
        except ImportError:
            h5py = None
        if h5py is None:
            raise
    return read_with_h5py(h5py, data, file, budget)
