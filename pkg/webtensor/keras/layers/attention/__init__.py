"""Attention: weighted sums of values, with weights that say how well keys match queries.

``dot`` has the layers without projections, ``multi_head`` and ``grouped_query`` those with heads,
``heads`` what these two share; ``score_masks`` has masks.
"""

from webtensor.keras.layers.attention.dot import AdditiveAttention, Attention
from webtensor.keras.layers.attention.grouped_query import GroupQueryAttention
from webtensor.keras.layers.attention.multi_head import MultiHeadAttention

__all__ = ["AdditiveAttention", "Attention", "GroupQueryAttention", "MultiHeadAttention"]
