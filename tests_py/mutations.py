"""Mutated files: what readers of untrusted files must refuse or read, never hang on."""

import json
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any

from webtensor.formats.varints import read_varint, write_varint

__all__ = ["mutated", "mutated_archive", "mutated_fields", "mutated_json"]

#: What JSON may have in place of anything else.
STRANGE: tuple[Any, ...] = (
    None, -1, 0, 10**9, 10**30, 1e300, -0.5, "x", "", [], {}, [None], True, ["a", 0, 0], [[[]]],
    {"class_name": "Dense", "config": {}}, {"class_name": "__tensor__", "config": {"value": 1}},
)  # fmt: skip


def mutated(data: bytes, random: Random) -> bytes:
    """The data with bytes changed, cut, doubled or moved."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        offset, length = random.randrange(len(changed)), random.choice((1, 4, 8, 32, 200))
        way = random.randrange(6)
        if way == 0:
            changed[offset] = random.randrange(256)
        elif way == 1:
            changed[offset] ^= 1 << random.randrange(8)
        elif way == 2:
            del changed[offset : offset + length]
        elif way == 3:
            changed[offset:offset] = changed[offset : offset + length]
        elif way == 4:
            changed[offset : offset + 8] = random.choice(
                (b"\xff" * 8, bytes(8), b"\0" * 7 + b"\x7f")
            )
        else:
            begin = random.randrange(len(changed))
            changed[offset : offset + length] = changed[begin : begin + length]
        if not changed:
            break
    return bytes(changed)


def mutated_json(data: bytes, random: Random) -> bytes:
    """JSON with something strange in place of one of its values."""
    config = json.loads(data)
    holder: Any
    key: Any
    holder, key = {"all": config}, "all"
    while isinstance(holder[key], (dict, list)) and holder[key] and random.random() < 0.85:
        holder = holder[key]
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = random.choice(keys)
    holder[key] = random.choice(STRANGE)
    return json.dumps(config).encode()


# -- protocol buffers --------------------------------------------------------------------------

#: A field: its number, its wire type, and an integer, bytes, or the fields of a message.
Field = tuple[int, int, Any]
INTEGERS = (0, 1, 3, 100, *(2**bits - 1 for bits in (31, 32, 63, 64)), 2**31, 2**53 + 1, 2**63)
#: How a field of each wire type may continue: integers, 8 bytes, any bytes, 4 bytes.
CONTENTS: dict[int, tuple[Any, ...]] = {
    0: INTEGERS,
    1: (bytes(8), b"\xff" * 8),
    2: (b"", b"a" * 1000, b"\xff\xfe", b"\x80" * 9 + b"\1"),
    5: (bytes(4), b"\xff" * 4),
}
LARGEST = 20_000


def fields_of(data: bytes, depth: int = 12) -> list[Field]:
    """The fields of a message; bytes that look like a message are one.

    Raises:
        ValueError: the bytes are no message.
    """
    fields: list[Field] = []
    position = 0
    while position < len(data):
        tag, position = read_varint(data, position, len(data))
        number, wire = tag >> 3, tag & 7
        if not number or wire not in CONTENTS:
            raise ValueError("no field")
        size = {1: 8, 5: 4}.get(wire, 0)
        value: Any = 0
        if wire in (0, 2):
            value, position = read_varint(data, position, len(data))
            size = value if wire == 2 else 0
        if position + size > len(data):
            raise ValueError("no such bytes")
        if wire:
            value = data[position : position + size]
            position += size
        if wire == 2 and value and depth:
            with suppress(ValueError):
                value = fields_of(value, depth - 1)
        fields.append((number, wire, value))
    return fields


def encoded(fields: list[Field]) -> bytes:
    """The bytes of a message."""
    pieces = bytearray()
    for number, wire, value in fields:
        pieces += write_varint(number << 3 | wire)
        content: Any = encoded(value) if isinstance(value, list) else value
        if wire == 2:
            pieces += write_varint(len(content))
        pieces += write_varint(content) if wire == 0 else content
    return bytes(pieces)


def messages_in(fields: list[Field]) -> list[list[Field]]:
    """The fields of a message, and those of all messages in it."""
    inner = (messages_in(value) for _, _, value in fields if isinstance(value, list))
    return [fields, *(message for messages in inner for message in messages)]


def mutated_fields(data: bytes, random: Random) -> bytes:
    """A message of protocol buffers with fields repeated, removed, moved, or of other types."""
    fields = fields_of(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        messages = [message for message in messages_in(fields) if message]
        if not messages or len(encoded(fields)) > LARGEST:
            break
        message, other = random.choice(messages), random.choice(messages)
        index = random.randrange(len(message))
        number, wire, value = message[index]
        way = random.randrange(6)
        if way == 0:
            message[index:index] = [message[index]] * random.choice((1, 1, 1, 20))
        elif way == 1:
            del message[index]
        elif way == 2:
            message[index] = random.choice((number + 1, random.randrange(1, 40))), wire, value
        elif way == 3:
            wire = random.choice((wire, *CONTENTS))
            message[index] = number, wire, random.choice(CONTENTS[wire])
        elif way == 4:
            message[index] = deepcopy(random.choice(other))
        else:
            random.shuffle(message)
    return encoded(fields)


# -- archives ----------------------------------------------------------------------------------

#: The signatures of the records of an archive, and their sizes.
RECORDS = {b"PK\1\2": 46, b"PK\3\4": 30, b"PK\5\6": 22}


def mutated_archive(data: bytes, random: Random) -> bytes:
    """A zip archive with other numbers in its records, which may be repeated."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        records = [
            (start, size)
            for signature, size in RECORDS.items()
            for start in range(len(changed))
            if changed.startswith(signature, start)
        ]
        start, size = random.choice(records)
        if random.random() < 0.2:
            changed[start:start] = changed[start : start + size]
        else:
            offset, width = start + random.randrange(4, size), random.choice((2, 4))
            number = random.choice((*INTEGERS, 8, 12, 99, random.choice(records)[0]))
            changed[offset : offset + width] = number.to_bytes(8, "little")[:width]
    return bytes(changed)
