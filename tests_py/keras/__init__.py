"""The Layers API beside Keras itself, which computes with JAX.

JAX's gradient of a maximum goes to the elements that equal it, divided by their number. XLA
computes elements anew where they are used again; if a product and a sum are rounded separately in
one place, and once, by a fused multiply-add, in the other, then no element equals the maximum, and
the gradient is 0 / 0. So here they are rounded separately everywhere (``test_jax_gradients``).
"""

import os
from pathlib import Path
from platform import machine

#: Instructions up to AVX have no fused multiply-add. Those of other processors always have one;
#: there each result is computed once and stored, which takes twice as long to compile.
SEPARATE_ROUNDING = (
    "--xla_cpu_max_isa=AVX"
    if machine().lower() in ("amd64", "x86_64")
    else "--xla_disable_hlo_passes=fusion"
)

os.environ["KERAS_BACKEND"] = "jax"
# What is compiled runs once: quick compilation is worth more than quick code. The emitters of
# fusions, and the threads that compile parts of a program, take half of the time.
os.environ["XLA_FLAGS"] = " ".join(
    [
        "--xla_backend_optimization_level=0",
        "--xla_llvm_disable_expensive_passes=true",
        "--xla_cpu_use_fusion_emitters=false",
        "--xla_cpu_parallel_codegen_split_count=1",
        SEPARATE_ROUNDING,
    ]
)

# Tests build the same model several times, and each time JAX would compile the same programs anew.
_PROGRAMS = Path(__file__).parents[2] / "dist" / "jax"
os.environ |= {
    "JAX_COMPILATION_CACHE_DIR": str(_PROGRAMS),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
