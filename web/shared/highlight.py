"""Colours Python source: wraps its tokens in HTML elements with a class each."""

import io
import keyword
import tokenize
from contextlib import suppress
from html import escape

_CLASSES = {
    "COMMENT": "comment",
    "NUMBER": "number",
    "STRING": "string",
    "FSTRING_START": "string",
    "FSTRING_MIDDLE": "string",
    "FSTRING_END": "string",
}


def highlight(source: str) -> str:
    """Return the source as HTML; after a mistake that ends the tokens, it is plain."""
    lines = source.splitlines(keepends=True)
    parts = []
    row, column = 1, 0

    def copy_until(end_row: int, end_column: int) -> str:
        nonlocal row, column
        text = ""
        while row < end_row:
            text += lines[row - 1][column:]
            row, column = row + 1, 0
        if end_row <= len(lines):
            text += lines[row - 1][column:end_column]
            column = end_column
        return escape(text)

    with suppress(tokenize.TokenError, SyntaxError):  # somebody is still typing
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            parts.append(copy_until(*token.start))
            text = copy_until(*token.end)
            kind = _CLASSES.get(tokenize.tok_name[token.type])
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                kind = "keyword"
            parts.append(f'<span class="{kind}">{text}</span>' if kind and text else text)
    parts.append(copy_until(len(lines) + 1, 0))
    return "".join(parts)
