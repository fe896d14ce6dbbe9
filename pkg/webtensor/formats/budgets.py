"""What the readers of formats share with those of Keras's files: budgets and JSON."""

from webtensor.keras.budgets import EXPANSION, FLOOR, MAX_RANK, Budget, parse_json, reading

__all__ = ["EXPANSION", "FLOOR", "MAX_RANK", "Budget", "parse_json", "reading"]
