"""Files in folders as data sets: their paths, their labels, and batches of them.

The folder of a class has the files of that class, at any depth. The readers of ``file_datasets``
make a tensor of a file, and a batch of tensors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from random import Random
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor
from webtensor.keras.arguments import check_positive
from webtensor.keras.batch_parts import Batch
from webtensor.keras.logging import say
from webtensor.keras.utils.sample_datasets import SampleDataset

__all__ = ["FileDataset", "FileDatasets", "Options", "folder_datasets"]

_LABEL_MODES = ("int", "categorical", "binary", None)
_SUBSETS = ("training", "validation", "both", None)

#: The content of a file.
Content = TypeVar("Content", bound="Tensor | str")


class Options(NamedTuple):
    """The arguments that the three functions of ``file_datasets`` have in common."""

    directory: str | PathLike[str]
    labels: str | Sequence[int] | None
    label_mode: str | None
    class_names: Sequence[str] | None
    batch_size: int | None
    shuffle: bool
    seed: int | None
    validation_split: float | None
    subset: str | None
    follow_links: bool
    verbose: bool
    #: With "tf", files are shuffled anew for each epoch, as in Keras.
    format: str = "tf"


class _Files(NamedTuple):
    """The paths of files, the indices of their classes, and the names of the classes."""

    paths: list[str]
    labels: list[int] | None
    class_names: list[str] | None


class FileDataset(SampleDataset, Generic[Content]):
    """Batches of files, whose paths are ``file_paths`` and whose classes ``class_names``."""

    def __init__(
        self,
        files: _Files,
        read: Callable[[str], Content],
        collect: Callable[[list[Content]], Tensor | list[str]],
        label_mode: str | None,
        batch_size: int | None,
        shuffle: Random | None,
    ) -> None:
        super().__init__(len(files.paths), batch_size, shuffle)
        self.file_paths, self._labels, self.class_names = files
        self._read, self._collect, self._label_mode = read, collect, label_mode

    def _batch_of(self, indices: list[int]) -> Batch:
        contents = [self._read(self.file_paths[index]) for index in indices]
        data = contents[0] if self._batch_size is None else self._collect(contents)
        if self._labels is None:
            return data
        labels = self._encoded([self._labels[index] for index in indices])
        return data, labels[0] if self._batch_size is None else labels

    def _encoded(self, labels: list[int]) -> Tensor:
        indices = wt.tensor(labels, dtype=int32)
        if self._label_mode == "binary":
            return wt.reshape(wt.astype(indices, float32), (-1, 1))
        if self._label_mode == "categorical":
            return wt.one_hot(indices, len(self.class_names or ()), dtype=float32)
        return indices


#: A data set, or those of the subsets "training" and "validation".
FileDatasets: TypeAlias = FileDataset[Content] | tuple[FileDataset[Content], FileDataset[Content]]


def folder_datasets(
    name: str,
    kind: str,
    extensions: tuple[str, ...],
    options: Options,
    read: Callable[[str], Content],
    collect: Callable[[list[Content]], Tensor | list[str]],
) -> FileDatasets[Content]:
    """Return the data set of a folder, or two of them for the subset "both".

    Raises:
        ValueError: an option is invalid, or there are no files.
    """
    label_mode = _checked_label_mode(name, options)
    _check_split(name, options)
    files = _find_files(name, options, label_mode, extensions)
    class_names = files.class_names
    if not files.paths:
        raise ValueError(
            f"{name}: there are no {kind} files in {os.fspath(options.directory)!r}, that is, none "
            f"that end in {', '.join(extensions)}"
        )
    if label_mode == "binary" and len(class_names or ()) != 2:
        raise ValueError(
            f"{name}: with label_mode='binary' there must be two classes, but there are "
            f"{class_names}"
        )
    if options.verbose:
        classes = "" if class_names is None else f" belonging to {len(class_names)} classes"
        say(f"Found {len(files.paths)} files{classes}.")
    seed = Random().getrandbits(32) if options.seed is None else options.seed
    if options.shuffle:
        files = _shuffled(files, Random(seed))

    def dataset(subset: str) -> FileDataset[Content]:
        chosen = _subset(name, files, subset, options.validation_split)
        if options.verbose and options.validation_split:
            say(f"Using {len(chosen.paths)} files for {subset}.")
        shuffle = Random(seed) if options.shuffle and options.format == "tf" else None
        return FileDataset(chosen, read, collect, label_mode, options.batch_size, shuffle)

    if options.subset == "both":
        return dataset("training"), dataset("validation")
    return dataset(options.subset or "training")


# -- options -----------------------------------------------------------------------------------


def _checked_label_mode(name: str, options: Options) -> str | None:
    """Return the label mode, None if there are no labels; check the options about labels."""
    labels, mode = options.labels, options.label_mode
    if not (labels is None or labels == "inferred" or isinstance(labels, (list, tuple))):
        raise ValueError(
            f"{name}: labels must be 'inferred', None or a list of integers, but got {labels!r}"
        )
    if options.batch_size is not None:
        check_positive(name, batch_size=options.batch_size)
    check_choice(name, "label_mode", mode, _LABEL_MODES)
    if options.class_names and labels != "inferred":
        raise ValueError(
            f"{name}: class_names are for labels='inferred' only, but labels is {labels!r}"
        )
    return None if labels is None else mode


def _check_split(name: str, options: Options) -> None:
    split, subset = options.validation_split, options.subset
    if split is not None and not 0 < split < 1:
        raise ValueError(f"{name}: validation_split must be between 0 and 1, but is {split!r}")
    check_choice(name, "subset", subset, _SUBSETS)
    if (split is None) != (subset is None):
        raise ValueError(
            f"{name}: validation_split and subset must be given together, but are {split!r} and "
            f"{subset!r}"
        )
    if split and options.shuffle and options.seed is None:
        raise ValueError(
            f"{name}: with validation_split and shuffle, seed must be given, so that the subsets "
            "have no file in common"
        )


# -- files -------------------------------------------------------------------------------------


def _find_files(
    name: str, options: Options, label_mode: str | None, extensions: tuple[str, ...]
) -> _Files:
    """Return the files of a folder, in an order that does not depend on the file system."""
    root = Path(options.directory)
    if not root.is_dir():
        raise ValueError(f"{name}: directory {str(root)!r} is no folder")
    if label_mode is None or options.labels is None or isinstance(options.labels, str):
        if label_mode is None:
            return _Files(_paths(root, options.follow_links, extensions), None, None)
        return _files_of_classes(name, root, options, extensions)
    paths = _paths(root, options.follow_links, extensions)
    labels = list(options.labels)
    if len(labels) != len(paths):
        raise ValueError(
            f"{name}: labels must have one for each file, but there are {len(labels)} labels "
            f"and {len(paths)} files"
        )
    return _Files(paths, labels, [str(label) for label in sorted(set(labels))])


def _files_of_classes(
    name: str, root: Path, options: Options, extensions: tuple[str, ...]
) -> _Files:
    """Return the files of the classes, each of which has a folder."""
    folders = sorted(
        entry.name for entry in root.iterdir() if entry.is_dir() and entry.name[0] != "."
    )
    class_names = list(options.class_names or folders)
    if not set(class_names) <= set(folders):
        raise ValueError(
            f"{name}: class_names must be names of the folders, {folders}, but are {class_names}"
        )
    files = _Files([], [], class_names)
    labels: list[int] = []
    for label, class_name in enumerate(class_names):
        paths = _paths(root / class_name, options.follow_links, extensions)
        files.paths.extend(paths)
        labels.extend([label] * len(paths))
    return files._replace(labels=labels)


def _paths(root: Path, follow_links: bool, extensions: tuple[str, ...]) -> list[str]:
    folders = sorted(os.walk(root, followlinks=follow_links))
    return [
        str(Path(folder, file_name))
        for folder, _, file_names in folders
        for file_name in sorted(file_names)
        if file_name.lower().endswith(extensions)
    ]


def _shuffled(files: _Files, random: Random) -> _Files:
    order = list(range(len(files.paths)))
    random.shuffle(order)
    return _selected(files, order)


def _selected(files: _Files, indices: Sequence[int]) -> _Files:
    """Return the files with some indices, in their order."""
    paths, labels, class_names = files
    selected_labels = None if labels is None else [labels[index] for index in indices]
    return _Files([paths[index] for index in indices], selected_labels, class_names)


def _subset(name: str, files: _Files, subset: str, split: float | None) -> _Files:
    count = len(files.paths)
    training_count = count - int((split or 0) * count)
    is_validation = subset == "validation"
    indices = range(training_count, count) if is_validation else range(training_count)
    if not indices:
        raise ValueError(
            f"{name}: of {count} files none are left for {subset} with validation_split={split}"
        )
    return _selected(files, indices)
