"""Data pipelines: TensorFlow.js's ``tf.data``, and TensorFlow's.

Elements come from Python's values, tensors, generators, text files, servers, cameras and
microphones; transformations map, shuffle and batch them, one element at a time.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents("""
    dataset: Dataset INFINITE_CARDINALITY UNKNOWN_CARDINALITY
    python_values: array func generator zip
    signatures: TensorSpec
    transformations: AUTOTUNE
""")

if TYPE_CHECKING:
    from webtensor.data.dataset import (
        INFINITE_CARDINALITY as INFINITE_CARDINALITY,
        UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
        Dataset as Dataset,
    )
    from webtensor.data.python_values import (
        array as array,
        func as func,
        generator as generator,
        zip as zip,
    )
    from webtensor.data.signatures import TensorSpec as TensorSpec
    from webtensor.data.transformations import AUTOTUNE as AUTOTUNE
else:
    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS)
