"""Mutated graphs are computed or refused with an error that says so; nothing hangs."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests_py.graph.cases import CASES
from tests_py.graph.flows import FLOWS
from tests_py.graph.graphs import Array, model_of, tensor_of
from tests_py.mutations import mutated_json
from webtensor.errors import ModelFormatError
from webtensor.graph import compilation

MUTATIONS = 600
#: Loops whose mutations never end are stopped here.
MAX_DECISIONS = 300

Graph = tuple[dict[str, Any], dict[str, Array], list[str]]


def graphs() -> Iterator[Graph]:
    """Graphs of the tables, with what they are fed with and what is fetched."""
    for case in CASES:
        constants = range(1, len(case.inputs))
        feeds = {name: case.feeds[name] for name in list(case.feeds)[:1]}
        yield case.topology(constants), feeds, case.fetches
    for flow in FLOWS:
        yield flow.topology, flow.feeds, list(flow.expected)


def rewired(topology: dict[str, Any], random: Random) -> dict[str, Any]:
    """The graph with inputs, names or attributes of its nodes exchanged."""
    changed = copy.deepcopy(topology)
    bodies = [changed["node"], *(body["nodeDef"] for body in changed["library"]["function"])]
    nodes = [node for body in bodies for node in body]
    for _ in range(random.choice((1, 1, 2, 3))):
        node, other = random.choice(nodes), random.choice(nodes)
        way = random.randrange(7)
        if way == 0 and node["input"]:
            node["input"][random.randrange(len(node["input"]))] = other["name"]
        elif way == 1 and node["input"]:
            node["input"].pop(random.randrange(len(node["input"])))
        elif way == 2:
            node["input"].append(random.choice(("", "^")) + other["name"])
        elif way == 3:
            node["op"], other["op"] = other["op"], node["op"]
        elif way == 4:
            node["attr"], other["attr"] = other["attr"], node["attr"]
        elif way == 5 and node["attr"]:
            del node["attr"][random.choice(list(node["attr"]))]
        elif way == 6 and node["input"]:
            node["input"][0] += random.choice((":1", ":2", ":9", ":output:0"))
    return changed


def mutations(count: int) -> Iterator[Graph]:
    """Graphs of which something was changed."""
    random = Random(17)
    originals = list(graphs())
    for _ in range(count):
        topology, feeds, fetches = random.choice(originals)
        if random.random() < 0.6:
            yield rewired(topology, random), feeds, fetches
        else:
            data = json.dumps(topology).encode()
            yield json.loads(mutated_json(data, random)), feeds, fetches


class EndlessError(ValueError):
    """A loop went on for long."""


@pytest.fixture(autouse=True)
def decisions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts decisions of loops, and ends loops that make too many."""
    counts = [0]
    is_true = compilation.is_true

    def counted(value: Any) -> bool:
        counts[0] += 1
        if counts[0] > MAX_DECISIONS:
            raise EndlessError("this loop does not end")
        return is_true(value)

    monkeypatch.setattr(compilation, "is_true", counted)
    return counts


def test_mutated_graphs_are_computed_or_refused(decisions: list[int]):
    refused = computed = 0
    for topology, feeds, fetches in mutations(MUTATIONS):
        decisions[0] = 0
        try:
            model = model_of(topology)
        except ModelFormatError:
            refused += 1
            continue
        try:
            for _ in range(2):
                model.execute({name: tensor_of(value) for name, value in feeds.items()}, fetches)
            computed += 1
        except (ValueError, MemoryError):
            refused += 1
    assert refused > MUTATIONS / 4
    assert computed > MUTATIONS / 20
