"""ONNX's backend node tests as graph-models: ``python -m tests_py.onnx_conversions`` counts them.

A graph has sizes and axes as constants. Many cases have them as inputs; these cases are converted
with all inputs but the first as constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import onnx

import webtensor as wt
from tests_py.onnx.backend_cases import (
    DEVIATIONS,
    NUMPY_DEVIATIONS,
    Case,
    compared,
    fed,
    node_cases,
    reason_against,
)
from webtensor.formats.onnx import read_onnx

__all__ = ["Conversion", "applicable", "conversion"]


class Conversion(NamedTuple):
    """What became of a case: "converted", "converted with constants" or "refused", and why."""

    name: str
    status: str
    reason: str = ""


def applicable() -> list[Case]:
    """Return the cases of dtypes that tensors have and without random numbers, which pass here."""
    return [
        case
        for case in node_cases()
        if case.name not in {**DEVIATIONS, **NUMPY_DEVIATIONS}
        and not reason_against(read_onnx(case.model, case.name))
    ]


def conversion(case: Case) -> Conversion:
    """Convert a case, and compare the outputs of the graph with those of the case.

    Raises:
        AssertionError: they differ.
    """
    with TemporaryDirectory() as folder:
        try:
            _convert(case, Path(folder))
            return Conversion(case.name, "converted")
        except wt.ModelFormatError as error:
            reason = str(error)
        for inputs, outputs in case.data:
            if len(inputs) < 2 or not all(
                isinstance(value, (np.generic, np.ndarray)) for value in inputs
            ):
                return Conversion(case.name, "refused", reason)
            fixed = case._replace(
                model=_with_constants(case.model, inputs[1:]), data=[(inputs[:1], outputs)]
            )
            try:
                _convert(fixed, Path(folder))
            except (wt.ModelFormatError, TypeError) as error:
                return Conversion(case.name, "refused", str(error))
        return Conversion(case.name, "converted with constants")


def _convert(case: Case, folder: Path) -> None:
    path = folder / f"{case.name}.onnx"
    path.write_bytes(case.model)
    report = wt.convert_model(path, folder / "web", overwrite=True)
    assert (report.input_format, report.output_format) == ("onnx", "tfjs_graph_model")
    model: Any = wt.load_graph_model(folder / "web")
    described = onnx.load_from_string(case.model).graph
    weights = {tensor.name for tensor in described.initializer}
    names = [value.name for value in described.input if value.name not in weights]
    outputs = [value.name for value in described.output]
    for inputs, expected in case.data:
        feeds = {name: fed(value) for name, value in zip(names, inputs, strict=False)}
        for name, result, expected_array in zip(
            outputs, model.execute(feeds, outputs), expected, strict=True
        ):
            compared(name, result, expected_array, case)
    model.dispose()


def _with_constants(model: bytes, values: Iterable[Any]) -> bytes:
    """Return a model with constants in the place of its inputs but the first."""
    proto = onnx.load_from_string(model)
    for described, value in zip([*proto.graph.input][1:], values, strict=False):
        proto.graph.initializer.append(
            onnx.numpy_helper.from_array(np.asarray(value), described.name)
        )
        proto.graph.input.remove(described)
    return proto.SerializeToString()


def main() -> None:
    """Print how many cases are converted, and why the others are not."""
    wt.set_backend("numpy")
    conversions = [conversion(case) for case in applicable()]
    for status, count in Counter(result.status for result in conversions).most_common():
        print(f"{count:5} {status}")
    for result in conversions:
        if result.status == "refused":
            print(f"{result.name}: {result.reason:.160}")


if __name__ == "__main__":
    main()
