"""A run that is wished for: the command that it equals, and what planning says of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.dashboard.load_curve import curve
from streamgauge.dashboard.wish import MOST_TRIALS, Wish, checked
from streamgauge.load import parse_load
from streamgauge.model import UserError

OUT = Path("runs")
GOOD = {"applications": ["wordcount"], "engines": ["spark-microbatch"], "load": "constant:500/s", "for": "15s"}


def fields(**given: Any) -> list[tuple[str, str]]:
    found = checked(Wish.of({**GOOD, **given}), OUT)
    return [(each.field, each.text) for each in found.problems]


def test_the_command_is_the_one_that_somebody_would_type() -> None:
    more = {"faults": ["kill driver at 5s"], "thresholds": ["p99<500ms"], "warmup": "", "settling": "8s"}
    wish = Wish.of({**GOOD, **more})
    assert wish.arguments() == [
        *("run", "wordcount", "--engine", "spark-microbatch", "--load", "constant:500/s", "--for", "15s"),
        *("--settling", "8s", "--fault", "kill driver at 5s", "--threshold", "p99<500ms"),
    ]
    told = wish.command(Path("/tmp/other runs"))
    assert told.endswith("--fault 'kill driver at 5s' --threshold 'p99<500ms' --out '/tmp/other runs'")
    assert shlex.split(wish.command(OUT)) == ["streamgauge", *wish.arguments()]


def test_a_good_wish_is_planned() -> None:
    found = checked(Wish.of({**GOOD, "engines": ["spark-microbatch", "spark-realtime"], "repeat": "3"}), OUT)
    assert (found.problems, found.trials) == ((), 6)
    assert found.expected_s > 100 and found.figure is not None


def test_all_that_is_wrong_is_said_at_once_in_its_own_words() -> None:
    found = fields(
        applications=["wordcont"],
        engines=["spark-micro"],
        load="constant:much",
        repeat="two",
        faults=["kill moon at 5s"],
    )
    assert [name for name, _ in found] == ["applications", "engines", "load", "repeat", "faults"]
    assert "Did you mean 'wordcount'?" in found[0][1]
    assert "'much' is not a rate" in found[2][1]
    assert "unknown target of a fault 'moon'" in found[4][1]


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"applications": []}, "applications", "no application is chosen"),
        ({"events": "5k"}, "events", "--events and --for contradict each other"),
        ({"load": "preloaded"}, "", "a preloaded trial has no duration"),
        ({"repeat": "0"}, "repeat", "--repeat must be more than 0"),
        ({"repeat": "5000"}, "repeat", f"at most {MOST_TRIALS:,} at once"),
        ({"faults": ["kill driver at 20s"]}, "faults", "fault 'kill driver at 20s'"),
        ({"faults": ["kill worker at 2s"]}, "faults", "there is no worker of this run at local"),
        ({"faults": ["kill broker at 2s"]}, "faults", "a log that stays away cannot be read back"),
        ({"faults": ["kill driver every 1ms"]}, "faults", "more than 10,000 times"),
        ({"thresholds": ["p99 is low"]}, "thresholds", "p99 is low"),
        ({"for": "90d"}, "load", "more than a month"),
        ({"settling": "long"}, "settling", "'long'"),
        ({"place": "moon"}, "place", "'moon' is not a place"),
        ({"load": "trace:/etc/passwd"}, "load", "does not begin with the line"),
    ],
)
def test_a_mistake_stands_beside_its_field(given: dict[str, Any], field: str, words: str) -> None:
    change = {"for": "60s", **given} if given.get("faults") == ["kill driver every 1ms"] else given
    found = fields(**change)
    assert [name for name, _ in found] == [field]
    assert words in found[0][1]


def test_what_an_engine_cannot_run_is_told_and_no_mistake() -> None:
    found = checked(Wish.of({**GOOD, "engines": ["spark-continuous"]}), OUT)
    assert found.problems == () and len(found.gaps) == 1 and found.gaps[0].startswith("spark-continuous: ")


def test_a_preloaded_load_has_no_curve() -> None:
    found = checked(Wish.of({**GOOD, "load": "preloaded", "for": "", "events": "10k"}), OUT)
    assert found.problems == () and found.figure is None and "before the job starts" in found.remark


@pytest.mark.parametrize(
    "given",
    [
        {"applications": "wordcount"},
        {"applications": ["x"] * 31},
        {"load": 5},
        {"load": "x" * 201},
        {"load": "constant\n:5/s"},
        {"load": "constant:5/s\0"},
        {"shell": "rm"},
        {"faults": [["kill"]]},
    ],
)
def test_what_no_form_sends_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        Wish.of({**GOOD, **given})


def test_a_file_of_ones_own_is_not_run_from_a_page(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("raise SystemExit('it was run')")
    assert [name for name, _ in fields(applications=[str(mine)])] == ["applications"]


def test_the_curve_is_the_mean_of_its_stretch_and_misses_no_burst() -> None:
    found = curve(parse_load("bursts:100/s:1000:10s"), 20.0, None, 5.0, 50)
    assert (found.edges_s[0], found.edges_s[-1], found.length_s) == (-5.0, 20.0, 20.0)
    due = sum(r * (b - a) for r, a, b in zip(found.rates_per_s, found.edges_s, found.edges_s[1:], strict=False))
    assert due == pytest.approx(100 * 25 + 1000, rel=0.01), "the burst at 10 s is in it although it takes 175 ms"
    assert max(found.rates_per_s) == pytest.approx(100 + 1000 / 0.5, rel=0.01)


def test_the_length_of_a_number_of_events_follows_from_the_load() -> None:
    assert curve(parse_load("constant:100/s"), None, 500, 0.0, 10).length_s == pytest.approx(5, abs=0.02)


@given(st.dictionaries(st.sampled_from([*GOOD, "faults", "place", "seed", "x"]), st.text(max_size=20) | st.integers()))
@settings(max_examples=40, deadline=None)
def test_nothing_that_is_typed_is_more_than_a_mistake(given_: dict[str, Any]) -> None:
    try:
        wish = Wish.of(given_)
    except UserError:
        return
    checked(wish, OUT)


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_every_load_that_is_typed_is_drawn_or_refused(text: str) -> None:
    try:
        wish = Wish.of({**GOOD, "load": text})
    except UserError:
        return
    found = checked(wish, OUT)
    assert found.problems or found.figure or found.remark
