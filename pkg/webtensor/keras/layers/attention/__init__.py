"""Attention: weighted sums of values, whose weights come of how keys fit queries.

``scores`` has the masks and the weights, ``dot`` the layers without weights of their own,
``multi_head`` and ``grouped_query`` those with projections.
"""

from webtensor.keras.layers.attention.dot import AdditiveAttention, Attention
from webtensor.keras.layers.attention.grouped_query import GroupQueryAttention
from webtensor.keras.layers.attention.multi_head import MultiHeadAttention

__all__ = ["AdditiveAttention", "Attention", "GroupQueryAttention", "MultiHeadAttention"]
