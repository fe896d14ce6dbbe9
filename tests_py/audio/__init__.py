"""Tests of the ready-made models for sound, on spectrograms and weights with known answers."""
