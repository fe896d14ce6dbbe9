"""Images of (batch, height, width, channels): ``wt.image``.

``resize`` scales them, ``sampling`` crops, rotates and warps them, ``color`` mirrors and converts
them, ``suppression`` chooses among boxes that overlap.
"""

from webtensor.ops.image.color import (
    flip_left_right as flip_left_right,
    grayscale_to_rgb as grayscale_to_rgb,
    rgb_to_grayscale as rgb_to_grayscale,
    threshold as threshold,
)
from webtensor.ops.image.resize import (
    resize_bilinear as resize_bilinear,
    resize_nearest_neighbor as resize_nearest_neighbor,
)
from webtensor.ops.image.sampling import (
    crop_and_resize as crop_and_resize,
    rotate_with_offset as rotate_with_offset,
    transform as transform,
)
from webtensor.ops.image.suppression import (
    PaddedSelection as PaddedSelection,
    ScoredSelection as ScoredSelection,
    non_max_suppression as non_max_suppression,
    non_max_suppression_async as non_max_suppression_async,
    non_max_suppression_padded as non_max_suppression_padded,
    non_max_suppression_padded_async as non_max_suppression_padded_async,
    non_max_suppression_with_score as non_max_suppression_with_score,
    non_max_suppression_with_score_async as non_max_suppression_with_score_async,
)
