"""JSON is parsed after its depth and its values were counted, which texts do not change."""

from __future__ import annotations

import json
import random

import pytest

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json
from webtensor.formats.limits import MAX_DEPTH

#: What texts have that looks like structure.
CHARACTERS = '[]{},:"\\é\n'


def random_value(source: random.Random, depth: int = 0) -> object:
    text = "".join(source.choices(CHARACTERS, k=source.randrange(8)))
    kind = source.randrange(4 if depth < 5 else 2)
    if kind == 3:
        return {f"{text}{key}": random_value(source, depth + 1) for key in range(3)}
    if kind == 2:
        return [random_value(source, depth + 1) for _ in range(3)]
    return text if kind else source.random()


@pytest.mark.parametrize("escapes_unicode", [True, False])
def test_values(escapes_unicode: bool):
    source = random.Random(0)
    for _ in range(200):
        value = random_value(source)
        data = json.dumps(value, ensure_ascii=escapes_unicode).encode()
        assert parse_json(data, "file.json") == value


@pytest.mark.parametrize("text", ["[" * 500, '"[' * 500, "\\[" * 500, '\\"{' * 500, "]" * 500])
def test_depth_of_texts_does_not_count(text: str):
    assert parse_json(json.dumps([text, text]), "file.json") == [text, text]
    deep: object = text
    for _ in range(MAX_DEPTH + 1):
        deep = [text, deep]
    with pytest.raises(ModelFormatError, match="nested more than 200 levels deep"):
        parse_json(json.dumps(deep), "file.json")


@pytest.mark.parametrize("depth", [1, 15, 16, 17, MAX_DEPTH - 1, MAX_DEPTH])
def test_depths_that_are_allowed(depth: int):
    deep: object = 0
    for level in range(depth):
        deep = {"key": deep} if level % 2 else [deep]
    assert parse_json(json.dumps(deep), "file.json") == deep
    with pytest.raises(ModelFormatError, match="nested more than 200 levels deep"):
        parse_json("[" * (MAX_DEPTH + 1 - depth) + json.dumps(deep), "file.json")


def test_commas_of_texts_cost_nothing():
    budget = Budget("file.json", floor=1 << 10)
    assert parse_json(json.dumps(["," * 1000, '\\",' * 1000]), "file.json", budget)
    with pytest.raises(ModelFormatError, match="would become"):
        parse_json("[" + "1," * 1000 + "1]", "file.json", budget)
