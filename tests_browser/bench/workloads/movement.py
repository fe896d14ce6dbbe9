"""What moves elements without computing anything."""

from __future__ import annotations

import webtensor as wt
from tests_browser.bench.workload import Input, Workload

__all__ = ["MOVEMENT"]

MILLION = Input((1000, 1000))
IMAGES = Input((16, 128, 128, 4))
VOLUME = Input((100, 100, 100))
SMALL = Input((31, 33, 35))

MOVEMENT = [
    Workload("movement.transpose", wt.transpose, "tf.transpose(x)", {"x": MILLION}),
    Workload(
        "movement.transpose",
        lambda x: wt.transpose(x, (0, 3, 1, 2)),
        "tf.transpose(x, [0, 3, 1, 2])",
        {"x": IMAGES},
        described=f"{IMAGES} to channels first",
    ),
    Workload(
        "movement.transpose",
        lambda x: wt.transpose(x, (1, 0, 2)),
        "tf.transpose(x, [1, 0, 2])",
        {"x": VOLUME},
    ),
    *(
        Workload(
            "movement.transpose",
            lambda x, axes=axes: wt.transpose(x, axes),
            f"tf.transpose(x, {list(axes)})",
            {"x": SMALL},
            described=f"{SMALL} to {axes}",
        )
        for axes in ((0, 2, 1), (1, 0, 2))
    ),
    Workload(
        "movement.slice",
        lambda x: wt.slice(wt.reshape(x, (100, 10_000)), (1, 1), (98, 9998)),
        "tf.tidy(() => tf.slice(tf.reshape(x, [100, 10000]), [1, 1], [98, 9998]))",
        {"x": MILLION},
    ),
    Workload(
        "movement.strided_slice",
        lambda x: wt.strided_slice(x, (0, 0), (1000, 1000), (1, 2)),
        "tf.stridedSlice(x, [0, 0], [1000, 1000], [1, 2])",
        {"x": MILLION},
    ),
    Workload(
        "movement.pad",
        lambda x: wt.pad(x, ((1, 1), (2, 2))),
        "tf.pad(x, [[1, 1], [2, 2]])",
        {"x": MILLION},
    ),
    Workload(
        "movement.mirror_pad",
        lambda x: wt.mirror_pad(x, ((1, 1), (2, 2)), "reflect"),
        "tf.mirrorPad(x, [[1, 1], [2, 2]], 'reflect')",
        {"x": MILLION},
    ),
    *(
        Workload(
            "movement.concat",
            lambda a, b, axis=axis: wt.concat((a, b), axis),
            f"tf.concat([a, b], {axis})",
            {"a": Input((500, 1000)), "b": Input((500, 1000))},
            described=f"2 of 500×1000 axis {axis}",
        )
        for axis in (0, 1)
    ),
    Workload(
        "movement.stack",
        lambda a, b: wt.stack((a, b), 1),
        "tf.stack([a, b], 1)",
        {"a": Input((500, 1000)), "b": Input((500, 1000))},
    ),
    Workload(
        "movement.unstack",
        lambda x: wt.unstack(x)[9],
        "tf.tidy(() => tf.unstack(x)[9])",
        {"x": Input((10, 100_000))},
    ),
    Workload(
        "movement.split",
        lambda x: wt.split(x, 4, 1)[3],
        "tf.tidy(() => tf.split(x, 4, 1)[3])",
        {"x": MILLION},
    ),
    Workload(
        "movement.tile",
        lambda x: wt.tile(x, (2, 5)),
        "tf.tile(x, [2, 5])",
        {"x": Input((1000, 100))},
    ),
    Workload(
        "movement.broadcast_to",
        lambda x: wt.broadcast_to(x, (1000, 1000)),
        "tf.broadcastTo(x, [1000, 1000])",
        {"x": Input((1000, 1))},
    ),
    *(
        Workload(
            "movement.flip",
            lambda x, axis=axis: wt.flip(x, axis),
            f"tf.reverse(x, {axis})",
            {"x": MILLION},
            described=f"{MILLION} axis {axis}",
        )
        for axis in (0, 1)
    ),
    Workload(
        "movement.space_to_batch_nd",
        lambda x: wt.space_to_batch_nd(x, (2, 2), ((0, 0), (0, 0))),
        "tf.spaceToBatchND(x, [2, 2], [[0, 0], [0, 0]])",
        {"x": IMAGES},
    ),
    Workload(
        "movement.depth_to_space",
        lambda x: wt.depth_to_space(x, 2),
        "tf.depthToSpace(x, 2)",
        {"x": IMAGES},
    ),
]
