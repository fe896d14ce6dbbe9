"""Data pipelines: TensorFlow.js's ``tf.data``, and TensorFlow's.

Elements come from Python's values, tensors, generators, text files, servers, cameras and
microphones; transformations map, shuffle and batch them, one element at a time.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents("""
    byte_sources: FileDataSource URLDataSource
    csv_files: CSVDataset csv
    dataset: Dataset INFINITE_CARDINALITY UNKNOWN_CARDINALITY
    microphones: Microphone microphone
    python_values: array func generator zip
    signatures: TensorSpec
    tables: ColumnConfig
    text_lines: TextLineDataset
    transformations: AUTOTUNE
    webcams: Webcam webcam
""")

__all__ = [  # noqa: PLE0604  (they are strings)
    *(name for names in _CONTENTS.values() for name in names),
]

if TYPE_CHECKING:
    from webtensor.data.byte_sources import (
        FileDataSource as FileDataSource,
        URLDataSource as URLDataSource,
    )
    from webtensor.data.csv_files import CSVDataset as CSVDataset, csv as csv
    from webtensor.data.dataset import (
        INFINITE_CARDINALITY as INFINITE_CARDINALITY,
        UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
        Dataset as Dataset,
    )
    from webtensor.data.microphones import Microphone as Microphone, microphone as microphone
    from webtensor.data.python_values import (
        array as array,
        func as func,
        generator as generator,
        zip as zip,
    )
    from webtensor.data.signatures import TensorSpec as TensorSpec
    from webtensor.data.tables import ColumnConfig as ColumnConfig
    from webtensor.data.text_lines import TextLineDataset as TextLineDataset
    from webtensor.data.transformations import AUTOTUNE as AUTOTUNE
    from webtensor.data.webcams import Webcam as Webcam, webcam as webcam
else:
    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS)
