"""FlexBuffers: values by value, and files that are broken."""

from random import Random
from typing import Any

import pytest

from tests_py.formats.flexbuffer_files import flexbuffer
from tests_py.mutations import mutated
from webtensor import ModelFormatError
from webtensor.formats.flexbuffers import read_flexbuffer

VALUE: dict[str, Any] = {
    "bytes": b"\xff\0",
    "count": -7,
    "is_on": True,
    "scale": 0.25,
    "text": "wörter",
}


def test_maps():
    assert read_flexbuffer(flexbuffer(VALUE), "m") == VALUE


@pytest.mark.parametrize(
    "data, expected",
    [
        (bytes([5, 4, 1]), 5),
        (bytes([0xFB, 4, 1]), -5),
        (bytes([200, 8, 1]), 200),
        (b"\0\0\x80\x3e\x0e\4", 0.25),
        (b"\0\0\1", None),
        (bytes([1, 26 << 2, 1]), True),
        (bytes([3, 1, 2, 3, 3, 11 << 2, 1]), [1, 2, 3]),
        (bytes([1, 2, 2, 16 << 2, 1]), [1, 2]),
        (bytes([7, 1, 6 << 2, 1]), 7),
        (b"ab\0\3\x10\1", "ab"),
        (bytes([2, 1, 9, 4, 4, 4, 10 << 2, 1]), [1, 9]),
    ],
)
def test_values(data: bytes, expected: Any):
    assert read_flexbuffer(data, "m") == expected


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "byte 0 of 0 is broken"),
        (bytes([5, 4, 3]), "byte -2 of 3 is broken"),
        (bytes([9, 5 << 2, 1]), "byte -10 of 3 is broken"),
        (bytes([9, 63 << 2, 1]), "is broken"),
        (bytes([1, 1, 10 << 2, 2, 10 << 2, 1]), "m: "),
    ],
)
def test_broken_values(data: bytes, message: str):
    with pytest.raises(ModelFormatError, match=message):
        read_flexbuffer(data, "m")


def test_mutated_values():
    random = Random(5)
    data = flexbuffer(VALUE)
    messages = []
    for _ in range(500):
        try:
            read_flexbuffer(mutated(data, random), "m")
        except ModelFormatError as error:
            messages.append(str(error))
    assert len(messages) > 50
    assert max(map(len, messages)) <= 500
