"""Networks for images in their published sizes; their weights are random numbers.

MobileNet v1 (Howard et al., 2017) and v2 (Sandler et al., 2018), PoseNet and BodyPix as
TensorFlow.js's models have them on MobileNet v1, and MediaPipe's BlazeFace and FaceMesh.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests_browser.bench.network import Model, Sketch

__all__ = ["MODELS", "V1_PAIRS"]

#: Channels after each pair of convolutions of MobileNet v1, and the stride of the first of the two.
V1_PAIRS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)
#: Of MobileNet v2: the factor by which channels expand, channels, blocks, the first block's stride.
V2_GROUPS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
#: Channels for each place of the grid, of which scores pass through a sigmoid.
POSENET_HEADS = (
    (17, "sigmoid"),  # heatmaps of the keypoints
    (34, "linear"),  # offsets from the grid to the keypoints
    (32, "linear"),  # displacements to the next keypoint of the skeleton
    (32, "linear"),  # displacements to the previous one
)
BODYPIX_HEADS = (
    *POSENET_HEADS,
    (34, "linear"),  # long offsets
    (1, "sigmoid"),  # segmentation
    (24, "sigmoid"),  # heatmaps of the body's parts
    (48, "linear"),  # offsets of the parts
)
#: Channels after each block, and its stride.
BLAZEFACE_FINE = (
    *((24, 1), (28, 1), (32, 2), (36, 1), (42, 1), (48, 2)),
    *((56, 1), (64, 1), (72, 1), (80, 1), (88, 1)),
)
BLAZEFACE_COARSE = ((96, 2), *[(96, 1)] * 4)
#: Each anchor has a score, a box and six keypoints.
BLAZEFACE_SCORES, BLAZEFACE_PLACES = 1, 16
FACEMESH_FEATURES = (
    *[(16, 1)] * 2,
    *((32, 2), (32, 1), (32, 1)),
    *((64, 2), (64, 1), (64, 1)),
    *((128, 2), (128, 1), (128, 1)),
    *((128, 2), (128, 1), (128, 1)),
)
#: The blocks before each head, and its channels: 468 points in space, and whether there is a face.
FACEMESH_HEADS = ((((128, 2), (128, 1), (128, 1)), 3 * 468), (((128, 2),), 1))


def _mobilenet_v1_features(sketch: Sketch, alpha: float, output_stride: int) -> int:
    """Draw MobileNet v1 up to its mean; once `output_stride` is reached, layers are dilated."""
    reached, dilation = 2, 1
    x = sketch.conv2d(0, int(32 * alpha), "relu6", size=3, stride=2)
    for channels, stride in V1_PAIRS:
        if reached < output_stride:
            x = sketch.depthwise_conv2d(x, "relu6", stride)
            reached *= stride
        else:
            x = sketch.depthwise_conv2d(x, "relu6", dilation=dilation)
            dilation *= stride
        x = sketch.conv2d(x, int(channels * alpha), "relu6")
    return x


def _mobilenet_v1() -> Model:
    sketch = Sketch(224)
    x = _mobilenet_v1_features(sketch, 1.0, 32)
    x = sketch.dense(sketch.mean(x), 1000)
    return sketch.model("mobilenet_v1", "224×224 alpha 1.0", [x])


def _mobilenet_v2() -> Model:
    sketch = Sketch(224)
    x = sketch.conv2d(0, 32, "relu6", size=3, stride=2)
    for expansion, channels, blocks, first_stride in V2_GROUPS:
        for block in range(blocks):
            start = x
            if expansion > 1:
                x = sketch.conv2d(x, expansion * sketch.channels(x), "relu6")
            x = sketch.depthwise_conv2d(x, "relu6", 1 if block else first_stride)
            x = sketch.conv2d(x, channels)
            if block:
                x = sketch.add(x, start)
    x = sketch.conv2d(x, 1280, "relu6")
    x = sketch.dense(sketch.mean(x), 1000)
    return sketch.model("mobilenet_v2", "224×224 alpha 1.0", [x])


def _on_mobilenet_v1(name: str, heads: Iterable[tuple[int, str]]) -> Model:
    sketch = Sketch(257)
    x = _mobilenet_v1_features(sketch, 0.75, 16)
    outputs = [sketch.conv2d(x, *head) for head in heads]
    return sketch.model(name, "257×257 alpha 0.75 stride 16", outputs)


def _blaze_blocks(
    sketch: Sketch, x: int, blocks: Iterable[tuple[int, int]], activation: str
) -> int:
    """Draw pairs of convolutions; what they start from is added, pooled and padded to fit."""
    for channels, stride in blocks:
        start = x
        x = sketch.conv2d(sketch.depthwise_conv2d(x, stride=stride), channels)
        if stride == 2:
            start = sketch.max_pool(start)
        if more := channels - sketch.channels(start):
            start = sketch.pad_channels(start, more)
        x = sketch.add(x, start, activation)
    return x


def _blazeface() -> Model:
    sketch = Sketch(128)
    x = sketch.conv2d(0, 24, "relu", size=5, stride=2)
    fine = _blaze_blocks(sketch, x, BLAZEFACE_FINE, "relu")
    coarse = _blaze_blocks(sketch, fine, BLAZEFACE_COARSE, "relu")
    outputs = [
        sketch.conv2d(x, anchors * numbers)
        for numbers in (BLAZEFACE_SCORES, BLAZEFACE_PLACES)
        for x, anchors in ((fine, 2), (coarse, 6))
    ]
    return sketch.model("blazeface", "128×128", outputs)


def _facemesh() -> Model:
    sketch = Sketch(192)
    x = sketch.conv2d(0, 16, "prelu", size=3, stride=2)
    features = _blaze_blocks(sketch, x, FACEMESH_FEATURES, "prelu")
    outputs = []
    for blocks, numbers in FACEMESH_HEADS:
        x = _blaze_blocks(sketch, features, blocks, "prelu")
        x = sketch.conv2d(x, 32, "prelu")
        x = _blaze_blocks(sketch, x, [(32, 1)], "prelu")
        outputs.append(sketch.conv2d_of_all(x, numbers))
    return sketch.model("facemesh", "192×192", outputs)


MODELS = {
    model.name: model
    for model in (
        _mobilenet_v1(),
        _mobilenet_v2(),
        _on_mobilenet_v1("posenet", POSENET_HEADS),
        _on_mobilenet_v1("bodypix", BODYPIX_HEADS),
        _blazeface(),
        _facemesh(),
    )
}
