"""Recurrent layers: cells, which compute a step, and layers that call them step by step.

``cell`` has what cells with gates share, ``rnn`` the loop over the steps and what layers share.
``simple_rnn``, ``lstm``, ``gru`` and ``conv_lstm`` have one kind of cell and its layers each,
``stacked`` has cells that are made of several.
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
