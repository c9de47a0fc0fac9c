"""`run`: arguments become a request; the outcome becomes a table or JSON, a report, and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli.values import recorded_files, share
from streamgauge.lab import run as lab_run
from streamgauge.lab.planning import plan
from streamgauge.lab.request import Listener, RunOutcome, RunRequest
from streamgauge.model import UserError
from tests.cli.conftest import Said
from tests.report.sample_run import record, store_sample, tables

Say = Callable[..., Said]


@pytest.fixture
def conducted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[RunRequest]:
    """Requests that reached the laboratory; it stores one trial at once instead of running Spark for minutes."""
    heard: list[RunRequest] = []

    def conduct(request: RunRequest, listener: Listener) -> RunOutcome:
        heard.append(request)
        made = record("wordcount", "spark-realtime")
        trials = plan(request)
        listener.planned("a-run", trials)
        listener.phase(1, trials[0], "measuring", 10, 100)
        # What a library and a child process print must not reach stdout.
        print("noise of a library")
        subprocess.run([sys.executable, "-c", "print('noise of a child')"], check=True)
        os.write(1, b"noise of C code\n")
        listener.note("a note")
        listener.finished(1, trials[0], made)
        folder = store_sample(request.out, [(made, tables("spark-realtime", 1))])
        return RunOutcome(folder.name, folder, (made,), 99)

    monkeypatch.setattr(lab_run, "conduct_run", conduct)
    return heard


def test_every_argument_reaches_the_request(say: Say, conducted: list[RunRequest], tmp_path: Path) -> None:
    data, config = tmp_path / "aol.tsv", tmp_path / "client.properties"
    data.write_text("1\tfree\t2006-03-01 00:00:00\t\t\n")
    config.write_text("security.protocol=PLAINTEXT\n")
    arguments = ["run", "wordcount", "grep", "--engine", "spark-realtime", "-e", "spark-microbatch"]
    arguments += ["--load", "ramp:500/s-20000/s", "--events", "50k", "--warmup", "3s", "--seed", "7", "--repeat", "2"]
    arguments += ["--param", "pattern=a=b", "--set", "spark.sql.shuffle.partitions=4", "--partitions", "1"]
    arguments += ["--place", "local", "--data", str(data), "--kafka", "h:1", "--kafka-config", str(config)]
    arguments += ["--out", "kept", "--keep", "--timeout", "2min", "--threshold", "p99<500ms", "--threshold", "lost==0"]
    said = say(*arguments)
    assert said.code == 99, said.err
    request = conducted[0]
    assert request == RunRequest(
        applications=("wordcount", "grep"),
        engines=("spark-realtime", "spark-microbatch"),
        load="ramp:500/s-20000/s",
        events=50_000,
        warmup_s=3.0,
        seed=7,
        repeat=2,
        partitions=1,
        parameters={"pattern": "a=b"},
        settings={"spark.sql.shuffle.partitions": "4"},
        data={"": str(data)},
        kafka="h:1",
        kafka_config=config,
        out=Path("kept"),
        keep=True,
        timeout_s=120.0,
        thresholds=("p99<500ms", "lost==0"),
        command=request.command,
    )
    assert request.command.startswith("streamgauge run wordcount grep --engine spark-realtime")
    assert "'p99<500ms'" in request.command


def test_an_objective_is_a_setting_of_the_adaptive_engine(say: Say, conducted: list[RunRequest]) -> None:
    wanted = ["run", "wordcount", "-e", "spark-realtime", "-e", "spark-adaptive", "--objective", "p99<200ms"]
    assert say(*wanted, "--set", "dwell=3s").code == 99
    assert conducted[0].settings == {"dwell": "3s", "objective": "p99<200ms"}
    with_microbatch = say("run", "wordcount", "-e", "spark-microbatch", "--objective", "p99<200ms")
    assert with_microbatch.code == 2
    assert with_microbatch.err == "error: --objective is for spark-adaptive. Add -e spark-adaptive\n"
    twice = say(*wanted, "--set", "objective=p50<1s")
    assert twice.code == 2 and "given twice" in twice.err


def test_what_is_not_said_keeps_the_laboratorys_defaults(say: Say, conducted: list[RunRequest]) -> None:
    say("run", "identity", "--for", "30s", "--stop-after", "identity")
    request = conducted[0]
    expected = RunRequest(("identity",), for_s=30.0, stop_after="identity", command=request.command)
    assert request == expected


def test_the_table_is_on_stdout_and_the_reports_path_is_its_last_line(say: Say, conducted: list[RunRequest]) -> None:
    said = say("run", "wordcount", "--out", "kept")
    assert "spark-realtime" in said.out
    assert "the answer is right." in said.out
    assert "noise" not in said.out
    last = Path(said.out.splitlines()[-1])
    assert last.name == "report.html"
    assert last.is_file()
    assert "1/1 wordcount · spark-microbatch · constant:500/s: measuring" in said.err
    assert "a note" in said.err


def test_json_is_nothing_but_json(say: Say, conducted: list[RunRequest]) -> None:
    said = say("run", "wordcount", "--json")
    assert said.code == 99
    shown = json.loads(said.out)
    assert shown["schema"] == 1
    assert (Path("runs") / shown["run"] / "report.html").is_file()
    trial = shown["trials"][0]
    assert {"application", "engine", "load", "seed", "events", "valid", "gap"} <= trial.keys()
    assert trial["latency_ms"].keys() >= {"p50", "p95", "p99", "max"}
    assert trial["throughput"].keys() == {"events_per_s", "p5_events_per_s", "mb_per_s"}
    assert trial["verdict"].keys() >= {"correct", "lost", "duplicated", "wrong", "unexpected", "out_of_order"}
    for noise in ("noise of a library", "noise of a child", "noise of C code"):
        assert noise in said.err


def test_a_dry_run_prints_the_trials_and_starts_nothing(say: Say, conducted: list[RunRequest]) -> None:
    said = say(
        "run", "wordcount", "grep", "-e", "spark-realtime", "-e", "spark-microbatch", "--repeat", "2", "--dry-run"
    )
    assert said.code == 0, said.err
    assert "8 trials would be run" in said.out
    assert conducted == []
    assert not Path("runs").exists()
    shown = json.loads(say("run", "wordcount", "--for", "15s", "--dry-run", "--json").out)
    assert [t["application"] for t in shown["trials"]] == ["wordcount"]
    assert shown["trials"][0]["events"] == 12_500


MISTAKES: dict[str, tuple[list[str], str]] = {
    "unknown application": (["wordcont"], "unknown application 'wordcont'. Did you mean 'wordcount'?"),
    "unknown engine": (["wordcount", "-e", "spark-realtim"], "Did you mean 'spark-realtime'?"),
    "unknown load": (["wordcount", "--load", "constnt:5/s"], "unknown load 'constnt'. Did you mean 'constant'?"),
    "load misspelled": (["wordcount", "--load", "constant:fast"], "load 'constant:fast'"),
    "unknown parameter": (["grep", "--param", "patern=x"], "'patern'"),
    "no pair": (["grep", "--param", "pattern"], "--param takes KEY=VALUE, not 'pattern'"),
    "pair twice": (["grep", "-p", "pattern=a", "-p", "pattern=b"], "--param pattern is given twice, as 'a' and 'b'"),
    "nothing to watch": (["wordcount", "--watch", "--dry-run"], "--watch does not go with --dry-run"),
    "no events": (["wordcount", "--events", "0"], "--events must be more than 0"),
    "not a count": (["wordcount", "--events", "many"], "'many' is not a number of events"),
    "not a duration": (["wordcount", "--for", "30"], "'30' is not a duration"),
    "events and time": (["wordcount", "--events", "5", "--for", "3s"], "--events and --for"),
    "not a threshold": (["wordcount", "--threshold", "fast"], "'fast' is not a threshold"),
    "unknown stage": (["wordcount", "--stop-after", "nowhere"], "nowhere"),
    "no data file": (["wordcount", "--data", "missing.tsv"], "there is no file missing.tsv"),
    "no own file": (["mine.py"], "there is no file mine.py"),
    "no application": ([], "missing argument 'APPLICATION"),
    "unknown option": (["wordcount", "--bogus"], "no such option: --bogus"),
    "not a number": (["wordcount", "--seed", "one"], "invalid value for '--seed'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(say: Say, mistake: str) -> None:
    arguments, line = MISTAKES[mistake]
    said = say("run", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert line in said.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def broken(:\n", "mine.py, line 1:"),
        ("x = 1\n", "mine.py defines no APPLICATION"),
        ("1 / 0\n", "ZeroDivision"),
    ],
)
def test_a_broken_own_file_is_one_line(say: Say, text: str, line: str) -> None:
    Path("mine.py").write_text(text)
    said = say("run", "mine.py")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert line in said.err


def test_an_empty_settings_value_is_allowed(say: Say, conducted: list[RunRequest]) -> None:
    say("run", "wordcount", "--set", "spark.some.flag=")
    assert conducted[0].settings == {"spark.some.flag": ""}


def test_outcomes_in_a_progress_line_name_the_trouble() -> None:
    from streamgauge.cli.progress import outcome_words

    wrong: dict[str, Any] = record("grep", "spark-realtime")
    assert outcome_words(wrong) == "✓ p50 6 ms"
    wrong["verdict"]["correct"] = False
    assert outcome_words(wrong) == "✗ p50 6 ms wrong answer"
    gap = record("grep", "spark-continuous", status="gap", gap={"kind": "never", "reason": "no aggregates"})
    assert outcome_words(gap) == "gap (never): no aggregates"


def test_shares_and_recorded_files_as_a_person_types_them() -> None:
    assert share("--malformed", "1%") == 0.01
    assert share("--malformed", "0.25") == 0.25
    with pytest.raises(UserError, match="--malformed takes a share, not 'some'"):
        share("--malformed", "some")
    assert recorded_files(["a/b=c.txt", "roads=x=y.shp"]) == {"": "a/b=c.txt", "roads": "x=y.shp"}
    with pytest.raises(UserError, match="--data roads is given twice"):
        recorded_files(["roads=a", "roads=b"])
