"""Poses in the frames of a webcam; `pose_detection.js` beside the page is the peer's side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count

import webtensor as wt
from tests_browser.bench.workload import BESIDE_POSE_DETECTION, Workload

__all__ = ["POSES"]

MODEL = "/pretrained/movenet-lightning.json"
FRAME_MS = 40
#: The keypoints of the head, which come first. The rest of the body is hidden, and rounding decides
#: which of many unlikely places it gets.
HEAD = 5


def find_poses() -> Callable[[], Awaitable[wt.Tensor]]:
    """Return a step that finds the head in the next frame; the first one loads the model."""
    from js import peer  # workloads are listed outside of pages, too

    models: list[wt.vision.MoveNet] = []
    times = count(FRAME_MS, FRAME_MS)

    async def step() -> wt.Tensor:
        if not models:
            models.append(await wt.vision.MoveNet.load_async(MODEL))
        (pose,) = await models[0].estimate_poses_async(peer.poses.frame, next(times))
        return wt.tensor([[point.x, point.y] for point in pose.keypoints[:HEAD]])

    return step


POSES = [
    Workload(
        "pose.movenet_lightning",
        find_poses,
        "",
        {},
        described="640×480 frame",
        peers=peers,
        tolerance=1e-3,
        makes_step=True,
        awaited=True,
        threads=threads,
    )
    for threads, peers in (
        (1, BESIDE_POSE_DETECTION),
        (2, {"wasm": BESIDE_POSE_DETECTION["wasm"]}),
    )
]
