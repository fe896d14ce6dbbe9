"""Tests of the ready-made models for text, on vocabularies and weights with known answers."""
