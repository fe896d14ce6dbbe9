"""Tests of charts, whose SVG ``pictures`` reads."""
