"""Lines and tables: quotes, encodings, types of columns, files larger than what is read at once."""

import asyncio
import csv
import random
import tracemalloc
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import webtensor as wt
from webtensor.data import FileDataSource, TextLineDataset


def in_chunks(data: bytes, size: int) -> FileDataSource:
    return FileDataSource(data, chunk_size=size)


class TestLines:
    @pytest.mark.parametrize("size", [1, 2, 3, 100])
    def test_ends_of_lines(self, size: int):
        data = "one\r\ntwo\rthree\n\nä€😀\u2028five".encode()
        lines = ["one", "two", "three", "", "ä€😀\u2028five"]
        assert TextLineDataset(in_chunks(data, size)).to_list() == lines

    def test_nothing_and_empty_lines(self):
        assert TextLineDataset(b"").to_list() == []
        assert TextLineDataset(b"\n\n").to_list() == ["", ""]

    def test_encodings(self):
        assert TextLineDataset("\ufeffä\n".encode()).to_list() == ["ä"]
        assert TextLineDataset("ä\nö".encode("latin-1"), "latin-1").to_list() == ["ä", "ö"]
        assert TextLineDataset("ä\nö".encode("utf-16"), "utf-16").to_list() == ["ä", "ö"]

    def test_files(self, tmp_path: Path):
        (tmp_path / "a.txt").write_text("1\n2\n")
        (tmp_path / "b.txt").write_text("3")
        names = [tmp_path / "a.txt", str(tmp_path / "b.txt"), f"file://{tmp_path}/a.txt"]
        assert TextLineDataset(names).to_list() == ["1", "2", "3", "1", "2"]
        source = wt.data.FileDataSource(names[2], chunk_size=1)
        assert TextLineDataset(source).to_list() == ["1", "2"]
        for whole in (b"1\n2\n", tmp_path / "a.txt"):
            source = wt.data.FileDataSource(whole, chunk_size=1, offset=2)
            assert TextLineDataset(source).to_list() == ["2"]
            assert TextLineDataset(wt.data.FileDataSource(whole, offset=9)).to_list() == []
        files = wt.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
        lines = files.interleave(lambda name: TextLineDataset(name.tolist()), cycle_length=1)
        assert lines.to_list() == ["1", "2", "3"]

    def test_errors(self, tmp_path: Path):
        with pytest.raises(LookupError, match="unknown encoding"):
            TextLineDataset(b"", "no-such-encoding")
        with pytest.raises(ValueError, match=r"bytes from 2 to 4 are not utf-8 .*encoding says"):
            TextLineDataset(in_chunks(b"a\n\xff\xffb", 2)).to_list()
        with pytest.raises(ValueError, match=r"2 bytes: bytes from 0 to 2 are not text \(UTF-16"):
            TextLineDataset(b"a\n", "utf-16").to_list()
        with pytest.raises(FileNotFoundError, match="missing"):
            TextLineDataset(tmp_path / "missing.txt").to_list()
        with pytest.raises(TypeError, match="input must be a path, bytes, a File or a Blob"):
            TextLineDataset(3)
        with pytest.raises(ValueError, match="FileDataSource: offset must not be negative"):
            wt.data.FileDataSource(b"", offset=-1)
        with pytest.raises(ValueError, match="chunk_size must be positive"):
            FileDataSource(b"", 0)

    def test_a_line_without_end_is_refused(self):
        with pytest.raises(ValueError, match="a line has more than 16,777,216 characters"):
            TextLineDataset(b"x" * (18 << 20)).to_list()


TABLE = b"a,b,c\n1,2.5,x\n3,,y\n"

TABLES: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "types": (
        lambda: wt.data.csv(TABLE),
        [{"a": 1.0, "b": 2.5, "c": "x"}, {"a": 3.0, "b": None, "c": "y"}],
    ),
    "default": (
        lambda: wt.data.csv(TABLE, column_configs={"b": {"default": 0.5}}),
        [{"a": 1.0, "b": 2.5, "c": "x"}, {"a": 3.0, "b": 0.5, "c": "y"}],
    ),
    "labels": (
        lambda: wt.data.csv(TABLE, column_configs={"c": {"is_label": True}}),
        [({"a": 1.0, "b": 2.5}, {"c": "x"}), ({"a": 3.0, "b": None}, {"c": "y"})],
    ),
    "configured columns only": (
        lambda: wt.data.csv(TABLE, column_configs={"a": {}}, configured_columns_only=True),
        [{"a": 1.0}, {"a": 3.0}],
    ),
    "dtypes": (
        lambda: wt.data.csv(
            b"i,f,b,s\n2.7,1,TRUE,01\n-2.5,-inf,0,x\n",
            column_configs={
                "i": {"dtype": "int32"},
                "f": {"dtype": "float32"},
                "b": {"dtype": "bool"},
                "s": {"dtype": "string"},
            },
        ),
        [
            {"i": 2, "f": 1.0, "b": True, "s": "01"},
            {"i": -3, "f": -float("inf"), "b": False, "s": "x"},
        ],
    ),
    "other names": (
        lambda: wt.data.csv(b"a,b\n1,2\n", column_names=["p", "q"]),
        [{"p": 1.0, "q": 2.0}],
    ),
    "no header": (
        lambda: wt.data.csv(b"1,2\n", has_header=False, column_names=["p", "q"]),
        [{"p": 1.0, "q": 2.0}],
    ),
    "quotes": (
        lambda: wt.data.csv(b'a,b\n"1","x, ""y""\nz"\n4,5" pipe\n'),
        [{"a": 1.0, "b": 'x, "y"\nz'}, {"a": 4.0, "b": '5" pipe'}],
    ),
    "tabs": (lambda: wt.data.csv(b"a\tb\n1\tx y\n", delimiter="\t"), [{"a": 1.0, "b": "x y"}]),
    "blanks": (
        lambda: wt.data.csv(b'a   b\n 1 \t "x  y" \n\n', delim_whitespace=True),
        [{"a": 1.0, "b": "x  y"}],
    ),
    "empty lines": (lambda: wt.data.csv(b"a\n\n1\n\n\n2"), [{"a": 1.0}, {"a": 2.0}]),
    "empty lines between rows of two fields": (
        lambda: wt.data.csv(b"a,b\n\n1,2\n\n\n3,4\n\n"),
        [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}],
    ),
    "no rows": (lambda: wt.data.csv(b"a,b\n"), []),
    "underscores are no numbers": (lambda: wt.data.csv(b"a\n1_000\n"), [{"a": "1_000"}]),
    "spaces around numbers": (lambda: wt.data.csv(b"a,b\n 1 , x\n"), [{"a": 1.0, "b": " x"}]),
    "byte order mark": (lambda: wt.data.csv(b"\xef\xbb\xbfa\n1\n"), [{"a": 1.0}]),
    "latin": (lambda: wt.data.csv("ä\n1\n".encode("latin-1"), encoding="latin-1"), [{"ä": 1.0}]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str):
    make, rows = TABLES[name]
    assert make().to_list() == rows
    assert asyncio.run(make().to_list_async()) == rows


#: Keys of TensorFlow.js.
JAVASCRIPTS: Any = {"a": {"isLabel": True}}

TABLE_ERRORS: dict[str, tuple[Callable[[], Any], str]] = {
    "short row": (lambda: wt.data.csv(b"a,b\n1,2\n3\n"), r"element 1 \(from 0 on\) has 1 fields"),
    "long row": (lambda: wt.data.csv(b"a\n1,2\n"), r"element 0 .* has 2 fields, but there are 1"),
    "all rows long": (
        lambda: wt.data.csv(b"1,2\n3,4\n", has_header=False, column_names=["a"]),
        r"element 0 \(from 0 on\) has 2 fields, but there are 1 columns",
    ),
    "required": (
        lambda: wt.data.csv(TABLE, column_configs={"b": {"required": True}}),
        "element 1 .*, column 'b': the field is empty, but it is required",
    ),
    "label": (
        lambda: wt.data.csv(TABLE, column_configs={"b": {"is_label": True}}),
        "element 1 .*, column 'b': the field is empty",
    ),
    "number": (
        lambda: wt.data.csv(TABLE, column_configs={"c": {"dtype": "float32"}}),
        "element 0 .*, column 'c': 'x' is no number",
    ),
    "bool": (
        lambda: wt.data.csv(TABLE, column_configs={"c": {"dtype": "bool"}}),
        "column 'c': 'x' is none of 1, true, 0, false",
    ),
    "integer": (
        lambda: wt.data.csv(b"a\ninf\n", column_configs={"a": {"dtype": "int32"}}),
        "'inf' is no integer",
    ),
    "no header": (lambda: wt.data.csv(b""), "is empty, so that no row names its columns"),
    "no names": (lambda: wt.data.csv(b"", has_header=False), "column_names must be given"),
    "count of names": (
        lambda: wt.data.csv(TABLE, column_names=["a"]),
        "column_names has 1 names, but .* has 3 columns",
    ),
    "same names": (lambda: wt.data.csv(b"a,a\n"), r"several columns of the names \['a'\]"),
    "unknown column": (
        lambda: wt.data.csv(TABLE, column_configs={"z": {}}),
        r"column_configs has \['z'\], but the columns of .* are \['a', 'b', 'c'\]",
    ),
    "unknown key": (
        lambda: wt.data.csv(TABLE, column_configs=JAVASCRIPTS),
        "must be a dict with keys of",
    ),
    "unknown dtype": (
        lambda: wt.data.csv(TABLE, column_configs={"a": {"dtype": "int64"}}),
        "dtype of column 'a' must be one of",
    ),
    "delimiter": (lambda: wt.data.csv(TABLE, delimiter=", "), "delimiter must be one character"),
    "quote between fields": (lambda: wt.data.csv(TABLE, delimiter='"'), "and neither a quote nor"),
    "line end between fields": (lambda: wt.data.csv(TABLE, delimiter="\n"), "nor the end of a"),
    "delimiter and blanks": (
        lambda: wt.data.csv(TABLE, delimiter=";", delim_whitespace=True),
        "delim_whitespace leaves no use for delimiter ';'",
    ),
    "open quote": (lambda: wt.data.csv(b'a,b\n1,"2\n3,4\n'), "a quote is not closed, .* '1,\"2'"),
    "long field": (lambda: wt.data.csv(b"a\n" + b"x" * 200_000), "a field is too long"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE_ERRORS)
def test_errors_of_tables(name: str):
    call, message = TABLE_ERRORS[name]
    with pytest.raises(ValueError, match=f"^csv: .*{message}|^csv: {message}"):
        call().to_list()


@pytest.mark.parametrize("wrong", [b"3", b"3,4,5", b"x,1"])
def test_the_elements_before_an_error_come(wrong: bytes):
    table = b"a,b\n1,2\n3,4\n" + wrong + b"\n5,6\n"
    configs = {"a": wt.data.ColumnConfig(dtype="float32")}
    elements = iter(wt.data.csv(table, column_configs=configs))
    assert [next(elements), next(elements)] == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]
    with pytest.raises(ValueError, match="element 2 "):
        next(elements)


def test_an_open_quote_does_not_read_the_whole_file():
    table = b'a\n"x\n' + b"1\n" * 2_000_000
    with pytest.raises(ValueError, match="a field is too long; is a quote not closed"):
        next(iter(wt.data.csv(table)))


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_read_as_by_the_standard_library(seed: int):
    draw = random.Random(seed)
    letters = ["a", "1", ".", " ", "ä", "😀", "\u2028", "\v", ""]
    end = draw.choice(["\r\n", "\n", "\r"])
    if seed % 2:  # such that fields need quotes
        letters += [",", '"', "\n", "\r\n"]
        end = "\r\n"
    names = [f"c{n}" for n in range(draw.randint(1, 5))]
    rows = [
        ["".join(draw.choices(letters, k=4)) for _ in names] for _ in range(draw.randint(0, 50))
    ]
    written = StringIO(newline="")
    csv.writer(written, lineterminator=end).writerows([names, *rows])
    source = in_chunks(written.getvalue().encode(), draw.randint(1, 200))
    configs = {name: wt.data.ColumnConfig(dtype="string", default="") for name in names}
    read = [[*row.values()] for row in wt.data.csv(source, column_configs=configs)]
    assert read == [*csv.reader(StringIO(written.getvalue(), newline=""))][1:]


def test_column_names():
    table = wt.data.csv(TABLE)
    assert table.column_names() == asyncio.run(table.column_names_async()) == ["a", "b", "c"]


def test_column_names_are_those_of_the_configured_columns():
    configs: dict[str, wt.data.ColumnConfig] = {"c": {"is_label": True}, "a": {}}
    table = wt.data.csv(TABLE, column_configs=configs, configured_columns_only=True)
    assert table.column_names() == asyncio.run(table.column_names_async()) == ["c", "a"]
    with pytest.raises(ValueError, match=r"column_configs has \['z'\]"):
        wt.data.csv(TABLE, column_configs={"z": {}}, configured_columns_only=True).column_names()


def test_a_table_becomes_batches():
    houses = wt.data.csv(b"size,price\n1,10\n2,20\n", column_configs={"price": {"is_label": True}})
    x, y = houses.batch(2).get_single_element()
    assert x["size"].tolist() == [1, 2]
    assert y["price"].tolist() == [10, 20]


def test_a_large_table_needs_little_memory(tmp_path: Path):
    list(wt.data.csv(TABLE))  # modules are imported
    path = tmp_path / "large.csv"
    path.write_bytes(b"x,name,n\n" + b"0.123456,abcdef,42\n" * 100_000)  # 1.9 MB
    tracemalloc.start()
    count = sum(1 for _ in wt.data.csv(FileDataSource(path, chunk_size=1 << 14)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 100_000
    assert peak < 1 << 20


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer by the path."""
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        body = TABLE * 20_000
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == "/broken" else body)
        if self.path == "/broken":
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Any:
    """A server of tables on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class TestServers:
    def test_a_table(self, server: str):
        assert wt.data.csv(f"{server}/table").take(1).to_list() == [{"a": 1.0, "b": 2.5, "c": "x"}]
        rows = wt.data.TextLineDataset(f"{server}/table")
        assert len(rows.to_list()) == len(asyncio.run(rows.to_list_async())) == 60_000

    def test_a_missing_file(self, server: str):
        with pytest.raises(OSError, match="/missing: the server answered 404"):
            wt.data.csv(f"{server}/missing").to_list()

    def test_an_answer_that_breaks_off(self, server: str):
        with pytest.raises(OSError, match=r"/broken: .* broke off"):
            wt.data.TextLineDataset(f"{server}/broken").to_list()

    def test_no_server(self):
        with pytest.raises(OSError, match="cannot be reached"):
            wt.data.csv("http://127.0.0.1:9/table.csv").to_list()

    def test_other_schemes(self):
        with pytest.raises(OSError, match="ftp://x/y"):
            wt.data.csv("ftp://x/y").to_list()
