"""Tests of the readers of models' files."""
