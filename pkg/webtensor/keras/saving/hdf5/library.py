"""Reading HDF5 with h5py, where a file uses parts of the format that ``reader`` leaves out."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from webtensor.keras.saving.elements import ITEM_SIZES, Elements
from webtensor.keras.saving.hdf5.tree import Group

__all__ = ["read_with_h5py"]

#: Compressed arrays may grow by this factor, or to this many bytes.
_MOST_EXPANSION = 100
_ALWAYS_ALLOWED = 1 << 24


def read_with_h5py(h5py: Any, data: Any, file: str) -> Group:
    """Return what a file holds.

    Raises:
        ValueError: it is broken, refers to other files, or would become far larger than it is.
    """
    try:
        with h5py.File(BytesIO(data), "r") as opened:
            tree = _group(h5py, opened, file)
    except (OSError, KeyError, RuntimeError) as error:
        raise ValueError(f"{file} is a broken HDF5 file: {error}") from error
    total = sum(len(one.data) for _, one in tree.arrays())
    if total > max(_ALWAYS_ALLOWED, _MOST_EXPANSION * len(data)):
        raise ValueError(f"{file}: its arrays are far larger than the file")
    return tree


def _group(h5py: Any, held: Any, file: str) -> Group:
    found = Group()
    for name in held.attrs:
        value = held.attrs[name]
        found.attributes[name] = _attribute(value)
    for name in held:
        if not isinstance(held.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{file}: {name!r} is a link that leads elsewhere")
        member = held[name]
        if isinstance(member, h5py.Group):
            found.members[name] = _group(h5py, member, file)
        else:
            found.members[name] = _elements(member, file)
    return found


def _attribute(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_attribute(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value


def _elements(held: Any, file: str) -> Elements:
    if held.external or held.is_virtual:
        raise ValueError(f"{file}: array {held.name!r} lies in another file")
    stored = held.id.get_storage_size()
    if held.nbytes > max(_ALWAYS_ALLOWED, _MOST_EXPANSION * stored):
        raise ValueError(
            f"{file}: array {held.name!r} claims {held.nbytes} bytes, but {stored} are stored"
        )
    dtype = held.dtype.newbyteorder("<")
    if dtype.name not in ITEM_SIZES:
        raise ValueError(f"{file}: array {held.name!r} has dtype {held.dtype}")
    return Elements(held.shape, dtype.name, held[()].astype(dtype).tobytes())
