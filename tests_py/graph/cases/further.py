"""Operations that TensorFlow.js does not have."""

from __future__ import annotations

from collections.abc import Callable
from colorsys import hsv_to_rgb, rgb_to_hsv
from math import lgamma
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
#: The second is the first, the third overlaps it by 0.7.
BOXES = arr([[0, 0, 10, 1], [0, 0, 10, 1], [0, 0, 7, 1], [20, 0, 30, 1]])
EMPTY = np.zeros(0, "float32")
LARGEST = float(np.finfo("float32").max)


POSITIVE = floats((3, 4), 0.1, 12)


def elementwise(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """Apply a function of numbers to each element."""
    return lambda x: np.vectorize(function)(x.astype("float64")).astype("float32")


def digamma(x: float) -> float:
    """The derivative of `lgamma`."""
    return (lgamma(x + 1e-5) - lgamma(x - 1e-5)) / 2e-5


def in_top_2(x: Array, targets: Array) -> Array:
    """Whether each target is the index of one of the two largest elements of its row."""
    return np.array([index in row.argsort()[-2:] for row, index in zip(x, targets, strict=True)])


def nearest_rows(x: Array, count: int, align_corners: bool, half_pixels: bool) -> Array:
    """Pick rows as TensorFlow does, which computes where they are in float32."""
    scale = np.float32(x.shape[1] - align_corners) / np.float32(count - align_corners)
    places = (np.arange(count, dtype="float32") + np.float32(half_pixels / 2)) * scale
    return x[:, np.floor(places + np.float64(align_corners / 2)).astype(int)]


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
    case("SegmentSum", X[:0], np.zeros((0,), "int32"), expected=lambda x, _: x, label="of nothing"),
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
    case(
        "SegmentMean",
        np.array([[-7, 2], [2, 2], [3, 3]], "int32"),
        [0, 0, 2],
        expected=lambda *_: np.array([[-2, 2], [0, 0], [3, 3]], "int32"),
        label="of integers",
    ),
    case("SegmentMax", X[:0], np.zeros(0, "int32"), expected=lambda x, _: x, label="of nothing"),
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
            ("of nothing", X[:0], np.zeros(0, "int32")),
        )
    ),
]


# -- matrices ----------------------------------------------------------------------------------


WIDE = floats((4, 5))


def with_diagonal(x: Array, diagonal: Array, offset: Any) -> Array:
    """A matrix with another diagonal."""
    result = x.copy()
    rows = np.arange(len(diagonal)) - min(int(offset), 0)
    result[rows, rows + int(offset)] = diagonal
    return result


def band(x: Array, k: list[int], padding: float, align: str = "RIGHT_LEFT") -> Array:
    """Diagonals of a matrix as rows, the uppermost first."""
    diagonals = {offset: np.diagonal(x, offset) for offset in range(k[1], k[0] - 1, -1)}
    rows = np.full((len(diagonals), max(map(len, diagonals.values()))), padding, x.dtype)
    for row, (offset, diagonal) in zip(rows, diagonals.items(), strict=True):
        is_right = align.split("_")[offset < 0] == "RIGHT"
        row[len(row) - len(diagonal) if is_right else 0 :][: len(diagonal)] = diagonal
    return rows


def with_band(x: Array, rows: Array, k: list[int], align: str = "RIGHT_LEFT") -> Array:
    """A matrix with other diagonals, which are rows as `band` returns them."""
    places = np.arange(x.size).reshape(x.shape)
    result = x.copy()
    known = (numbers := band(places, k, -1, align)) >= 0
    result.flat[numbers[known]] = rows[known]
    return result


BAND = [-1, 2]
ROWS_OF_BAND = floats((4, 4))
MATRICES: list[Case] = [
    case("MatrixDiagPartV3", WIDE, BAND, 7.0, label="of a band", expected=band),
    case("MatrixDiagPartV3", WIDE.T, BAND, 7.0, label="of a tall matrix", expected=band),
    case(
        "MatrixDiagPartV3",
        WIDE,
        BAND,
        7.0,
        label="of a band, to the other sides",
        align="LEFT_RIGHT",
        expected=lambda x, k, padding: band(x, k, padding, "LEFT_RIGHT"),
    ),
    case(
        "MatrixDiagPartV2",
        WIDE,
        [-3, -1],
        0.0,
        label="of a band",
        expected=lambda x, k, padding: band(x, k, padding, "LEFT_LEFT"),
    ),
    case("MatrixSetDiagV3", WIDE, ROWS_OF_BAND, BAND, label="of a band", expected=with_band),
    case(
        "MatrixDiagV3",
        ROWS_OF_BAND,
        BAND,
        4,
        6,
        9.0,
        label="of a band",
        align="LEFT_LEFT",
        expected=lambda rows, k, *_: with_band(np.full((4, 6), 9, "f"), rows, k, "LEFT_LEFT"),
    ),
    case("Diag", X, expected=lambda x: np.diag(x.ravel()).reshape(x.shape * 2)),
    case("DiagPart", floats((2, 3, 2, 3)), expected=lambda x: np.einsum("ijij->ij", x)),
    case("MatrixDiag", X, expected=lambda x: np.stack([np.diag(row) for row in x])),
    case("MatrixDiagPart", SQUARES, expected=lambda x: np.diagonal(x, 0, 1, 2)),
    case(
        "MatrixSetDiag",
        SQUARES,
        floats((2, 3)),
        expected=lambda x, y: np.where(np.eye(3), y[:, :, None], x),
    ),
    case("MatrixDiagV2", X[0], 1, -1, -1, 0.0, expected=lambda x, *_: np.diag(x, 1)),
    case(
        "MatrixDiagV2",
        X,
        1,
        -1,
        -1,
        0.0,
        label="of a matrix",
        expected=lambda x, *_: np.stack([np.diag(row, 1) for row in x]),
    ),
    case("MatrixDiagPartV2", WIDE, -1, 0.0, expected=lambda x, *_: np.diagonal(x, -1)),
    case("MatrixSetDiagV2", WIDE, X[0], 1, expected=with_diagonal),
    case("MatrixSetDiagV3", WIDE, X[0], [1, 1], expected=lambda x, y, k: with_diagonal(x, y, k[0])),
    case("MatrixDiagPartV3", WIDE, [-2, -2], 0.0, expected=lambda x, *_: np.diagonal(x, -2)),
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
    case("Cholesky", DEFINITE, expected=np.linalg.cholesky),
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
    case("Qr", DEFINITE, expected=lambda x: [*np.linalg.qr(x)], outputs=2),
    case("SelfAdjointEigV2", DEFINITE, expected=np.linalg.eigvalsh, compute_v=False),
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
    case("StaticRegexFullMatch", WORDS, expected=lambda _: np.array([True, False, False, False]),
         pattern="(?i)[[:alpha:]]\\w .*"),
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


# -- images ------------------------------------------------------------------------------------

IMAGES = np.random.default_rng(3).uniform(size=(2, 4, 6, 3)).astype("float32")


def patches(x: Array) -> Array:
    """Patches of 2 x 3 pixels at every second pixel."""
    rows = [
        [x[:, row : row + 2, column : column + 3].reshape(2, -1) for column in range(0, 4, 2)]
        for row in range(0, 3, 2)
    ]
    return np.moveaxis(np.array(rows), 2, 0)


PIXELS = arr([[[0.1, 0.18, 0.9], [0.5, 0.2, 0.5]]])


def image(rows: list[list[float]]) -> Array:
    """An image of one channel."""
    return arr(rows)[None, ..., None]


RAMP = image([[1, 2, 4, 8, 16], [3, 5, 7, 9, 11], [6, 0, 5, 1, 2]])
PICTURES: list[Case] = [
    case("AdjustContrastv2", IMAGES, arr(1.5),
         expected=lambda x, f: (x - x.mean((1, 2), keepdims=True)) * f
         + x.mean((1, 2), keepdims=True)),
    # What TensorFlow gives, as for the next ones.
    case("AdjustHue", PIXELS, arr(0.3),
         expected=lambda *_: arr([[[0.9, 0.1, 0.34], [0.5, 0.44, 0.2]]])),
    case("AdjustHue", PIXELS, arr(-0.3), label="backwards",
         expected=lambda *_: arr([[[0.1, 0.9, 0.18], [0.2, 0.44, 0.5]]])),
    case("AdjustSaturation", PIXELS, arr(0.5),
         expected=lambda *_: arr([[[0.5, 0.54, 0.9], [0.5, 0.35, 0.5]]])),
    case("AdjustSaturation", PIXELS, arr(2.0), label="to the limit",
         expected=lambda *_: arr([[[0.0, 0.09, 0.9], [0.5, 0.0, 0.5]]])),
    case("ExtractImagePatches", IMAGES, expected=patches, ksizes=[1, 2, 3, 1],
         strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID"),
    case("HSVToRGB", IMAGES, expected=lambda x: np.array(
        [hsv_to_rgb(*pixel) for pixel in x.reshape(-1, 3)], "float32").reshape(x.shape)),
    case("RGBToHSV", IMAGES, expected=lambda x: np.array(
        [rgb_to_hsv(*pixel) for pixel in x.reshape(-1, 3)], "float32").reshape(x.shape)),
    # A quarter of a pixel beside each center: what Keys' cubic is there.
    case("ResizeBicubic", IMAGES[:, :1, :, :1], [1, 3], half_pixel_centers=True,
         expected=lambda x, _: np.stack([
             x[:, 0, :3, 0] @ [0.5625 / 1.0625, 0.5625 / 1.0625, -0.0625 / 1.0625],
             x[:, 0, 1:5, 0] @ [-0.0625, 0.5625, 0.5625, -0.0625],
             x[:, 0, 3:, 0] @ [-0.0625 / 1.0625, 0.5625 / 1.0625, 0.5625 / 1.0625],
         ], 1)[:, None, :, None].astype("float32")),
    # What TensorFlow gives, as for the next three.
    case("ResizeArea", RAMP, [2, 2],
         expected=lambda *_: image([[2.8666667, 10.0666667], [3.8, 4.6]])),
    case("ResizeArea", RAMP, [2, 3], label="with corners aligned", align_corners=True,
         expected=lambda *_: image([[2.75, 7.0, 13.5], [3.0, 3.0, 2.0]])),
    case("ResizeBicubic", RAMP, [2, 3], label="of TensorFlow 1", expected=lambda *_: image(
        [[1.0, 2.9821057, 10.9601421], [4.6875, 5.2068291, 5.2566142]])),
    case("ResizeBicubic", RAMP, [2, 3], label="with corners aligned", align_corners=True,
         expected=lambda *_: image([[1, 4, 16], [6, 5, 2]])),
    case("ScaleAndTranslate", IMAGES, [2, 3], arr([0.5, 0.5]), arr([0.0, 0.0]), antialias=False,
         kernel_type="triangle",
         expected=lambda x, *_: x.reshape(2, 2, 2, 3, 2, 3).mean((2, 4))),
]  # fmt: skip


# -- sparse and ragged tensors -----------------------------------------------------------------

INDICES = np.array([[2, 0], [0, 3], [0, 1]], "int32")
VALUES = arr([1.5, -2.0, 3.0])
DENSE = np.zeros((3, 4), "float32")
DENSE[tuple(INDICES.T)] = VALUES
ROWS: list[Case] = [
    case("RaggedBincount", [0, 2, 2, 5], [1, 0, 1, 1, 7], 3, EMPTY, binary_output=False,
         expected=lambda *_: arr([[1, 1, 0], [0, 0, 0], [0, 2, 0]])),
    case("RaggedBincount", [0, 2, 2, 5], [1, 0, 1, 1, 7], 3, EMPTY, label="whether any",
         binary_output=True, expected=lambda *_: arr([[1, 1, 0], [0, 0, 0], [0, 1, 0]])),
    case("RaggedBincount", [0, 2, 4], [1, 0, 1, 1], 2, arr([0.5, 1, 2, 3]), label="with weights",
         binary_output=False, expected=lambda *_: arr([[1, 0.5], [0, 5]])),
    case("RaggedTensorToSparse", [0, 1, 3], [0, 2, 2, 3], VALUES, outputs=3,
         expected=lambda *_: [
             np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0]]), VALUES, np.array([2, 2, 2])
         ]),
    # What TensorFlow gives.
    case("SparseAdd", INDICES[::-1], VALUES[::-1], [3, 4], [[0, 1], [1, 3]], arr([-3.0, 0.5]),
         [3, 4], arr(0.0), outputs=3, expected=lambda *_: [
             [[0, 1], [0, 3], [1, 3], [2, 0]], arr([0, -2, 0.5, 1.5]), [3, 4]
         ]),
    case("SparseAdd", INDICES[::-1], VALUES[::-1], [3, 4], [[0, 1], [1, 3]], arr([-3.0, 0.5]),
         [3, 4], arr(0.5), outputs=3, label="above a threshold", expected=lambda *_: [
             [[0, 3], [1, 3], [2, 0]], arr([-2, 0.5, 1.5]), [3, 4]
         ]),
    case("SparseConcat", INDICES, [[0, 1], [1, 3]], VALUES, arr([-1.0, 0.5]), [3, 4], [3, 5],
         N=2, concat_dim=-1, outputs=3, expected=lambda *_: [
             [[0, 1], [0, 3], [0, 5], [1, 7], [2, 0]], arr([3, -2, -1, 0.5, 1.5]), [3, 9]
         ]),
    case("SparseDenseCwiseMul", INDICES, VALUES, [3, 4], X[:1],
         expected=lambda *_: VALUES * X[0, [0, 3, 1]]),
    case("SparseSegmentSqrtN", X, [2, 0, 1, 1], [0, 0, 0, 2],
         expected=lambda x, *_: np.stack([x.sum(0) / np.float32(3**0.5), 0 * x[0], x[1]])),
    *(
        case(f"SparseSegment{name}WithNumSegments", X, [2, 0, 1, 1], [0, 0, 0, 2], 4,
             expected=lambda x, *_, power=power: np.stack(
                 [x.sum(0) / np.float32(3**power), 0 * x[0], x[1], 0 * x[0]]
             ))
        for name, power in {"Sum": 0, "Mean": 1, "SqrtN": 0.5}.items()
    ),
    # What TensorFlow gives.
    case("SparseCross", texts([["A", "B"], ["A", "A"]]), np.array([[101], [102]], "int32"),
         outputs=3, N=0, num_buckets=5, hash_key=0xDECAFCAFFE, expected=lambda *_: [
             [[0, 0], [0, 1], [1, 0], [1, 1]], [1, 4, 3, 3], [2, 2]
         ]),
    case("SparseReduceSum", INDICES, VALUES, [3, 4], [1], expected=lambda *_: DENSE.sum(1)),
    case("SparseReduceSum", INDICES, VALUES, [3, 4], [0], label="that keeps the axis",
         keep_dims=True, expected=lambda *_: DENSE.sum(0, keepdims=True)),
    case("SparseSlice", INDICES, VALUES, [3, 4], [0, 1], [2, 8], outputs=3,
         expected=lambda *_: [[[0, 2], [0, 0]], arr([-2, 3]), [2, 3]]),
    case("SparseReorder", INDICES, VALUES, [3, 4], outputs=2,
         expected=lambda *_: [INDICES[::-1], VALUES[::-1]]),
    case("SparseTensorDenseMatMul", INDICES, VALUES, [3, 4], X.T,
         expected=lambda *_: DENSE @ X.T),
    case("SparseTensorDenseMatMul", INDICES, VALUES, [3, 4], X.T, label="adjoint",
         adjoint_a=True, adjoint_b=True, expected=lambda *_: DENSE.T @ X),
]  # fmt: skip

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


def is_among_largest(x: Array, targets: Array) -> Array:
    """Whether the elements of these columns are among the two largest of their rows."""
    return np.array([row[at] >= np.sort(row)[-2] for row, at in zip(x, targets, strict=True)])


WAVES = (SIGNALS + 1j * SIGNALS[::-1]).astype("complex64")
CASES: list[Case] = [
    *SEGMENTS,
    *MATRICES,
    *TEXTS,
    *PICTURES,
    *ROWS,
    case("Angle", WAVES, expected=lambda x: np.angle(x).astype("float32")),
    case("BatchMatMulV3", ints((2, 3, 4)), ints((2, 4, 2)), expected=np.matmul),
    case(
        "DynamicPartition",
        X[:2],
        [[1, 0, 1, 1], [1, 1, 0, 1]],
        num_partitions=3,
        outputs=3,
        expected=lambda x, _: [x[[0, 1], [1, 2]], np.r_[x[0, [0, 2, 3]], x[1, [0, 1, 3]]], EMPTY],
    ),
    case(
        "DynamicPartition",
        TABLE,
        [1, 0],
        num_partitions=2,
        outputs=2,
        label="of rows of text",
        expected=lambda x, _: [x[1:], x[:1]],
    ),
    case(
        "DynamicStitch",
        [3, 0],
        [[3]],
        X[:2],
        X[None, 2:],
        N=2,
        expected=lambda *_: np.stack([X[1], 0 * X[0], 0 * X[0], X[2]]),
    ),
    case(
        "ParallelDynamicStitch",
        1,
        [[0, 2]],
        X[0],
        X[None, 1:],
        N=2,
        expected=lambda *_: X[[1, 0, 2]],
    ),
    case("Erfinv", arr([0.0, 0.5, -0.9]), expected=lambda _: arr([0, 0.4769363, -1.1630871])),
    case(
        "FakeQuantWithMinMaxVarsPerChannel",
        arr([[0.3, 5.0], [-0.7, -2.0]]),
        arr([-1, -0.5]),
        arr([1, 1]),
        expected=lambda *_: arr([[2 / 7, 13.5 / 14], [-5 / 7, -7.5 / 14]]),
        num_bits=4,
        narrow_range=True,
    ),
    case("Cross", X[:, :3], X[:, 1:], expected=np.cross),
    case(
        "HistogramFixedWidth",
        arr([[-1, 0, 1.5, 5], [2, 3.9, 4, 15]]),
        arr([0, 5]),
        5,
        expected=lambda *_: np.array([2, 1, 1, 1, 3]),
    ),
    case("L2Loss", X, expected=lambda x: np.float32(np.square(x).sum() / 2)),
    case("NextAfter", X, arr(2), expected=np.nextafter),
    case("InTopKV2", X, [0, 1, 2], 2, expected=lambda x, at, _: is_among_largest(x, at)),
    case("Invert", ints((3,)), expected=np.invert),
    case("Roll", X, [1, -1], [0, 1], expected=lambda x, *_: np.roll(x, (1, -1), (0, 1))),
    case(
        "TruncateDiv",
        [-(2**31), -(2**31)],
        [2, -7],
        expected=lambda *_: np.array([-(2**30), 306783378], np.int32),
        label="int32 extremes",
    ),
    case("TruncateMod", arr([5.5, -5.5]), arr([2, 2]), expected=np.fmod),
    case("TruncateMod", [5, -5], [3, 3], expected=np.fmod, label="int32"),
    case("TruncateMod", arr([1e8, -3]), arr([3.3, np.inf]), expected=np.fmod, label="extremes"),
    case(
        "TruncateMod",
        [-(2**31), -(2**31), 2**31 - 1, 5],
        [3, -(2**31), -(2**31), -(2**31)],
        expected=np.fmod,
        label="int32 extremes",
    ),
    case("Xlog1py", arr([0, 2]), arr([-1, 1]), expected=lambda *_: arr([0, 2 * np.log(2)])),
    # Two images with two classes, whose boxes the second has for itself.
    case(
        "CombinedNonMaxSuppression",
        arr([[[[0, 0, 1, 1]], [[0, 0, 1, 0.9]], [[2, 2, 3, 3]]]] * 2),
        arr([[[0.9, 0.1], [0.8, 0.7], [0.3, 0]], [[0, 0], [0.05, 0], [0, 0.6]]]),
        2,
        3,
        0.5,
        0.2,
        expected=lambda *_: [
            arr(
                [
                    [[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]],
                    [[2, 2, 3, 3], [0, 0, 0, 0], [0, 0, 0, 0]],
                ]
            ),
            arr([[0.9, 0.7, 0.3], [0.6, 0, 0]]),
            arr([[0, 1, 0], [1, 0, 0]]),
            [3, 1],
        ],
        outputs=4,
        clip_boxes=False,
    ),
    # What TensorFlow gives for equal scores: classes in order, then boxes in order.
    case(
        "CombinedNonMaxSuppression",
        arr([[[[2, 2, 3, 3]], [[0, 0, 1, 1]], [[4, 4, 5, 5]]]]),
        arr([[[0.5, 0.2], [0.5, 0.9], [0.1, 0.5]]]),
        2,
        9,
        0.5,
        0.15,
        expected=lambda *_: [
            arr([[[0, 0, 1, 1], [2, 2, 3, 3], [0, 0, 1, 1], [4, 4, 5, 5]]]),
            arr([[0.9, 0.5, 0.5, 0.5]]),
            arr([[1, 0, 0, 1]]),
            [4],
        ],
        label="padded by class",
        outputs=4,
        pad_per_class=True,
        clip_boxes=False,
    ),
    case("Bitcast", ints((3,)), expected=lambda x: x, type=Dtype("int32")),
    case(
        "Bitcast",
        X,
        expected=lambda x: x.view("int32"),
        label="of floats",
        type=Dtype("int32"),
    ),
    *(
        case(
            "Bucketize",
            x,
            expected=lambda x: np.digitize(x, [-0.5, 0.5]),
            label=label,
            boundaries=[-0.5, 0.5],
        )
        for label, x in (("", X), ("of NaN", arr([np.nan, 0.5])))
    ),
    case("AccumulateNV2", X, X, expected=lambda x, y: x + y),
    case("BiasAddV1", X, X[0], expected=lambda x, bias: x + bias),
    case("Digamma", POSITIVE, expected=elementwise(digamma)),
    case("Lgamma", POSITIVE, expected=elementwise(lgamma)),
    case(
        "CumulativeLogsumexp",
        X,
        1,
        expected=lambda x, _: np.log(np.cumsum(np.exp(x), 1)),
        exclusive=False,
        reverse=False,
    ),
    case(
        "CumulativeLogsumexp",
        arr([[-300.0, 0.0, 200.0, 200.0, -300.0]]),
        -1,
        expected=lambda x, _: arr([[200 + np.log(2), 200 + np.log(2), 200, -300, -np.inf]]),
        label="of numbers far apart",
        exclusive=True,
        reverse=True,
    ),
    *(
        case(
            "CumulativeLogsumexp",
            np.zeros((2, 0), "float32"),
            1,
            expected=lambda x, _: x,
            label=f"of nothing, {exclusive=}",
            exclusive=exclusive,
            reverse=False,
        )
        for exclusive in (True, False)
    ),
    *(
        case(
            f"TensorScatter{name}",
            x,
            [[0, 1], [2, 3], [0, 1]],
            updates,
            expected=lambda x, indices, updates, reduce=reduce: arr(
                [
                    [
                        reduce([x[i, j], *updates[(indices == [i, j]).all(-1)]])
                        for j in range(x.shape[1])
                    ]
                    for i in range(x.shape[0])
                ],
                x.dtype,
            ),
            label=str(x.dtype),
        )
        for name, reduce in (("Max", max), ("Min", min))
        for x, updates in ((X, floats((3,))), (ints((3, 4)), ints((3,), seed=1)))
    ),
    case("InTopK", X, [0, 1, 2], expected=in_top_2, k=2),
    case(
        "InTopK",
        arr([[1, 3, 3, 3], [1, 2, 3, np.inf], [np.nan, 1, 2, 3], [3, 2, 1, 0], [3, 2, 1, 0]]),
        [3, 3, 3, 4, 3],
        expected=lambda *_: np.array([True, False, False, False, False]),
        label="of equal and infinite numbers, and of no class",
        k=2,
    ),
    case("InTopKV2", X, [0, 1, 2], 9, expected=lambda *_: np.ones(3, bool), label="of few classes"),
    # Sizes for which rounding to float32 changes pixels.
    *(
        case(
            "ResizeNearestNeighbor",
            floats((1, rows, 1, 1)),
            [count, 1],
            expected=lambda x, size, *, options=(corners, half): nearest_rows(x, size[0], *options),
            label=f"of {rows} rows",
            align_corners=corners,
            half_pixel_centers=half,
        )
        for rows, count, corners, half in (
            (26, 22, False, False),
            (14, 23, True, False),
            (24, 37, False, True),
        )
    ),
    # Suppression: what TensorFlow gives where overlaps are equal to the threshold.
    *(
        case(
            op,
            BOXES,
            arr([0.9, 0.8, 0.7, 0.6]),
            4,
            threshold,
            *more,
            expected=lambda *_, indices=indices, scores=scores: [
                np.array(indices, np.int32),
                *([] if scores is None else [arr(scores), np.array(len(indices), np.int32)]),
            ],
            label=f"above {threshold} of {more}",
            outputs=1 if scores is None else 3,
        )
        for op, threshold, more, indices, scores in (
            ("NonMaxSuppressionV2", 0.0, (), (0, 3), None),
            ("NonMaxSuppressionV3", np.float32(0.7), (0.0,), (0, 2, 3), None),
            ("NonMaxSuppressionV3", 1.0, (0.0,), (0, 1, 2, 3), None),
            ("NonMaxSuppressionV5", 0.5, (0.7, 0.0), (0,), [0.9]),
            ("NonMaxSuppressionV5", 0.5, (0.5, 1.0), (0, 3, 2), [0.9, 0.6, 0.5478932]),
        )
    ),
    *(
        case(
            "BatchNormWithGlobalNormalization",
            X[None, None],
            *(np.abs(X[:2]) + 0.1),
            *X[1:],
            expected=lambda x, mean, variance, offset, scale, is_scaled=is_scaled: (
                (x - mean)
                / np.sqrt(variance + np.float32(0.01))
                * (scale if is_scaled else np.float32(1))
                + offset
            ),
            variance_epsilon=0.01,
            scale_after_normalization=is_scaled,
            label=f"{is_scaled=}",
        )
        for is_scaled in (True, False)
    ),
    case(
        "SparseSoftmax",
        [[0, 1], [0, 2], [1, 0]],
        arr([1, 2, 3]),
        [2, 3],
        expected=lambda *_: arr([1 / (1 + np.e), np.e / (1 + np.e), 1]),
    ),
    case(
        "SparseReduceMax",
        [[0, 1], [0, 2], [2, 0]],
        arr([-2, -1, 3]),
        [3, 3],
        [1],
        expected=lambda *_: arr([-1, 0, 3]),
        keep_dims=False,
    ),
    case(
        "CTCGreedyDecoder",
        arr([[[0, 2, 1], [0, 1, 4]], [[0, 3, 1], [5, 1, 4]], [[0, 1, 2], [9, 0, 0]]]),
        [3, 2],
        expected=lambda *_: [
            np.array([[0, 0], [1, 0]]),
            np.array([1, 0]),
            np.array([2, 1]),
            arr([[-7], [-9]]),
        ],
        outputs=4,
        merge_repeated=True,
    ),
    case(
        "SparseTensorDenseAdd",
        [[0, 1], [2, 3]],
        arr([1, 2]),
        [3, 4],
        X,
        expected=lambda indices, values, _, x: x + arr([[0, 1, 0, 0], [0] * 4, [0, 0, 0, 2]]),
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
