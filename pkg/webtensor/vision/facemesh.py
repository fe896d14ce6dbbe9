"""FaceMesh (Kartynnik et al. 2019): a face as a mesh of 468 points, or of 478 with irises.

A detector finds faces. Each is cut out, turned so that the eyes are level, and seen by the model,
whose outputs are told apart by their sizes:

- 1: the probability that there is a face;
- 1404: (x, y, z) of the points of the mesh;
- with attention (Grishchenko et al. 2020) also 160, 142 twice and 10 twice: (x, y) of the points of
  the lips, of each eye and of each iris.

The iris model (Ablavatski et al. 2020) sees one eye, and returns (x, y, z) of the points of the eye
and of the iris, 228 numbers. All are in pixels of what the model sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, dist
from typing import TypeAlias

from webtensor.arguments import as_fraction, as_positive_integer
from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ops import concat, divide, expand_dims, flip, reshape
from webtensor.vision.blazeface import BlazeFace
from webtensor.vision.boxes import (
    Letterbox,
    Region,
    crop_region,
    letterbox,
    square_region,
    suppress,
)
from webtensor.vision.images import ImageLike, ImageSize, read_image, read_image_async, video_time
from webtensor.vision.model import Step, Steps, VisionModel, finish, finish_async
from webtensor.vision.results import (
    Box,
    Face,
    Keypoint3D,
    MeshFace,
    box_around,
    mirrored,
    mirrored_box,
)

__all__ = ["FACE_CONTOURS", "FaceMesh", "IrisModel"]

#: The points of the mesh that the attention model predicts again. Lips: the outer edge, the inner
#: edge, and two loops between; of each the lower half with both corners, then the upper half.
_LIPS = (
    *(61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291),
    *(185, 40, 39, 37, 0, 267, 269, 270, 409),
    *(78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308),
    *(191, 80, 81, 82, 13, 312, 311, 310, 415),
    *(76, 77, 90, 180, 85, 16, 315, 404, 320, 307, 306),
    *(184, 74, 73, 72, 11, 302, 303, 304, 408),
    *(62, 96, 89, 179, 86, 15, 316, 403, 319, 325, 292),
    *(183, 42, 41, 38, 12, 268, 271, 272, 407),
)
#: Eyes: the edge of the lids, then loops further and further out, up to the brow.
_RIGHT_EYE = (
    *(33, 7, 163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173),
    *(130, 25, 110, 24, 23, 22, 26, 112, 243, 247, 30, 29, 27, 28, 56, 190),
    *(226, 31, 228, 229, 230, 231, 232, 233, 244, 113, 225, 224, 223, 222, 221, 189),
    *(35, 124, 46, 53, 52, 65, 143, 111, 117, 118, 119, 120, 121, 128, 245),
    *(156, 70, 63, 105, 66, 107, 55, 193),
)
_LEFT_EYE = (
    *(263, 249, 390, 373, 374, 380, 381, 382, 362, 466, 388, 387, 386, 385, 384, 398),
    *(359, 255, 339, 254, 253, 252, 256, 341, 463, 467, 260, 259, 257, 258, 286, 414),
    *(446, 261, 448, 449, 450, 451, 452, 453, 464, 342, 445, 444, 443, 442, 441, 413),
    *(265, 353, 276, 283, 282, 295, 372, 340, 346, 347, 348, 349, 350, 357, 465),
    *(383, 300, 293, 334, 296, 336, 285, 417),
)
#: Irises: the centre, then the edge.
_RIGHT_IRIS, _LEFT_IRIS = (468, 469, 470, 471, 472), (473, 474, 475, 476, 477)
#: The points of an eye on the edge of the lids.
_LIDS = 16


def _loop(lower: Sequence[int], upper: Sequence[int]) -> tuple[int, ...]:
    return (*lower, *reversed(upper))


#: Closed lines of the mesh, as indices of landmarks in the order in which they are drawn. Left is
#: the person's left. Irises are there in meshes of 478 points.
FACE_CONTOURS: dict[str, tuple[int, ...]] = {
    "lips_outer": _loop(_LIPS[:11], _LIPS[11:20]),
    "lips_inner": _loop(_LIPS[20:31], _LIPS[31:40]),
    "right_eye": _loop(_RIGHT_EYE[:9], _RIGHT_EYE[9:_LIDS]),
    "left_eye": _loop(_LEFT_EYE[:9], _LEFT_EYE[9:_LIDS]),
    "right_eyebrow": (70, 63, 105, 66, 107, 55, 65, 52, 53, 46),
    "left_eyebrow": (300, 293, 334, 296, 336, 285, 295, 282, 283, 276),
    "right_iris": _RIGHT_IRIS[1:],
    "left_iris": _LEFT_IRIS[1:],
    "face_oval": (
        *(10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377),
        *(152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109),
    ),
}
_NAMES = {index: name for name, contour in FACE_CONTOURS.items() for index in contour}

_COUNT = 468
_FLAG_AND_MESH = (1, 3 * _COUNT)
#: The sizes of the further outputs with attention: lips, eyes and irises.
_ATTENTION = (160, 142, 142, 10, 10)
#: Which landmarks tell how a face is turned: the outer corners of the right and the left eye.
_RIGHT_CORNER, _LEFT_CORNER = 33, 263
#: The sides of crops, as multiples of the sides of boxes around faces, and around corners of eyes.
_FACE_SCALE, _EYE_SCALE = 1.5, 2.3
#: A detected face whose crop overlaps by this that of a tracked one is the same.
_SAME_FACE = 0.5

#: x, y and z in pixels of the image.
_Point: TypeAlias = tuple[float, float, float]


class IrisModel(VisionModel):
    """MediaPipe's iris model, which ``FaceMesh`` refines eyes with.

    Args:
        model: the graph model; ``IrisModel.load`` loads it from its files.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: it is another graph model.
    """

    _expected = "an input (1, size, size, 3) and an output of 228 numbers"

    def __init__(self, model: GraphModel) -> None:
        super().__init__(model)
        self.size = self._square_side()

    def _reduced(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return (76, 3): the points of the eye, then those of the iris."""
        if [output.size for output in outputs] != [3 * (len(_RIGHT_EYE) + len(_RIGHT_IRIS))]:
            raise self._misfit(outputs)
        return reshape(outputs[0], (-1, 3))


class FaceMesh(VisionModel):
    """FaceMesh: the faces of an image as meshes of 468 points, or of 478 with irises.

    Images with a timestamp are frames of a video: a face is looked for where it was in the frame
    before, and the detector runs only while there are fewer faces than ``max_faces``. ``reset``
    begins a new video. An image without a timestamp is seen on its own, whatever came before it.

    Args:
        model: the graph model; ``FaceMesh.load`` loads it from its files.
        detector: finds the faces that the mesh is fitted to; ``dispose`` leaves it as it is.
        iris: refines eyes and adds irises to a mesh without them; a graph model with attention has
            them anyway.
        max_faces: the largest number of faces.
        min_score: faces of a lower score are left out.

    Raises:
        TypeError: ``model`` is no graph model, ``detector`` no BlazeFace, ``iris`` no IrisModel or
            ``max_faces`` no integer.
        ValueError: ``model`` is another graph model; ``max_faces`` is not positive;
            ``min_score`` lies outside [0, 1].

    Example:
        With the files of the models in folders::

            from webtensor.vision import FACE_CONTOURS, BlazeFace, FaceMesh

            detector = BlazeFace.load("blazeface/model.json")
            model = FaceMesh.load("facemesh/model.json", detector=detector)
            for face in model.estimate_faces("photo.jpg"):
                print([face.landmarks[index] for index in FACE_CONTOURS["lips_outer"]])
    """

    _expected = (
        f"an input (1, size, size, 3) and outputs of 1 and {_FLAG_AND_MESH[1]} numbers, with "
        f"attention also of {', '.join(map(str, _ATTENTION))}"
    )

    def __init__(
        self,
        model: GraphModel,
        *,
        detector: BlazeFace,
        iris: IrisModel | None = None,
        max_faces: int = 1,
        min_score: float = 0.5,
    ) -> None:
        super().__init__(model)
        self._side = self._square_side()
        if not isinstance(detector, BlazeFace):
            raise TypeError(
                f"FaceMesh: detector must be a BlazeFace, but got {type(detector).__name__}"
            )
        if iris is not None and not isinstance(iris, IrisModel):
            raise TypeError(f"FaceMesh: iris must be an IrisModel, but got {type(iris).__name__}")
        self._detector = detector
        self._iris = iris
        self._max_faces = as_positive_integer("FaceMesh", "max_faces", max_faces)
        self._min_score = as_fraction("FaceMesh", "min_score", min_score)
        self.reset()

    def reset(self) -> None:
        """Forget the frames of a video: the next one begins a new video."""
        self._tracked: list[Region] = []

    def estimate_faces(
        self, image: ImageLike, flip_horizontal: bool = False, timestamp: float | None = None
    ) -> list[MeshFace]:
        """Find faces and their meshes.

        Args:
            image: as of ``wt.vision.read_image``.
            flip_horizontal: whether results are those of the mirrored image, as for the picture of
                a webcam that is shown like a mirror.
            timestamp: when the frame of a video was taken, in milliseconds. A video of the page
                tells its own.

        Returns:
            The faces. The names of landmarks are those of the contours that they lie on, or empty;
            their score is None. The box is that around the landmarks.

        Raises:
            ImportError, OSError, TypeError, ValueError: as of ``wt.vision.read_image``.
        """
        regions = self._regions_before(image, timestamp)
        pixels, size = read_image(image)
        if len(regions) < self._max_faces:
            scaled, placement = self._detector_view(pixels)
            faces = self._detector.estimate_faces(scaled)
            regions = self._with_detected(regions, faces, placement)
        return _in_view(finish(self._faces(pixels, regions)), size, flip_horizontal)

    async def estimate_faces_async(
        self, image: ImageLike, flip_horizontal: bool = False, timestamp: float | None = None
    ) -> list[MeshFace]:
        """Find faces as ``estimate_faces`` does, without blocking the page.

        Example:
            In a page::

                faces = await model.estimate_faces_async(document.querySelector("video"))
        """
        regions = self._regions_before(image, timestamp)
        pixels, size = await read_image_async(image)
        if len(regions) < self._max_faces:
            scaled, placement = self._detector_view(pixels)
            faces = await self._detector.estimate_faces_async(scaled)
            regions = self._with_detected(regions, faces, placement)
        return _in_view(await finish_async(self._faces(pixels, regions)), size, flip_horizontal)

    def _regions_before(self, image: ImageLike, timestamp: float | None) -> list[Region]:
        """Return where the faces of the frame before are, or nothing for an image of its own."""
        if timestamp is None and video_time(image) is None:
            self.reset()
        return self._tracked

    def _detector_view(self, pixels: Tensor) -> tuple[Tensor, Letterbox]:
        """Return the image as the detector sees it, in a square without being stretched."""
        side = self._detector.size
        scaled, placement = letterbox(pixels, side, side)
        return divide(scaled, 255.0), placement

    def _with_detected(
        self, regions: list[Region], faces: Sequence[Face], placement: Letterbox
    ) -> list[Region]:
        """Return the regions of tracked faces, and of detected ones that are not among them."""
        detected = [_region_of_detected(face, placement) for face in faces]
        candidates = regions + detected
        scores = [2.0] * len(regions) + [face.score for face in faces]
        squares = [
            Box(
                region.x_center - region.width / 2,
                region.y_center - region.height / 2,
                region.x_center + region.width / 2,
                region.y_center + region.height / 2,
            )
            for region in candidates
        ]
        chosen = suppress(squares, scores, self._max_faces, _SAME_FACE)
        return [candidates[index] for index in chosen]

    def _faces(self, pixels: Tensor, regions: Sequence[Region]) -> Steps[list[MeshFace]]:
        """Return the faces in regions, and note where to look for them in the next frame."""
        faces = []
        for region in regions:
            crop = _crop(pixels, region, self._side)
            (score,), *parts = _parts((yield Step(self, crop, self._row)))
            if score < self._min_score:
                continue
            points = _projected(parts[0], 3, region, self._side)
            if len(parts) > 1:
                lips, *eyes_and_irises = (
                    _projected(part, 2, region, self._side) for part in parts[1:]
                )
                for index, point in zip(_LIPS, lips, strict=True):
                    points[index] = (*point[:2], points[index][2])
                eyes, irises = eyes_and_irises[:2], eyes_and_irises[2:]
                corner = points[_RIGHT_CORNER]
                _refine(points, *_right_first(eyes, corner), *_right_first(irises, corner))
            elif self._iris is not None:
                right = yield from self._eye(pixels, points, (_RIGHT_CORNER, 133), is_left=False)
                left = yield from self._eye(pixels, points, (362, _LEFT_CORNER), is_left=True)
                count = len(_RIGHT_EYE)
                _refine(points, right[:count], left[:count], right[count:], left[count:])
            landmarks = tuple(
                Keypoint3D(x, y, None, _NAMES.get(index, ""), z)
                for index, (x, y, z) in enumerate(points)
            )
            faces.append(MeshFace(box_around(landmarks), landmarks, score))
        self._tracked = [_region_of_mesh(face) for face in faces]
        return faces

    def _eye(
        self, pixels: Tensor, points: Sequence[_Point], corners: tuple[int, int], is_left: bool
    ) -> Steps[list[_Point]]:
        """Return the points of an eye and of its iris; the model knows right eyes."""
        assert self._iris is not None
        start, end = (points[index] for index in corners)
        box = Box(*map(min, start[:2], end[:2]), *map(max, start[:2], end[:2]))
        region = square_region(box, _angle(start, end), _EYE_SCALE)
        size = self._iris.size
        crop = _crop(pixels, region, size)
        rows = yield Step(self._iris, flip(crop, 2) if is_left else crop, self._iris._reduced)
        if is_left:
            eye, (center, right, top, left, bottom) = rows[:-5], rows[-5:]
            rows = [(size - x, y, z) for x, y, z in (*eye, center, left, top, right, bottom)]
        numbers = [number for row in rows for number in row]
        return _projected(numbers, 3, region, size)

    def _row(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return all numbers in the order of ``_FLAG_AND_MESH`` and ``_ATTENTION``."""
        by_size: dict[int, list[Tensor]] = {}
        for output in outputs:
            by_size.setdefault(output.size, []).append(output)
        sizes: tuple[int, ...] = (*_FLAG_AND_MESH, *_ATTENTION)
        if not by_size.keys() >= set(_ATTENTION):
            sizes = _FLAG_AND_MESH
        try:
            parts = [by_size[size].pop(0) for size in sizes]
        except (KeyError, IndexError):
            raise self._misfit(outputs) from None
        return concat([reshape(part, (-1,)) for part in parts], 0)


def _parts(row: Sequence[float]) -> Iterator[Sequence[float]]:
    """Yield the parts of a face's row: the score, the mesh, and with attention the rest."""
    start = 0
    for size in (*_FLAG_AND_MESH, *_ATTENTION):
        if start < len(row):
            yield row[start : start + size]
        start += size


def _crop(pixels: Tensor, region: Region, side: int) -> Tensor:
    crop = crop_region(pixels, region, side, side, fill_mode="nearest")
    return divide(expand_dims(crop, 0), 255.0)


def _projected(
    numbers: Sequence[float], dimensions: int, region: Region, side: int
) -> list[_Point]:
    """Return points of a crop as points of the image; those of two dimensions have z = 0."""
    points = []
    for start in range(0, len(numbers), dimensions):
        x, y, z = (*numbers[start : start + dimensions], 0.0)[:3]
        points.append((*region.to_image(x / side, y / side), z / side * region.width))
    return points


def _right_first(pair: list[list[_Point]], corner: _Point) -> list[list[_Point]]:
    """Return the points of two eyes, those of the right one first, whose corner is given."""
    return sorted(pair, key=lambda points: dist(points[0][:2], corner[:2]))


def _refine(
    points: list[_Point],
    right_eye: Sequence[_Point],
    left_eye: Sequence[_Point],
    right_iris: Sequence[_Point],
    left_iris: Sequence[_Point],
) -> None:
    """Move the points of eyes along x and y, and append those of irises, as deep as the lids."""
    for indices, eye in ((_RIGHT_EYE, right_eye), (_LEFT_EYE, left_eye)):
        for index, (x, y, _) in zip(indices, eye, strict=True):
            points[index] = (x, y, points[index][2])
    for indices, iris in ((_RIGHT_EYE, right_iris), (_LEFT_EYE, left_iris)):
        depth = sum(points[index][2] for index in indices[:_LIDS]) / _LIDS
        points += [(x, y, depth) for x, y, _ in iris]


def _angle(start: Sequence[float], end: Sequence[float]) -> float:
    return atan2(end[1] - start[1], end[0] - start[0])


def _region_of_detected(face: Face, placement: Letterbox) -> Region:
    """Return the square that the mesh of a detected face is in."""
    box = face.box
    corners = (*placement.to_image(box.x_min, box.y_min), *placement.to_image(box.x_max, box.y_max))
    points = {point.name: placement.to_image(point.x, point.y) for point in face.landmarks}
    return square_region(
        Box(*corners), _angle(points["right_eye"], points["left_eye"]), _FACE_SCALE
    )


def _region_of_mesh(face: MeshFace) -> Region:
    """Return the square that the mesh is in in the next frame."""
    right, left = (face.landmarks[index] for index in (_RIGHT_CORNER, _LEFT_CORNER))
    return square_region(face.box, _angle((right.x, right.y), (left.x, left.y)), _FACE_SCALE)


def _in_view(faces: list[MeshFace], size: ImageSize, flip_horizontal: bool) -> list[MeshFace]:
    """Return the faces of the image, or those of the mirrored image."""
    if not flip_horizontal:
        return faces
    return [
        MeshFace(
            mirrored_box(face.box, size.width), mirrored(face.landmarks, size.width), face.score
        )
        for face in faces
    ]
