"""Chains of elementwise calls in programs: what becomes one, and that it computes the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.chains import (
    random_broadcast_chain,
    random_chain,
    random_ended_chain,
    row_chains,
)
from webtensor.backends.chains import CHAIN, ENDS, MAX_LINKS, MAX_OPERANDS, with_chains
from webtensor.backends.programs import Program


def captured(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function until its program has run."""
    replayed = wt.function(function)
    replayed(*arguments)
    return replayed(*arguments)


def names(program: Program) -> list[Any]:
    """Return what each call computes: the names of a chain's links and end, or of a kernel."""
    ends = {CHAIN: [], **{kernel: [end] for end, kernel in ENDS.items()}}
    return [
        [*[link.name for link in call.attributes[0].links], *ends[call.kernel]]
        if call.kernel in ends
        else call.kernel
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
        for _ in range(MAX_LINKS + 3):
            x = wt.tanh(x)
        return x

    captured(function, wt.ones(X))
    assert [len(links) for links in names(programs[0])] == [3, MAX_LINKS]


def test_chains_end_where_they_read_too_much(programs: list[Program]) -> None:
    operands = [wt.ones(X) * number for number in range(MAX_OPERANDS + 2)]

    def function(*arguments: Any) -> Any:
        total = arguments[0]
        for operand in arguments[1:]:
            total = total + operand
        return total

    assert captured(function, *operands).tolist() == [sum(range(MAX_OPERANDS + 2))] * 40
    assert max(len(call.inputs) for call in programs[0].calls) <= MAX_OPERANDS


def test_an_end_reads_operands_too(programs: list[Program]) -> None:
    operands = [wt.ones((70, 80)) * number for number in range(MAX_OPERANDS)]
    result = captured(lambda *xs: wt.matmul(sum(xs), wt.ones((80, 2))), *operands)
    assert result.tolist() == [[80.0 * sum(range(MAX_OPERANDS))] * 2] * 70
    assert max(len(call.inputs) for call in programs[-1].calls) <= MAX_OPERANDS


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
    refused = with_chains(program, lambda row, of: False, lambda call: True)
    assert refused == program


def test_a_reduction_ends_a_chain(programs: list[Program]) -> None:
    captured(lambda x: wt.sum(wt.square(x) + 1.0, axis=-1), wt.ones((3, 80)))
    captured(lambda x: wt.max(wt.abs(x)), wt.ones((30, 80)))
    assert names(programs[0]) == [["square", "add", "reduce"]]
    assert names(programs[1]) == [["abs", "reduce"]]


def test_a_product_with_few_columns_ends_a_chain(programs: list[Program]) -> None:
    x, right = wt.ones((70, 80)), wt.ones((80, 3))
    assert captured(lambda x, y: wt.matmul(x * 0.5, y), x, right).tolist() == [[40.0] * 3] * 70
    assert names(programs[0]) == [["multiply", "matmul"]]


def test_other_operands_of_an_end_are_stored(programs: list[Program]) -> None:
    x = wt.random_uniform((80, 80), seed=1)
    narrow = wt.function(lambda x: wt.matmul(x * 0.5, (x * 0.5)[:, :3]))
    both = wt.function(lambda x: wt.matmul(x * 0.5, x * 0.5))
    for function in (narrow, both):
        function(x)
        function(x)
    assert "multiply" not in str(names(programs[0])[-1])
    assert names(programs[1]) == ["binary", "matmul"]


def test_short_rows_inner_axes_and_flags_are_reduced_on_their_own(programs: list[Program]) -> None:
    captured(lambda x: wt.sum(wt.square(x), axis=-1), wt.ones((30, 10)))
    captured(lambda x: wt.sum(wt.square(x), axis=0), wt.ones((100, 10)))
    captured(lambda x: wt.any(x > 0.5, axis=-1), wt.ones((30, 80)))
    assert names(programs[0]) == names(programs[1]) == ["unary", "reduce"]
    assert names(programs[2]) == ["binary", "reduce"]


def test_what_follows_from_small_operands_is_computed_where_it_is_used(
    programs: list[Program],
) -> None:
    def function(x: Any, p: Any) -> Any:
        near = 1.0 / (1.0 + wt.squared_difference(x, wt.transpose(x)))
        return wt.sum(near), wt.sum(p * near, axis=1)

    x = wt.random_uniform((100, 1), seed=1)
    captured(function, x, wt.ones((100, 100)))
    links = ["squared_difference", "add", "divide"]
    assert sorted(names(programs[0])) == sorted(
        [[*links, "reduce"], [*links, "multiply", "reduce"]]
    )


@pytest.mark.parametrize("seed", range(150))
def test_ended_chains_compute_the_same(seed: int, no_leak: None) -> None:
    wt.set_backend("wasm")
    function, operands, kind, terms = random_ended_chain(seed)
    (expected,) = (result.numpy() for result in function(*operands))
    allowed = 2e-8 * terms + 1e-5 * np.abs(expected).max() if kind == "product" else 0.0
    replayed = wt.function(function)
    for _ in range(3):
        (result,) = (result.numpy() for result in replayed(*operands))
        assert result.shape == expected.shape
        assert np.abs(result - expected).max() <= allowed


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


def test_rows_that_call_functions_compute_the_same(no_leak: None) -> None:
    wt.set_backend("wasm")
    x = wt.tensor([1e30, -3e38, 0.5, float("inf"), 7e7, float("nan"), -1.5, 2e9])

    def function(x: wt.Tensor) -> list[wt.Tensor]:
        y = x * 1.5
        return [wt.sin(y) + wt.cos(y) * 0.5, wt.remainder(y, 3.0) + 0.5, wt.pow(abs(y), 0.3) * 2.0]

    replayed = wt.function(function)
    expected = [result.numpy().tobytes() for result in function(x)]
    for _ in range(2):
        assert [result.numpy().tobytes() for result in replayed(x)] == expected


def test_other_parameters_need_no_other_function() -> None:
    wt.set_backend("wasm")
    x = wt.tensor([-1.0, 2.0, -3.0, 4.0, -5.0])
    host: Any = wt.backend().host  # type: ignore[attr-defined]
    add_functions = host.add_functions
    modules = []

    def counted(module: bytes) -> int:
        modules.append(module)
        return add_functions(module)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "add_functions", counted)
        for alpha in (0.25, 0.5, 0.125):
            result = captured(lambda x, a=alpha: wt.sqrt(wt.leaky_relu(x, a) + 2.0), x)
            assert result.numpy()[0] == np.sqrt(np.float32(2.0 - alpha))
    assert len(modules) <= 1


def test_all_rows_are_links(programs: list[Program]) -> None:
    others = []
    for name, function, operands in row_chains():
        expected = function(*operands).numpy().tobytes()
        programs.clear()
        assert captured(function, *operands).numpy().tobytes() == expected, name
        if [call.kernel for call in programs[0].calls] != [CHAIN]:
            others.append(name)
    assert others == []
