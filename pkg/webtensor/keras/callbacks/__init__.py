"""Callbacks: objects that ``fit``, ``evaluate`` and ``predict`` call as they run.

``callback`` has the base class and the list that a loop calls, ``monitor`` the base class of
callbacks that monitor a metric; the other modules have the callbacks, by what they do.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents(
    """
    callback: Callback CallbackList History LambdaCallback
    checkpoints_and_logs: BackupAndRestore CSVLogger ModelCheckpoint
    learning_rates: LearningRateScheduler ReduceLROnPlateau
    progress: ProgbarLogger
    remote_monitor: RemoteMonitor
    stopping: EarlyStopping TerminateOnNaN
    tensorboard: TensorBoard
    weight_averages: SwapEMAWeights
    """
)

if TYPE_CHECKING:
    from webtensor.keras.callbacks.callback import (
        Callback as Callback,
        CallbackList as CallbackList,
        History as History,
        LambdaCallback as LambdaCallback,
    )
    from webtensor.keras.callbacks.checkpoints_and_logs import *
    from webtensor.keras.callbacks.learning_rates import *
    from webtensor.keras.callbacks.progress import *
    from webtensor.keras.callbacks.remote_monitor import *
    from webtensor.keras.callbacks.stopping import *
    from webtensor.keras.callbacks.tensorboard import *
    from webtensor.keras.callbacks.weight_averages import *
else:
    __all__ = [  # noqa: PLE0604  (they are strings)
        *(name for names in _CONTENTS.values() for name in names),
    ]

    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS)
