"""Callbacks: objects that ``fit``, ``evaluate`` and ``predict`` call as they run.

``callback`` has the base class and the list that a loop calls, ``monitor`` the base class of
callbacks that monitor a metric; the other modules have the callbacks, by what they do.
"""

from webtensor.keras.callbacks.callback import Callback, CallbackList, History, LambdaCallback
from webtensor.keras.callbacks.checkpoints_and_logs import (
    BackupAndRestore,
    CSVLogger,
    ModelCheckpoint,
)
from webtensor.keras.callbacks.learning_rates import LearningRateScheduler, ReduceLROnPlateau
from webtensor.keras.callbacks.progress import ProgbarLogger
from webtensor.keras.callbacks.remote_monitor import RemoteMonitor
from webtensor.keras.callbacks.stopping import EarlyStopping, TerminateOnNaN
from webtensor.keras.callbacks.tensorboard import TensorBoard
from webtensor.keras.callbacks.weight_averages import SwapEMAWeights

__all__ = [
    "BackupAndRestore",
    "CSVLogger",
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "ProgbarLogger",
    "ReduceLROnPlateau",
    "RemoteMonitor",
    "SwapEMAWeights",
    "TensorBoard",
    "TerminateOnNaN",
]
