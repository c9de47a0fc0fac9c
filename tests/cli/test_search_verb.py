"""`search`: arguments become a request; probes become lines, the result a sentence or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from streamgauge.lab import probing
from streamgauge.lab.probing import ProbeListener, SearchOutcome, SearchRequest
from streamgauge.lab.search import SearchRange, search
from streamgauge.measure.sustainability import ProbeOutcome
from tests.cli.conftest import Said
from tests.report.sample_run import record, store_sample, tables

Say = Callable[..., Said]


@pytest.fixture
def conducted(monkeypatch: pytest.MonkeyPatch) -> list[SearchRequest]:
    """Requests that reached the laboratory, which searches on an engine that holds up to 3,000/s."""
    heard: list[SearchRequest] = []

    def conduct(request: SearchRequest, listener: ProbeListener) -> SearchOutcome:
        heard.append(request)
        listener.planned("a-run", [])
        print("noise of a library")

        def probe(rate: float) -> ProbeOutcome:
            figures = {"p50_ms": 240.0, "p99_ms": 900.0, "latency_rise_ms": -12.0, "queue_rise": 3.0, "drain_s": 0.4}
            if rate <= 3_000:
                outcome = ProbeOutcome(rate, "holds", (), ("cpu<80%: 85 %",), {**figures, "cpu_share": 0.85})
            else:
                outcome = ProbeOutcome(rate, "breaks", ("p50<10s: 12,000 ms",), (), {**figures, "p50_ms": 12_000.0})
            made.append(outcome)
            listener.probed(len(made), outcome)
            return outcome

        made: list[ProbeOutcome] = []
        result = search(probe, request.where)
        folder = store_sample(request.out, [(record("wordcount", "spark-realtime"), tables("spark-realtime", 1))])
        return SearchOutcome(folder.name, folder, result, (), 0)

    monkeypatch.setattr(probing, "conduct_search", conduct)
    return heard


def test_where_a_search_begins_is_left_to_it_unless_it_is_said(say: Say, conducted: list[SearchRequest]) -> None:
    for arguments in ([], ["--up-to", "500/s"], ["--from", "2k/s"]):
        assert say("search", "wordcount", *arguments).code == 0
    assert [each.finds_start for each in conducted] == [True, True, False]
    assert [each.where.start_per_s for each in conducted] == [1_000, 500, 2_000]


def test_every_argument_reaches_the_request(say: Say, conducted: list[SearchRequest]) -> None:
    arguments = ["search", "traffic-flow", "-e", "spark-realtime", "--slo", "p99<100ms", "--gate-cpu", "--from", "2k/s"]
    arguments += ["--up-to", "50k/s", "--tolerance", "5%", "--repeat", "5", "--probes", "60", "--for", "45s"]
    arguments += ["--warmup", "8s", "--seed", "3", "--param", "spatial_scale=2", "--set", "batch-duration=5s"]
    arguments += ["--partitions", "1", "--place", "local[8]", "--stop-after", "join", "--kafka", "h:1", "--out", "kept"]
    said = say(*arguments, "--timeout", "90s")
    assert said.code == 0, said.err
    (request,) = conducted
    assert request == SearchRequest(
        application="traffic-flow",
        engine="spark-realtime",
        slo="p99<100ms",
        gates_cpu=True,
        where=SearchRange(2_000, 1.0, 50_000, 0.05, 5, 60),
        for_s=45.0,
        warmup_s=8.0,
        seed=3,
        partitions=1,
        place="local[8]",
        parameters={"spatial_scale": "2"},
        settings={"batch-duration": "5s"},
        stop_after="join",
        kafka="h:1",
        out=Path("kept"),
        timeout_s=90.0,
        command=request.command,
    )
    assert request.command.startswith("streamgauge search traffic-flow -e spark-realtime")


def test_probes_are_lines_and_the_result_is_a_sentence(say: Say, conducted: list[SearchRequest]) -> None:
    said = say("search", "wordcount")
    lines = said.err.splitlines()
    heading = next(line for line in lines if "latency rise" in line)
    first = next(line for line in lines if "1,000/s" in line)
    assert first.index("holds") + len("holds") == heading.index("says") + len("says"), "columns are aligned"
    assert "(cpu<80%: 85 %)" in first
    assert any("breaks" in line and "p50<10s: 12,000 ms" in line for line in lines)
    assert "noise" not in said.out
    assert (
        "wordcount on spark-microbatch sustains 2,830/s with p50<10s,drain<10s,cpu<80%: it held in 2 of 2 probes; "
        in said.out
    )
    assert "the engine does not hold the next rate (3,080/s)." in said.out
    assert said.out.splitlines()[-1].endswith("report.html")


def test_json_is_nothing_but_json(say: Say, conducted: list[SearchRequest]) -> None:
    shown = json.loads(say("search", "wordcount", "--json").out)
    assert (shown["schema"], shown["rate_per_s"], shown["limit"], shown["confirmed"]) == (1, 2_830, "engine", True)
    assert shown["probes"][0]["says"] == "holds"
    assert (shown["application"], shown["engine"], shown["slo"]) == (
        *("wordcount", "spark-microbatch"),
        "p50<10s,drain<10s,cpu<80%",
    )


def test_short_probes_are_warned_of(say: Say, conducted: list[SearchRequest]) -> None:
    assert "probes of less than 30 s hardly tell a slope" in say("search", "wordcount", "--for", "10s").err
    assert "hardly" not in say("search", "wordcount").err


MISTAKES: dict[str, tuple[list[str], str]] = {
    "unknown application": (["wordcont"], "unknown application 'wordcont'. Did you mean 'wordcount'?"),
    "unknown engine": (["wordcount", "-e", "spark-realtim"], "Did you mean 'spark-realtime'?"),
    "gap": (["wordcount", "-e", "spark-continuous"], "spark-continuous cannot run wordcount: "),
    "unknown figure": (["wordcount", "--slo", "p98<1s"], "Did you mean 'p99'?"),
    "no objective": (["wordcount", "--slo", "fast"], "'fast' is not a threshold"),
    "no rate": (["wordcount", "--from", "fast"], "'fast' is not a rate"),
    "downwards": (["wordcount", "--from", "5k/s", "--up-to", "1k/s"], "cannot begin"),
    "tolerance": (["wordcount", "--tolerance", "0"], "is not between 1% and 100%"),
    "no time": (["wordcount", "--for", "0s"], "--for must be more than 0"),
    "unknown setting": (["wordcount", "--set", "triger=1s"], "Did you mean 'trigger'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(say: Say, mistake: str) -> None:
    arguments, line = MISTAKES[mistake]
    said = say("search", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert line in said.err
    assert not Path("runs").exists()
