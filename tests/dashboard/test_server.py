"""The addresses of the page as a browser asks for them, without one."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from streamgauge.dashboard.server import application
from streamgauge.store import Notes, RunStore, read_notes, write_notes
from tests.dashboard.conftest import HOME
from tests.dashboard.raw import request
from tests.report.sample_run import STARTED_MS, record, store_sample, tables
from tests.store.test_characterisations import document

OUTSIDE = (
    *("..", ".", "../..", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e", "....//", "\\..\\..", "..\\"),
    *("\x00", "a\x00b", "latest", "~", "a" * 9000, "\udcff", "inside", "/"),
)


def fresh(root: Path) -> TestClient:
    """A browser of that store."""
    return TestClient(application(root), base_url=HOME)


def test_an_empty_store_says_what_to_run_first(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "absent"):
        answer = fresh(root).get("/")
        assert answer.status_code == 200
        assert "No run yet" in answer.text
        assert "streamgauge run wordcount" in answer.text


def test_a_run_is_listed_with_its_verdicts_thresholds_and_machine(reading: TestClient, stored: Path) -> None:
    text = reading.get("/").text
    assert f'href="/runs/{stored.name}"' in text
    for words in ("✗ 1", "✓ 13", "1 gap", "1 failed", "1 not valid", "x86-64", "wordcount, grep"):
        assert words in text


def test_a_run_is_shown_with_its_report_and_its_trials(reading: TestClient, stored: Path) -> None:
    answer = reading.get(f"/runs/{stored.name}")
    assert answer.status_code == 200
    for words in ("Latency by percentile", "Lay trials over each other", "figures.csv", "/trials/1/latency.csv"):
        assert words in answer.text
    assert answer.text.count('data-trial="') == 14
    assert "<script>" not in answer.text, "nothing on the page is a script of its own"


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"schema": 99}', '{"schema": 1, "machine": 7, "suite": 3, "trials": "x"}']
)
def test_a_damaged_run_is_one_row_and_never_a_failed_page(tmp_path: Path, damage: str) -> None:
    broken, other = store_sample(tmp_path), store_sample(tmp_path, [])
    (broken / "run.json").write_text(damage)
    client = fresh(tmp_path)
    listed = client.get("/")
    assert listed.status_code == 200
    assert broken.name in listed.text
    assert other.name in listed.text
    assert client.get(f"/runs/{broken.name}").status_code in (200, 422)
    assert client.get(f"/compare?with={broken.name}").status_code in (200, 422)


def test_a_run_that_only_characterised_is_shown(tmp_path: Path) -> None:
    writer = RunStore(tmp_path).create(command="streamgauge characterize grep", trials=0)
    writer.add_characterisation(document(), pa.table({"batch": [1]}))
    writer.finish("complete")
    client = fresh(tmp_path)
    assert "characterize: grep" in client.get("/").text
    page = client.get(f"/runs/{writer.id}")
    assert page.status_code == 200
    assert "Operators" in page.text
    assert "figures.csv" not in page.text
    assert client.get(f"/compare?with={writer.id}").status_code == 200


@pytest.mark.parametrize("damage", ["", "{", '{"schema": 1}', '{"schema": 1, "status": "done", "latency_ms": 3}'])
def test_a_damaged_trial_does_not_fail_a_page(tmp_path: Path, damage: str) -> None:
    broken = store_sample(tmp_path)
    (broken / "trials" / "001" / "trial.json").write_text(damage)
    client = fresh(tmp_path)
    assert broken.name in client.get("/").text
    for address in (f"/runs/{broken.name}", f"/runs/{broken.name}/figures.csv", f"/compare?with={broken.name}"):
        assert client.get(address).status_code in (200, 422)


def test_a_damaged_table_is_said_in_words(tmp_path: Path) -> None:
    run = store_sample(tmp_path, [(record("grep", "spark-realtime"), tables("spark-realtime", 1))])
    (run / "trials" / "001" / "latency.parquet").write_bytes(b"PAR1 no more")
    client = fresh(tmp_path)
    assert "truncated or damaged" in client.get(f"/runs/{run.name}").text
    for address in (f"/api/runs/{run.name}/span?trial=1", f"/runs/{run.name}/trials/1/latency.csv"):
        assert client.get(address).status_code == 422


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_the_store_is_read(tmp_path: Path, name: str) -> None:
    inside = store_sample(tmp_path / "inside", [])
    shutil.copy(inside / "run.json", tmp_path / "run.json")
    app = application(inside.parent)
    for address in ("/runs/{}", "/runs/{}/report.html", "/api/runs/{}/span", "/static/{}", "/static/../{}"):
        assert request(app, address.format(name)).status in (404, 405)
    assert request(app, "/compare", query=f"with={name}".encode("utf-8", "replace")).status == 404


@pytest.mark.parametrize("table", ["../trial", "trial", "..%2f..%2frun", "latency.parquet", "none"])
def test_only_stored_tables_are_downloaded(reading: TestClient, stored: Path, table: str) -> None:
    assert reading.get(f"/runs/{stored.name}/trials/1/{table}.csv").status_code in (404, 422)
    assert reading.get(f"/runs/{stored.name}/trials/99/latency.csv").status_code == 422


def test_a_run_that_is_deleted_while_it_is_open_is_404(tmp_path: Path) -> None:
    run = store_sample(tmp_path)
    client = fresh(tmp_path)
    assert client.get(f"/runs/{run.name}").status_code == 200
    shutil.rmtree(run)
    for address in ("", "/report.html", "/figures.csv", "/trials/1/latency.csv"):
        assert client.get(f"/runs/{run.name}{address}").status_code == 404
    for address in ("overlay?trial=1", "span?trial=1"):
        answer = client.get(f"/api/runs/{run.name}/{address}")
        assert answer.status_code == 404
        assert run.name in answer.json()["error"]
    assert "No run yet" in client.get("/").text


def test_tables_that_are_deleted_while_a_run_is_open_are_said_in_words(tmp_path: Path) -> None:
    run = store_sample(tmp_path, [(record("grep", "spark-realtime"), tables("spark-realtime", 1))])
    client = fresh(tmp_path)
    assert client.get(f"/api/runs/{run.name}/span?trial=1").status_code == 200
    (run / "trials" / "001" / "latency.parquet").unlink()
    assert client.get(f"/api/runs/{run.name}/span?trial=1").status_code == 422
    assert client.get(f"/api/runs/{run.name}/overlay?trial=1").status_code == 200


def test_markup_in_names_and_notes_is_text(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    made = record(name, "spark-realtime")
    run = store_sample(tmp_path, [(made, tables("spark-realtime", 1))], command=f"streamgauge run '{name}'")
    write_notes(run, Notes(("<b>tag</b>",), "</textarea><script>alert(1)</script>"))
    client = fresh(tmp_path)
    for address in ("/", f"/runs/{run.name}", f"/compare?with={run.name}", "/runs/<script>alert(1)<%2fscript>"):
        text = client.get(address).text
        assert "<img" not in text
        assert "<script>alert" not in text
        assert "<b>tag" not in text


def test_trials_are_laid_over_each_other_each_in_its_colour(reading: TestClient, stored: Path) -> None:
    found = reading.get(f"/api/runs/{stored.name}/overlay?trial=4&trial=1&trial=4").json()
    assert [each["trial"] for each in found["trials"]] == [4, 1]
    assert len({each["colour"] for each in found["trials"]}) == 2
    assert [each["heading"] for each in found["figures"]][:3] == [
        "Latency over time",
        "Latency by percentile",
        "Throughput over time",
    ]
    lines = found["figures"][1]["figure"]["data"]
    assert [line["name"] for line in lines] == [each["name"] for each in found["trials"]]


@pytest.mark.parametrize(
    "query", ["", "trial=99", "trial=x", "trial=15", "&".join(f"trial={n}" for n in range(1, 11)), "trial=1&trial=-1"]
)
def test_what_cannot_be_laid_over_is_refused_in_words(reading: TestClient, stored: Path, query: str) -> None:
    answer = reading.get(f"/api/runs/{stored.name}/overlay?{query}")
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_a_span_is_taken_from_the_raw_samples_where_they_were_kept(tmp_path: Path) -> None:
    at_ms = [STARTED_MS + at for at in (100, 900, 1100, 1900, 2100)]
    samples = pa.table({"kind": ["event"] * 5, "at_ms": at_ms, "latency_ms": [1, 2, 3, 4, 5]})
    kept = {**tables("spark-realtime", 1), "samples": samples}
    name = store_sample(tmp_path, [(record("grep", "spark-realtime"), kept)]).name
    (brushed,) = fresh(tmp_path).get(f"/api/runs/{name}/span?trial=1&from=0.9&to=2").json()["rows"]
    assert (brushed["n"], brushed["p50"], brushed["max"], brushed["exact"]) == (3, 3, 4, True)
    (whole,) = fresh(tmp_path).get(f"/api/runs/{name}/span?trial=1").json()["rows"]
    assert (whole["n"], whole["exact"]) == (12_500, True)


def test_a_span_counts_the_samples_in_it(reading: TestClient, stored: Path) -> None:
    where = f"/api/runs/{stored.name}/span?trial=1&trial=4"
    found = reading.get(where).json()
    assert [row["n"] for row in found["rows"]] == [12_500, 12_500]
    brushed = reading.get(f"{where}&from=5&to=10").json()
    assert [row["n"] for row in brushed["rows"]] == [2_500, 2_500]
    assert [row["exact"] for row in (*found["rows"], *brushed["rows"])] == [True, True, False, False]
    assert brushed["rows"][1]["p50"] == 6
    assert brushed["rows"][1]["words"]["p50"] == "6 ms"
    assert reading.get(f"{where}&kind=due").json()["rows"][1]["p50"] == 7


@pytest.mark.parametrize(
    "query", ["from=x", "to=nan", "from=inf", "from=1e300", "from=5&to=5", "from=9&to=1", "kind=x"]
)
def test_a_span_that_is_none_is_refused_in_words(reading: TestClient, stored: Path, query: str) -> None:
    answer = reading.get(f"/api/runs/{stored.name}/span?trial=1&{query}")
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_the_report_and_the_figures_can_be_downloaded(reading: TestClient, stored: Path) -> None:
    page = reading.get(f"/runs/{stored.name}/report.html")
    assert f"{stored.name}.html" in page.headers["content-disposition"]
    assert page.text.startswith("<!DOCTYPE html>")
    assert "src=" not in page.text.split("<script", 1)[0]
    rows = list(csv.DictReader(io.StringIO(reading.get(f"/runs/{stored.name}/figures.csv").text)))
    assert len(rows) == 16
    assert (rows[0]["application"], rows[0]["engine"], rows[0]["trial"]) == ("wordcount", "spark-microbatch", "1")
    assert float(rows[0]["p50_ms"]) > 400
    table = reading.get(f"/runs/{stored.name}/trials/1/latency.csv").text
    assert table.startswith('"kind","second","latency_ms","count"\n')
    counted = sum(int(row["count"]) for row in csv.DictReader(io.StringIO(table)) if row["kind"] == "event")
    assert counted == 12_500


def test_tags_and_a_note_are_kept_and_shown(changing: TestClient, run: Path) -> None:
    answer = changing.post(f"/api/runs/{run.name}/notes", json={"tags": ["nightly", "nightly"], "note": " a & b "})
    assert answer.json() == {"tags": ["nightly"], "note": "a & b"}
    assert read_notes(run) == Notes(("nightly",), "a & b")
    assert "a &amp; b" in changing.get("/").text


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b'{"note": 3}', b'{"tags": "x"}', b'{"note": "\\ud800"}', b"[" * 60_000]
)
def test_a_note_that_is_none_is_refused_in_words(changing: TestClient, run: Path, body: bytes) -> None:
    answer = changing.post(f"/api/runs/{run.name}/notes", content=body)
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert not (run / "notes.json").exists()


def test_a_run_is_deleted_where_its_name_is_said_again(changing: TestClient, run: Path) -> None:
    where = f"/api/runs/{run.name}/delete"
    assert changing.post(where, json={}).status_code == 422
    assert run.is_dir()
    assert changing.post(where, json={"confirm": run.name}).json() == {"deleted": run.name}
    assert not run.exists()
    assert changing.post(where, json={"confirm": run.name}).status_code == 404


def test_a_run_that_is_being_written_is_not_deleted(changing: TestClient, run: Path) -> None:
    writer = RunStore(run.parent).create(command="streamgauge run grep", trials=1)
    answer = changing.post(f"/api/runs/{writer.id}/delete", json={"confirm": writer.id})
    assert answer.status_code == 409
    assert "being written" in answer.json()["error"]
    assert writer.folder.is_dir()
    writer.let_go()


def test_a_page_shows_what_changed_on_disk(tmp_path: Path) -> None:
    client = fresh(tmp_path)
    assert "No run yet" in client.get("/").text
    writer = RunStore(tmp_path).create(command="streamgauge run grep", trials=2)
    assert "0 of 2" in client.get("/").text
    writer.add_trial(record("grep", "spark-realtime"), tables("spark-realtime", 1))
    assert "1 of 2" in client.get("/").text
    assert client.get(f"/api/runs/{writer.id}/span?trial=1").status_code == 200
    writer.finish("interrupted")
    assert "interrupted" in client.get("/").text


def test_what_is_not_there_is_a_page_or_json(reading: TestClient) -> None:
    page = reading.get("/nothing")
    assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (404, "text/html")
    assert "There is no such page" in page.text
    answer = reading.get("/api/nothing")
    assert answer.status_code == 404
    assert json.loads(answer.text)["error"]


def test_all_that_a_page_loads_is_served_here(reading: TestClient) -> None:
    for file in ("plotly.js", "report.css", "report.js", "dashboard.css", "dashboard.js"):
        answer = reading.get(f"/static/{file}")
        assert answer.status_code == 200
        assert len(answer.content) > 1000
