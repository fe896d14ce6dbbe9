"""Functions of images."""

from __future__ import annotations

import webtensor as wt
from tests_browser.bench.workload import ONLY_WASM, Input, Workload

__all__ = ["IMAGES"]

PHOTOS = Input((2, 256, 256, 3), 0.0, 1.0)
PHOTO = Input((256, 256, 3), 0, 255, "int32")
BOX = Input((16, 4), 0.0, 1.0)

IMAGES = [
    Workload(
        "image.resize_bilinear",
        lambda x: wt.image.resize_bilinear(x, (400, 400)),
        "tf.image.resizeBilinear(x, [400, 400])",
        {"x": PHOTOS},
    ),
    Workload(
        "image.resize_nearest_neighbor",
        lambda x: wt.image.resize_nearest_neighbor(x, (400, 400)),
        "tf.image.resizeNearestNeighbor(x, [400, 400])",
        {"x": PHOTOS},
    ),
    Workload(
        "image.crop_and_resize",
        lambda x, boxes, box_indices: wt.image.crop_and_resize(x, boxes, box_indices, (128, 128)),
        "tf.image.cropAndResize(x, boxes, box_indices, [128, 128])",
        {"x": PHOTOS, "boxes": BOX, "box_indices": Input((16,), 0, 2, "int32")},
        peers=ONLY_WASM,  # on WebGL, theirs gives other pixels than on their CPU
    ),
    Workload(
        "image.transform",
        lambda x, by: wt.image.transform(x, by, "bilinear"),
        "tf.image.transform(x, by, 'bilinear')",
        {"x": PHOTOS, "by": Input((2, 8), 0.0, 0.001)},
        tolerance=1e-3,
    ),
    Workload(
        "image.rotate_with_offset",
        lambda x: wt.image.rotate_with_offset(x, 0.5),
        "tf.image.rotateWithOffset(x, 0.5)",
        {"x": PHOTOS},
        # Which of two neighbours is nearer depends on how the angle's sine is rounded.
        compares_means=True,
        tolerance=1e-3,
    ),
    Workload(
        "image.flip_left_right",
        wt.image.flip_left_right,
        "tf.image.flipLeftRight(x)",
        {"x": PHOTOS},
    ),
    Workload(
        "image.threshold",
        lambda x: wt.image.threshold(x, thresh_value=0.4),
        "tf.image.threshold(x, 'binary', false, 0.4)",
        {"x": PHOTO},
    ),
    Workload(
        "image.non_max_suppression",
        lambda corner, size, scores: wt.image.non_max_suppression(
            wt.concat((corner, corner + size), 1), scores, 100
        ),
        "tf.tidy(() => tf.image.nonMaxSuppression("
        "tf.concat([corner, tf.add(corner, size)], 1), scores, 100))",
        {
            "corner": Input((1000, 2), 0.0, 1.0),
            "size": Input((1000, 2), 0.05, 0.2),
            "scores": Input((1000,), 0.0, 1.0),
        },
    ),
]
