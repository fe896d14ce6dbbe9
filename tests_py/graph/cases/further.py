"""Operations that TensorFlow.js does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests_py.cases.inputs import floats, ints
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
