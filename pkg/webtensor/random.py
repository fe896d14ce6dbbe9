"""``wt.random``: random numbers, under the names that NumPy, TensorFlow and JAX have for them.

Each is a function of ``wt``, such as ``wt.random_normal``, under a shorter name.

Example:
    >>> import webtensor as wt
    >>> wt.random.seed(7)
    >>> wt.random.normal((2, 3)).shape
    (2, 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import lazy_aliases

if TYPE_CHECKING:
    from webtensor.ops import (
        multinomial as categorical,
        multinomial as multinomial,
        rand as rand,
        random_gamma as gamma,
        random_normal as normal,
        random_standard_normal as standard_normal,
        random_uniform as uniform,
        random_uniform_int as randint,
        set_random_seed as seed,
        truncated_normal as truncated_normal,
    )
else:
    _NAMES = {
        "categorical": "multinomial",
        "gamma": "random_gamma",
        "multinomial": "multinomial",
        "normal": "random_normal",
        "rand": "rand",
        "randint": "random_uniform_int",
        "seed": "set_random_seed",
        "standard_normal": "random_standard_normal",
        "truncated_normal": "truncated_normal",
        "uniform": "random_uniform",
    }
    __getattr__, __dir__ = lazy_aliases(__name__, "webtensor", _NAMES)

__all__ = [
    "categorical",
    "gamma",
    "multinomial",
    "normal",
    "rand",
    "randint",
    "seed",
    "standard_normal",
    "truncated_normal",
    "uniform",
]
