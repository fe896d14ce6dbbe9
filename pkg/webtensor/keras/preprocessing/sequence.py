"""Sequences of one length."""

from webtensor.keras.utils.sequences import pad_sequences

__all__ = ["pad_sequences"]
