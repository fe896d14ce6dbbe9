"""A face as a mesh, and the irises in it."""

from overlay import YELLOW
from page import element
from picture import Picture

from webtensor.vision import FACE_CONTOURS, BlazeFace, FaceMesh, IrisModel

picture = Picture()
detector = await BlazeFace.load_async(
    "../pretrained/facemesh-detection-short.json",
    load_options=picture.loading("the detector of faces"),
)
iris = await IrisModel.load_async(
    "../pretrained/iris.json",
    load_options=picture.loading("the model of irises"),
)
model = await FaceMesh.load_async(
    "../pretrained/facemesh.json",
    load_options=picture.loading("FaceMesh"),
    detector=detector,
    iris=iris,
)

async for frame in picture.frames():
    faces = await model.estimate_faces_async(
        frame.pixels,
        timestamp=frame.timestamp,  # by which it follows a face
    )
    overlay = picture.show(frame)
    for face in faces:
        points = face.landmarks
        loops = {
            name: [points[index] for index in indices] for name, indices in FACE_CONTOURS.items()
        }
        irises = [loops.pop("left_iris"), loops.pop("right_iris")]
        if element("points").checked:
            overlay.draw_dots(points, radius=1)
        if element("outlines").checked:
            overlay.draw_loops(loops.values(), width=2)
            overlay.draw_loops(irises, YELLOW, width=2)
    picture.say(f"Faces: {len(faces)}")
