"""Mutated files: what readers of untrusted files must refuse or read, never hang on."""

import json
from random import Random
from typing import Any

__all__ = ["mutated", "mutated_json"]

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
