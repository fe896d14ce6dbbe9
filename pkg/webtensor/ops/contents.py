"""Which module of ``webtensor.ops`` has which public name; a test compares it with the modules."""

from __future__ import annotations

from webtensor.lazy_contents import contents

__all__ = ["CONTENTS", "NAMESPACES"]

#: Modules that are public themselves.
NAMESPACES = [
    "fft",
    "fused",
    "image",
    "linalg",
    "losses",
    "math",
    "signal",
    "sparse",
    "spectral",
    "string",
]

CONTENTS = contents(
    """
    activations: elu leaky_relu log_sigmoid prelu relu relu6 selu sigmoid softplus step
    array_api: __array_api_version__ __array_namespace_info__ broadcast_arrays broadcast_shapes
        can_cast e finfo iinfo inf isdtype nan newaxis pi positive result_type
    binary: add bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
        divide divide_no_nan equal floor_divide greater greater_equal less less_equal logaddexp
        logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow
        remainder squared_difference subtract
    broadcasting: broadcast_to
    casting: astype
    complex_numbers: angle complex conj imag real
    contraction: matmul
    convolution: conv1d conv2d conv2d_transpose conv3d conv3d_transpose depthwise_conv2d
        separable_conv2d
    creation: array asarray empty empty_like eye from_dlpack full full_like ones ones_like tensor
        zeros zeros_like
    distributions: multinomial rand random_gamma random_standard_normal random_uniform_int
    dynamic: argwhere boolean_mask_async nonzero setdiff1d setdiff1d_async unique unique_all
        unique_counts unique_inverse unique_values where_async
    einsum_paths: einsum
    indexing: boolean_mask
    losses: Reduction
    morphology: dilation2d
    movement: clone concat expand_dims flatten flip gather pad permute_dims reshape slice split
        squeeze stack take transpose
    nn: clip log_softmax one_hot round softmax softmax_cross_entropy
    normal_distribution: random_normal truncated_normal
    normalization: batch_norm batch_norm2d batch_norm3d batch_norm4d dropout
        local_response_normalization
    pooling: avg_pool avg_pool3d max_pool max_pool3d max_pool_with_argmax pool
    ragged: ragged_gather ragged_range ragged_tensor_to_tensor
    random: random_uniform
    random_bits: set_random_seed
    rearrangement: batch_to_space_nd broadcast_args depth_to_space diag ensure_shape meshgrid
        mirror_pad moveaxis repeat roll space_to_batch_nd strided_slice tile tril triu unstack
    recurrent: basic_lstm_cell multi_rnn_cell
    reduction: all any argmax argmin max mean min prod sum
    scan: cumprod cumsum cumulative_prod cumulative_sum
    scatter: bincount dense_bincount gather_nd scatter_nd sparse_to_dense take_along_axis
        tensor_scatter_update unsorted_segment_sum
    sequences: arange linspace
    signal: cosine_window enclosing_power_of_two
    sorting: argsort in_top_k in_top_k_async isin lower_bound searchsorted sort topk upper_bound
    special_functions: erf erf_inv
    statistics: add_n count_nonzero diff log_sum_exp moments moving_average std var
    tensor_norms: euclidean_norm norm
    ternary: where
    trigonometry: acos acosh asin asinh atan atan2 atanh cos cosh hypot sin sinh tan tanh
    unary: abs bitwise_invert ceil clip_by_value divisor_of_kept exp expm1 float_between floor
        isfinite isinf isnan log log10 log1p log2 logical_not negative reciprocal rsqrt sign
        signbit sqrt square trunc unit_float
    vector_products: dot matrix_transpose outer_product tensordot vecdot
    """
)
