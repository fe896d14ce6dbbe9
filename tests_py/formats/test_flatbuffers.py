"""FlatBuffers, by hand from their specification and by a small writer."""

from struct import pack
from typing import Any

import pytest

from tests_py.formats.flatbuffer_files import encode
from webtensor import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.flatbuffers import MAX_DEPTH, Enumeration, Record, Schema

SCHEMA = Schema(
    """
    Everything
        0  flag      bool
        1  byte      int8
        2  short     uint16
        3  integer   int32 = 7
        4  long      int64
        5  float     float32
        6  double    float64 = 0.5
        7  text      string
        8  color     Color = 1
        9  inner     Everything
        11 shape     Shape
        12 bytes     uint8[]
        13 integers  int32[]
        14 floats    float32[]
        15 texts     string[]
        16 inners    Everything[]
    Circle
        0  radius    float32
    Square
        0  side      int32
    """,
    {"Color": Enumeration("int8", ("RED", "GREEN", "BLUE"))},
    {"Shape": {1: "Circle", 3: "Square"}},
)


def decode(data: bytes, budget: Budget | None = None) -> Record:
    return SCHEMA.decode("Everything", data, b"TEST", "file", budget or Budget("file"))


def written(**values: Any) -> Record:
    return decode(encode(SCHEMA, "Everything", values, b"TEST"))


@pytest.mark.parametrize(
    "name, value",
    [
        ("flag", True),
        ("byte", -5),
        ("short", 65535),
        ("integer", -(2**31)),
        ("long", 2**62),
        ("float", 0.25),
        ("double", -1e300),
        ("text", "ü𝄞"),
        ("text", ""),
        ("color", "BLUE"),
        ("inner", {"integer": 3, "inner": {"text": "a"}}),
        ("texts", ["", "a", "ü"]),
        ("inners", [{}, {"byte": 1}]),
    ],
)
def test_fields(name: str, value: Any):
    assert written(**{name: value}) == {name: value}


@pytest.mark.parametrize(
    "name, values", [("bytes", b"abc"), ("integers", [1, -2, 2**31 - 1]), ("floats", [0.5, -1.0])]
)
def test_lists_of_numbers_are_views_of_the_file(name: str, values: Any):
    data = encode(SCHEMA, "Everything", {name: values}, b"TEST")
    view = decode(data)[name]
    assert list(view) == list(values)
    assert view.obj is data


def test_unions():
    circle = written(shape=("Circle", {"radius": 2.0}))["shape"]
    assert (circle.type.name, circle["radius"]) == ("Circle", 2.0)
    square = written(shape=("Square", {}))["shape"]
    assert (square.type.name, square["side"]) == ("Square", 0)


def test_tables_of_a_union_that_the_schema_does_not_have():
    newer = Schema(
        """
        Everything
            11 shape  Shape
        Triangle
            0  angle  int32
        """,
        unions={"Shape": {2: "Triangle"}},
    )
    data = encode(newer, "Everything", {"shape": ("Triangle", {"angle": 1})}, b"TEST")
    assert decode(data)["shape"] is None


def test_defaults():
    record = written()
    assert record == {}
    assert (record["flag"], record["byte"], record["integer"]) == (False, 0, 7)
    assert (record["float"], record["double"], record["color"]) == (0.0, 0.5, "GREEN")
    assert (record["text"], record["inner"], record["shape"]) == ("", None, None)
    assert record["integers"] == record["inners"] == ()
    assert isinstance(record["flag"], bool)
    assert isinstance(record["integer"], int)
    with pytest.raises(KeyError):
        record["no_such_field"]


def test_fields_that_are_newer_than_the_schema_are_skipped():
    newer = Schema("Everything\n 1 byte int8\n 90 more int64\n")
    data = encode(newer, "Everything", {"byte": 1, "more": 5}, b"TEST")
    assert decode(data) == {"byte": 1}


# -- by hand -----------------------------------------------------------------------------------


def file(*table: int | bytes, slots: tuple[int, ...] = (4, 4), begin: int | None = None) -> bytes:
    """A file with a table of slots, then a table."""
    head = pack("<I", 8 + 2 * len(slots) if begin is None else begin) + b"TEST"
    body = pack(f"<{len(slots)}H", *slots) + pack("<i", 2 * len(slots))
    return (
        head
        + body
        + b"".join(part if isinstance(part, bytes) else pack("<I", part) for part in table)
    )


def only(slot: int) -> tuple[int, ...]:
    """The slots of a table with one field, which begins at its fourth byte."""
    return (2 * slot + 6, 8, *[0] * slot, 4)


BYTE, COLOR, INNER, TEXT, VECTOR, TEXTS, INNERS = (only(slot) for slot in (1, 8, 9, 7, 13, 15, 16))
SHAPE = (28, 12, *[0] * 10, 8, 4)


def test_files_by_hand():
    assert decode(file(b"\x05", slots=BYTE)) == {"byte": 5}
    assert decode(file(4, 2, b"ab\0", slots=TEXT)) == {"text": "ab"}
    assert list(decode(file(4, 2, b"abcdefgh", slots=VECTOR))["integers"]) == [
        int.from_bytes(b"abcd", "little"),
        int.from_bytes(b"efgh", "little"),
    ]


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "file is no file of the format TEST"),
        (b"\x08\0\0\0TFL3", "file is no file of the format TEST"),
        (file(begin=100), "byte 100: the file has 16 bytes"),
        (file(begin=2**32 - 1), "the file has 16 bytes"),
        (file(b"", slots=BYTE), "byte 20: the file has 20 bytes"),
        (file(1000, slots=TEXT), "byte 1032: the file has 36 bytes"),
        (file(4, 1000, slots=TEXT), "a text has 1000 bytes, which are not there"),
        (file(4, 2, b"\xc3\x28", slots=TEXT), "a text is not UTF-8"),
        (file(4, 3, b"abcdefgh", slots=VECTOR), "integers has 3 items, but the file has"),
        (file(4, 2**31, slots=VECTOR), "integers has 2147483648 items"),
        (file(4, 2**31, slots=TEXTS), "texts has 2147483648 items"),
        (file(4, 1, 1000, slots=TEXTS), "the file has"),
        (file(1000, slots=INNER), "the file has"),
        (file(1000, b"\1", slots=SHAPE), "the file has"),
        (file(b"\x03", slots=COLOR), "Everything.color is 3"),
        (file(b"\xff", slots=COLOR), "Everything.color is -1"),
    ],
)
def test_broken_files(data: bytes, message: str):
    with pytest.raises(ModelFormatError, match=message) as info:
        decode(data)
    assert str(info.value).startswith("file")


def test_tables_nested_too_deeply():
    values: dict[str, Any] = {}
    for _ in range(MAX_DEPTH - 1):
        values = {"inner": values}
    written(**values)
    with pytest.raises(ModelFormatError, match="nested more than 32 levels deep"):
        written(inner=values)


def test_many_offsets_to_the_same_table_cost_as_much_as_many_tables():
    count = 1000
    offsets = pack(f"<{count}I", *(4 * (count - index) + 4 for index in range(count)))
    data = file(4, count, offsets, slots=INNERS) + pack("<HHi", 4, 4, 4)
    assert decode(data)["inners"] == [{}] * count
    with pytest.raises(ModelFormatError, match="would become"):
        decode(data, Budget("file", floor=300 * count))
