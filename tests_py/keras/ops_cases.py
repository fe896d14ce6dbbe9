"""Calls of functions of ``keras.ops``, and what Keras returns for them.

Run as a script, this computes all by Keras with NumPy, which compiles nothing, and writes the
results to the file that is named.
"""

import pickle
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Given(NamedTuple):
    """Random elements of a kind."""

    kind: str
    shape: tuple[int, ...]


def f(*shape: int) -> Given:
    """Numbers around zero."""
    return Given("float", shape)


def p(*shape: int) -> Given:
    """Numbers between 0.1 and 0.9."""
    return Given("part", shape)


def n(*shape: int) -> Given:
    """Whole numbers from 0 to 4."""
    return Given("whole", shape)


def b(*shape: int) -> Given:
    """Truth values."""
    return Given("truth", shape)


def nan(*shape: int) -> Given:
    """Numbers, of which some are NaN."""
    return Given("nan", shape)


def matrix(*shape: int) -> Given:
    """Symmetric positive matrices."""
    return Given("matrix", shape)


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


X, Y = f(2, 3, 4), f(2, 3, 4)
IMAGE = p(2, 6, 5, 3)
LAST = {"data_format": "channels_last"}
#: Coordinates in an array and beside it.
PLACES = [[0.3, 1.5, -1.7, 3.0, 5.2], [2.2, -0.6, 4.0, 6.4, 0.1]]

#: Function, arguments, options.
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    # -- elementwise ---------------------------------------------------------------------------
    *[
        (name, [X], {})
        for name in words(
            "abs absolute angle arcsinh arctan cbrt ceil conj conjugate copy cos "
            "cosh deg2rad erf erfc exp exp2 expm1 fabs floor imag isfinite isinf isnan isneginf "
            "isposinf isreal negative rad2deg real reciprocal round sign signbit sin sinc sinh "
            "square tan tanh trunc hard_sigmoid hard_silu hard_swish hard_tanh log_sigmoid relu "
            "relu6 selu sigmoid silu softplus softsign sparse_plus sparse_sigmoid swish "
            "tanh_shrink i0 ones_like zeros_like"
        )
    ],
    *[
        (name, [p(2, 3)], {})
        for name in words("arccos arcsin arctanh erfinv log log10 log1p log2 rsqrt sqrt")
    ],
    ("arccosh", [Given("above", (2, 3))], {}),
    ("celu", [X], {"alpha": 0.5}),
    ("elu", [X], {"alpha": 0.5}),
    ("gelu", [X], {}),
    ("gelu", [X], {"approximate": False}),
    ("glu", [X], {}),
    ("glu", [X], {"axis": 2}),
    ("hard_shrink", [X], {"threshold": 0.3}),
    ("leaky_relu", [X], {}),
    ("log_softmax", [X], {"axis": 1}),
    ("soft_shrink", [X], {}),
    ("softmax", [X], {}),
    ("softmax", [X], {"axis": (1, 2)}),
    ("squareplus", [X], {"b": 2}),
    ("threshold", [X, 0.5, -3.0], {}),
    ("abs", [n(2, 3)], {}),
    ("bitwise_invert", [n(2, 3)], {}),
    ("bitwise_not", [n(2, 3)], {}),
    ("ceil", [n(2, 3)], {}),
    ("exp", [n(2, 3)], {}),
    ("logical_not", [b(2, 3)], {}),
    ("square", [n(2, 3)], {}),
    ("sign", [n(2, 3)], {}),
    ("clip", [X, -0.5, 0.7], {}),
    ("clip", [n(2, 3), 1, 3], {}),
    ("nan_to_num", [nan(2, 3)], {}),
    ("nan_to_num", [nan(2, 3)], {"nan": 5.0}),
    ("round", [X], {"decimals": 1}),
    *[
        (name, [X, Y], {})
        for name in words(
            "add arctan2 divide divide_no_nan equal floor_divide fmax fmin fmod greater "
            "greater_equal heaviside hypot less less_equal logaddexp logaddexp2 maximum minimum "
            "mod multiply not_equal subtract true_divide isclose nextafter"
        )
    ],
    *[
        (name, [n(2, 3), Given("positive whole", (2, 3))], {})
        for name in words(
            "add bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor divide "
            "equal floor_divide gcd lcm left_shift less maximum mod multiply power right_shift "
            "subtract"
        )
    ],
    *[
        (name, [b(2, 3), b(2, 3)], {})
        for name in ("logical_and", "logical_or", "logical_xor", "bitwise_and")
    ],
    ("add", [X, f(4)], {}),
    ("add", [X, 1.5], {}),
    ("add", [2, X], {}),
    ("add", [n(2, 3), 1], {}),
    ("add", [n(2, 3), f(2, 3)], {}),
    ("fmax", [nan(2, 3), nan(2, 3)], {}),
    ("heaviside", [nan(2, 3), f(3)], {}),
    ("isclose", [nan(2, 3), nan(2, 3)], {"equal_nan": True}),
    ("ldexp", [f(2, 3), n(2, 3)], {}),
    ("multiply", [f(2, 1, 4), f(3, 1)], {}),
    ("power", [p(2, 3), f(2, 3)], {}),
    ("power", [X, 2], {}),
    ("subtract", [1.0, X], {}),
    ("select", [[b(2, 3), b(2, 3)], [f(2, 3), f(2, 3)], 0.0], {}),
    ("where", [b(2, 3), f(2, 3), f(2, 3)], {}),
    ("where", [b(2, 3), f(2, 3), 0.0], {}),
    # -- along axes ----------------------------------------------------------------------------
    *[
        (name, [X], options)
        for name in words(
            "amax amin logsumexp max mean median min prod ptp std sum var nanmax nanmean nanmedian "
            "nanmin nanprod nanstd nansum nanvar"
        )
        for options in ({}, {"axis": 1}, {"axis": (1, 2), "keepdims": True}, {"axis": -1})
    ],
    *[
        (name, [nan(4, 5)], options)
        for name in words(
            "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod "
            "nanstd nansum nanvar"
        )
        for options in ({}, {"axis": 1})
    ],
    *[
        (name, [b(2, 3)], options)
        for name in ("all", "any", "count_nonzero", "sum")
        for options in ({}, {"axis": 1})
    ],
    ("all", [b(2, 3)], {"axis": 1, "keepdims": True}),
    ("max", [X], {"axis": 1, "initial": 1.0}),
    ("sum", [n(2, 3)], {}),
    ("mean", [n(2, 3)], {"axis": 0}),
    ("allclose", [X, X], {}),
    ("argmax", [X], {}),
    ("argmax", [X], {"axis": 1}),
    ("argmin", [X], {"axis": -1, "keepdims": True}),
    ("average", [X], {"axis": 1}),
    ("average", [X, 1, f(3)], {}),
    ("average", [X], {"weights": p(2, 3, 4)}),
    ("cumprod", [X], {"axis": 1}),
    ("cumsum", [X], {}),
    ("cumsum", [X], {"axis": -1}),
    ("cumsum", [b(2, 3)], {"axis": 1}),
    *[
        ("quantile", [f(3, 7), 0.3], {"axis": 1, "method": method})
        for method in ("linear", "lower", "higher", "midpoint", "nearest")
    ],
    ("quantile", [X, [0.1, 0.5]], {}),
    ("quantile", [X, 0.5], {"axis": (0, 2), "keepdims": True}),
    ("percentile", [X, 30.0], {"axis": -1}),
    ("nanquantile", [nan(4, 5), 0.3], {"axis": 1}),
    ("nanpercentile", [nan(4, 5), 30.0], {"axis": 0}),
    ("trapezoid", [X], {}),
    ("trapezoid", [X], {"dx": 2.0, "axis": 1}),
    ("moments", [X, [1]], {}),
    ("moments", [X, [0, 2]], {"keepdims": True}),
    # -- shapes and parts ----------------------------------------------------------------------
    ("append", [f(2, 3), f(2, 4)], {"axis": 1}),
    ("append", [f(2, 3), f(2, 4)], {}),
    ("argsort", [X], {"axis": 1}),
    ("array", [X], {}),
    ("array_split", [f(2, 7), 3], {"axis": 1}),
    ("broadcast_to", [f(1, 3), (4, 3)], {}),
    ("concatenate", [[X, Y]], {"axis": 1}),
    ("concatenate", [[n(2, 3), f(2, 3)]], {"axis": -1}),
    ("diag", [f(4)], {"k": 1}),
    ("diag", [f(4)], {"k": -2}),
    ("diag", [f(3, 4)], {"k": 1}),
    ("diagflat", [f(2, 2)], {}),
    ("diagonal", [X], {}),
    ("diagonal", [X], {"offset": 1, "axis1": 1, "axis2": 2}),
    ("diff", [X], {}),
    ("diff", [X], {"n": 2, "axis": 1}),
    ("dsplit", [X, 2], {}),
    ("dstack", [[f(2, 3), f(2, 3)]], {}),
    ("expand_dims", [X, 1], {}),
    ("expand_dims", [X, (0, -1)], {}),
    ("flip", [X], {"axis": 1}),
    ("flip", [X], {}),
    ("fliplr", [X], {}),
    ("flipud", [X], {}),
    ("full_like", [X, 2.0], {}),
    ("get_item", [X, (slice(None), 1)], {}),
    ("get_item", [X, (slice(0, 1), slice(None, None, 2))], {}),
    ("get_item", [X, (..., -1)], {}),
    ("get_item", [X, (slice(None), None)], {}),
    ("get_item", [X, 1], {}),
    ("hsplit", [X, [1, 2]], {}),
    ("hstack", [[X, Y]], {}),
    ("isin", [n(2, 3), [1, 2]], {}),
    ("meshgrid", [f(3), f(4)], {}),
    ("meshgrid", [f(3), f(4)], {"indexing": "ij"}),
    ("moveaxis", [X, 0, -1], {}),
    ("moveaxis", [X, (0, 1), (1, 2)], {}),
    ("pad", [X, ((0, 0), (1, 2), (0, 1))], {}),
    ("pad", [X, 1], {"constant_values": 3.0}),
    ("pad", [X, ((0, 0), (1, 1), (2, 2))], {"mode": "reflect"}),
    ("pad", [X, ((0, 0), (1, 1), (2, 2))], {"mode": "symmetric"}),
    ("pad", [X, ((0, 0), (1, 1), (2, 2))], {"mode": "edge"}),
    ("ravel", [X], {}),
    ("repeat", [X, 2], {"axis": 1}),
    ("repeat", [X, 3], {}),
    ("reshape", [X, (2, 12)], {}),
    ("reshape", [X, (-1, 4)], {}),
    ("size", [X], {}),
    ("roll", [X, 1], {}),
    ("roll", [X, 2], {"axis": 1}),
    ("rot90", [X], {}),
    ("rot90", [X], {"k": 3, "axes": (1, 2)}),
    ("sort", [X], {"axis": 1}),
    ("split", [X, 2], {"axis": 2}),
    ("split", [X, [1]], {"axis": 1}),
    ("squeeze", [f(2, 1, 3)], {}),
    ("squeeze", [f(2, 1, 3)], {"axis": 1}),
    ("stack", [[X, Y]], {"axis": 1}),
    ("swapaxes", [X, 1, 2], {}),
    ("take", [X, [1, 0]], {"axis": 1}),
    ("take", [X, n(2, 2)], {}),
    ("take", [X, -1], {"axis": 2}),
    ("take_along_axis", [f(2, 5), n(2, 3)], {"axis": 1}),
    ("tile", [X, (1, 2, 1)], {}),
    ("tile", [f(3), 2], {}),
    ("trace", [X], {"axis1": 1, "axis2": 2}),
    ("transpose", [X], {}),
    ("transpose", [X], {"axes": (0, 2, 1)}),
    ("tril", [X], {}),
    ("triu", [X], {"k": 1}),
    ("unravel_index", [n(2, 3), (2, 3)], {}),
    ("vsplit", [f(4, 3), 2], {}),
    ("vstack", [[X, Y]], {}),
    # -- products ------------------------------------------------------------------------------
    ("correlate", [f(7), f(3)], {}),
    ("correlate", [f(7), f(3)], {"mode": "same"}),
    ("correlate", [f(7), f(4)], {"mode": "same"}),
    ("correlate", [f(3), f(7)], {"mode": "full"}),
    ("cross", [f(2, 3), f(2, 3)], {}),
    ("cross", [f(2, 2), f(2, 3)], {}),
    ("cross", [f(2, 2), f(2, 2)], {}),
    ("dot", [X, f(4, 5)], {}),
    ("dot", [f(3), f(3)], {}),
    ("einsum", ["ijk,ikl->ijl", X, f(2, 4, 5)], {}),
    ("inner", [X, f(5, 4)], {}),
    ("kron", [f(2, 3), f(2, 2)], {}),
    ("matmul", [X, f(2, 4, 5)], {}),
    ("matmul", [X, f(4, 5)], {}),
    ("matmul", [f(2, 4), f(4)], {}),
    ("outer", [f(3), f(4)], {}),
    ("tensordot", [X, f(4, 5)], {"axes": 1}),
    ("vander", [f(3)], {}),
    ("vander", [f(3)], {"N": 4, "increasing": True}),
    ("vdot", [f(4), f(4)], {}),
    # -- core ----------------------------------------------------------------------------------
    ("cast", [X, "int32"], {}),
    ("cast", [b(2, 3), "float32"], {}),
    ("convert_to_tensor", [X], {}),
    ("saturate_cast", [X, "float32"], {}),
    ("scatter", [np.array([[0], [2], [0]]), f(3, 2), (4, 2)], {}),
    ("scatter_update", [f(4, 2), [[0], [2]], f(2, 2)], {}),
    ("scatter_update", [f(4, 2), [[0], [0]], f(2, 2)], {"reduction": "add"}),
    ("scatter_update", [f(4, 2), [[0, 1], [2, 1]], f(2)], {"reduction": "mul"}),
    ("slice", [X, (0, 1, 1), (2, 2, 3)], {}),
    ("slice_update", [X, (0, 1, 1), f(2, 2, 3)], {}),
    ("stop_gradient", [X], {}),
    ("unstack", [X], {"axis": 1}),
    # -- mathematics ---------------------------------------------------------------------------
    ("cdist", [f(3, 4), f(5, 4)], {}),
    ("extract_sequences", [f(2, 9), 4, 2], {}),
    ("fft", [(f(2, 8), f(2, 8))], {}),
    ("fft2", [(f(2, 4, 8), f(2, 4, 8))], {}),
    ("ifft2", [(f(2, 4, 8), f(2, 4, 8))], {}),
    ("irfft", [(f(2, 5), f(2, 5))], {}),
    ("rfft", [f(2, 8)], {}),
    ("rfft", [f(2, 8)], {"fft_length": 10}),
    ("stft", [f(2, 30), 8, 4, 10], {}),
    ("stft", [f(2, 30), 8, 4, 8], {"window": "hamming", "center": False}),
    ("stft", [f(2, 30), 7, 4, 10], {}),
    ("stft", [f(2, 30), 5, 4, 8], {"window": None}),
    ("istft", [(f(2, 7, 5), f(2, 7, 5)), 5, 4, 8], {"window": None}),
    ("istft", [(f(2, 7, 5), f(2, 7, 5)), 8, 4, 8], {}),
    ("istft", [(f(2, 7, 5), f(2, 7, 5)), 8, 4, 8], {"length": 20}),
    ("in_top_k", [n(2), f(2, 6)], {"k": 2}),
    ("logdet", [matrix(2, 3, 3)], {}),
    ("segment_max", [f(5, 2), np.array([0, 0, 2, 2, 1])], {"num_segments": 3}),
    ("segment_min", [f(5, 2), np.array([0, 0, 2, 2, 1])], {"num_segments": 3}),
    ("segment_prod", [f(5, 2), np.array([0, 0, 2, 2, 1])], {"num_segments": 3}),
    ("segment_sum", [f(5, 2), np.array([0, 0, 2, 2, 1])], {"num_segments": 4}),
    ("top_k", [f(2, 6), 2], {}),
    ("view_as_complex", [f(2, 3, 2)], {}),
    # -- matrices ------------------------------------------------------------------------------
    ("cholesky", [matrix(2, 3, 3)], {}),
    ("cholesky", [matrix(2, 3, 3)], {"upper": True}),
    ("cholesky_inverse", [matrix(3, 3)], {}),
    ("det", [f(2, 3, 3)], {}),
    ("inv", [matrix(2, 3, 3)], {}),
    ("lstsq", [f(5, 3), f(5, 2)], {}),
    ("matrix_rank", [f(4, 3)], {}),
    ("norm", [X], {}),
    ("norm", [X], {"axis": -1}),
    ("norm", [X], {"ord": 1, "axis": 1, "keepdims": True}),
    ("norm", [X], {"ord": "fro", "axis": (1, 2)}),
    ("norm", [X], {"ord": float("inf"), "axis": (0, 1), "keepdims": True}),
    ("pinv", [f(4, 3)], {}),
    ("solve", [matrix(2, 3, 3), f(2, 3, 2)], {}),
    ("solve_triangular", [matrix(3, 3), f(3, 2)], {"lower": True}),
    ("svd", [f(4, 3)], {"compute_uv": False}),
    # -- networks ------------------------------------------------------------------------------
    ("average_pool", [IMAGE, 2], {"strides": 2}),
    ("max_pool", [IMAGE, (2, 3)], {"strides": 1, "padding": "same"}),
    ("max_pool", [f(2, 9, 3), 2], {"strides": 3}),
    ("conv", [IMAGE, f(3, 3, 3, 4)], {}),
    ("conv", [IMAGE, f(3, 3, 3, 4)], {"strides": 2, "padding": "same"}),
    ("conv", [f(2, 5, 5, 5, 2), f(2, 2, 2, 2, 3)], {}),
    ("conv_transpose", [IMAGE, f(3, 3, 4, 3)], {"strides": 2, "padding": "same"}),
    ("depthwise_conv", [IMAGE, f(3, 3, 3, 2)], {}),
    ("separable_conv", [IMAGE, f(3, 3, 3, 2), f(1, 1, 6, 4)], {"padding": "same"}),
    ("depth_to_space", [f(2, 3, 4, 8), 2], {}),
    ("space_to_depth", [f(2, 4, 6, 3), 2], {}),
    ("fold", [f(2, 12, 12), (5, 6), 2], {"stride": 2, "padding": 1}),
    ("unfold", [f(2, 3, 5, 6), 2], {"stride": 2, "padding": 1}),
    ("unfold", [f(2, 3, 5, 6), (2, 3)], {"dilation": 2}),
    ("one_hot", [n(2, 3), 5], {}),
    ("one_hot", [n(2, 3), 5], {"axis": 1, "dtype": "int32"}),
    ("binary_crossentropy", [p(2, 3), p(2, 3)], {}),
    ("binary_crossentropy", [p(2, 3), f(2, 3)], {"from_logits": True}),
    ("categorical_crossentropy", [p(2, 3), p(2, 3)], {}),
    ("categorical_crossentropy", [p(2, 3), f(2, 3)], {"from_logits": True}),
    ("sparse_categorical_crossentropy", [n(2), p(2, 5)], {}),
    ("batch_normalization", [X, f(4), p(4), -1], {}),
    ("batch_normalization", [X, f(3), p(3), 1, f(3), f(3)], {"epsilon": 0.1}),
    ("layer_normalization", [X], {}),
    ("layer_normalization", [X, f(4), f(4)], {"epsilon": 0.01}),
    ("normalize", [X], {}),
    ("normalize", [X], {"axis": 1, "order": 1}),
    ("rms_normalization", [X], {}),
    ("rms_normalization", [X, f(4)], {}),
    ("psnr", [p(2, 3), p(2, 3)], {"max_val": 1.0}),
    ("dot_product_attention", [f(2, 3, 4, 5), f(2, 6, 4, 5), f(2, 6, 4, 5)], {}),
    ("dot_product_attention", [f(2, 3, 4, 5)] * 3, {"is_causal": True}),
    ("dot_product_attention", [f(2, 3, 4, 5)] * 3, {"mask": b(2, 4, 3, 3), "scale": 0.3}),
    # -- images --------------------------------------------------------------------------------
    *[
        ("image.resize", [IMAGE, size], {"interpolation": method})
        for size in ((3, 9), (12, 4))
        for method in ("nearest", "bilinear", "bicubic", "lanczos3")
    ],
    ("image.resize", [IMAGE, (3, 2)], {"antialias": True}),
    ("image.resize", [IMAGE, (4, 4)], {"crop_to_aspect_ratio": True}),
    ("image.resize", [IMAGE, (4, 4)], {"pad_to_aspect_ratio": True, "fill_value": 0.5}),
    ("image.rgb_to_grayscale", [IMAGE], {}),
    ("image.rgb_to_hsv", [IMAGE], {}),
    ("image.hsv_to_rgb", [IMAGE], {}),
    ("image.pad_images", [IMAGE, 1, 2, 0, 1], {}),
    (
        "image.pad_images",
        [IMAGE],
        {"top_padding": 1, "left_padding": 2, "target_height": 9, "target_width": 8},
    ),
    ("image.crop_images", [IMAGE, 1, 2, 0, 1], {}),
    ("image.crop_images", [IMAGE, 1, 1], {"target_height": 3, "target_width": 2}),
    ("image.gaussian_blur", [IMAGE], {"sigma": (0.5, 1.5), "data_format": "channels_last"}),
    *[
        (
            "image.map_coordinates",
            [f(4, 5), np.array(PLACES, "float32"), order],
            {"fill_mode": mode},
        )
        for order in (0, 1)
        for mode in ("constant", "mirror", "nearest", "reflect", "wrap")
    ],
    ("image.ssim", [IMAGE, IMAGE], {"filter_size": 3, **LAST}),
    *[
        (
            "image.affine_transform",
            [IMAGE, np.array([[1.0, 0.2, -2.5, 0.1, 0.9, 3.4, 0.0, 0.0]] * 2, "float32")],
            {"fill_mode": mode, **LAST},
        )
        for mode in ("mirror", "wrap")
    ],
    (
        "image.affine_transform",
        [IMAGE, np.array([[1.0, 0.2, -0.5, 0.1, 0.9, 0.4, 0.0, 0.0]] * 2, "float32")],
        {"fill_mode": "nearest"},
    ),
]


#: How many of them Keras can describe.
SYMBOLIC = len(CASES)

#: Calls with symbolic tensors that fail in Keras, or whose result it describes wrongly.
CASES += [
    ("lu_factor", [f(3, 3)], {}),
    ("image.extract_patches", [IMAGE, (3, 2)], {"strides": 2, "padding": "same", **LAST}),
    ("image.extract_patches_3d", [f(2, 4, 5, 3, 2), (2, 3, 1)], {"strides": (1, 2, 2), **LAST}),
    *[(name, [b(2, 3)], {}) for name in words("absolute max amin nanmax trunc")],
    ("rearrange", [f(2, 6, 3), "b (h w) c -> (b h) c w"], {"h": 2}),
    ("unique", [np.array([[2, 1], [0, 3], [2, 1]], "int32")], {"axis": 0, "return_inverse": True}),
    ("unique", [np.array([[2, 1, 2], [0, 3, 0]], "int32")], {"axis": 1, "return_counts": True}),
    ("max", [np.zeros((2, 0), "float32")], {"axis": 1, "initial": 3.0}),
    ("nanmedian", [np.array([[np.inf, 1, np.nan], [np.inf, np.inf, 2]], "float32")], {"axis": 1}),
    ("nanmedian", [np.array([[-np.inf, 1.0], [2.0, 4.0]], "float32")], {"axis": 1}),
    ("quantile", [np.array([-0.0, -np.inf, 65504], "float32"), 0.3], {}),
    ("quantile", [np.array([-np.inf, 2.0], "float32"), 0.5], {"method": "higher"}),
    ("quantile", [np.array([1.0, np.inf], "float32"), 0.5], {"method": "lower"}),
    ("nanmean", [np.full((3, 2), 2**31 - 1, "int32")], {"axis": 0}),
    *[
        (name, [np.array([[1.0, -np.inf], [np.nan, 3.0]], "float32")], {"axis": 1})
        for name in words("nanmean nanstd nanvar")
    ],
    *[
        (name, [np.array(x1, "int32"), np.array(x2, "int32")], {})
        for name in words("fmod gcd")
        for x1, x2 in [([7, -5, 65536], -(2**31)), ([-(2**31)], [[46341], [-3]])]
    ],
    ("fmod", [np.array(-(2**31), "int32"), np.array([0.25, 3.0, 46341.0], "float32")], {}),
    (
        "ldexp",
        [
            np.array([0.0, 1e-30, 1e30, 1e-45, 1.0], "float32"),
            np.array([46341, 140, -150, 150, -140], "int32"),
        ],
        {},
    ),
    ("argpartition", [f(2, 3), 1], {"axis": None}),
    (
        "image.scale_and_translate",
        [
            f(2, 4, 5),
            (2, 6, 7),
            np.array([1.5, 0.7], "float32"),
            np.array([0.3, -0.2], "float32"),
            (1, 2),
            "cubic",
        ],
        {},
    ),
    ("ctc_decode", [f(2, 5, 4), [5, 3]], {}),
    ("ctc_decode", [f(2, 5, 3), [5, 3]], {"strategy": "beam_search", "top_paths": 2}),
    ("add", [f(2, 3), [1.0, 2.0, 3.0]], {}),
    ("corrcoef", [f(3, 8)], {}),
    ("digitize", [f(2, 3), [-1.0, 0.0, 1.0]], {}),
    ("get_item", [X, slice(1, None)], {}),
    ("hstack", [[f(3), f(4)]], {}),
    ("searchsorted", [[0.0, 0.3, 0.6], p(2)], {}),
    ("searchsorted", [[0.0, 0.3, 0.6], p(2)], {"side": "right"}),
    ("tensordot", [X, f(4, 3)], {"axes": [[1, 2], [1, 0]]}),
    ("slogdet", [f(2, 3, 3)], {}),
    ("adaptive_average_pool", [IMAGE, (3, 2)], {}),
    ("adaptive_max_pool", [IMAGE, (3, 5)], {}),
    ("conv", [f(2, 9, 4), f(3, 2, 4)], {"dilation_rate": 2}),
    ("multi_hot", [n(2, 3), 5], {}),
    ("polar", [p(2, 3), f(2, 3)], {}),
    ("bincount", [n(7)], {}),
    ("bincount", [n(2, 7)], {"minlength": 5}),
    ("linspace", [f(2), f(2)], {"num": 5}),
    ("linspace", [0.0, 1.0], {"num": 5, "endpoint": False}),
    ("linspace", [-2.0, 3.0], {"num": 7, "dtype": "int32"}),
    ("linspace", [-11.0, 0.0], {"num": 12, "dtype": "int32"}),
    ("linspace", [-2.5, [3.0, -7.0]], {"num": 1, "dtype": "int32"}),
    ("logspace", [0.0, 1.0], {"num": 5}),
    ("geomspace", [1.0, 100.0], {"num": 4}),
    ("moments", [X, 1], {}),
    ("moments", [X, None], {}),
    ("diagflat", [f(0)], {"k": 2}),
    *[
        ("saturate_cast", [np.array([-7e4, -2, 0.5, 300, 7e4], "float32"), dtype], {})
        for dtype in words("bool int8 int16 uint8 uint16 uint32")
    ],
]


def array_of(description: Given, rng: np.random.Generator) -> Any:
    """The elements."""
    kind, shape = description
    floats = rng.normal(0, 1, shape).astype("float32")
    if kind == "part":
        return rng.uniform(0.1, 0.9, shape).astype("float32")
    if kind == "above":
        return 1 + np.abs(floats)
    if kind == "whole":
        return rng.integers(0, 5, shape).astype("int32")
    if kind == "positive whole":
        return rng.integers(1, 5, shape).astype("int32")
    if kind == "truth":
        return rng.integers(0, 2, shape).astype(bool)
    if kind == "nan":
        return np.where(rng.uniform(size=shape) < 0.3, np.float32("nan"), floats)
    if kind == "matrix":
        return np.eye(shape[-1], dtype="float32") * 3 + floats @ np.swapaxes(floats, -1, -2) / 9
    return floats


def mapped(function: Any, value: Any) -> Any:
    """Call a function with each Given in a structure."""
    if isinstance(value, Given):
        return function(value)
    if isinstance(value, dict):
        return {key: mapped(function, value) for key, value in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, value) for value in value)
    return value


@cache
def elements(number: int) -> tuple[Any, ...]:
    """A case's arguments, with arrays."""
    rng = np.random.default_rng(number)
    _, args, options = CASES[number]
    return mapped(lambda value: array_of(value, rng), args), mapped(
        lambda value: array_of(value, rng), options
    )


def function(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def flat(result: Any) -> list[Any]:
    """The results of a call."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def write_results(file: Path) -> None:
    """Compute all by Keras."""
    import keras

    results = []
    for number, (name, _, _) in enumerate(CASES):
        args, options = elements(number)
        result = function(keras.ops, name)(*args, **options)
        results.append([np.asarray(leaf) for leaf in flat(result)])
    file.write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    write_results(Path(sys.argv[1]))
