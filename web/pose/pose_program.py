"""Where a person's nose, eyes, shoulders, knees … are."""

from page import element
from picture import Picture

from webtensor.vision import SKELETON, MoveNet, PoseNet

KINDS = {"MoveNet": MoveNet, "PoseNet": PoseNet}
FILES = {"MoveNet": "movenet-lightning", "PoseNet": "posenet"}
models = {}
picture = Picture()

async for frame in picture.frames():
    name = element("model").value
    if name not in models:
        models[name] = await KINDS[name].load_async(
            f"../pretrained/{FILES[name]}.json",
            load_options=picture.loading(name),
        )
    find_poses = models[name].estimate_poses_async
    if name == "MoveNet":  # it follows a person over time
        poses = await find_poses(frame.pixels, frame.timestamp)
    else:
        poses = await find_poses(frame.pixels)
    poses = [pose for pose in poses if pose.score > 0.25]

    overlay = picture.show(frame)
    for pose in poses:
        keypoints = {p.name: p for p in pose.keypoints if p.score > 0.3}
        bones = [pair for pair in SKELETON if keypoints.keys() >= set(pair)]
        overlay.draw_lines((keypoints[a], keypoints[b]) for a, b in bones)
        overlay.draw_dots(keypoints.values())
    picture.say(f"Persons: {len(poses)}")
