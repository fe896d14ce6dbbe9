"""Ready-made models: poses, faces, objects, and classifiers that learn from a few examples.

``images`` reads what models take as an image, ``boxes`` has what they compute with rectangles, and
``results`` what they return. Each model has a module of its own; ``model`` has what they share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

__all__ = [
    "COCO_KEYPOINTS",
    "SKELETON",
    "BlazeFace",
    "Box",
    "DetectedObject",
    "Face",
    "KNNClassifier",
    "KNNPrediction",
    "Keypoint",
    "MoveNet",
    "Pose",
    "PoseNet",
    "boxes",
    "read_image",
    "read_image_async",
]

if TYPE_CHECKING:
    from webtensor.vision import boxes as boxes
    from webtensor.vision.blazeface import BlazeFace
    from webtensor.vision.images import read_image, read_image_async
    from webtensor.vision.knn import KNNClassifier, KNNPrediction
    from webtensor.vision.movenet import MoveNet
    from webtensor.vision.posenet import PoseNet
    from webtensor.vision.results import (
        COCO_KEYPOINTS,
        SKELETON,
        Box,
        DetectedObject,
        Face,
        Keypoint,
        Pose,
    )
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents(
            """
            blazeface: BlazeFace
            images: read_image read_image_async
            knn: KNNClassifier KNNPrediction
            movenet: MoveNet
            posenet: PoseNet
            results: COCO_KEYPOINTS SKELETON Box DetectedObject Face Keypoint Pose
            """
        ),
        "boxes",
    )
