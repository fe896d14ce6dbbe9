"""What ready-made models of images and text share.

``model`` has the class of models that wrap a graph model, and ``files`` reads the small files
beside a model.
"""
