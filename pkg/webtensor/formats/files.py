"""What the readers of formats share with those of Keras's files: folders."""

from webtensor.keras.files import Folder, PathLike

__all__ = ["Folder", "PathLike"]
