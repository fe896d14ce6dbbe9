"""Products and convolutions with their bias and activation in one call: ``wt.fused``."""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

__all__ = ["conv2d", "depthwise_conv2d", "mat_mul"]

if TYPE_CHECKING:
    from webtensor.ops.fused.convolutions import conv2d, depthwise_conv2d
    from webtensor.ops.fused.products import mat_mul
else:
    __getattr__, __dir__ = lazy_contents(
        __name__, contents("convolutions: conv2d depthwise_conv2d products: mat_mul")
    )
