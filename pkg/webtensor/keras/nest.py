"""The functions of ``webtensor.nest``, under the name that the modules of Keras import."""

from webtensor.nest import Structure, alike, flatten, is_nested, keys, map_structure, pack

__all__ = ["Structure", "alike", "flatten", "is_nested", "keys", "map_structure", "pack"]
