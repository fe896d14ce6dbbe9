"""The backend node tests of the package ``onnx``, and what becomes of each here.

The package makes most cases when it is asked for them, and has older ones as files: a model, and
inputs and outputs as ``.pb`` files, which ``webtensor.formats.onnx`` reads.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray

import webtensor as wt
from webtensor.formats import onnx as format_
from webtensor.formats.onnx import read_onnx, read_onnx_tensor
from webtensor.formats.onnx_messages import DATA_TYPES
from webtensor.onnx.stored_constants import constant_of

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
#: The dtypes of tensors, and those that are read as one of them without losing more than precision.
APPLICABLE = frozenset({"bool", "float32", "float64", "int32", "int64", "string"})

_RANDOM = "random numbers"
#: Why cases that apply do not pass on WebAssembly.
DEVIATIONS = {
    **dict.fromkeys(
        ("test_bitcast_float64_to_int64", "test_bitcast_int64_to_float64"),
        "numbers of 64 bits have 32 here",
    ),
    **dict.fromkeys(
        (
            "test_resize_downsample_scales_linear_align_corners",
            "test_resize_downsample_scales_cubic_align_corners",
        ),
        "4 · 0.6 elements are 2 here, as in PyTorch and onnxruntime, whose tests leave the case "
        "out, too; the case aligns the corners of 2.4",
    ),
    **dict.fromkeys(
        (f"test_dft{kind}{opset}" for kind in ("", "_axis", "_rfft") for opset in ("", "_opset19")),
        "where sums of float32 numbers up to 540 must be 0, 2e-6 is left, but the case allows 1e-7",
    ),
}
#: Why cases do not pass on NumPy that pass on WebAssembly.
NUMPY_DEVIATIONS = dict.fromkeys(
    ("test_dft_inverse", "test_dft_inverse_opset19"),
    "the case expects the 2e-7 that rounding leaves of 0 elsewhere",
)
#: The tolerances of the package's own runner for cases that are files, and for bfloat16.
_RELATIVE, _ABSOLUTE = 1e-3, 1e-7
_BFLOAT16 = 2**-6


class Case(NamedTuple):
    """A case: a model, and pairs of inputs and expected outputs."""

    name: str
    model: bytes
    data: list[tuple[list[Any], list[Any]]]
    relative: float
    absolute: float


class Outcome(NamedTuple):
    """What became of a case: "passed", "failed" or "not applicable", and why."""

    name: str
    status: str
    reason: str = ""


# -- cases -------------------------------------------------------------------------------------


@cache
def node_cases() -> tuple[Case, ...]:
    """Return the cases that the package makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        cases: list[Any] = collect_testcases(None)
    return tuple(
        Case(
            case.name,
            case.model.SerializeToString(),
            [(list(inputs), list(outputs)) for inputs, outputs in case.data_sets],
            case.rtol,
            case.atol,
        )
        for case in cases
    )


@cache
def file_cases() -> tuple[Case, ...]:
    """Return the cases that the package has as files."""
    return tuple(
        Case(
            f"{path.parent.parent.name}/{path.parent.name}",
            path.read_bytes(),
            [
                (_stored(folder, "input"), _stored(folder, "output"))
                for folder in sorted(path.parent.glob("test_data_set_*"))
            ],
            _RELATIVE,
            _ABSOLUTE,
        )
        for path in sorted(DATA.glob("*/*/model.onnx"))
    )


def _stored(folder: Path, side: str) -> list[Any]:
    paths = sorted(folder.glob(f"{side}_*.pb"), key=lambda path: int(path.stem.rpartition("_")[2]))
    return [
        constant_of(read_onnx_tensor(path.read_bytes(), path.name), path.name).numpy()
        for path in paths
    ]


# -- what applies ------------------------------------------------------------------------------


def reason_against(model: format_.Model) -> str:
    """Return why a model is out of what tensors can hold, or ""."""
    graph = model.graph
    domains = {node.domain for node in _nodes(graph)} - {""}
    if domains:
        return f"domain {min(domains)}"
    names: set[str] = set()
    for value in (*graph.inputs, *graph.outputs):
        names |= _dtypes(value.type)
    for node in _nodes(graph):
        for name, attribute in node.attributes.items():
            if isinstance(attribute, format_.Tensor):
                names.add(attribute.dtype)
            elif name in ("dtype", "to", "output_datatype", "output_dtype"):
                names |= (
                    {DATA_TYPES[attribute].name}
                    if isinstance(attribute, int) and attribute
                    else set()
                )
    other = sorted(names - APPLICABLE - {""})
    if other:
        return f"dtype {other[0]}"
    random = {"Bernoulli", "RandomUniformLike", "RandomNormalLike"}
    if any(
        node.op in random or (node.op == "Dropout" and len(node.inputs) == 3)
        for node in _nodes(graph)
    ):
        return _RANDOM
    return ""


def _nodes(graph: format_.Graph) -> Iterator[format_.Node]:
    for node in graph.nodes:
        yield node
        for attribute in node.attributes.values():
            if isinstance(attribute, format_.Graph):
                yield from _nodes(attribute)


def _dtypes(kind: Any) -> set[str]:
    if isinstance(kind, (format_.SequenceType, format_.OptionalType)):
        return _dtypes(kind.element)
    return {kind.dtype} if kind is not None else set()


# -- running -----------------------------------------------------------------------------------


def outcome(case: Case) -> Outcome:
    """Run a case."""
    model = read_onnx(case.model, case.name)
    reason = reason_against(model)
    if reason == _RANDOM:
        return Outcome(case.name, "not applicable", reason)
    try:
        _check(case)
    except Exception as error:
        message = " ".join(str(error).split())
        label = DEVIATIONS.get(case.name, f"{type(error).__name__}: {message}")
        return Outcome(case.name, "not applicable" if reason else "failed", reason or label)
    return Outcome(case.name, "passed", reason)


def _check(case: Case) -> None:
    model = wt.load_onnx(case.model)
    for inputs, outputs in case.data:
        feeds = {name: fed(value) for name, value in zip(model.input_names, inputs, strict=False)}
        for _ in range(2):  # the second run computes with fewer nodes
            results = model.execute(feeds, model.output_names)
            for name, result, expected in zip(model.output_names, results, outputs, strict=True):
                compared(name, result, expected, case)


def fed(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)):
        return [fed(item) for item in value]
    if value is None:
        return None
    return wt.tensor(_held(np.asarray(value)))


def _held(value: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the dtype that tensors have for it."""
    if value.dtype.kind in "iu":
        return np.clip(value, -(2**31), 2**31 - 1).astype(np.int32)
    if value.dtype.kind in "OUS":
        return value.astype(str)
    if value.dtype.kind in "bc":
        return value
    return value.astype(np.float32)


def compared(name: str, result: Any, expected: Any, case: Case) -> None:
    """Compare an output with the expected one, within the tolerances of the case."""
    if isinstance(expected, onnx.TensorProto):
        expected = onnx.numpy_helper.to_array(expected)
    if isinstance(expected, (list, tuple)):
        assert isinstance(result, list), f"{name} is no sequence"
        assert len(result) == len(expected), f"{name} has {len(result)} elements"
        for item, expected_array in zip(result, expected, strict=True):
            compared(name, item, expected_array, case)
        return
    stored = np.asarray(expected)
    expected_array = _held(stored)
    actual = result.numpy()
    assert actual.shape == expected_array.shape, (
        f"{name} has shape {actual.shape}, not {expected_array.shape}"
    )
    if expected_array.dtype.kind == "U":
        assert actual.tolist() == expected_array.tolist(), (
            f"{name} has {actual}, not {expected_array}"
        )
        return
    assert actual.dtype == expected_array.dtype, (
        f"{name} has dtype {actual.dtype}, not {expected_array.dtype}"
    )
    relative = max(case.relative, _BFLOAT16) if stored.dtype.name == "bfloat16" else case.relative
    np.testing.assert_allclose(actual, expected_array, relative, case.absolute, err_msg=name)


def outcomes(cases: Sequence[Case]) -> list[Outcome]:
    """Run cases."""
    return [outcome(case) for case in cases]


def tested_operator(case: Case) -> str:
    """Return the operator that a case is about, or the kind of files that it belongs to."""
    group, _, name = case.name.rpartition("/")
    if group:
        return f"files of {group}"
    return _operators()[name.partition("_expanded")[0]]


@cache
def _operators() -> dict[str, str]:
    """Return the operators of cases that are no expanded ones."""
    return {
        case.name: _operator(read_onnx(case.model, case.name).graph.nodes)
        for case in node_cases()
        if "_expanded" not in case.name
    }


def _operator(nodes: Sequence[format_.Node]) -> str:
    """Return the operator of the last node, which those before it prepare."""
    node = nodes[-1]
    return ".".join(filter(None, (node.domain, node.op)))
