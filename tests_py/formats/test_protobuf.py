"""Protocol buffers beside Google's own library."""

import json
import math
import os
from array import array
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import DecodeError

from tests_py.formats.google_messages import assert_equal, message_class
from tests_py.mutations import mutated
from webtensor import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.protobuf import MAX_DEPTH, NUMBERS, Field, Schema
from webtensor.formats.protobuf_json import from_json, to_json

COUNT = 10_000 if os.environ.get("WEBTENSOR_FUZZ") else 300

SCHEMA = Schema(
    """
    Everything
        1  int32_field     int32
        2  int64_field     int64
        3  uint32_field    uint32
        4  uint64_field    uint64
        5  sint32_field    sint32
        6  sint64_field    sint64
        7  bool_field      bool
        8  fixed32_field   fixed32
        9  sfixed32_field  sfixed32
        10 float_field     float
        11 fixed64_field   fixed64
        12 sfixed64_field  sfixed64
        13 double_field    double
        14 string_field    string
        15 bytes_field     bytes
        16 color           Color
        17 inner           Everything
        21 int32s          int32[]
        22 int64s          int64[]
        23 uint32s         uint32[]
        24 uint64s         uint64[]
        25 sint32s         sint32[]
        26 sint64s         sint64[]
        27 bools           bool[]
        28 fixed32s        fixed32[]
        29 sfixed32s       sfixed32[]
        30 floats          float[]
        31 fixed64s        fixed64[]
        32 sfixed64s       sfixed64[]
        33 doubles         double[]
        34 strings         string[]
        35 bytes_list      bytes[]
        36 colors          Color[]
        37 inners          Everything[]
        41 by_name         string:Everything
        42 by_number       int32:string
        43 by_flag         bool:sint64
        44 blobs           uint64:bytes
        51 a_text          string      in choice
        52 a_number        int64       in choice
        53 an_inner        Everything  in choice
        999 far            int32
    """,
    {"Color": {"BLACK": 0, "RED": 1, "DARK_BLUE": 300, "ODD": -1}},
)
GOOGLE = message_class(SCHEMA, "Everything")

INTEGERS = (
    *(0, 1, -1, 127, 128, 300, -300),
    *(2**31, -(2**31), 2**31 - 1, 2**32 - 1),
    *(2**63, -(2**63), 2**63 - 1, 2**64 - 1),
)
FLOATS = (0.0, -0.0, 1.5, -(2.0**100), math.inf, -math.inf, math.nan)


def decode(data: bytes) -> Any:
    return SCHEMA.decode("Everything", data, "file.pb")


def random_number(kind: str, random: Random) -> Any:
    number = NUMBERS.get(kind, NUMBERS["int32"])
    if isinstance(number.default, float):
        return random.choice(FLOATS)
    if kind == "bool":
        return random.random() < 0.5
    return random.choice([value for value in INTEGERS if number.holds(value)])


def random_value(field: Field, random: Random, depth: int) -> Any:
    if field.kind == "Everything":
        return random_values(random, depth - 1)
    if field.kind == "string":
        return random.choice(("", "a", "text of some length", "ü€𝄞"))
    if field.kind == "bytes":
        return random.randbytes(random.choice((0, 1, 200)))
    if field.kind == "Color":
        return random.choice((0, 1, 300, -1))
    return random_number(field.kind, random)


def random_values(random: Random, depth: int = 3) -> dict[str, Any]:
    """A message with about a quarter of the fields, at most one of those of a group."""
    values: dict[str, Any] = {}
    has_choice = False
    for field in SCHEMA.types["Everything"].by_name.values():
        if random.random() > 0.25 or (field.kind == "Everything" and not depth):
            continue
        if field.oneof:
            if has_choice:
                continue
            has_choice = True
        if field.key:
            keys = {"string": ("a", ""), "bool": (False, True)}.get(field.key, (0, 7))
            values[field.name] = {key: random_value(field, random, depth) for key in keys}
        elif field.is_repeated:
            values[field.name] = [random_value(field, random, depth) for _ in range(3)]
        else:
            values[field.name] = random_value(field, random, depth)
    return values


def random_message(seed: int) -> tuple[dict[str, Any], bytes]:
    values = random_values(Random(seed))
    return values, SCHEMA.encode("Everything", values)


@pytest.mark.parametrize("seed", range(30))
def test_messages_go_both_ways(seed: int):
    data = random_message(seed)[1]
    theirs = GOOGLE.FromString(data)
    assert_equal(decode(data), theirs)
    assert_equal(decode(theirs.SerializeToString()), theirs)


@pytest.mark.parametrize("seed", range(30))
def test_json_goes_both_ways(seed: int):
    values, data = random_message(seed)
    theirs = GOOGLE.FromString(data)
    for preserving in (False, True):
        described = MessageToDict(theirs, preserving_proto_field_name=preserving)
        assert_equal(from_json(SCHEMA, "Everything", described, "file.json"), theirs)
    ours = to_json(SCHEMA, "Everything", values)
    # Through text, in which NaN and infinity are strings.
    assert_equal(decode(data), ParseDict(json.loads(json.dumps(ours, allow_nan=False)), GOOGLE()))


@pytest.mark.timeout(900)
def test_mutated_messages_are_read_as_by_google():
    random = Random("protobuf")
    for number in range(COUNT):
        data = random_message(number % 20)[1]
        changed = mutated(data, random)
        try:
            theirs = GOOGLE.FromString(changed)
        except DecodeError:
            with pytest.raises(ModelFormatError, match=r"^file\.pb: "):
                decode(changed)
        else:
            assert_equal(decode(changed), theirs, maps=False)


# -- facts of the specification ----------------------------------------------------------------


@pytest.mark.parametrize(
    "data, name, value",
    [
        ("08 96 01", "int32_field", 150),
        ("08 ff ff ff ff ff ff ff ff ff 01", "int32_field", -1),
        ("10 ff ff ff ff ff ff ff ff ff 01", "int64_field", -1),
        ("28 03", "sint32_field", -2),
        ("38 02", "bool_field", True),
        ("55 00 00 80 3f", "float_field", 1.0),
        ("72 07 74 65 73 74 69 6e 67", "string_field", "testing"),
        ("80 01 ac 02", "color", 300),
        ("08 01 08 02", "int32_field", 2),
        ("08 80 80 00", "int32_field", 0),
    ],
)
def test_single_values(data: str, name: str, value: Any):
    assert decode(bytes.fromhex(data)) == {name: value}


@pytest.mark.parametrize(
    "data, name, values",
    [
        ("aa 01 06 03 8e 02 9e a7 05", "int32s", [3, 270, 86942]),
        ("a8 01 03 a8 01 8e 02", "int32s", [3, 270]),
        ("a8 01 03 aa 01 02 04 05 a8 01 06", "int32s", [3, 4, 5, 6]),
        ("f2 01 04 00 00 80 3f f5 01 00 00 00 40", "floats", [1.0, 2.0]),
        ("92 02 00 92 02 01 61", "strings", ["", "a"]),
    ],
)
def test_lists(data: str, name: str, values: list[Any]):
    assert list(decode(bytes.fromhex(data))[name]) == values


def test_packed_floats_are_a_view_of_the_file():
    data = SCHEMA.encode("Everything", {"floats": [1.0] * 1000, "bytes_field": bytes(1000)})
    message = decode(data)
    assert message["floats"].obj is data
    assert message["bytes_field"].obj is data


def test_parts_of_a_message_are_merged():
    parts: list[dict[str, Any]] = [
        {"inner": {"int32_field": 1, "int32s": [1]}},
        {"inner": {"color": 1, "int32s": [2]}},
    ]
    inner = decode(b"".join(SCHEMA.encode("Everything", part) for part in parts))["inner"]
    assert inner == {"int32_field": 1, "color": 1, "int32s": array("i", [1, 2])}


def test_the_last_of_a_group_is_present():
    parts: list[dict[str, Any]] = [{"a_text": "a"}, {"an_inner": {"color": 1}}, {"a_number": 3}]
    message = decode(b"".join(SCHEMA.encode("Everything", part) for part in parts))
    assert message == {"a_number": 3}
    assert message.which("choice") == "a_number"


def test_defaults():
    message = decode(b"")
    assert message == {}
    assert message["int32_field"] == 0
    assert message["float_field"] == 0.0
    assert message["bool_field"] is False
    assert message["string_field"] == ""
    assert bytes(message["bytes_field"]) == b""
    assert message["inner"]["inner"]["int32s"] == ()
    assert message["by_name"] == {}
    assert message.which("choice") == ""
    with pytest.raises(KeyError):
        message["no_such_field"]


@pytest.mark.parametrize(
    "data",
    [
        "9a 3f 02 01 02",  # an unknown field of bytes
        "98 3f 05",
        "9b 3f 08 01 13 18 01 14 9c 3f",  # an unknown group with a group in it
        "0d 01 02 03 04",  # a known field of another wire type
        "72 00 70 01",
    ],
)
def test_what_is_unknown_is_skipped(data: str):
    assert not decode(bytes.fromhex(data)).keys() - {"string_field"}


@pytest.mark.parametrize(
    "data, message",
    [
        ("08", "byte 1: an integer has no end"),
        ("08 80", "byte 1: an integer has no end"),
        ("08 " + "80 " * 11, "byte 1: an integer has more than 64 bits"),
        ("00", "byte 0: Everything has a field of number 0"),
        ("0f", "byte 1: field 1 has wire type 7"),
        ("0c", "byte 1: field 1 has wire type 4"),
        ("72 05 61", "byte 1: field 14 has 5 bytes, but 1 are left"),
        ("55 00 00", "byte 1: field 10 has 4 bytes, but 2 are left"),
        ("72 02 c3 28", "byte 2: the text of Everything.string_field is not UTF-8"),
        ("f2 01 03 00 00 00", "byte 3: floats has 3 bytes of float"),
        ("aa 01 01 80", "byte 3: int32s has an integer without an end"),
        ("aa 01 0b" + " 80" * 11, "byte 3: int32s has an integer of more than 64 bits"),
        ("9b 3f 08 01", "byte 4: an integer has no end"),
        ("9b 3f 14", "byte 2: a group ends that did not begin"),
    ],
)
def test_broken_messages(data: str, message: str):
    with pytest.raises(ModelFormatError) as info:
        decode(bytes.fromhex(data))
    assert str(info.value) == f"file.pb: {message}"


def test_nested_too_deeply():
    data = b""
    for _ in range(MAX_DEPTH - 1):
        data = SCHEMA.encode("Everything", {"bytes_field": data}).replace(b"\x7a", b"\x8a\x01", 1)
    decode(data)
    data = SCHEMA.encode("Everything", {"bytes_field": data}).replace(b"\x7a", b"\x8a\x01", 1)
    with pytest.raises(ModelFormatError, match="nested more than 100 levels deep"):
        decode(data)
    with pytest.raises(ModelFormatError, match="groups are nested more than 100 levels deep"):
        decode(b"\x9b\x3f" * 101)


def test_many_small_messages_cost_more_than_they_may():
    with pytest.raises(ModelFormatError, match=r"file\.pb would become \d+ bytes"):
        SCHEMA.decode("Everything", b"\xaa\x02\x00" * 10, "file.pb", Budget("file.pb", floor=2000))


@pytest.mark.parametrize(
    "values, error, message",
    [
        ({"nope": 1}, ValueError, "Everything has no field 'nope'"),
        ({"int32_field": 2**31}, ValueError, "int32_field is 2147483648, which int32 cannot hold"),
        ({"uint32_field": -1}, ValueError, "uint32_field is -1, which uint32 cannot hold"),
        ({"sint32_field": 2**31}, ValueError, "which sint32 cannot hold"),
        ({"fixed32_field": -1}, ValueError, "which fixed32 cannot hold"),
        ({"int32_field": 1.5}, ValueError, "which int32 cannot hold"),
        ({"bytes_field": "text"}, TypeError, "bytes-like"),
    ],
)
def test_what_cannot_be_written(values: dict[str, Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        SCHEMA.encode("Everything", values)


@pytest.mark.parametrize(
    "value, message",
    [
        ([], r"file.json must be an object, but is \[\]"),
        ({"inner": 3}, "file.json.inner must be an object, but is 3"),
        ({"inners": [{}, {"color": "GREEN"}]}, r"inners\[1\].color must be a name of Color"),
        ({"int32Field": 2**31}, "file.json.int32Field must be an integer of kind int32"),
        ({"int64_field": "1.5"}, "file.json.int64_field must be an integer of kind int64"),
        ({"int64Field": True}, "must be an integer"),
        ({"int64Field": "9" * 30}, "must be an integer"),
        ({"floatField": "x"}, "must be a number of kind float, but is 'x'"),
        ({"floatField": 1e300}, "must be a number of kind float"),
        ({"boolField": 1}, "must be true or false"),
        ({"stringField": "\ud800"}, "must be a text"),
        ({"bytesField": "?"}, "must be bytes in base64"),
        ({"bytesField": [256]}, "must be bytes in base64"),
        ({"int32s": 3}, "must be a list"),
        ({"byName": []}, r"file.json.byName must be an object"),
        ({"byNumber": {"x": "a"}}, "must be an integer of kind int32, but is 'x'"),
        ({"byName": {"x": {"color": []}}}, r"file.json.byName\['x'\].color must be an integer"),
    ],
)
def test_json_of_other_kinds(value: Any, message: str):
    with pytest.raises(ModelFormatError, match=message):
        from_json(SCHEMA, "Everything", value, "file.json")


def test_json_as_other_writers_have_it():
    value = {"bytesField": [104, 105], "int64Field": 3, "color": 300, "floats": [1, "2"], "what": 0}
    message = from_json(SCHEMA, "Everything", {**value, "inner": None, "blobs": {"1": "_-8"}}, "f")
    assert bytes(message["bytes_field"]) == b"hi"
    assert bytes(message["blobs"][1]) == b"\xff\xef"
    assert list(message["floats"]) == [1.0, 2.0]
    assert message["int64_field"] == 3
    assert message["color"] == 300
    assert "inner" not in message


def test_equal_messages_of_maps_are_counted_once():
    def read(numbers: Sequence[int]) -> Any:
        value = {"byName": {f"key{key}": {"color": color} for key, color in enumerate(numbers)}}
        budget = Budget("file.json", floor=1 << 16)
        return from_json(SCHEMA, "Everything", value, "file.json", budget)["by_name"]

    for numbers in ([1] * 300, [*range(100)] * 2):
        assert [message["color"] for message in read(numbers).values()] == numbers
    with pytest.raises(ModelFormatError, match="only 0 are stored"):
        read(range(300))


def test_json_nested_too_deeply():
    value: dict[str, Any] = {}
    for _ in range(MAX_DEPTH):
        value = {"inner": value}
    with pytest.raises(ModelFormatError, match="nested more than 100 levels deep"):
        from_json(SCHEMA, "Everything", value, "file.json")
