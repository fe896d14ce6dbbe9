"""Formats of models' files: bytes to plain data and back; nothing is computed here."""
