"""Functions that return random numbers.

With an integer as its seed, a function returns the same numbers at each call; with a SeedGenerator
different ones; with None, numbers that ``wt.set_random_seed`` determines. The numbers are not the
ones that Keras returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import exp, floor, lgamma, log, log1p, sqrt

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.seeds import Seed, SeedGenerator, draw_seed
from webtensor.keras.types import DTypeLike
from webtensor.keras.uniform_and_normal import (
    ShapeLike,
    check_dtype,
    normal,
    truncated_normal,
    uniform,
)
from webtensor.ops.random_bits import unit_numbers
from webtensor.shapes import as_shape, broadcast_shapes, normalize_axis

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "dropout",
    "gamma",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]


def _further_seed(seed: int, number: int) -> int:
    """Return another seed for the same call, a different one for each number."""
    return seed ^ number << 48


# -- integers ----------------------------------------------------------------------------------


def randint(
    shape: ShapeLike,
    minval: float,
    maxval: float,
    dtype: DTypeLike = "int32",
    seed: Seed = None,
) -> Tensor:
    """Draw integers of a uniform distribution over [minval, maxval); ``minval`` if that is empty.

    Raises:
        ValueError: ``dtype`` is not an integer dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.random.randint((2,), 3, 4).tolist()
        [3, 3]
    """
    check_dtype("randint", dtype, int32)
    call_seed, low, high = draw_seed("randint", seed), int(minval), int(maxval)
    if high <= low:
        return wt.full(as_shape("randint", shape), low, int32)
    return wt.random_uniform_int(shape, low, high, call_seed)


def categorical(
    logits: TensorLike,
    num_samples: int,
    dtype: DTypeLike = "int32",
    seed: Seed = None,
) -> Tensor:
    """Draw classes with the probabilities that logits stand for: ``(batch, num_samples)``.

    Raises:
        ValueError: the logits are not (batch, classes).

    Example:
        >>> from webtensor import keras
        >>> keras.random.categorical([[0.0, 100.0]], 3).tolist()
        [[1, 1, 1]]
    """
    logits = wt.asarray(logits)
    if len(logits.shape) != 2:
        raise ValueError(
            f"categorical: logits must be (batch, classes), but their shape is {logits.shape}"
        )
    classes = wt.multinomial(logits, num_samples, draw_seed("categorical", seed))
    return wt.astype(classes, storage_dtype(dtype, int32), copy=False)


def shuffle(x: TensorLike, axis: int = 0, seed: Seed = None) -> Tensor:
    """Put the slices along an axis in a random order.

    Example:
        >>> from webtensor import keras
        >>> sorted(keras.random.shuffle([3, 1, 2]).tolist())
        [1, 2, 3]
    """
    x = wt.asarray(x)
    axis = normalize_axis("shuffle", axis, len(x.shape))
    keys = unit_numbers("shuffle", (x.shape[axis],), draw_seed("shuffle", seed))
    return wt.gather(x, wt.argsort(keys), axis)


def dropout(
    inputs: TensorLike,
    rate: float,
    noise_shape: Sequence[int | None] | None = None,
    seed: Seed = None,
) -> Tensor:
    """Set elements to zero with probability ``rate``, and divide the others by ``1 - rate``.

    Along the axes where ``noise_shape`` has size 1, elements are set to zero together; None in it
    stands for the size of ``inputs``.

    Example:
        >>> from webtensor import keras
        >>> keras.random.dropout([1.0, 2.0], 0.0).tolist()
        [1.0, 2.0]
    """
    if rate >= 1:
        return wt.zeros_like(inputs)
    return wt.dropout(inputs, rate, noise_shape, draw_seed("dropout", seed))


# -- distributions with parameters -------------------------------------------------------------


def _draw_elementwise(
    name: str,
    shape: ShapeLike,
    parameters: Sequence[TensorLike],
    draw: Callable[..., Tensor],
    seed: int,
) -> Tensor:
    """Draw numbers of a distribution whose parameters are numbers, or tensors that broadcast.

    ``draw(shape, seed, *numbers)`` is called once for each distinct combination of parameters.
    The values of tensors are read from the device.
    """
    dimensions = as_shape(name, shape)
    if all(isinstance(parameter, (int, float)) for parameter in parameters):
        return draw(dimensions, seed, *parameters)
    tensors = [wt.asarray(parameter) for parameter in parameters]
    common: tuple[int, ...] = ()
    for tensor in tensors:
        common = broadcast_shapes(name, common, tensor.shape)
    if broadcast_shapes(name, common, dimensions) != dimensions:
        raise ValueError(
            f"{name}: parameters of shape {common} do not broadcast to the shape {dimensions}"
        )
    columns = [wt.broadcast_to(tensor, common).flatten().tolist() for tensor in tensors]
    combinations = list(zip(*columns, strict=True))
    indices = {numbers: index for index, numbers in enumerate(dict.fromkeys(combinations))}
    index_of_element = wt.tensor([indices[numbers] for numbers in combinations], common)
    result = wt.zeros(dimensions)
    for numbers, index in indices.items():
        drawn = draw(dimensions, _further_seed(seed, index << 1), *numbers)
        result = wt.where(wt.equal(index_of_element, index), drawn, result)
    return result


def gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    dtype: DTypeLike = None,
    seed: Seed = None,
) -> Tensor:
    """Draw numbers of a gamma distribution with the shape parameter ``alpha`` and scale 1.

    Raises:
        ValueError: ``dtype`` is not a float dtype, or ``alpha`` is not positive.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> bool(wt.all(keras.random.gamma((100,), 0.5) >= 0))
        True
    """
    check_dtype("gamma", dtype, float32)
    return _draw_elementwise("gamma", shape, (alpha,), _gamma, draw_seed("gamma", seed))


def _gamma(shape: Sequence[int], seed: int, alpha: float) -> Tensor:
    return wt.random_gamma(shape, alpha, seed=seed)


def beta(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike,
    dtype: DTypeLike = None,
    seed: Seed = None,
) -> Tensor:
    """Draw numbers of a beta distribution with the parameters ``alpha`` and ``beta``.

    ``a / (a + b)``, where ``a`` and ``b`` are numbers of gamma distributions.

    Raises:
        ValueError: ``dtype`` is not a float dtype, or a parameter is not positive.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> bool(wt.all(keras.random.beta((100,), 0.5, 2.0) <= 1))
        True
    """
    check_dtype("beta", dtype, float32)
    call_seed = draw_seed("beta", seed)
    a = _draw_elementwise("beta", shape, (alpha,), _gamma, call_seed)
    b = _draw_elementwise("beta", shape, (beta,), _gamma, _further_seed(call_seed, 1))
    return wt.divide(a, a + b)


def binomial(
    shape: ShapeLike,
    counts: TensorLike,
    probabilities: TensorLike,
    dtype: DTypeLike = None,
    seed: Seed = None,
) -> Tensor:
    """Draw numbers of a binomial distribution: how many of ``counts`` trials succeed.

    Raises:
        ValueError: ``dtype`` is not a float dtype, a count is negative, or a probability is
            outside [0, 1].

    Example:
        >>> from webtensor import keras
        >>> keras.random.binomial((2,), 5, 1.0).tolist()
        [5.0, 5.0]
    """
    check_dtype("binomial", dtype, float32)
    call_seed = draw_seed("binomial", seed)
    return _draw_elementwise("binomial", shape, (counts, probabilities), _binomial, call_seed)


#: Counts farther from the mean than this, in standard deviations, are not drawn.
_MAX_DEVIATIONS = 8


def _binomial(shape: Sequence[int], seed: int, count: float, probability: float) -> Tensor:
    """Draw by comparing uniform numbers with the cumulative distribution."""
    n = floor(count)
    if n < 0:
        raise ValueError(f"binomial: counts must not be negative, but got {count}")
    if not 0 <= probability <= 1:
        raise ValueError(f"binomial: probabilities must lie in [0, 1], but got {probability}")
    if probability in (0, 1):
        return wt.full(shape, n * probability, float32)
    mean = n * probability
    radius = _MAX_DEVIATIONS * sqrt(n * probability * (1 - probability)) + 1
    first, last = max(0, floor(mean - radius)), min(n, floor(mean + radius) + 1)
    log_success, log_failure = log(probability), log1p(-probability)

    def mass(k: int) -> float:
        """Return the probability of ``k`` successes."""
        log_combinations = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return exp(log_combinations + k * log_success + (n - k) * log_failure)

    cumulative = wt.tensor(list(accumulate(map(mass, range(first, last)))), dtype=float32)
    return wt.upper_bound(cumulative, unit_numbers("binomial", shape, seed)) + float(first)
