"""Weights as bytes, and tensors of them, compared with NumPy's bytes."""

import asyncio
import struct
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.formats.composite_buffers import CompositeArrayBuffer

VALUES: dict[str, Any] = {
    "matrix": np.arange(6, dtype="float32").reshape(2, 3) - 2.5,
    "counts": np.array([-(2**31), 0, 2**31 - 1], "int32"),
    "flags": np.array([[True, False]]),
    "waves": np.array([1 + 2j, -3.5j], "complex64"),
    "empty": np.zeros((0, 4), "float32"),
    "number": np.array(7.25, "float32"),
}


def spec(name: str, **more: Any) -> dict[str, Any]:
    value = VALUES[name]
    return {"name": name, "shape": list(value.shape), "dtype": str(value.dtype), **more}


SPECS = [spec(name) for name in VALUES]
DATA = b"".join(value.tobytes() for value in VALUES.values())


def assert_values(weights: dict[str, wt.Tensor]) -> None:
    assert list(weights) == list(VALUES)
    for name, value in VALUES.items():
        assert weights[name].dtype == str(value.dtype)
        np.testing.assert_array_equal(weights[name].numpy(), value)


def test_weights_are_encoded_as_their_bytes(backend: str, no_leak: None) -> None:
    encoded = wt.io.encode_weights({name: wt.tensor(value) for name, value in VALUES.items()})
    assert encoded == (DATA, SPECS)


def test_weights_are_decoded(backend: str, no_leak: None) -> None:
    assert_values(wt.io.decode_weights(DATA, SPECS))


@pytest.mark.parametrize("size", [1, 3, 7, len(DATA)])
def test_pieces_may_end_within_a_weight(size: int, no_leak: None) -> None:
    pieces = [DATA[start : start + size] for start in range(0, len(DATA), size)]
    assert_values(wt.io.decode_weights(pieces, SPECS))
    assert_values(asyncio.run(wt.io.decode_weights_stream(pieces, SPECS)))


def test_a_stream_may_be_asynchronous() -> None:
    async def stream() -> AsyncIterator[bytes]:
        for start in range(0, len(DATA), 5):
            await asyncio.sleep(0)
            yield DATA[start : start + 5]

    assert_values(asyncio.run(wt.io.decode_weights_stream(stream(), SPECS)))


def test_weights_may_be_computed_with(backend: str) -> None:
    weights = wt.io.decode_weights(DATA, SPECS)
    np.testing.assert_array_equal((weights["matrix"] * 2).numpy(), VALUES["matrix"] * 2)
    variable = wt.Variable(weights["matrix"])
    variable.assign(variable.value + 1)
    np.testing.assert_array_equal(weights["matrix"].numpy(), VALUES["matrix"])


def test_bytes_that_change_later_do_not_change_weights() -> None:
    data = bytearray(DATA)
    weights = wt.io.decode_weights(data, SPECS)
    data[:] = bytes(len(data))
    assert_values(weights)


def test_truth_values_are_whatever_is_not_zero() -> None:
    weights = wt.io.decode_weights(bytes([0, 1, 2, 255]), [
        {"name": "w", "shape": [4], "dtype": "bool"}
    ])  # fmt: skip
    assert weights["w"].tolist() == [False, True, True, True]


def test_texts_follow_their_lengths() -> None:
    encoded = wt.io.encode_weights({"t": wt.tensor([["a", "éé"], ["", "long" * 30]])})
    texts = [b"a", "éé".encode(), b"", b"long" * 30]
    assert encoded.data == b"".join(struct.pack("<I", len(text)) + text for text in texts)
    specs = [*encoded.specs, spec("matrix")]
    data = encoded.data + VALUES["matrix"].tobytes()
    for weights in (
        wt.io.decode_weights(data, specs),
        asyncio.run(wt.io.decode_weights_stream([data[:7], data[7:]], specs)),
    ):
        assert weights["t"].tolist() == [["a", "éé"], ["", "long" * 30]]
        np.testing.assert_array_equal(weights["matrix"].numpy(), VALUES["matrix"])


def test_groups_and_lists_of_named_tensors() -> None:
    encoded = wt.io.encode_weights([{"name": "w", "tensor": wt.ones((1,))}], "optimizer")
    assert encoded.specs == [{"name": "w", "shape": [1], "dtype": "float32", "group": "optimizer"}]


def test_tensors_are_read_without_blocking() -> None:
    tensors = {name: wt.tensor(value) for name, value in VALUES.items()}
    assert asyncio.run(wt.io.encode_weights_async(tensors)) == (DATA, SPECS)


# -- quantization ------------------------------------------------------------------------------


def test_patterns_choose_what_is_quantized(no_leak: None) -> None:
    weights = {
        f"{layer}/{part}": wt.random_normal((300,), seed=index)
        for index, (layer, part) in enumerate(
            (layer, part) for layer in ("conv", "dense") for part in ("kernel", "bias")
        )
    }
    patterns: Any = {"uint8": "conv/*", "float16": ["dense/kernel", "other"], "uint16": False}
    encoded = wt.io.encode_weights(weights, quantization=patterns)
    dtypes = {spec["name"]: spec.get("quantization", {}).get("dtype") for spec in encoded.specs}
    assert dtypes == {
        "conv/kernel": "uint8",
        "conv/bias": "uint8",
        "dense/kernel": "float16",
        "dense/bias": None,
    }
    assert len(encoded.data) == 300 + 300 + 600 + 1200
    for name, value in wt.io.decode_weights(encoded.data, encoded.specs).items():
        np.testing.assert_allclose(value.numpy(), weights[name].numpy(), atol=0.02)


def test_only_weights_of_fitting_dtypes_are_quantized() -> None:
    encoded = wt.io.encode_weights({**VALUES, "t": ["text"]}, quantization={"float16": True})
    quantized = [spec["name"] for spec in encoded.specs if "quantization" in spec]
    assert quantized == ["matrix", "empty", "number"]


def test_halves_between_other_weights_keep_their_order_and_their_numbers() -> None:
    random = np.random.default_rng(0)
    values: dict[str, Any] = {
        "a": random.normal(size=(3, 2)).astype("float16"),
        "b": random.normal(size=5).astype("float32"),
        "c": np.zeros((2, 0), "float16"),
        "d": random.normal(size=4).astype("float16"),
        "e": np.array(-0.25, "float16"),
    }
    specs = [
        {"name": name, "shape": list(value.shape), "dtype": "float32"}
        | ({"quantization": {"dtype": "float16"}} if value.dtype == "float16" else {})
        for name, value in values.items()
    ]
    weights = wt.io.decode_weights(b"".join(map(np.ndarray.tobytes, values.values())), specs)
    for name, value in values.items():
        np.testing.assert_array_equal(weights[name].numpy(), value.astype("float32"))


def test_true_stands_for_weights_that_match_no_pattern() -> None:
    patterns: Any = {"uint8": True, "float16": "*/kernel"}
    weights = {"conv/kernel": [1.0], "conv/bias": [2.0]}
    encoded = wt.io.encode_weights(weights, quantization=patterns)
    dtypes = [spec["quantization"]["dtype"] for spec in encoded.specs]
    assert dtypes == ["float16", "uint8"]


@pytest.mark.parametrize(
    "patterns, message",
    [
        ({"uint8": True, "uint16": True}, "only one dtype can be True, but"),
        ({"uint8": "*", "uint16": "w"}, "weight 'w' is to be stored as 'uint8' and as 'uint16'"),
        ({"int8": "*"}, "the dtypes are 'float16', 'uint8', 'uint16', but got 'int8'"),
    ],
)
def test_patterns_that_contradict(patterns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wt.io.encode_weights({"w": [1.0]}, quantization=patterns)


def test_a_weight_that_cannot_be_quantized_is_named() -> None:
    with pytest.raises(ValueError, match="weight 'w': its numbers must be finite"):
        wt.io.encode_weights({"w": [float("inf")]}, quantization={"uint8": True})


# -- malformed ---------------------------------------------------------------------------------

QUANTIZED = {"dtype": "uint8", "scale": 1.0, "min": 0.0}


def quantized(**changes: Any) -> dict[str, Any]:
    return {"shape": [4], "dtype": "float32", "quantization": {**QUANTIZED, **changes}}


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"shape": [2]}, "needs 8 bytes, but 4 are left"),
        ({"shape": [0]}, "4 bytes belong to no weight"),
        ({"shape": [10**15]}, "needs 4000000000000000 bytes"),
        ({"shape": [10**18, 10**18]}, "too many elements"),
        ({"shape": [1] * 65}, "65 axes"),
        ({"shape": [-1]}, "has shape"),
        ({"shape": [True]}, "has shape"),
        ({"shape": [1.0]}, "has shape"),
        ({"shape": None}, "has shape"),
        ({"dtype": "float64"}, "has dtype 'float64'"),
        ({"dtype": "uint8"}, "has dtype 'uint8'"),
        ({"name": 3}, "malformed"),
        ({"dtype": "string", "shape": [2]}, "needs 8 bytes, but 4 are left"),
        ({"dtype": "string"}, "ends too early"),
        ({"quantization": []}, "quantized in an unknown way"),
        (quantized(dtype="int8"), "has dtype 'float32', stored as 'int8'"),
        ({**quantized(), "dtype": "bool"}, "has dtype 'bool', stored as 'uint8'"),
        ({**quantized(dtype="float16"), "dtype": "int32"}, "stored as 'float16'"),
        *(
            (
                {"shape": [4], "quantization": {"dtype": dtype, key: 1.0}},
                f"quantized as '{dtype}' without scale and min",
            )
            for dtype in ("uint8", "uint16")
            for key in ("scale", "min")
        ),
        (quantized(scale="1"), "has scale '1'"),
        (quantized(scale=None), "has scale None"),
        (quantized(min=float("nan")), "min nan"),
        (quantized(scale=10**400), "has scale 1000"),
        ({**quantized(scale=1e9), "dtype": "int32"}, "do not fit int32"),
    ],
)
def test_malformed_weights(fields: dict[str, Any], message: str, no_leak: None) -> None:
    weight = {"name": "w", "shape": [1], "dtype": "float32", **fields}
    with pytest.raises(wt.ModelFormatError, match=message):
        wt.io.decode_weights(b"\xff\xff\xff\xff", [weight])


@pytest.mark.parametrize("specs", [[7], ["w"], [None]])
def test_a_malformed_list_of_weights(specs: Any) -> None:
    with pytest.raises(wt.ModelFormatError, match="malformed"):
        wt.io.decode_weights(b"", specs)


def test_a_stream_that_ends_too_early() -> None:
    with pytest.raises(wt.ModelFormatError, match=r"needs \d+ bytes, but"):
        asyncio.run(wt.io.decode_weights_stream([DATA[:-1]], SPECS))


# -- pieces ------------------------------------------------------------------------------------


def test_slices_of_composite_buffers_are_those_of_one_buffer() -> None:
    whole = bytes(range(20))
    pieces: list[Any] = [whole[:3], b"", bytearray(whole[3:4]), memoryview(whole)[4:17], whole[17:]]
    composite = CompositeArrayBuffer(pieces)
    assert composite.byte_length == 20
    for start in range(21):
        for end in range(21):
            assert composite.slice(start, end) == whole[start:end]
    assert composite.slice(-5, 99) == whole
    assert CompositeArrayBuffer.join(pieces) == whole
    assert composite.view(5, 9).obj is whole
    assert CompositeArrayBuffer().slice() == b""


def test_no_weights() -> None:
    assert wt.io.decode_weights(b"", []) == {}
