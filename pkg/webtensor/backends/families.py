"""Which module of a backend has which kernels; it is imported when one of them first runs."""

from __future__ import annotations

from webtensor.lazy_contents import contents

__all__ = ["FAMILIES"]

FAMILIES = contents(
    """
    blocks: blocks
    chains: chain chain_multiply chain_reduce
    compaction: true_indices
    contraction: fused_matmul matmul
    convolution: conv2d conv2d_filter_gradient conv2d_input_gradient depthwise_conv2d
        depthwise_conv2d_filter_gradient depthwise_conv2d_input_gradient fused_conv2d
        fused_depthwise_conv2d
    elementwise: binary cast fill joint ternary unary
    fourier: fft
    image: non_max_suppression resize_bilinear resize_bilinear_gradient resize_nearest
        resize_nearest_gradient sample
    indexing: coordinates flat_indices gather
    linalg: cholesky determinant eigh qr solve svd
    movement: concat strided
    normalization: log_softmax moments normalize softmax window_sum
    padding: mirror_pad pad
    pooling: avg_pool avg_pool_gradient dilation2d max_pool max_pool_pick max_pool_scatter
    random: random_bits
    reduction: arg_reduce reduce
    scan: recurrence scan
    scatter: filled_rows one_hot row_counts scatter_add scatter_set sum_picked
    separable: separable_conv2d
    sequences: eye ragged_sequence sequence
    sorting: argsort search_sorted topk
    """
)
