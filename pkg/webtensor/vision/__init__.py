"""Ready-made models for images: poses, faces, objects, masks, classes, and those of one's own.

``images`` reads what models take as an image, ``boxes`` has what they compute with rectangles, and
``results`` what they return. Each model has a module of its own; ``model`` has what they share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

__all__ = [
    "COCO_KEYPOINTS",
    "COCO_LABELS",
    "FACE_CONTOURS",
    "FINGERS",
    "HAND_KEYPOINTS",
    "SKELETON",
    "BlazeFace",
    "Box",
    "CenterNet",
    "Classification",
    "CocoSSD",
    "DetectedObject",
    "Face",
    "FaceMesh",
    "FeatureExtractor",
    "Hand",
    "HandPose",
    "IrisModel",
    "KNNClassifier",
    "KNNPrediction",
    "Keypoint",
    "Keypoint3D",
    "MeshFace",
    "MobileNet",
    "MoveNet",
    "NanoDet",
    "ObjectDetector",
    "PalmDetector",
    "PersonSegmenter",
    "Pose",
    "PoseNet",
    "Segmentation",
    "TransferClassifier",
    "blur_background",
    "boxes",
    "finger_curls",
    "finger_directions",
    "read_image",
    "read_image_async",
    "recognize_gesture",
    "replace_background",
]

if TYPE_CHECKING:
    from webtensor.vision import boxes as boxes
    from webtensor.vision.blazeface import BlazeFace
    from webtensor.vision.detection import CenterNet, CocoSSD, NanoDet, ObjectDetector
    from webtensor.vision.facemesh import FACE_CONTOURS, FaceMesh, IrisModel
    from webtensor.vision.gestures import (
        FINGERS,
        finger_curls,
        finger_directions,
        recognize_gesture,
    )
    from webtensor.vision.hands import HAND_KEYPOINTS, HandPose, PalmDetector
    from webtensor.vision.images import read_image, read_image_async
    from webtensor.vision.knn import KNNClassifier, KNNPrediction
    from webtensor.vision.labels import COCO_LABELS
    from webtensor.vision.mobilenet import MobileNet
    from webtensor.vision.movenet import MoveNet
    from webtensor.vision.posenet import PoseNet
    from webtensor.vision.results import (
        COCO_KEYPOINTS,
        SKELETON,
        Box,
        Classification,
        DetectedObject,
        Face,
        Hand,
        Keypoint,
        Keypoint3D,
        MeshFace,
        Pose,
    )
    from webtensor.vision.segmentation import (
        PersonSegmenter,
        Segmentation,
        blur_background,
        replace_background,
    )
    from webtensor.vision.transfer import FeatureExtractor, TransferClassifier
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents(
            """
            blazeface: BlazeFace
            detection: CenterNet CocoSSD NanoDet ObjectDetector
            facemesh: FACE_CONTOURS FaceMesh IrisModel
            gestures: FINGERS finger_curls finger_directions recognize_gesture
            hands: HAND_KEYPOINTS HandPose PalmDetector
            images: read_image read_image_async
            knn: KNNClassifier KNNPrediction
            labels: COCO_LABELS
            mobilenet: MobileNet
            movenet: MoveNet
            posenet: PoseNet
            results: COCO_KEYPOINTS SKELETON Box Classification DetectedObject Face Hand Keypoint
                Keypoint3D MeshFace Pose
            segmentation: PersonSegmenter Segmentation blur_background replace_background
            transfer: FeatureExtractor TransferClassifier
            """
        ),
        "boxes",
    )
