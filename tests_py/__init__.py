"""Tests that run in CPython: every op on the NumPy and WASM backends, the engine, the optimizers.

`cases` is the table of op cases, which the tests in browsers run too.
"""
