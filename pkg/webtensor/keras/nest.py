"""The functions on structures of ``webtensor.nest``, by the name that layers know."""

from webtensor.nest import alike, flatten, is_nested, keys, map_structure, pack

__all__ = ["alike", "flatten", "is_nested", "keys", "map_structure", "pack"]
