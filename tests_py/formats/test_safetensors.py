"""Safetensors, by their specification; `make test-tensorflow` has their authors' library."""

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from webtensor import ModelFormatError
from webtensor.formats.safetensors import read_safetensors, read_safetensors_index

ARRAYS = {
    "BOOL": np.array([True, False]),
    "U8": np.array([0, 255], "uint8"),
    "I8": np.array([[-128, 127]], "int8"),
    "U16": np.array([0, 65535], "uint16"),
    "I16": np.array([-(2**15)], "int16"),
    "U32": np.array([2**32 - 1], "uint32"),
    "I32": np.array(-7, "int32"),
    "U64": np.array([2**64 - 1], "uint64"),
    "I64": np.array([-(2**63)], "int64"),
    "F16": np.array([1.5, -2], "float16"),
    "BF16": np.array([1.5, -2], ml_dtypes.bfloat16),
    "F32": np.arange(6, dtype="float32").reshape(2, 3),
    "F64": np.array([1e300]),
    "C64": np.array([1 + 2j], "complex64"),
    "F8_E4M3": np.array([1.5, -2], ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.array([1.5, -2], ml_dtypes.float8_e5m2),
    "F8_E4M3FNUZ": np.array([1.5, -2], ml_dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": np.array([1.5, -2], ml_dtypes.float8_e5m2fnuz),
    "F8_E8M0": np.array([1, 2], ml_dtypes.float8_e8m0fnu),
    "F32 ": np.zeros((0, 3), "float32"),
}


def packed(header: Any, data: bytes = b"") -> bytes:
    """A file with a header, which may be text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def row(dtype: str, shape: Any, begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def written() -> bytes:
    """A file with all arrays, under the names of their dtypes."""
    header: dict[str, Any] = {"__metadata__": {"format": "np"}}
    data = b""
    for name, array in ARRAYS.items():
        stored = array.tobytes()
        header[name] = row(name.strip(), array.shape, len(data), len(data) + len(stored))
        data += stored
    return packed(header, data)


def test_tensors_of_all_dtypes():
    file = read_safetensors(written(), "m.st")
    assert file.metadata == {"format": "np"}
    assert list(file.tensors) == list(ARRAYS)
    for name, array in ARRAYS.items():
        elements = file.tensors[name]
        assert (elements.shape, elements.dtype) == (array.shape, array.dtype.name)
        assert bytes(elements.data) == array.tobytes()


def test_tensors_are_views_of_the_file():
    data = written()
    assert read_safetensors(data, "m.st").tensors["F32"].data.obj is data


@pytest.mark.parametrize(
    "dtype, shape, expected",
    [("F4", [4], "float4_e2m1fn"), ("F6_E2M3", [4], "float6_e2m3fn"), ("F6_E3M2", [8], None)],
)
def test_elements_of_less_than_a_byte(dtype: str, shape: list[int], expected: str | None):
    size = shape[0] * (4 if dtype == "F4" else 6) // 8
    elements = read_safetensors(packed({"a": row(dtype, shape, 0, size)}, bytes(size)), "m.st")
    assert elements.tensors["a"].dtype == (expected or "float6_e3m2fn")


@pytest.mark.parametrize(
    "header, data",
    [
        ({}, b""),
        (b"{}   \n", b""),
        ({"__metadata__": None}, b""),
        ({"b": row("U8", [2], 2, 4), "a": row("U8", [2], 0, 2)}, b"abcd"),
        ({"b": row("U8", [0], 0, 0), "a": row("U8", [2], 0, 2), "c": row("U8", [0], 2, 2)}, b"ab"),
        ({"": row("U8", [1], 0, 1)}, b"a"),
        ({"a": {**row("U8", [1], 0, 1), "more": 1}}, b"a"),
    ],
)
def test_unusual_files(header: Any, data: bytes):
    header_names = json.loads(header) if isinstance(header, bytes) else header
    names = [name for name in header_names if name != "__metadata__"]
    assert list(read_safetensors(packed(header, data), "m.st").tensors) == names


ONE = b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'


@pytest.mark.parametrize(
    "file, message",
    [
        (b"1234", "m.st has 4 bytes, but its header would end at byte"),
        (packed({})[:-1], "m.st has 9 bytes, but its header would end at byte 10"),
        ((2**60).to_bytes(8, "little") + b"{}", "its header would end at byte"),
        (packed(b" {}"), "a header that does not begin with a brace"),
        (packed(b"\xef\xbb\xbf{}"), "a header that does not begin with a brace"),
        (packed([]), "a header that does not begin with a brace"),
        (packed(b"{}\0"), "m.st: Extra data"),
        (packed(b'{"\xff":1}'), "m.st: .*can't decode byte 0xff"),
        (packed(b'{"a":NaN}'), "tensor 'a' is described by nan"),
        (packed(b"{" + b'"a":{' * 300), "nested more than 200 levels deep"),
        (packed(b"{" + ONE + b"," + ONE + b"}", b"a"), "its header: 'a' is given twice"),
        (packed(b'{"a":{"dtype":"U8","dtype":"U8"}}'), "its header: 'dtype' is given twice"),
        (packed({"__metadata__": {"a": 1}}), "__metadata__ must be texts, but is"),
        (packed({"__metadata__": ["a"]}), "__metadata__ must be texts, but is"),
        (packed({"a": 3}), "tensor 'a' is described by 3"),
        (packed({"a": {**row("U8", [0], 0, 0), "dtype": None}}), "has the dtype None"),
        (packed({"a": {**row("U8", [0], 0, 0), "dtype": []}}), r"has the dtype \[\]"),
        (packed({"a": row("C128", [0], 0, 0)}), "has the dtype 'C128'"),
        (packed({"a": row("U8", [-1], 0, 0)}), r"has the shape \[-1\]"),
        (packed({"a": row("U8", [1.0], 0, 1)}, b"a"), r"has the shape \[1.0\]"),
        (packed({"a": row("U8", [True], 0, 1)}, b"a"), r"has the shape \[True\]"),
        (packed({"a": row("U8", None, 0, 1)}, b"a"), "has the shape None"),
        (packed({"a": row("U8", [2**62, 4], 0, 0)}), "too many elements"),
        (packed({"a": row("U8", [1] * 65, 0, 1)}, b"a"), "a shape has 65 axes"),
        (packed({"a": {"dtype": "U8", "shape": [1]}}, b"a"), "has the offsets None"),
        (packed({"a": {**row("U8", [1], 0, 1), "data_offsets": [0, 1, 1]}}, b"a"), "the offsets"),
        (packed({"a": row("U8", [0], 1, 0)}, b"a"), r"has the offsets \[1, 0\], but there are 1"),
        (packed({"a": row("U8", [2], 0, 2)}, b"a"), r"has the offsets \[0, 2\], but there are 1"),
        (packed({"a": row("U8", [3], 0, 2)}, b"ab"), "needs 24 bits, but has 2 bytes"),
        (packed({"a": row("F4", [3], 0, 2)}, b"ab"), "needs 12 bits, but has 2 bytes"),
        (packed({"a": row("U8", [1], 1, 2)}, b"ab"), "'a' begins at byte 1, but the last one ends"),
        (packed({"a": row("U8", [1], 0, 1)}, b"ab"), "1 bytes belong to no tensor"),
        (
            packed({"a": row("U8", [2], 0, 2), "b": row("U8", [2], 1, 3)}, b"abc"),
            "'b' begins at byte 1, but the last one ends at 2",
        ),
        (
            packed({"a": row("U8", [2], 0, 2), "b": row("U8", [2], 0, 2)}, b"ab"),
            "'b' begins at byte 0, but the last one ends at 2",
        ),
    ],
)
def test_broken_files(file: bytes, message: str):
    with pytest.raises(ModelFormatError, match=message) as info:
        read_safetensors(file, "m.st")
    assert str(info.value).startswith("m.st")


def test_indices_of_models_in_several_files():
    index = {"metadata": {"total_size": 1}, "weight_map": {"x": "a-1.safetensors", "y": "b/c"}}
    paths = read_safetensors_index(json.dumps(index).encode(), "i")
    assert paths == {"x": "a-1.safetensors", "y": "b/c"}


@pytest.mark.parametrize(
    "index, message",
    [
        ([], "has no weight_map"),
        ({"weight_map": []}, "has no weight_map, or a malformed one"),
        ({"weight_map": {"a": 1}}, "has no weight_map, or a malformed one"),
        ({"weight_map": {"a": "../x"}}, "names a file that lies elsewhere: '../x'"),
    ],
)
def test_broken_indices(index: Any, message: str):
    with pytest.raises(ModelFormatError, match=f"^i {message}"):
        read_safetensors_index(json.dumps(index).encode(), "i")
