"""Operations on spectra, texts, sparse and ragged tensors, and those that hand tensors on."""

from __future__ import annotations

import numpy as np

from tests_py.cases.inputs import arr, complexes, floats, ints, texts
from tests_py.graph.cases.case import case
from tests_py.graph.graphs import Dtype

__all__ = ["CASES"]

X = floats((3, 4))
SIGNALS = floats((2, 8))
WAVES = complexes((2, 8))
SPECTRA = np.fft.rfft(SIGNALS).astype(np.complex64)
SENTENCES = texts(["red green blue", "", "one  two"])
WORDS = texts(["a", "b", "c", "d", "e"])

HANDING_ON = (
    "CheckNumerics",
    "Identity",
    "PreventGradient",
    "Snapshot",
    "StopGradient",
)

CASES = [
    # structure
    *(case(op, X, expected=lambda x: x) for op in HANDING_ON),
    case("IdentityN", X, ints((2,)), expected=lambda *xs: xs, outputs=2),
    case("PlaceholderWithDefault", X, expected=lambda x: x, dtype=Dtype("float32")),
    case("Print", X, expected=lambda x: x, message="x is"),
    # spectra
    case("FFT", WAVES, expected=np.fft.fft),
    case("IFFT", WAVES, expected=np.fft.ifft),
    case("RFFT", SIGNALS, [8], expected=lambda x, _: np.fft.rfft(x)),
    case("RFFT", SIGNALS, [6], expected=lambda x, _: np.fft.rfft(x, 6), label="shorter"),
    case("IRFFT", SPECTRA, [8], expected=lambda x, _: np.fft.irfft(x, 8)),
    case("IRFFT", SPECTRA, [7], expected=lambda x, _: np.fft.irfft(x, 7), label="of odd length"),
    # texts
    case(
        "StaticRegexReplace",
        SENTENCES,
        expected=lambda x: texts(["r[e]d gr[e][e]n blu[e]", "", "on[e]  two"]),
        pattern="(e)",
        rewrite="[\\1]",
        replace_global=True,
    ),
    case(
        "StaticRegexReplace",
        SENTENCES,
        expected=lambda x: texts(["r-d green blue", "", "on-  two"]),
        label="once",
        pattern="e",
        rewrite="-",
        replace_global=False,
    ),
    case(
        "StringNGrams",
        WORDS,
        [0, 3, 5],
        expected=lambda *_: [texts(["a|b", "b|c", "a|b|c", "d|e"]), [0, 3, 4]],
        outputs=2,
        separator="|",
        ngram_widths=[2, 3],
        left_pad="",
        right_pad="",
        pad_width=0,
        preserve_short_sequences=False,
    ),
    case(
        "StringNGrams",
        WORDS,
        [0, 3, 5],
        expected=lambda *_: [
            texts(["L.a", "a.b", "b.c", "c.R", "L.d", "d.e", "e.R"]),
            [0, 4, 7],
        ],
        label="padded",
        outputs=2,
        separator=".",
        ngram_widths=[2],
        left_pad="L",
        right_pad="R",
        pad_width=1,
        preserve_short_sequences=False,
    ),
    case(
        "StringSplit",
        SENTENCES,
        texts(" "),
        expected=lambda *_: [
            [[0, 0], [0, 1], [0, 2], [2, 0], [2, 1]],
            texts(["red", "green", "blue", "one", "two"]),
            [3, 3],
        ],
        outputs=3,
        skip_empty=True,
    ),
    case("StringToHashBucketFast", WORDS, num_buckets=100),
    # sparse and ragged tensors
    case(
        "SparseFillEmptyRows",
        arr([[0, 1], [2, 0]], np.int32),
        arr([5.0, 6.0]),
        [4, 2],
        -1.0,
        expected=lambda *_: [
            [[0, 1], [1, 0], [2, 0], [3, 0]],
            [5.0, -1.0, 6.0, -1.0],
            [False, True, False, True],
            [0, 2],
        ],
        outputs=4,
    ),
    case(
        "SparseReshape",
        arr([[0, 1], [2, 0]], np.int32),
        [3, 2],
        [2, -1],
        expected=lambda *_: [[[0, 1], [1, 1]], [2, 3]],
        outputs=2,
    ),
    case(
        "SparseSegmentMean",
        X,
        [0, 2, 1],
        [0, 0, 1],
        expected=lambda x, *_: np.stack([(x[0] + x[2]) / 2, x[1]]),
    ),
    case(
        "SparseSegmentSum",
        X,
        [0, 2, 1],
        [0, 0, 2],
        expected=lambda x, *_: np.stack([x[0] + x[2], np.zeros(4), x[1]]),
    ),
    case(
        "RaggedGather",
        arr([0, 2, 2, 5], np.int32),
        floats((5,)),
        [2, 0],
        expected=lambda splits, values, _: [[0, 3, 5], values[[2, 3, 4, 0, 1]]],
        outputs=2,
        PARAMS_RAGGED_RANK=1,
        OUTPUT_RAGGED_RANK=1,
    ),
    case(
        "RaggedRange",
        [0, 5],
        [3, 9],
        [1, 2],
        expected=lambda *_: [[0, 3, 5], [0, 1, 2, 5, 7]],
        outputs=2,
    ),
    case(
        "RaggedTensorToTensor",
        [3, 4],
        floats((5,)),
        arr(-1.0),
        arr([0, 2, 2, 5], np.int32),
        expected=lambda shape, values, *_: np.array(
            [[*values[:2], -1, -1], [-1] * 4, [*values[2:], -1]], np.float32
        ),
        row_partition_types=["ROW_SPLITS"],
        num_row_partition_tensors=1,
    ),
]
