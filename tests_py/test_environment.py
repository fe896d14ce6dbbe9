"""Flags: lazy defaults, setting, the environment variable, the page's query."""

import subprocess
import sys

import pytest

import webtensor as wt
from webtensor import environment
from webtensor.environment import Environment


def run_python(source: str, flags: str) -> str:
    """Run Python with WEBTENSOR_FLAGS set, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", source],
        env={"WEBTENSOR_FLAGS": flags, "PYTHONPATH": "pkg", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_flag_is_evaluated_once_and_only_when_asked_for() -> None:
    asked = []
    env = Environment({})
    env.register_flag("COSTLY", lambda: asked.append(1) or 7.5)
    assert asked == []
    assert env.flags == {"COSTLY": None}
    assert env.get("COSTLY") == 7.5
    assert env.get_number("COSTLY") == 7.5
    assert asked == [1]


def test_a_flag_may_be_false_or_zero() -> None:
    env = Environment({})
    env.register_flag("OFF", lambda: False)
    env.register_flag("NONE", lambda: 0)
    assert env.get_bool("OFF") is False
    assert env.get_number("NONE") == 0


def test_setting_a_flag_wins_and_calls_back() -> None:
    told = []
    env = Environment({})
    env.register_flag("SIZE", lambda: 1, on_set=told.append)
    env.set("SIZE", 2)
    assert env.get("SIZE") == 2
    assert told == [2]
    env.reset()
    assert env.get("SIZE") == 1


def test_given_flags_win_over_defaults_and_survive_reset() -> None:
    env = Environment({"SIZE": 5, "UNKNOWN": True})
    env.register_flag("SIZE", lambda: 1)
    assert env.get("SIZE") == 5
    env.set("SIZE", 6)
    env.reset()
    assert env.get("SIZE") == 5
    assert "UNKNOWN" not in env.flags


def test_an_unknown_flag_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"flag 'TYPO' is not registered; there are .*DEBUG"):
        wt.env().get("TYPO")
    with pytest.raises(KeyError, match="TYPO"):
        wt.env().set("TYPO", True)


def test_a_text_flag_is_not_a_number() -> None:
    env = Environment({"NAME": "high"})
    env.register_flag("NAME", lambda: "low")
    with pytest.raises(TypeError, match="flag NAME must be a number, but is 'high'"):
        env.get_number("NAME")


@pytest.mark.parametrize(
    "text, flags",
    [
        ("", {}),
        ("A:true", {"A": True}),
        ("A:false,B:12", {"A": False, "B": 12}),
        ("A:0.5, B:-3 ,C:high-performance", {"A": 0.5, "B": -3, "C": "high-performance"}),
        ("A,B:1", {"B": 1}),
        (":,", {"": ""}),
        ("URL:a:b", {"URL": "a:b"}),
        ("A:1.2.3", {"A": "1.2.3"}),
    ],
)
def test_flags_are_parsed(text: str, flags: dict[str, object]) -> None:
    assert environment._parse_flags(text) == flags


def test_outside_a_page_flags_come_from_an_environment_variable() -> None:
    source = "import webtensor as wt; print(wt.env().get('DEBUG'), wt.env().get('IS_BROWSER'))"
    assert run_python(source, "DEBUG:true") == "True False"
    assert run_python(source, "") == "False False"
    assert run_python(source, "nonsense,,:::") == "False False"


def test_the_debug_flag_turns_debug_mode_on_from_the_start() -> None:
    source = "import webtensor as wt; wt.set_backend('numpy'); wt.exp([1.0])"
    assert "exp((1,)) -> float32 (1,)" in run_python(source, "DEBUG:true")
    assert run_python(source, "") == ""
