"""Chains of elementwise calls in programs: what becomes one, and that it computes the same."""

from collections.abc import Callable
from typing import Any

import pytest

import webtensor as wt
from tests_py.chains import random_broadcast_chain, random_chain, row_chains
from webtensor.backends.chains import CHAIN, MOST_LINKS, MOST_OPERANDS, with_chains
from webtensor.backends.programs import Program


def captured(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function until its program has run."""
    replayed = wt.function(function)
    replayed(*arguments)
    return replayed(*arguments)


def names(program: Program) -> list[Any]:
    """Return what each call computes: the names of a chain's links, or that of a kernel."""
    return [
        [link.name for link in call.attributes[0]] if call.kernel == CHAIN else call.kernel
        for call in program.calls
    ]


X = (40,)


def test_calls_in_a_row_are_one(programs: list[Program]) -> None:
    captured(lambda x: wt.tanh(wt.relu(x) * 2.0 + x), wt.ones(X))
    assert names(programs[0]) == [["relu", "multiply", "add", "tanh"]]
    (call,) = programs[0].calls
    assert len(call.inputs) == 2


def test_a_value_that_is_used_twice_in_a_chain_is_in_it(programs: list[Program]) -> None:
    captured(lambda x: wt.square(x) * wt.sigmoid(wt.square(x)), wt.ones(X))
    assert names(programs[0]) == [["square", "sigmoid", "multiply"]]


def test_what_is_needed_elsewhere_ends_a_chain(programs: list[Program]) -> None:
    def function(x: Any) -> Any:
        y = wt.tanh(wt.exp(x))
        return wt.sum(y), wt.relu(y + 1.0)

    captured(function, wt.ones(X))
    assert sorted(map(str, names(programs[0]))) == sorted(
        ["reduce", "['exp', 'tanh']", "['add', 'relu']"]
    )


def test_results_are_no_values_in_between(programs: list[Program]) -> None:
    def function(x: Any) -> Any:
        y = wt.exp(x)
        return y, wt.tanh(y)

    captured(function, wt.ones(X))
    assert names(programs[0]) == ["unary", "unary"]


def test_casts_and_choices_are_links(programs: list[Program]) -> None:
    def function(x: Any) -> Any:
        return wt.where(x > 0.5, x, wt.astype(wt.astype(x, "int32"), "float32"))

    captured(function, wt.ones(X))
    (links,) = names(programs[0])
    assert sorted(links) == ["cast", "cast", "greater", "where"]


def test_broadcast_operands_are_read_in_place(programs: list[Program]) -> None:
    row, column = wt.ones(40), wt.ones((10, 1))
    captured(lambda x, y: wt.relu(wt.square(x - y) + 0.5), row, column)
    assert names(programs[0]) == [["subtract", "square", "add", "relu"]]
    assert programs[0].calls[0].signature.shape == (10, 40)


def test_a_value_that_is_a_row_and_a_column_is_two_operands(programs: list[Program]) -> None:
    x = wt.arange(40.0)

    def function(x: Any) -> Any:
        return wt.square(wt.reshape(x, (40, 1)) - x)

    assert captured(function, x).tolist() == [[(a - b) ** 2 for b in range(40)] for a in range(40)]
    (call,) = programs[0].calls
    assert call.inputs == (0, 0)


def test_operands_that_are_broadcast_to_other_shapes_end_a_chain(programs: list[Program]) -> None:
    def function(x: Any, y: Any, z: Any) -> Any:
        return wt.relu(wt.reshape(wt.exp(x) + y, (20, 80)) + z)

    captured(function, wt.ones((40, 40)), wt.ones(40), wt.ones(80))
    assert names(programs[0]) == [["exp", "add"], ["add", "relu"]]


def test_short_rows_are_no_blocks(programs: list[Program]) -> None:
    captured(lambda x, y: wt.relu(wt.exp(x) + y), wt.ones((4, 10)), wt.ones(10))
    assert names(programs[0]) == ["unary", "binary", "unary"]


def test_chains_end_where_they_are_too_long(programs: list[Program]) -> None:
    def function(x: Any) -> Any:
        for _ in range(MOST_LINKS + 3):
            x = wt.tanh(x)
        return x

    captured(function, wt.ones(X))
    assert [len(links) for links in names(programs[0])] == [3, MOST_LINKS]


def test_chains_end_where_they_read_too_much(programs: list[Program]) -> None:
    operands = [wt.ones(X) * number for number in range(MOST_OPERANDS + 2)]

    def function(*given: Any) -> Any:
        total = given[0]
        for operand in given[1:]:
            total = total + operand
        return total

    assert captured(function, *operands).tolist() == [28.0] * 40
    assert max(len(call.inputs) for call in programs[0].calls) <= MOST_OPERANDS


def test_late_numbers_are_no_links(programs: list[Program]) -> None:
    variable = wt.Variable(wt.ones(X))
    optimizer = wt.optimizers.Adam(0.1)
    step = wt.function(lambda: optimizer.minimize(lambda: wt.sum(wt.tanh(wt.exp(variable)))))
    for _ in range(4):
        step()
    assert any(call.kernel == CHAIN for program in programs for call in program.calls)
    assert all(
        call.late is None for program in programs for call in program.calls if call.kernel == CHAIN
    )


def test_rows_without_a_function_are_no_links(programs: list[Program]) -> None:
    captured(lambda x: wt.tanh(wt.exp(wt.relu(x))), wt.ones(X))
    program = programs[0]
    refused = with_chains(program, lambda row, of: False)
    assert refused == program


@pytest.mark.parametrize("random_function", [random_chain, random_broadcast_chain])
@pytest.mark.parametrize("seed", range(150))
def test_chains_compute_the_same_to_the_bit(
    seed: int, random_function: Callable[[int], Any], no_leak: None
) -> None:
    wt.set_backend("wasm")
    function, operands = random_function(seed)
    expected = [result.numpy().tobytes() for result in function(*operands)]
    replayed = wt.function(function)
    for _ in range(3):
        assert [result.numpy().tobytes() for result in replayed(*operands)] == expected


def test_all_rows_are_links(programs: list[Program]) -> None:
    others = []
    for name, function, operands in row_chains():
        expected = function(*operands).numpy().tobytes()
        programs.clear()
        assert captured(function, *operands).numpy().tobytes() == expected, name
        if [call.kernel for call in programs[0].calls] != [CHAIN]:
            others.append(name)
    assert others == ["polynomial float32"]  # it has too many parameters
