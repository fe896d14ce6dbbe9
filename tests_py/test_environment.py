"""Flags: lazy defaults, setting, the environment variable, the page's query."""

import subprocess
import sys
from typing import Any

import pytest

import webtensor as wt
from webtensor import environment
from webtensor.environment import (
    ANYTHING,
    BOOLEAN,
    Environment,
    FlagType,
    FlagValue,
    integer,
    number,
    one_of,
)


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


def environment_with(text: str) -> Environment:
    """An environment with flags given from outside."""
    return Environment(lambda: text)


def test_a_flag_is_evaluated_once_and_only_when_asked_for() -> None:
    asked: list[int] = []
    env = environment_with("")

    def costly() -> float:
        asked.append(1)
        return 7.5

    env.register_flag("COSTLY", costly)
    assert asked == []
    assert env.flags == {"COSTLY": None}
    assert env.get("COSTLY") == 7.5
    assert env.get_number("COSTLY") == 7.5
    assert asked == [1]


def test_a_flag_may_be_false_or_zero() -> None:
    env = environment_with("")
    env.register_flag("OFF", lambda: False)
    env.register_flag("NONE", lambda: 0)
    assert env.get_bool("OFF") is False
    assert env.get_number("NONE") == 0


def test_setting_a_flag_wins_and_calls_back() -> None:
    told: list[object] = []
    env = environment_with("")
    env.register_flag("SIZE", lambda: 1, on_set=told.append)
    env.set("SIZE", 2)
    assert env.get("SIZE") == 2
    assert told == [2]
    env.reset()
    assert env.get("SIZE") == 1


def test_given_flags_win_over_defaults_and_survive_reset() -> None:
    env = environment_with("SIZE:5")
    env.register_flag("SIZE", lambda: 1)
    assert env.get("SIZE") == 5
    env.set("SIZE", 6)
    env.reset()
    assert env.get("SIZE") == 5


def test_an_unknown_flag_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"flag 'TYPO' is not registered; there are .*DEBUG"):
        wt.env().get("TYPO")
    with pytest.raises(KeyError, match="TYPO"):
        wt.env().set("TYPO", True)


def test_a_text_flag_is_not_a_number() -> None:
    env = environment_with("NAME:high")
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
        ("A,B:1", {"A": "", "B": 1}),
        (" , ,", {}),
        (":,", {"": ""}),
        ("A:1,A:2", {"A": 2}),
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


def test_the_debug_flag_turns_debug_mode_on_from_the_start() -> None:
    source = "import webtensor as wt; wt.set_backend('numpy'); wt.exp([1.0])"
    assert "exp((1,)) -> float32 (1,)" in run_python(source, "DEBUG:true")
    assert run_python(source, "") == ""


# -- values that a flag may have -------------------------------------------------------------------


@pytest.mark.parametrize(
    "type, good, bad",
    [
        (BOOLEAN, [True, False], [0, 1, "yes", "", 1.0, None]),
        (integer(minimum=1), [1, 4096], [0, -1, 1.5, True, "1", 10.0, -(10**5000)]),
        (integer(-1, 7), [-1, 7], [-2, 8]),
        (number(0, 1), [0, 1, 0.5], [-0.1, 2, float("nan"), True, "half"]),
        (number(), [-1e300, 0], [float("inf"), float("-inf"), float("nan")]),
        (one_of(1, 2), [1, 2], [0, 3, True, "1", 1.5]),
        (one_of("low", "high"), ["low"], ["middle", 1]),
        (ANYTHING, [True, 1, 0.5, "text"], [None, [1]]),
    ],
)
def test_values_are_checked(type: FlagType, good: list[Any], bad: list[Any]) -> None:
    env = environment_with("")
    env.register_flag("FLAG", lambda: 1, type=type)
    for value in good:
        env.set("FLAG", value)
        assert env.get("FLAG") == value
    for wrong in bad:
        with pytest.raises((TypeError, ValueError), match=r"env: flag FLAG must be .*, but got "):
            env.set("FLAG", wrong)
        assert env.get("FLAG") == good[-1]


def test_an_error_names_flag_given_and_wanted() -> None:
    with pytest.raises(
        ValueError,
        match="flag WEBGL_MAX_TEXTURE_SIZE must be an integer of at least 1, but got -1",
    ):
        wt.env().set("WEBGL_MAX_TEXTURE_SIZE", -1)
    with pytest.raises(TypeError, match="flag DEBUG must be true or false, but got 'on'"):
        wt.env().set("DEBUG", "on")
    with pytest.raises(ValueError, match="flag WEBGL_VERSION must be one of 1, 2, but got 3"):
        wt.env().set("WEBGL_VERSION", 3)


#: By flag, values from outside that it cannot have.
IMPOSSIBLE = {
    "DEBUG": ["1", "0", "on", ""],
    "IS_BROWSER": ["maybe"],
    "SUBSTITUTE_DTYPES": ["nearest"],
    "WASM_HAS_MULTITHREAD_SUPPORT": ["2"],
    "WASM_HAS_SIMD_SUPPORT": ["no"],
    "WASM_RELAXED_SIMD": ["-1"],
    "WASM_WINOGRAD": ["F(2)"],
    "WEBGL_ALLOW_SOFTWARE": ["1.5"],
    "WEBGL_CPU_FORWARD": ["never"],
    "WEBGL_DELETE_TEXTURE_THRESHOLD": ["-2", "0.5", "true", "much"],
    "WEBGL_FORCE_F16_TEXTURES": ["16"],
    "WEBGL_MAX_TEXTURE_SIZE": ["-1", "0", "1.5", "true", "", "9" * 5000, "nan.", "-0"],
    "WEBGL_RECYCLED_BYTES_LIMIT": ["-1", "1e9"],
    "WEBGL_RENDER_FLOAT32_CAPABLE": ["32"],
    "WEBGL_RENDER_FLOAT32_ENABLED": ["yes"],
    "WEBGL_VERSION": ["0", "3", "2.5", "two", "-1"],
}


def test_every_flag_has_a_type() -> None:
    assert {name for name in wt.env().flags if not name.startswith("TEST_")} == set(IMPOSSIBLE)
    assert ANYTHING not in [wt.env()._types[name] for name in IMPOSSIBLE]


@pytest.mark.parametrize(
    "name, text", [(name, text) for name, texts in IMPOSSIBLE.items() for text in texts]
)
def test_an_impossible_value_from_outside_is_reported_and_ignored(name: str, text: str) -> None:
    env = environment_with(f"{name}:{text}")
    env.register_flag(name, lambda: "default", type=wt.env()._types[name])
    with pytest.warns(RuntimeWarning, match=f"ignored: env: flag {name} must be") as caught:
        assert env.get(name) == "default"
    assert len(caught) == 1
    assert len(str(caught[0].message)) < 300
    env.reset()
    assert env.get(name) == "default"


def test_an_unknown_name_from_outside_is_reported() -> None:
    env = environment_with("WEBGL_VERISON:1,X,:3")
    env.register_flag("WEBGL_VERSION", lambda: 2)
    with pytest.warns(RuntimeWarning) as caught:
        assert env.get("WEBGL_VERSION") == 2
    assert [str(warning.message).partition("ignored: ")[2] for warning in caught] == [
        "there is no flag 'WEBGL_VERISON'. Did you mean 'WEBGL_VERSION'?",
        "there is no flag 'X'",
        "there is no flag ''",
    ]


def test_a_flag_that_is_registered_late_has_its_value_from_outside() -> None:
    env = environment_with("LATE:3,BAD:-1")
    with pytest.warns(RuntimeWarning, match="there is no flag"):
        env.read_overrides()
    env.register_flag("LATE", lambda: 1, type=integer())
    with pytest.warns(RuntimeWarning, match="flag BAD must be an integer of at least 0"):
        env.register_flag("BAD", lambda: 1, type=integer(0))
    assert (env.get("LATE"), env.get("BAD")) == (3, 1)


@pytest.mark.parametrize(
    "text, count", [("A:1," * 100_000, 1), (",".join(f"F{i}:1" for i in range(1000)), 10)]
)
def test_floods_are_reported_in_few_words(text: str, count: int) -> None:
    env = environment_with(text)
    with pytest.warns(RuntimeWarning) as caught:
        env.read_overrides()
    env.read_overrides()
    assert len(caught) == count
    assert sum(len(str(warning.message)) for warning in caught) < 2000


def test_flags_from_outside_are_read_when_the_first_is_used() -> None:
    reads = []

    def read() -> str:
        reads.append(1)
        return "SIZE:5"

    env = Environment(read)
    env.register_flag("SIZE", lambda: 1)
    assert reads == []
    env.set("SIZE", 7)
    assert (env.get("SIZE"), reads) == (7, [1])


def test_the_library_does_not_read_flags_on_import() -> None:
    source = "import webtensor as wt, webtensor.keras.layers; print(wt.env()._overrides)"
    assert run_python(source, "DEBUG:true") == "None"


def test_the_library_does_not_look_at_the_page_on_import() -> None:
    source = """
import sys
sys.platform = "emscripten"
import webtensor as wt, webtensor.keras.layers, webtensor.keras.models
print(wt.environment.IN_BROWSER, "js" in sys.modules)
"""
    assert run_python(source, "") == "True False"


def test_setting_from_outside_calls_back() -> None:
    told: list[FlagValue] = []
    env = environment_with("SIZE:5")
    env.register_flag("SIZE", lambda: 1)
    env.on_set("SIZE", told.append)
    env.read_overrides()
    assert told == [5]


def test_without_webgl_its_flags_say_so() -> None:
    names = ("VERSION", "MAX_TEXTURE_SIZE", "RENDER_FLOAT32_CAPABLE")
    assert [wt.env().get(f"WEBGL_{name}") for name in names] == [0, 0, False]
