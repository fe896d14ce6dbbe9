"""Where the bytes of models come from and go to, and the tensors of those bytes.

``fetching`` has requests to servers, ``indexed_db`` the models that a browser keeps.
``stored_tensors`` makes tensors of the arrays in files, and ``weights`` those of a model's weights.
"""
