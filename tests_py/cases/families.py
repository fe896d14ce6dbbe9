"""Every case, by family: one page call each in browsers."""

from collections.abc import Sequence
from dataclasses import replace

from tests_py.cases import (
    binary,
    complexes,
    contractions,
    creation,
    distributions,
    dynamic,
    fourier,
    images,
    layout,
    linalg,
    losses,
    movement,
    nn,
    normalizing,
    reductions,
    scans,
    scatter,
    sorting,
    sparse,
    statistics,
    unary,
    volumes,
    windows,
)
from tests_py.cases.table import Case, one_of_each_name

__all__ = ["FAMILIES"]


def sampled(cases: Sequence[Case]) -> list[Case]:
    """Mark every sixth case as one of the sample."""
    return [replace(case, sample=place % 6 == 0) for place, case in enumerate(cases)]


FAMILIES: dict[str, list[Case]] = {
    name: one_of_each_name(sampled(cases) if "gradients" in name else cases)
    for name, cases in {
        "unary": unary.UNARY,
        "unary gradients": unary.GRADIENTS,
        "binary": binary.BINARY,
        "where and clip": binary.WHERE_AND_CLIP,
        "operators": binary.OPERATORS,
        "binary gradients": binary.GRADIENTS,
        "complex": complexes.COMPLEX,
        "complex gradients": complexes.GRADIENTS,
        "fourier transforms": fourier.FOURIER,
        "windows and frames": fourier.SIGNAL,
        "fourier gradients": fourier.GRADIENTS,
        "factorizations": linalg.FACTORIZATIONS,
        "products and norms": linalg.PRODUCTS,
        "einsum": linalg.EINSUM,
        "linear algebra gradients": linalg.GRADIENTS,
        "reductions": reductions.REDUCTIONS,
        "argmax and argmin": reductions.ARG_REDUCTIONS,
        "reduction gradients": reductions.GRADIENTS,
        "matmul": contractions.MATMUL,
        "matmul gradients": contractions.GRADIENTS,
        "conv2d": windows.CONV2D,
        "depthwise_conv2d": windows.DEPTHWISE,
        "convolution gradients": windows.CONV_GRADIENTS,
        "pooling": windows.POOLING,
        "pooling gradients": windows.POOL_GRADIENTS,
        "movement": movement.MOVEMENT,
        "indexing": movement.INDEXING,
        "joining and gathering": movement.JOINING,
        "movement gradients": movement.GRADIENTS,
        "creation": creation.CREATION,
        "casts": creation.CASTS,
        "random": creation.RANDOM,
        "distributions": distributions.DISTRIBUTIONS,
        "softmax and one_hot": nn.NN,
        "softmax gradients": nn.GRADIENTS,
        "arranging": layout.ARRANGING,
        "arranging gradients": layout.GRADIENTS,
        "statistics": statistics.STATISTICS,
        "statistics gradients": statistics.GRADIENTS,
        "dynamic shapes": dynamic.DYNAMIC,
        "dynamic shapes gradients": dynamic.GRADIENTS,
        "sparse": sparse.SPARSE,
        "ragged": sparse.RAGGED,
        "sparse and ragged gradients": sparse.GRADIENTS,
        "picking": scatter.GATHERING,
        "scattering": scatter.SCATTERING,
        "scattering gradients": scatter.GRADIENTS,
        "scans": scans.SCANS,
        "scan gradients": scans.GRADIENTS,
        "sorting": sorting.SORTING,
        "searching": sorting.SEARCHING,
        "sorting gradients": sorting.GRADIENTS,
        "other convolutions": volumes.CONVOLUTIONS,
        "dilation2d": volumes.DILATION,
        "other convolution gradients": volumes.CONVOLUTION_GRADIENTS,
        "other pools": volumes.POOLS,
        "other pool gradients": volumes.POOL_GRADIENTS,
        "normalization": normalizing.NORMALIZATION,
        "recurrent cells": normalizing.CELLS,
        "fused": normalizing.FUSED,
        "normalization gradients": normalizing.GRADIENTS,
        "resizing": images.RESIZING,
        "image sampling": images.SAMPLING,
        "image colors": images.COLORS,
        "non-max suppression": images.SUPPRESSION,
        "image gradients": images.GRADIENTS,
        "losses": losses.LOSSES,
        "loss gradients": losses.GRADIENTS,
    }.items()
}
