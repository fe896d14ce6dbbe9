"""Random numbers: functions that are given seeds, and ``SeedGenerator``, which counts them on.

An integer as a seed gives the same numbers at each call, a SeedGenerator others each time, and None
what ``wt.set_random_seed`` determines. The bits are not those of Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import exp, floor, lgamma, log, log1p, sqrt
from typing import Any, Self

from webtensor import ops as wt
from webtensor.dtypes import DType, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.names import auto_name, name_scope
from webtensor.keras.types import Config, DTypeLike
from webtensor.keras.variables import Variable
from webtensor.ops.random import new_seed, unit_numbers
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

_WORD = 0xFFFFFFFF
_MOST = 0x7FFFFFFF


def _signed(number: int) -> int:
    """The lowest 32 bits of an integer, as int32 holds them."""
    return (number + _MOST + 1 & _WORD) - _MOST - 1


class SeedGenerator:
    """A seed that is another one each time.

    ``state`` holds the seed and how many were drawn. It stays on the host.

    Example:
        >>> from webtensor import keras
        >>> seed = keras.random.SeedGenerator(42)
        >>> first = keras.random.normal((2,), seed=seed).tolist()
        >>> first == keras.random.normal((2,), seed=seed).tolist()
        False
    """

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        if seed is not None and not isinstance(seed, int):
            raise ValueError(f"SeedGenerator: seed must be an integer or None, but got {seed!r}")
        self.seed = seed
        self.name = name or auto_name("seed_generator")
        first = new_seed() & _MOST if seed is None else seed
        with name_scope(self.name), outside_scopes():
            self.state = Variable(
                wt.tensor([_signed(first), 0]), trainable=False, name="seed_generator_state"
            )

    def next(self, ordered: bool = True) -> int:
        """Return a seed, a 64-bit integer, and count on."""
        first, count = map(int, self.state.value.tolist())
        self.state.assign([first, _signed(count + 1)])
        return first & _WORD | (count & _WORD) << 32

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make one with the arguments in a configuration."""
        return cls(**config)


def draw_seed(name: str, seed: int | SeedGenerator | None) -> int:
    """Return the 64-bit integer that a seed stands for at this call of ``name``.

    Raises:
        ValueError: it is no seed.
    """
    if seed is None:
        return new_seed()
    if isinstance(seed, SeedGenerator):
        return seed.next()
    if not isinstance(seed, int):
        raise ValueError(
            f"{name}: seed must be an integer, a SeedGenerator or None, but got {seed!r}"
        )
    return seed


def _another(seed: int, number: int) -> int:
    """Return one more seed for the same call; ``number`` tells them apart."""
    return seed ^ number << 48


def _dtype(name: str, dtype: Any, wanted: DType) -> DType:
    """Return the dtype in which such numbers are held, as that of ``dtype`` must be."""
    made = held_dtype(dtype, wanted)
    if made is not wanted:
        kind = "integers" if wanted is int32 else "floats"
        raise ValueError(f"{name}: dtype must be one of {kind}, but got {dtype!r}")
    return made


# -- uniform and normal ------------------------------------------------------------------------


def uniform(
    shape: int | Sequence[int],
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DTypeLike = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Numbers uniformly distributed in [minval, maxval).

    Raises:
        ValueError: ``dtype`` is none of floats.
    """
    made = _dtype("uniform", dtype, float32)
    return wt.random_uniform(shape, minval, maxval, made, draw_seed("uniform", seed))


def normal(
    shape: int | Sequence[int],
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Numbers with a normal distribution.

    Raises:
        ValueError: ``dtype`` is none of floats.
    """
    made = _dtype("normal", dtype, float32)
    return wt.random_normal(shape, mean, stddev, made, draw_seed("normal", seed))


def truncated_normal(
    shape: int | Sequence[int],
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Normal numbers, none of them farther than two standard deviations from the mean.

    Raises:
        ValueError: ``dtype`` is none of floats.
    """
    made = _dtype("truncated_normal", dtype, float32)
    return wt.truncated_normal(shape, mean, stddev, made, draw_seed("truncated_normal", seed))


# -- whole numbers -----------------------------------------------------------------------------


def randint(
    shape: int | Sequence[int],
    minval: float,
    maxval: float,
    dtype: Any = "int32",
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Integers uniformly distributed in [minval, maxval); ``minval`` where nothing lies between.

    Raises:
        ValueError: ``dtype`` is none of integers.

    Example:
        >>> from webtensor import keras
        >>> keras.random.randint((2,), 3, 4).tolist()
        [3, 3]
    """
    _dtype("randint", dtype, int32)
    drawn, low, high = draw_seed("randint", seed), int(minval), int(maxval)
    if high <= low:
        return wt.full(as_shape("randint", shape), low, int32)
    return wt.random_uniform_int(shape, low, high, drawn)


def categorical(
    logits: TensorLike,
    num_samples: int,
    dtype: Any = "int32",
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Classes drawn with the probabilities that logits give: (batch, num_samples).

    Raises:
        ValueError: the logits are not (batch, classes).

    Example:
        >>> from webtensor import keras
        >>> keras.random.categorical([[0.0, 100.0]], 3).tolist()
        [[1, 1, 1]]
    """
    held = wt.asarray(logits)
    if len(held.shape) != 2:
        raise ValueError(
            f"categorical: logits must be (batch, classes), but their shape is {held.shape}"
        )
    drawn = wt.multinomial(held, num_samples, draw_seed("categorical", seed))
    return wt.astype(drawn, held_dtype(dtype, int32), copy=False)


def shuffle(x: TensorLike, axis: int = 0, seed: int | SeedGenerator | None = None) -> Tensor:
    """The slices along an axis in a random order.

    Example:
        >>> from webtensor import keras
        >>> sorted(keras.random.shuffle([3, 1, 2]).tolist())
        [1, 2, 3]
    """
    held = wt.asarray(x)
    axis = normalize_axis("shuffle", axis, len(held.shape))
    keys = unit_numbers("shuffle", (held.shape[axis],), draw_seed("shuffle", seed))
    return wt.gather(held, wt.argsort(keys), axis)


def dropout(
    inputs: TensorLike,
    rate: float,
    noise_shape: Sequence[int | None] | None = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Set elements to zero with probability ``rate``, and divide the others by ``1 - rate``.

    ``noise_shape`` makes elements fall together along its axes of length 1; None in it stands for
    the length of ``inputs``.
    """
    if rate >= 1:
        return wt.zeros_like(inputs)
    return wt.dropout(inputs, rate, noise_shape, draw_seed("dropout", seed))


# -- distributions with parameters -------------------------------------------------------------


def _for_each(
    name: str,
    shape: int | Sequence[int],
    parameters: Sequence[TensorLike],
    draw: Callable[..., Tensor],
    seed: int,
) -> Tensor:
    """Draw with parameters that are numbers, or differ from element to element.

    ``draw(lengths, seed, *numbers)`` is called once for each different set of them, whose values
    are read from the device.
    """
    lengths = as_shape(name, shape)
    if all(isinstance(one, (int, float)) for one in parameters):
        return draw(lengths, seed, *parameters)
    held = [wt.asarray(one) for one in parameters]
    common: tuple[int, ...] = ()
    for one in held:
        common = broadcast_shapes(name, common, one.shape)
    if broadcast_shapes(name, common, lengths) != lengths:
        raise ValueError(
            f"{name}: parameters of shape {common} do not broadcast to the shape {lengths}"
        )
    columns = [wt.broadcast_to(one, common).flatten().tolist() for one in held]
    sets = list(zip(*columns, strict=True))
    known = {one: number for number, one in enumerate(dict.fromkeys(sets))}
    which = wt.tensor([known[one] for one in sets], common)
    made = wt.zeros(lengths)
    for numbers, number in known.items():
        drawn = draw(lengths, _another(seed, number << 1), *numbers)
        made = wt.where(wt.equal(which, number), drawn, made)
    return made


def gamma(
    shape: int | Sequence[int],
    alpha: TensorLike,
    dtype: DTypeLike = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Numbers with a gamma distribution of shape ``alpha`` and scale 1.

    Raises:
        ValueError: ``dtype`` is none of floats, or ``alpha`` is not positive.

    Example:
        >>> from webtensor import keras
        >>> bool(wt.all(keras.random.gamma((100,), 0.5) >= 0))
        True
    """
    _dtype("gamma", dtype, float32)
    return _for_each("gamma", shape, (alpha,), _gamma, draw_seed("gamma", seed))


def _gamma(lengths: Sequence[int], seed: int, alpha: float) -> Tensor:
    return wt.random_gamma(lengths, alpha, seed=seed)


def beta(
    shape: int | Sequence[int],
    alpha: TensorLike,
    beta: TensorLike,
    dtype: DTypeLike = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """Numbers with a beta distribution: ``a / (a + b)`` of gamma numbers of these shapes.

    Raises:
        ValueError: ``dtype`` is none of floats, or a parameter is not positive.

    Example:
        >>> from webtensor import keras
        >>> bool(wt.all(keras.random.beta((100,), 0.5, 2.0) <= 1))
        True
    """
    _dtype("beta", dtype, float32)
    drawn = draw_seed("beta", seed)
    first = _for_each("beta", shape, (alpha,), _gamma, drawn)
    second = _for_each("beta", shape, (beta,), _gamma, _another(drawn, 1))
    return wt.divide(first, first + second)


def binomial(
    shape: int | Sequence[int],
    counts: TensorLike,
    probabilities: TensorLike,
    dtype: DTypeLike = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor:
    """How many of ``counts`` events happen, each with a probability.

    Raises:
        ValueError: ``dtype`` is none of floats, a count is negative, or a probability is not one.

    Example:
        >>> from webtensor import keras
        >>> keras.random.binomial((2,), 5, 1.0).tolist()
        [5.0, 5.0]
    """
    _dtype("binomial", dtype, float32)
    drawn = draw_seed("binomial", seed)
    return _for_each("binomial", shape, (counts, probabilities), _binomial, drawn)


#: Sums of probabilities are kept within this many standard deviations of the mean.
_FARTHEST = 8


def _binomial(lengths: Sequence[int], seed: int, count: float, probability: float) -> Tensor:
    n = floor(count)
    if n < 0:
        raise ValueError(f"binomial: counts must not be negative, but got {count}")
    if not 0 <= probability <= 1:
        raise ValueError(f"binomial: probabilities must lie in [0, 1], but got {probability}")
    if probability in (0, 1):
        return wt.full(lengths, n * probability, float32)
    mean, reach = n * probability, _FARTHEST * sqrt(n * probability * (1 - probability)) + 1
    first, last = max(0, floor(mean - reach)), min(n, floor(mean + reach) + 1)
    odds = log(probability), log1p(-probability)

    def chance(k: int) -> float:
        ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return exp(ways + k * odds[0] + (n - k) * odds[1])

    edges = wt.tensor(list(accumulate(chance(k) for k in range(first, last))), dtype=float32)
    return wt.upper_bound(edges, unit_numbers("binomial", lengths, seed)) + float(first)
