"""Tests of ``webtensor.io`` and of the plain data under it."""
