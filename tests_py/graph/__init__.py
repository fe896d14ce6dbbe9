"""Tests of graph models.

``graphs`` builds models from nodes. ``cases`` is a table of graphs of one operation each, and
``flows`` has graphs with control flow; both also run in a browser beside TensorFlow.js.
"""
