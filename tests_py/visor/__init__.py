"""Tests of the visor that need no page."""
