"""`streamgauge characterize` for real, once, over a topic between two queries; its mistakes; its instances in a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli import main
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.log.cluster import Cluster
from streamgauge.store import RunStore
from tests.cli.conftest import Said

Say = Callable[..., Said]
TWO_QUERIES = str(Path(__file__).parents[1] / "applications" / "two_queries.py")

MISTAKES: dict[str, tuple[list[str], str]] = {
    "unknown application": (["wordcout"], "Did you mean 'wordcount'?"),
    "few batches": (["wordcount", "--batches", "2"], "--batches must be at least 3"),
    "few events": (["wordcount", "--events", "5", "--batches", "6"], "--events must not be less than --batches"),
    "unknown parameter": (["grep", "--param", "patern=x"], "Did you mean 'pattern'?"),
    "no number": (["grep", "--events", "many"], "'many' is not a number of events"),
    "unknown setting": (["grep", "--set", "triger=1s"], "Did you mean 'trigger'?"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(say: Say, mistake: str) -> None:
    arguments, line = MISTAKES[mistake]
    said = say("characterize", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert line in said.err
    assert not Path("runs").exists()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def document(broker: EmbeddedBroker, out: Path) -> dict[str, Any]:
    """Word count in two queries, few events, through the session's broker."""
    command = ["characterize", TWO_QUERIES, "--events", "6k", "--batches", "3", "--seed", "2"]
    assert main([*command, "--kafka", broker.bootstrap, "--out", str(out), "--timeout", "20min"]) == 0
    found = RunStore(out).open("latest").characterisation
    assert found is not None
    return dict(found)


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(1500)
class TestForReal:
    """One characterisation, looked at from several sides."""

    def test_operators_follow_the_data(self, document: dict[str, Any]) -> None:
        shown = {each["name"]: (each["role"], each["operator"], each["pattern"]) for each in document["operators"]}
        assert shown == {
            "searches": ("source", ["source"], ["log round robin"]),
            "split": ("stage", ["projection", "selection"], ["forward"]),
            "to-split": ("sink", ["sink"], ["forward"]),
            "from-split": ("source", ["source"], ["group by"]),
            "count": ("stage", ["aggregation"], ["group by"]),
            "sink": ("sink", ["sink"], ["forward"]),
        }

    def test_rows_bytes_and_selectivity_are_those_of_the_events(self, document: dict[str, Any]) -> None:
        from streamgauge.streams.aol_search import STREAM
        from streamgauge.streams.wire import encode

        block = STREAM.synthetic(2).block(0, 6000)
        sizes = [len(each.as_py()) for each in encode(STREAM, block)]
        words = [word for query in block.column("query").to_pylist() for word in query.split(" ") if word]
        found = {each["name"]: each for each in document["operators"]}
        assert found["searches"]["rows_in"] == found["searches"]["rows_out"] == 6000
        assert found["searches"]["bytes_out"] == pytest.approx(sum(sizes) / 6000)
        assert found["split"]["rows_out"] == found["from-split"]["rows_out"] == len(words)
        assert found["split"]["selectivity"] == pytest.approx(len(words) / 6000)
        as_json = [
            len(json.dumps({"word": word}, ensure_ascii=False, separators=(",", ":")).encode()) for word in words
        ]
        assert found["split"]["bytes_out"] == pytest.approx(sum(as_json) / len(words))
        assert len(set(words)) <= found["count"]["rows_out"] < len(words)

    def test_state_is_where_it_is_kept(self, document: dict[str, Any]) -> None:
        held = {each["name"]: each["state"] for each in document["operators"]}
        assert [name for name, state in held.items() if state] == ["from-split", "count"]
        assert held["from-split"]["operators"] == ["dedupe"]
        assert held["count"]["bytes"] > 0
        assert held["count"]["rows"] > 0

    def test_times_and_instances_are_there(self, document: dict[str, Any]) -> None:
        assert document["overhead_ms"] > 0
        assert all(each["time_us"]["batches"] == 3 for each in document["operators"])
        assert sum(each["time_us"]["p99"] for each in document["operators"]) > 0
        counts = [each["instances"] for each in document["operators"]]
        assert 10 <= sum(counts) <= 10 + len(counts)

    def test_the_samples_are_stored_and_the_topics_gone(
        self, document: dict[str, Any], out: Path, cluster: Cluster
    ) -> None:
        stored = RunStore(out).open("latest")
        batches = stored.characterisation_batches()
        assert set(batches["cut"].to_pylist()) == {each["name"] for each in document["operators"]}
        assert set(batches["pass"].to_pylist()) == {1, 2}
        assert not [topic for topic in cluster.topics() if stored.id in topic]
        assert (stored.folder / "report.html").is_file()

    def test_the_report_shows_it_again(self, document: dict[str, Any], out: Path, say: Say) -> None:
        said = say("report", "--out", str(out))
        assert said.code == 0, said.err
        assert "from-split" in said.out
        assert "costs most" in said.out

    @pytest.mark.long
    def test_its_instances_are_run(self, document: dict[str, Any], out: Path, broker: EmbeddedBroker, say: Say) -> None:
        count = next(each["instances"] for each in document["operators"] if each["name"] == "count")
        load = ["--load", "preloaded", "--events", "3k", "--warmup", "0s", "--partitions", "3"]
        where = ["--instances", "latest", "--out", str(out), "--kafka", broker.bootstrap, "--place", "local[24]"]
        said = say("run", TWO_QUERIES, *load, *where, "--json")
        assert said.code == 0, said.err
        assert json.loads(said.out)["trials"][0]["verdict"]["correct"]
        assert f"3 partitions, count × {count}" in said.err
        progress = (RunStore(out).open("latest").folder / "trials" / "001" / "progress.jsonl").read_text()
        seen = [json.loads(line) for line in progress.splitlines()]
        held = {each["name"]: each["stateOperators"] for each in seen if each["stateOperators"]}
        assert set(held) == {"count"}
        assert {operator["numShufflePartitions"] for operator in held["count"]} == {count}
