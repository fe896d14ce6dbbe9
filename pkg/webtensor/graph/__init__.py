"""Graph models: graphs of operations with their weights, from TensorFlow.js and others.

``nodes`` has the nodes of a graph, ``operations`` the table of what computes them. ``compilation``
turns what is wanted of a graph into a block of steps (``blocks``); ``frames`` makes loops of old
graphs blocks of their own. ``resources`` are values that are no tensors. ``model`` is what users
see.
"""
