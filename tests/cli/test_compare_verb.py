"""`compare` and `history`: what a person types and sees, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Said
from tests.report.compared_runs import repeats, store_run, with_trial
from tests.report.sample_run import record

Say = Callable[..., Said]
RUNS = Path("runs")


def two_runs(factor: float = 1.2, **changes: object) -> tuple[str, str]:
    """The names of a run and of one that is slower."""
    return store_run(RUNS, repeats(seed=1)).id, store_run(RUNS, repeats(seed=2, factor=factor, **changes)).id  # type: ignore[arg-type]


def test_two_runs_are_compared_in_words_and_as_json(say: Say) -> None:
    names = two_runs()
    said = say("compare", *names)
    assert said.code == 0, said.err
    assert "baseline: spark-microbatch 4.3.0 of run " + names[0] + ", 5 repeats" in said.out
    assert said.out.splitlines()[-1].startswith("wordcount on spark-microbatch: slower in p50")
    shown = json.loads(say("compare", *names, "--json").out)
    assert (shown["schema"], shown["baseline"], shown["candidate"]) == (1, *names)
    figures = {each["figure"]: each for each in shown["pairs"][0]["figures"]}
    assert figures["p50"]["word"] == "slower"
    assert figures["p50"]["low_percent"] < 20 < figures["p50"]["high_percent"]
    assert figures["cpu"]["verdict"] == "no difference shown"


def test_runs_are_found_by_folder_too(say: Say, tmp_path: Path) -> None:
    first = store_run(tmp_path / "elsewhere", repeats())
    store_run(RUNS, repeats())
    said = say("compare", str(first.folder), "latest", "--figure", "p99")
    assert said.code == 0, said.err
    assert [line.split()[0] for line in said.out.splitlines() if " … " in line] == ["p99"]


def test_two_engines_of_one_run_are_compared(say: Say) -> None:
    run = store_run(
        RUNS, repeats(), repeats(engine="spark-realtime"), repeats("grep"), repeats("grep", "spark-realtime")
    )
    said = say("compare", run.id)
    assert said.code == 0, said.err
    assert "wordcount on spark-realtime against spark-microbatch: faster in p50" in said.out
    assert "grep on spark-realtime against spark-microbatch: faster in p50" in said.out
    other = say("compare", "latest", "-e", "spark-realtime", "-e", "spark-microbatch", "-a", "grep")
    assert "grep on spark-microbatch against spark-realtime: slower in p50" in other.out
    assert "wordcount" not in other.out


def test_what_is_not_comparable_is_refused_with_a_line_for_each_reason(say: Say) -> None:
    first = store_run(RUNS, repeats())
    other = store_run(RUNS, with_trial(repeats(), load="constant:700/s", seed=2), machine={"cores": 4})
    said = say("compare", first.id, other.id)
    assert (said.code, said.out) == (2, "")
    lines = said.err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["not comparable"] * 4 + ["error"]
    assert "the machines differ in cores: 2 against 4" in lines[0]
    assert any("load differs: constant:500/s against constant:700/s" in line for line in lines)
    assert lines[-1].endswith("with --force")
    forced = say("compare", first.id, other.id, "--force")
    assert forced.code == 0, forced.err
    assert forced.out.index("not comparable: the machines differ in cores") < forced.out.index("95 % interval")
    assert len(json.loads(say("compare", first.id, other.id, "--force", "--json").out)["reasons"]) == 4


def test_a_gap_can_be_forced_and_has_no_figures(say: Say) -> None:
    gap = {"kind": "never", "reason": "no aggregates"}
    absent = [(record("wordcount", "spark-microbatch", status="gap", gap=gap), {})]
    names = store_run(RUNS, repeats()).id, store_run(RUNS, absent).id
    assert "was not measured: gap (never): no aggregates" in say("compare", *names).err
    said = say("compare", *names, "--force", "--fail-on", "p99:+10%")
    assert said.code == 99
    assert "p99:+10%: no trial" in said.out


def test_a_wrong_answer_is_refused(say: Say) -> None:
    wrong = repeats()
    wrong[2][0]["verdict"]["correct"] = False
    said = say("compare", store_run(RUNS, repeats()).id, store_run(RUNS, wrong).id)
    assert said.code == 2
    assert "gave a wrong answer in 1 of 5 repeats" in said.err


@pytest.mark.parametrize(
    ("limits", "factor", "code"),
    [
        (["p99:+10%"], 1.2, 99),
        (["p99:+40%"], 1.2, 0),
        (["p99:+10%"], 0.8, 0),
        (["cpu:+0%"], 1.2, 0),
        (["p99:+40%", "events_per_s:-5%"], 1.2, 99),
    ],
)
def test_a_limit_that_is_broken_ends_with_99(say: Say, limits: list[str], factor: float, code: int) -> None:
    names = two_runs(factor)
    options = [word for limit in limits for word in ("--fail-on", limit)]
    said = say("compare", *names, *options)
    assert said.code == code, said.err
    assert ("✗" in said.out) == (code == 99)
    shown = json.loads(say("compare", *names, *options, "--json").out)
    assert [each["limit"] for each in shown["limits"]] == limits
    assert all(each["ok"] for each in shown["limits"]) == (code == 0)


def test_a_large_change_that_is_not_shown_breaks_no_limit(say: Say) -> None:
    noisy = store_run(RUNS, repeats(n=2, noise=0.4)).id, store_run(RUNS, repeats(n=2, noise=0.4, factor=1.3, seed=2)).id
    said = say("compare", *noisy, "--fail-on", "p50:+1%")
    assert said.code == 0
    assert "no difference shown" in said.out


MISTAKES = {
    "unknown figure": (["--figure", "p98"], "unknown figure 'p98'. Did you mean 'p9"),
    "unknown figure in a limit": (["--fail-on", "p98:+10%"], "unknown figure in a limit 'p98'"),
    "no limit": (["--fail-on", "p99<5"], "is not a limit on a change"),
    "unknown ending": (["--export", "x.xlsx"], "End it in .csv, .parquet, .md"),
    "unknown engine": (["--engine", "spark-realtme", "--engine", "spark-microbatch"], "unknown engine in run"),
    "unknown application": (["--application", "grap"], "unknown application in these runs 'grap'"),
    "three engines": (["-e", "a", "-e", "b", "-e", "c"], "--engine is given 3 times"),
    "no engine in common": (["-e", "spark-microbatch", "-e", "spark-realtime"], "unknown engine in run"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(say: Say, mistake: str) -> None:
    names = two_runs()
    arguments, line = MISTAKES[mistake]
    said = say("compare", *names, *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert line in said.err


def test_one_run_of_one_engine_and_runs_with_nothing_in_common_are_one_line(say: Say) -> None:
    name, _ = two_runs()
    for arguments in ([name], [name, name], [name, "-e", "spark-microbatch"]):
        said = say("compare", *arguments)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert "nothing to stand against but another engine" in said.err
    other = store_run(RUNS, repeats("grep", "spark-realtime")).id
    said = say("compare", name, other)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "have no trial of the same application and engine" in said.err
    assert "there is no run 'none'" in say("compare", "none", name).err


def test_trials_without_a_counterpart_are_named(say: Say) -> None:
    first = store_run(RUNS, repeats(), repeats("grep"))
    said = say("compare", first.id, store_run(RUNS, repeats()).id)
    assert said.code == 0
    assert f"! without counterpart: grep · constant:500/s · spark-microbatch 4.3.0 of run {first.id}" in said.out


def test_figures_are_exported(say: Say) -> None:
    names = two_runs()
    assert say("compare", *names, "--export", "made/change.parquet").code == 0
    assert pq.read_table("made/change.parquet").column("figure").to_pylist()[:2] == ["p50", "p95"]
    assert say("compare", *names, "--json", "--export", "change.md").code == 0
    assert Path("change.md").read_text().startswith("| trial | figure | baseline | candidate | change |")


def test_a_figure_over_the_runs_is_a_table_json_and_a_file(say: Say) -> None:
    names = two_runs()
    said = say("history", "p99", "--export", "p99.csv")
    assert said.code == 0, said.err
    assert all(name in said.out for name in names)
    assert "wordcount · spark-microbatch · constant:500/s" in said.out
    shown = json.loads(say("history", "p99", "--json").out)
    (series,) = shown["series"]
    assert (shown["figure"], shown["unit"], series["application"], shown["problems"]) == ("p99", "ms", "wordcount", [])
    assert {point["run"] for point in series["points"]} == set(names)
    assert len(Path("p99.csv").read_text().splitlines()) == 3


def test_a_damaged_run_is_one_line_below_the_table(say: Say) -> None:
    good, bad = two_runs()
    (RUNS / bad / "run.json").write_text("{")
    said = say("history", "p50")
    assert said.code == 0
    assert good in said.out
    (line,) = [each for each in said.out.splitlines() if each.startswith("! not read: ")]
    assert f"{bad}/run.json is truncated or damaged" in line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["p98"], "unknown figure 'p98'"),
        (["p50", "--application", "wordcont"], "Did you mean 'wordcount'?"),
        (["p50", "--engine", "spark"], "unknown engine in the runs of runs 'spark'"),
        (["p50", "--export", "x.txt"], "End it in .csv"),
        (["p50", "--out", "nowhere"], "there is no trial in the runs of nowhere"),
    ],
)
def test_a_mistake_in_a_history_is_one_line(say: Say, arguments: list[str], line: str) -> None:
    two_runs()
    said = say("history", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert line in said.err
