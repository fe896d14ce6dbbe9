"""Operations on strings."""

from __future__ import annotations

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import attribute, boolean, text
from webtensor.graph.operations.rows import Row

__all__ = ["ROWS"]


def split_texts(input: Tensor, delimiter: Tensor, skip_empty: bool) -> tuple[Tensor, ...]:
    """Split strings at a delimiter, which is one string."""
    (mark,) = delimiter.bytes_sync()
    return ops.string.string_split(input, mark.decode("utf-8"), skip_empty)


ROWS = {
    "StaticRegexReplace": Row(
        "string.static_regex_replace",
        0,
        pattern=text("pattern"),
        rewrite=text("rewrite"),
        replace_global=boolean("replace_global", True),
    ),
    "StringNGrams": Row(
        "string.string_n_grams",
        0,
        1,
        separator=text("separator"),
        ngram_widths=attribute("ngram_widths"),
        left_pad=text("left_pad"),
        right_pad=text("right_pad"),
        pad_width=attribute("pad_width"),
        preserve_short_sequences=boolean("preserve_short_sequences"),
    ).dynamic(),
    "StringSplit": Row(split_texts, 0, 1, skip_empty=boolean("skip_empty", True)).dynamic(),
    "StringToHashBucketFast": Row(
        "string.string_to_hash_bucket_fast", 0, num_buckets=attribute("num_buckets")
    ),
}
