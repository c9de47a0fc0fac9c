"""`list`, `report`, `doctor`, `publish`, and the generated reference."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from streamgauge.cli.reference import reference
from streamgauge.log.cluster import Cluster
from tests.cli.conftest import Said
from tests.report.sample_run import record, store_sample, tables

Say = Callable[..., Said]
REFERENCE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_reference_is_current() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == reference(), (
        "run: python -m streamgauge.cli.reference > docs/cli.md"
    )


@pytest.mark.parametrize("kind", ["applications", "engines", "suites", "streams", "tables", "loads", "faults"])
def test_a_list_is_a_table_or_json(say: Say, kind: str) -> None:
    shown = json.loads(say("list", kind, "--json").out)
    assert shown["schema"] == 1
    said = say("list", kind)
    assert said.code == 0
    assert len(shown[kind]) >= 2
    for row in shown[kind]:
        assert row["name"] in said.out
        assert row.get("about") or row["question"]


def test_the_list_of_applications_says_who_cannot_run_them_and_why(say: Say) -> None:
    found = {row["name"]: row for row in json.loads(say("list", "applications", "--json").out)["applications"]}
    assert set(found["grep"]["engines"]) >= {"spark-microbatch", "spark-realtime", "spark-continuous"}
    assert found["wordcount"]["gaps"]["spark-continuous"]["reason"]
    assert found["grep"]["parameters"]["pattern"]["default"]
    said = say("list", "applications").out
    assert "✗ spark-continuous: stage 'count' uses aggregate" in " ".join(said.split())
    assert "✓ spark-realtime" in said


def test_the_json_of_an_application_has_its_whole_graph(say: Say) -> None:
    found = {row["name"]: row for row in json.loads(say("list", "applications", "--json").out)["applications"]}
    row = found["wordcount"]
    assert (row["inputs"], row["tables"], row["cuts"]) == ({"searches": "aol-search"}, {}, [])
    split, count = row["graph"]
    assert (split["name"], split["reads"], split["emits"], split["key"]) == ("split", ["searches"], "rows", ["word"])
    assert (count["uses"], count["emits"]) == (["aggregate"], "updates")
    assert count["about"].startswith("The running count")
    assert [(o["stage"], o["leaf"], o["emits"]) for o in row["outputs"]] == [
        ("split", False, "per event"),
        ("count", True, "latest per key"),
    ]
    assert row["papers"]
    assert row["variants"]["spark-microbatch"] == {}


def test_the_stages_of_a_chain_and_of_a_graph_are_told_apart() -> None:
    from streamgauge.applications import get_application
    from streamgauge.cli.list_ import _stages
    from streamgauge.lab.application_facts import application_facts

    own = Path(__file__).parents[1] / "applications"
    assert _stages(application_facts(get_application("wordcount"))) == "split → count"
    assert _stages(application_facts(get_application(str(own / "two_queries.py")))) == "split ‖ count"
    branches = _stages(application_facts(get_application(str(own / "two_branches.py"))))
    assert all(" ← " in line for line in branches.splitlines())


def test_an_unknown_list_is_one_line(say: Say) -> None:
    said = say("list", "enginez")
    assert said.code == 2
    assert "Did you mean 'engines'?" in said.err


def test_the_report_of_the_latest_run_is_rebuilt(say: Say) -> None:
    folder = store_sample(Path("runs"), [(record("grep", "spark-realtime"), tables("spark-realtime", 1))])
    said = say("report")
    assert said.code == 0, said.err
    assert said.out.splitlines()[-1] == str(folder / "report.html")
    assert (folder / "report.html").is_file()
    said = say("report", folder.name, "--to", "elsewhere/page.html")
    assert said.out.splitlines()[-1] == "elsewhere/page.html"
    assert Path("elsewhere/page.html").stat().st_size > 1_000_000


def test_no_run_and_a_truncated_run_are_one_line(say: Say) -> None:
    said = say("report")
    assert (said.code, said.err.count("\n")) == (2, 1)
    folder = store_sample(Path("runs"), [(record("grep", "spark-realtime"), tables("spark-realtime", 1))])
    (folder / "run.json").write_text('{"schema": 1, "ru')
    said = say("report")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "run.json is truncated or damaged" in said.err


def test_a_truncated_trial_is_said_and_the_others_are_shown(say: Say) -> None:
    one, two = (record(name, "spark-realtime") for name in ("grep", "identity"))
    folder = store_sample(Path("runs"), [(one, {}), (two, {})])
    (folder / "trials" / "001" / "trial.json").write_text("{")
    said = say("report")
    assert said.code == 0
    assert "identity" in said.out
    assert "trial.json is truncated or damaged" in said.out


def test_doctor_says_what_is_missing_and_the_way_out(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = json.loads(say("doctor", "--json").out)
    assert {c["name"] for c in shown["checks"]} >= {"python", "java", "jars", "memory", "disk"}
    empty = Path("empty")
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty.absolute()))
    monkeypatch.setenv("JAVA_HOME", str(empty.absolute()))
    said = say("doctor")
    assert said.code == 2
    row = next(line for line in said.out.splitlines() if " java " in line)
    assert "✗" in row
    assert json.loads(say("doctor", "--json").out)["ok"] is False


def test_leftovers_alone_do_not_keep_a_machine_from_running(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamgauge.provision import doctor
    from streamgauge.provision.doctor import Check

    checks = [Check("java", True, "17"), Check("leftovers", False, "1 work folder", "The next run removes it")]
    monkeypatch.setattr(doctor, "check_all", lambda: checks)
    said = say("doctor")
    assert said.code == 0
    assert "The next run removes it" in said.out


PUBLISH_MISTAKES: dict[str, tuple[list[str], str]] = {
    "no amount": (["aol-search"], "Give either --events N or --for TIME"),
    "no events": (["aol-search", "--events", "0"], "--events must be more than 0"),
    "both": (["aol-search", "--events", "5", "--for", "5s"], "Give either --events N or --for TIME"),
    "preloaded for a time": (["aol-search", "--load", "preloaded", "--for", "5s"], "Give --events N instead"),
    "unknown stream": (["aol-serch", "--events", "5"], "Did you mean 'aol-search'?"),
    "unknown load": (["aol-search", "--load", "steady", "--events", "5"], "unknown load 'steady'"),
    "no data file": (["aol-search", "--events", "5", "--data", "none.tsv"], "there is no file none.tsv"),
    "no config": (["aol-search", "--events", "5", "--kafka-config", "none"], "none"),
}


@pytest.mark.parametrize("mistake", PUBLISH_MISTAKES)
def test_a_mistake_in_publishing_is_one_line_before_kafka_is_asked(say: Say, mistake: str) -> None:
    arguments, line = PUBLISH_MISTAKES[mistake]
    said = say("publish", *arguments, "--kafka", "127.0.0.1:1", "--topic", "t")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert line in said.err


def test_no_kafka_at_the_address_is_one_line_and_exit_code_5(say: Say) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = say("publish", "aol-search", "--events", "5", "--kafka", f"127.0.0.1:{port}", "--topic", "t")
    assert (said.code, said.out, said.err.count("\n")) == (5, "", 1), said.err
    assert f"no Kafka answers at 127.0.0.1:{port}" in said.err


@pytest.mark.kafka
def test_events_are_published_to_a_topic_that_is_made(say: Say, cluster: Cluster) -> None:
    where = ["--kafka", cluster.bootstrap, "--topic", "published-by-the-command"]
    try:
        said = say("publish", "aol-search", "--load", "constant:2000/s", "--for", "1s", *where, "--json")
        assert said.code in (0, 4), said.err
        shown = json.loads(said.out)
        assert shown["events"] == 2000
        assert shown["lateness_ms"]["max"] is not None
        assert "made the topic 'published-by-the-command' with 2 partitions" in said.err
        said = say("publish", "aol-search", "--load", "preloaded", "--events", "3k", *where)
        assert said.code == 0, said.err
        assert "published 3,000 events" in said.out
        assert "made the topic" not in said.err
        assert sum(cluster.end_offsets("published-by-the-command").values()) == 5000
        said = say("publish", "aol-search", "--events", "5", "--partitions", "3", *where)
        assert said.code == 2
        assert "has 2 partitions, not 3" in said.err
    finally:
        cluster.delete_topics(["published-by-the-command"])
