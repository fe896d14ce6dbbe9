"""What Keras makes of images and boxes; run as a script, it writes that to a file.

Keras computes with NumPy there: JAX would compile all that it does for each shape.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

Config = dict[str, Any]

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (2, 6, 8, 3)).astype("float32")
IMAGES[0, :2, :2] = 128.0  # greys
IMAGES[1, ..., 2] = 50.0  # a channel of one value
LABELS = np.eye(2, dtype="float32")
BOXES = np.array([[[1, 1, 4, 3], [5, 0, 8, 6]], [[0, 2, 3, 5], [-1, -1, -1, -1]]], dtype="float32")
NUMBERS = np.array([[1, 2], [3, 4]], dtype="int32")
BYTES = (0, 255)
UNIT = (0, 1)

WARPS: list[tuple[str, Config]] = [
    ("RandomRotation", {"factor": 0.3}),
    ("RandomTranslation", {"height_factor": 0.4, "width_factor": (0.1, 0.3)}),
    ("RandomZoom", {"height_factor": 0.4}),
    ("RandomZoom", {"height_factor": (-0.5, -0.2), "width_factor": (0.2, 0.8)}),
]
#: Layers, and what values the images have.
LAYERS: list[tuple[str, Config, tuple[float, float]]] = [
    ("RandomInvert", {"factor": 0.9}, BYTES),
    ("RandomInvert", {"value_range": (0, 1)}, UNIT),
    ("RandomPosterization", {"factor": 5}, BYTES),
    ("RandomPosterization", {"factor": (3, 3), "value_range": [1, 0]}, UNIT),
    ("Solarization", {"addition_factor": 0.3, "threshold_factor": (0.2, 0.8)}, BYTES),
    ("Solarization", {"addition_factor": (0.1, 0.5), "value_range": (0, 1)}, UNIT),
    ("RandomGrayscale", {"factor": 0.5}, BYTES),
    ("RandomColorDegeneration", {"factor": 0.7}, BYTES),
    ("RandomColorDegeneration", {"factor": (0.2, 0.9), "value_range": (0, 1)}, UNIT),
    ("RandomSaturation", {"factor": 0.8}, UNIT),
    ("RandomSaturation", {"factor": (0.1, 0.9), "value_range": (0, 1)}, UNIT),
    ("RandomHue", {"factor": 1.0}, BYTES),
    ("RandomHue", {"factor": (0.1, 0.6), "value_range": (0, 1)}, UNIT),
    ("RandomSharpness", {"factor": 1.0}, BYTES),
    ("RandomSharpness", {"factor": (0.1, 0.9), "value_range": (0, 1)}, UNIT),
    ("RandomGaussianBlur", {}, BYTES),
    ("RandomGaussianBlur", {"factor": (1, 1), "kernel_size": (5, 3), "sigma": (0.4, 1)}, BYTES),
    ("RandomErasing", {"scale": (0.2, 0.9)}, BYTES),
    ("RandomErasing", {"factor": (1, 1), "fill_value": 3.0, "scale": 0.9}, BYTES),
    ("CutMix", {}, BYTES),
    ("CutMix", {"factor": (0.2, 0.4)}, BYTES),
    ("MixUp", {"alpha": 0.6}, BYTES),
    ("RandomPerspective", {"scale": 0.6}, BYTES),
    ("RandomPerspective", {"factor": (1, 1), "interpolation": "nearest", "fill_value": 7}, BYTES),
    ("RandomShear", {"x_factor": 0.4, "y_factor": (0.1, 0.3)}, BYTES),
    ("RandomShear", {"x_factor": 1.0, "fill_mode": "constant", "fill_value": 3.0}, BYTES),
    *(
        ("RandomFlip", {"mode": mode}, BYTES)
        for mode in ("horizontal", "vertical", "horizontal_and_vertical")
    ),
    *(
        (name, {**config, "fill_mode": mode, "interpolation": pixels, "fill_value": 7.0}, BYTES)
        for name, config in WARPS
        for mode in ("reflect", "constant", "nearest", "wrap")
        for pixels in ("bilinear", "nearest")
    ),
    ("RandomContrast", {"factor": 0.5}, BYTES),
    ("RandomContrast", {"factor": (0.5, 0.9), "value_range": (50, 200)}, BYTES),
    ("RandomBrightness", {"factor": 0.5}, BYTES),
    ("RandomBrightness", {"factor": (-0.5, -0.1), "value_range": (50, 200)}, BYTES),
    ("AutoContrast", {}, BYTES),
    ("AutoContrast", {"value_range": [0, 1]}, UNIT),
    ("Equalization", {}, BYTES),
    ("Equalization", {"bins": 16, "value_range": (0, 1)}, UNIT),
    ("ContrastLimitedAdaptiveHistogramEqualization", {"tile_grid_size": (2, 3)}, BYTES),
    (
        "ContrastLimitedAdaptiveHistogramEqualization",
        {"clip_limit": 0, "tile_grid_size": (4, 3), "value_range": (0, 1)},
        UNIT,
    ),
    ("RandAugment", {"num_ops": 3}, BYTES),
    ("AugMix", {"factor": 0.6}, BYTES),
    ("AugMix", {"all_ops": False, "num_chains": 2, "alpha": 0.7}, BYTES),
]
#: Layers that move boxes.
MOVING: list[tuple[str, Config]] = [
    ("CenterCrop", {"height": 4, "width": 5, "bounding_box_format": "xywh"}),
    ("CenterCrop", {"height": 9, "width": 4, "bounding_box_format": "rel_yxyx"}),
    *(
        ("Resizing", {"height": 12, "width": 9, "bounding_box_format": "xyxy", **more})
        for more in ({}, {"crop_to_aspect_ratio": True}, {"pad_to_aspect_ratio": True})
    ),
    *(
        ("RandomFlip", {"mode": mode, "bounding_box_format": format})
        for mode, format in (("horizontal", "xyxy"), ("horizontal_and_vertical", "center_xywh"))
    ),
    ("RandomRotation", {"factor": 0.2, "bounding_box_format": "xyxy"}),
    (
        "RandomTranslation",
        {"height_factor": 0.3, "width_factor": 0.4, "bounding_box_format": "rel_xyxy"},
    ),
    (
        "RandomZoom",
        {"height_factor": 0.3, "width_factor": (-0.4, -0.2), "bounding_box_format": "yxyx"},
    ),
    ("RandomShear", {"x_factor": 0.3, "y_factor": 0.2, "bounding_box_format": "xyxy"}),
    ("RandomPerspective", {"scale": 0.5, "factor": (1, 1), "bounding_box_format": "xyxy"}),
    ("RandomBrightness", {"factor": 0.3, "bounding_box_format": "xyxy"}),
    ("MaxNumBoundingBoxes", {"max_number": 1, "bounding_box_format": "xyxy"}),
    ("MaxNumBoundingBoxes", {"max_number": 4, "fill_value": 7, "bounding_box_format": "xyxy"}),
]
FORMATS = (
    *("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw"),
    *("rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh"),
)
SIZE = {"height": 6, "width": 8}
IMAGE = {"image_shape": (6, 8, 3)}
TURNS = [np.array([low, high], "float32") for low, high in ((30, -70), (0.1, 0), (0, 0.2))]
LEANS = [np.array([low, high], "float32") for low, high in ((1.5, 0.5), (10, 0), (-5, 20))]
#: Functions of boxes, and what they are called with.
FUNCTIONS: list[tuple[str, tuple[Any, ...], Config]] = [
    *(
        ("convert_format", (BOXES, source, target), SIZE)
        for source in FORMATS
        for target in FORMATS
    ),
    ("clip_to_image_size", ({"boxes": BOXES * 2 - 3, "labels": NUMBERS},), SIZE),
    (
        "clip_to_image_size",
        ({"boxes": BOXES - 1, "labels": NUMBERS},),
        {"bounding_box_format": "rel_xyxy"},
    ),
    ("crop", (BOXES, 1, 2, 3, 4), {}),
    ("pad", (BOXES, 1, 2), {}),
    ("affine_transform", (BOXES, *TURNS, *LEANS, 6, 8), {}),
    ("affine_transform", (BOXES, *TURNS, *LEANS, 6, 8), {"center_x": 0.2, "center_y": 0.7}),
    *(
        ("compute_iou", (first, second, "xyxy"), {"use_masking": masked, "mask_val": -2})
        for first, second, masked in (
            (BOXES[0], BOXES[1], True),
            (BOXES, BOXES - 1, True),
            (BOXES, BOXES[0], False),
            (BOXES[1], BOXES, False),
        )
    ),
    ("compute_iou", (BOXES / 8, BOXES / 9, "rel_yxyx"), IMAGE),
    ("compute_ciou", (BOXES[0], BOXES[0] * 1.5 - 1, "center_xywh"), {}),
    ("encode_box_to_deltas", (BOXES[0], BOXES[0] + 1, "xyxy", "xywh"), {"variance": [0.1] * 4}),
    ("decode_deltas_to_boxes", (BOXES[0], BOXES / 9, "xyxy", "rel_xyxy"), IMAGE),
    (
        "decode_deltas_to_boxes",
        ({"a": BOXES[0]}, {"a": BOXES / 9}, "xyxy", "xyxy"),
        {"encoded_format": "center_xywh", "variance": [0.1, 0.1, 0.2, 0.2]},
    ),
]


def of_values(bounds: tuple[float, float], data_format: str = "channels_last") -> Any:
    """The images with other values."""
    low, high = bounds
    x = (IMAGES / 255 * (high - low) + low).astype("float32")
    return x if data_format == "channels_last" else np.moveaxis(x, -1, 1)


def in_format(boxes: Any, bounding_box_format: str, convert: Any) -> Any:
    """The boxes and their labels."""
    converted = convert(boxes, "xyxy", bounding_box_format, **SIZE)
    return {"boxes": np.asarray(converted), "labels": NUMBERS}


def copied(value: Any) -> Any:
    """Arguments that may be changed."""
    return dict(value) if isinstance(value, dict) else value


def changed(layer: Any, x: Any, drawn: Any) -> Any:
    """What a layer makes of images."""
    if type(layer).__name__ != "RandAugment":
        return layer.transform_images(x.copy(), drawn)
    # It calls all of its layers, one of which adds to what they share where that is an array.
    parts = list(drawn["transforms"].items())
    for index in drawn["layer_idxes"].tolist():
        name, own = parts[index]
        x = getattr(layer, name).transform_images(x.copy(), own)
    return x


def results() -> dict[str, list[Any]]:
    """Compute all by Keras."""
    import keras

    keras.utils.set_random_seed(3)
    recorded: dict[str, list[Any]] = {"layers": [], "boxes": [], "functions": []}
    for name, config, bounds in LAYERS:
        for data_format in ("channels_last", "channels_first"):
            layer = getattr(keras.layers, name)(**config, data_format=data_format)
            x = of_values(bounds, data_format)
            drawn = layer.get_random_transformation(x)
            labels = LABELS if "Limited" in name else layer.transform_labels(LABELS, drawn)
            recorded["layers"].append((drawn, changed(layer, x, drawn), labels))
    boxes = keras.utils.bounding_boxes
    for name, config in MOVING:
        layer = getattr(keras.layers, name)(**config)
        drawn = layer.get_random_transformation(IMAGES)
        boxes_in_format = in_format(BOXES, config["bounding_box_format"], boxes.convert_format)
        recorded["boxes"].append((drawn, layer.transform_bounding_boxes(boxes_in_format, drawn)))
    for name, args, options in FUNCTIONS:
        result = getattr(boxes, name)(*map(copied, args), **options)
        recorded["functions"].append(result)
    return recorded


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(pickle.dumps(results()))
