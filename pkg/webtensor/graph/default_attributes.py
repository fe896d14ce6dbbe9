"""Attributes that a SavedModel leaves out because they have TensorFlow's default.

TensorFlow.js, and this library as it does the same, want them, or have another default. The rows
are facts about TensorFlow's operations, with which a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from webtensor.formats.graph_def import AttributeValue, ElementType
from webtensor.graph.nodes import Node

__all__ = ["DEFAULTS", "Defaults", "with_defaults"]

#: Attributes for the name of each operation.
Defaults: TypeAlias = Mapping[str, Mapping[str, AttributeValue]]

_NORMALIZATION: Mapping[str, AttributeValue] = {"epsilon": 1e-4, "is_training": True}
_IMAGES: Mapping[str, AttributeValue] = {"align_corners": False, "half_pixel_centers": False}
_KEEPS_DIMENSIONS: Mapping[str, AttributeValue] = {"keep_dims": False}
_SCAN: Mapping[str, AttributeValue] = {"exclusive": False, "reverse": False}

DEFAULTS: Defaults = {
    "Conv2D": {"dilations": [1, 1, 1, 1]},
    "Conv2DBackpropInput": {"dilations": [1, 1, 1, 1]},
    "Conv3D": {"data_format": "NDHWC", "dilations": [1, 1, 1, 1, 1]},
    "CropAndResize": {"extrapolation_value": 0.0, "method": "bilinear"},
    "DenseBincount": {"binary_output": False},
    "DepthToSpace": {"data_format": "NHWC"},
    "DepthwiseConv2dNative": {"dilations": [1, 1, 1, 1]},
    "Enter": {"is_constant": False},
    "ImageProjectiveTransformV3": {"fill_mode": "CONSTANT"},
    "MaxPoolWithArgmax": {"include_batch_in_index": False},
    "Multinomial": {"output_dtype": ElementType("int64"), "seed": 0, "seed2": 0},
    "NonMaxSuppressionV4": {"pad_to_max_output_size": False},
    "NonMaxSuppressionV5": {"pad_to_max_output_size": False},
    "OneHot": {"axis": -1},
    "Range": {"Tidx": ElementType("int32")},
    "StaticRegexReplace": {"replace_global": True},
    "StringSplit": {"skip_empty": True},
    "TensorArrayV3": {
        "clear_after_read": True,
        "dynamic_size": False,
        "element_shape": None,
        "identical_element_shapes": False,
        "tensor_array_name": "",
    },
    "TensorArrayGatherV3": {"element_shape": None},
    "TensorListStack": {"num_elements": -1},
    "TopKV2": {"sorted": True},
    "TruncatedNormal": {"seed": 0},
    **dict.fromkeys(
        ("FusedBatchNorm", "FusedBatchNormGradV3", "FusedBatchNormV2", "FusedBatchNormV3"),
        _NORMALIZATION,
    ),
    **dict.fromkeys(("ResizeBilinear", "ResizeNearestNeighbor"), _IMAGES),
    **dict.fromkeys(("All", "Any", "Max", "Mean", "Min", "Prod", "Sum"), _KEEPS_DIMENSIONS),
    **dict.fromkeys(("Cumprod", "Cumsum"), _SCAN),
}


def with_defaults(node: Node, defaults: Defaults) -> Node:
    """Return a node with the attributes that it has by default.

    Example:
        >>> with_defaults(Node("y", "TopKV2", (), (), {}), DEFAULTS).attributes
        {'sorted': True}
    """
    missing = defaults.get(node.op)
    if missing is None:
        return node
    return node._replace(attributes={**missing, **node.attributes})
