"""From suites to trials: the product of the axes, once each, laid out for warm processes, at any scale."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from streamgauge.applications import all_applications
from streamgauge.lab.budget import expected_run_s
from streamgauge.lab.expansion import expand, process_key
from streamgauge.lab.suite import LAPTOP, PAPER, QUICK, Scale, Suite, parse_scale
from streamgauge.lab.suite_file import all_suites, read_suite
from streamgauge.model import UserError

SUITES = all_suites()


def suite(folder: Path, *matrices: str) -> Suite:
    path = folder / "mine.toml"
    path.write_text('title = "Mine"\n' + "".join(f"[[matrix]]\n{matrix}\n" for matrix in matrices))
    return read_suite(path)


def test_trials_are_the_product_of_all_axes(tmp_path: Path) -> None:
    found = expand(
        suite(
            tmp_path,
            'applications = ["grep", "identity"]\nloads = ["constant:100/s", "preloaded"]\nevents = 500\nfor = "2s"\n'
            'warmup = "1s"\nseeds = [1, 2]\nrepeats = 2\nthresholds = ["p50<1s"]\ntimeout = "1min"',
        ),
        LAPTOP,
    )
    assert len(found) == 2 * 2 * 2 * 2
    first, second = found[0], found[2]
    assert (first.trial.load, first.trial.events, first.trial.warmup_events, first.warmup_s) == (
        "constant:100/s",
        300,
        100,
        1,
    )
    assert (first.trial.seed, found[1].trial.repeat, second.trial.seed) == (1, 2, 2)
    assert all(each.timeout_s == 60 and each.thresholds == ("p50<1s",) and each.matrices == ("1",) for each in found)
    preloaded = [each for each in found if each.trial.load == "preloaded"]
    assert {(each.trial.events, each.warmup_s) for each in preloaded} == {(500, 0.0)}


def test_cases_set_what_belongs_together_and_add_to_settings(tmp_path: Path) -> None:
    found = expand(
        suite(
            tmp_path,
            'applications = ["wordcount"]\nloads = ["preloaded"]\nsettings = [{ trigger = "1s" }]\n'
            'cases = [{ partitions = 1, settings = { "parallelism.count" = 6 } }, { partitions = 4, events = "5k" }]',
        ),
        LAPTOP,
    )
    assert [(each.trial.partitions, dict(each.trial.settings)) for each in found] == [
        (1, {"trigger": "1s", "parallelism.count": "6"}),
        (4, {"trigger": "1s"}),
    ]
    assert found[1].trial.events == 5000


def test_a_trial_of_two_matrices_is_conducted_once_under_all_thresholds(tmp_path: Path) -> None:
    one = 'name = "a"\napplications = ["grep"]\nloads = ["preloaded"]\nevents = [10, 20]\nthresholds = ["lost==0"]'
    two = 'name = "b"\napplications = ["grep"]\nloads = ["preloaded"]\nevents = 20\nthresholds = ["wrong==0"]'
    found = expand(suite(tmp_path, one, two), LAPTOP)
    assert [(each.trial.events, each.matrices) for each in found] == [(10, ("a",)), (20, ("a", "b"))]
    assert found[1].thresholds == ("lost==0", "wrong==0")


def test_trials_of_one_process_are_next_to_each_other(tmp_path: Path) -> None:
    text = 'applications = ["grep", "identity"]\nloads = ["preloaded"]\nevents = 10\nengines = ["{}"]'
    other = text + "\nsettings = [{{ shuffle-partitions = 4 }}, {{}}]"
    found = expand(
        suite(
            tmp_path, text.format("spark-microbatch"), text.format("spark-realtime"), other.format("spark-microbatch")
        ),
        LAPTOP,
    )
    keys = [process_key(each) for each in found]
    assert len(found) == 6
    assert len(set(keys)) == 1 + sum(a != b for a, b in pairwise(keys)) == 3
    assert found[0].matrices == ("1", "3")


def test_a_cluster_is_a_place_like_others(tmp_path: Path) -> None:
    text = 'applications = ["grep"]\nloads = ["preloaded"]\nplaces = ["cluster:3", "local"]'
    far, near = expand(suite(tmp_path, text), LAPTOP)
    assert (far.gap, far.trial.place, near.trial.place) == (None, "cluster:3", "local")


def test_several_seeds_can_be_asked_for(tmp_path: Path) -> None:
    text = 'applications = ["{}"]\nloads = ["preloaded"]\nseeds = {}'
    read = suite(tmp_path, text.format("grep", "[4, 5]"), text.format("sample", "[9]"))
    found = expand(read, LAPTOP, seeds=3)
    assert [(e.trial.application, e.trial.seed) for e in found] == [
        ("grep", 1),
        ("grep", 2),
        ("grep", 3),
        ("sample", 9),
    ]
    with pytest.raises(UserError, match="--seeds must be at least 1"):
        expand(read, LAPTOP, seeds=0)


def test_what_an_engine_cannot_run_is_a_gap_too(tmp_path: Path) -> None:
    text = 'applications = ["wordcount"]\nengines = ["spark-continuous"]\nloads = ["preloaded"]'
    (found,) = expand(suite(tmp_path, text), LAPTOP)
    assert found.gap is not None and "stage 'count' uses aggregate" in found.gap.reason


def test_engines_can_be_chosen_and_must_be_there() -> None:
    found = expand(SUITES["streambench-performance"], LAPTOP, ["spark-realtime"])
    assert {each.trial.engine for each in found} == {"spark-realtime"}
    with pytest.raises(UserError, match="'knobs' has no trial on spark-continuous"):
        expand(SUITES["knobs"], LAPTOP, ["spark-continuous"])
    with pytest.raises(UserError, match="Did you mean 'spark-realtime'"):
        expand(SUITES["knobs"], LAPTOP, ["spark-realtim"])


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (
            'applications = ["grep"]\nsettings = [{ triger = "1s" }]',
            "matrix '1': unknown setting of spark-microbatch 'triger'",
        ),
        ('applications = ["grep"]\nparameters = [{ patern = "x" }]', "Did you mean 'pattern'"),
        ('applications = ["wordcount"]\nstop-after = ["sort"]', "unknown stage"),
        ('applications = ["grep"]\nloads = ["constant:1/min"]\nfor = "1s"\nwarmup = "0s"', "no event is due"),
    ],
)
def test_what_does_not_fit_together_names_file_and_matrix(tmp_path: Path, matrix: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        expand(suite(tmp_path, matrix), LAPTOP)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}: matrix '1': ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "quick", "scale"),
    [
        (None, False, LAPTOP),
        ("laptop", False, LAPTOP),
        ("paper", False, PAPER),
        ("1", False, PAPER),
        (None, True, QUICK),
        ("0.1", False, Scale("0.1 × paper", "paper", 0.1)),
        ("10%", False, Scale("0.1 × paper", "paper", 0.1)),
    ],
)
def test_a_scale_is_a_name_or_a_share_of_the_paper(text: str | None, quick: bool, scale: Scale) -> None:
    assert parse_scale(text, quick) == scale


@pytest.mark.parametrize("text", ["0", "-1", "half", "inf", "nan", "%"])
def test_no_other_scale_is_taken(text: str) -> None:
    with pytest.raises(UserError, match="is not a scale"):
        parse_scale(text, False)


def test_quick_and_a_scale_contradict_each_other() -> None:
    with pytest.raises(UserError, match="--quick and --scale paper contradict each other"):
        parse_scale("paper", True)


def test_a_share_of_the_paper_takes_events_and_times_and_leaves_rates(tmp_path: Path) -> None:
    text = 'applications = ["grep"]\nloads = ["burst:1000/s:1min:100/s", "preloaded"]\n'
    text += 'events = { laptop = 10, paper = "1M" }\nfor = { laptop = "1s", paper = "10min" }\n'
    text += "repeats = { laptop = 1, paper = 2 }"
    found = expand(suite(tmp_path, text), parse_scale("0.01", False))
    assert len(found) == 4
    assert found[0].trial.load == "burst:1000/s:600ms:100/s"
    assert found[0].trial.events == 600 + 600
    assert found[2].trial.events == 10_000
    very = expand(suite(tmp_path, text), parse_scale("0.00001", False))
    assert very[0].trial.events >= 100, "a measured time is never below a second"


LONGER = {"dual-paradigm": (90 * 60, 10 * 60), "engines": (90 * 60, 10 * 60)}
"""Suites that may take longer: three engines with bursts and a calm around them; four engines side by side."""


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_keeps_its_time(name: str) -> None:
    laptop, quick = (expand(SUITES[name], scale) for scale in (LAPTOP, QUICK))
    most_s, most_quick_s = LONGER.get(name, (30 * 60, 3 * 60))
    assert expected_run_s(laptop) < most_s
    assert expected_run_s(quick) < most_quick_s
    assert expected_run_s(quick) < expected_run_s(laptop) < expected_run_s(expand(SUITES[name], PAPER))
    assert {each.trial.engine for each in quick} <= {each.trial.engine for each in laptop}


def test_most_suites_that_break_nothing_take_less_than_ten_minutes() -> None:
    plans = [expand(each, LAPTOP) for name, each in SUITES.items() if name not in LONGER]
    times = [expected_run_s(trials) for trials in plans if not any(each.trial.faults for each in trials)]
    assert sum(seconds < 600 for seconds in times) > len(times) / 2


SEVEN = {"identity", "sample", "projection", "grep", "wordcount", "distinct-count", "statistics"}


def test_the_papers_own_figures_are_those_of_the_papers() -> None:
    performance = expand(SUITES["streambench-performance"], PAPER)
    assert {each.trial.application for each in performance} == SEVEN
    assert {each.trial.events for each in performance} == {5_000_000, 10_000_000, 20_000_000, 50_000_000}
    recipients = expand(SUITES["streambench-recipients"], PAPER)
    assert {(e.trial.place, e.trial.partitions) for e in recipients} >= {
        ("cluster:5", 1),
        ("cluster:5", 2),
        ("cluster:5", 5),
    }
    durability = {e.trial.load: e.trial for e in expand(SUITES["streambench-durability"], PAPER)}
    assert set(durability) == {"constant:10000/min", "constant:1000000/min"}
    slow = durability["constant:10000/min"]
    assert slow.events - slow.warmup_events == 2 * 24 * 60 * 10_000
    capability = {(e.trial.application, e.trial.events) for e in expand(SUITES["capability"], PAPER)}
    assert {("identity", 10**9), ("statistics", 5 * 10**8), ("wordcount", 5 * 10**8)} <= capability
    latency = expand(SUITES["ospbench-latency"], PAPER)
    assert {e.trial.stop_after for e in latency} == {"ingest", "parse", "join", "tumbling", "sliding"}
    assert {e.trial.repeat for e in latency} == {1, 2, 3, 4, 5}
    assert {e.warmup_s for e in latency} == {300.0}
    tasks = [e for e in expand(SUITES["parallelism"], PAPER) if "tasks" in e.matrices]
    assert {e.trial.partitions for e in tasks} == set(range(1, 9))


def test_the_suites_of_faults_break_what_the_papers_broke() -> None:
    faults = expand(SUITES["streambench-faults"], PAPER)
    assert {each.trial.application for each in faults if each.trial.place == "cluster:5"} == SEVEN
    nodes = {(each.trial.place, each.trial.faults) for each in faults if each.trial.application == "grep"}
    assert nodes == {("cluster:5", ()), ("cluster:4", ()), ("cluster:5", ("kill busiest worker at half",))}
    (fault,) = {e.trial.faults for e in expand(SUITES["node-failure"], PAPER) if e.trial.place == "cluster:7"}
    assert fault == ("kill busiest worker at 50s",)
    anarchy = expand(SUITES["anarchy"], PAPER)
    assert {e.trial.failure_timeout_s for e in anarchy if e.trial.faults} == {600.0}
    assert all("900s" in fault for e in anarchy for fault in e.trial.faults)
    chaos = [e for e in expand(SUITES["chaos"], LAPTOP, seeds=20) if e.trial.place == "cluster:3"]
    assert {e.trial.seed for e in chaos} == set(range(1, 21))


def test_the_suite_of_applications_has_every_application() -> None:
    found = expand(SUITES["applications"], LAPTOP)
    assert {each.trial.application for each in found} == set(all_applications())
    assert {each.trial.load.partition(":")[0] for each in found} == {"constant", "bursts", "preloaded"}
