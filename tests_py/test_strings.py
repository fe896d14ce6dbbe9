"""String tensors: making, reading and moving them, and the functions of ``wt.string``."""

import asyncio
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.cases.strings import FINGERPRINTS, text_of_length
from webtensor.ops.fingerprint import fingerprints64

WORDS = [["one", "two", "three"], ["four", "", "sechs ß"]]


# -- making and reading --------------------------------------------------------------------------


def test_text_makes_a_string_tensor(backend: str, no_leak: None) -> None:
    x = wt.tensor(WORDS)
    assert (x.dtype, x.shape, x.size, x.device) == ("string", (2, 3), 6, "host")
    assert x.dtype is wt.string_
    assert x.tolist() == WORDS
    assert wt.tensor("one").item() == "one"
    assert wt.tensor([], dtype="string").tolist() == []
    assert wt.tensor(["a", "b"], shape=(2, 1)).tolist() == [["a"], ["b"]]
    assert wt.tensor(["a"], dtype=str).dtype == "string"


def test_elements_are_utf8_bytes(backend: str) -> None:
    x = wt.tensor(["é", b"\xff\x00", "日本"])
    stored = ("é".encode(), b"\xff\x00", "日本".encode())
    assert x.data_sync() == stored
    assert asyncio.run(x.data()) == stored
    assert x.bytes_sync() == list(stored)
    assert asyncio.run(x.bytes()) == list(stored)


def test_bytes_of_other_encodings_survive_a_round_trip(backend: str) -> None:
    x = wt.tensor([b"\xff\xfe", b"a\x80"])
    assert wt.tensor(x.tolist()).data_sync() == x.data_sync()


def test_bytes_alone_are_a_buffer_unless_the_dtype_says_text(backend: str) -> None:
    assert wt.tensor(b"ab").tolist() == [97, 98]
    assert wt.tensor(b"ab", dtype="string").tolist() == "ab"


def test_numpy_arrays_of_text_and_back(backend: str) -> None:
    array = np.array([["a", "bc"], ["", "def"]])
    x = wt.tensor(array)
    assert x.tolist() == array.tolist()
    assert wt.tensor(array.astype("S3")).tolist() == array.tolist()
    assert wt.tensor(array.astype(object), dtype="string").tolist() == array.tolist()
    assert x.numpy().tolist() == array.tolist()
    assert x.numpy().dtype == object


def test_repr_shows_quoted_text(backend: str) -> None:
    assert repr(wt.tensor(["a", "b"])) == (
        "Tensor(['a', 'b'], shape=(2,), dtype=string, device=host)"
    )


def test_memory_counts_the_bytes_of_the_text(backend: str) -> None:
    before = wt.memory()["num_bytes"]
    x = wt.tensor(["abc", "é"])
    assert wt.memory()["num_bytes"] == before + 5
    x.dispose()
    assert wt.memory()["num_bytes"] == before
    assert x.is_disposed


def test_full_repeats_text(backend: str) -> None:
    assert wt.full((2, 2), "ab").tolist() == [["ab", "ab"]] * 2
    assert wt.full((), b"ab").tolist() == "ab"


def test_a_variable_can_hold_text(backend: str) -> None:
    variable = wt.Variable(["a", "b"], trainable=False)
    variable.assign(["c", "d"])
    assert variable.tolist() == ["c", "d"]


def test_a_buffer_of_text(backend: str) -> None:
    board = wt.buffer((2,), "string")
    board.set("x", 1)
    assert board.to_tensor().tolist() == ["", "x"]


# -- moving --------------------------------------------------------------------------------------

ARRAY = np.array([["a", "b", "c"], ["d", "e", "f"]], dtype=object)

MOVES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "reshape": (lambda x: wt.reshape(x, (3, -1)), lambda x: x.reshape(3, -1)),
    "flatten": (wt.flatten, np.ravel),
    "expand_dims": (lambda x: wt.expand_dims(x, 1), lambda x: np.expand_dims(x, 1)),
    "squeeze": (lambda x: wt.squeeze(x[:1]), lambda x: x[0]),
    "clone": (wt.clone, np.copy),
    "transpose": (wt.transpose, np.transpose),
    "permute_dims": (lambda x: wt.permute_dims(x, (1, 0)), lambda x: x.T),
    "flip": (lambda x: wt.flip(x, 1), lambda x: np.flip(x, 1)),
    "slice": (lambda x: wt.slice(x, (0, 1), (2, 2)), lambda x: x[:, 1:]),
    "strided_slice": (
        lambda x: wt.strided_slice(x, (1, 2), (-3, -4), (-1, -2)),
        lambda x: x[::-1, ::-2],
    ),
    "index": (lambda x: x[1, ::-1], lambda x: x[1, ::-1]),
    "mask": (lambda x: x[wt.tensor([True, False])], lambda x: x[:1]),
    "nothing": (lambda x: x[2:], lambda x: x[2:]),
    "tile": (lambda x: wt.tile(x, (2, 2)), lambda x: np.tile(x, (2, 2))),
    "broadcast_to": (
        lambda x: wt.broadcast_to(x, (2, 2, 3)),
        lambda x: np.broadcast_to(x, (2, 2, 3)),
    ),
    "concat": (lambda x: wt.concat([x, x[:, :1]], 1), lambda x: np.concatenate([x, x[:, :1]], 1)),
    "concat of rows": (
        lambda x: wt.concat([x, x[:0], x[1:]]),
        lambda x: np.concatenate([x, x[1:]]),
    ),
    "stack": (lambda x: wt.stack([x, x], 2), lambda x: np.stack([x, x], 2)),
    "split": (lambda x: wt.split(x, 3, 1)[1], lambda x: x[:, 1:2]),
    "unstack": (lambda x: wt.unstack(x)[1], lambda x: x[1]),
    "gather": (lambda x: wt.gather(x, [2, 0, -1], 1), lambda x: np.take(x, [2, 0, -1], 1)),
    "gather in batches": (
        lambda x: wt.gather(x, [[2], [0]], 1, 1),
        lambda x: np.array([["c"], ["d"]], object),
    ),
    "gather of nothing": (lambda x: wt.gather(x, [], 1), lambda x: x[:, :0]),
    "take": (lambda x: wt.take(x, [5, 0]), lambda x: x.ravel()[[5, 0]]),
    "gather_nd": (lambda x: wt.gather_nd(x, [[0, 2], [1, 0]]), lambda x: x[[0, 1], [2, 0]]),
    "roll": (lambda x: wt.roll(x, 1, 1), lambda x: np.roll(x, 1, 1)),
    "repeat": (lambda x: wt.repeat(x, 2, 0), lambda x: np.repeat(x, 2, 0)),
    "mirror_pad": (
        lambda x: wt.mirror_pad(x, [(0, 1), (1, 0)], "reflect"),
        lambda x: x[[0, 1, 0]][:, [1, 0, 1, 2]],
    ),
    "space_to_batch_nd": (
        lambda x: wt.batch_to_space_nd(wt.space_to_batch_nd(x, [3], [(0, 0)]), [3], [(0, 0)]),
        lambda x: x,
    ),
    "tensor_scatter_update": (
        lambda x: wt.tensor_scatter_update(x, [[1, 1], [0, 0]], ["x", "y"]),
        lambda x: np.array([["y", "b", "c"], ["d", "x", "f"]], object),
    ),
    "where": (
        lambda x: wt.where([True, False, True], x, "-"),
        lambda x: np.where([True, False, True], x, "-"),
    ),
    "ensure_shape": (lambda x: wt.ensure_shape(x, (2, None)), lambda x: x),
}


@pytest.mark.parametrize("what", MOVES)
def test_movement(what: str, backend: str, no_leak: None) -> None:
    move, oracle = MOVES[what]
    result, expected = move(wt.tensor(ARRAY.tolist())), oracle(ARRAY)
    assert result.dtype == "string"
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


def test_comparisons_broadcast(backend: str) -> None:
    x = wt.tensor(ARRAY.tolist())
    assert wt.equal(x, ["a", "e", "c"]).tolist() == [[True, False, True], [False, True, False]]
    assert wt.not_equal(x, "a").tolist() == [[False, True, True], [True, True, True]]
    assert (x == x).dtype == "bool"
    assert (x == "a").tolist() == [[True, False, False], [False] * 3]
    assert operator.eq(wt.tensor([1]), "a") is False


@pytest.mark.parametrize("name", ["greater", "greater_equal", "less", "less_equal"])
def test_text_is_ordered_by_code_points(name: str, backend: str, no_leak: None) -> None:
    words = ["", "a", "ab", "b", "B", "z", "é", "\uff61", "\U0001f600"]
    column, row = np.array(words, object)[:, None], np.array(words, object)
    result = getattr(wt, name)(wt.tensor(column.tolist()), wt.tensor(words))
    assert result.dtype == "bool"
    assert result.tolist() == getattr(np, name)(column, row).tolist()


def test_text_has_operators_and_takes_python_strings(backend: str) -> None:
    x = wt.tensor(["a", "b", ""])
    assert wt.greater(wt.tensor("a"), x).tolist() == [False, False, True]
    assert (x < "b").tolist() == [True, False, True]
    assert (x >= "b").tolist() == [False, True, False]


def test_unique_text_and_differences(backend: str) -> None:
    values, indices = wt.unique(["b", "a", "b"])
    assert (values.tolist(), indices.tolist()) == (["b", "a"], [0, 1, 0])
    assert wt.unique_values(["b", "a", "b"]).tolist() == ["a", "b"]
    values, indices = wt.setdiff1d(["b", "a", "c"], ["a"])
    assert (values.tolist(), indices.tolist()) == (["b", "c"], [0, 2])


def test_sparse_and_ragged_values_may_be_text(backend: str) -> None:
    assert wt.sparse_to_dense([0, 2], ["a", "b"], (4,)).tolist() == ["a", "", "b", ""]
    assert wt.sparse_to_dense([1], "a", (2,), "-").tolist() == ["-", "a"]
    default = wt.tensor("-")
    assert wt.sparse_to_dense([[0, 1]], wt.tensor(["a"]), (1, 2), default).tolist() == [["-", "a"]]
    filled = wt.sparse.sparse_fill_empty_rows([[1, 0]], ["a"], [2, 1], "-")
    assert filled.output_values.tolist() == ["-", "a"]
    picked = wt.ragged_gather([[0, 1, 3]], ["a", "b", "c"], [1], 1)
    assert picked.output_dense_values.tolist() == ["b", "c"]
    dense = wt.ragged_tensor_to_tensor(-1, ["a", "b", "c"], "", [[0, 1, 3]], ["ROW_SPLITS"])
    assert dense.tolist() == [["a", ""], ["b", "c"]]


# -- wt.string -----------------------------------------------------------------------------------


def test_static_regex_replace(backend: str, no_leak: None) -> None:
    replace = wt.string.static_regex_replace
    texts = ["format   this spacing", "a  b"]
    assert replace(texts, " +", "_").tolist() == ["format_this_spacing", "a_b"]
    assert replace(texts, " +", "_", False).tolist() == ["format_this spacing", "a_b"]
    assert replace([["ab"]], "(a)(b)", r"\2\1\0").tolist() == [["baab"]]
    assert replace("a.b", r"\.", r"\\0").tolist() == r"a\0b"
    assert replace("ßé", "[ß]", "ss").tolist() == "ssé"


@pytest.mark.parametrize("skip_empty", [True, False])
@pytest.mark.parametrize("delimiter", ["#", "", " \t", "ab"])
def test_string_split(backend: str, delimiter: str, skip_empty: bool) -> None:
    texts = ["#a", "b#", "#c#", "", "d##e", " x\ty ", "cabad"]
    rows = []
    for text in texts:
        parts = list(text) if not delimiter else re.split(f"[{re.escape(delimiter)}]", text)
        parts = [] if not text else parts
        rows.append([part for part in parts if part or not skip_empty])
    indices, values, shape = wt.string.string_split(texts, delimiter, skip_empty)
    assert values.tolist() == [part for row in rows for part in row]
    assert indices.tolist() == [[n, k] for n, row in enumerate(rows) for k in range(len(row))]
    assert shape.tolist() == [len(texts), max(map(len, rows))]
    assert indices.shape == (values.size, 2)


#: From TensorFlow's own documentation and tests: arguments, n-grams, splits.
N_GRAMS: list[tuple[tuple[Any, ...], list[str], list[int]]] = [
    (
        (["aa", "bb", "cc", "dd", "ee", "ff"], [0, 4, 6], "|", [3], "", "", 0, False),
        ["aa|bb|cc", "bb|cc|dd"],
        [0, 2, 2],
    ),
    (
        (["a", "b", "c", "d", "e", "f"], [0, 4, 6], "|", [3], "LP", "RP", -1, False),
        [
            *("LP|LP|a", "LP|a|b", "a|b|c", "b|c|d", "c|d|RP", "d|RP|RP"),
            *("LP|LP|e", "LP|e|f", "e|f|RP", "f|RP|RP"),
        ],
        [0, 6, 10],
    ),
    (
        (["a", "b", "c"], [0, 1, 3], "|", [4], "LP", "RP", 1, True),
        ["LP|a|RP", "LP|b|c|RP"],
        [0, 1, 2],
    ),
    (
        (["a", "b", "c"], [0, 2, 3], "|", [2, 1], "<", ">", 1, False),
        ["<|a", "a|b", "b|>", "a", "b", "<|c", "c|>", "c"],
        [0, 5, 8],
    ),
    ((["a", "b"], [0, 0, 2], "|", [3], "", "", 0, True), ["a|b"], [0, 0, 1]),
    (([], [0, 0], "|", [1], "", "", 0, False), [], [0, 0]),
    (([], [], "|", [1], "", "", 0, False), [], []),
]


@pytest.mark.parametrize("arguments, grams, splits", N_GRAMS)
def test_string_n_grams(
    backend: str, arguments: tuple[Any, ...], grams: list[str], splits: list[int]
) -> None:
    data = wt.tensor(arguments[0], dtype="string")
    result = wt.string.string_n_grams(data, *arguments[1:])
    assert result.n_grams.tolist() == grams
    assert result.n_grams_splits.tolist() == splits


@pytest.mark.parametrize("length", FINGERPRINTS)
def test_fingerprint64(length: int) -> None:
    text = text_of_length(length)
    assert fingerprints64([text]) == {text: FINGERPRINTS[length]}


def test_fingerprints_of_texts_hashed_together() -> None:
    lengths = [*FINGERPRINTS, *FINGERPRINTS]
    texts = [text_of_length(length) for length in lengths]
    others = [bytes([255]) * length for length in range(80)]
    result = fingerprints64([*texts, *others])
    assert [result[text] for text in texts] == [FINGERPRINTS[length] for length in lengths]
    alone = [fingerprints64([text])[text] for text in others]
    assert [result[text] for text in others] == alone
    many = [f"{number:012}".encode() for number in range(5000)]
    assert fingerprints64(many)[many[4999]] == fingerprints64(many[4999:])[many[4999]]


@pytest.mark.parametrize("counts", [[2, 2, 2], [3, 3], [1, 0, 2], [0, 0], []])
def test_string_split_numbers_parts(backend: str, counts: list[int]) -> None:
    texts = wt.tensor([" ".join("abc"[:count]) for count in counts], dtype="string")
    indices, values, shape = wt.string.string_split(texts, " ")
    assert indices.tolist() == [[row, part] for row, n in enumerate(counts) for part in range(n)]
    assert values.tolist() == [part for count in counts for part in "abc"[:count]]
    assert shape.tolist() == [len(counts), max(counts, default=0)]


def test_string_to_hash_bucket_fast(backend: str, no_leak: None) -> None:
    # TensorFlow's own test.
    buckets = wt.string.string_to_hash_bucket_fast(["a", "b", "c", "d"], 10)
    assert buckets.tolist() == [9, 2, 2, 5]
    assert buckets.dtype == "int32"
    shaped = wt.string.string_to_hash_bucket_fast([["", "a"]], 1)
    assert shaped.tolist() == [[0, 0]]


# -- errors --------------------------------------------------------------------------------------

S = wt.tensor(["a", "b"])
N = wt.tensor([1, 2])
STRING = wt.string

Row = tuple[Callable[[], Any], type[Exception], str]
ERRORS: list[Row] = [
    (lambda: wt.tensor(["a", 1]), TypeError, "tensor: elements must be numbers, but got 'a'"),
    (lambda: wt.tensor(["a", 1], dtype="string"), TypeError, "must be str or bytes .* but got 1"),
    (lambda: wt.tensor([1.5], dtype=str), TypeError, "must be str or bytes for dtype string"),
    (lambda: wt.ones(2, "string"), TypeError, "must be str or bytes for dtype string, but got 1"),
    (lambda: wt.add(S, "c"), TypeError, "add: string operands are not supported"),
    (lambda: S * 2, TypeError, "multiply: elements must be str or bytes"),
    (lambda: S * N, TypeError, "multiply: string operands are not supported"),
    (lambda: S < N, TypeError, "less: text and numbers do not mix"),
    (lambda: wt.exp(S), TypeError, "exp: string operands are not supported"),
    (lambda: wt.leaky_relu(S), TypeError, "leaky_relu: string operands are not supported"),
    (lambda: wt.sum(S), TypeError, "sum: string operands are not supported"),
    (lambda: wt.argmax(S), TypeError, "argmax: string operands are not supported"),
    (lambda: wt.sort(S), TypeError, "sort: string operands are not supported"),
    (lambda: wt.cumsum(S), TypeError, "cumsum: string operands are not supported"),
    (
        lambda: wt.pad(S, [(1, 1)], ""),  # type: ignore[arg-type]
        TypeError,
        "pad: string operands are not supported",
    ),
    (lambda: wt.equal(S, N), TypeError, "equal: text and numbers do not mix"),
    (lambda: wt.where([True, False], S, N), TypeError, "where: text and numbers do not mix"),
    (lambda: wt.concat([S, N]), TypeError, r"concat: text and numbers do not mix, .*'int32'"),
    (lambda: wt.stack([S, N]), TypeError, "stack: text and numbers do not mix"),
    (lambda: wt.astype(S, "float32"), TypeError, "astype: string cannot be converted to float32"),
    (lambda: wt.astype(N, "string"), TypeError, "astype: int32 cannot be converted to string"),
    (lambda: wt.tensor_scatter_update(N, [[0]], S[:1]), TypeError, "text and numbers do not mix"),
    (lambda: wt.gather(S, [2]), IndexError, "gather: indices must lie in"),
    (lambda: wt.broadcast_to(S, (3,)), ValueError, "broadcast_to: shape"),
    (
        lambda: wt.grad(wt.sum)(S),
        TypeError,
        "arguments must hold numbers, but got st",
    ),
    (lambda: STRING.static_regex_replace(N, "a", "b"), TypeError, "input must be string, .*int32"),
    (lambda: STRING.static_regex_replace(S, "(", ""), ValueError, r"pattern '\(' with rewrite"),
    (lambda: STRING.static_regex_replace(S, "a", r"\9"), ValueError, "is malformed: invalid group"),
    (lambda: STRING.string_split(N, " "), TypeError, "string_split: input must be string"),
    (lambda: STRING.string_split([["a"]], " "), ValueError, "input must have rank 1"),
    (
        lambda: STRING.string_split(S, [" "]),  # type: ignore[arg-type]
        ValueError,
        "string_split: delimiter must be a scalar",
    ),
    (lambda: STRING.string_to_hash_bucket_fast(S, 0), ValueError, "num_buckets must be positive"),
    (lambda: STRING.string_to_hash_bucket_fast(1, 1), TypeError, "str or bytes for dtype string"),
    (lambda: n_grams([["a"]], [0, 1]), ValueError, "string_n_grams: data must have rank 1"),
    (lambda: n_grams(S, [0.5]), TypeError, "string_n_grams: data_splits must be int32"),
    (lambda: n_grams(S, [[0]]), ValueError, "string_n_grams: data_splits must have rank 1"),
    (lambda: n_grams(S, [0, 1]), ValueError, "data_splits must rise from 0 to the 2 elements"),
    (lambda: n_grams(S, [0, 2], [0]), ValueError, "ngram_widths must be positive integers"),
    (lambda: n_grams(N, [0, 2]), TypeError, "string_n_grams: data must be string"),
]


def n_grams(data: Any, splits: Any, widths: Any = (2,)) -> Any:
    return wt.string.string_n_grams(data, splits, "|", widths, "", "", 0, False)


@pytest.mark.parametrize("do, kind, message", ERRORS, ids=[row[2] for row in ERRORS])
def test_bad_input(
    backend: str, no_leak: None, do: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        do()


def test_zeros_of_texts_are_empty_as_numpys(backend: str) -> None:
    assert wt.zeros((1, 2), "string").tolist() == np.zeros((1, 2), "str").tolist() == [["", ""]]
    assert wt.zeros_like(["a", "b"]).tolist() == ["", ""]
    assert wt.empty_like(["a"]).dtype == "string"
