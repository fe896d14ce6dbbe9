"""``wt.webgl`` where there is no WebGL."""

import pytest

import webtensor as wt


def test_explain_says_that_there_is_no_webgl() -> None:
    with pytest.raises(wt.BackendUnavailableError, match="needs a browser"):
        wt.webgl.explain(wt.exp, 1.0)
