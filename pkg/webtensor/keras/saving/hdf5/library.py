"""Reading HDF5 with h5py, where a file uses parts of the format that ``reader`` leaves out."""

from __future__ import annotations

from functools import cached_property
from io import BytesIO
from math import prod
from typing import Any

from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget
from webtensor.keras.saving.element_types import ITEM_SIZES, Elements
from webtensor.keras.saving.hdf5.reader import MAX_GROUPS
from webtensor.keras.saving.hdf5.tree import Group

__all__ = ["read_with_h5py"]

_HEAP = b"GCOL"


def read_with_h5py(h5py: Any, data: Any, file: str, budget: Budget) -> Group:
    """Return what a file holds.

    Raises:
        ModelFormatError: it is broken, refers to other files, or costs more than the budget allows.
    """
    try:
        with h5py.File(BytesIO(data), "r") as opened:
            return _Walk(h5py, data, file, budget).group(opened, 0)
    except (OSError, KeyError, RuntimeError) as error:
        raise ModelFormatError(f"{file} is a broken HDF5 file: {error}") from error


def _longest_text(data: Any, file: str, budget: Budget) -> int:
    """A bound for the bytes of any text: the largest object in the file's global heaps.

    Heaps are checked, too: where one has free space of size zero, HDF5's library never ends.

    Raises:
        ModelFormatError: a heap is broken.
    """
    content, longest = bytes(data), 0
    begin = content.find(_HEAP)
    while begin >= 0:
        end = begin + int.from_bytes(content[begin + 8 : begin + 16], "little")
        at = begin + 16
        while at + 16 <= end:
            budget.spend_items(1, file)
            is_free = content[at : at + 2] == b"\0\0"
            size = int.from_bytes(content[at + 8 : at + 16], "little")
            step = size if is_free else 16 + (size + 7) // 8 * 8
            if step < 16 or at + step > len(content):
                raise ModelFormatError(f"{file} is a broken HDF5 file: a global heap is broken")
            longest = max(longest, size)
            at += step
        begin = content.find(_HEAP, begin + 1)
    return longest


class _Walk:
    """Groups and arrays of an open file; each object once, and nothing before it was spent."""

    def __init__(self, h5py: Any, data: Any, file: str, budget: Budget) -> None:
        self.h5py, self.data, self.file, self.budget = h5py, data, file, budget
        self.visited: set[int] = set()

    @cached_property
    def longest_text(self) -> int:
        """A bound for the bytes of a text."""
        return _longest_text(self.data, self.file, self.budget)

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
            tree.members[name] = (
                self.group(member, depth + 1)
                if isinstance(member, h5py.Group)
                else self.elements(member)
            )
        return tree

    def visit(self, opened: Any) -> None:
        """Spend what an object takes, which may be linked once only."""
        self.budget.spend_items(1, self.file)
        address = self.h5py.h5o.get_info(opened.id).addr
        if address in self.visited:
            raise ModelFormatError(f"{self.file}: object {opened.name!r} is linked twice")
        self.visited.add(address)

    def attribute(self, attributes: Any, name: str) -> Any:
        described = attributes.get_id(name)
        count = prod(described.shape or ())
        text = self.h5py.check_string_dtype(described.dtype)
        is_in_heap = text is not None and text.length is None
        size = self.longest_text if is_in_heap else described.dtype.itemsize
        self.budget.spend_items(count, self.file)
        self.budget.spend(count * size, f"{self.file}: attribute {name!r}")
        return _plain(attributes[name])

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
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value
