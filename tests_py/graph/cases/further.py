"""Operations that TensorFlow.js does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, floats, ints, texts
from tests_py.graph.cases.case import Case, case
from tests_py.graph.graphs import Array, Dtype

__all__ = ["CASES"]

X = floats((3, 4))
SQUARES = floats((2, 3, 3))
#: Symmetric matrices with positive eigenvalues.
DEFINITE = (SQUARES @ SQUARES.transpose(0, 2, 1) + np.eye(3)).astype("float32")
SIGNALS = floats((2, 4, 6))
LARGEST = float(np.finfo("float32").max)


# -- segments ----------------------------------------------------------------------------------


def segments(reduce: Callable[..., Array], empty: float) -> Callable[..., Array]:
    """Reduce the slices of each segment."""

    def reduced(x: Array, numbers: Array, count: Any = None) -> Array:
        size = int(numbers.max()) + 1 if count is None else int(count)
        parts = [x[numbers == number] for number in range(size)]
        nothing = np.full(x.shape[numbers.ndim :], empty, x.dtype)
        return np.stack([reduce(part, axis=0) if len(part) else nothing for part in parts])

    return reduced


SEGMENTS: list[Case] = [
    *(
        case(f"Segment{name}", X, [0, 0, 2], expected=segments(reduce, empty))
        for name, reduce, empty in (
            ("Max", np.max, 0.0),
            ("Mean", np.mean, 0.0),
            ("Min", np.min, 0.0),
            ("Prod", np.prod, 1.0),
            ("Sum", np.sum, 0.0),
        )
    ),
    *(
        case(f"UnsortedSegment{name}", x, ids, 4, expected=segments(reduce, empty), label=label)
        for name, reduce, empty in (
            ("Max", np.max, -LARGEST),
            ("Min", np.min, LARGEST),
            ("Prod", np.prod, 1.0),
            ("Sum", np.sum, 0.0),
        )
        for label, x, ids in (
            ("", X, [3, -1, 3]),
            ("of elements", X, [[3, 0, 3, 3], [0, 0, -1, 3], [1, 1, 1, 1]]),
        )
    ),
]


# -- matrices ----------------------------------------------------------------------------------


def packed(x: Array, low: int, high: int, padding: float, align: str) -> Array:
    """The diagonals of a matrix, one below the other."""
    diagonals = [np.diagonal(x, offset) for offset in range(high, low - 1, -1)]
    longest = max(len(diagonal) for diagonal in diagonals)
    rows = []
    for offset, diagonal in zip(range(high, low - 1, -1), diagonals, strict=True):
        side = align.split("_")[0 if offset > 0 else 1]
        pads = (0, longest - len(diagonal))
        width = pads if side == "LEFT" else pads[::-1]
        rows.append(np.pad(diagonal, width, constant_values=padding))
    return np.stack(rows)


def with_band(x: Array, low: int, high: int, band: Array, align: str) -> Array:
    """A matrix with other diagonals."""
    positions = np.arange(1, x.size + 1).reshape(x.shape)
    result = x.copy().ravel()
    targets = packed(positions, low, high, 0, align)
    result[targets[targets > 0] - 1] = band[targets > 0]
    return result.reshape(x.shape)


BAND = floats((3, 4))
ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
WIDE = floats((4, 5))
MATRICES: list[Case] = [
    case("MatrixDiag", X, expected=lambda x: np.stack([np.diag(row) for row in x])),
    case("MatrixDiagPart", SQUARES, expected=lambda x: np.diagonal(x, 0, 1, 2)),
    case(
        "MatrixSetDiag",
        SQUARES,
        floats((2, 3)),
        expected=lambda x, y: np.where(np.eye(3), y[:, :, None], x),
    ),
    case("MatrixDiagV2", X[0], 1, -1, -1, 0.0, expected=lambda x, *_: np.diag(x, 1)),
    case("MatrixDiagPartV2", WIDE, -1, 0.0, expected=lambda x, *_: np.diagonal(x, -1)),
    case(
        "MatrixSetDiagV2",
        WIDE,
        BAND[0],
        1,
        expected=lambda x, y, _: with_band(x, 1, 1, y[None], "LEFT_LEFT"),
    ),
    case(
        "MatrixDiagV3",
        X[0],
        0,
        4,
        6,
        9.0,
        expected=lambda x, *_: np.where(np.eye(4, 6), x[:, None], 9),
        label="of another size",
        align="RIGHT_LEFT",
    ),
    *(
        case(
            "MatrixDiagV3",
            BAND,
            [-1, 1],
            4,
            5,
            0.5,
            expected=lambda x, *_, align=align: with_band(
                np.full((4, 5), 0.5, "float32"), -1, 1, x, align
            ),
            label=align.lower(),
            align=align,
        )
        for align in ALIGNMENTS
    ),
    *(
        case(
            "MatrixDiagPartV3",
            WIDE,
            [-1, 1],
            0.5,
            expected=lambda x, *_, align=align: packed(x, -1, 1, 0.5, align),
            label=align.lower(),
            align=align,
        )
        for align in ALIGNMENTS
    ),
    *(
        case(
            "MatrixSetDiagV3",
            WIDE,
            BAND,
            [-1, 1],
            expected=lambda x, y, _, align=align: with_band(x, -1, 1, y, align),
            label=align.lower(),
            align=align,
        )
        for align in ALIGNMENTS
    ),
    case("Cholesky", DEFINITE, expected=np.linalg.cholesky),
    case("Cross", floats((4, 3)), floats((4, 3)) + 1, expected=np.cross),
    case("LogMatrixDeterminant", DEFINITE, expected=lambda x: [*np.linalg.slogdet(x)], outputs=2),
    case("MatrixDeterminant", DEFINITE, expected=np.linalg.det),
    case("MatrixInverse", DEFINITE, expected=np.linalg.inv),
    case("MatrixSolve", DEFINITE, SQUARES, expected=np.linalg.solve),
    case(
        "MatrixSolve",
        SQUARES + 3 * np.eye(3, dtype="float32"),
        SQUARES,
        expected=lambda a, b: np.linalg.solve(a.transpose(0, 2, 1), b),
        label="of the adjoint",
        adjoint=True,
    ),
    *(
        case(
            "MatrixTriangularSolve",
            DEFINITE,
            SQUARES,
            expected=lambda a, b, part=part: np.linalg.solve(part(a), b),
            label=part.__name__,
            lower=part is np.tril,
        )
        for part in (np.tril, np.triu)
    ),
    case("Qr", DEFINITE, outputs=2),
    case("SelfAdjointEigV2", DEFINITE, expected=np.linalg.eigvalsh, compute_v=False),
    case("SelfAdjointEigV2", DEFINITE, expected=np.linalg.eigvalsh, label="with vectors"),
    case(
        "Svd",
        DEFINITE,
        expected=lambda x: np.linalg.svd(x, compute_uv=False),
        compute_uv=False,
    ),
]


# -- texts -------------------------------------------------------------------------------------

WORDS = texts(["Ab c", "", " ÄB,c ", "a,,b"])
LETTER = texts(["a"]).reshape(())
TABLE = texts(["a", "b", "c", "d"]).reshape(2, 2)
TEXTS: list[Case] = [
    case("AsString", [1, -20], expected=lambda _: texts(["1", "-20"])),
    case("AsString", [1, -20], expected=lambda _: texts(["0001", "-020"]), label="filled", width=4,
         fill="0"),
    case("AsString", arr([0.25, -2]), expected=lambda _: texts(["0.250000", "-2.000000"]),
         label="of floats"),
    case("AsString", arr([0.25, -2]), expected=lambda _: texts(["0.2", "-2.0"]),
         label="of one digit", precision=1),
    case("AsString", arr([0.25, -2]), expected=lambda _: texts(["2.5e-01", "-2.0e+00"]),
         label="with exponents", precision=1, scientific=True),
    case("AsString", arr([0.25, -2]), expected=lambda _: texts(["0.25", "-2"]), label="short",
         shortest=True),
    case("AsString", np.array([True, False]), expected=lambda _: texts(["true", "false"]),
         label="of truth values"),
    case("ReduceJoin", TABLE, 0, expected=lambda *_: texts(["ac", "bd"])),
    case("ReduceJoin", TABLE, [-1], expected=lambda *_: texts(["a-b", "c-d"]).reshape(2, 1),
         label="that keeps the axis", keep_dims=True, separator="-"),
    case("ReduceJoin", TABLE, [0, 1], expected=lambda *_: texts(["acbd"]).reshape(()),
         label="along both axes"),
    case("ReduceJoin", TABLE, [1, 0], expected=lambda *_: texts(["abcd"]).reshape(()),
         label="along both axes backwards"),
    case("RegexFullMatch", WORDS, texts(["a.*"]).reshape(()),
         expected=lambda *_: np.array([False, False, False, True])),
    case("RegexReplace", WORDS, texts(["[[:alpha:]]"]).reshape(()), texts(["_"]).reshape(()),
         expected=lambda *_: texts(["__ _", "", " Ä_,_ ", "_,,_"])),
    case("StaticRegexFullMatch", WORDS, expected=lambda _: np.array([True, False, False, False]),
         pattern="(?i)a\\w .*"),
    case("StringJoin", WORDS, LETTER, WORDS, separator="-",
         expected=lambda x, *_: texts([f"{word.decode()}-a-{word.decode()}" for word in x])),
    case("StringLength", WORDS, expected=lambda _: ints_of(4, 0, 7, 4)),
    case("StringLength", WORDS, expected=lambda _: ints_of(4, 0, 6, 4), label="in characters",
         unit="UTF8_CHAR"),
    case("StringLower", WORDS, expected=lambda _: texts(["ab c", "", " Äb,c ", "a,,b"])),
    case("StringLower", WORDS, expected=lambda _: texts(["ab c", "", " äb,c ", "a,,b"]),
         label="of characters", encoding="utf-8"),
    case("StringSplitV2", WORDS, LETTER, label="at a letter", outputs=3, maxsplit=-1,
         expected=lambda *_: [
             [[0, 0], [1, 0], [2, 0], [3, 0], [3, 1]],
             texts(["Ab c", "", " ÄB,c ", "", ",,b"]),
             [4, 2],
         ]),
    case("StringSplitV2", WORDS, texts([""]).reshape(()), label="at white space", outputs=3,
         expected=lambda *_: [
             [[0, 0], [0, 1], [2, 0], [3, 0]],
             texts(["Ab", "c", "ÄB,c", "a,,b"]),
             [4, 2],
         ]),
    case("StringSplitV2", WORDS, texts([","]).reshape(()), label="once", outputs=3, maxsplit=1,
         expected=lambda *_: [
             [[0, 0], [1, 0], [2, 0], [2, 1], [3, 0], [3, 1]],
             texts(["Ab c", "", " ÄB", "c ", "a", ",b"]),
             [4, 2],
         ]),
    case("StringStrip", WORDS, expected=lambda x: np.array([word.strip() for word in x], object)),
    # What TensorFlow gives.
    case("StringToHashBucketStrong", TABLE[0], expected=lambda _: ints_of(68, 78),
         num_buckets=100, key=[3, 4]),
    case("StringToNumber", texts(["1.5", "-2e3"]), expected=lambda _: arr([1.5, -2000.0])),
    case("StringToNumber", texts(["15", "-2"]), expected=lambda _: ints_of(15, -2),
         label="int32", out_type=Dtype("int32")),
    case("StringUpper", WORDS, expected=lambda _: texts(["AB C", "", " ÄB,C ", "A,,B"])),
    case("Substr", WORDS[[0, 3]], 1, 2, expected=lambda *_: texts(["b ", ",,"])),
    case("Substr", WORDS[[0, 3]], [-3, -1], [2, 5], expected=lambda *_: texts(["b ", "b"]),
         label="from the end"),
    case("Substr", WORDS[2:3], 1, 2, expected=lambda *_: texts(["ÄB"]), label="of characters",
         unit="UTF8_CHAR"),
    case("UnicodeDecode", texts(["aä", "", "€"]), outputs=2,
         expected=lambda _: [[0, 2, 2, 3], [97, 228, 8364]]),
    case("UnicodeEncode", [97, 228, 8364], [0, 2, 2, 3],
         expected=lambda *_: texts(["aä", "", "€"])),
]  # fmt: skip


def ints_of(*numbers: int) -> Array:
    """Numbers of tensors' dtype."""
    return np.array(numbers, "int32")


# -- others ------------------------------------------------------------------------------------


def reversed_sequences(x: Array, lengths: Array) -> Array:
    """Reverse the beginnings of rows."""
    rows = [np.r_[row[:length][::-1], row[length:]] for row, length in zip(x, lengths, strict=True)]
    return np.stack(rows)


def blocks_as_channels(x: Array) -> Array:
    """Make channels of blocks of 2 x 2 pixels."""
    batch, height, width, channels = x.shape
    blocks = x.reshape(batch, height // 2, 2, width // 2, 2, channels)
    return blocks.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height // 2, width // 2, -1)


def complex64(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function whose results have the dtype of tensors."""
    return lambda *inputs: function(*inputs).astype("complex64")


WAVES = (SIGNALS + 1j * SIGNALS[::-1]).astype("complex64")
CASES: list[Case] = [
    *SEGMENTS,
    *MATRICES,
    *TEXTS,
    case("Bitcast", ints((3,)), expected=lambda x: x, type=Dtype("int32")),
    case(
        "Bucketize",
        X,
        expected=lambda x: np.digitize(x, [-0.5, 0.5]),
        boundaries=[-0.5, 0.5],
    ),
    case("FFT2D", WAVES, expected=complex64(np.fft.fft2)),
    case("IFFT2D", WAVES, expected=complex64(np.fft.ifft2)),
    case(
        "IRFFT2D",
        WAVES[..., :4],
        [4, 6],
        expected=lambda x, size: np.fft.irfft2(x, size).astype("float32"),
        tolerance=2e-5,
    ),
    case("RFFT2D", SIGNALS, [4, 6], expected=complex64(np.fft.rfft2)),
    case("ReverseSequence", X, [2, 4, 0], expected=reversed_sequences, seq_dim=1, batch_dim=0),
    case("SpaceToDepth", floats((2, 4, 6, 3)), expected=blocks_as_channels, block_size=2),
    case(
        "SpaceToDepth",
        floats((2, 3, 4, 6)),
        expected=lambda x: blocks_as_channels(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
        label="channels first",
        block_size=2,
        data_format="NCHW",
    ),
    case(
        "Conv3DBackpropInputV2",
        [1, 4, 4, 4, 2],
        floats((2, 2, 2, 2, 3)),
        floats((1, 2, 2, 2, 3)),
        expected=lambda _, filter, x: np.einsum("bijkc,lmndc->biljmknd", x, filter).reshape(
            1, 4, 4, 4, 2
        ),
        strides=[1, 2, 2, 2, 1],
        padding="VALID",
        data_format="NDHWC",
    ),
]
