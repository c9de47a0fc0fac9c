"""The chart of a search, on the page and on the console: each probe by its rate, and the edge."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from streamgauge.lab.search import SearchRange, search
from streamgauge.measure.sustainability import ProbeOutcome
from streamgauge.report import write_report
from streamgauge.report.probes import rates_table
from streamgauge.report.search_chart import charts_of
from streamgauge.store import StoredRun
from tests.report.sample_run import record, store_sample, tables
from tests.report.test_page import own_markup


def probe(rate: float) -> ProbeOutcome:
    """An engine that holds up to 3,000/s before a publisher that is too slow from 8,000/s on."""
    figures = {"p50_ms": rate / 10, "p99_ms": rate, "latency_rise_ms": rate / 100, "queue_rise": rate - 3_000}
    if rate >= 8_000:
        return ProbeOutcome(rate, "nothing", ("the publisher fell behind",), (), figures)
    if rate > 3_000:
        return ProbeOutcome(rate, "breaks", ("the input queue <grows>",), (), figures)
    return ProbeOutcome(rate, "holds", (), (), figures)


@pytest.fixture
def found() -> dict[str, Any]:
    result = search(probe, SearchRange(start_per_s=500))
    return {"application": "wordcount", "engine": "spark-realtime", "slo": "p50<10s", **result.as_dict()}


def test_probes_lie_at_their_rate_under_what_they_say(found: dict[str, Any]) -> None:
    latency, rise, queue = charts_of(found)
    assert [trace["name"] for trace in latency[2]["data"]] == ["held", "did not hold"]
    held, broke = latency[2]["data"]
    assert held["x"][:3] == [500, 1000, 2000] and held["y"][:3] == [50, 100, 200]
    assert min(broke["x"]) == found["above_per_s"] and max(held["x"]) == found["rate_per_s"] == 2_830
    assert [(line["x0"], line["line"]["dash"]) for line in latency[2]["layout"]["shapes"]] == [
        (2_830, "solid"),
        (3_080, "dot"),
    ]
    assert "the highest rate that held, the dotted one 3,080/s" in latency[1]
    assert max(queue[2]["data"][1]["y"]) == 1_000
    assert rise[2]["data"][0]["y"][0] == 5
    assert "&lt;grows&gt;" in str(broke["customdata"])


def test_a_search_that_found_nothing_says_so() -> None:
    result = search(lambda rate: probe(rate * 100), SearchRange(start_per_s=100, least_per_s=60))
    caption = charts_of(result.as_dict())[0][1]
    assert caption.endswith("No rate held.")


def test_the_console_has_a_mark_for_each_probe_and_a_line_at_the_edge(found: dict[str, Any]) -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(rates_table(found["probes"], found["rate_per_s"]))
    lines = [line for line in out.getvalue().splitlines() if "/s" in line]
    rates = [line.split()[0] for line in lines]
    assert rates == ["500/s", "1,000/s", "2,000/s", "2,830/s", "3,080/s", "3,360/s", "4,000/s"]
    assert "✓✓" in lines[3] and "the highest that held" in lines[3]
    assert "✗✗" in lines[4] and "grows" in lines[4]
    lengths = [line.count("█") for line in lines]
    assert lengths == sorted(lengths) and lengths[-1] == 24


def test_the_page_of_a_search_shows_it(tmp_path: Path, found: dict[str, Any]) -> None:
    trial = (record("wordcount", "spark-realtime"), tables("spark-realtime", 1))
    folder = store_sample(tmp_path, [trial], search=found)
    text = own_markup(write_report(StoredRun.open(folder)).read_text())
    assert '<section id="search">' in text
    assert "sustains 2,830/s" in text and "Median latency by rate" in text and "the input queue &lt;grows&gt;" in text


def test_a_search_that_was_interrupted_has_a_page_without_the_chart(tmp_path: Path) -> None:
    folder = store_sample(tmp_path, [], search={"application": "wordcount", "engine": "spark-realtime"})
    assert 'id="search"' not in own_markup(write_report(StoredRun.open(folder)).read_text())
