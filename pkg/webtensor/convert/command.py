"""The command ``webtensor``: ``webtensor convert SOURCE TARGET``.

It needs nothing but Python's own ``argparse``, so that it works wherever webtensor is installed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from webtensor.convert.conversion import convert_model
from webtensor.convert.input_formats import INPUT_FORMATS
from webtensor.convert.output_formats import OUTPUT_FORMATS
from webtensor.convert.progress import ProgressLine
from webtensor.formats.model_json import SHARD_BYTES
from webtensor.formats.weights_manifest import QUANTIZED_DTYPES
from webtensor.version import __version__

__all__ = ["main"]

_EXAMPLES = """\
examples:
  webtensor convert saved_model/ web/
      a SavedModel of TensorFlow or of model.export() becomes model.json and files of weights
  webtensor convert saved_model/ web/ --quantize uint8
      all weights in a quarter of the bytes
  webtensor convert saved_model/ web/ --quantize "float16=*/kernel" --quantize uint8
      weights whose names fit a pattern
  webtensor convert frozen.pb web/ --outputs scores,boxes
      a frozen graph, up to two of its tensors
  webtensor convert model.keras web/
      a model of Keras becomes a layers-model
  webtensor convert model.keras web/ --output-format tfjs_graph_model
      or a graph-model
  webtensor convert model.onnx web/
      an ONNX model becomes a graph-model
  webtensor convert model.onnx web/ --input-shape x=1,512 --input-shape state=2,1,128
      for inputs of these shapes only
  webtensor convert web/model.json model.keras
      and a layers-model one of Keras

formats that are read:
{inputs}

formats that are written:
{outputs}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status.

    Args:
        arguments: those of the command; None are those of the process.

    Example:
        >>> main(["convert", "no/such/model", "web"])
        1
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "source"):
        parser.print_help()
        return 2
    with ProgressLine(sys.stderr, is_shown=not options.quiet) as progress:
        try:
            report = _convert(options, progress)
        except (OSError, ValueError) as error:
            progress.clear()
            sys.stderr.write(f"webtensor convert: {error}\n")
            return 1
    if not options.quiet:
        sys.stdout.write(f"{report}\n")
    return 0


def _convert(options: argparse.Namespace, progress: ProgressLine) -> object:
    return convert_model(
        options.source,
        options.target,
        input_format=options.input_format,
        output_format=options.output_format,
        tags=options.tags,
        signature=options.signature,
        inputs=options.inputs,
        outputs=options.outputs,
        input_shapes=dict(options.input_shape),
        quantization=_patterns(options.quantize),
        shard_bytes=options.shard_bytes,
        strip_debug=options.strip_debug,
        skip_operation_check=options.skip_operation_check,
        metadata=None if options.metadata is None else _metadata(options.metadata),
        overwrite=options.overwrite,
        on_step=progress.step,
    )


def _patterns(options: Sequence[str]) -> dict[str, list[str] | bool]:
    """Return the patterns of weights by the dtype in which these are stored, or True for others."""
    patterns: dict[str, list[str] | bool] = {}
    for text in options:
        dtype, separator, pattern = text.partition("=")
        earlier = patterns.get(dtype, [])
        patterns[dtype] = [*earlier, pattern] if separator and isinstance(earlier, list) else True
    return patterns


def _metadata(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_text("utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{path} must have a JSON object, with keys and values")
    return value


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _input_shape(text: str) -> tuple[str, tuple[int | None, ...]]:
    """Return the name and the shape of an input, such as of "x=1,?,3"."""
    name, separator, sizes = text.rpartition("=")
    try:
        if not (name and separator):
            raise ValueError(text)
        return name, tuple(None if size == "?" else int(size) for size in _names(sizes))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a name and sizes, such as x=1,512; a size of ? stays unknown"
        ) from None


def _size(text: str) -> int:
    """Return a number of bytes, such as of "4194304", "512K" or "4M"."""
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    unit = units.get(text[-1:].lower(), 1)
    size = int(text[:-1] if unit > 1 else text) * unit
    if size < 1:
        raise ValueError(text)
    return size


#: The arguments of ``webtensor convert``, in the order of its help.
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "source": {"metavar": "SOURCE", "type": Path, "help": "the model, a file or a folder"},
    "target": {
        "metavar": "TARGET",
        "type": Path,
        "help": "the folder, or the .keras or .h5 file to write",
    },
    "--input-format": {
        "metavar": "FORMAT",
        "choices": [row.name for row in INPUT_FORMATS],
        "help": "what SOURCE is, where its files do not tell",
    },
    "--output-format": {
        "metavar": "FORMAT",
        "choices": [row.name for row in OUTPUT_FORMATS],
        "help": "what TARGET becomes, by default what fits SOURCE",
    },
    "--tags": {
        "metavar": "TAG,…",
        "type": _names,
        "help": "the tags of the graph in a SavedModel",
    },
    "--signature": {
        "metavar": "KEY",
        "help": "the signature of a SavedModel (serving_default)",
    },
    "--inputs": {"metavar": "NAME,…", "type": _names, "help": "the inputs of a frozen graph"},
    "--outputs": {
        "metavar": "NAME,…",
        "type": _names,
        "help": "the outputs of a frozen graph, or some of an ONNX model",
    },
    "--input-shape": {
        "metavar": "NAME=SIZE,…",
        "type": _input_shape,
        "action": "append",
        "default": [],
        "help": "the shape of an input of an ONNX model, where ? stays unknown; may be given "
        "several times",
    },
    "--quantize": {
        "metavar": "DTYPE[=PATTERN]",
        "action": "append",
        "default": [],
        "help": f"store weights as {', '.join(QUANTIZED_DTYPES)}; may be given several times",
    },
    "--shard-bytes": {
        "metavar": "SIZE",
        "type": _size,
        "default": SHARD_BYTES,
        "help": "the largest size of a file of weights, such as 512K (4M)",
    },
    "--strip-debug": {
        "action": argparse.BooleanOptionalAction,
        "default": True,
        "help": "leave out operations that only print or check (yes)",
    },
    "--skip-operation-check": {
        "action": "store_true",
        "help": "keep operations that graph models do not have",
    },
    "--metadata": {
        "metavar": "FILE",
        "type": Path,
        "help": "a JSON object that is added to the model's metadata",
    },
    "--overwrite": {"action": "store_true", "help": "replace a model at TARGET"},
    "--quiet": {"action": "store_true", "help": "write errors only"},
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="webtensor", description="Tensors and models for Python in the browser."
    )
    parser.add_argument("--version", action="version", version=f"webtensor {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    convert = commands.add_parser(
        "convert",
        help="convert a model of TensorFlow, Keras, ONNX or TensorFlow.js",
        description="Convert a model. TensorFlow is not needed.",
        epilog=_EXAMPLES.format(inputs=_listed(INPUT_FORMATS), outputs=_listed(OUTPUT_FORMATS)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, keywords in _ARGUMENTS.items():
        convert.add_argument(name, **keywords)
    return parser


def _listed(rows: Sequence[Any]) -> str:
    return "\n".join(f"  {row.name:18} {row.description}" for row in rows)
