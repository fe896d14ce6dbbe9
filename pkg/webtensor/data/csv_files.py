"""Tables in CSV files: ``csv`` and ``CSVDataset``, as in TensorFlow.js."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from webtensor.data.byte_sources import TextSource, as_source
from webtensor.data.dataset import Dataset
from webtensor.data.iteration import Elements, Iteration, closing, from_async_iterable, next_of
from webtensor.data.tables import NAME, ColumnConfig, RowReader, Table, check_config
from webtensor.data.text_lines import line_blocks, text_decoder

__all__ = ["CSVDataset", "csv"]


def csv(
    source: TextSource,
    *,
    has_header: bool = True,
    column_names: Sequence[str] | None = None,
    column_configs: Mapping[str, ColumnConfig] | None = None,
    configured_columns_only: bool = False,
    delimiter: str = ",",
    delim_whitespace: bool = False,
    encoding: str = "utf-8",
) -> CSVDataset:
    r"""Return a data set of the rows of a table, as dicts of values by column names.

    Where columns are labels, elements are pairs: a dict of the others, and a dict of the labels.
    Fields are those of RFC 4180, empty lines are left out, and a file is read while it is iterated
    over, so that it may be larger than memory.

    Args:
        source: a path, an address, bytes, a File or Blob of a page, a FileDataSource or a
            URLDataSource.
        has_header: whether the first row has the names of columns.
        column_names: the names, in place of those of the first row.
        column_configs: what is known of columns, by their names; see ``ColumnConfig``.
        configured_columns_only: leave the other columns out.
        delimiter: the character between fields.
        delim_whitespace: fields have any number of blanks between them, in place of ``delimiter``.
        encoding: the encoding; a byte order mark is left out.

    Raises:
        LookupError: there is no such encoding.
        OSError: the file cannot be read; raised in an iteration.
        ValueError: names of columns are missing, unknown or the same, ``delimiter`` is no single
            character, a quote or the end of a line, or is given with ``delim_whitespace``; in an
            iteration: a row has more or fewer fields than columns, a required field is empty, a
            field does not fit its dtype, or bytes do not fit the encoding.

    Example:
        >>> import webtensor as wt
        >>> table = b"size,price\n1.5,10\n2,20\n"
        >>> houses = wt.data.csv(table, column_configs={"price": {"is_label": True}})
        >>> houses.to_list()
        [({'size': 1.5}, {'price': 10.0}), ({'size': 2.0}, {'price': 20.0})]
    """
    return CSVDataset(
        source,
        has_header=has_header,
        column_names=column_names,
        column_configs=column_configs,
        configured_columns_only=configured_columns_only,
        delimiter=delimiter,
        delim_whitespace=delim_whitespace,
        encoding=encoding,
    )


class CSVDataset(Dataset):
    r"""The rows of a table; ``csv`` says what the arguments mean.

    Example:
        >>> import webtensor as wt
        >>> wt.data.CSVDataset(b"a,b\n1,2").column_names()
        ['a', 'b']
    """

    def __init__(
        self,
        source: TextSource,
        *,
        has_header: bool = True,
        column_names: Sequence[str] | None = None,
        column_configs: Mapping[str, ColumnConfig] | None = None,
        configured_columns_only: bool = False,
        delimiter: str = ",",
        delim_whitespace: bool = False,
        encoding: str = "utf-8",
    ) -> None:
        self._source = as_source(source)
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
            raise ValueError(
                f"{NAME}: delimiter must be one character, and neither a quote nor the end of a "
                f"line, but is {delimiter!r}"
            )
        if delim_whitespace and delimiter != ",":
            raise ValueError(f"{NAME}: delim_whitespace leaves no use for delimiter {delimiter!r}")
        if not has_header and column_names is None:
            raise ValueError(f"{NAME}: column_names must be given where has_header is False")
        text_decoder(encoding)
        self._has_header, self._encoding = has_header, encoding
        self._names = None if column_names is None else [*column_names]
        self._configs = dict(column_configs or {})
        for name, config in self._configs.items():
            check_config(name, config)
        self._configured_only = configured_columns_only
        self._delimiter = None if delim_whitespace else delimiter
        super().__init__(self._elements, None, self._source.is_async)

    def column_names(self) -> list[str]:
        """Return the names of the columns; the first row of the file is read for them.

        With ``configured_columns_only``, they are those of ``column_configs``, in its order.

        Raises:
            RuntimeError: the file has to be waited for, which is impossible here.
            ValueError: names are missing, unknown or the same.
        """
        return [*self._as_names().get_single_element()]

    async def column_names_async(self) -> list[str]:
        """Return the names of the columns, without blocking.

        Raises:
            ValueError: names are missing, unknown or the same.
        """
        return [*(await self._as_names().to_list_async())[0]]

    def _as_names(self) -> Dataset:
        def names(iteration: Iteration) -> Elements:
            with closing(from_async_iterable(self._row_blocks(), iteration)) as blocks:
                rows: Sequence[list[str]] = yield from next_of(blocks, [])
                all_names = self._checked_names(rows[0] if rows else None)
                yield [*self._configs] if self._configured_only else all_names

        return Dataset(names, 1, self.is_async)

    def _checked_names(self, first: list[str] | None) -> list[str]:
        """Return the names of columns, from the first row of the file or from the arguments."""
        label, names = self._source.label, self._names
        if self._has_header:
            if first is None:
                raise ValueError(f"{NAME}: {label} is empty, so that no row names its columns")
            if names is not None and len(names) != len(first):
                raise ValueError(
                    f"{NAME}: column_names has {len(names)} names, but {label} has {len(first)} "
                    "columns"
                )
        names = names or first or []
        repeated = sorted(name for name, count in Counter(names).items() if count > 1)
        if repeated:
            raise ValueError(f"{NAME}: {label} has several columns of the names {repeated}")
        unknown = [name for name in self._configs if name not in names]
        if unknown:
            raise ValueError(
                f"{NAME}: column_configs has {unknown}, but the columns of {label} are {names}"
            )
        return names

    def _elements(self, iteration: Iteration) -> Elements:
        with closing(from_async_iterable(self._row_blocks(), iteration)) as blocks:
            first = (yield from next_of(blocks, [])) if self._has_header else []
            names = self._checked_names(first[0] if first else None)
            table = Table(names, self._configs, self._configured_only, self._source.label)
            rows: Sequence[list[str]] | None = first[1:]
            while rows is not None:
                for elements in table.blocks(rows):
                    yield from elements
                rows = yield from next_of(blocks, None)

    async def _row_blocks(self) -> AsyncGenerator[Sequence[list[str]], None]:
        """Give rows, which are lists of fields, many at a time."""
        reader = RowReader(self._delimiter, self._source.label)
        async with aclosing(line_blocks(self._source, self._encoding)) as blocks:
            async for block in blocks:
                rows = reader.rows(block)
                if rows:
                    yield rows
        reader.end()
