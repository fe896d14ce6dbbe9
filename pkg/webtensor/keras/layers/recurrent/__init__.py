"""Recurrent layers: cells, and layers that walk along sequences with them.

``cell`` is what cells with gates share, ``rnn`` the walk and the layers; ``simple_rnn``, ``lstm``,
``gru`` and ``conv_lstm`` have a kind of cell and its layers each, ``stacked`` cells on top of each
other.
"""

from webtensor.keras.layers.recurrent.conv_lstm import ConvLSTM1D, ConvLSTM2D, ConvLSTM3D
from webtensor.keras.layers.recurrent.gru import GRU, GRUCell
from webtensor.keras.layers.recurrent.lstm import LSTM, LSTMCell
from webtensor.keras.layers.recurrent.rnn import RNN
from webtensor.keras.layers.recurrent.simple_rnn import SimpleRNN, SimpleRNNCell
from webtensor.keras.layers.recurrent.stacked import StackedRNNCells

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "ConvLSTM1D",
    "ConvLSTM2D",
    "ConvLSTM3D",
    "GRUCell",
    "LSTMCell",
    "SimpleRNN",
    "SimpleRNNCell",
    "StackedRNNCells",
]
