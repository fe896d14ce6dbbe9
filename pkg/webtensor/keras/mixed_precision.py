"""``keras.mixed_precision``: policies under the names that scripts for other devices use."""

from webtensor.keras.dtype_policies import DTypePolicy, dtype_policy, set_dtype_policy
from webtensor.keras.optimizers import LossScaleOptimizer

__all__ = [
    "DTypePolicy",
    "LossScaleOptimizer",
    "Policy",
    "dtype_policy",
    "global_policy",
    "set_dtype_policy",
    "set_global_policy",
]

Policy = DTypePolicy
global_policy = dtype_policy
set_global_policy = set_dtype_policy
