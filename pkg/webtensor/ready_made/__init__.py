"""What ready-made models of images, sounds and text share.

``model`` has the class of models that wrap a graph model, ``classifier`` that of models which may
also be one of Keras's layers, and ``transfer`` the classifiers that learn on top of either.
``files`` and ``class_names`` read the small files beside a model.
"""
