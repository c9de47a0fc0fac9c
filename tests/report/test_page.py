"""The page: whole, self-contained, safe against what names contain, and rebuilt from what can be read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamgauge.report import write_report
from streamgauge.store import StoredRun
from tests.report.sample_run import record, store_sample, tables


def own_markup(page: str) -> str:
    """The page without Plotly's library."""
    return re.sub(r"<script>/\*\*.*?</script>", "", page, count=1, flags=re.DOTALL)


def test_the_page_needs_nothing_from_outside(stored: StoredRun, tmp_path: Path) -> None:
    text = own_markup(write_report(stored, tmp_path / "page.html").read_text())
    assert len(text) < 1_500_000
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert "@import" not in text
    assert "url(" not in text


def test_the_page_says_everything_of_the_run(stored: StoredRun, tmp_path: Path) -> None:
    text = own_markup(write_report(stored, tmp_path / "page.html").read_text())
    for said in (
        "2 of 16 could not be run",
        "3 lost, 1 wrong",
        "key 17: expected 4.5, seen 4.25",
        "the publisher fell behind its schedule: 212 ms at the end",
        "continuous processing has no aggregates: wordcount needs one",
        "the job process of spark-continuous died: exit code 137. Run again",
        "publishing faster than consumption",
        "spark.sql.shuffle.partitions",
        "95 % t-interval",
        "8.0 GiB",
        "the floor: the broker&#x27;s own round trip",
        "streamgauge run wordcount grep",
    ):
        assert said in text, said


def test_the_page_is_beside_the_run_unless_told(tmp_path: Path) -> None:
    folder = store_sample(tmp_path, [(record("grep", "spark-realtime"), tables("spark-realtime", 1))])
    assert write_report(StoredRun.open(folder)) == folder / "report.html"
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


def test_names_are_text_and_not_markup(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)></script><b>&amp;"
    made = record(name, "spark-realtime", warnings=[name])
    folder = store_sample(tmp_path, [(made, tables("spark-realtime", 1))])
    text = own_markup(write_report(StoredRun.open(folder)).read_text())
    assert "<img" not in text
    assert "</script><b>" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    for embedded in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL):
        json.loads(embedded)


def test_a_truncated_table_costs_its_chart_and_is_named(tmp_path: Path) -> None:
    folder = store_sample(tmp_path, [(record("grep", "spark-realtime"), tables("spark-realtime", 1))])
    damaged = folder / "trials" / "001" / "latency.parquet"
    damaged.write_bytes(damaged.read_bytes()[:100])
    text = own_markup(write_report(StoredRun.open(folder)).read_text())
    assert "What could not be read" in text
    assert "latency.parquet is truncated or damaged" in text
    assert "Throughput over time" in text
    assert "Latency over time" not in text


def test_a_run_without_trials_has_a_page(tmp_path: Path) -> None:
    text = write_report(StoredRun.open(store_sample(tmp_path, []))).read_text()
    assert "No trial has been stored yet." in text


@pytest.mark.parametrize("unwanted", ["pyspark", "confluent_kafka", "jgo"])
def test_the_page_is_built_without_spark_and_kafka(stored_folder: Path, tmp_path: Path, unwanted: str) -> None:
    code = f"""
import sys
sys.modules[{unwanted!r}] = None
from pathlib import Path
from streamgauge.cli import main
sys.exit(main(["report", {str(stored_folder)!r}, "--to", {str(tmp_path / "page.html")!r}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "page.html")
