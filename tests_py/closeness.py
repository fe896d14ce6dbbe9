"""When two arrays of floats agree: within a share of each number, and of the largest one.

A sum is wrong by a share of its largest term, however small the sum is, so a tolerance relative to
each number alone fails where terms cancel.
"""

from typing import Any

import numpy as np

__all__ = ["assert_close"]


def assert_close(actual: Any, desired: Any, rtol: float) -> None:
    """Check that numbers differ by no more than ``rtol`` of the desired and of the largest one."""
    actual, desired = np.asarray(actual), np.asarray(desired)
    finite = desired[np.isfinite(desired)]
    atol = rtol * float(np.max(np.abs(finite), initial=0.0))
    np.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol)
