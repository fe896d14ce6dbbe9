"""Files in folders as data sets: which there are, what they are labelled, and their batches.

A folder of a class has the files of that class, at any depth. The readers of ``file_datasets`` say
how a file becomes a tensor, and how tensors become a batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.keras.utils.datasets import Batched
from webtensor.keras.utils.logging import say

__all__ = ["FileDataset", "Options", "data_sets_of"]

_LABEL_MODES = ("int", "categorical", "binary", None)
_SUBSETS = ("training", "validation", "both", None)


class Options(NamedTuple):
    """What the three functions have in common."""

    directory: Any
    labels: Any
    label_mode: str | None
    class_names: Sequence[str] | None
    batch_size: int | None
    shuffle: bool
    seed: int | None
    validation_split: float | None
    subset: str | None
    follow_links: bool
    verbose: bool
    #: "tf" brings files into another order each time, as it does in Keras.
    format: str = "tf"


class _Listed(NamedTuple):
    """Files, in an order that is always the same, with the numbers of their classes."""

    paths: list[str]
    labels: list[int] | None
    class_names: list[str] | None


class FileDataset(Batched):
    """Batches of files; ``file_paths`` and ``class_names`` say what is in it."""

    def __init__(
        self,
        listed: _Listed,
        read: Callable[[str], Any],
        collect: Callable[[list[Any]], Any],
        label_mode: str | None,
        batch_size: int | None,
        shuffle: Random | None,
    ) -> None:
        super().__init__(len(listed.paths), batch_size, shuffle)
        self.file_paths, self._labels, self.class_names = listed
        self._read, self._collect, self._mode = read, collect, label_mode

    def _of(self, places: list[int]) -> Any:
        read = [self._read(self.file_paths[place]) for place in places]
        data = read[0] if self._size is None else self._collect(read)
        if self._labels is None:
            return data
        labels = self._encoded([self._labels[place] for place in places])
        return data, labels[0] if self._size is None else labels

    def _encoded(self, labels: list[int]) -> Any:
        held = wt.tensor(labels, dtype=int32)
        if self._mode == "binary":
            return wt.reshape(wt.astype(held, float32), (-1, 1))
        if self._mode == "categorical":
            return wt.one_hot(held, len(self.class_names or ()), dtype=float32)
        return held


def data_sets_of(
    name: str,
    what: str,
    endings: tuple[str, ...],
    options: Options,
    read: Callable[[str], Any],
    collect: Callable[[list[Any]], Any],
) -> Any:
    """Return the data set of a folder, or two of them for the subset "both".

    Raises:
        ValueError: an argument makes no sense, or there are no files.
    """
    mode = _checked_mode(name, options)
    _check_split(name, options)
    listed = _listed(name, options, mode, endings)
    classes = listed.class_names
    if not listed.paths:
        raise ValueError(
            f"{name}: there are no {what} files in {os.fspath(options.directory)!r}, that is, none "
            f"that end in {', '.join(endings)}"
        )
    if mode == "binary" and len(classes or ()) != 2:
        raise ValueError(
            f"{name}: with label_mode='binary' there must be two classes, but there are {classes}"
        )
    if options.verbose:
        belonging = "" if classes is None else f" belonging to {len(classes)} classes"
        say(f"Found {len(listed.paths)} files{belonging}.")
    seed = Random().getrandbits(32) if options.seed is None else options.seed
    if options.shuffle:
        listed = _shuffled(listed, Random(seed))

    def made(subset: str) -> FileDataset:
        chosen = _subset(name, listed, subset, options.validation_split)
        if options.verbose and options.validation_split:
            say(f"Using {len(chosen.paths)} files for {subset}.")
        shuffle = Random(seed) if options.shuffle and options.format == "tf" else None
        return FileDataset(chosen, read, collect, mode, options.batch_size, shuffle)

    if options.subset == "both":
        return made("training"), made("validation")
    return made(options.subset or "training")


# -- arguments ---------------------------------------------------------------------------------


def _checked_mode(name: str, options: Options) -> str | None:
    """The label mode; None where there are no labels. Others are checked, too."""
    labels, mode = options.labels, options.label_mode
    if not (labels is None or labels == "inferred" or isinstance(labels, (list, tuple))):
        raise ValueError(
            f"{name}: labels must be 'inferred', None or a list of integers, but got {labels!r}"
        )
    size = options.batch_size
    if size is not None and not (isinstance(size, int) and size > 0):
        raise ValueError(f"{name}: batch_size must be a positive integer or None, but is {size!r}")
    if mode not in _LABEL_MODES:
        raise ValueError(f"{name}: label_mode must be one of {_LABEL_MODES}, but got {mode!r}")
    if options.class_names and labels != "inferred":
        raise ValueError(
            f"{name}: class_names are for labels='inferred' only, but labels is {labels!r}"
        )
    return None if labels is None else mode


def _check_split(name: str, options: Options) -> None:
    split, subset = options.validation_split, options.subset
    if split is not None and not 0 < split < 1:
        raise ValueError(f"{name}: validation_split must be between 0 and 1, but is {split!r}")
    if subset not in _SUBSETS:
        raise ValueError(f"{name}: subset must be one of {_SUBSETS}, but got {subset!r}")
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


def _listed(name: str, options: Options, mode: str | None, endings: tuple[str, ...]) -> _Listed:
    root = Path(options.directory)
    if not root.is_dir():
        raise ValueError(f"{name}: directory {str(root)!r} is no folder")
    if mode is None or options.labels != "inferred":
        paths = _files(root, options.follow_links, endings)
        if mode is None:
            return _Listed(paths, None, None)
        labels = list(options.labels)
        if len(labels) != len(paths):
            raise ValueError(
                f"{name}: labels must have one for each file, but there are {len(labels)} labels "
                f"and {len(paths)} files"
            )
        return _Listed(paths, labels, [str(one) for one in sorted(set(labels))])
    folders = sorted(one.name for one in root.iterdir() if one.is_dir() and one.name[0] != ".")
    names = list(options.class_names or folders)
    if set(names) != set(folders):
        raise ValueError(
            f"{name}: class_names must be the names of the folders, {folders}, but are {names}"
        )
    paths, labels = [], []
    for label, one in enumerate(names):
        found = _files(root / one, options.follow_links, endings)
        paths += found
        labels += [label] * len(found)
    return _Listed(paths, labels, names)


def _files(root: Path, follow_links: bool, endings: tuple[str, ...]) -> list[str]:
    folders = sorted(os.walk(root, followlinks=follow_links))
    return [
        str(Path(folder, one))
        for folder, _, names in folders
        for one in sorted(names)
        if one.lower().endswith(endings)
    ]


def _shuffled(listed: _Listed, random: Random) -> _Listed:
    order = list(range(len(listed.paths)))
    random.shuffle(order)
    return _taken(listed, order)


def _taken(listed: _Listed, places: Sequence[int]) -> _Listed:
    paths, labels, names = listed
    chosen = None if labels is None else [labels[place] for place in places]
    return _Listed([paths[place] for place in places], chosen, names)


def _subset(name: str, listed: _Listed, subset: str, split: float | None) -> _Listed:
    count = len(listed.paths)
    first = count - int((split or 0) * count)
    places = range(first, count) if subset == "validation" else range(first)
    if not places:
        raise ValueError(
            f"{name}: of {count} files none are left for {subset} with validation_split={split}"
        )
    return _taken(listed, places)
