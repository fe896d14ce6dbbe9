"""Tests of data pipelines."""
