"""Reading HDF5 with h5py, for files that use parts of the format that ``reader`` does not read."""

from __future__ import annotations

from functools import cached_property
from io import BytesIO
from math import prod
from types import ModuleType
from typing import Any

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import ITEM_SIZES, Buffer, Elements
from webtensor.keras.saving.hdf5.reader import MAX_GROUPS
from webtensor.keras.saving.hdf5.tree import Attribute, Group

__all__ = ["read_with_h5py"]

_HEAP = b"GCOL"


def read_with_h5py(h5py: ModuleType, data: Buffer, file: str, budget: Budget) -> Group:
    """Return the contents of a file.

    Raises:
        ModelFormatError: the file is broken, refers to other files, or costs more than the budget.
    """
    try:
        with h5py.File(BytesIO(data), "r") as opened:
            return _Reader(h5py, data, file, budget).group(opened, 0)
    except (OSError, KeyError, RuntimeError) as error:
        raise ModelFormatError(f"{file} is a broken HDF5 file: {error}") from error


def _max_text_bytes(data: Buffer, file: str, budget: Budget) -> int:
    """Return an upper bound for the size of texts: the largest object in the file's global heaps.

    Heaps are checked, too: where one has free space of size zero, HDF5's library never returns.

    Raises:
        ModelFormatError: a heap is broken.
    """
    content, max_size = bytes(data), 0
    start = content.find(_HEAP)
    while start >= 0:
        end = start + int.from_bytes(content[start + 8 : start + 16], "little")
        offset = start + 16
        while offset + 16 <= end:
            budget.spend_items(1, file)
            is_free = content[offset : offset + 2] == b"\0\0"
            size = int.from_bytes(content[offset + 8 : offset + 16], "little")
            step = size if is_free else 16 + (size + 7) // 8 * 8
            if step < 16 or offset + step > len(content):
                raise ModelFormatError(f"{file} is a broken HDF5 file: a global heap is broken")
            max_size = max(max_size, size)
            offset += step
        start = content.find(_HEAP, start + 1)
    return max_size


class _Reader:
    """Reads the groups and arrays of an open file, each once, after spending their size.

    Objects of h5py have no types.
    """

    def __init__(self, h5py: ModuleType, data: Buffer, file: str, budget: Budget) -> None:
        self.h5py, self.data, self.file, self.budget = h5py, data, file, budget
        self.visited: set[int] = set()

    @cached_property
    def max_text_bytes(self) -> int:
        """An upper bound for the size of a text."""
        return _max_text_bytes(self.data, self.file, self.budget)

    def group(self, opened: Any, depth: int) -> Group:
        h5py = self.h5py
        self.visit(opened)
        if depth > MAX_GROUPS:
            raise ModelFormatError(
                f"{self.file}: its groups are nested more than {MAX_GROUPS} levels deep"
            )
        tree = Group()
        for name in opened.attrs:
            tree.attributes[name] = self.attribute(opened.attrs, name)
        for name in opened:
            if not isinstance(opened.get(name, getlink=True), h5py.HardLink):
                raise ModelFormatError(f"{self.file}: {name!r} is a link that leads elsewhere")
            member = opened[name]
            if not isinstance(member, (h5py.Group, h5py.Dataset)):
                raise ModelFormatError(f"{self.file}: {name!r} is neither a group nor an array")
            tree.members[name] = (
                self.group(member, depth + 1)
                if isinstance(member, h5py.Group)
                else self.elements(member)
            )
        return tree

    def visit(self, opened: Any) -> None:
        """Spend the size of an object, which must not be linked twice."""
        self.budget.spend_items(1, self.file)
        address = self.h5py.h5o.get_info(opened.id).addr
        if address in self.visited:
            raise ModelFormatError(f"{self.file}: object {opened.name!r} is linked twice")
        self.visited.add(address)

    def attribute(self, attributes: Any, name: str) -> Attribute:
        attribute = attributes.get_id(name)
        count = prod(attribute.shape or ())
        text = self.h5py.check_string_dtype(attribute.dtype)
        is_in_heap = text is not None and text.length is None
        size = self.max_text_bytes if is_in_heap else attribute.dtype.itemsize
        self.budget.spend_items(count, self.file)
        self.budget.spend(count * size, f"{self.file}: attribute {name!r}")
        value: Attribute = _plain(attributes[name])
        return value

    def elements(self, array: Any) -> Elements:
        self.visit(array)
        where = f"{self.file}: array {array.name!r}"
        if array.external or array.is_virtual:
            raise ModelFormatError(f"{where} lies in another file")
        self.budget.size_of(array.shape or (), where)
        Budget(where, array.id.get_storage_size()).spend(array.nbytes)
        self.budget.spend(array.nbytes, where)
        dtype = array.dtype.newbyteorder("<")
        if dtype.name not in ITEM_SIZES:
            raise ModelFormatError(f"{where} has dtype {array.dtype}")
        return Elements(array.shape, dtype.name, array[()].astype(dtype).tobytes())


def _plain(value: Any) -> Any:
    """Return text, numbers and lists for the values of NumPy."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value
